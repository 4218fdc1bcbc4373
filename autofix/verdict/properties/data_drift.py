"""Each epoch writes the data that the next one trains on

## What it finds

What fails is a write in place to a batch, and the edit keeps it. The batch is a part of data that stand ready before
all loops, such as the slice `data[i : i + 16]` or an entry of a list, and another loop walks through the same data
again: each epoch finds what the one before left. The write makes the new values of the old ones, of draws and of what
stands ready: it scales, masks, or adds noise. Or a function that is handed the batch writes to it, whatever it makes
of it. This is read from the text, and not said

- where each turn makes its batch anew, as a `DataLoader` and a list of indices do;
- where the data are walked through once;
- of a state with a part for each example, which is made of other data, of a gradient, or by a network.

## Why it matters

Data that are normalised in place are normalised again in the next epoch, and noise adds up from epoch to epoch. It is
mostly meant for this turn alone: then the new values belong on a tensor of their own.
"""

from __future__ import annotations

import ast

from autofix.probe import wire
from autofix.syntax import calls, writes
from autofix.syntax.edits.passes.rewritten import rewritten, walked
from autofix.syntax.source import Source
from autofix.verdict.property import Evidence, Example, Finding, Property

NOISY = """\
data, target = torch.randn(24, 5), torch.randn(24, 1)
net = nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
kept = list(data.split(6))
loader = torch.utils.data.DataLoader(data, 6)
traces = torch.zeros(24, 5)
for epoch in range(EPOCHS):
    for i in range(0, 24, 6):
        x, y = TAKEN, target[i : i + 6]
        clean = net(x)
        WRITE
        loss = (net(x) - clean).square().mean() + (clean - y).square().mean()
        train: loss
"""
HELD = NOISY.replace("for i in range(0, 24, 6)", "for x in GIVEN").replace("x, y = TAKEN, target[i : i + 6]", "y = 0")
KEPT = ("clean = net(x)", "clean = net(x.clone())")
NOISE = "x += 0.1 * torch.randn_like(x)"
ASKING = """\
images, mean = torch.rand(24, 5), torch.full((5,), 0.5)
net = nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
batches = [images[i : i + 6] for i in range(0, 24, 6)]
for epoch in range(3):
    for x in batches:
        x.requires_grad_(True)
        x.sub_(mean).div_(0.3)
        slope, = torch.autograd.grad(net(x).sum(), x, create_graph=True)
        loss = net(x).square().mean() + slope.square().mean()
        train: loss
"""
HANDED = """\
data = torch.randn(24, 5)
net = nn.Sequential(nn.Linear(5, 5), nn.Tanh())
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
def residual(x):
    seen = net(x)
    x -= seen.detach()
    return seen
for epoch in range(3):
    for batch in WALKED:
        loss = (residual(batch) - 1).square().mean()
        train: loss
"""
SPLIT = HANDED.replace("WALKED", "data.split(6)")
SEEN = ("net(x)", "net(x.clone())")
HIDDEN = ("        x.sub_", "        x.data.sub_")


def _noisy(taken: str = "data[i : i + 6]", write: str = NOISE, epochs: int = 3) -> str:
    return NOISY.replace("EPOCHS", str(epochs)).replace("TAKEN", taken).replace("WRITE", write)


def _held(given: str) -> str:
    return HELD.replace("EPOCHS", "3").replace("GIVEN", given).replace("WRITE", NOISE)


class DataDrift(Property):
    anyway = True
    sentence = (
        "`{path}` is a part of `{held}`, and line {line} writes it in place in each epoch: the next one trains on what "
        "this one left. It may be meant for a tensor of its own"
    )
    raises = (
        Example(_noisy(), *KEPT),
        Example(_noisy(write="keep = torch.rand(6, 5) > 0.3\n        x[~keep] = 0.0"), *KEPT),
        Example(ASKING, *HIDDEN),
        Example(SPLIT, *SEEN),
    )
    silent = (
        Example(HANDED.replace("WALKED", "torch.utils.data.DataLoader(data, 6)"), *SEEN),
        Example(SPLIT, "x -= seen.detach()", "x = x - seen.detach()"),
        Example(_held("loader"), *KEPT),
        Example(_noisy("data[[i, i + 1, i + 2, i + 3, i + 4, i + 5]]"), *KEPT),
        Example(_noisy("traces[i : i + 6]", "x += data[i : i + 6]"), *KEPT),
        Example(_noisy(), NOISE, f"x = x.clone(); {NOISE}"),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        stacks = [evidence.failure.stack, *(one.stack for saved in evidence.trace.saved for one in saved.writes)]
        failing = {
            (str(source.path), writes.written(source, one))
            for stack in stacks
            for _, source, node in evidence.sources.nodes(stack[:1])
            for one in ast.walk(source.statement(node))
        }
        for path in dict.fromkeys(path for path, name in failing if name):
            if (source := evidence.edited_sources.source(path)) is None:
                continue
            for one in rewritten(source):
                if (path, one.name) in failing:
                    statement = source.statement(one.node)
                    place = wire.Frame.around(path, statement, "")
                    return self.found((place,), path=one.name, held=one.held, line=str(statement.lineno))
        return next(filter(None, (self._handed(evidence, stack) for stack in stacks)), None)

    def _handed(self, evidence: Evidence, stack: wire.Stack) -> Finding | None:
        """The same of a batch that is handed to a function which writes to it, whatever that makes of it."""
        places = [(source, node) for _, source, node in evidence.sources.nodes(stack[:2])]
        if len(places) < 2 or (writer := places[0][0].function(places[0][1])) is None:  # noqa: PLR2004  and its call
            return None
        (inner, write), (outer, call) = places
        statement = inner.statement(write)
        for name in {writes.written(inner, one) for one in ast.walk(statement)} & set(calls.parameters(writer)):
            given = calls.argument(call, calls.parameters(writer), name)
            after = evidence.edited_sources.source(str(outer.path))
            kept = evidence.edited_sources.source(str(inner.path))
            if not isinstance(given, ast.Name) or after is None or kept is None or _is_own(kept, writer.name, name):
                continue
            if (held := walked(after, given.id)) and _hands_on(after, call, given.id):
                return self.found(stack[:1], path=given.id, held=held, line=str(statement.lineno))
        return None


def _is_own(source: Source, function: str, name: str) -> bool:
    """Whether a function gives its parameter another value, which it then writes to."""
    found = (one for one in source.walk() if isinstance(one, ast.FunctionDef) and one.name == function)
    bound = (one for each in found for one in ast.walk(each) if isinstance(one, ast.Assign))
    return any(isinstance(target, ast.Name) and target.id == name for one in bound for target in one.targets)


def _hands_on(source: Source, call: ast.AST, name: str) -> bool:
    """Whether a call of that function is given the batch itself, or another view of it."""
    mine = (one for one in calls.within(source.tree) if calls.name_of(one) == calls.name_of(call))
    given = (ast.unparse(value) for one in mine for value in calls.values(one))
    return any(one in (name, f"{name}.data", f"{name}.detach()") for one in given)
