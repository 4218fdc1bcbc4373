"""Opens the machine's settings for writing; writes none of them."""

import glob
import os
import time

from _tricks import attempt, escaped

settings = [
    "/proc/sysrq-trigger",
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/hostname",
    "/sys/kernel/uevent_helper",
]
settings += ["/proc/sys/vm/drop_caches", "/proc/sys/kernel/modprobe", "/proc/irq/default_smp_affinity"]
settings += (
    glob.glob("/sys/class/net/lo/mtu") + glob.glob("/sys/power/state") + glob.glob("/sys/block/*/queue/scheduler")
)
for setting in settings:
    if attempt(os.open, setting, os.O_WRONLY) is not None:
        escaped(setting)
if attempt(time.clock_settime, time.CLOCK_REALTIME, time.time()) is not None:
    escaped("clock")
