"""What was kept of parameters before an update by hand shows what the update writes

## What it finds

The edit writes to a tensor in place (`w -= rate * w.grad`, `w.data.sub_(…)`), where the code binds a new one or torch
refuses the write. The code and the edit are then run once more to the end of the script, with loops that train ended
after two passes each. There the edit prints other numbers than the code, or takes others of a tensor: a name that was
given to the parameter before (`start = w`, `self.best = self.w`, what a caller handed over) shows its new values. Where
the code itself writes in place, as torch refuses, it is said if the code shows a difference of a tensor with itself
there, by two names, but not of an edit that gives the older name a copy. Nothing is said where one of these runs does
not come to the end in time.

## Why it matters

How far weights have moved, which were the best, and what they were before are read behind all training, where no
gradient tells. Each of these is then the latest weights, or 0. To keep a value takes a copy (`.detach().clone()`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.core.model import Finding, Treatment
from autofix.experiments.requests import changed_lines
from autofix.syntax import writes
from autofix.verdict.evidence import Evidence
from autofix.verdict.property import Example, Property
from autofix.verdict.shared import other_names

_BEFORE = "a name that it was given before"
_ZEROS = "zero-difference", "zero-shown"
MOVED = """\
x, y = torch.randn(30, 3), torch.randn(30)
w = torch.zeros(3, requires_grad=True)
start = KEPT
for i in range(60):
    loss = (x @ w - y).square().mean()
    loss.backward()
    w = w - 0.1 * w.grad
print((w - start).norm().item())
"""
START = MOVED.replace("KEPT", "w")
REBINDS = "    w = w - 0.1 * w.grad\n"
UNDER_NO_GRAD = "    with torch.no_grad():\n        w -= 0.1 * w.grad\n    w.grad = None\n"
BY_DATA = "    w.data.sub_(0.1 * w.grad)\n    w.grad = None\n"
ANEW = "    w = (w - 0.1 * w.grad).detach().requires_grad_()\n"
BEST = MOVED.replace("start = KEPT", "best, low = KEPT, 1e9").replace(
    "    loss.backward()\n", "    if loss.item() < low:\n        best, low = KEPT, loss.item()\n    loss.backward()\n"
)
BEST = BEST.replace("(w - start).norm()", "(x @ best - y).abs().mean()")
TRAINER = """\
class Line:
    def __init__(self):
        self.w, self.b = torch.zeros(3, requires_grad=True), torch.zeros(1, requires_grad=True)
        self.initial = [KEPT]

    def __call__(self, x):
        return x @ self.w + self.b

    def update(self, rate):
        self.w = self.w - rate * self.w.grad
        self.b = self.b - rate * self.b.grad

    def moved(self):
        return sum((now - then).square().sum() for now, then in zip([self.w, self.b], self.initial)).item()


x, y, line = torch.randn(30, 3), torch.randn(30), Line()
for _ in range(30):
    loss = (line(x) - y).square().mean()
    loss.backward()
    line.update(0.1)
print(line.moved())
"""
BINDS = TRAINER[TRAINER.index("        self.w = self") : TRAINER.index("    def moved")]
WRITES = """\
        with torch.no_grad():
            self.w.sub_(rate * self.w.grad)
            self.b.sub_(rate * self.b.grad)
        self.w.grad = self.b.grad = None

"""
FITTED = """\
def fit(w):
    for _ in range(40):
        loss = (x @ w - y).square().mean()
        loss.backward()
        w -= 0.1 * w.grad
        w.grad.zero_()
    return w


x, y = torch.randn(30, 3), torch.randn(30)
first = torch.zeros(3, requires_grad=True)
w = fit(KEPT)
print((w - first).norm().item())
"""
IN_PLACE = "        w -= 0.1 * w.grad\n", "        with torch.no_grad():\n            w -= 0.1 * w.grad\n"
QUIET = FITTED.replace("print(", "with torch.no_grad():\n    print(")
SHOWN = FITTED.replace("(w - first).norm()", "(x @ w - y).abs().mean()")


class KeptValueIsWritten(Property):
    name = "kept-value-is-written"
    last = True
    runs = ("to_the_end", "shows_otherwise")
    sentence = "the edit writes to a tensor in place, and {what}"
    raises = (
        Example(START, REBINDS, UNDER_NO_GRAD),
        Example(START, REBINDS, BY_DATA),
        Example(BEST.replace("KEPT", "w"), REBINDS, UNDER_NO_GRAD),
        Example(TRAINER.replace("KEPT", "self.w, self.b"), BINDS, WRITES),
        Example(FITTED.replace("KEPT", "first"), *IN_PLACE),
        Example(QUIET.replace("KEPT", "first"), *IN_PLACE),
    )
    silent = (
        Example(START, REBINDS, ANEW),
        Example(MOVED.replace("KEPT", "w.detach().clone()"), REBINDS, UNDER_NO_GRAD),
        Example(MOVED.replace("KEPT", "w.detach().clone()"), REBINDS, BY_DATA),
        Example(START.replace("(w - start)", "w"), REBINDS, UNDER_NO_GRAD),
        Example(BEST.replace("KEPT", "w.detach().clone()"), REBINDS, UNDER_NO_GRAD),
        Example(TRAINER.replace("KEPT", "self.w.detach().clone(), self.b.detach().clone()"), BINDS, WRITES),
        Example(FITTED.replace("KEPT", "first.detach().clone().requires_grad_()"), *IN_PLACE),
        Example(QUIET.replace("KEPT", "first.detach().clone().requires_grad_()"), *IN_PLACE),
        Example(SHOWN.replace("KEPT", "first"), *IN_PLACE),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        if not (evidence.case.pool.leaf_written or any(_writes(evidence))):
            return None
        made = evidence.to_the_end(evidence.reading, Treatment.LIVE)
        if made is None:
            return None
        zero = next((fact for name in _ZEROS for fact in made.code.seen(name)), None)
        if what := evidence.shows_otherwise(evidence.reading):
            cured = zero and other_names.is_kept_by(evidence)
            return None if cured else self.found(what=f"later, {what}: {_BEFORE} may show the write")
        if zero is None or other_names.told(evidence)[0]:  # of a name that the text tells it is asked
            return None
        return self.found(zero.stack, what=f"{_BEFORE} is the same tensor: the difference that is shown is always 0")


def _writes(evidence: Evidence) -> Iterator[ast.AST]:
    """The writes in place in lines that the edit changes, beyond how far these are indented."""
    for path, data in evidence.files.items():
        old, new = (
            b"\n".join(map(bytes.strip, one.split(b"\n"))) for one in (evidence.case.pool.target.read(path), data)
        )
        lines = set(changed_lines(old, new))
        if (source := evidence.edited_sources.source(str(path))) is not None:
            there = (node for node in source.on_lines(lines) if getattr(node, "lineno", 0) in lines)
            yield from (node for node in there if writes.written(source, node))
