"""Updates that a script makes by hand: gradients that are never cleared, and updates that are written nowhere."""

from __future__ import annotations

from typing import Any

import torch

from ..engine.remembered import Remembered
from ..engine.taps import Call
from ..program.frames import Frames, Raw
from .calls import fingerprint
from .ledger import Ledger
from .notes import OFTEN, Notes

_DESCENTS = frozenset({"sub", "__sub__", "subtract", "add", "__add__"})


class Hand:
    """Follows gradients of leaves that no optimizer owns through sums and products, to the leaves that they change."""

    def __init__(self, frames: Frames, ledger: Ledger, notes: Notes) -> None:
        self._frames, self._ledger, self._notes = frames, ledger, notes
        self._leaves: dict[int, torch.Tensor] = {}
        """Leaves of the latest backward that nobody owns, by their memory; `_gradients`: by that of their gradient."""
        self._gradients: dict[int, torch.Tensor] = {}
        self._from = Remembered[torch.Tensor]()
        self._updates: dict[Raw, tuple[torch.Tensor, tuple[Any, ...], int]] = {}
        self._stepped: dict[int, tuple[torch.Tensor, tuple[Any, ...], Raw]] = {}
        self._kept: dict[Raw, int] = {}

    def backward(self, call: Call) -> None:
        """Before a backward: what is left in the gradients that an update by hand has used?"""
        for leaf, used, place in self._stepped.values():
            if leaf.grad is not None and bool(leaf.grad.detach().any()) and fingerprint(leaf.grad) == used:
                self._kept[place] = self._kept.get(place, 0) + 1
        self._stepped.clear()
        loss = self._ledger.losses.get(call.stack)
        owned = self._ledger.owned()
        mine = [leaf for key, leaf in loss.latest.items() if key not in owned] if loss is not None else []
        self._leaves = {leaf.data_ptr(): leaf for leaf in mine}
        self._gradients = {}

    def backward_done(self) -> None:
        """The gradients are there."""
        self._gradients = {
            gradient.data_ptr(): leaf for leaf in self._leaves.values() if (gradient := leaf.grad) is not None
        }  # fmt: skip

    def computed(self, name: str, given: list[torch.Tensor], result: torch.Tensor) -> None:
        """A sum or product outside of any graph was made."""
        for one in given:
            leaf = self._origin(one)
            if leaf is not None:
                self._moved_by(leaf, name, given, result)
                return

    def _moved_by(self, leaf: torch.Tensor, name: str, given: list[torch.Tensor], result: torch.Tensor) -> None:
        self._from.keep(result, leaf)
        first = self._leaves.get(given[0].data_ptr())
        if name in _DESCENTS and first is not None and first is leaf and given[0].shape == leaf.shape:
            here = self._frames.here()
            target, before, count = self._updates.get(here) or (leaf, fingerprint(leaf), 0)
            self._updates[here] = target, before, count + (target is leaf)

    def written(self, args: Any) -> None:
        """Before a write: is a leaf changed by what its gradient says?"""
        target, source = (*args[:2], None, None)[:2]  # torch's initialisers give their tensor by name
        if isinstance(target, torch.Tensor) and isinstance(source, torch.Tensor):
            leaf, origin = self._leaves.get(target.data_ptr()), self._origin(source)
            if leaf is not None and origin is not None and origin is leaf and leaf.grad is not None:
                self._stepped[id(leaf)] = leaf, fingerprint(leaf.grad), self._frames.here()

    def _origin(self, tensor: torch.Tensor) -> torch.Tensor | None:
        if (known := self._from.of(tensor)) is not None:
            return known
        leaf = self._gradients.get(tensor.data_ptr()) if self._gradients else None
        return leaf if leaf is not None and leaf.shape == tensor.shape else None

    def finish(self) -> None:
        """Note what went on to the end."""
        for place, count in self._kept.items():
            if count >= OFTEN:
                self._notes.note("missing-zero-grad", "", place)
        for place, (leaf, before, count) in self._updates.items():
            if count >= OFTEN and fingerprint(leaf) == before:
                self._notes.note("update-never-written", "", place)
