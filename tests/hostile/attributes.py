"""Changes no byte, but modes, owners, times and extended attributes."""

import os
from pathlib import Path

from _tricks import HOME, PROJECT, attempt

for root in (PROJECT, HOME):
    for path in [Path(root), *Path(root).rglob("*")]:
        attempt(os.utime, path, (1, 1))
        attempt(os.chmod, path, 0o777)
        attempt(os.chown, path, 12345, 12345)
        attempt(os.setxattr, path, "user.hostile", b"1")
