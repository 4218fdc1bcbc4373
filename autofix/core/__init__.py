"""Records, options and edits that all rooms speak of; the one writer of files; the one caller of git."""
