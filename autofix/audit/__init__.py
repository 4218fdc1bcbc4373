"""What a run that does not crash says about its training: which law is broken, and by which line."""
