"""Arrays of what an optimizer owns, each with memory of its own: they keep the values that they were taken with."""

from __future__ import annotations

import functools
from typing import Any

import torch

from ..engine.operators import storage_key
from ..engine.taps import Taps, parameters

_GIVE = ("numpy", "__array__")


class Unshared:
    """Has every array copied that would share the memory of a parameter, and so follow it from step to step."""

    def __init__(self, taps: Taps) -> None:
        self._taps = taps
        for name in _GIVE:
            setattr(torch.Tensor, name, self._copied(getattr(torch.Tensor, name)))

    def _copied(self, plain: Any) -> Any:
        @functools.wraps(plain)
        def given(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            array = plain(tensor, *args, **kwargs)
            return array.copy() if self._is_owned(tensor) else array

        return given

    def _is_owned(self, tensor: torch.Tensor) -> bool:
        key = storage_key(tensor)
        owned = (one for optimizer in self._taps.optimizers for one in parameters(optimizer))
        return key is not None and any(storage_key(one) == key for one in owned)
