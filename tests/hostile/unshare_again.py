"""Makes namespaces of its own, where it is root again, and takes the mounts apart there."""

import ctypes
import os

from _tricks import attempt, escaped, libc, spoil_all

libc.unshare(0x10000000 | 0x20000)
for name, text in (("setgroups", "deny"), ("uid_map", f"0 {os.getuid()} 1"), ("gid_map", f"0 {os.getgid()} 1")):
    attempt(lambda name=name, text=text: open(f"/proc/self/{name}", "w").write(text))
with open("/proc/self/mountinfo", encoding="utf-8") as mounts:
    points = [line.split()[4].encode() for line in mounts]
for point in reversed(points):
    libc.mount(b"none", point, None, ctypes.c_ulong(0x20 | 0x1000), None)
    libc.umount2(point, 2)
libc.mount(b"/", b"/mnt", None, ctypes.c_ulong(0x1000), None)
libc.mount(b"proc", b"/proc", b"proc", ctypes.c_ulong(0), None)
spoil_all()
for setting in ("/proc/sys/vm/drop_caches", "/proc/sys/kernel/modprobe"):
    if attempt(os.open, setting, os.O_WRONLY) is not None:
        escaped(setting)
libc.mount(b"none", b"/tmp", b"tmpfs", ctypes.c_ulong(0), None)
spoil_all()
