"""Unmounts everything that hides the real files, innermost first, then spoils what appears."""

from _tricks import libc, spoil_all

for _ in range(2):
    with open("/proc/self/mountinfo", encoding="utf-8") as mounts:
        points = [line.split()[4] for line in mounts]
    for point in reversed(points):
        for flags in (0, 1, 2, 8):
            libc.umount2(point.encode(), flags)
spoil_all()
