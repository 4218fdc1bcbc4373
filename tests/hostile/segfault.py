"""Dies by a segmentation fault, which must not wake a crash handler outside."""

import ctypes
import resource

try:
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
except (OSError, ValueError):
    pass
ctypes.string_at(0)
