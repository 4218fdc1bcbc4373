"""What torch refuses, most of it writes: how each is performed, and by what one meaning of it can be left out."""
