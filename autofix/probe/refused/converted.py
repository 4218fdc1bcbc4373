"""What a function is given and converts before it writes to it: a copy, or the very tensor where it is so already."""

from __future__ import annotations

from types import CodeType
from typing import Any

import torch

from ..engine import caller, graph
from ..engine.remembered import Remembered

_CONVERSIONS = frozenset((
    "to", "float", "double", "half", "bfloat16", "type", "type_as", "contiguous", "cpu", "cuda", "as_tensor", "asarray",
))  # fmt: skip


def renewed(func: Any, args: Any, result: Any) -> CodeType | None:
    """The function that gives its own argument, a leaf, the name of what a conversion made of it: that very leaf."""
    same = bool(args) and result is args[0] and getattr(func, "__name__", "") in _CONVERSIONS
    leaf = same and isinstance(result, torch.Tensor) and result.requires_grad and graph.is_leaf(result)
    return caller.renews(func) if leaf else None


class Copies:
    """Lets each such conversion give a copy, as it would of another type or device, and knows these again."""

    def __init__(self) -> None:
        self._copies = Remembered[bool]()

    def given(self, func: Any, args: Any, result: Any) -> Any:
        """What a call gives: a copy where it is such a conversion."""
        if renewed(func, args, result) is None:
            return result
        with torch._C.DisableTorchFunction():
            copy = result.clone()
            self._copies.keep(copy, True)
        return copy

    def has(self, tensor: Any) -> bool:
        """Whether a tensor is one of these copies, or a view of one."""
        return bool(self._copies) and isinstance(tensor, torch.Tensor) and graph.base(tensor) in self._copies
