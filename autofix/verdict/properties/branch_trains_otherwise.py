"""A branch that no run entered trains otherwise

## What it finds

The program compares something that changes as it trains, such as a counter, and as far as the runs go on, that came
out alike each time: a branch was not entered. In one more pair of runs, of the code and of the edit, such comparisons
give the opposite. There a gradient, a step or a number that the code prints is another, or the edited script fails
where the code does not. Nothing is said where the code fails there, too, of settings, which never change, and of
branches that end a loop or only show something.

## Why it matters

A loss that is added after the warm-up, a horizon that grows, a part that is unfrozen: all that begins behind what a few
seconds come to. A cut or an alias that harms nothing before does so from there on.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from autofix.probe import wire
from autofix.syntax.blocks import after, block_of, loops
from autofix.syntax.calls import name_of
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources
from autofix.verdict.property import Evidence, Example, Finding, Property

_TRIES = 4
"""Pairs of runs at most: where the code fails with all these branches, each is entered alone."""
_SHOWS = {"print", "save", "savefig", "dump", "add_scalar", "info", "debug", "warning", "set_postfix"}
"""What is called to show or keep something for a reader: runs for that alone would show nothing."""
KEPT = """\
net, head = nn.Linear(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
mean, late = torch.zeros(4), 2000
for number in range(3000):
    h = net(torch.randn(5, 3)).tanh()
    loss = (head(h + mean) - 1).square().mean()
    mean = 0.9 * mean + 0.1 * h.mean(0)
    if number >= late:
        loss = loss + 0.1 * mean.square().mean()
    train: loss
print(loss.item())
"""
ADDED = "loss = loss + 0.1 * mean.square().mean()"
STORED = "0.1 * h.mean(0)", "(0.1 * h.mean(0)).detach()"
BEFORE = "    loss = (head", "    mean = mean.detach()\n    loss = (head"
WINDOW = """\
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.state, self.steps = nn.GRUCell(3, 4), torch.zeros(5, 4), 0

    def forward(self, x):
        self.state = self.cell(x, self.state)
        return self.state

    def length(self):
        self.steps += 1
        return 3 if self.steps > 2000 else 1


reader = Reader()
optimizer = torch.optim.SGD(reader.parameters(), lr=0.1)
while reader.steps < 3000:
    loss = 0
    for _ in range(reader.length()):
        loss = loss + (reader(torch.randn(5, 3)) - 1).square().mean()
    train: loss
"""
IN_FORWARD = "self.cell(x, self.state)", "self.cell(x, self.state.detach())"
BEHIND = "    optimizer.step()\n", "    optimizer.step()\n    reader.state = reader.state.detach()\n"


class BranchTrainsOtherwise(Property):
    last = True
    sentence = "in a branch that the runs do not come to, at {where}, {what}"
    raises = (
        Example(KEPT, *STORED),
        Example(WINDOW, *IN_FORWARD),
        Example(KEPT.replace("number >= late", "not number < late and len(mean) > 3"), *STORED),
    )
    silent = (
        Example(KEPT, *BEFORE),
        Example(WINDOW, *BEHIND),
        Example(KEPT.replace("number >= late", "late > 2500"), *STORED),
        Example(KEPT.replace(ADDED, "print(loss.item())"), *STORED),
        Example(KEPT.replace(ADDED, "optimizer.param_groups[0]['lr'] = 0.01"), *STORED),
        Example(KEPT.replace(ADDED, ADDED + "[number - late]"), *STORED),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        made = evidence.further(evidence.reading) if evidence.may_go_on else None
        if made is None or made.code.outcome != "stopped" or made.departure(printed=evidence.prints_alike):
            return None
        known = dict(_not_entered(evidence.sources, made.code))
        alone = ((key,) for key in known if len(known) > 1)
        for keys in [tuple(known), *alone][: _TRIES if known else 0]:
            if (turned := evidence.further(evidence.reading, turned=keys)) is not None:
                what = turned.departure(printed=evidence.prints_alike)
                place = known[keys[0]]
                where = f"{place.file.rpartition('/')[2]}:{place.line}"
                return self.found((place,), where=where, what=what) if what else None
        return None


def _not_entered(sources: Sources, trace: wire.Trace) -> Iterator[tuple[str, wire.Frame]]:
    """The comparisons that kept a run from a branch that may train, each by what it is told by, and where it stands.

    One that ends a loop or the script is none: behind it nothing is left to compare.
    """
    for fact in trace.seen("one-sided"):
        came_to, _, key = fact.subject.partition(" ")
        for _, source, node in sources.nodes(fact.stack):
            if _may_train(source, _other_side(source, node, came_to=came_to == "True")):
                yield key, fact.stack[0]


def _other_side(source: Source, node: ast.AST, *, came_to: bool) -> Sequence[ast.AST]:
    """What runs where a comparison comes out otherwise; nothing where nobody knows."""
    for above in source.around(node):
        match above:
            case ast.UnaryOp(ast.Not()):
                came_to = not came_to
            case ast.IfExp():
                return [above.orelse if came_to else above.body]
            case ast.If(body=[*_, last]):
                behind = after(block_of(source, above), above) if isinstance(last, (ast.Return, ast.Continue)) else ()
                return (above.orelse or behind) if came_to else above.body
            case ast.BoolOp():
                pass
            case _:
                break
    return ()


def _may_train(source: Source, side: Sequence[ast.AST]) -> bool:
    """Whether statements, or a value, may change what is trained, and the loops around them go on."""
    ends = any(_ends_loop(source, node) for one in side for node in ast.walk(one))
    return not ends and not all(_only_shows(one) for one in side)


def _ends_loop(source: Source, node: ast.AST) -> bool:
    match node:
        case ast.Break() | ast.Continue() | ast.Raise():
            return True
        case ast.Return(value):
            return value is None or any(True for _ in loops(source, node))
        case ast.Call():
            return name_of(node) in ("exit", "quit", "_exit")
    return False


def _only_shows(node: ast.AST) -> bool:
    match node:
        case ast.Pass() | ast.Expr(ast.Constant()):
            return True
        case ast.Expr(ast.Call() as call):
            return name_of(call) in _SHOWS
    return False
