"""At which places a reference keeps a graph, makes a leaf or asks for a gradient, and which of several lost a graph.

Where a graph is missing, the one reading is that it was not cut, if there is only one place that cuts it. A loss that
is a number in this pass, and has a graph in another one, trains nothing in this.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from autofix.core.model import Cause, Diagnosis
from autofix.experiments.compare import comparable, differences
from autofix.experiments.readings.learning import orphans
from autofix.experiments.readings.letters import UPDATE, contradiction
from autofix.experiments.sketches import LIVE
from autofix.probe import wire

_THROUGH = ("numpy", "item")
"""How values leave torch whose graph can be followed through numpy and back."""
_MOST_PLACES = 4
"""Places that may each have lost a graph, beyond which nobody tries which of them did."""
_FROZEN = ("frozen", "born")
"""What may be meant to have no graph, beside another place that lost one."""
_CUTS = {"keep", "grad"}
"""What a reference does where values alone were kept, by a line or by a mode: of both, one may be meant."""
_ACTIONS = dict.fromkeys(("detach", "data", "item", "rebuilt", "copied", "copied_along", "wrapped"), "keep") | {
    "no_grad": "grad", "derivative": "create", "plain": "require", "born": "require", "frozen": "unfreeze",
}  # fmt: skip
"""What a reference does where a graph was lost, by the one way in which it was."""


def sites(diagnosis: Diagnosis) -> tuple[tuple[wire.Site, ...], ...]:
    """The places at which a reference run makes a tensor a leaf, keeps a graph or asks for a gradient.

    Where several places lost a graph, each of them by itself, and all together: what the runs then do decides.
    """
    origins = [o for o in diagnosis.trace.origins if o.stack]
    if not origins:
        return ()
    if found := _only(diagnosis, origins):
        return (found,)
    if diagnosis.cause is Cause.UNUSED_INPUT:
        return _unused(origins, refused=diagnosis.failure.in_backward)
    return _lost(origins) if diagnosis.cause is Cause.NO_GRAPH else ()


_UNWATCHED = "unwatched"
_TREATED = {
    Cause.NONLEAF_GRADIENT: ("leaf", "nonleaf"), Cause.UNUSED_INPUT: ("require", "made"),
    Cause.GRADIENT_NONE: ("zero", "empty"), Cause.COMPLEX_LOSS: ("magnitude", "squared"),
}  # fmt: skip
"""What a reference does at a place, and by which kind of origin the place is known."""


def _only(diagnosis: Diagnosis, origins: list[wire.Origin]) -> tuple[wire.Site, ...]:
    if rebound := [o.stack[0] for o in origins if o.kind == "rebound"]:
        return tuple(wire.Site("update", frame) for frame in dict.fromkeys(rebound))
    refused = diagnosis.cause is Cause.NONLEAF_GRADIENT and diagnosis.failure.function
    if diagnosis.cause in _TREATED and not refused:
        action, kind = _TREATED[diagnosis.cause]
        return tuple(dict.fromkeys(wire.Site(action, o.stack[0], o.node) for o in origins if o.kind == kind))
    if diagnosis.cause is Cause.NO_GRAPH and all(o.kind == "constant" for o in origins):
        return tuple(dict.fromkeys(wire.Site("constant", o.stack[0]) for o in origins))
    inside = [o.stack[0] for o in origins if o.kind == "inside"]
    if inside and diagnosis.cause is Cause.NO_GRAPH:
        return (wire.Site("inside", inside[0]),)
    if diagnosis.cause is Cause.GRADIENT_MISSHAPEN:
        return tuple(wire.Site("sum", o.stack[0], o.node.partition(" ")[0]) for o in origins if o.kind == "misshapen")
    if diagnosis.cause is Cause.HOOK_REFUSED and all(o.kind == "frozen" for o in origins):
        return tuple(dict.fromkeys(wire.Site(_UNWATCHED, o.stack[0]) for o in origins))
    left = [o for o in origins if o.kind in _THROUGH]
    if diagnosis.cause is Cause.NO_GRAPH and left and not any(o.kind in _FROZEN for o in origins):
        return (_followed(left),)
    return ()


def _followed(left: list[wire.Origin]) -> wire.Site:
    """Values that leave torch are followed wherever they do; this is the first place."""
    return wire.Site("follow", left[0].stack[0])


def _unused(origins: list[wire.Origin], *, refused: bool) -> tuple[tuple[wire.Site, ...], ...]:
    """Where the graph was lost by which an output is made of an input; zeros for what is unused among others.

    Where a derivative gives something, too, its letter is what it gives: with a graph in between that would be another.
    A call that torch refused needs no place: zeros are how it is performed.
    """
    lost = [one for one in origins if one.kind in _ACTIONS]
    some = [wire.Site("zeros", one.stack[0]) for one in origins if one.kind == "none_among"]
    if some:
        return () if refused else (tuple(some),)
    return _lost(lost) if lost else ()


def _lost(origins: list[wire.Origin]) -> tuple[tuple[wire.Site, ...], ...]:
    """What is frozen may stay so where something else lost the graph, too: it shows if an optimizer owns it.

    What was switched off when it was used, and is on again, is something else: it is meant to train by now. All of that
    is a choice, and all but one place of it.
    """
    if left := [o for o in origins if o.kind in _THROUGH]:
        kept = tuple(dict.fromkeys(_site(o) for o in origins if o.kind in _FROZEN))
        return kept, (_followed(left),), (*kept, _followed(left))
    asleep = tuple(dict.fromkeys(wire.Site("record", o.stack[0]) for o in origins if o.used))
    known = {site.frame for site in asleep}
    found = (_site(o) for o in origins if o.stack[0] not in known)
    sites = tuple(dict.fromkeys((*asleep, *found)))
    frozen = tuple(site for site in sites if site.action == "unfreeze")
    others = [site for site in sites if site not in frozen]
    actions = {site.action for site in others}
    if (len(actions) > 1 and actions != _CUTS) or "" in actions or len(sites) > _MOST_PLACES:
        return ()
    if {site.action for site in sites} == {"require"}:  # all that an optimizer owns learns
        return (sites,)
    alone = itertools.combinations(others, max(1, len(asleep) - 1))
    each = [*alone, asleep, *([frozen] if others and frozen else ((one,) for one in frozen))]
    return tuple(one for one in dict.fromkeys((*each, sites)) if one)


def _site(origin: wire.Origin) -> wire.Site:
    """What a reference does where a graph was lost; of what only had to ask for a gradient, with its kind."""
    action = _ACTIONS.get(origin.kind, "")
    return wire.Site(action, origin.stack[0], origin.kind if action == "require" else origin.node)


def chosen(choices: Sequence[tuple[wire.Site, ...]], runs: Sequence[wire.Trace]) -> tuple[wire.Site, ...]:
    """The one choice of places with which everything that optimizers own is trained; () where none is the only one.

    The last has all places. What it adds must train nothing else: then only the one place was to have a graph. To what
    was switched off for a while only more of that is added: what is off when the failing call is made is meant to be.
    All places are the choice where each of them, left out, leaves something owned that does not learn.
    """
    found = dict(zip(choices, runs, strict=True))
    if any(site.action == _UNWATCHED for site in choices[-1]) and not any(one.sums for one in runs[-1].hooks):
        return ()  # what is never watched is not switched off for a while
    if _alike(found, choices[-1]) or _each_is_needed(found, choices[-1]):
        return choices[-1]
    asleep = max(filter(_records, choices), key=len, default=())
    idle = {*orphans(found[choices[-1]])}  # whatever is chosen: what they are for is asked of the one that is
    good = [
        one for one, run in found.items()
        if (one == asleep or one != choices[-1]) and not comparable(run) and not contradiction(UPDATE, run, run, idle)
    ]  # fmt: skip
    if len(good) > 1 and asleep in good:
        good.remove(asleep)
    if len(good) > 1 and not any(differences(found[one], found[choices[-1]], LIVE) for one in good):
        return choices[-1]  # whichever is meant, the same is trained
    if len(good) != 1:
        return ()
    most = found[asleep if _records(good[0]) else choices[-1]]
    return () if comparable(most) or differences(found[good[0]], most, LIVE) else good[0]


def _alike(found: Mapping[tuple[wire.Site, ...], wire.Trace], whole: tuple[wire.Site, ...]) -> bool:
    """Whether the derivatives are all of one forward: whichever has a graph, the others are meant to have one, too.

    One that only weighs what is made of another is a constant, as everybody knows.
    """
    if len(whole) == 1 or any(site.action != "create" for site in whole):
        return False
    frames = {site.frame for site in whole}
    rest = (frames - {site.frame for site in one} - _plain(run) for one, run in found.items())
    return not any(rest) and not comparable(found[whole]) and not contradiction(UPDATE, found[whole], found[whole])


def _each_is_needed(found: Mapping[tuple[wire.Site, ...], wire.Trace], whole: tuple[wire.Site, ...]) -> bool:
    """Whether what optimizers own is all trained with all places alone, none of which may be meant to stay as it is.

    So it is where they are calls of one function, which is decorated: that is one place.
    """
    if len(whole) == 1 or any(site.action not in ("keep", "create", "grad") for site in whole):
        return False
    run, idle = found[whole], {*orphans(found[whole])}
    rest = [found.get(tuple(other for other in whole if other != site)) for site in whole]
    starved = all(one is not None and (one.outcome == "failed" or {*orphans(one)} - idle) for one in rest)
    starved = starved or (len({site.node for site in whole}) == 1 and bool(whole[0].node))
    # Of two that are held against each other one may be a target, whoever owns what it is made of.
    return starved and not run.seen("holds-two") and not comparable(run) and not contradiction(UPDATE, run, run, idle)


def _plain(run: wire.Trace) -> set[wire.Frame]:
    places = (fact.stack[0] for fact in run.seen("slope-without-graph"))
    return set(places) - {fact.stack[0] for fact in run.seen("derivative-is-plain")}


def _records(sites: tuple[wire.Site, ...]) -> bool:
    return all(site.action == "record" for site in sites)


def standing(diagnosis: Diagnosis) -> tuple[wire.Site, ...]:
    """The places at which leaves that are written may stand for results, so that what these are made of learns."""
    written = (o.stack[0] for o in diagnosis.trace.origins if o.kind == "written")
    return tuple(wire.Site("stand", frame) for frame in dict.fromkeys(written))


def uncut(diagnosis: Diagnosis) -> tuple[tuple[wire.Site, ...], ...]:
    """The choices of places at which the graph is kept by which a gradient would come that is None."""
    lost = [one for one in diagnosis.trace.origins if one.kind in _ACTIONS and one.stack]
    return _lost(lost) if lost and diagnosis.cause is Cause.GRADIENT_NONE else ()
