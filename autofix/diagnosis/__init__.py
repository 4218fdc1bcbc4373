"""A trace's cause, and the lines of the user's code that explain it."""
