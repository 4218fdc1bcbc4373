"""The user's code as syntax: where things stand in it, what they mean to torch, and edits of it."""
