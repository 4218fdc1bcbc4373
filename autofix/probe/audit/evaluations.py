"""Layers that depend on the mode where a network is measured: dropout that is on in eval mode, scores in train mode."""

from __future__ import annotations

import sys
from typing import Any

import torch

from ..program.frames import Frames, Raw
from .notes import Notes
from .paths import Cut

MODED = frozenset({"dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "batch_norm"})
"""Functions that do something else in training."""
_FLAG = {"batch_norm": 5}
"""Where the flag stands among their arguments; third by default."""


class Evaluations:
    """Looks at the mode of such layers, and at what becomes of their results."""

    def __init__(self, frames: Frames, notes: Notes) -> None:
        self._frames, self._notes = frames, notes
        self._measured: dict[Raw, tuple[Cut, ...]] = {}

    def called(self, name: str, args: Any, kwargs: Any) -> None:
        """Dropout as a function is on unless it is told otherwise: also where its module is in eval mode."""
        if name == "batch_norm" or "training" in kwargs or len(args) > 2:  # noqa: PLR2004  said on purpose
            return
        user = next(self._frames.running(sys._getframe(1)), None)
        module = user.f_locals.get("self") if user is not None else None
        if isinstance(module, torch.nn.Module) and not module.training:
            self._notes.note("dropout-in-evaluation", type(module).__name__, self._frames.here())

    def measured(self, name: str, args: Any, kwargs: Any, cuts: tuple[Cut, ...]) -> None:
        """A layer was called; `cuts`: where its result left the graph, if it did."""
        if torch.is_grad_enabled() or not cuts:
            return
        place = _FLAG.get(name, 2)
        if kwargs.get("training", args[place] if len(args) > place else name != "batch_norm"):
            self._measured[self._frames.here()] = cuts

    def finish(self) -> None:
        """Note what was only measured, and in train mode: it became a number, and came back into no graph."""
        for here, cuts in self._measured.items():
            if any(cut.joined for cut in cuts) or not any(cut.number for cut in cuts):
                continue
            depth = max((len(cut.off) for cut in cuts), default=0)
            self._notes.note("measured-in-train-mode", "", here[-depth:] if depth else here, here)
