"""`autofix check`: reads files, runs nothing; from bytes to facts, from facts to findings."""
