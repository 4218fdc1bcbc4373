"""The probe: what runs in the user's interpreter. Standard library and torch only; imports nothing of the host."""

import os

HERE = os.path.dirname(os.path.abspath(__file__))
"""Files below it are ours, not the user's."""
OURS = f"{__name__}."
"""What the names of our modules begin with, under whichever name the probe was loaded."""
