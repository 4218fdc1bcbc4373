"""What a run is made to do otherwise, so that a script runs as its author describes it."""
