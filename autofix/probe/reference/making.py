"""In which order leaves were made: what tells two apart that hold the same, whichever of them is used first."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from torch.nn.parameter import is_lazy
from torch.overrides import TorchFunctionMode, _get_current_function_mode

from ..engine.remembered import Remembered

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch


class Order:
    """For each leaf which one it is of those of its size that became known in the same way."""

    def __init__(self) -> None:
        self._places = Remembered[str]()
        self._counts: Counter[str] = Counter()

    def of(self, leaf: torch.Tensor) -> str:
        """Its place, in words; '' where it has none."""
        return self._places.of(leaf) or ""

    def add(self, leaf: torch.Tensor, how: str) -> None:
        """Give a leaf the next place, unless it has one. What only some runs hear of is counted by itself: `how`."""
        if leaf not in self._places:
            kind = f"{how} {'' if is_lazy(leaf) else leaf.numel()}"
            self._counts[kind] += 1
            self._places.keep(leaf, f"{kind}#{self._counts[kind]}")

    def inherit(self, leaf: torch.Tensor, other: torch.Tensor) -> None:
        """Give a leaf the place of the one that it replaces."""
        self._places.keep(leaf, self.of(other))


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


def is_setting(func: Any) -> bool:
    """Whether a call sets an attribute of a tensor."""
    return getattr(func, "__name__", "") == "__set__"
