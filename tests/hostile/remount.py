"""Remounts everything writable, by the old call and by the new one."""

import ctypes
import struct

from _tricks import libc, spoil_all

with open("/proc/self/mountinfo", encoding="utf-8") as mounts:
    points = [line.split()[4].encode() for line in mounts]
clear = ctypes.create_string_buffer(struct.pack("=QQQQ", 0, 1, 0, 0))
for point in points:
    libc.mount(b"none", point, None, ctypes.c_ulong(0x20 | 0x1000), None)
    libc.mount(b"none", point, None, ctypes.c_ulong(0x20), None)
    libc.syscall(442, -100, point, 0x8000, clear, 32)
spoil_all()
for path in ("/etc/hostname", "/usr/lib/os-release"):
    try:
        open(path, "r+b").close()
    except OSError:
        continue
    print("ESCAPED", path)
