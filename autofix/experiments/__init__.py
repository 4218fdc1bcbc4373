"""The runs that a verdict stands on: how each is asked for, the probe's other end, and one pool that makes them."""
