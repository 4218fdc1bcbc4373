"""The laws by which an edit that leaves the letter of the code may be safe: one a file, found without registration."""
