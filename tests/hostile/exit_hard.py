"""Leaves by `os._exit` with children, threads and a half-written file."""

import os
import threading
import time

from _tricks import TOKEN, spoil_all

for _ in range(3):
    if os.fork() == 0:
        time.sleep(0.2)
        spoil_all()
        time.sleep(60)
threading.Thread(target=time.sleep, args=(60,)).start()
open(f"{TOKEN}.half", "w").write("half")
os._exit(3)
