"""What is to run, with which interpreter, and which edit somebody else offers for it."""
