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
import copy
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from autofix.search import anew
from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import blocks, calls, names
from autofix.syntax.calls import Function
from autofix.syntax.edits import insert_before, replace_statement

WHY = "What the part runs anew finds then is what its first run found."
WHY_EACH = "Each run of the part computes it, the one in the backward as the first."
_CHECKPOINT = "utils.checkpoint.checkpoint"
_RUN = ("forward", "__call__")
_DEEPEST = 3


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition under which a function fills what it finds empty."""

    source: Source
    function: Function
    statement: ast.If


class FilledInCheckpoint(Rule):
    """Fill it before the checkpoint."""

    code, name = "AG419", "filled-in-checkpoint"
    title = "Fill it before the checkpoint"
    causes = frozenset({Cause.RECOMPUTED_OTHERWISE})
    tier = Tier.MEANT
    examples = (
        Example("""\
! what several blocks share
import torch
from torch.utils.checkpoint import checkpoint


class Block(torch.nn.Module):
    def __init__(self, bias):
        super().__init__()
        self.bias, self.lin = bias, torch.nn.Linear(3, 3)

    def forward(self, x, shared):
        n, d = x.shape
        if shared["bias"] is None:
            shared["bias"] = self.bias(torch.arange(n))
        return torch.tanh(self.lin(x) + shared["bias"])


torch.manual_seed(0)
table = torch.nn.Embedding(4, 3)
blocks = [Block(table) for _ in range(2)]
opt = torch.optim.SGD([*table.parameters(), *(p for b in blocks for p in b.lin.parameters())], lr=0.1)
for _ in range(4):
    x, shared = torch.ones(4, 3), {"bias": None}
    for block in blocks:
+        if shared['bias'] is None:
+            shared['bias'] = block.bias(torch.arange(x.shape[0]))
        x = checkpoint(block, x, shared, use_reentrant=False)
    opt.zero_grad()
    x.pow(2).mean().backward()
    opt.step()
"""),
        Example("""\
! in a method of the module itself
import torch
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
+        if 'scale' not in self.kept:
+            self.kept['scale'] = self.gate(x).sigmoid()
        return cp.checkpoint(self.part, x, use_reentrant=False)


torch.manual_seed(0)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    opt.zero_grad()
    net(torch.ones(4, 3)).pow(2).mean().backward()
    opt.step()
"""),
        Example("""\
! below what the checkpoint calls
import torch
from torch.utils.checkpoint import checkpoint


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
    opt.zero_grad()
    checkpoint(part, torch.ones(4, 3), use_reentrant=False).sum().backward()
    opt.step()
"""),
        Example("""\
! it is no state that is filled, but a list that is emptied
import torch
from torch.utils.checkpoint import checkpoint

w = torch.ones(3, requires_grad=True)
ways = [torch.exp, lambda x: x.exp().exp()]
checkpoint(lambda x: ways.pop()(x), w, use_reentrant=False).sum().backward()
"""),
        Example("""\
! what is filled elsewhere is no matter
import torch
from torch.utils.checkpoint import checkpoint


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
"""),
    )

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """For each place that fills what it finds empty in what a checkpoint runs."""
        entry = sources.source(diagnosis.failure.stack[-1].file)
        files = list(sources.imported_by(entry)) if entry is not None else []
        each: dict[ast.If, Guard] = {}
        for source in files:
            for call in (one for one in source.walk() if isinstance(one, ast.Call) and _is_checkpoint(source, one)):
                for at, function in _run_by(source, call, files, sources):
                    for guard in _guards(at, function):
                        yield from self._before(source, call, guard, sources)
                    each |= {one.statement: one for one in _below(at, function, sources)}
        for guard in each.values():
            edits = replace_statement(guard.source, guard.statement, _body(guard))
            yield self.propose(edits, WHY_EACH, title="Compute it in each run of the part", later=1)

    def _before(self, source: Source, call: ast.Call, guard: Guard, sources: Sources) -> Iterator[Proposal]:
        """The condition and what it fills, in the words of who makes the checkpoint."""
        given = _given(call, guard.function)
        globally = {one.id for one in ast.walk(guard.statement) if isinstance(one, ast.Name)}
        globally -= names.locals_of(guard.function)
        if given is None or (guard.source is not source and not globally <= {"hasattr"}):
            return
        said = _Said(guard, given, sources)
        try:
            lines = ast.unparse(said.visit(copy.deepcopy(guard.statement))).splitlines()
        except Declined:
            return
        yield self.propose(insert_before(source, source.statement(call), lines), WHY)


def _is_checkpoint(source: Source, call: ast.Call) -> bool:
    return calls.known(source, call.func, ("torch",)) == _CHECKPOINT and bool(call.args)


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
        bound = isinstance(first, ast.Attribute) and first.attr == function.name
        found["self"] = first.value if bound and isinstance(first, ast.Attribute) else first
        own = own[1:]
    if len(arguments) > len(own) or any(isinstance(one, ast.Starred) for one in arguments):
        return None
    found |= dict(zip(own, arguments, strict=False)) | {w.arg: w.value for w in call.keywords if w.arg in own}
    plain = all(isinstance(one, (ast.Name, ast.Attribute)) for one in found.values())
    return found if plain and len(found) >= len(own) - len(function.args.defaults) else None


def _guards(source: Source, function: Function) -> Iterator[Guard]:
    """Where a function fills what outlives its call and was empty."""
    for node in ast.walk(function):
        if isinstance(node, ast.If) and not node.orelse and (path := _asked(node.test)):
            made = [one for one in node.body if isinstance(one, ast.Assign)]
            if len(made) == len(node.body) and any(path in map(ast.unparse, one.targets) for one in made):
                yield Guard(source, function, node)


def _below(source: Source, function: Function, sources: Sources, depth: int = 0) -> Iterator[Guard]:
    """The same in what it calls, too."""
    yield from _guards(source, function)
    for node in ast.walk(function) if depth < _DEEPEST else ():
        if isinstance(node, ast.Call) and (called := sources.called(source, node)) and called[1] is not function:
            yield from _below(*called, sources, depth + 1)


def _asked(test: ast.expr) -> str:
    """What a condition finds empty, as it is written; '' where it asks something else, or of a local variable."""
    match test:
        case ast.Compare(left=ast.Attribute() | ast.Subscript() as asked, ops=[ast.Is()], comparators=[empty]):
            return ast.unparse(asked) if isinstance(empty, ast.Constant) and empty.value is None else ""
        case ast.UnaryOp(ast.Not(), ast.Call(ast.Name(id="hasattr"), [holder, ast.Constant(value=str(name))])):
            return f"{ast.unparse(holder)}.{name}"
        case ast.Compare(left=key, ops=[ast.NotIn()], comparators=[ast.Name() | ast.Attribute() as holder]):
            return f"{ast.unparse(holder)}[{ast.unparse(key)}]"
    return ""


def _body(guard: Guard) -> list[str]:
    """The lines under the condition, with their comments."""
    first, last = guard.statement.test.end_lineno or 0, guard.statement.end_lineno or 0
    if guard.statement.body[0].lineno == first:
        return [line for one in guard.statement.body for line in names.copied(guard.source, one)]
    return textwrap.dedent("".join(guard.source.lines[first:last])).splitlines()


class _Said(ast.NodeTransformer):
    """Says a statement of a function in the words of its caller: arguments for parameters, values for locals."""

    def __init__(self, guard: Guard, given: dict[str, ast.expr], sources: Sources) -> None:
        self._guard, self._given, self._sources = guard, given, sources
        self._local = names.locals_of(guard.function)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if anew.draws(node, self._guard.source, self._sources):
            raise Declined("it would draw other numbers")
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self._given and not self._made(node.id):
            return self._given[node.id]
        if node.id not in self._local:
            return node
        match self._made(node.id):
            case [ast.Assign(targets=[ast.Name()], value=value)]:
                found: ast.AST = self.visit(copy.deepcopy(value))
                return found
            case [ast.Assign(targets=[ast.Tuple(elts=parts)], value=ast.Attribute(attr="shape") as shape)]:
                at = [ast.unparse(one) for one in parts].index(node.id)
                return ast.Subscript(self.visit(copy.deepcopy(shape)), ast.Constant(at), ast.Load())
        raise Declined(f"{node.id} is made in several steps")

    def _made(self, name: str) -> list[ast.stmt]:
        """The statements before the guard that bind a local variable."""
        block = blocks.block_of(self._guard.source, self._guard.statement)
        return [one for one in blocks.before(block, self._guard.statement) if name in names.binds(one)]
