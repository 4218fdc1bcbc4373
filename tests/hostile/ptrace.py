"""Attaches to the waiter, to process 1 and to a process outside."""

import ctypes
import os

from _tricks import VICTIM, escaped, libc

for pid in (VICTIM, 1, os.getppid()):
    for request in (0x4206, 16):  # SEIZE, ATTACH
        if libc.ptrace(ctypes.c_long(request), ctypes.c_long(pid), None, None) == 0:
            escaped(f"ptrace {pid}")
