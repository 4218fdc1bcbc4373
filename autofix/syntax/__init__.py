"""The user's code as syntax: where things stand in it, and edits of it."""
