"""What the unedited run showed besides its failure: faults that crash nothing, each with the line that explains it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from autofix.core.model import Suspicion
from autofix.probe.wire import Frame
from autofix.syntax import names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autofix.probe import wire
    from autofix.syntax.sources import Sources

_STARTS = (ast.Constant, ast.Tuple, ast.List)
_WORDS = {
    "missing-zero-grad": ("AG501", "nothing clears the gradients between this step and the next backward: they add up"),
    "zeroed-before-step": ("AG502", "the gradients are cleared before this step, which then changes nothing"),
    "graph-kept-for-logging": ("AG503", "`{}` keeps the graphs of all passes; keep `.item()` or `.detach()`"),
    "step-before-backward": ("AG504", "this step comes before its backward: at first it found no gradient at all"),
    "scheduler-before-optimizer": ("AG505", "the scheduler steps before its optimizer: the first rate is never used"),
    "parameters-never-reached": ("AG509", "no loss reaches {}, which this optimizer owns"),
    "parameters-without-optimizer": ("AG510", "{} get gradients, and no optimizer owns them"),
}
"""By the name of what the probe saw: the code of the pattern, and a sentence."""


def suspicions(baseline: wire.Trace, sources: Sources) -> tuple[Suspicion, ...]:
    """What a run of the unedited script showed, in the order it was seen."""
    return tuple(dict.fromkeys(_suspicions(baseline, sources)))


def _suspicions(baseline: wire.Trace, sources: Sources) -> Iterator[Suspicion]:
    for fact in baseline.silent:
        code, words = _WORDS.get(fact.name, ("", ""))
        if code and fact.stack:
            place = kept(fact, sources) or fact.stack[0]
            yield Suspicion(code, fact.name, words.format(fact.subject), place)


def kept(fact: wire.Fact, sources: Sources) -> Frame | None:
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
            end = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
            return Frame(frame.file, node.lineno, node.col_offset, *end, frame.function)
    return None
