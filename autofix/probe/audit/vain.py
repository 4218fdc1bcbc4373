"""Backward calls whose gradients are all cleared before any step, or anybody else, uses them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from ..engine.taps import Call, Listener, parameters

if TYPE_CHECKING:
    from ..program.frames import Raw
    from .ledger import Ledger
    from .notes import Notes

_OFTEN = 3


@dataclass(slots=True)
class _Sent:
    """What one backward call sent, and where the first of it was cleared."""

    site: Raw
    waiting: set[int]
    cleared: Raw = ()


class Vain(Listener):
    """Follows what each backward call sent to owned parameters until a step uses some of it, or all is cleared."""

    def __init__(self, ledger: Ledger, notes: Notes) -> None:
        self._ledger = ledger
        self._notes = notes
        self._sent: list[_Sent] = []
        self._used: set[Raw] = set()
        self._vain: dict[Raw, list[Raw]] = {}
        self.blind = False
        """Whether it is no longer seen that somebody reads gradients."""

    def backward(self, call: Call) -> None:
        loss = self._ledger.losses.get(call.stack)
        if not call.accumulate or loss is None or call.stack in self._used or self.blind:
            return
        owned = self._ledger.owned()
        inputs = any(not isinstance(leaf, torch.nn.Parameter) for leaf in loss.latest.values())
        keys = {key for key in loss.latest if key in owned}
        if inputs or not keys:  # gradients of inputs are read, not stepped with
            self._used.add(call.stack)
            return
        self._sent = [*self._sent[-100:], _Sent(call.stack, keys)]

    def step(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self.read({id(p) for p in parameters(optimizer)})

    def read(self, keys: set[int] | None = None) -> None:
        """Gradients of these, by default of all parameters, are used."""
        used = [sent for sent in self._sent if keys is None or sent.waiting & keys]
        self._used.update(sent.site for sent in used)
        self._sent = [sent for sent in self._sent if sent not in used] if used else self._sent

    def cleared(self, keys: set[int], place: Raw) -> None:
        """Gradients of these were put to zero."""
        left = []
        for sent in self._sent:
            if sent.waiting & keys:
                sent.cleared = sent.cleared or place
                sent.waiting -= keys
            if sent.waiting:
                left.append(sent)
            else:
                self._vain.setdefault(sent.site, []).append(sent.cleared)
        self._sent = left

    @property
    def waits(self) -> bool:
        """Whether anything was sent that is not used yet."""
        return bool(self._sent)

    def finish(self) -> None:
        """Note the places of which no call was of any use, where nothing has said so already."""
        if self._notes.has("zeroed-before-step", "gradients-thrown-away"):
            return
        for site, cleared in self._vain.items():
            if site not in self._used and len(cleared) >= _OFTEN:
                self._notes.note("backward-in-vain", "", cleared[-1], site)
