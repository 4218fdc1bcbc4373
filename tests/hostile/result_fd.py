"""Writes garbage into every descriptor it inherited, then closes them."""

import os

for descriptor in range(3, 512):
    try:
        os.write(descriptor, b"\0garbage\x1b[31m" * 9)
        os.close(descriptor)
    except OSError:
        continue
