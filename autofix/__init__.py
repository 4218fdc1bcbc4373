"""Repairs PyTorch scripts that die in autograd, and proves the gradients of each repair by running it.

The Python API stands here: `autofix.fix(...)`, `autofix.verify(...)`, `autofix.explain(...)`, and `autofix.Session` for
several in a row; `autofix.api.check(...)` reads files. It is imported when first used: `import autofix` costs nothing.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autofix.api import (
        Answer,
        Change,
        Culprit,
        Doubt,
        Failure,
        Finding,
        Findings,
        Fix,
        Options,
        Session,
        Stop,
        Stopped,
        Suspicion,
        explain,
        fix,
        verify,
    )

__version__ = "0.1.0"
__all__ = [
    "Answer", "Change", "Culprit", "Doubt", "Failure", "Finding", "Findings", "Fix", "Options", "Session", "Stop",
    "Stopped", "Suspicion", "explain", "fix", "verify",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(importlib.import_module("autofix.api"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext autofix`: show a fix below each cell that dies in autograd."""
    importlib.import_module("autofix.commands.ipython").load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """`%unload_ext autofix`."""
    importlib.import_module("autofix.commands.ipython").unload(shell)
