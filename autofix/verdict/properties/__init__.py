"""The properties that make an edit unsafe: one a file, found without registration."""
