"""Whether a failure lies in what a loss is given as its target: that has a graph then, which another backward uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

Edge = tuple[int, int]


def trained_targets(
    edges: Iterable[Edge], roots: Iterable[int], aims: Collection[Edge], spoiled: set[int], *, alone: bool
) -> Iterator[Edge]:
    """Those of `aims`, edges from a loss to its target, that lead a backward to a spoiled node.

    Nodes are given by their ages. What a target is made of may be used otherwise, too, but the target itself is not: a
    prediction that is made of it has no other way to learn. `alone`: neither may be a spoiled node.
    """
    leads: dict[int, list[int]] = {}
    for user, made in edges:
        leads.setdefault(user, []).append(made)
    others = _below(leads, roots, aims)
    left = spoiled - others if alone else spoiled
    for edge in aims:
        if edge[1] not in others and not left.isdisjoint(_below(leads, edge[1:], ())):
            yield edge


def _below(leads: Mapping[int, list[int]], starts: Iterable[int], without: Collection[Edge]) -> set[int]:
    """What is reached from some nodes, but not by some edges."""
    queue = list(starts)
    seen = set(queue)
    for user in queue:
        fresh = [made for made in leads.get(user, ()) if made not in seen and (user, made) not in without]
        seen.update(fresh)
        queue += fresh
    return seen
