"""The edit trains otherwise later

## What it finds

In the passes compared the edit trains as the code does. Where the program compares something, or counts in turns, both
then go on: to the end of the script, or for a while, up to 200 steps. There a gradient, a step or a number that the
code prints, or takes of a tensor, is another, or the edited script fails where the code does not.

## Why it matters

Much begins late: a loss that is added after some epochs, a window that grows, a part that is unfrozen, the best weights
that are put back. A cut or an alias that harms nothing before does so from there on.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from autofix.core.model import Finding
from autofix.experiments.compare import differences, failed_with, of_rounding
from autofix.experiments.values import line_of, taken_otherwise
from autofix.verdict.evidence import Evidence
from autofix.verdict.property import Example, Property
from autofix.verdict.runs import Shortened

KEPT = """\
net, head = nn.Linear(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
mean = torch.zeros(4)
for number in range(60):
    h = net(torch.randn(5, 3)).tanh()
    loss = (head(h + mean) - 1).square().mean()
    mean = 0.9 * mean + 0.1 * h.mean(0)
    if number >= 40:
        loss = loss + 0.1 * mean.square().mean()
    train: loss
print(loss.item())
"""
STORED = "0.1 * h.mean(0)", "(0.1 * h.mean(0)).detach()"
BEFORE = "    loss = (head", "    mean = mean.detach()\n    loss = (head"
WINDOW = """\
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.state = nn.GRUCell(3, 4), torch.zeros(5, 4)

    def forward(self, x):
        self.state = self.cell(x, self.state)
        return self.state


reader = Reader()
optimizer = torch.optim.SGD(reader.parameters(), lr=0.1)
for number in range(60):
    loss = 0
    for _ in range(1 if number < 40 else 3):
        loss = loss + (reader(torch.randn(5, 3)) - 1).square().mean()
    train: loss
"""
IN_FORWARD = "self.cell(x, self.state)", "self.cell(x, self.state.detach())"
BEHIND = "    optimizer.step()\n", "    optimizer.step()\n    reader.state = reader.state.detach()\n"


class TrainsOtherwiseLater(Property):
    name = "trains-otherwise-later"
    last = True
    runs = ("letter", "edited", "further", "prints_alike")
    sentence = "behind the iterations compared, {what}"
    raises = (
        Example(WINDOW, *IN_FORWARD),
        Example(KEPT, *STORED),
    )
    silent = (
        Example(WINDOW, *BEHIND),
        Example(KEPT, *BEFORE),
        Example(KEPT.replace("number >= 40", "number >= 400"), *STORED),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        reading, runs = evidence.reading, (evidence.letter, evidence.edited)
        # What another reading takes for a constant is known of the passes compared alone.
        if replace(reading, truncated=False) != reading.letter or "stopped" not in (one.outcome for one in runs):
            return None
        made = evidence.further(reading) if _may_change(evidence) else None
        what = _said(made, printed=evidence.prints_alike) if made is not None else ""
        return self.found(what=what) if what else None


def _may_change(evidence: Evidence) -> bool:
    """Whether the program can do later what it does not do now: something in it is compared, or counted in turns."""
    files = evidence.sources.project(str(evidence.case.pool.target.script))
    nodes = (node for source in files for node in source.walk())
    return any(
        isinstance(node, (ast.Compare, ast.While, ast.IfExp, ast.Mod, ast.FloorDiv)) and not _asks_for_main(node)
        for node in nodes
    )


def _asks_for_main(node: ast.AST) -> bool:
    return isinstance(node, ast.Compare) and isinstance(node.left, ast.Name) and node.left.id == "__name__"


def _said(made: Shortened, *, printed: bool) -> str:
    """What is another in the edited run, as a clause; '' where nothing is, or time ended it."""
    code, edited = made.code, made.edited
    if edited.outcome == "failed":
        return f"the edited script stops with {failed_with(edited)}"
    if not edited.ended_well:
        return ""
    apart = differences(code, edited, made.tolerance, printed=printed)
    if apart and not of_rounding(apart):
        first = min(apart, key=lambda one: one.step)
        return first.note or f"{first.parameter} gets another gradient at step {first.step + 1}"
    place = taken_otherwise(code, edited)
    return f"the number that the code reads at {line_of(place)} has another value" if place else ""
