"""Forks without end (here: at most a few hundred), each child in a session of its own."""

import os
import time

for _ in range(400):
    if os.fork() == 0:
        os.setsid()
        time.sleep(60)
        os._exit(0)
time.sleep(60)
