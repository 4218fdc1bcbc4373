"""What is seen of a run while it goes on, whatever its mode."""
