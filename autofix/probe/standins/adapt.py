"""Fits a run to this machine: environment, device, stand-ins, shortened loops, and last words before its limit."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from types import FrameType
from typing import TYPE_CHECKING, Any

from .. import wire

if TYPE_CHECKING:
    from ..instruments.state import State

COMPILED = "what is compiled ran eagerly"
SCRIPTED = "what TorchScript compiles ran as Python, for nothing sees into it"
_SHARE = 0.9
"""Of a time limit: then a run says what it saw, before the server ends it."""


class Adapted:
    """What was arranged for one run, and what of it acted: `notes`, in the order in which it first did."""

    def __init__(self) -> None:
        self._notes: dict[str, None] = {}
        self._doubts: dict[str, None] = {}
        self._device: AbstractContextManager[Any] | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """Each departure once, in the order in which they first acted."""
        return tuple(self._notes)

    @property
    def facts(self) -> tuple[wire.Fact, ...]:
        """Departures under which no comparison can be trusted."""
        return tuple(wire.Fact("stand-in", text) for text in self._doubts)

    @property
    def eager(self) -> bool:
        """Whether something ran eagerly that the script compiles."""
        return not self._notes.keys().isdisjoint((COMPILED, SCRIPTED))

    def note(self, text: str) -> None:
        """Keep what was done otherwise than the script says."""
        self._notes[text] = None

    def doubt(self, text: str) -> None:
        """Keep what was done otherwise, and that what is compared depends on it."""
        self.note(text)
        self._doubts[text] = None

    def arm(self, run: State, out_of_time: Callable[[str], None], shown: Callable[[str], None]) -> None:
        """Arrange what the request's setup asks for; before the script runs, after the instruments are in place.

        `out_of_time` ends a run shortly before its time limit, with what it came to in words; `shown` one that has
        shown enough.
        """
        setup = run.request.setup
        os.environ.update(setup.environment)
        if setup.device == "cpu":
            from .device import OnCpu

            self._device = run.modes.enter_context(OnCpu(self.note))
        if not setup.compiled:
            self._eagerly()
        if not setup.scripted:
            self._unscripted()
        if setup.stand_in:
            from . import standin

            standin.install(self.note, self.doubt, run.frames.owned, run.request.root)
        if setup.shorten or setup.skip_line:
            from .shorten import Shorten

            Shorten(run, self.note).install()
        self.again(run, out_of_time, shown)

    @contextlib.contextmanager
    def beneath(self, run: State) -> Iterator[None]:
        """Let modes come and go beneath that of the device, which belongs to another run from then on."""
        if self._device is not None:
            self._device.__exit__(None, None, None)
        yield
        if self._device is not None:
            run.modes.enter_context(self._device)

    def again(self, run: State, out_of_time: Callable[[str], None], shown: Callable[[str], None]) -> None:
        """Arrange what belongs to one run alone, of those that go on from one beginning."""
        setup = run.request.setup
        if setup.closures:
            from .shorten import Closures

            run.taps.listeners.insert(0, Closures(setup.closures, self.note))
        if setup.rounds and run.request.mode == "baseline":
            from .shorten import Rounds

            run.taps.listeners.append(Rounds(setup.rounds, run.taps, shown))
        if run.request.mode in ("audit", "baseline", "trace"):
            _speak_before(run, out_of_time)

    def _eagerly(self) -> None:
        """Have torch.compile give back what it was given; whether it compiles is for a run of its own to see."""
        import torch

        space: Any = torch

        def given(model: Any = None, **_: Any) -> Any:
            self.note(COMPILED)
            return (lambda function: function) if model is None else model

        space.compile = given
        torch.nn.Module.compile = lambda module, *args, **kwargs: self.note(COMPILED)

    def _unscripted(self) -> None:
        """Have TorchScript give back what it was given, as torch does where the environment says PYTORCH_JIT=0."""
        import torch

        space: Any = torch.jit
        space._state.disable()
        # Made before it is said that nothing is compiled, this class compiles all the same.
        space.ScriptModule = space._script.ScriptModule = type("ScriptModule", (torch.nn.Module,), {})
        space.Attribute = space._script.Attribute = lambda value, type: value  # noqa: A006 -- torch's names
        self.note(SCRIPTED)


def _speak_before(run: State, out_of_time: Callable[[str], None]) -> None:
    """Have the run say where it is shortly before its time limit; a script's own alarms come before that."""

    def speak(number: int, frame: FrameType | None) -> None:
        out_of_time(_seen(run, next(run.frames.running(frame), None)))

    signal.signal(signal.SIGALRM, speak)
    signal.setitimer(signal.ITIMER_REAL, _SHARE * run.request.time_limit)


def _seen(run: State, frame: FrameType | None) -> str:
    """What a run that reached its limit in this frame of the user's came to, in words."""
    at = f"; it was at {os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}" if frame is not None else ""
    steps = sum(run.taps.counts)
    if not run.taps.calls:
        return f"no backward call in {_SHARE * run.request.time_limit:.0f} s{at}"
    calls = f"{run.taps.calls} backward call{'s' if run.taps.calls != 1 else ''}"
    return f"{calls} and {steps} optimizer steps in {_SHARE * run.request.time_limit:.0f} s without a failure{at}"
