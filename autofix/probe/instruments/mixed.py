"""Losses that train two networks: of those that train one between two steps, which reaches another one's, too."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from .. import wire
from ..engine.names import Names
from ..engine.taps import Taps, parameters
from ..program.frames import Raw

_MIXED, _BESIDE = "mixed", "mixed-beside"


@dataclass(frozen=True, slots=True)
class _Mixed:
    """Losses that train `name` in one segment: of each its calls, and the other optimizers whose parameters it reaches.

    `tied`: others that own some of the same parameters.
    """

    name: str
    calls: dict[Raw, set[int]]
    others: dict[Raw, set[int]]
    tied: set[int]


class MixedLosses:
    """Holds the losses against each other that each step uses, and remembers what later steps show of them."""

    def __init__(self, names: Names, taps: Taps) -> None:
        self._names, self._taps = names, taps
        self._used: dict[int, set[int]] = {}
        """By optimizer, the calls whose gradients its steps used."""
        self._undecided: dict[tuple[int, tuple[Raw, ...]], _Mixed] = {}
        self._passed_by: set[tuple[Raw, int]] = set()
        """Losses of these, and optimizers that stepped after them: whatever these did not use is thrown away."""
        self._taken: set[tuple[Raw, int]] = set()

    def step(self, index: int, calls: set[int], segment: set[int], known: Mapping[int, tuple[Raw, set[int]]]) -> None:
        """A step uses what some `calls` sent, and those of its `segment` among them; `known`: place and leaves of each.

        Two losses train this optimizer's parameters, and one of them another's too: was it meant to train both?
        """
        self._used.setdefault(index, set()).update(calls)
        self._passed_by |= {(stack, index) for mixed in self._undecided.values() for stack in mixed.calls}
        sites: dict[Raw, set[int]] = {}
        for n in sorted(calls & segment):
            sites.setdefault(known[n][0], set()).add(n)
        if len(sites) < 2 or len(self._taps.optimizers) < 2:  # noqa: PLR2004  two losses
            return
        owned = self._taps.owned
        own = owned[index]
        all_of = {i: theirs for i, theirs in enumerate(owned) if i != index}
        others = {
            stack: {i for i, theirs in all_of.items() if any(known[n][1] & (theirs - own) for n in numbers)}
            for stack, numbers in sites.items()
        }
        tied = {i for i, theirs in all_of.items() if own & theirs}
        before = self._undecided.get((index, tuple(sites)))
        name = before.name if before is not None else self._called(index)
        self._undecided[index, tuple(sites)] = _Mixed(name, sites, others, tied)

    def _called(self, index: int) -> str:
        """What holds the first parameter of an optimizer, and none that only another one owns."""
        owned = [
            [self._names.name(p, "a parameter") for p in parameters(one)[: None if at != index else 1]]
            for at, one in enumerate(self._taps.optimizers)
        ]
        mine = owned.pop(index)
        return next(iter(wire.holders(mine, (name for names in owned for name in names))), "a parameter")

    def sure(self) -> Iterator[tuple[str, Raw, str]]:
        """The losses of which steps have shown that both networks use their gradient, each with what it trains."""
        for mixed in self._undecided.values():
            for stack, numbers in mixed.calls.items():
                used = {i for i in mixed.others[stack] if i in mixed.tied or numbers & self._used.get(i, set())}
                self._taken |= {(stack, i) for i in used}
        yield from self._in_doubt(known=True)

    def doubted(self) -> Iterator[tuple[str, Raw, str]]:
        """Those of which no step has shown whether it throws their gradient away."""
        yield from self._in_doubt(known=False)

    def _in_doubt(self, *, known: bool) -> Iterator[tuple[str, Raw, str]]:
        """Of each network a loss in doubt; of another one with the same losses another one, where there is one."""
        seen: dict[Raw, tuple[Raw, ...]] = {}
        for (_, losses), mixed in self._undecided.items():
            if (both := self._trains_two(mixed, seen, known=known)) is not None:
                yield _BESIDE if losses in seen.values() else _MIXED, both, mixed.name
                seen[both] = losses

    def _trains_two(self, mixed: _Mixed, seen: Collection[Raw], *, known: bool) -> Raw | None:
        """The loss that is in doubt; with `known`, only if a step has shown that the other network uses its gradient.

        A trunk under several heads is not in doubt: there each loss has an optimizer that no other loss reaches. An
        optimizer that throws the gradient away, as that of a critic does with what an actor's loss sends, is none.
        """
        trains = {
            stack: {i for i in others if (stack, i) in self._taken or (stack, i) not in self._passed_by}
            for stack, others in mixed.others.items()
        }
        for stack, mine in trains.items():
            rest = set[int]().union(*(also for other, also in trains.items() if other is not stack))
            if mine - rest:
                continue
            sure = [one for one, also in trains.items() if any((one, i) in self._taken or not known for i in also)]
            if sure:
                return min(sure, key=lambda one: one in seen)
        return None
