"""Derivatives by what is put together of the elements of other tensors, which an output was computed from.

So it is with a column of an input that a network used whole, with a copy, and with a stack of the parameters. torch
refuses them: it knows the others alone. The derivative by such elements is those of the derivatives by the others.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import torch

from ...engine import graph
from ...engine.quiet import quiet

_MOST = 20_000
_ELSEWHERE = graph.kinds(
    "Alias", "Cat", "Clone", "Diagonal", "Expand", "Flip", "Permute", "ReshapeAlias", "Roll", "Select", "Slice",
    "Split", "SplitWithSizes", "Squeeze", "Stack", "T", "Transpose", "Unbind", "UnsafeView", "Unsqueeze", "View",
    forms="01234",
)  # fmt: skip
"""Operations that give elements of what they are given, each as it is."""
_Edge = tuple[graph.Node, int]


@dataclass(frozen=True, slots=True)
class PutTogether:
    """What an input is made of: `wholes` are what a derivative can be asked by instead."""

    wholes: list[Any]
    sizes: list[int]
    order: torch.Tensor
    """For each element of the input, where it stands among those of all wholes."""

    def of(self, gradients: list[torch.Tensor | None], given: torch.Tensor) -> torch.Tensor:
        """The derivative by the input, of those by what it is made of."""
        filled = (
            given.new_zeros(size) if one is None else one.reshape(-1)
            for one, size in zip(gradients, self.sizes, strict=True)
        )
        return torch.cat(list(filled))[self.order].view(given.shape)


def put_together(given: torch.Tensor, known: Collection[graph.Node]) -> PutTogether | None:
    """What an input is made of, each element of it of another one of what some nodes gave; None where it is not so."""
    numbers = torch.arange(1, given.numel() + 1, device=given.device).view(given.shape)
    ends = _numbered(given, numbers, known)
    if not ends:
        return None
    laid = torch.cat([one.reshape(-1) for one in ends.values()]).long()
    taken = laid.nonzero().reshape(-1)
    if not torch.equal(laid[taken].sort().values, numbers.reshape(-1)):
        return None
    return PutTogether(list(map(_whole, ends)), [one.numel() for one in ends.values()], taken[laid[taken].argsort()])


def _numbered(given: torch.Tensor, numbers: torch.Tensor, known: Collection[graph.Node]) -> dict[_Edge, torch.Tensor]:
    """By what known nodes gave, the number that each element of it has in an input; {} where some come from elsewhere.

    A node is asked what it would send on if the numbers were a gradient: so each knows itself which element is which.
    """
    ends: dict[_Edge, torch.Tensor] = {}
    todo = [((graph.made_by(given), given.output_nr), numbers)]
    for _ in range(_MOST):
        if not todo:
            return ends
        (node, place), one = todo.pop()
        if node in known:
            ends[node, place] = ends[node, place] + one if (node, place) in ends else one
        elif node is None or node.name() not in _ELSEWHERE:
            break
        else:
            sent = node(*(one if place == each else None for each in range(max(place + 1, len(graph.shapes(node))))))
            todo += zip(node.next_functions, sent if isinstance(sent, tuple) else (sent,), strict=False)
    return {}


def _whole(edge: _Edge) -> Any:
    """What a derivative is asked by at an edge: the leaf there, or the edge itself."""
    leaf = graph.leaf(edge[0])
    return torch.autograd.graph.GradientEdge(*edge) if leaf is None else leaf


def by_wholes(found: Any, outputs: list[Any], inputs: list[Any]) -> list[PutTogether | None]:
    """For each input of `grad` what it is put together of, where its outputs know that, and not the input itself.

    `found`: what the call gives where it may give None.
    """
    known = set(graph.walk(outputs))
    with quiet():
        return [
            put_together(one, known) if gone is None and isinstance(one, torch.Tensor) and graph.made_by(one) else None
            for gone, one in zip(found, inputs, strict=True)
        ]


def spread(found: Any, made: list[PutTogether | None], inputs: list[Any], gradients: Any) -> list[Any]:
    """What a call gives with the derivatives by the wholes in the place of what it does not know."""
    left = iter(gradients)
    return [
        one if whole is None else whole.of(list(itertools.islice(left, len(whole.wholes))), given)
        for one, whole, given in zip(found, made, inputs, strict=True)
    ]
