"""Makes control groups and moves there, out of what would end it."""

import glob
import os

from _tricks import TOKEN, attempt, escaped

for folder in ["/sys/fs/cgroup", *glob.glob("/sys/fs/cgroup/*")]:
    if os.path.isdir(folder):
        attempt(os.mkdir, os.path.join(folder, TOKEN))
        if os.path.exists(os.path.join(folder, TOKEN)):
            escaped(folder)
        attempt(lambda path: open(path, "w").write("0"), os.path.join(folder, "cgroup.procs"))
