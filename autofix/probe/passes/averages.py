"""Which values that passes hand on are averages: sums of what was handed to a pass and of something of its own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..engine import graph
from ..engine.operators import storage_key
from ..engine.quiet import quiet
from ..engine.sums import is_sum
from ..engine.taps import Call
from ..instruments.terms import is_added
from ..program.frames import Raw

_SUMS = graph.kinds("Add", "Sub", "Lerp", "IndexAdd", forms="01")
_PARTS = graph.kinds("Select", "Slice", "Index", "IndexSelect", "IndexPut", "Expand", "T", "Permute", "Transpose") | {
    "CopyBackwards",
    "torch::autograd::CopySlices",
}
"""What takes a part of a tensor, or writes one into it."""


@dataclass(frozen=True, slots=True)
class _Pass:
    """One pass of a site: the nodes it started from, the age of its oldest, its leaves, and what was handed to it."""

    starts: list[graph.Node]
    mark: int
    leaves: set[int | None]
    handed: list[graph.Node]

    def uses(self, node: graph.Node, within: set[graph.Node]) -> bool:
        """Whether it goes through a node, reaches all of its leaves without that, and uses nothing `within` it else."""

        def past(one: graph.Node) -> bool:
            return one is not node and bool(one._sequence_nr() >= self.mark)

        seen = list(graph.walk_nodes(self.starts, past))
        elsewhere = within.intersection(child for one in seen if past(one) for child in graph.children(one))
        used = node in seen and not elsewhere and not self._is_term(node)
        return used and self.leaves <= {storage_key(leaf) for leaf in graph.leaves(seen)}

    def _is_term(self, node: graph.Node) -> bool:
        """Whether a node is only added to the loss: a term of it, which as a constant would be there for nothing.

        An average of what is itself a term of the loss is something to compare that with.
        """

        def terms(starts: Iterable[graph.Node]) -> set[graph.Node]:
            adds = {node: False}
            found = graph.walk_nodes(starts, lambda one: adds.setdefault(one, is_added(one)))
            return {one for one in found if one is not node and not is_added(one)}

        with quiet():
            others, summed = terms(self.starts), terms(graph.children(node))
        return others.isdisjoint(summed) and node not in graph.walk_nodes(others, graph.since(self.mark))


class Averages:
    """Looks, in each pass that was handed something, at what the pass before did with what it then handed on."""

    def __init__(self) -> None:
        self._carried = False
        self._latest: dict[Raw, _Pass] = {}
        """The latest pass of each site, once a graph is carried over."""
        self._found: set[int] = set()
        self._ways: set[tuple[str, ...]] = set()
        """The operations that lead from what is handed to a pass to its own average."""

    def told(self) -> dict[str, Any]:
        """The ages of averages that their own pass uses, and does not need to reach any of its leaves."""
        return {"averages": tuple(sorted(self._found))}

    def watch(self, call: Call, mark: int, leaves: set[int | None], old: list[graph.Node]) -> None:
        """A backward is about to reach these leaves, and `old`, the outermost nodes that are older than `mark`."""
        before = self._latest.pop(call.stack, None)
        self._carried = self._carried or bool(old)
        if self._carried:
            self._latest[call.stack] = _Pass(graph.starts(call.roots), mark, leaves, old)
        if before is not None:
            for node in old:
                self._look(before, node)
            for node in () if old else self._summed(before):
                self._look(before, node, last=True)

    def _summed(self, done: _Pass) -> set[graph.Node]:
        """The sums that a pass made with averages that were handed to it."""
        averages = {node for node in done.handed if graph.ages([node]) <= self._found}
        made = graph.walk_nodes(done.starts, graph.since(done.mark)) if averages else ()
        return _above([node for node in made if node in averages or _goes_on(node)], averages)

    def _look(self, done: _Pass, node: graph.Node, *, last: bool = False) -> None:
        """Note a node if it is an average that a pass made; `last`: it was handed to none, and made as others were."""
        handed = set(done.handed)
        nodes = list(graph.walk_nodes([node], lambda one: one not in handed and _goes_on(one)))
        summed = handed.intersection(nodes)
        within = _above(nodes, summed) if summed and node not in handed else set()
        added = {child for one in within for child in graph.children(one)} - within - handed
        sizes = {child for one in within if _is_own_size(one) for child in graph.children(one)[1:]}
        # What was handed to the pass goes into the sum as an addend alone: else it is a state that is computed on.
        # Where the pass also uses what the sum was on the way, it is a course through time, and trained as such.
        alone = summed.isdisjoint(graph.walk_nodes(added - sizes))
        way = tuple(sorted(one.name() for one in within))
        if last and way not in self._ways:
            return
        if any(map(_adds, within)) and alone and done.uses(node, within - {node}):
            self._found |= graph.ages([node, *summed])
            self._ways.add(way)


def _above(nodes: list[graph.Node], below: set[graph.Node]) -> set[graph.Node]:
    """Those of some nodes from which one of `below` is reached through these nodes."""
    parents: dict[graph.Node, list[graph.Node]] = {}
    for one in nodes:
        for child in graph.children(one):
            parents.setdefault(child, []).append(one)
    above: set[graph.Node] = set()
    waiting = list(below)
    while waiting:
        found = [one for one in parents.get(waiting.pop(), ()) if one not in above | below]
        above.update(found)
        waiting += found
    return above


def _goes_on(node: graph.Node) -> bool:
    """Whether what a node makes is still the average that went in: a sum with it, a part of it, or of another size."""
    return _adds(node) or is_sum(node) or node.name() in _PARTS or _is_own_size(node)


def _adds(node: graph.Node) -> bool:
    return node.name() in _SUMS and len(graph.children(node)) > 1


def _is_own_size(node: graph.Node) -> bool:
    """Whether a node divides something by a size of its own, as a normalisation does."""
    if node.name() != "DivBackward0" or len(graph.children(node)) == 1:
        return False
    divided, size = graph.children(node)
    behind = set(graph.walk_nodes([size], lambda one: one is not divided))
    return divided in behind and not any(True for _ in graph.leaves(behind - {divided}))
