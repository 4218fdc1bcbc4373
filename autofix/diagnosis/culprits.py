"""The lines of the user's code that explain a failure, in the order in which things happened, each place once."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from autofix.core.model import Cause, Culprit
from autofix.diagnosis.keeping import built, handed_on, stored
from autofix.probe import wire
from autofix.syntax.sources import Sources

_MOST = 14
TOLD = 6
"""How many places are told to everybody; the others are asides."""
_HAPPENED = (
    "built", "made", "saved", "shared", "carried", "stored", "used_earlier", "freed", "written", "stepped", "stale",
    "defined", "constant", "squared", "cut", "off", "asleep", "on", "given", "no_tensor", "called", "used", "gave_none",
    "unset", "failed",
)  # fmt: skip
"""Roles in the order in which what they tell of happened."""
_WEIGHT = (
    "failed", "freed", "written", "stepped", "given", "no_tensor", "gave_none", "unset", "asleep", "off", "on", "cut",
    "constant", "squared", "carried", "shared", "made", "saved", "stored", "built", "stale", "used_earlier", "used",
    "defined", "called",
)  # fmt: skip
"""Roles by what is told first where not all can be."""
_MADE = ("made", "nonleaf", "rebound", "begun", "real", "imaginary")
_ROLES = dict.fromkeys(_MADE, "made") | {"miscounted": "given", "misshapen": "given", "empty": "unset"}
_ROLES |= dict.fromkeys(("legacy", "static"), "defined")
_ROLES |= dict.fromkeys(wire.NONE_GIVEN, "gave_none")
_ITSELF = {"squared": "squared", "constant": "constant", "frozen": "off", "born": "off", "plainly_saved": "no_tensor"}
"""Roles of which the line itself tells most, and not the call that leads there."""
_USED = ("used", "used_earlier")
_CARRYING = (Cause.FREED_GRAPH, Cause.SAVED_TENSOR_MODIFIED)
_OUTER = 2
"""How many further frames of a place are asides."""
_NAMES = 2


def culprits(
    cause: Cause, failure: wire.Failure, trace: wire.Trace, sources: Sources | None
) -> tuple[Culprit, ...]:  # fmt: skip
    """First what is told, at most TOLD places in the order in which things happened; then the asides."""
    found = _merged(_Story(failure, trace, sources).told(cause))
    told = [one for one in found if not one.aside]
    kept = sorted(told, key=lambda one: _WEIGHT.index(one.role))[:TOLD]
    asides = [replace(one, aside=True) for one in found if one not in kept]
    return (*sorted(kept, key=_moment), *asides)[:_MOST]


def _moment(one: Culprit) -> tuple[bool, int, str, int]:
    """When something first happened, the failure last; what played the same part, as the lines follow each other."""
    roles = (one.role, *one.also)
    return "failed" in roles, min(map(_HAPPENED.index, roles)), one.frame.file, one.frame.line


def _merged(found: Iterable[Culprit]) -> list[Culprit]:
    """Each place once, with all the parts it played; one that is told somewhere is no aside."""
    places: dict[tuple[str, int, int], Culprit] = {}
    for one in sorted(found, key=lambda one: one.aside):
        exact, line = ((one.frame.file, one.frame.line, column) for column in (one.frame.column, -1))
        place = exact if one.role in {"saved", "written"} or (one.role == "stale" and exact in places) else line
        known = places.setdefault(place, one)
        if not one.aside and one.role not in {known.role, *known.also}:
            first, second = sorted((known, one), key=lambda each: _WEIGHT.index(each.role))
            also = tuple(dict.fromkeys((*first.also, second.role, *second.also)))
            note = first.note or second.note * (second.role != "called")  # which names the function, no variable
            places[place] = replace(first, note=note, also=also)
    return list(places.values())


class _Story:
    def __init__(self, failure: wire.Failure, trace: wire.Trace, sources: Sources | None) -> None:
        self._failure, self._trace, self._sources = failure, trace, sources
        freed = [saved.freed_by for saved in trace.saved[:1]]
        self._again = failure.stack in {backward.stack for backward in trace.earlier[1:]} | set(freed)
        stacks = [failure.stack, *freed, *(write.stack for saved in trace.saved for write in saved.writes)]
        self._functions = {(frame.file, frame.function) for stack in stacks for frame in stack}

    def told(self, cause: Cause) -> Iterator[Culprit]:
        if self._failure.stack:
            yield Culprit("failed", self._failure.stack[0])
        if cause is Cause.FREED_GRAPH:
            yield from self._freed()
        elif cause is Cause.SAVED_TENSOR_MODIFIED:
            yield from self._modified()
        else:
            yield from self._called(self._failure.stack[1:])
            asleep = [one for one in self._trace.origins if one.used]
            for one in asleep:
                for role, stack in (("off", one.stack), ("asleep", one.used), ("on", one.again)):
                    yield from self._at(role, stack)
            for origin in (one for one in self._trace.origins if one not in asleep):
                if itself := _ITSELF.get(origin.kind):  # where some sleep, what else was frozen is meant to be
                    aside = itself == "off" and bool(asleep)
                    yield from (Culprit(itself, frame, aside=aside) for frame in origin.stack[:1])
                else:
                    yield from self._at(_ROLES.get(origin.kind, "cut"), origin.stack, origin.name)
        if self._sources is not None and cause in _CARRYING:
            yield from self._kept(self._sources)

    def _freed(self) -> Iterator[Culprit]:
        crossings = self._trace.crossings
        for saved in self._trace.saved[:1]:
            yield from self._parted("freed", saved.freed_by)
        for crossing in crossings:
            yield from self._at("shared", crossing.made, _names(crossing.carriers, self._failure.stack))
            earlier = crossing.by != "failing"
            yield from self._at("used_earlier" if earlier else "used", crossing.used, aside=earlier and self._again)
        for number, saved in enumerate(self._trace.saved):
            yield from self._at("shared", saved.made, aside=bool(crossings or number))

    def _modified(self) -> Iterator[Culprit]:
        for saved in self._trace.saved:
            yield from self._at("saved", saved.made, f"shape {list(saved.shape)}")
            for write in saved.writes:
                yield from self._at("stepped" if write.optimizer >= 0 else "written", write.stack, write.op)
        if any(write.optimizer >= 0 for saved in self._trace.saved for write in saved.writes):
            for crossing in self._trace.crossings:
                yield from self._at("stale", crossing.used)

    def _kept(self, sources: Sources) -> Iterator[Culprit]:
        """What was built to write in place, where a graph is kept, and where a variable takes it into the next pass."""
        crossings = [crossing for crossing in self._trace.crossings if crossing.by == "failing"]
        carriers = [carrier for crossing in crossings for carrier in crossing.carriers]
        for frame in built([w for saved in self._trace.saved for w in saved.writes if w.optimizer < 0], sources):
            yield Culprit("built", frame)
        for frame, path in stored(carriers, sources):
            yield Culprit("stored", frame, path)
        if self._again:
            for frame, paths in handed_on(crossings, self._failure.stack, sources):
                yield Culprit("carried", frame, paths)

    def _at(self, role: str, stack: wire.Stack, note: str = "", *, aside: bool = False) -> Iterator[Culprit]:
        """The frame in a function that other parts of the story happened in, too; the frames around it are asides."""
        if not stack:
            return
        near = [frame for frame in stack if (frame.file, frame.function) in self._functions]
        if role == "stepped" and _by_helper(stack, self._failure.stack):
            near = near[1:]
        told = next((frame for frame in near if frame not in self._failure.stack[1:]), stack[0])
        yield Culprit(role, told, note or self._inside(role, stack[0], told), aside=aside)
        others = [frame for frame in stack if frame != told and frame not in self._failure.stack[1:]]
        yield from (Culprit(role, frame, note, aside=True) for frame in others[:_OUTER])

    def _inside(self, role: str, inner: wire.Frame, told: wire.Frame) -> str:
        """What the line itself does not show: the line in a call that is made for what it does in there alone.

        The head of a loop shows no tensor, but what the tensor is taken from.
        """
        if self._sources is None or role not in (*_USED, "made"):
            return ""
        kinds = {type(one) for one in self._sources.statements([told])}
        if role == "made":
            return "what the tensor is taken from" if ast.For in kinds else ""
        return f"{inner.file.rsplit('/', 1)[-1]}:{inner.line}" if ast.Expr in kinds and told != inner else ""

    def _parted(self, role: str, stack: wire.Stack) -> Iterator[Culprit]:
        """The call itself; where the failing one is made by the same helper, the calls of the helper that differ."""
        if stack and self._failure.stack and stack[0] == self._failure.stack[0]:
            mine = [frame for frame in stack if frame not in self._failure.stack]
            yield Culprit(role, mine[0] if mine else stack[0])
            theirs = [frame for frame in self._failure.stack if frame not in stack]
            yield from (Culprit("called", frame, self._callee(frame)) for frame in theirs[:1])
        else:
            yield from (Culprit(role, frame) for frame in stack[:1])

    def _called(self, stack: wire.Stack) -> Iterator[Culprit]:
        """The callers of what failed; that the script calls its main function explains nothing."""
        for number, frame in enumerate(stack[: _OUTER + 1]):
            aside = number > 0 or frame.function == "<module>"
            yield Culprit("called", frame, self._callee(frame), aside=aside)

    def _callee(self, frame: wire.Frame) -> str:
        """The function that a frame on the way to the failure calls; '' for one that has no name."""
        stack = self._failure.stack
        inner = stack[stack.index(frame) - 1].function
        return "" if inner.startswith("<") else inner


def _by_helper(stack: wire.Stack, failed: wire.Stack) -> bool:
    """Whether a function steps in one call and fails in another: the calls of it explain more than its own line."""
    within = [(one.file, one.function) for one in (stack[0], *failed[:1])]
    return within[0] in within[1:] and any(one not in failed for one in stack[1:])


def _names(carriers: Sequence[wire.Carrier], near: wire.Stack) -> str:
    """The variables that hold a tensor, in the words of the function that is nearest to the failure."""
    for frame in near:
        held = [one.path for one in carriers if (one.file, one.function) == (frame.file, frame.function)]
        if held:
            return ", ".join(list(dict.fromkeys(held))[:_NAMES])
    return next((one.path for one in carriers), "")
