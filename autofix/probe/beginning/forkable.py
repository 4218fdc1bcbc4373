"""Whether this process may be forked into several that go on by themselves: what they would share, or lose."""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import resource
import signal
import stat
import sys
import threading
import time
from typing import Any

import torch
from torch.nn.modules import module as modules
from torch.overrides import _get_current_function_mode_stack
from torch.utils._python_dispatch import _get_current_dispatch_mode

from .. import OURS
from ..engine import transforms

_TASKS = "/proc/self/task"
_LINGERS = 1.0
"""Seconds within which a thread that was joined is gone for the system, too."""
_STANDARD = 2
_HARMLESS = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")
_TIMERS = (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)


def without_shared_lock() -> None:
    """Have bars of tqdm make no lock for processes: it writes to shared memory, and forks left before have no use."""
    lock: Any = getattr(sys.modules.get("tqdm.std"), "TqdmDefaultWriteLock", None)
    if lock is not None and not hasattr(lock, "mp_lock"):
        lock.create_mp_lock = classmethod(_make_no_lock)


def _make_no_lock(lock: Any) -> None:
    multiprocessing.get_context()  # from here on the script may choose no other, as where the lock is made
    lock.mp_lock = None


def without_bars() -> None:
    """Let go of what tqdm's progress bars hold beside the script: a thread that refreshes them, a lock for processes.

    Its next bar starts another such thread, and bars of one process are kept apart by a second lock that it has.
    """
    bars: Any = sys.modules.get("tqdm.std")
    lock: Any = getattr(getattr(bars, "tqdm", None), "_lock", None)
    if bars is None or type(lock) is not bars.TqdmDefaultWriteLock:
        return
    ended = [one.exit() for one in threading.enumerate() if isinstance(one, bars.TMonitor)]
    until = time.monotonic() + _LINGERS * bool(ended)
    while len(os.listdir(_TASKS)) != 1 and time.monotonic() < until:
        time.sleep(0.001)
    lock.locks = [lock.th_lock]
    bars.TqdmDefaultWriteLock.mp_lock = None


def hindrance(own_files: set[int], own_children: set[int]) -> str:
    """Why forks of this process would not be what it is, or ''; what belongs to the probe is left aside."""
    if len(os.listdir(_TASKS)) != 1:
        return "it has threads"
    if torch.cuda.is_initialized():
        return "CUDA is in use"
    if any(value for timer in _TIMERS for value in signal.getitimer(timer)):
        return "it has set an alarm"
    if children() - own_children:
        return "it has processes of its own"
    return _files(own_files) or _memory() or _modes()


def had_children() -> bool:
    """Whether this process has ever had one that ended, or would not know."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return bool(ended.ru_minflt or ended.ru_maxrss) or signal.getsignal(signal.SIGCHLD) != signal.SIG_DFL


def children() -> set[int]:
    """The processes that this one has started and that have not ended."""
    with open("/proc/thread-self/children", "rb") as file:
        return set(map(int, file.read().split()))


def _files(own: set[int]) -> str:
    for name in os.listdir("/proc/self/fd"):
        number = int(name)
        if number in own or 0 < number <= _STANDARD:
            continue
        try:
            kind, flags = os.fstat(number).st_mode, fcntl.fcntl(number, fcntl.F_GETFL)
        except OSError:  # the one that lists them
            continue
        harmless = stat.S_ISCHR(kind) and os.readlink(f"/proc/self/fd/{name}") in _HARMLESS
        read = stat.S_ISREG(kind) and flags & os.O_ACCMODE == os.O_RDONLY
        if not (harmless or read or stat.S_ISDIR(kind) or (number == 0 and stat.S_ISREG(kind))):
            return f"it holds {os.readlink(f'/proc/self/fd/{name}')} open"
    return ""


def _memory() -> str:
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as file:
        return next(("it shares memory" for line in file if line.split(" ", 2)[1].startswith("rw-s")), "")


def _modes() -> str:
    """Modes and hooks of the script lie above those of a run, which are put in place after them in a fork."""
    functions = _get_current_function_mode_stack()
    dispatch = _get_current_dispatch_mode()
    ours = all(type(mode).__module__.startswith(OURS) for mode in (*functions, *([dispatch] if dispatch else ())))
    hooks = any(
        not getattr(hook, "__module__", "").startswith(OURS)
        for name in ("_global_forward_pre_hooks", "_global_parameter_registration_hooks", "_global_forward_hooks")
        for hook in getattr(modules, name).values()
    )
    autograd = torch._C._autograd
    saved = autograd._top_saved_tensors_default_hooks(False) is not None
    # Within `disable_saved_tensors_hooks`, or a derivative of torch.func, a run could put up no hooks.
    refuses = autograd._saved_tensors_hooks_get_disabled_error_message() is not None
    if refuses or transforms.inside():
        return "it is inside a transform"
    return "" if ours and not hooks and not saved else "it has modes or hooks of its own"


class Files:
    """Where the open files stand now: forks would read on where the first of them has stopped."""

    def __init__(self, own: set[int]) -> None:
        self._at: dict[int, int] = {}
        for name in os.listdir("/proc/self/fd"):
            number = int(name)
            if number not in own and not 0 < number <= _STANDARD and _regular(number):
                self._at[number] = os.lseek(number, 0, os.SEEK_CUR)

        self._printed = [os.lseek(number, 0, os.SEEK_END) for number in (1, 2)]

    def take_over(self, *outputs: int) -> None:
        """Print what was printed so far to these outputs, from here on the process's own; read where it was read."""
        for number, end, length in zip((1, 2), outputs, self._printed, strict=True):
            printed = os.pread(number, length, 0)
            os.dup2(end, number)
            os.close(end)
            while printed:
                printed = printed[os.write(number, printed) :]
        for number, place in self._at.items():
            fresh = os.open(f"/proc/self/fd/{number}", os.O_RDONLY)
            os.lseek(fresh, place, os.SEEK_SET)
            os.dup2(fresh, number, inheritable=os.get_inheritable(number))
            os.close(fresh)


def _regular(number: int) -> bool:
    try:
        return stat.S_ISREG(os.fstat(number).st_mode)
    except OSError:
        return False


def flush() -> None:
    """Have what was printed so far leave the buffers."""
    import ctypes

    for stream in (sys.stdout, sys.stderr):
        if not getattr(stream, "closed", True):
            stream.flush()
    ctypes.PyDLL(None).fflush(None)
