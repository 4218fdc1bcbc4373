"""Becomes somebody else, in every way there is, and leaves set-user-id programs."""

import os
import shutil
import subprocess

from _tricks import PROJECT, TOKEN, attempt, spoil_all

shell = f"/tmp/{TOKEN}.sh"
attempt(shutil.copy, "/bin/sh", shell)
attempt(os.chmod, shell, 0o6755)
attempt(os.chmod, f"{PROJECT}/log.txt", 0o4777)
attempt(subprocess.run, ["su", "-c", "true"], None)
for uid in (0, 1000, 65534):
    if os.fork() == 0:
        attempt(os.setgroups, [0])
        attempt(os.setresgid, uid, uid, uid)
        attempt(os.setresuid, uid, uid, uid)
        spoil_all()
        os._exit(0)
    os.wait()
