"""Says which loss a changed gradient belongs to, in the words of the user's code."""

from __future__ import annotations

import ast
from pathlib import Path

from autofix.core.model import Change
from autofix.probe import wire
from autofix.syntax.source import Source, SourceError


def blame(change: Change, reference: wire.Trace, candidate: wire.Trace) -> str:
    """What happened to `change.parameter`, as ': it loses what `g_loss` sent' or ''."""
    expected = _senders(change.parameter, reference)
    got = _senders(change.parameter, candidate)
    lost = [stack for site, stack in expected.items() if site not in got]
    gained = [site for site in got if site not in expected]
    if lost and not gained and len(lost) < len(expected):
        return f"; it loses what {_named(lost)} sent"
    if not got:
        return f"; nothing of {_named(list(expected.values()))} reaches it any more" if expected else ""
    if len(expected) == 1:
        return f"; what {_named(list(expected.values()))} sends it is another"
    return ""


def _senders(parameter: str, trace: wire.Trace) -> dict[str, wire.Stack]:
    """The backward sites whose losses reached a parameter."""
    return {reach.site: reach.stack for reach in trace.reaches if parameter in reach.parameters}


def _named(stacks: list[wire.Stack]) -> str:
    names = list(dict.fromkeys(f"`{name}`" for stack in stacks if (name := loss(stack))))
    return " and ".join(names[:3]) or "that loss"


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
            return ast.unparse(node.func.value if held and isinstance(node.func, ast.Attribute) else node)[:60]
    return ""
