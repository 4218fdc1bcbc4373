"""The writes that torch refuses: how each is performed, and what is seen of it by which one meaning can be left out."""
