"""Who wrote to memory that something was saved from: each write, with its place, until a backward finds one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from ..engine import graph, transforms
from ..engine.operators import Known, storage_key, tensors_at, written_arguments
from ..engine.remembered import Remembered
from ..engine.taps import Listener, Taps
from ..program.frames import Frames, Raw

_DETACHES = torch.ops.aten.detach.default
"""What `.detach()` and `.data` come down to."""
_MOST = 16
"""Places that write to one tensor that are remembered."""


class Handle:
    """A saved tensor with the version and the place it was saved at."""

    __slots__ = ("__weakref__", "alias", "constant", "given", "key", "raw", "version")

    def __init__(self, tensor: torch.Tensor, raw: Raw) -> None:
        own = transforms.plain(tensor)
        with torch._C._DisableTorchDispatch():
            self.alias = own.detach()
            self.given = self.alias if own is tensor else transforms.alias(tensor)
        self.version = own._version
        self.key = storage_key(own)
        self.constant = not tensor.requires_grad
        self.raw = raw


class Written(NamedTuple):
    """A write: as a `wire.Write`, with the age of the graph at it."""

    op: str
    raw: Raw
    optimizer: int
    made: int
    """The age of the oldest operation that made what was written; -1 where a part, a leaf or what was not made was.

    Of what has no graph: that of the latest operation with a graph before it.
    """
    view: tuple[int, ...]
    """The ages of the operations that made it and what it is a view of; () where it is no view, or one was not made."""
    alias: Raw
    """Where a name without graph was given to what was written, through which it was; () where it was not."""
    plain: bool
    """Whether it has no graph."""
    age: int


@dataclass(slots=True)
class _Since:
    """The writes to the memory of what an operation made, from the first one on, whether it was saved or not."""

    memory: StorageWeakRef
    made: int
    """The age of the operation that made it."""
    places: dict[Raw, None] = field(default_factory=dict)


class Writes(Listener):
    """Logs the writes to what is watched: the memory of saved tensors."""

    def __init__(self, frames: Frames, taps: Taps) -> None:
        self._frames, self._taps = frames, taps
        self._written = Known(written_arguments)
        self._log: dict[int, list[Written]] = {}
        self._watched: set[int] = set()
        self._since: dict[int, _Since] = {}
        self._aliases: Remembered[tuple[int, Raw]] = Remembered()
        """Names without graph of what has one: the age of the oldest operation that made it, and where it was named."""
        self._results: Remembered[int] = Remembered()
        """What operations made, with or without a graph: the age of the latest one that has one before each."""
        self._stepped: list[tuple[int, torch.Tensor, int]] = []

    def watch(self, handle: Handle) -> None:
        """Log what writes to the memory of a saved tensor from here on."""
        if handle.key is not None:
            self._watched.add(handle.key)

    def before(self, func: Any, args: Any, kwargs: Any, raw: Raw | None) -> None:
        """An operator is about to run, at `raw`, if that is known."""
        if places := self._written.of(func):
            tensors = tensors_at(places, args, kwargs)
            for tensor in tensors:
                self._note(tensor, raw)
            if self._watched:
                self._log_writes(func, tensors, raw)

    def after(self, func: Any, args: Any, result: Any) -> None:
        """It has run."""
        if func is _DETACHES:
            self._named(args[0], result)
        elif isinstance(result, torch.Tensor) and not self._written.of(func):
            self._results.keep(result, graph.now() - 1)

    def _note(self, tensor: torch.Tensor, raw: Raw | None) -> None:
        """Something is about to be written that may be saved later."""
        key, node = storage_key(tensor), graph.made_by(graph.base(tensor))
        if key is None or node is None:
            return
        known = self._since.get(key)
        if known is None or known.memory.expired():
            known = self._since[key] = _Since(StorageWeakRef(tensor.untyped_storage()), node._sequence_nr())
        if len(known.places) < _MOST:
            known.places[raw if raw is not None else self._frames.here()] = None

    def before_saved(self, handle: Handle) -> tuple[int, list[Raw]]:
        """The age of what made a saved tensor, and where it was written beside the writes since it was saved."""
        known = self._since.get(handle.key) if handle.key is not None else None
        if known is None or known.memory.expired():
            return -1, []
        since = {one.raw for one in self.spoiling(handle)}
        return known.made, [raw for raw in known.places if raw not in since]

    def _named(self, tensor: torch.Tensor, alias: torch.Tensor) -> None:
        """A tensor was given a name without graph: one of what the user's operations made, or of such a name."""
        known, age = self._aliases.of(graph.base(tensor)), min(_ages(tensor), default=-1)
        if known is not None or age >= 0:
            self._aliases.keep(alias, known or (age, self._frames.here()))

    def _log_writes(self, func: Any, tensors: list[torch.Tensor], raw: Raw | None) -> None:
        for tensor in tensors:
            key = storage_key(tensor)
            if key is not None and key in self._watched:
                raw = raw if raw is not None else self._frames.here()
                written = Written(func.name(), raw, self._taps.stepping, *self._made(tensor), graph.now())
                self._log.setdefault(key, []).append(written)

    def _made(self, tensor: torch.Tensor) -> tuple[int, tuple[int, ...], Raw, bool]:
        """As `Written` says it: the age of what made all that a tensor shows, of a view, its alias, if it is plain.

        What is written by a name without graph is all that the name was given to, be it a part of something.
        """
        base = graph.base(tensor)
        if (named := self._aliases.of(base)) is not None:
            return named[0], (), named[1], False
        if base is tensor and not tensor.requires_grad and (age := self._results.of(tensor)) is not None:
            return age, (), (), True
        ages = _ages(tensor)
        whole = bool(ages) and base.numel() == tensor.numel()
        return min(ages) if whole else -1, () if base is tensor else tuple(ages), (), False

    def spoiling(self, handle: Handle) -> list[Written]:
        """The writes since a tensor was saved."""
        writes = self._log.get(handle.key, []) if handle.key is not None else []
        return writes[-(handle.alias._version - handle.version) :] if handle.alias._version > handle.version else []

    # Steps that no mode sees ----------------------------------------------------------------------------------------

    def step(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self._stepped.clear()

    def expect(self, tensor: torch.Tensor) -> None:
        """A step that no mode sees is about to write a tensor."""
        if not self._watched:
            return
        key = storage_key(tensor)
        if key is not None and key in self._watched:
            self._stepped.append((key, tensor, tensor._version))

    def step_done(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        if self._stepped:
            raw, age = self._frames.here(), graph.now()
            for key, tensor, version in self._stepped:
                steps = [Written("step", raw, index, -1, (), (), False, age)] * (tensor._version - version)
                self._log.setdefault(key, []).extend(steps)
            self._stepped.clear()


def _ages(tensor: torch.Tensor) -> list[int]:
    """The ages of the operations that made a tensor and what it is a view of; [] where one of them was not made."""
    nodes = [graph.made_by(one) for one in dict.fromkeys((tensor, graph.base(tensor)))]
    ages = [int(node._sequence_nr()) for node in nodes if node is not None]
    return ages if len(ages) == len(nodes) else []
