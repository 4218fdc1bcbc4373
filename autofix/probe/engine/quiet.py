"""Keeps the probe's own tensor work out of sight of the modes, hooks and random streams that a run is under."""

from __future__ import annotations

from typing import Any

import torch


class quiet:  # noqa: N801  read as a word: `with quiet():`
    """Operations inside record no graph, call no hook and reach no dispatch or function mode.

    A class, for instruments enter it at most ops: a generator's context costs three times as much.
    """

    __slots__ = ("_dispatch", "_function", "_grad")

    def __init__(self) -> None:
        self._function: Any = torch._C.DisableTorchFunction()
        self._dispatch: Any = torch._C._DisableTorchDispatch()
        self._grad = False

    def __enter__(self) -> None:
        self._function.__enter__()
        self._dispatch.__enter__()
        self._grad = torch._C.is_grad_enabled()
        torch._C._set_grad_enabled(False)

    def __exit__(self, *_: object) -> None:
        torch._C._set_grad_enabled(self._grad)
        self._dispatch.__exit__(None, None, None)
        self._function.__exit__(None, None, None)
