"""The readings in which a backward leaves fewer gradients: none in some parameters, or none through some nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ..engine import graph
from ..engine.quiet import quiet
from ..engine.sums import by_itself
from ..engine.taps import Call, Listener, Taps, parameters


class Separate(Listener):
    """Puts back, after each backward, the gradients of parameters of optimizers that the call is not to train."""

    def __init__(self, taps: Taps, keeps_out: Callable[[Call, int], bool]) -> None:
        self._taps, self._keeps_out = taps, keeps_out

    def backward(self, call: Call) -> None:
        if not call.accumulate:
            return
        owners = {id(p): i for i, optimizer in enumerate(self._taps.optimizers) for p in parameters(optimizer)}
        kept: list[tuple[torch.Tensor, torch.Tensor | None]] = []
        with quiet():
            for variable in graph.leaves(graph.walk(call.roots)):
                owner = owners.get(id(variable))
                if owner is not None and self._keeps_out(call, owner):
                    kept.append((variable, None if variable.grad is None else variable.grad.clone()))

        def restore() -> None:
            for variable, gradient in kept:
                variable.grad = gradient

        call.cleanups.append(restore)


def of_other_segments(segments: tuple[tuple[int, ...], ...]) -> Callable[[Call, int], bool]:
    """Each call trains the optimizers that step in its segment alone; `segments` are those, by the call's number."""

    def keeps_out(call: Call, owner: int) -> bool:
        return call.index < len(segments) and owner not in segments[call.index]

    return keeps_out


class Constants(Listener):
    """Lets no gradient through some nodes, given by their ages in another run of the same operations.

    What is divided by itself is a constant as the divisor alone: there it is kept, for later passes.
    """

    def __init__(self, ages: tuple[int, ...]) -> None:
        self._ages = frozenset(ages)

    def backward(self, call: Call) -> None:
        made = {node: by_itself(node) for node in graph.walk(call.roots, self._is_other)}
        own = {node: one for node, one in made.items() if one is not None and not self._is_other(one)}
        spared = set(own.values())
        nodes = graph.walk(call.roots, lambda node: self._is_other(node) or node in spared)
        blocked = [node for node in nodes if not self._is_other(node) and node not in spared]
        call.cleanups.extend([node.register_prehook(graph.zeros).remove for node in blocked])
        call.cleanups.extend([node.register_hook(_to_the_first).remove for node in own])

    def _is_other(self, node: Any) -> bool:
        return node._sequence_nr() not in self._ages


def _to_the_first(sent: tuple[torch.Tensor | None, ...], _got: Any) -> tuple[torch.Tensor | None, ...]:
    return (*sent[:1], *graph.zeros(sent[1:]))


class GivesGraph(Listener):
    """Gives what the derivative at one place computes its graph."""

    def __init__(self, here: Callable[[Call], bool]) -> None:
        self._here = here

    def backward(self, call: Call) -> None:
        call.create = call.create or self._here(call)
