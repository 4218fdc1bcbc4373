"""Sums within a graph: what is added up into a loss, each addend with a constant weight."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from . import graph

_FORMS = ("", "0", "1")
ADDS = graph.kinds("Add", "Sub", "Neg", "Sum", "Mean", "Stack", "Cat", forms=_FORMS) | graph.kinds(
    "View", "Reshape", "Squeeze", "Unsqueeze", "Clone", "ToCopy", forms=_FORMS
)
SCALES = graph.kinds("Mul", "Div")


def addends(roots: Iterable[Any], enter: Callable[[graph.Node], bool] = lambda _node: True) -> Iterator[graph.Node]:
    """The nodes that are summed up into the roots, each with a constant weight; none behind those `enter` refuses."""

    def sums(node: graph.Node) -> bool:
        return is_sum(node) and enter(node)

    return (node for node in graph.walk(roots, sums) if not sums(node))


def is_sum(node: graph.Node) -> bool:
    """Whether what a node makes is a sum of what it takes, each with a constant weight."""
    name = node.name()
    return name in ADDS or (name in SCALES and len(graph.children(node)) == 1 and _is_scaled(node))


def by_itself(node: graph.Node) -> graph.Node | None:
    """What a node divides by itself; None where it does something else."""
    if node.name() != "DivBackward0" or len(set(node.next_functions)) != 1:
        return None
    made: graph.Node | None = node.next_functions[0][0]
    return made


def _is_scaled(node: graph.Node) -> bool:
    """Whether a node does not divide by what it takes."""
    return bool(node.name() != "DivBackward0" or node.next_functions[0][0] is not None)
