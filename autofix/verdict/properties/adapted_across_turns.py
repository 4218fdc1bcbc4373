"""Weights that are adapted in one turn are the start of the next

## What it finds

Before a loop a name is given parameters (`fast = list(net.parameters())`). In each turn an inner loop binds it anew,
each time made of what it was (`fast = [w - 0.1 * g …]`), and the turn's backward goes through that. Nothing in the turn
gives the name parameters again, so that the next turn goes on from what the last one has adapted; and the edit keeps
this. It is read from the text, and not said of a state that begins with numbers, nor of weights that one loop updates.

## Why it matters

Turns with inner steps of their own are mostly tasks, and each begins with the same weights: what is learned is a start
from which few steps suffice. Then the start belongs into the loop.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.syntax import blocks, calls, names
from autofix.syntax.source import Source
from autofix.verdict.property import Evidence, Example, Finding, Property

_GIVE = frozenset(("parameters", "named_parameters"))

TASKS = """\
def mapped(x, fast):
    return F.linear(torch.tanh(F.linear(x, fast[0], fast[1])), fast[2], fast[3])


net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    optimizer.zero_grad()
    fast, losses = list(net.parameters()), []
    for task in range(3):
        x = torch.randn(5, 3) + task
        for _ in range(2):
            grads = torch.autograd.grad((mapped(x, fast) - task).square().mean(), fast, create_graph=True)
            fast = [w - 0.1 * g for w, g in zip(fast, grads)]
        (mapped(x, fast) - task).square().mean().backward()
    optimizer.step()
"""
ADDED = (
    "(mapped(x, fast) - task).square().mean().backward()\n",
    "losses.append((mapped(x, fast) - task).square().mean())\n    sum(losses).backward()\n",
)
NAMED = (
    TASKS.replace("list(net.parameters())", "dict(net.named_parameters())")
    .replace("(mapped(x, fast)", "(mapped(x, list(fast.values()))")
    .replace(", fast, create", ", list(fast.values()), create")
    .replace("[w - 0.1 * g for w, g in zip(fast, grads)]", "{n: w - 0.1 * g for (n, w), g in zip(fast.items(), grads)}")
)
NAMED_ADDED = tuple(part.replace("mapped(x, fast)", "mapped(x, list(fast.values()))") for part in ADDED)
RECURRENT = """\
cell = nn.GRUCell(3, 4)
optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
for _ in range(4):
    optimizer.zero_grad()
    state, losses = torch.zeros(5, 4), []
    for part in range(3):
        for x in torch.randn(2, 5, 3):
            state = cell(x, state)
        (state - 1).square().mean().backward()
    optimizer.step()
"""
ONE_LOOP = TASKS.replace("        for _ in range(2):\n", "        if True:\n")
TRAINER = """\
class Meta:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def loss(self, x, task):
        seen = torch.tanh(F.linear(x, self.fast[0], self.fast[1]))
        return (F.linear(seen, self.fast[2], self.fast[3]) - task).square().mean()

    def inner(self, x, task):
        grads = torch.autograd.grad(self.loss(x, task), self.fast, create_graph=True)
        return [w - 0.1 * g for w, g in zip(self.fast, grads)]

    def step(self):
        self.optimizer.zero_grad()
        self.fast, losses = list(self.net.parameters()), []
        for task in range(3):
            x = torch.randn(5, 3) + task
            for k in range(2):
                self.fast = [w + 0 * v for w, v in zip(self.inner(x, task), self.fast)]
            self.loss(x, task).backward()
        self.optimizer.step()


meta = Meta()
for _ in range(4):
    meta.step()
"""
SUMMED = (
    "self.loss(x, task).backward()\n",
    "losses.append(self.loss(x, task))\n        sum(losses).backward()\n",
)


class AdaptedAcrossTurns(Property):
    sentence = (
        "each turn of the loop at line {line} goes on from the `{name}` that the turn before has adapted; each may be "
        "meant to begin with the parameters"
    )
    raises = (Example(TASKS, *ADDED), Example(NAMED, *NAMED_ADDED), Example(TRAINER, *SUMMED))
    silent = (
        Example(
            RECURRENT,
            "(state - 1).square().mean().backward()\n",
            "losses.append((state - 1).square().mean())\n    sum(losses).backward()\n",
        ),
        Example(ONE_LOOP, *ADDED),
        Example(TRAINER.replace("for k in range(2)", "if True"), *SUMMED),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        for frame, source, node in evidence.sources.nodes(evidence.failure.stack):
            for loop in blocks.loops(source, node):
                for name in _adapted(source, loop, node):
                    return self.found((frame,), line=str(loop.lineno), name=name)
        return None


def _adapted(source: Source, loop: ast.For | ast.While, node: ast.AST) -> Iterator[str]:
    """The names that inner loops of a turn bind anew, which only a statement before the loop gives parameters."""
    inner = [one for one in loop.body if isinstance(one, (ast.For, ast.While)) and not blocks.holds(one, node)]
    bound = names.bound_by(one for one in loop.body if one not in inner)
    for part in (part for one in inner for part in ast.walk(one) if isinstance(part, ast.Assign)):
        made = (name for name in sorted(names.binds(part) - bound) if any(names.mentions(part.value, name)))
        yield from (name for name in made if _begins_with_parameters(source, loop, name))


def _begins_with_parameters(source: Source, loop: ast.stmt, name: str) -> bool:
    before = blocks.above(source, loop)
    given = [value for one in before if isinstance(one, ast.Assign) for value in names.given_to(one, name)]
    return bool(given) and any(calls.name_of(one) in _GIVE for one in calls.within(given[-1]))
