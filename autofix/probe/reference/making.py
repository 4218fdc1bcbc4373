"""In which order leaves were made: what tells two apart that hold the same, whichever of them is used first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import torch
from torch.nn.parameter import is_lazy
from torch.overrides import TorchFunctionMode, _get_current_function_mode

from ..engine.refused import is_setting
from ..engine.remembered import Remembered

_WAYS = ("registered", "made", "met")
"""How a leaf became known. What only some runs hear of is counted by itself, behind what all hear of."""


class Order:
    """In which order leaves of one size became known."""

    def __init__(self) -> None:
        self._places: dict[int, Remembered[tuple[int, int]]] = {}
        self._counts: Counter[tuple[int, int]] = Counter()

    def add(self, leaf: torch.Tensor, how: str) -> None:
        """Give a leaf the next place, unless it has one; `how` is one of the ways."""
        places, way = self._of_size(leaf), _WAYS.index(how)
        if leaf not in places:
            kind = (_size(leaf), way)
            self._counts[kind] += 1
            places.keep(leaf, (way, self._counts[kind]))

    def inherit(self, leaf: torch.Tensor, other: torch.Tensor) -> None:
        """Give a leaf the place of the one that it replaces."""
        places = self._of_size(other)
        if (place := places.of(other)) is not None:
            places.forget(other)
            self._of_size(leaf).keep(leaf, place)

    def earlier(self, leaf: torch.Tensor) -> list[torch.Tensor]:
        """The leaves of its size that come before it."""
        places = self._of_size(leaf)
        mine = places.of(leaf)
        return [] if mine is None else [one for one in places if (places.of(one) or mine) < mine]

    def _of_size(self, leaf: torch.Tensor) -> Remembered[tuple[int, int]]:
        return self._places.setdefault(_size(leaf), Remembered())


def _size(leaf: torch.Tensor) -> int:
    return -1 if is_lazy(leaf) else leaf.numel()


class Making(TorchFunctionMode):
    """Tells of the results of calls, and of what an attribute was set: no op tells of a new leaf."""

    def __init__(self, made: Callable[[Any], None]) -> None:
        super().__init__()
        self._made = made

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = self._call(func, args, kwargs or {})
        self._made(args[0] if is_setting(func) else result)
        return result

    def _call(self, func: Any, args: Any, kwargs: Any) -> Any:
        return func(*args, **kwargs)


def leave(mode: Making) -> bool:
    """Leave a mode, if it is the innermost one."""
    innermost = _get_current_function_mode() is mode
    if innermost:
        mode.__exit__(None, None, None)
    return innermost
