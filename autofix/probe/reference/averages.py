"""Which values that passes hand on are averages: sums of what was handed to a pass and of something of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..engine import graph
from ..engine.operators import storage_key
from ..instruments.terms import is_sum

if TYPE_CHECKING:
    from ..engine.taps import Call
    from ..program.frames import Raw


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
        return node in seen and not elsewhere and self.leaves <= {storage_key(leaf) for leaf in graph.leaves(seen)}


class Averages:
    """Looks, in each pass that was handed something, at what the pass before did with what it then handed on."""

    def __init__(self) -> None:
        self._carried = False
        self._latest: dict[Raw, _Pass] = {}
        """The latest pass of each site, once a graph is carried over."""
        self._found: set[int] = set()

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

    def _look(self, done: _Pass, node: graph.Node) -> None:
        handed = set(done.handed)

        def sums(one: graph.Node) -> bool:
            return is_sum(one) and one not in handed

        nodes = set(graph.walk_nodes([node], sums))
        within = set(filter(sums, nodes)) - {node}
        added = nodes - within - handed - {node}
        summed = nodes & handed
        # What was handed to the pass goes into the sum as an addend alone: else it is a state that is computed on.
        # Where the pass also uses what the sum was on the way, it is a course through time, and trained as such.
        if summed and node not in handed and summed.isdisjoint(graph.walk_nodes(added)) and done.uses(node, within):
            self._found |= graph.ages([node, *summed])
