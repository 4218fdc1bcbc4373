"""Whether a failure lies in what mostly is a constant: the target of a loss, and what weighs a log-probability."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .terms import ADDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

_LOGS = frozenset({"LogSoftmaxBackward0", "LogBackward0", "LogsumexpBackward0", "LogSigmoidBackward0"})
_PARTS = ADDS | {
    *("GatherBackward0", "IndexBackward0", "SelectBackward0", "SliceBackward0", "ExpBackward0", "MulBackward0"),
    *("ClampBackward0", "ClampBackward1", "MinimumBackward0", "WhereBackward0", "DivBackward0"),
}
_CHOICES = {"MinimumBackward0", "MaximumBackward0", "WhereBackward0"}
_TWO = 2

Graph = dict[int, list[int]]
"""The ages of the nodes that each node leads to, by its own."""


class Aim(NamedTuple):
    """One use of such a value: what made it and what it is held against; its age; which factor it is, -1 for none."""

    made: int
    beside: tuple[int, ...]
    age: int
    factor: int = -1


def graph_of(edges: Iterable[tuple[int, int]]) -> Graph:
    """The graph of one backward, by its edges."""
    leads: Graph = {}
    for user, made in edges:
        leads.setdefault(user, []).append(made)
    return leads


def spoiled_aims(leads: Graph, aims: Iterable[Aim], spoiled: set[int], *, alone: bool) -> Iterator[Aim]:
    """Those whose value leads a backward to a spoiled node, and is not what they are held against made of.

    A prediction that is made of its target has no other way to learn. `alone`: nor may that be made of a spoiled node.
    """
    for aim in aims:
        beside = set(_below(leads, aim.beside))
        left = spoiled - beside if alone else spoiled
        if aim.made not in beside and not left.isdisjoint(_below(leads, [aim.made])):
            yield aim


def weights(leads: Graph, names: Mapping[int, str], roots: Iterable[int], trained: set[int]) -> Iterator[Aim]:
    """What weighs a log-probability in a term of a loss, and has a graph that leads to what an optimizer owns.

    `trained`: the nodes beside such leaves. Where the logarithm is of what went into the weight, as in an entropy, both
    are parts of one measure.
    """

    def weighs(weight: int, other: int) -> bool:
        logs = [age for age in _below(leads, [other], lambda age: names[age] in _PARTS) if names[age] in _LOGS]
        inside = set(_below(leads, [weight]))
        return bool(logs and trained & inside) and not any(inside.intersection(leads.get(log, ())) for log in logs)

    for age in _below(leads, roots, lambda age: names[age] in ADDS | _CHOICES or len(leads.get(age, ())) < _TWO):
        both = leads.get(age, [])
        if len(both) == _TWO and names[age] == "MulBackward0":
            for factor, (weight, other) in enumerate((both, both[::-1])):
                if weighs(weight, other):
                    yield Aim(weight, (other,), age, factor)


def _below(leads: Graph, starts: Iterable[int], enter: Callable[[int], bool] = lambda _age: True) -> Iterator[int]:
    """What is reached from some nodes, themselves too, but through none that `enter` refuses."""
    queue = list(starts)
    seen = set(queue)
    for age in queue:
        yield age
        fresh = [one for one in leads.get(age, ()) if enter(age) and one not in seen]
        seen.update(fresh)
        queue += fresh
