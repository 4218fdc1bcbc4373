"""Edits of what passes hand on: how each begins with a start, puts back what it has, and empties what it collected."""
