"""Turns the facts of an audited run into suspicions, each with its line, and into the state of each law."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autofix.audit.fault import Fault, faults
from autofix.check.known import Pattern, named, silenced
from autofix.core.model import Suspicion
from autofix.probe import wire
from autofix.probe.wire import Frame
from autofix.syntax import names
from autofix.syntax.sources import Sources

LEARNS, COUNTS, KEEPS, TRAINS = (
    "everything owned learns", "every term counts", "a name keeps its value", "a loss trains what steps on it"
)  # fmt: skip
_STARTS = (ast.Constant, ast.Tuple, ast.List)
SHOWN = (LEARNS, COUNTS, TRAINS)
"""The laws that a run can show to be kept."""
_ENOUGH = 3
_MEANT = re.compile(r"#\s*autofix:\s*((?:AG\d+[\s,]*)+)meant\b")
_WAYS = {
    "item": "it is made a number", "numpy": "it is made an array", "rebuilt": "it is copied into a new tensor",
    "data": "`.data` has no graph", "detach": "`detach()` cuts it", "no_grad": "it is computed under no_grad",
    "discrete": "whole numbers have no gradient", "undifferentiable": "the operation has no gradient",
}  # fmt: skip
_WHERE = {
    "bare": "(none are there yet)", "used": "(the step has used them)", "scaled": "(they are still scaled)",
    "load": ", and loading it changes nothing", "save": ", and they are what is saved", "same": "",
    "difference": ", and the difference is 0",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Known:
    """A fault that `check` finds in the text, too: its page is there."""

    code: str
    name: str
    law: str = ""
    broken: tuple[tuple[str, str], ...] = ()
    noted: tuple[tuple[str, str], ...] = ()


_SHARED = (
    _Known("AG501", "missing-zero-grad", broken=(
        ("missing-zero-grad", "nothing clears the gradients between this step and the next backward: they add up"),)),
    _Known("AG502", "zeroed-before-step", LEARNS, broken=(
        ("zeroed-before-step", "the gradients are cleared before this step, which then changes nothing"),)),
    _Known("AG503", "graph-kept-for-logging", broken=(
        ("graph-kept-for-logging", "`{}` keeps the graphs of all passes; keep `.item()` or `.detach()`"),)),
    _Known("AG504", "step-before-backward", broken=(
        ("step-before-backward", "this step comes before its backward: at first it found no gradient at all"),)),
    _Known("AG505", "scheduler-before-optimizer", broken=(
        ("scheduler-before-optimizer", "the scheduler steps before its optimizer: the first rate is never used"),)),
    _Known("AG506", "optimizer-of-replaced-parameters", LEARNS, broken=(
        ("optimizer-owns-others", "this optimizer owns other tensors than {}, which are trained"),)),
    _Known("AG507", "modules-in-plain-list", LEARNS, broken=(
        ("modules-in-plain-list", "{} get gradients, and `parameters()` cannot see them: no optimizer owns them"),)),
    _Known("AG509", "parameters-never-reached", noted=(
        ("parameters-never-reached", "no loss reaches {}, which this optimizer owns"),)),
    _Known("AG510", "parameters-without-optimizer", noted=(
        ("parameters-without-optimizer", "{} get gradients, and no optimizer owns them"),)),
    _Known("AG511", "constant-loss-term", COUNTS,
        broken=(("term-is-constant", "this term of the loss has no gradient: {}"),),
        noted=(("term-detached", "this term of the loss has no gradient: {}"),)),
)  # fmt: skip


def known() -> tuple[Fault | _Known, ...]:
    """Everything an audit may name, by code."""
    return tuple(sorted((*_SHARED, *faults()), key=lambda one: one.code))


def suspicions(
    facts: Sequence[wire.Fact], sources: Sources, ignored: Sequence[str] = ()
) -> dict[Suspicion, wire.Fact]:  # fmt: skip
    """What a run showed, alarms first; `ignored` are codes, starts of codes or names that nobody wants to hear of."""
    found = [(one, fact) for fact in facts for one in _suspicions(fact, sources, tuple(ignored))]
    return dict(sorted(found, key=lambda pair: not pair[0].sure))


def _suspicions(fact: wire.Fact, sources: Sources, ignored: tuple[str, ...]) -> Iterator[Suspicion]:
    for fault in known():
        broken, noted = dict(fault.broken), dict(fault.noted)
        words = broken.get(fact.name) or noted.get(fact.name)
        if words is None or not fact.stack:
            continue
        if any(named(fault, key) for key in ignored):
            continue
        frames = [_filled(fact, sources) or fact.stack[0], *(stack[0] for stack in fact.others if stack)]
        if not any(_silenced(frame, fault, sources) for frame in frames):
            others = tuple(frame for frame in dict.fromkeys(frames) if frame.line != frames[0].line)
            message = words.format(_subject(fact))
            yield Suspicion(fault.code, fault.name, message, frames[0], others, sure=fact.name in broken)


def _filled(fact: wire.Fact, sources: Sources) -> Frame | None:
    """Where a variable that keeps graphs is filled, if it is in a file of the frames that were running."""
    if fact.name != "graph-kept-for-logging":
        return None
    for frame in fact.stack:
        source = sources.source(frame.file)
        if source is None:
            continue
        filled = [node for node, _ in names.fills(source, fact.subject)]
        added = [one for one in names.assignments(source, fact.subject) if not isinstance(one.value, _STARTS)]
        for node in (*filled, *added):
            return Frame.around(frame.file, node, frame.function)
    return None


def _subject(fact: wire.Fact) -> str:
    way, _, names = fact.subject.partition(":")
    if fact.name.startswith("graph-cut"):
        return f"{names} ({_WAYS.get(way, way)})"
    if fact.name.startswith("term-"):
        return _WAYS.get(fact.subject, fact.subject)
    if fact.name == "steps-move-nothing":
        return names
    if fact.name == "activation-twice":
        return way.partition(" ")[0]
    return _WHERE.get(fact.subject, fact.subject)


def _silenced(frame: wire.Frame, fault: Pattern, sources: Sources) -> bool:
    """Whether a comment on the lines of a place says that this is meant."""
    source = sources.source(frame.file)
    for number in range(frame.line, min(frame.end_line, frame.line + 20) + 1) if source is not None else ():
        text = source.line_text(number) if source is not None and number <= len(source.lines) else ""
        if (meant := _MEANT.search(text)) and fault.code in meant[1]:
            return True
        if silenced(fault, text):
            return True
    return False


def law_of(code: str) -> str:
    """The law that a fault breaks; '' for one that breaks none of them."""
    return next((one.law for one in known() if one.code == code), "")


def laws(books: wire.Books | None, found: Sequence[Suspicion]) -> dict[str, str]:
    """Of each law whether this run broke it, kept it, or says nothing about it."""
    owner = {one.code: one.law for one in known()}
    broken = {owner.get(one.code, "") for one in found if one.sure}
    noted = {one.code for one in found}
    state = dict.fromkeys((LEARNS, COUNTS, KEEPS, TRAINS), "silent")
    if books is not None and any(trainer.steps >= _ENOUGH for trainer in books.trainers):
        owned = [network for network in books.networks if network.optimizer >= 0]
        if owned and not any(network.unreached for network in owned):
            state[LEARNS] = "kept"
        if not books.incomplete and any(loss.calls >= _ENOUGH for loss in books.losses):
            state[COUNTS] = "kept"
        if "AG542" not in noted:
            state[TRAINS] = "kept"
    return {law: "broken" if law in broken else how for law, how in state.items()}
