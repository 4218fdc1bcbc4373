"""Products in a loss that train both factors, one of which is data less a network's own estimate: an advantage."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

from ..engine import graph
from ..program.frames import Raw
from .notes import Notes
from .scores import affine_in_data

_MADE = "autofix product"
_TWO = 2
_WALK = 3000


def made(result: Any, place: Raw) -> None:
    """Remember where a product of two results with a graph was made."""
    if (node := graph.made_by(result)) is not None:
        node.metadata[_MADE] = place


def look(addends: Iterable[Any], notes: Notes) -> None:
    """Note a product whose factor trains what another addend of the same loss trains already, and not as a product."""
    nodes = list(addends)
    products = [node for node in nodes if _MADE in node.metadata and len(graph.children(node)) == _TWO]
    for product in products:
        factors = graph.children(product)
        for factor, other in (factors, factors[::-1]):
            if not affine_in_data(factor):
                continue
            own = _leaves(factor) - _leaves(other)
            rest = (node for node in nodes if node not in products)
            if own and len(_leaves(other)) >= _TWO and any(own <= _leaves(node) for node in rest):
                notes.note("factor-trains", "", product.metadata[_MADE])


def _leaves(node: Any) -> set[int]:
    return set(map(id, graph.leaves(islice(graph.walk_nodes([node]), _WALK))))
