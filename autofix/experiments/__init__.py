"""The runs that a verdict stands on: what may be asked of them, how each is built, and one pool that makes them."""
