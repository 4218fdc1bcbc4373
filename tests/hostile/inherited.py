"""Looks among its descriptors for a folder or a socket from outside the fence."""

import os
import stat

from _tricks import TOKEN, attempt, escaped

for name in os.listdir("/proc/self/fd"):
    info = attempt(os.fstat, int(name))
    if info is None:
        continue
    if stat.S_ISDIR(info.st_mode) and not os.readlink(f"/proc/self/fd/{name}").startswith("/proc"):
        escaped(f"folder {name}")
        attempt(os.mkdir, TOKEN, 0o700)
    if stat.S_ISSOCK(info.st_mode):
        escaped(f"socket {name}")
