"""Changes the limits and priorities of others, and raises its own."""

import os
import resource

from _tricks import VICTIM, attempt, escaped

for pid in (VICTIM, os.getppid()):
    if attempt(resource.prlimit, pid, resource.RLIMIT_NOFILE) is not None and pid == VICTIM:
        escaped("limits of a process outside")
    attempt(os.setpriority, os.PRIO_PROCESS, pid, 19)
attempt(resource.setrlimit, resource.RLIMIT_DATA, (-1, -1))
