"""What a loss only reads, and a step has moved since: a value through which no gradient for the next step flows."""

from __future__ import annotations

from collections import Counter
from typing import Any

import torch

from ..arrays.computed_on import bare
from ..engine import graph
from ..engine.quiet import quiet
from ..engine.sources import DataSources
from ..engine.taps import Call, Listener, Taps, parameters
from ..program.frames import Frames, Raw


class SteppedConstants(Listener):
    """Looks, for each optimizer that a loss reaches, at what its gradient is made of.

    The *way* to an optimizer is all nodes that lead to what it owns. What they take from beside it is a constant to
    that optimizer, though it has a graph: the other network's output in a loss that both share, an advantage. It is
    noted if it is made of parameters that were stepped since, unless the way itself applies what was stepped, or
    anything else of the same network: what that gave has to be as new. Where the owner of those parameters steps by the
    same backward, the loss trains them through that value: it is no constant.
    """

    def __init__(self, frames: Frames, taps: Taps, sources: DataSources) -> None:
        self._frames, self._taps, self._sources = frames, taps, sources
        self._stepped: dict[int, int] = {}
        """The age of the graph at the latest step of each parameter, by its id."""
        self._takes: dict[int, tuple[Raw, set[int]]] = {}
        """The optimizers to which a loss leads beside a constant since the latest step: the loss, and whose it is."""
        self._applied: set[int] = set()
        """Those to which one leads by applying what it is not to apply."""
        self._steps = Counter[int]()
        self._found: dict[str, Raw] = {}
        self._open: dict[str, set[int]] = {}
        """What was found since the latest backward: the owners of the constant that did not step by it yet."""

    def told(self) -> dict[str, Any]:
        """Each step whose loss takes such a constant, as its optimizer and its number there."""
        found = self._found.items()
        return {"facts": tuple(self._frames.fact("constant-was-stepped", raw, step) for step, raw in found)}

    def backward(self, call: Call) -> None:
        self._open.clear()
        if not (call.accumulate and self._stepped) or len(self._taps.owned) == 1:
            return  # what an optimizer is led to beside a constant is that of another one
        with quiet():
            ways = _Ways(call.roots, self._taps.owned, self._stepped, self._sources)
        for index, owners in ways.beside.items():
            self._takes[index] = call.stack, owners
            if not owners.isdisjoint(ways.applied.get(index, ())):
                self._applied.add(index)
        self._applied |= ways.stale

    def step(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        for found, owners in self._open.items():
            owners.discard(index)
            if not owners:
                self._found.pop(found, None)
        if index in self._takes and index not in self._applied:
            found = f"{index} {self._steps[index]}"
            self._found[found], self._open[found] = self._takes[index]
        self._steps[index] += 1
        self._takes, self._applied = {}, set()
        self._stepped |= dict.fromkeys(map(id, parameters(optimizer)), graph.now())


class _Ways:
    """The ways through the graph of one backward, by the optimizer to which each leads.

    `stale`: those that apply what was stepped since. `applied`: whose parameters each applies, frozen or not. `beside`:
    whose parameters, stepped since, that is made of which each takes from beside it.
    """

    def __init__(
        self, roots: tuple[torch.Tensor, ...], owned: list[set[int]], stepped: dict[int, int], sources: DataSources
    ) -> None:
        self.stale: set[int] = set()
        self.applied: dict[int, set[int]] = {}
        self.beside: dict[int, set[int]] = {}
        owners = {leaf: index for index, own in enumerate(owned) for leaf in own}
        leads: dict[graph.Node, frozenset[int]] = {}
        old: dict[graph.Node, frozenset[int]] = {}
        for node in graph.children_first(roots):
            leaf = graph.leaf(node)
            if leaf is not None:
                leads[node] = frozenset({owners[id(leaf)]} if id(leaf) in owners else ())
                continue
            children = [child for child in graph.children(node) if child in leads]
            mine = leads[node] = frozenset[int]().union(*(leads[child] for child in children))
            plain = {child: leaf for child in children if (leaf := bare(child)) is not None}
            new = [leads[child] for child, leaf in plain.items() if stepped.get(id(leaf), -1) > node._sequence_nr()]
            self.stale |= mine if new else set()
            frozen = {owners[one] for one in sources.frozen(node) if one in owners} if mine else set()
            for index in mine:
                self.applied.setdefault(index, set()).update(frozen, *(leads[child] for child in plain))
            for child in (child for child in children if child not in plain and old[child]):
                for index in mine - leads[child]:
                    self.beside.setdefault(index, set()).update(old[child])
            old[node] = frozenset[int]().union(*new, *(old.get(child, ()) for child in children))
