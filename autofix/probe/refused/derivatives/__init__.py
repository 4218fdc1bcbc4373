"""Derivatives that torch refuses as an output does not depend on what they are by: which zeros are meant."""
