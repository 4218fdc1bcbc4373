"""Repairs PyTorch scripts that die in autograd, and proves the gradients of each repair by running it."""

import importlib
from typing import Any

__version__ = "0.1.0"


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext autofix`: show a fix below each cell that dies in autograd."""
    importlib.import_module("autofix.ipython").load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """`%unload_ext autofix`."""
    importlib.import_module("autofix.ipython").unload(shell)
