"""Many repositories: what to run in each, workers that run it, a journal of what came out, and pages about it."""
