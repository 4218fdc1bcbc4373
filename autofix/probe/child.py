"""One run of the target in this process: instruments on, script run as Python would, facts written to a pipe."""

from __future__ import annotations

import contextlib
import functools
import operator
import os
import random
import resource
import sys
import time
import traceback
from typing import Any, NoReturn

from . import HERE, codec, wire
from .fence import usage
from .instruments.state import State
from .program import leaving, unwound
from .standins import dynamo

MESSAGE = 4000
BROKEN = "instrument_failed"
"""How a run ends in which what watches it has raised."""


class Run(State):
    """One run, from the request to the trace."""

    def __init__(self, request: wire.Request, result: int, stem: Run | None = None) -> None:
        """`stem`: the run that goes on as this one, and has executed its beginning."""
        import torch

        from .instruments.signs import Signs
        from .standins.adapt import Adapted

        super().__init__(request)
        self.adapted: Adapted = Adapted() if stem is None else stem.adapted
        self._result = result
        self._torch = torch
        self.began = time.monotonic()
        self.audit: Any = None
        self.peak = 0
        self.resumed = 0.0
        """Seconds that the beginning took, where this run goes on from one."""
        if stem is not None:
            stem.taps.take_over(self.taps)
            self.taps = stem.taps
        self.taps.broke = self.broke
        self.picture: Any = None
        self.guards: Any = None
        self.courses: Any = None
        self.keyed: Any = None
        self.perturb: Any = None
        self.reach: Any = None
        self.signs = Signs(self, lambda data: codec.send(result, data))
        self.stopper: Any = None
        self._marked: dict[str, Any] = {}
        self._ending = False

    # Instruments ----------------------------------------------------------------------------------------------------

    def arm(self) -> None:
        """Put the instruments of this run's mode in place."""
        from .refused import unheard

        leaving.watch(self.frames, self.ended)
        unheard.install()
        if self.request.mode == "trace":
            self._arm_trace()
        elif self.request.mode in ("reference", "candidate"):
            self._arm_compared()
        elif self.request.mode == "audit":
            from .audit.watch import Audit

            self.audit = Audit(self.frames, self.taps, self.request.budget, self.stop)
            self.audit.install()
        else:
            from .instruments.silent import Silent
            from .program.reach import Hosts

            self.taps.listeners.append(Silent(self.frames, self.taps))
            self.reach = Hosts()
            self.reach.install()
        self.taps.install()

    def _arm_trace(self) -> None:
        from .engine import functions
        from .failure.refusals import Refusals
        from .failure.tracing import Tracer
        from .instruments.aims import Aims

        self.functions = functions.Last()
        functions.listen(self.functions.hear)
        self.saving = functions.Saving(self.frames)

        aims = Aims(self.frames)
        self.tracer = Tracer(self.frames, self.taps, aims, next(iter(self.request.failed_at), 0))
        self.taps.listeners += [self.tracer, self.tracer.writes]
        self.enter(self.tracer, aims)
        if self.request.watch_origins:
            self._watch_origins()
            self._watch_flags(holds=False)
        if self.request.watch_calls:
            self.refusals = self.modes.enter_context(Refusals())
        else:
            self.taps.before_writes = [self.tracer.writes.expect]
        if self.request.graph:
            from .failure.picture import Picture
            from .instruments.stopper import Stopper

            self.picture = Picture(self.frames, self.taps, self.tracer)
            self.taps.listeners += [
                self.picture,
                Stopper(self.request, self.taps, self.stop, self.mark, self.stop_at_mark),
            ]

    def _watch_flags(self, *, holds: bool) -> None:
        from .failure.module_flags import ModuleFlags

        flags = ModuleFlags(self.frames, self.taps, self.names, holds=holds)
        flags.install()
        self.taps.listeners.append(flags)

    def _watch_origins(self) -> None:
        from .failure.origins import Origins

        self.origins = self.modes.enter_context(Origins(self.frames, self.overlay.read))
        self.taps.listeners.append(self.origins)

    def _arm_compared(self) -> None:
        from .instruments.courses import Courses, Stepped
        from .instruments.hooks import Hooks
        from .instruments.uses import Uses
        from .reference.freeze import KeyedRandom

        asked, heard = self.request, self.taps.listeners
        self._arm_values()
        uses = Uses(self.frames, self.names, self.taps)
        hooks = Hooks(self.frames, self.taps, self.names, self.witness)
        heard += [uses, hooks]
        self._arm_guards(hooks)
        self._arm_comparisons()
        if asked.mode == "reference":
            from .reference import arming

            if asked.watch_origins:
                self._watch_origins()
            arming.arm(self, uses, hooks)
            if asked.flags:
                self._watch_flags(holds=True)
        self.courses = Courses(self.taps, self.names, self.witness, self.guards)
        # Guards first: they must see a segment end before the witness looks; the freezer undoes a step last of all.
        heard += [self.guards, self.courses, self.witness]
        if asked.frozen or asked.perturbed:
            self._arm_perturbed()
        if asked.frozen or asked.ordered:
            freeze = self.perturb if asked.frozen else None
            self.keyed = KeyedRandom(self.frames, freeze, self.off, ordered=asked.ordered)
            self.keyed.patch_arrays()
            if not asked.compared:  # what drops otherwise each time is never the same as before
                self.keyed.patch_dropout()
            self.modes.enter_context(self.keyed)
        if self.perturb is not None:
            self._hear_of_starts()
        if not asked.frozen:
            heard += [*self._resting(), Stepped(self.courses)]
        self.courses.install()  # behind what perturbs: what is looked at is what is used
        if asked.unshared:
            from .arrays.unshared import Unshared

            Unshared(self.taps)
        self._arm_last()

    def _resting(self) -> list[Any]:
        """Who undoes steps of some parameters, where a run asks for it."""
        if not self.request.rests:
            return []
        from .reference.perturb import Resting

        return [Resting(self.request.about)]

    def _arm_values(self) -> None:
        """What comes out otherwise than the script says, whatever is watched."""
        asked = self.request
        if asked.branches:
            from .standins.branches import Branches

            branches = Branches(self.frames.owned, asked.lines, asked.turned)
            branches.install(self.overlay.change)
            self.taps.listeners.append(branches)
        if asked.bounding:
            from .reference.bounding import show

            show(self.taps)

    def _arm_guards(self, hooks: Any) -> None:
        """What looks for faults; a run that goes on behind what is compared otherwise has none to look for."""
        from .engine.born import Unreachable
        from .instruments.guards import Guards, Reached
        from .instruments.kept import KeptGraphs
        from .instruments.terms import GrowingLosses

        asked, known = self.request, (self.frames, self.names, self.taps)
        if asked.further:
            self.guards = Reached(*known, lambda: int(hooks.cut_before()))  # a reference sets it later
        else:
            self.guards = Guards(*known, shapes=asked.shapes, growing=asked.growing)
            self.unreachable = Unreachable(self.frames, self.taps, self.names)
            self.taps.listeners += [GrowingLosses(self.frames), self.unreachable]
            self.taps.listeners += [KeptGraphs(self.frames)] if asked.mode == "candidate" else []
        self.witness.guards = self.guards

    def _hear_of_starts(self) -> None:
        """What moves parameters hears what a reference does with them otherwise."""
        self.taps.listeners.append(self.perturb)
        if self.standing is not None:
            self.perturb.standing = self.standing.leaves
        if self.performing is not None:
            self.performing.begins = self.perturb.begin
        if self.safe is not None:
            self.safe.before_copy = self.perturb.saved

    def _arm_last(self) -> None:
        """What looks once all others have heard, and what ends the run."""
        from .instruments.stopper import Stopper

        asked, heard = self.request, self.taps.listeners
        if asked.mode == "reference" and self.perturb is not None and not asked.frozen:
            from .reference.perturb import Stirred

            heard.append(Stirred(self.perturb, moves=asked.stirred))
        if asked.held:
            from .instruments.courses import HeldStates

            heard.append(HeldStates(self.taps, self.names, self.witness))
        if asked.expected:
            from .instruments.parting import Parting

            heard.append(Parting(asked.expected, self.witness.steps, self.stop))
        self.stopper = Stopper(asked, self.taps, self.stop, self.mark, self.stop_at_mark)
        heard.append(self.stopper)

    def _arm_perturbed(self) -> None:
        from .reference.freeze import Freeze
        from .reference.perturb import Perturb

        asked, guards = self.request, self.guards
        if asked.frozen:
            self.perturb = Freeze(self.taps, self.courses, lambda: guards.leaves, asked)
            self.taps.before_writes = self.taps.before_writes or []
        else:
            self.perturb = Perturb(farther=asked.farther, early=asked.early, elsewhere=asked.starts)
        self.modes.enter_context(self.perturb.watching())

    def _arm_comparisons(self) -> None:
        from .arrays.densities import Densities
        from .instruments.cancels import Cancels
        from .instruments.comparisons import Comparisons

        if self.request.compared:
            comparisons = self.modes.enter_context(
                Comparisons(self.frames, self.request.older, rest=self.request.still)
            )
            cancels = self.modes.enter_context(Cancels(self.frames))
            self.densities = Densities(self.frames, cancels.places)
            self.taps.listeners += [comparisons, self.densities, cancels]

    # The script -----------------------------------------------------------------------------------------------------

    def execute(self) -> NoReturn:
        """Run the target to its end, its failure, or until a listener stops it; does not return."""
        from .program.launch import launch

        raised: BaseException | None = None
        self.frames.outermost = sys._getframe()
        try:
            self.seed()
            self.overlay.install()
            self._armed()
            launch(self.request, self.overlay)
        except BaseException as error:
            raised = error
        self.ended(raised)

    def _armed(self) -> None:
        try:
            self.arm()
            self.adapted.arm(self, self.out_of_time, self.shown)
            self.signs.start()
        except Exception as error:
            self.broke(error)

    def broke(self, error: Exception) -> NoReturn:
        """End the run here: an instrument has raised this, and nobody knows what it missed. Does not return."""
        self._finish(BROKEN, _of_ours(error), None)

    def ended(self, error: BaseException | None) -> NoReturn:
        """Report what the script came to, with what it raised; does not return."""
        outcome, detail, failure, unwinding, marked = "finished", "", None, "", None
        if isinstance(error, SystemExit):
            code = error.code if isinstance(error.code, int) else int(error.code is not None)
            if code:
                outcome, detail, unwinding = "failed", f"SystemExit: {error.code}", unwound.text(error)
            if code and self.guards is not None:  # what is compared ends here: why it gave up, where that is known
                failure = self._failure(error.__context__ or error)
        elif error is not None:
            outcome, failure = "failed", self._failure(error)
            detail, unwinding = _one_line(error), unwound.text(error)
        if outcome == "finished" and (kept := self._in_vain()):
            outcome, marked = "stopped", kept | {"hurried": False}
        self._finish(outcome, detail, failure, unwinding, marked)

    def _in_vain(self) -> dict[str, Any] | None:
        """What was known where those that follow may end, of a run that then only waited for what never came."""
        return self._marked if self.stopper is not None and self.stopper.waited_in_vain() else None

    def stop(self) -> None:
        """End the run here: enough was seen. Does not return, and nothing in the script can catch it."""
        self._finish("stopped", "", None, marked=self._in_vain())

    def mark(self) -> None:
        """Keep what is known here, at an event: time may end the run between this one and the next."""
        self._marked = self._facts()

    def stop_at_mark(self) -> None:
        """End the run with what was known at the mark, if there was one. Does not return, unless it ends already."""
        if not self._ending:
            self._finish("stopped", "", None, marked=self._marked)

    def shown(self, seen: str) -> None:
        """End the run here, with what was seen: it shows enough. Does not return."""
        self._finish("stopped", seen, None)

    def out_of_time(self, seen: str) -> None:
        """End the run shortly before its time limit, with what was seen. Does not return."""
        self._finish("timed_out", seen, None)

    def seed(self) -> None:
        """Begin each stream of random numbers where all runs begin it."""
        random.seed(0)
        self._torch.default_generator.manual_seed(0)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(0)

    def _loaded(self, name: str) -> bool:
        """Whether a package was loaded from where others find it, too."""
        file = getattr(sys.modules.get(name), "__file__", None)
        return isinstance(file, str) and not self.frames.owned(os.path.realpath(file))

    # What it came to ------------------------------------------------------------------------------------------------

    def _failure(self, error: BaseException) -> wire.Failure:
        from .failure import classify

        if self.picture is not None:
            self.picture.error = error
        try:
            return classify.failure(error, self)
        except Exception as ours:
            self.broke(ours)

    def _finish(
        self, outcome: str, detail: str, failure: wire.Failure | None, unwinding: str = "",
        marked: dict[str, Any] | None = None,
    ) -> NoReturn:  # fmt: skip
        self._ending = True
        facts: dict[str, Any] = {}
        with contextlib.suppress(BaseException):
            sys.stdout.flush()
            sys.stderr.flush()
        try:
            with contextlib.suppress(RuntimeError):  # torch takes a mode down while it calls it: the run may end there
                self.modes.close()
            if outcome != BROKEN:
                facts = dict(marked or self._facts())
                facts |= self._facts_of_end(outcome, failure, facts)
        except Exception as error:  # nothing is known of such a run, however it ended
            outcome, detail, failure, facts = BROKEN, _of_ours(error), None, {}
        trace = wire.Trace(
            self.request.id, outcome, detail, failure, traceback=unwinding,
            seconds=time.monotonic() - self.began, queued=usage.queued(), computed=time.process_time(),
            resumed=self.resumed, before=max(0.0, self.taps.first - self.began),
            peak_bytes=max(self.peak, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024),
            notes=self.adapted.notes,
            past=self.stopper.past if self.stopper is not None else 0.0, compiles=dynamo.loaded(),
            loaded=tuple(filter(self._loaded, wire.AHEAD)), eager=self.adapted.eager,
            reached=() if self.reach is None else tuple(self.reach.found), **facts,
        )  # fmt: skip
        data = codec.dump(trace)
        self.signs.stop()
        codec.send(self._result, data)
        os.close(self._result)  # that is all: nobody need wait until this process is taken apart
        leaving.leave(0)

    def _facts(self) -> dict[str, Any]:
        facts: dict[str, Any] = {
            "going_on": self.frames.going_on(),
            "counts": tuple(self.taps.counts),
            "backward_count": self.taps.calls,
            "executed": {path: tuple(sorted(ran)) for path, ran in self.overlay.executed.items()},
            "latest": {path: tuple(ran[one] for one in sorted(ran)) for path, ran in self.overlay.executed.items()},
            "marked": {path: tuple(sorted(lines)) for path, lines in self.overlay.marked.items()},
        }
        if self.tracer is not None or self.origins is not None:
            facts |= {"origins": self.found, "behind": self.behind, "plain": self.plain, "copied": self.copied}
        told = [one.told() for one in self.taps.listeners]
        if self.guards is not None:
            told.append(self._of_tensors())
        seen = [fact for one in told for fact in one.pop("facts", ())]
        return functools.reduce(operator.or_, told, facts) | {"facts": tuple(seen)}

    def _facts_of_end(self, outcome: str, failure: wire.Failure | None, marked: dict[str, Any]) -> dict[str, Any]:
        """What is known once it is known how the run ended."""
        hurried = outcome == "stopped" and self.stopper is not None and self.stopper.hurried
        facts: dict[str, Any] = {"hurried": marked.get("hurried", hurried)}
        if self.late is not None:
            # A reference that fails may do so for want of a clone; what is traced is to fail.
            lacking = self.tracer is None and outcome == "failed"
            facts["late"] = lacking or self.late.missed(self.taps.calls)
        if self.safe is not None and self.safe.missed:
            facts["late"] = True
        if self.audit is not None:
            facts["silent"], facts["books"] = self.audit.finish(finished=outcome == "finished")
        if self.picture is not None:
            from .failure.drawn import drawn

            facts["graph"] = drawn(self.picture, failure, self.refusals, self.found)
        return facts

    def _of_tensors(self) -> dict[str, Any]:
        """What tensors are called and hold at the end, and what no listener has seen."""
        from .engine.taps import parameters

        owned = [parameters(optimizer) for optimizer in self.taps.optimizers]
        names = [
            tuple(
                self.names.name(p, f"optimizer {index}.parameter {place} {_size(p)}")
                for place, p in enumerate(params, 1)
            )
            for index, params in enumerate(owned, 1)
        ]
        leaves = enumerate(self.witness.leaf_tensors(), 1)
        names.append(tuple(self.names.name(leaf, f"leaf {place} {_size(leaf)}") for place, leaf in leaves))
        return {
            "names": tuple(names),
            "states": self.names.states({id(p) for params in owned for p in params}),
            "numbers": self.names.numbers() if self.request.mode == "candidate" else (),
            "spent": self.names.spent(self.guards.walked) if self.request.mode == "candidate" else (),
            "finals": self.witness.sketch_all([p for params in owned for p in params]),
            "facts": self.adapted.facts,
            "drawn_at": tuple(self.keyed.places) if self.keyed is not None else (),
            "dropped_at": tuple(self.keyed.dropped) if self.keyed is not None else (),
            "drops": tuple(self.keyed.drops) if self.keyed is not None else (),
            "taken": self.keyed.taken() if self.keyed is not None else (),
        }


def _size(tensor: Any) -> str:
    """By which one of a size is told from others that have no name either."""
    return f"({'×'.join(map(str, tensor.shape)) or 'one number'})"


def _of_ours(error: Exception) -> str:
    """What an instrument has raised, and in which function of ours."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    ours = [frame for frame in frames if frame.f_code.co_filename.startswith(HERE)]
    return f"{_one_line(error)} (in {ours[-1].f_code.co_qualname})" if ours else _one_line(error)


def _one_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:MESSAGE].removesuffix(": ")
