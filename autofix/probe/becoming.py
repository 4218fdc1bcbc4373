"""Turns a process into a run: signals, streams, environment and fence, then the run itself."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import signal
import subprocess
import sys

from . import HERE, codec, wire
from .fence import isolate, usage
from .fence.fencing import Place
from .standins import dynamo

_M_PERTURB = -6
"""The option of that name in glibc's `malloc.h`."""
_ENVIRONMENT = "AUTOFIX_PROBE_RESTORE"


def become(place: Place, ends: dict[str, int]) -> None:
    """Turn this process into a run; does not return."""
    request = place.request
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    typed = _typed(request.setup.typed)
    os.dup2(typed, 0)
    os.dup2(ends["stdout"], 1)
    os.dup2(ends["stderr"], 2)
    for descriptor in (typed, ends["stdout"], ends["stderr"]):
        os.close(descriptor)
    _restore_environment()
    try:
        place.enter((ends["result"],))
    except isolate.Refused as error:
        trace = wire.Trace(request.id, "cannot_run", f"isolation {place.rung}: {error}")
        os.write(ends["result"], codec.dump(trace))
        os._exit(0)
    _reset_streams()
    _clear_new_memory()
    gc.enable()
    import torch

    from .child import Run

    dynamo.stand_in()
    torch.set_num_threads(request.threads or usage.cores())
    run = Run(request, ends["result"])
    if request.mode == "stem":
        from .beginning.stem import Stem

        Stem(run, ends["result"]).grow()
    run.execute()


def _clear_new_memory() -> None:
    """Have memory that nobody has written hold zeros, as of `torch.empty`: what a run comes to repeats.

    glibc gives out memory filled with the complement of this byte; other C libraries have nothing of the kind.
    """
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_M_PERTURB, 0xFF)


def _typed(text: str) -> int:
    """What the run's standard input is, open for reading: a file in memory, for a pipe holds little."""
    if not text or not hasattr(os, "memfd_create"):
        return os.open(os.devnull, os.O_RDONLY)
    found = os.memfd_create("typed")
    with open(found, "wb", closefd=False) as file:
        file.write(text.encode("latin-1"))
    os.lseek(found, 0, os.SEEK_SET)
    return found


def _reset_streams() -> None:
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        number = ("stdin", "stdout", "stderr").index(name)
        stream = open(  # noqa: SIM115  the run's own standard stream
            number, mode, buffering=1 if name == "stderr" else -1, encoding="utf-8", errors="replace", closefd=False
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _restore_environment() -> None:
    """Give back the values of the variables that the host had to set for a single-threaded import."""
    for name, value in json.loads(os.environ.pop(_ENVIRONMENT, "{}")).items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def spawn(place: Place, ends: dict[str, int]) -> int:
    """A run in a fresh interpreter, for where a fork of this process would not be sound."""
    numbers = json.dumps([ends, place.rung, place.scratch])
    process = subprocess.Popen(
        [sys.executable, HERE, "--child", numbers], stdin=subprocess.PIPE, pass_fds=tuple(ends.values()), env=os.environ
    )
    if process.stdin is not None:
        with contextlib.suppress(BrokenPipeError), process.stdin as pipe:
            pipe.write(codec.dump(place.original))
    _SPAWNED[process.pid] = process
    return process.pid


_SPAWNED: dict[int, subprocess.Popen[bytes]] = {}
