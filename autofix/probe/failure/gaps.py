"""Gradients that were None, and the lost graph by which a derivative's outputs are made of its inputs all the same."""

from __future__ import annotations

import itertools
import weakref
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import torch

from .. import wire
from ..engine import graph
from ..engine.remembered import Remembered
from ..program.frames import Frames, Raw

_KEPT = 8
_MOST = 8
_READ = 40
_WALKS = 20
"""How often it is looked what a graph is made of that ends at a place: later passes end those of the same."""


class Record(NamedTuple):
    """How the graph was lost and where; of what was switched off, also where it was used."""

    kind: str
    raw: Raw
    used: Raw = ()


class _Gap(NamedTuple):
    """One such call, the inputs without gradient, whether these are all, and what its outputs lost on their way."""

    raw: Raw
    inputs: tuple[weakref.ref[torch.Tensor], ...]
    all: bool
    lost: tuple[Record, ...]


class Gaps:
    """Hears of each derivative, and of each tensor with a graph that is also made of something without."""

    def __init__(self, frames: Frames) -> None:
        self._frames = frames
        self._within = Remembered[tuple[Record, ...]]()
        """Of tensors with a graph, how that of what they are also made of was lost."""
        self._behind: dict[Record, set[int]] = {}
        """By how the graph was lost and where, the leaves behind what then had none."""
        self._times: dict[Record, int] = {}
        self._of_leaves: set[Record] = set()
        """How leaves lost a graph that ask for a gradient, and that something was made of."""
        self._seen: deque[_Gap] = deque(maxlen=_KEPT)
        self._read: dict[Raw, graph.Node | None] = {}
        """Where a gradient was read that was None, the latest last; of a result, with what made it."""

    def flows(
        self, lost: Iterable[Record], of_leaves: Iterable[Record], given: Iterable[torch.Tensor],
        results: Iterable[torch.Tensor],
    ) -> None:  # fmt: skip
        """Something is made of tensors: `lost` is what those have lost that have no graph, `of_leaves` some of it."""
        self._of_leaves.update(of_leaves)
        within = (record for one in given for record in self._within.of(one) or ())
        if records := tuple(dict.fromkeys((*lost, *within)))[:_MOST]:
            for tensor in (one for one in results if one.requires_grad):
                self._within.keep(tensor, records)

    def cut(self, records: Iterable[Record], given: Iterable[torch.Tensor], before: Iterable[Record]) -> None:
        """A graph ends at some places: remember the leaves of what it ended for, the first times.

        Also those of what had lost its graph `before`.
        """
        for one in records:
            self._times[one] = times = self._times.get(one, 0) + 1
            if times <= _WALKS:
                leaves = itertools.chain(given, graph.leaves(graph.walk(given)))
                earlier = (self._behind.get(other, set()) for other in before)
                self._behind.setdefault(one, set()).update(map(id, leaves), *earlier)

    def gave(self, args: Sequence[Any], result: Sequence[torch.Tensor | None]) -> None:
        """A derivative was taken: remember what is behind its outputs, and which of its inputs it gave None for."""
        outputs, inputs = args[:2]
        if any(one is not None and not one.requires_grad for one in result):
            behind = self._behind.setdefault(Record("derivative", self._frames.here()), set())
            behind.update(map(id, graph.leaves(graph.walk(outputs))))
        unused = [one for one, gradient in zip(inputs, result, strict=False) if gradient is None]
        if unused:
            references, whole = tuple(map(weakref.ref, unused)), len(unused) == len(result)
            self._seen.append(_Gap(self._frames.here(), references, whole, self._lost(unused, outputs)))

    def read(self, tensor: torch.Tensor, gradient: torch.Tensor | None) -> None:
        """A gradient was read: remember where a tensor had none that asks for one."""
        if gradient is not None or not tensor.requires_grad:
            return
        here = self._frames.here()
        self._read.pop(here, None)
        self._read[here] = None if graph.is_leaf(tensor) else graph.made_by(tensor)
        if len(self._read) > _READ:
            del self._read[next(iter(self._read))]

    def _lost(self, inputs: Iterable[torch.Tensor], outputs: Iterable[Any]) -> tuple[Record, ...]:
        inputs = list(inputs)
        leaves = {id(one) for one in inputs if graph.is_leaf(one)}
        results = any(not graph.is_leaf(one) for one in inputs)
        known = dict.fromkeys(record for one in outputs for record in self._within.of(one) or ())
        return tuple(one for one in known if results or leaves & self._behind.get(one, leaves))

    # What is asked --------------------------------------------------------------------------------------------------

    @property
    def places(self) -> list[wire.Stack]:
        """The latest calls that gave None, in order."""
        return [self._frames.resolve(gap.raw) for gap in self._seen]

    @property
    def reads(self) -> dict[wire.Stack, graph.Node | None]:
        """The latest places where a gradient was read that was None, in order; of a result, with what made it."""
        return {self._frames.resolve(raw): made for raw, made in self._read.items()}

    def latest(self, stack: wire.Stack) -> tuple[tuple[wire.Origin, ...], list[torch.Tensor]]:
        """The latest of them at a place with what its outputs lost on their way, and the inputs that it is about."""
        gap = next(one for one in reversed(self._seen) if self._frames.resolve(one.raw) == stack)
        inputs = [one for reference in gap.inputs if (one := reference()) is not None]
        return (wire.Origin(wire.NONE_GIVEN[not gap.all], stack), *self._told(gap.lost)), inputs

    def lost(self, inputs: Iterable[torch.Tensor], outputs: Iterable[Any]) -> tuple[wire.Origin, ...]:
        """Where the graph was lost by which outputs may be made of inputs that they do not lead to."""
        return self._told(self._lost(inputs, outputs))

    def _told(self, records: Iterable[Record]) -> tuple[wire.Origin, ...]:
        resolve, leaves = self._frames.resolve, self._of_leaves
        return tuple(dict.fromkeys(wire.Origin(one.kind, resolve(one.raw), leaf=one in leaves) for one in records))
