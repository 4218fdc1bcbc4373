"""What was cut from its graph just before: `.data` and `detach()` of a result, or another name for a leaf."""

from __future__ import annotations

import weakref
from collections import deque
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

_CUTS = ("torch.Tensor.data.__get__", "torch.Tensor.detach")
_LATEST = 8
"""Cuts whose graphs are held: a write of what was cut follows at once."""


class Cuts:
    """The latest cuts, each known as long as what it gave lives."""

    def __init__(self) -> None:
        self._latest: deque[tuple[weakref.ref[torch.Tensor], torch.Tensor]] = deque(maxlen=_LATEST)

    def heard(self, name: str, args: Any, result: Any) -> None:
        """Hear of a call of torch's by its name."""
        if name in _CUTS and args[0].requires_grad:
            self._latest.append((weakref.ref(result), args[0]))

    def before(self, tensor: torch.Tensor) -> torch.Tensor:
        """What a tensor was cut from just before, or itself."""
        return next((source for cut, source in self._latest if cut() is tensor), tensor)
