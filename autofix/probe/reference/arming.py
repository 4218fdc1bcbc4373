"""What a reference run is watched with and made to do otherwise, put together as its request asks."""

from __future__ import annotations

import functools
import os
from types import CodeType
from typing import Any

from .. import wire
from ..arrays.follow import Follow
from ..engine import functions
from ..engine.sources import DataSources
from ..instruments.aims import Aims
from ..instruments.hooks import Hooks
from ..instruments.outputs import Outputs
from ..instruments.state import State
from ..instruments.uses import Uses
from ..passes.carried import Carried
from ..passes.evaluations import Evaluations
from ..passes.for_a_call import ForACall
from ..passes.handed_on import HandedOn
from ..passes.left_out import LeftOut
from ..passes.slopes import Slopes
from ..passes.taken_back import TakenBack
from ..refused import as_instance, sent
from ..refused.flagged import Flagged
from ..refused.for_a_pass import ForAPass
from ..refused.updates import Updates
from ..refused.walked import Walked
from . import replaced
from .addends import Addends
from .aimed_at import AimedAt
from .given import Given
from .one_memory import OneMemory
from .perform import Perform
from .plain_derivatives import PlainDerivatives
from .saved import KeepGraphs, MutationSafe
from .sent_once import SentOnce
from .separate import Constants, GivesGraph, Separate, of_other_segments
from .sites import Sites
from .standing import Standing
from .stepped_constants import SteppedConstants
from .switched_off import SwitchedOff


def arm(run: State, uses: Uses, hooks: Hooks) -> None:
    """Put in place what makes a run a reference: in the order in which each is to hear of what happens."""
    asked, heard = run.request, run.taps.listeners
    replaced.single_views()
    replaced.backwards_of_one()
    replaced.plain_checkpoints()
    replaced.plain_reducers()
    replaced.no_inference_mode()
    if asked.twice:
        replaced.plain_attention()
    functions.listen(functions.counted)
    functions.save_all()
    if any(site.action == "sum" for site in asked.sites):
        _sum_gradients(run)
    if inside := [site.frame for site in asked.sites if site.action == "inside"]:
        functions.record(lambda code: any(_stands_in(frame, code) for frame in inside))
    known = run.sourced
    sources = None
    if asked.sources:
        sources = run.modes.enter_context(known.sources if known else DataSources(run.frames, run.taps))
        derivatives = known.derivatives if known else PlainDerivatives(run.frames, run.taps)
        heard.append(run.modes.enter_context(derivatives))
        aims = run.modes.enter_context(Aims(run.frames))
        heard.append(AimedAt(run.frames, run.taps, aims, sources, lambda: run.off))
    carried = Carried(run.frames, run.names, asked.truncated, sources, once=asked.once)
    hooks.cut_before = lambda: carried.cut_before
    heard += [HandedOn(carried, asked.handed)] if asked.handed or not asked.further else []
    heard += [KeepGraphs(), Evaluations(run.frames), carried]
    heard += [sources, SteppedConstants(run.frames, run.taps, sources)] if sources is not None else []
    off = run.off = _arm_cuts(run)
    heard += [] if asked.further else [Slopes(run.frames, run.taps)]
    perform = _performing(run, off, sources)
    if perform.sites is not None:
        perform.sites.hooks = hooks
    if asked.reading == "operation" or asked.for_a_pass:  # writes of a forward may be values for its pass
        sources = sources or run.modes.enter_context(DataSources(run.frames, run.taps))
        perform.for_a_pass = ForAPass(run.frames, run.names, sources, asked.for_a_pass, asked.anywhere)
        heard.append(perform.for_a_pass)
        perform.walked = Walked(run.overlay.read) if asked.reading == "operation" else None
    perform.one_loss.text = run.overlay.read
    functions.exchange(perform.resting.with_graphs)
    run.performing = perform
    perform.by_hand, perform.looked = carried.put, carried.evaluated.heard
    if run.unreachable is not None:
        perform.copies = run.unreachable.copied
    if run.densities is not None:
        perform.leaves_torch = run.densities.leaves_torch
    run.safe = MutationSafe(carried.wrote, uses, at_once=asked.at_once)
    heard.append(run.safe)
    run.taps.before_writes = [run.safe.spare]
    run.enter(run.safe, perform)


def _sum_gradients(run: State) -> None:
    """Have what backwards of the user's own give be summed to the shape of what it is for, where a reading says so."""
    calls = functions.Calls()
    places: dict[wire.Stack, int] = {
        (site.frame,): int(site.node) for site in run.request.sites if site.action == "sum"
    }

    def summed(node: Any, given: tuple[Any, ...]) -> tuple[Any, ...]:
        place = places.get(run.frames.resolve(functions.end(node)))
        return given if place is None or place >= len(given) else calls.summed(node, place, given)

    functions.listen(summed)


def _stands_in(frame: wire.Frame, code: CodeType) -> bool:
    """Whether a place is one of a function's own lines."""
    return os.path.normpath(code.co_filename) == frame.file and any(line == frame.line for *_, line in code.co_lines())


def _arm_cuts(run: State) -> SwitchedOff:
    """What keeps gradients from where a reading does not send them."""
    asked, heard = run.request, run.taps.listeners

    def is_through(call: Any) -> bool:
        return run.frames.resolve(call.stack) in asked.through

    def is_apart(call: Any, owner: int) -> bool:
        mine = [one.stack for one in asked.apart if one.optimizer == owner]
        return bool(mine) and run.frames.resolve(call.stack) in mine

    if asked.targets:
        run.modes.enter_context(Aims(run.frames, asked.targets))
    if asked.constants:
        heard.append(Constants(asked.constants))
    if asked.through:
        heard += [GivesGraph(is_through), Separate(run.taps, lambda call, _owner: is_through(call))]
    heard += [kind() for kind, wanted in ((Addends, asked.addends), (SentOnce, asked.sent_once)) if wanted]
    off = SwitchedOff(run.frames, run.taps, cut=asked.off)
    heard.append(off)
    if asked.segments:
        keeps_out = of_other_segments(asked.segments)
        heard.append(Separate(run.taps, lambda call, owner: (off.off or not asked.off) and keeps_out(call, owner)))
    if asked.apart:
        heard.append(Separate(run.taps, is_apart))
    if asked.outputs:
        heard.append(Outputs(run.frames, run.taps, run.witness, asked.shifted, asked.shifts))
        heard.append(TakenBack(run.frames, run.taps))
    return off


def _performing(run: State, off: SwitchedOff, sources: DataSources | None) -> Perform:
    """What performs refused calls, with what it asks."""
    asked, operation = run.request, run.request.reading == "operation"
    updates, memory = Updates(run.frames, run.names), OneMemory(run.frames, run.overlay.read)
    flagged = Flagged(run.frames, run.names, run.taps, operation=operation)
    perform = Perform(run.frames, asked, updates, memory, flagged)
    perform.for_a_call = ForACall(run.frames, run.names)
    perform.left_out = LeftOut(run.frames, run.taps, sources) if sources is not None else None
    if asked.follow:
        lost = any(site.action == "follow" for site in asked.sites)
        perform.follow = Follow(run.frames, run.taps, nudged=asked.nudged, detached=lost)
        perform.follow.entered = perform.left
        perform.follow.install(run.overlay)
    if asked.sites:
        perform.sites = Sites(run.frames, run.names, run.overlay.read, asked.sites, operation=operation)
        perform.sites.switched, perform.sites.unused = off.switch, perform.unused
        if any(site.action == "zero" for site in asked.sites):
            run.taps.listeners.append(perform.sites.cleared)
    if any(site.action == "stand" for site in asked.sites):
        run.standing = perform.standing = Standing(run.frames, asked.sites)
    given = Given(perform.note, operation=operation)
    given.install()
    as_instance.perform(functools.partial(perform.note, "legacy_function"))
    sent.perform(perform.sends)
    run.taps.listeners += filter(None, (perform.follow, perform.sites, perform.standing, perform, perform.left_out))
    run.taps.listeners += [updates, given, memory, flagged, perform.for_a_call]
    return perform
