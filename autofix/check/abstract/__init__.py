"""Plays a file without running it: a tensor is its place in the graph, and a failure of autograd is an event."""
