"""Calls that take the samples of a batch for something else: for classes, for time, for another layout."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812  as everybody calls it

from ..engine import graph
from ..engine.quiet import quiet
from ..program.frames import Frames, Raw
from .ledger import Ledger
from .notes import OFTEN, Notes
from .scores import shape, size

_NORMALISES = {"softmax": 1, "log_softmax": 1, "normalize": 2, "cosine_similarity": 2}
"""Calls that relate what lies along one dimension, and the place of that dimension among their arguments."""
RECURRENT = frozenset({"lstm", "gru", "rnn_tanh", "rnn_relu"})
_BY_DEFAULT = 1
_BATCH_FIRST = 8


class Batch:
    """Remembers what a pass normalises along its first dimension or reads as time, until a loss tells its rows."""

    def __init__(self, frames: Frames, ledger: Ledger, notes: Notes) -> None:
        self._frames, self._ledger, self._notes = frames, ledger, notes
        self._along: dict[Raw, int] = {}
        self._time: dict[Raw, tuple[int, int]] = {}
        self._fed: set[int] = set()
        self._lossless: dict[Raw, int] = {}

    def fed(self, data: torch.Tensor) -> None:
        """Data enters a network: of two or four dimensions the first is that of samples."""
        if data.dim() in (2, 4):
            self._fed.add(data.shape[0])

    def normalised(self, name: str, args: Any, kwargs: Any, result: Any) -> None:
        """A normalisation with a graph was made."""
        given, place = args[0] if args else None, _NORMALISES.get(name, 0)
        made = isinstance(given, torch.Tensor) and not graph.is_leaf(given) and result.requires_grad
        if not isinstance(given, torch.Tensor) or not made or given.dim() < 2 or not place:  # noqa: PLR2004
            return
        dim = kwargs.get("dim", args[place] if len(args) > place else None)
        if dim is None:  # as torch itself guesses
            dim = 0 if "softmax" in name and given.dim() == 3 else _BY_DEFAULT  # noqa: PLR2004
        n, first = given.shape[0], isinstance(dim, int) and dim in (0, -given.dim())
        if first and n > 1 and n not in given.shape[1:]:
            self._along[self._frames.here()] = n
        if not self._ledger.step_number and name != "cosine_similarity":
            with quiet():
                each = given.detach()
                other = F.normalize(each, dim=1) if name == "normalize" else getattr(each, name)(1)
                self._notes.value(self._frames.here(), size(result), size(other) if first else None)

    def recurred(self, args: Any) -> None:
        """A recurrent layer read a sequence: which dimension does it take for time?"""
        given, state = args[0], args[1]
        packed = isinstance(state, torch.Tensor) and not state.is_floating_point()
        if packed or given.dim() != 3 or (len(args) > _BATCH_FIRST and args[_BATCH_FIRST]):  # noqa: PLR2004
            return
        self._time[self._frames.here()] = given.shape[0], given.shape[1]

    def viewed(self, given: torch.Tensor, result: torch.Tensor) -> None:
        """A tensor was given another shape: of the same sizes in another order, as a transposition has them?"""
        old, new = ([n for n in one.shape if n > 1] for one in (given, result))
        if len(old) > 1 and old != new and sorted(old) == sorted(new):
            here = self._frames.here()
            self._notes.often(here, "sizes-permuted", f"{shape(given)} as {shape(result)}", here)

    def compared(self, score: torch.Tensor, target: torch.Tensor) -> None:
        """A loss compares rows: whatever was normalised along them mixed samples."""
        rows = target.shape[0] if target.dim() and score.dim() and target.shape[0] == score.shape[0] else 0
        for place, n in self._along.items():
            if n == rows:
                self._notes.note("normalised-along-batch", str(n), place)
            elif rows and rows % n == 0 and n in self._fed:  # each sample has several rows
                self._notes.note("normalised-along-first", str(n), place)
        for place, (time, others) in self._time.items():
            if time == rows != others > 1 and others not in (*target.shape, *score.shape):
                self._notes.note("recurrent-along-batch", str(rows), place)
        self._along.clear()
        self._time.clear()

    def ended(self) -> None:
        """A pass goes backward; no loss function has said which dimension is that of samples."""
        for place, n in self._along.items():
            self._lossless[place] = self._lossless.get(place, 0) + (n in self._fed)
            if self._lossless[place] == OFTEN:
                self._notes.note("normalised-along-first", str(n), place)
        self._along.clear()
        self._time.clear()
        self._fed.clear()
