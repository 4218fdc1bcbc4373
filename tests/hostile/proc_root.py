"""Goes through other processes' root, working folder and descriptors in /proc."""

import os

from _tricks import HOME, PROJECT, TOKEN, attempt, escaped, spoil

for pid in [name for name in os.listdir("/proc") if name.isdigit()]:
    if int(pid) == os.getpid():
        continue
    for way in ("root", "cwd"):
        if attempt(os.listdir, f"/proc/{pid}/{way}/") and pid == "1":
            escaped(f"/proc/1/{way}")
        for root in (PROJECT, HOME, "/tmp"):
            spoil(f"/proc/{pid}/{way}{root}")
    for name in attempt(os.listdir, f"/proc/{pid}/fd") or []:
        with attempt(open, f"/proc/{pid}/fd/{name}", "wb") or open(os.devnull, "wb") as file:
            attempt(file.write, TOKEN.encode())
