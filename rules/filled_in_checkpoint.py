"""State that is filled inside a checkpoint where it is still empty.

## What it does
Fills it before the checkpoint: `if state.bias is None: state.bias = block.bias(x.shape[1])` in front of
`checkpoint(block, x, state)`. Or has each run of the part compute it, whatever was there.

## Why autograd fails
A checkpoint runs its part a second time, in the backward. What the first run found empty and filled is full then, so
the second one skips what made it, and saves other tensors than the first.

## Fix safety
A checkpoint saves memory and is no part of what the program computes. Safe where the run shows the gradients that the
program has without its checkpoints.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator
from contextlib import suppress

from autofix.search import anew
from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import calls, names
from autofix.syntax.calls import Function
from autofix.syntax.edits import for_caller, insert_before, replace_statement

WHY = "The recomputation in backward then finds what the first run found."
WHY_EACH = "Each run of the checkpointed part computes it, in backward as in the forward."
_RUN = ("forward", "__call__")
_DEEPEST = 3


class FilledInCheckpoint(Rule):
    code, name = "AG419", "filled-in-checkpoint"
    title = "Fill it before the checkpoint"
    causes = frozenset({Cause.RECOMPUTED_OTHERWISE})
    tier = Tier.MEANT
    examples = Example.each("""\
from torch.utils.checkpoint import checkpoint
! what several blocks share
class Block(torch.nn.Module):
    def __init__(self, bias):
        super().__init__()
        self.bias, self.lin = bias, torch.nn.Linear(3, 3)

    def forward(self, x, shared):
        n, d = x.shape
        if shared["bias"] is None:
            shared["bias"] = self.bias(torch.arange(n))
        return torch.tanh(self.lin(x) + shared["bias"])


table = torch.nn.Embedding(4, 3)
blocks = [Block(table) for _ in range(2)]
opt = torch.optim.SGD([*table.parameters(), *(p for b in blocks for p in b.lin.parameters())], lr=0.1)
for _ in range(4):
    x, shared = torch.ones(4, 3), {"bias": None}
    for block in blocks:
+        if shared["bias"] is None:
+            shared["bias"] = block.bias(torch.arange(x.shape[0]))
        x = checkpoint(block, x, shared, use_reentrant=False)
    train: x.pow(2).mean()
! in a method of the module itself
from torch.utils import checkpoint as cp


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gate, self.lin = torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)

    def part(self, h):
        if "scale" not in self.kept:
            self.kept["scale"] = self.gate(h).sigmoid()
        return self.lin(h) * self.kept["scale"]

    def forward(self, x):
        self.kept = {}
+        if "scale" not in self.kept:
+            self.kept["scale"] = self.gate(x).sigmoid()
        return cp.checkpoint(self.part, x, use_reentrant=False)


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    train: net(torch.ones(4, 3)).pow(2).mean()
! below what the checkpoint calls
class Table:
    def __init__(self, weight):
        self.weight, self.rows = weight, None

    def __call__(self, n):
-        if self.rows is None:
-            # the same for all
-            self.rows = self.weight[:n].exp()
+        # the same for all
+        self.rows = self.weight[:n].exp()
        return self.rows


w = torch.ones(5, 3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)


def part(x):
    return x * table(len(x))


for _ in range(4):
    table = Table(w)
    train: checkpoint(part, torch.ones(4, 3), use_reentrant=False).sum()
! it is no state that is filled, but a list that is emptied
w = torch.ones(3, requires_grad=True)
ways = [torch.exp, lambda x: x.exp().exp()]
checkpoint(lambda x: ways.pop()(x), w, use_reentrant=False).sum().backward()
! what is filled elsewhere is no matter
class Log:
    first = None

    def note(self, value):
        if self.first is None:
            self.first = value.item()


def part(x):
    calls.append(x)
    return x.exp().exp() if len(calls) < 2 else x.exp()


w, calls, log = torch.ones(3, requires_grad=True), [], Log()
loss = checkpoint(part, w, use_reentrant=False).sum()
log.note(loss)
loss.backward()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """For each place that fills what it finds empty in what a checkpoint runs."""
        files = sources.reached(diagnosis.failure.stack[-1:])
        each: dict[ast.If, Source] = {}
        checkpoints = ((one, call) for one in files for call in calls.of_torch(one, ("utils.checkpoint.checkpoint",)))
        for source, call in ((one, call) for one, call in checkpoints if call.args):
            for at, function in _run_by(source, call, files, sources):
                for guard in (one for one in _guards(function) if at.function(one) is function):
                    yield from self._before(source, call, at, guard, sources)
                each |= _below(at, function, sources)
        for guard, at in each.items():
            edits = replace_statement(at, guard, _body(at, guard))
            yield self.propose(edits, WHY_EACH, title="Compute it in each run of the part", later=1)

    def _before(
        self, source: Source, call: ast.Call, at: Source, guard: ast.If, sources: Sources
    ) -> Iterator[Proposal]:  # fmt: skip
        """The condition and what it fills, in the words of who makes the checkpoint."""
        function = at.function(guard)
        given = _given(call, function) if function is not None else None
        if function is None or given is None:
            return
        elsewhere = {one.id for one in ast.walk(guard) if isinstance(one, ast.Name)} - names.locals_of(function)
        if at is source or elsewhere <= {"hasattr"}:
            with suppress(Declined):
                lines = for_caller(at, guard, given, lambda one: not anew.draws(one, at, sources))
                yield self.propose(insert_before(source, source.statement(call), lines), WHY)


def _run_by(
    source: Source, call: ast.Call, files: list[Source], sources: Sources
) -> list[tuple[Source, Function]]:  # fmt: skip
    """The functions that a checkpoint may run: the one that its first argument means, or those of modules like it."""
    first = call.args[0]
    if (found := sources.called(source, ast.Call(first, call.args[1:], call.keywords))) is not None:
        return [found]
    if isinstance(first, ast.Lambda):
        return []
    every = ((one, node) for one in files for name in _RUN for node in one.definitions.get(name, ()))
    return [(one, node) for one, node in every if isinstance(node, ast.FunctionDef) and _given(call, node) is not None]


def _given(call: ast.Call, function: Function) -> dict[str, ast.expr] | None:
    """What a checkpoint's call gives to the parameters of the function that it runs; None where that is not plain."""
    first, *arguments = call.args
    own = calls.parameters(function)
    found: dict[str, ast.expr] = {}
    if own[:1] == ["self"]:
        found["self"] = first.value if isinstance(first, ast.Attribute) and first.attr == function.name else first
        own = own[1:]
    found |= dict(zip(own, arguments, strict=False)) | {w.arg: w.value for w in call.keywords if w.arg in own}
    plain = len(arguments) <= len(own) and all(isinstance(one, (ast.Name, ast.Attribute)) for one in found.values())
    return found if plain and len(found) >= len(own) - len(function.args.defaults) else None


def _guards(function: Function) -> Iterator[ast.If]:
    """Where a function fills what outlives its call and was empty."""
    for node in ast.walk(function):
        if isinstance(node, ast.If) and not node.orelse and (path := _asked(node.test)):
            made = [one for one in node.body if isinstance(one, ast.Assign)]
            if len(made) == len(node.body) and any(path in map(ast.unparse, one.targets) for one in made):
                yield node


def _below(source: Source, function: Function, sources: Sources, depth: int = 0) -> dict[ast.If, Source]:
    """The same in what it calls, too."""
    found = dict.fromkeys(_guards(function), source)
    for node in ast.walk(function) if depth < _DEEPEST else ():
        if isinstance(node, ast.Call) and (called := sources.called(source, node)) and called[1] is not function:
            found |= _below(*called, sources, depth + 1)
    return found


def _asked(test: ast.expr) -> str:
    """What a condition finds empty, as it is written; '' where it asks something else, or of a local variable."""
    match test:
        case ast.Compare(ast.Attribute() | ast.Subscript() as asked, [ast.Is()], [ast.Constant(value=None)]):
            return ast.unparse(asked)
        case ast.UnaryOp(ast.Not(), ast.Call(ast.Name(id="hasattr"), [holder, ast.Constant(value=str(name))])):
            return f"{ast.unparse(holder)}.{name}"
        case ast.Compare(left=key, ops=[ast.NotIn()], comparators=[ast.Name() | ast.Attribute() as holder]):
            return f"{ast.unparse(holder)}[{ast.unparse(key)}]"
    return ""


def _body(source: Source, guard: ast.If) -> list[str]:
    """The lines under a condition, with their comments."""
    first, last = guard.test.end_lineno or 0, guard.end_lineno or 0
    if guard.body[0].lineno == first:
        return [line for one in guard.body for line in names.copied(source, one)]
    return textwrap.dedent("".join(source.lines[first:last])).splitlines()
