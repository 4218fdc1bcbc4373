"""One fault a file: what the probe saw, the words for it, and scripts in which it speaks and stays silent."""
