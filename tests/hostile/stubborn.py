"""Ignores and blocks every signal, in itself and in its children, and waits for ever."""

import os
import signal
import time

for number in signal.valid_signals():
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        continue
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        break
while True:
    try:
        time.sleep(60)
    except BaseException:
        continue
