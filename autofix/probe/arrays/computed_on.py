"""Whether a loss computes on with a value, as a layer does with its input, or measures something else from it."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

from ..engine import graph
from ..engine.sums import is_sum

MOVES = graph.kinds(
    "T", "Transpose", "Permute", "View", "UnsafeView", "Reshape", "Alias", "Clone", "ToCopy", "Repeat", "Expand",
    "Squeeze", "Unsqueeze", "Slice", "Select", "Index", "IndexSelect", forms=("", "0", "1"),
)  # fmt: skip
"""What gives elements as they are, all or some."""
_LAYERS = graph.kinds(
    "Addmm", "Mm", "Bmm", "Mv", "Linear", "Convolution", "MkldnnConvolution", "Mul", "Cat", "Prelu",
    "NativeLayerNorm", "NativeBatchNorm", "NativeGroupNorm", "FusedRmsNorm",
)  # fmt: skip
"""What takes a parameter beside its input."""


def is_input(roots: Any, cut: Collection[Any]) -> bool:
    """Whether the roots are computed from the nodes of `cut` and parameters alone, other terms of a sum aside.

    What else has a graph beside them, or a parameter that is compared with them, may be what they are the target of.
    """
    summed = {node for node in graph.walk(roots, is_sum) if is_sum(node)}
    on, same = set(cut), set(cut)
    for node in graph.children_first(roots):
        children = graph.children(node)
        mine = [child for child in children if child in on]
        if node in on or not mine:
            continue
        on.add(node)
        if (is_sum(node) or node.name() in MOVES) and all(child in same for child in mine):
            same.add(node)
        takes = node.name() in _LAYERS or not all(child in same for child in mine)
        terms = node in summed and _is_number(node)
        if not terms and not all(takes and bare(child) is not None for child in children if child not in on):
            return False
    return True


def _is_number(node: Any) -> bool:
    shapes = graph.shapes(node)
    return bool(shapes) and math.prod(shapes[0]) == 1


def bare(node: Any) -> Any:
    """The leaf that a node gives as it is, or with its elements in another place; None where it gives none."""
    while (leaf := graph.leaf(node)) is None:
        children = graph.children(node)
        if node.name() not in MOVES or len(children) != 1:
            return None
        (node,) = children
    return leaf
