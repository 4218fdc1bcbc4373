"""Makes and opens the devices behind the file systems, and the machine's memory."""

import os
import stat

from _tricks import PROJECT, attempt, escaped

device = os.stat("/").st_dev
names = ["/dev/mem", "/dev/kmem", "/dev/port", "/dev/sda", "/dev/vda", "/dev/nvme0n1", "/dev/loop-control"]
for place, number in (("/tmp", device), (PROJECT, os.makedev(254, 0)), ("/dev", os.makedev(1, 1))):
    path = os.path.join(place, "disk")
    attempt(os.mknod, path, 0o600 | stat.S_IFBLK, number)
    names.append(path)
for name in names:
    opened = attempt(os.open, name, os.O_RDWR)
    if opened is not None:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            escaped(name)
        os.close(opened)
