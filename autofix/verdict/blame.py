"""Says by what a gradient is changed, in the words of the user's code: which loss, and what the edit cuts off."""

from __future__ import annotations

import ast
import contextlib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from autofix.core.model import Change, Target
from autofix.experiments.compare import cuts_the_graph, first_departing
from autofix.experiments.reordered import in_order
from autofix.probe import wire
from autofix.syntax.calls import name_of
from autofix.syntax.source import Source, SourceError
from autofix.syntax.sources import parsed
from autofix.syntax.vocabulary import GRADIENT_MODES

_ENDS = ("detach", "detach_", *GRADIENT_MODES)
_LONG = 60
_MOST = 3


def blame(
    change: Change, reference: wire.Trace, edited: wire.Trace, target: Target, files: Mapping[Path, bytes]
) -> tuple[str, str]:
    """What the edit cuts off, and which loss reaches a parameter no more, or is another; '' for what cannot be said."""
    expected, got = (_senders(change.parameter, trace) for trace in (reference, edited))
    lost = {site: stack for site, stack in expected.items() if site not in got}
    gone = bool(lost) and not got.keys() - expected.keys()
    cuts = _taken_out(target, files) if gone or cuts_the_graph(reference, edited) else []
    said = f"the edit cuts the graph at {' and '.join(cuts[:_MOST])}" if cuts else ""
    return said, _gone(lost, edited) if gone else _value(change, reference, edited)


def _gone(lost: Mapping[str, wire.Stack], edited: wire.Trace) -> str:
    """What is said of backward calls that reach a parameter no more: they are made without it, or not at all."""
    named, made = _named(list(lost.values())), {reach.site for reach in edited.reaches}
    return f"{named} {'sends it no gradient' if made.intersection(lost) else 'does not go backward'} any more"


def _value(change: Change, reference: wire.Trace, candidate: wire.Trace) -> str:
    """What the losses are at a step, where they are others, or that they are the same, and only their graph is not."""
    departing = first_departing(reference, candidate)
    if departing is None or departing[2] != change.step:
        return ""
    optimizer, number = departing[0].optimizer, departing[2]
    was, now = (_losses(trace, optimizer, number) for trace in (reference, in_order(reference, candidate)))
    if len(was) != len(now):
        since = "Since the previous step of this optimizer" if number else "Before this step"
        return f"{since}, {len(now)} loss{'es' * (len(now) != 1)} went backward; as the code is written, {len(was)}"
    pairs = ((f"{one:.4g}", f"{other:.4g}") for one, other in zip(was, now, strict=True))
    other = next((f"The loss is {b} there instead of {a}" for a, b in pairs if a != b), "")
    return other or "The loss has the same value, but another graph" * cuts_the_graph(reference, candidate)


def _losses(trace: wire.Trace, optimizer: int, number: int) -> list[float]:
    """The losses of a step, and of those that other optimizers made since the step of its own before."""
    steps = trace.steps or trace.leaves
    mine = [at for at, step in enumerate(steps) if step.optimizer == optimizer][: number + 1]
    return [loss for step in steps[mine[-2] + 1 if number else 0 : mine[-1] + 1] for loss in step.losses]


def _senders(parameter: str, trace: wire.Trace) -> dict[str, wire.Stack]:
    """The backward sites whose losses reached a parameter."""
    return {reach.site: reach.stack for reach in trace.reaches if parameter in reach.parameters}


def _named(stacks: list[wire.Stack]) -> str:
    names = dict.fromkeys(f"`{name}` ({at(stack)})" for stack in stacks if (name := loss(stack)))
    return " or ".join(list(names)[:_MOST]) or "that loss"


def _taken_out(target: Target, files: Mapping[Path, bytes]) -> list[str]:
    """What an edit adds that ends a graph, as it is written, with its line in the edited file."""
    found = []
    for path, data in files.items():
        with contextlib.suppress(OSError, SourceError):
            before = parsed(path, target.read(path))
            old, new = map(_cuts, before.apart(Source(path, data, before)))
            added = Counter(text for text, _ in new) - Counter(text for text, _ in old)
            lines = {text: line for text, line in new if text in added}
            found += [f"`{text}` (line {line} of the edited {path.name})" for text, line in lines.items()]
    return found


def _cuts(statements: list[ast.stmt]) -> list[tuple[str, int]]:
    """The expressions that take a value or a block out of a graph, and their lines."""
    return [
        (_end(ast.unparse(node)), node.lineno)
        for one in statements
        for node in ast.walk(one)
        if (isinstance(node, ast.Call) and name_of(node) in _ENDS)
        or (isinstance(node, ast.Attribute) and node.attr == "data")
    ]


def _end(text: str) -> str:
    return text if len(text) <= _LONG else f"…{text[1 - _LONG :]}"


def at(place: wire.Stack) -> str:
    """A place in the user's code, as people write it: main.py:12."""
    return f"{place[0].file.rsplit('/', 1)[-1]}:{place[0].line}" if place else "the code"


def loss(stack: wire.Stack) -> str:
    """The expression that a backward call starts from, '' where the source does not say."""
    for frame in stack[:1]:
        try:
            source = Source.read(Path(frame.file))
        except (OSError, SourceError):
            return ""
        node = source.node_at((frame.line, frame.column, frame.end_line, frame.end_column))
        if isinstance(node, ast.Call):
            held = isinstance(node.func, ast.Attribute) and node.func.attr == "backward" and not node.args
            return ast.unparse(node.func.value if held and isinstance(node.func, ast.Attribute) else node)[:_LONG]
    return ""


def called(stack: wire.Stack) -> str:
    """A loss as the code calls it, or by its place."""
    return f"`{name}`" if (name := loss(stack)) else f"the loss of {at(stack)}"
