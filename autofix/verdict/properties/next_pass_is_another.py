"""A statement that the edit changes acts in the next pass of an outer loop, and trains otherwise there

## What it finds

A statement that the edit removes, writes or replaces ran before the failure, and in the passes compared never again: it
stands in a loop around the one that fails, as what an epoch or an episode begins with. The code and the edit are then
run once more with loops that train ended after two passes each, so that the loops around them come to their next pass.
There the edit trains otherwise than the code. Not said where the edit makes other loops train, so that not the same
ones end, nor where the shortened script does not run.

## Why it matters

A `reset()` that hands on what it put back to a start shows nothing at the begin of the first epoch, where there is
nothing to put back. From the second epoch on, each begins with what the one before left.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from autofix.experiments.spec import Intervention
from autofix.probe import wire
from autofix.verdict.property import Evidence, Example, Finding, Property

READER = """\
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.hidden = nn.GRUCell(3, 4), None

    def reset(self):
        self.hidden = None

    def forward(self, x):
        self.hidden = self.cell(x, self.hidden)
        return self.hidden


reader = Reader()
optimizer = torch.optim.SGD(reader.parameters(), lr=0.1)
for epoch in range(3):
    reader.reset()
    for x in torch.randn(40, 5, 3):
        loss = (reader(x) - x.mean()).square().mean()
        train: loss
"""
TRAIN = "        train: loss\n"
OF_RESET = READER[READER.index("    def reset") :]
START, CUT = "self.hidden = None", "self.hidden = self.hidden.detach()"
WORDS = """\
cell = nn.GRUCell(3, 4)
optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)


def begin(hidden):
    return torch.zeros(1, 4)


hidden = torch.zeros(1, 4)
for document in torch.randn(3, 40, 1, 3):
    hidden = begin(hidden)
    for word in document:
        hidden = cell(word, hidden)
        loss = (hidden - word.sum()).square().mean()
        train: loss
"""
OF_BEGIN = WORDS[WORDS.index("def begin") :]
MERGED = """\
class Merged(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Parameter(torch.randn(3, 2)), nn.Parameter(torch.randn(2, 3))
        self.merged = None

    def train(self, mode=True):
        self.merged = None
        return super().train(mode)

    def forward(self, x):
        if self.merged is None:
            self.merged = self.a @ self.b
        return x @ self.merged


net = Merged()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    net.train()
    for x in torch.randn(40, 5, 3):
        loss = (net(x) - 1).square().mean()
        train: loss
    net.eval()
    with torch.no_grad():
        print(net(torch.ones(1, 3)).mean().item())
"""
OF_TRAIN = MERGED[MERGED.index("    def train") :]
UNMERGED = OF_TRAIN.replace(TRAIN, f"{TRAIN}        net.merged = None\n")
CLEARED = "        self.merged = None\n"
BY_NAME = f"        return self.clear(mode)\n\n    def clear(self, mode=True):\n{CLEARED}"


def _reset(body: str, *, keep: bool = False) -> str:
    """The reader with such a method, which is also called behind each step."""
    text = OF_RESET.replace(START, body).replace(TRAIN, f"{TRAIN}        reader.reset({'keep=True' if keep else ''})\n")
    return text.replace("reset(self)", "reset(self, keep=False)") if keep else text


def _begin(body: str, given: str = "hidden") -> str:
    """The documents with such a function, which is also called behind each step."""
    text = OF_BEGIN.replace("torch.zeros(1, 4)", body, 1).replace("= begin(hidden)", f"= begin({given})")
    return text.replace(TRAIN, f"{TRAIN}        hidden = begin(hidden)\n")


_Line = tuple[str, int]
_MAY_RUN_AGAIN = (ast.For, ast.AsyncFor, ast.While, ast.FunctionDef, ast.AsyncFunctionDef)


class NextPassIsAnother(Property):
    last = True
    sentence = "{subject} runs again only in the next turn of an outer loop, and there {what}"
    raises = (
        Example(READER, OF_RESET, _reset(f"if self.hidden is not None:\n            {CUT}")),
        Example(READER, OF_RESET, _reset("self.hidden = getattr(self.hidden, 'data', None)")),
        Example(READER, OF_RESET, _reset(f"if hasattr(self.hidden, 'grad_fn'):\n            {CUT}")),
        Example(WORDS, OF_BEGIN, _begin("hidden.detach()")),
        Example(MERGED, OF_TRAIN, UNMERGED.replace(CLEARED, "", 1)),
    )
    silent = (
        Example(READER, TRAIN, f"{TRAIN}        reader.hidden = reader.hidden.detach()\n"),
        Example(READER, OF_RESET, _reset(f"{CUT} if keep else None", keep=True)),
        Example(
            READER, OF_RESET, _reset(f"if keep:\n            {CUT}\n        else:\n            {START}", keep=True)
        ),
        Example(READER, OF_RESET, _reset(f"{CUT} if keep else torch.zeros(5, 4)", keep=True)),
        Example(WORDS, OF_BEGIN, _begin("torch.zeros(1, 4) if hidden is None else hidden.detach()", "None")),
        Example(MERGED, TRAIN, f"{TRAIN}        net.merged = None\n"),
        Example(MERGED, OF_TRAIN, UNMERGED.replace(CLEARED, BY_NAME, 1).replace("net.merged = None", "net.clear()")),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        reading, code, edited = evidence.reading, evidence.letter, evidence.edited
        removed, written = (dict(_ran_before(evidence, run)) for run in (code, edited))
        whole = code.outcome != "stopped"
        if whole or not (removed or written) or replace(reading, truncated=False) != reading.letter:
            return None
        made = evidence.shortened(evidence.reading, Intervention.SHORTENED)
        if made is None or made.are_alike:
            return None
        sooner = _begins(code) - _begins(made.code)
        again = [*_ran_again(removed, made.code, sooner), *_ran_again(written, made.edited, sooner)]
        if not again:
            return None
        path, line = again[0]
        what = "the edit fails" if made.edited.failure else "the edit trains otherwise than the code"
        place = wire.Frame.of_line(path, line)
        return self.found((place,), subject=f"line {line} of {Path(path).name}", what=what)


def _latest(run: wire.Trace) -> Iterator[tuple[_Line, int]]:
    """Each changed line that ran, and how many backward calls had been made when it did so last."""
    for path, places in run.executed.items():
        for line, some in itertools.groupby(
            zip(places, run.latest[path], strict=True), lambda one: one[0] // wire.COLUMNS
        ):
            yield (path, line), max(calls for _, calls in some)


def _begins(run: wire.Trace) -> int:
    """How many backward calls come before the latest phase that has an optimizer of its own; 0 where one makes all."""
    first: dict[int, int] = {}
    for step in run.steps:
        first.setdefault(step.optimizer, step.calls)
    return max(first.values()) if len(first) > 1 else 0


def _ran_again(before: dict[_Line, int], run: wire.Trace, sooner: int) -> list[_Line]:
    """Those of some lines, each with when it ran last, that ran later in this run, whose phase begins sooner."""
    return [line for line, calls in _latest(run) if calls > before.get(line, calls + sooner) - sooner]


def _ran_before(evidence: Evidence, run: wire.Trace) -> Iterator[tuple[_Line, int]]:
    """The changed lines that ran before the failure alone and may run again, each with when it ran last."""
    sources = evidence.edited_sources if run is evidence.edited else evidence.sources
    failed = max(1, evidence.baseline.backward_count)
    early = [(line, calls) for line, calls in _latest(run) if calls < failed]
    for path in dict.fromkeys(path for (path, _), _ in early):
        source = sources.source(path)
        nodes = source.on_lines(line for (file, line), _ in early if file == path) if source else ()
        around = [one for one in nodes if isinstance(one, _MAY_RUN_AGAIN)]
        for (file, line), calls in early:
            if file == path and any(one.lineno < line <= (one.end_lineno or 0) for one in around):
                yield (file, line), calls
