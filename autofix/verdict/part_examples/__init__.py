"""Edits with parts that the runs cannot see, and edits that only look so: one matter a module."""
