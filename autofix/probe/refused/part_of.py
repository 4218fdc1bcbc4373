"""Derivatives by parts of what an output was computed from: by a column of an input that a network used whole.

torch refuses them: it knows the whole alone. The derivative by a part is that part of the derivative by the whole.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ..engine import graph

Part = Callable[[torch.Tensor], torch.Tensor]


def by_wholes(found: Any, inputs: list[Any]) -> tuple[list[Any], list[Part]]:
    """Inputs of `grad` with wholes for views that its outputs do not know, and what cuts results to these.

    So it is with leaves for their copies: nothing is made of a copy that only this call is given. `found`: what the
    call gives where it may give None.
    """
    lost = [one is None for one in found]
    unused = [gone and _has_whole(given) for gone, given in zip(lost, inputs, strict=True)]
    wholes = [graph.base(given) if part else given for part, given in zip(unused, inputs, strict=True)]
    wholes = [_copied(whole) if gone else whole for gone, whole in zip(lost, wholes, strict=True)]
    parts = [_part(given) if part else _same for part, given in zip(unused, inputs, strict=True)]
    return wholes, parts


def _has_whole(given: Any) -> bool:
    """Whether an input is a view of something that may have a gradient, and that lies in memory as its own would."""
    if not isinstance(given, torch.Tensor) or not given._is_view() or graph.is_leaf(given):
        return False
    whole = graph.base(given)
    return whole.requires_grad and whole.is_contiguous() and whole.storage_offset() == 0 and given.dtype == whole.dtype


def _copied(given: Any) -> Any:
    """The leaf of which an input is a copy; itself where it is none."""
    made = graph.made_by(given) if isinstance(given, torch.Tensor) else None
    if made is None or made.name() != "CloneBackward0":
        return given
    leaf = next((graph.leaf(one) for one in graph.children(made)), None)
    return given if leaf is None else leaf


def _part(given: torch.Tensor) -> Part:
    size, stride, offset = given.size(), given.stride(), given.storage_offset()
    return lambda gradient: gradient.contiguous().as_strided(size, stride, offset)


def _same(gradient: torch.Tensor) -> torch.Tensor:
    return gradient
