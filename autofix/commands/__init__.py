"""The commands: what each does once its words are read."""
