"""Whether a failure lies in what weighs a log-probability: in a target or an advantage, which then has a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..instruments.terms import ADDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

_LOGS = frozenset({"LogSoftmaxBackward0", "LogBackward0", "LogsumexpBackward0", "LogSigmoidBackward0"})
_PARTS = ADDS | {
    *("GatherBackward0", "IndexBackward0", "SelectBackward0", "SliceBackward0", "ExpBackward0", "MulBackward0"),
    *("ClampBackward0", "ClampBackward1", "MinimumBackward0", "WhereBackward0", "DivBackward0"),
}
_CHOICES = {"MinimumBackward0", "MaximumBackward0", "WhereBackward0"}
_TWO = 2


def spoiled_weight(
    names: Mapping[int, str], edges: Iterable[tuple[int, int]], roots: set[int], spoiled: set[int], trained: set[int]
) -> bool:  # fmt: skip
    """Whether a term of a loss is a log-probability times something in whose graph alone a spoiled node lies.

    Nodes are given by their ages. Where the logarithm is of what went into the weight, as in an entropy, both are parts
    of one measure. `trained`: those beside leaves that an optimizer owns; a weight made without them is a constant.
    """
    leads: dict[int, list[int]] = {}
    for user, made in edges:
        leads.setdefault(user, []).append(made)

    def below(starts: Iterable[int], enter: Callable[[int], bool] = lambda _age: True) -> Iterator[int]:
        queue = list(starts)
        seen = set(queue)
        while queue:
            age = queue.pop()
            yield age
            fresh = [one for one in leads.get(age, ()) if enter(age) and one not in seen]
            seen.update(fresh)
            queue += fresh

    def weighs(weight: int, other: int) -> bool:
        logs = [age for age in below([other], lambda age: names[age] in _PARTS) if names[age] in _LOGS]
        inside = set(below([weight]))
        return bool(
            logs
            and trained & inside
            and spoiled & inside
            and not spoiled & set(below([other]))
            and not any(inside.intersection(leads.get(log, ())) for log in logs)
        )

    for age in below(roots, lambda age: names[age] in ADDS | _CHOICES or len(leads.get(age, ())) < _TWO):
        both = leads.get(age, [])
        if len(both) == _TWO and names[age] in ("MulBackward0", "KlDivBackward0"):
            first, second = both
            if weighs(second, first) or (names[age] == "MulBackward0" and weighs(first, second)):
                return True
    return False
