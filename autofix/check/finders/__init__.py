"""The finders, one suspicious pattern a file; found here without registration."""
