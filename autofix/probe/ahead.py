"""What the server imports before any run does, and whether it may then fork."""

from __future__ import annotations

import contextlib
import importlib
import linecache
import os
import sys

from .standins import dynamo

OLDEST = (2, 0)
_OWN = (
    ".arrays.densities", ".audit.watch", ".beginning.stem", ".child", ".engine.aliased", ".engine.functions",
    ".engine.names", ".engine.sources", ".failure.classify", ".failure.module_flags", ".failure.origins",
    ".failure.refusals", ".failure.tracing", ".instruments.aimed", ".instruments.aims", ".instruments.cancels",
    ".instruments.comparisons", ".instruments.courses", ".instruments.guards", ".instruments.hooks",
    ".instruments.kept", ".instruments.parting", ".instruments.signs", ".instruments.silent", ".instruments.stopper",
    ".instruments.terms", ".instruments.uses", ".instruments.witness", ".program.frames", ".program.launch",
    ".program.overlay", ".program.reach", ".reference.arming", ".reference.freeze", ".reference.perturb",
    ".refused.unheard", ".standins.adapt", ".standins.shorten",
)  # fmt: skip
"""What a run needs of the probe itself: compiled once, here."""
_LAZY = ("numpy.random", "torch.utils.checkpoint", "torch.profiler._cupti_monitor")
"""What torch imports when a step or a reference first needs it, where it has it."""
_QUOTED = ("torch.random", "torch.cuda", "torch.cuda.random", "torch.xpu", "torch.xpu.random", "torch.mtia")
"""Where a seed stands when torch keeps it, with the text of each line on the stack, for a device that is not in use."""
_NO_BYTECODE = sys.dont_write_bytecode


def threads() -> int:
    """Threads of this process; 1 where the system does not tell."""
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return 1


def warm(names: list[str]) -> str:
    """Import what every run will need; returns why forking would not be sound, or ''."""
    for name in (*names, *_LAZY):
        # A package that fails to import here fails in the run too, where the user sees it.
        with contextlib.suppress(Exception, SystemExit):
            dynamo.real() if name == dynamo.NAME else importlib.import_module(name)
    sys.dont_write_bytecode = _NO_BYTECODE  # of our own modules; what else is imported leaves no file behind
    for name in _OWN:
        importlib.import_module(name, __package__)
    sys.dont_write_bytecode = True
    _read_ahead()
    return unsound()


def _read_ahead() -> None:
    """Read the sources that `torch.manual_seed` quotes in every run."""
    own = [f"{__package__}.{name}" for name in ("server", "becoming", "child", "program.launch", "standins.dynamo")]
    for name in (*_QUOTED, "torch._compile", *own):
        linecache.getlines(getattr(sys.modules.get(name), "__file__", None) or "")


def unsound() -> str:
    """Why a fork of this process would not be sound now, or ''."""
    if not hasattr(os, "fork") or sys.platform == "darwin":
        return "this system cannot fork safely"
    if threads() != 1:
        return f"{threads()} threads after the imports"
    if sys.modules["torch"].cuda.is_initialized():
        return "CUDA is in use after the imports"
    return ""


def too_old(version: str) -> str:
    """Why a torch of this version cannot be probed: it lacks the hooks around optimizer steps; '' if it can."""
    numbers = version.split(".")
    known = len(numbers) > 1 and numbers[0].isdigit() and numbers[1].isdigit()
    if known and (int(numbers[0]), int(numbers[1])) < OLDEST:
        return f"torch {version} is older than {OLDEST[0]}.{OLDEST[1]}, the oldest that can be probed"
    return ""
