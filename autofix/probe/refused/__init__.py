"""What a reference sees of the writes that torch refuses, by which one of their meanings can be left out."""
