"""A setting is ignored

## What it finds

A function takes a number with a default (`def reverse(x, scale=1.0)`) and reads it. With the edit it still takes it,
and reads it no more: what stands in its place is the same in the runs alone. This is not said of what the function no
longer takes.

## Why it matters

Whoever gives another number trains as if it were the old one, and no run with this one shows it.
"""

from __future__ import annotations

import ast

from autofix.probe import wire
from autofix.syntax import calls
from autofix.syntax.source import Source
from autofix.verdict.property import Evidence, Example, Finding, Property

REVERSED = """\
class Reverse(torch.autograd.Function):
    def __init__(self, scale):
        self.scale = scale

    def forward(self, x):
        return x.view_as(x)

    def backward(self, gradient):
        return -self.scale * gradient


def reverse(x, scale=1.0):
    return Reverse(scale)(x)


net, head = nn.Linear(3, 2), nn.Linear(2, 1)
optimizer = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
for _ in range(4):
    train: (head(reverse(net(torch.randn(5, 3)))) - 1).square().mean()
"""
OLD = REVERSED[REVERSED.index("    def __init__") : REVERSED.index("\n\nnet")]
NEW = """\
    @staticmethod
    def forward(ctx, x, scale):
        ctx.scale = scale
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient):
        return -ctx.scale * gradient, None


def reverse(x, scale=1.0):
    return Reverse.apply(x, scale)

"""
WEIGHED = """\
def total(fit, size, weight=0.1):
    size *= weight
    return fit + size


net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    size = net.weight.exp()
    used = size.square().sum()
    train: total((net(torch.randn(5, 3)) - 1).square().mean() + used, size).sum()
"""
WRITE = "    size *= weight\n"


class SettingIsIgnored(Property):
    sentence = (
        "with the edit, the function still takes {subject} but does not read it: any other number would be ignored"
    )
    raises = (
        Example(REVERSED, OLD, NEW.replace("apply(x, scale)", "apply(x, 1.0)")),
        Example(WEIGHED, WRITE, "    size = 0.1 * size\n"),
    )
    silent = (
        Example(REVERSED, OLD, NEW),
        Example(WEIGHED, WRITE, "    size = weight * size\n"),
        Example(WEIGHED.replace("weight=0.1)", "weight=0.1, spare=2)"), WRITE, "    size = weight * size\n"),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        for path in map(str, evidence.files):
            old, new = evidence.sources.source(path), evidence.edited_sources.source(path)
            if old is None or new is None:
                continue
            read, ignored = (_read(*one) for one in zip((old, new), old.apart(new), strict=True))
            for key, (function, reads) in ignored.items():
                if not reads and key in read and read[key][1]:
                    place = wire.Frame.of_line(path, function.lineno)
                    return self.found((place,), subject=f"`{key[1]}`")
        return None


def _read(source: Source, statements: list[ast.stmt]) -> dict[tuple[str, str], tuple[calls.Function, bool]]:
    """The numbers with a default that functions take, by the function's name and theirs, and whether it reads them."""
    found = {}
    for node in ast.walk(ast.Module(statements, [])):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            home = getattr(source.parent(node), "name", "")
            names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}
            for name, default in calls.defaults(node).items():
                if isinstance(default, ast.Constant) and type(default.value) in (int, float):
                    found[f"{home}.{node.name}", name] = node, name in names
    return found
