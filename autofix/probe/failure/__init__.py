"""Which kind a failure is, and where what it is about was made, saved, freed, written or lost."""
