"""The gradient of a result is written, and nothing reads it

## What it finds

The code writes to the gradient of a tensor that is no leaf (`points.grad.mul_(scale)`, `h.grad *= mask`), and no line
of its file reads that gradient. It is None there, and the edit has the result keep one. This is not said of a gradient
that is only cleared, nor of one that is read somewhere, as for a histogram.

## Why it matters

A backward has ended by then, and has sent the gradient on as it was: what an optimizer uses does not change by such a
write. A hook changes it on its way (`points.register_hook(lambda grad: grad * scale)`), or the gradient of the
parameter behind is meant.
"""

from __future__ import annotations

import ast

from autofix.syntax.calls import name_of, path_of, within
from autofix.syntax.source import Source
from autofix.syntax.writes import written_part
from autofix.verdict.property import Evidence, Example, Finding, Property

SCALED = """\
table, head = nn.Embedding(9, 3), nn.Linear(3, 1)
optimizer = torch.optim.SGD([*table.parameters(), *head.parameters()], lr=0.1)
for _ in range(5):
    points = table(torch.randint(9, (6,)))
    loss = (head(points) - 1).square().mean()
    optimizer.zero_grad()
    loss.backward()
    WRITTEN
    optimizer.step()
"""
BY_METHOD = SCALED.replace("WRITTEN", "points.grad.mul_(1 - points.detach().square())")
BY_OPERATOR = SCALED.replace("WRITTEN", "points.grad *= 0.5")
BY_PART = SCALED.replace("WRITTEN", "points.grad[:3] = 0")
READ = SCALED.replace("WRITTEN", "points.grad.clamp_(-1, 1)\n    print(points.grad.norm().item())")
FIRST = SCALED.replace("WRITTEN", "size = points.grad.norm()\n    points.grad.mul_(0.5)\n    print(size.item())")
CLEARED = SCALED.replace("WRITTEN", "points.grad.zero_()")
SHOWN = SCALED.replace("WRITTEN", "print(points.grad.abs().mean().item())")
KEPT = ("    loss =", "    points.retain_grad()\n    loss =")
_CLEARS = frozenset({"zero_"})


class GradientWrittenIsUnread(Property):
    sentence = (
        "the gradient of `{name}`, which is no leaf, is written here, and nothing reads it: no optimizer uses what is "
        "written. A hook (`{name}.register_hook`) changes the gradient before it is sent on"
    )
    raises = (Example(BY_METHOD, *KEPT), Example(BY_OPERATOR, *KEPT), Example(BY_PART, *KEPT))
    silent = (Example(READ, *KEPT), Example(FIRST, *KEPT), Example(CLEARED, *KEPT), Example(SHOWN, *KEPT))

    def find(self, evidence: Evidence) -> Finding | None:
        place = evidence.failure.stack[:1]
        names = [one.name for one in evidence.trace.origins if one.kind == "nonleaf"]
        for _, source, node in evidence.sources.nodes(place if names and evidence.looks_at_gradient else ()):
            if _is_written(source, statement := source.statement(node)) and not _is_read(source, statement):
                return self.found(place, name=names[0])
        return None


def _gradient(source: Source, statement: ast.stmt) -> str:
    """The path of the gradient that a statement writes in place: `x.grad` of `x.grad.mul_(2)`; '' if it is none."""
    path = path_of(written_part(source, statement))
    return path if path.endswith(".grad") else ""


def _is_written(source: Source, statement: ast.stmt) -> bool:
    return bool(_gradient(source, statement)) and not any(name_of(one) in _CLEARS for one in within(statement))


def _is_read(source: Source, statement: ast.stmt) -> bool:
    """Whether another statement of the file mentions a gradient by that name."""
    name = _gradient(source, statement).split(".")[-2]
    found = (one for one in source.walk() if isinstance(one, ast.Attribute) and one.attr == "grad")
    return any(path_of(one).split(".")[-2:-1] == [name] and source.statement(one) is not statement for one in found)
