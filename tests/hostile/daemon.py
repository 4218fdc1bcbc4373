"""Leaves a daemon behind (double fork, own session) that goes on writing."""

import os
import time

from _tricks import spoil_all

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for _ in range(600):
            spoil_all()
            time.sleep(0.1)
    os._exit(0)
time.sleep(0.05)
