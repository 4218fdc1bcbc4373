"""Signals everybody: the waiter, process 1, a process outside, and all."""

import os
import signal

from _tricks import VICTIM, attempt

for number in (signal.SIGSTOP, signal.SIGTERM, signal.SIGKILL):
    for pid in {1, VICTIM, os.getppid()} - {0}:  # 0 would be its own group
        attempt(os.kill, pid, number)
    attempt(os.killpg, VICTIM, number)
attempt(os.kill, -1, signal.SIGKILL)
