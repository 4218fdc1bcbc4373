"""Which modules are trained while they evaluate: their mode, who set it, and what was trained since."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from ..program.frames import Frames, Raw
from .ledger import Ledger
from .notes import OFTEN, Notes

Wrap = Callable[[Any, str, Callable[..., Any]], None]

_MOSTLY = 0.75
"""The share of a module's parameters that a loss reaches where it trains that module, not a part that it lends."""
_MODE_MATTERS = (
    torch.nn.modules.dropout._DropoutNd, torch.nn.modules.batchnorm._NormBase, torch.nn.RReLU, torch.nn.AlphaDropout
)  # fmt: skip


@dataclass(slots=True)
class _Mode:
    """How a module stood when its user last called train or eval on it, and what was trained since."""

    module: weakref.ref[torch.nn.Module]
    training: bool
    stack: Raw
    trained: dict[bool, int] = field(default_factory=lambda: {True: 0, False: 0})
    since: int = 0
    trains: Raw = ()
    """Where the latest backward that trained it was called."""


class Modes:
    """Follows the mode of each module whose parts care for it."""

    def __init__(self, frames: Frames, ledger: Ledger, notes: Notes) -> None:
        self._frames, self._ledger, self._notes = frames, ledger, notes
        self._modes: dict[int, _Mode] = {}

    def install(self, wrap: Wrap) -> None:
        """Have each switch heard."""

        def switched(module: Any, mode: bool = True) -> None:
            if isinstance(module, _MODE_MATTERS) or not any(isinstance(m, _MODE_MATTERS) for m in module.modules()):
                return
            known = self._modes.get(id(module))
            if known is None or known.module() is not module:
                known = self._modes[id(module)] = _Mode(weakref.ref(module), bool(mode), ())
                known.trained[not mode] = int(not mode and module.training and self._ledger.step_number > 0)
            if known.training != bool(mode) or not known.stack:
                known.training, known.stack, known.since = bool(mode), self._frames.here(), 0

        wrap(torch.nn.Module, "train", switched)

    def trained(self, reached: dict[int, torch.Tensor], site: Raw) -> None:
        """A backward at this place reached these leaves."""
        for mode in self._modes.values():
            self._trained(mode, reached, site)

    def _trained(self, mode: _Mode, reached: dict[int, torch.Tensor], site: Raw) -> None:
        module = mode.module()
        if module is None or (mode.trained[False] > OFTEN and mode.trained[True] > OFTEN):
            return
        mine = [p for p in module.parameters() if p.requires_grad]
        if mine and sum(id(p) in reached for p in mine) >= _MOSTLY * len(mine):
            mode.trained[module.training] += 1
            mode.since += 1
            mode.trains = site

    def finish(self) -> None:
        """Note who trained in evaluation."""
        for mode in self._modes.values():
            module = mode.module()
            if module is None or mode.training or mode.since < OFTEN:
                continue
            name = "eval-left-on" if mode.trained[True] else "trained-in-eval"
            self._notes.note(name, type(module).__name__, mode.stack, mode.trains)
