"""Losses that leave gradient by a term of another one, which has it with the other sign: a step then takes it back."""

from __future__ import annotations

from collections import Counter, deque
from typing import Any, NamedTuple

import torch

from ..engine import graph
from ..engine.quiet import quiet
from ..engine.sums import SCALES, is_sum
from ..engine.taps import Call, Listener, Taps
from ..program.frames import Frames, Raw

_LATEST = 8
"""Backward calls that are held against later ones."""
_MOST = 64
"""Nodes of a sum beyond which a loss is not looked at."""
_LARGE = 1 << 20
"""Numbers beyond which a term is not looked at."""
_FEW = 4
"""Numbers of which fewer may have the other sign by chance."""
_PASSES = 2
_OTHERS = 2
"""Optimizers without which no step is that of another one."""


class _Sum(NamedTuple):
    """What of a loss leads to what one optimizer owns.

    `whole`: the ages of all nodes that do. `terms`: those through which the loss is linear, each used once, with those
    that they add up; None where that ends.
    """

    starts: tuple[int, ...]
    whole: frozenset[int]
    terms: dict[int, tuple[int, ...] | None]


class _Done(NamedTuple):
    raw: Raw
    sums: dict[int, _Sum]
    came: dict[int, torch.Tensor]
    """What terms were sent, by their age."""


class TakenBack(Listener):
    """Looks how losses that went backward before the step of another optimizer meet the loss on which that steps.

    A term counts where both losses are linear in it and use it once, so that the signs are those of any value.
    """

    def __init__(self, frames: Frames, taps: Taps) -> None:
        self._frames, self._taps = frames, taps
        self._done: deque[_Done] = deque(maxlen=_LATEST)
        self._segment: list[_Done] = []
        """The calls since the latest step."""
        self._stepped = False
        self._seen: dict[tuple[int, Raw], list[int]] = {}
        """Of what a call left to an optimizer, pass by pass, how many numbers are taken back; 0 where not all are."""

    def told(self) -> dict[str, Any]:
        """The calls all of whose gradient is, and by which optimizer's step, in several passes and in each."""
        always = [key for key, seen in self._seen.items() if len(seen) >= _PASSES and all(seen) and sum(seen) >= _FEW]
        return {"facts": tuple(self._frames.fact("taken-back", raw, str(index)) for index, raw in always)}

    def backward(self, call: Call) -> None:
        if self._stepped:
            self._done.extend(self._segment)
            self._segment.clear()
            self._stepped = False
        if not call.accumulate or call.outer is not None or len(self._taps.owned) < _OTHERS:
            return
        with quiet():
            nodes = list(graph.children_first(call.roots))
            sums = _sums(nodes, graph.starts(call.roots), self._taps.owned)
        came: dict[int, torch.Tensor] = {}
        wanted = set[int]().union(*(one.terms for one in sums.values()))
        for node in nodes if len(wanted) <= _MOST else ():
            if graph.leaf(node) is None and node._sequence_nr() in wanted:
                call.cleanups.append(node.register_prehook(_kept(came, node._sequence_nr())).remove)
        self._segment.append(_Done(call.stack, sums, came))

    def step(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        """Its own losses are those since the latest step of any optimizer."""
        self._stepped = True
        with quiet():
            for before in self._done:
                met = [found for own in self._segment if (found := _taken_back(before, own, index)) is not None]
                if met:
                    self._seen.setdefault((index, before.raw), []).append(min(met))


def _sums(nodes: list[graph.Node], starts: list[graph.Node], owned: list[set[int]]) -> dict[int, _Sum]:
    """What of a graph leads to each optimizer's parameters; of its nodes the children come first."""
    uses = Counter(child for node in nodes for child in graph.children(node))
    leads: dict[graph.Node, set[int]] = {}
    for node in nodes:
        leaf = graph.leaf(node)
        ends = set() if leaf is None else {index for index, own in enumerate(owned) if id(leaf) in own}
        leads[node] = ends.union(*(leads.get(child, ()) for child in graph.children(node)))
    found = {}
    for index in set[int]().union(*leads.values()):
        terms: dict[int, tuple[int, ...] | None] = {}
        queue = [node for node in starts if index in leads.get(node, ())]
        for node in queue:
            if uses[node] > 1 or graph.leaf(node) is not None:
                continue
            below = [child for child in graph.children(node) if index in leads.get(child, ())]
            passed = _is_linear(node, below) and not any(True for _ in graph.leaves(below))
            terms[node._sequence_nr()] = tuple(child._sequence_nr() for child in below) if passed else None
            queue += below if passed else []
        whole = frozenset(
            node._sequence_nr() for node, ends in leads.items() if index in ends and graph.leaf(node) is None
        )
        found[index] = _Sum(tuple(graph.ages(starts)), whole, terms)
    return found


def _is_linear(node: graph.Node, below: list[graph.Node]) -> bool:
    """Whether what a node makes is linear in what it takes `below`, whatever else it takes."""
    if is_sum(node) or node.name().startswith("RsubBackward"):
        return True
    return node.name() in SCALES and len(below) == 1 and (
        node.name() != "DivBackward0" or node.next_functions[0][0] == below[0]
    )  # fmt: skip


def _kept(came: dict[int, torch.Tensor], age: int) -> Any:
    def keep(gradients: tuple[torch.Tensor | None, ...]) -> None:
        if len(gradients) == 1 and gradients[0] is not None and gradients[0].numel() <= _LARGE:
            with quiet():
                came[age] = gradients[0].detach().clone()

    return keep


def _taken_back(before: _Done, own: _Done, index: int) -> int | None:
    """In how many numbers what a call sent an optimizer goes against a loss that this steps on; 0 where not all of it.

    None where they do not meet.
    """
    first, second = before.sums.get(index), own.sums.get(index)
    if first is None or second is None or first.whole.isdisjoint(second.whole):
        return None
    numbers, queue = 0, list(first.starts)
    for age in queue:
        if age not in first.whole:
            continue
        if age in second.terms and age in first.terms:
            one, other = before.came.get(age), own.came.get(age)
            if one is None or other is None or one.shape != other.shape:
                return 0
            product = one * other
            against = int((product < 0).sum())
            if bool((product > 0).any()) or (bool(one.any()) and not against):
                return 0
            numbers += against
        elif below := first.terms.get(age):
            queue += below
        else:
            return 0
    return numbers or None
