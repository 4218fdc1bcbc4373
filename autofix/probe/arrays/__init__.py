"""Values that leave torch and come back: through arrays and numbers, with their graph where a reading says so."""
