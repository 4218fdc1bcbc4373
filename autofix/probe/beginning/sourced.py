"""What runs know that ask where data come from: watched in a beginning, as long as nothing has had a graph."""

from __future__ import annotations

import contextlib

from ..child import Run
from ..engine import graph
from ..engine.sources import DataSources
from ..reference.plain_derivatives import PlainDerivatives


class Sourced:
    """The two modes of calls that hear from the first line on what each tensor was made of.

    What is cut from a graph keeps that alive, and no fork is left while something has one: from the first graph on they
    hear of nothing, and runs that ask go on from a fork before it.
    """

    def __init__(self, run: Run) -> None:
        self._began = graph.now()
        self._modes = contextlib.ExitStack()
        self.sources = self._modes.enter_context(DataSources(run.frames, run.taps))
        self.derivatives = self._modes.enter_context(PlainDerivatives(run.frames, run.taps))

    @property
    def knows(self) -> bool:
        """Whether it has heard of all that was made up to here."""
        if graph.now() != self._began and not self.derivatives.retired:
            self._retire()
        return not self.derivatives.retired

    def _retire(self) -> None:
        self.derivatives.retired = True
        self.sources.retire()

    def hand_on(self, run: Run) -> None:
        """Leave the modes, which are innermost; a run that asks is given them with all that they have heard."""
        asks = run.request.sources and self.knows
        self._modes.close()
        if asks:
            self.sources.go_on(run.frames)
            self.derivatives.go_on(run.frames)
            run.sourced = self
        elif not self.derivatives.retired:
            self._retire()
