"""What belongs to one run while it goes on: what was asked, what it is watched with, and what its failure came to."""

from __future__ import annotations

import contextlib
from typing import Any

from .. import wire
from ..engine.names import Names
from ..engine.taps import Taps
from ..program.frames import Frames
from ..program.overlay import Overlay
from .late import Late
from .witness import Witness


class State:
    """Made from the request; the instruments of the run's mode are None until they are in place."""

    def __init__(self, request: wire.Request) -> None:
        self.request = request
        overlay = {path: text.encode("latin-1") for path, text in request.overlay.items()}
        self.overlay = Overlay(overlay, request.marks, lambda: self.taps.calls)
        self.frames = Frames(request.root, request.lines)
        placed = request.mode != "baseline"
        self.taps = Taps(self.frames, [], nudged=request.nudged, doubled=request.doubled, placed=placed)
        self.modes = contextlib.ExitStack()
        self.names = Names(self.frames, lambda tensors: self.witness.sketch_all(tensors))  # noqa: PLW0108  made below
        self.witness = Witness(self.frames, self.names)
        self.late: Late | None = None
        self.safe: Any = None
        self.sourced: Any = None
        """What a beginning has heard of what tensors are made of, where this run goes on from one, and asks."""
        self.standing: Any = None
        self.densities: Any = None
        self.unreachable: Any = None
        self.performing: Any = None
        self.off: Any = None
        self.tracer: Any = None
        self.refusals: Any = None
        self.origins: Any = None
        self.functions: Any = None
        self.saving: Any = None
        self.found: tuple[wire.Origin, ...] = ()
        self.behind: tuple[wire.Behind, ...] = ()
        self.plain: tuple[wire.Carrier, ...] = ()
        self.copied: tuple[wire.Carrier, ...] = ()

    def enter(self, *modes: Any) -> None:
        """Enter modes now, or late where the request says after how many passes the run is to be watched."""
        if self.request.watch_from:
            self.late = Late(self.request, lambda: [self.modes.enter_context(mode) for mode in modes])
            self.taps.listeners.append(self.late)
        else:
            for mode in modes:
                self.modes.enter_context(mode)
