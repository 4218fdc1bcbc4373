"""Keeps the probe's own tensor work away from the modes, hooks, precision and random streams that a run is under."""

from __future__ import annotations

from typing import Any

import torch


class quiet:  # noqa: N801  read as a word: `with quiet():`
    """Operations inside record no graph, call no hook, reach no mode, and are not cast to half precision.

    A class, for instruments enter it at most ops: a generator's context costs three times as much.
    """

    __slots__ = ("_cast", "_dispatch", "_function", "_grad")

    def __init__(self) -> None:
        self._function: Any = torch._C.DisableTorchFunction()
        self._dispatch: Any = torch._C._DisableTorchDispatch()
        self._cast: Any = torch._C._DisableAutocast()
        self._grad = False

    def __enter__(self) -> None:
        self._function.__enter__()
        self._dispatch.__enter__()
        self._cast.__enter__()
        self._grad = torch._C.is_grad_enabled()
        torch._C._set_grad_enabled(False)

    def __exit__(self, *_: object) -> None:
        torch._C._set_grad_enabled(self._grad)
        self._cast.__exit__(None, None, None)
        self._dispatch.__exit__(None, None, None)
        self._function.__exit__(None, None, None)
