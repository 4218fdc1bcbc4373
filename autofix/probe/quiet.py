"""Keeps the probe's own tensor work out of sight of the modes, hooks and random streams that a run is under."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Operations inside record no graph, call no hook and reach no dispatch or function mode."""
    with torch.no_grad(), torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():
        yield
