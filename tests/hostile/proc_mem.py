"""Writes into the memory of other processes, and of its own."""

import os

from _tricks import VICTIM, attempt, escaped

for pid in (1, os.getppid(), VICTIM):
    memory = attempt(os.open, f"/proc/{pid}/mem", os.O_RDWR)
    if memory is not None and attempt(os.readlink, f"/proc/{pid}/exe"):
        escaped(f"memory of {pid}")
attempt(os.open, "/proc/self/mem", os.O_RDWR)
