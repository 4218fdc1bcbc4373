"""The user's program: run as Python would run it, and which frames and files are its own."""
