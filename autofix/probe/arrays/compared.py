"""Whether a loss compares what a network gives with an array of that very output: centres of classes, say."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ..engine import graph
from .computed_on import MOVES

_COMPARES = graph.kinds("Sub", "Rsub", "Cdist", forms=("0", "1"))
_PARTS = MOVES | graph.kinds("Unbind", "Split", "SplitWithSizes", "Chunk")


def is_compared(roots: Any, cut: Collection[Any], mixed: Collection[int]) -> bool:
    """Whether something is computed from the nodes of `cut` alone, and then meets what the same output was made into.

    They meet in a difference or a distance: a product may weigh, a minimum may bound, a loss may take a target. With
    data in it an array is an aim of its own, as rewards make of a value. `mixed`: the ages of nodes of numpy's
    functions that take data.
    """
    shared = {*graph.walk_nodes(cut, lambda node: node in cut or node.name() in _PARTS)} - {*cut}
    on, of_shared = set(cut), {one for one in shared if graph.leaf(one) is None}
    for node in graph.children_first(roots):
        children = graph.children(node)
        if node in on or node in shared:
            continue
        mine = [child for child in children if child in on]
        others = [child for child in children if child not in on]
        if any(child in of_shared for child in others):
            if mine and node.name() in _COMPARES:
                return True
            of_shared.add(node)
        elif mine and not others and not (_takes_data(node) or node._sequence_nr() in mixed):
            on.add(node)
    return False


def _takes_data(node: Any) -> bool:
    """Whether an operand of an operation of torch's has no graph, and is no number."""
    if node.name().startswith("_Applied") or all(child is not None for child, _ in node.next_functions):
        return False
    saved = [getattr(node, f"_saved_{name}", None) for name in ("self", "other")]
    return not any(getattr(one, "ndim", 1) == 0 for one in saved)
