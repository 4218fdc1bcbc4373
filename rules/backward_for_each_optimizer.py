"""One loss that goes backward once for each of several optimizers.

## What it does
Lets the loss go backward once, after all gradients are cleared, and then each optimizer step. Where a function clears,
goes backward and steps, and is called for each optimizer, its callers do what is to be done once.

## Why autograd fails
The first backward frees the graph of the loss, and the first step changes parameters that the second backward needs.
One backward gives every parameter its gradient, whichever optimizer it belongs to.

## Fix safety
Safe where the run shows that every step uses the gradients that the code describes: those of the one loss, at the
parameters that it was computed with.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence

from autofix.search import owning
from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import blocks, calls, names
from autofix.syntax.edits import Step, delete, insert_before

WHY = "One backward gives each parameter its gradient; then each optimizer steps those that it owns."


class BackwardForEachOptimizer(Rule):
    code, name = "AG217", "backward-for-each-optimizer"
    title = "Go backward once, before all steps"
    causes = frozenset({Cause.FREED_GRAPH, Cause.SAVED_TENSOR_MODIFIED})
    tier = Tier.ORDER
    examples = Example.each("""\
! in a loop over the optimizers
one, two = torch.nn.Linear(3, 4), torch.nn.Sequential(torch.nn.Tanh(), torch.nn.Linear(4, 1))
opts = [torch.optim.Adam(one.parameters()), torch.optim.SGD(two.parameters(), lr=0.1)]
for _ in range(4):
    loss = two(one(torch.randn(5, 3))).pow(2).mean()
+    for opt in opts:
+        opt.zero_grad()
+    loss.backward()
    for opt in opts:
-        opt.zero_grad()
-        loss.backward()
        torch.nn.utils.clip_grad_norm_(opt.param_groups[0]["params"], 1.0)
        opt.step()
! by a method that is called for each
class Trainer:
    def __init__(self, nets):
        self.net = torch.nn.Sequential(*nets)
        self.opts = {n: torch.optim.SGD(net.parameters(), lr=0.1) for n, net in enumerate(nets)}
        self.scale = 2.0

    def optimize(self, loss, opt):
        \"\"\"One step.\"\"\"
-        opt.zero_grad()
-        (self.scale * loss).backward()
        opt.step()

    def train(self, x):
        loss = self.net(x).pow(2).mean()
+        for opt in self.opts.values():
+            opt.zero_grad()
+        (self.scale * loss).backward()
        for opt in self.opts.values():
            self.optimize(loss, opt)


trainer = Trainer([torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1)][::2])
for _ in range(4):
    trainer.train(torch.randn(5, 3))
! by a function that is called twice
def train_op(loss, optimizer, clip=None):
-    optimizer.zero_grad()
-    loss.backward()
    optimizer.step()


one, two = torch.nn.Linear(3, 4), torch.nn.Sequential(torch.nn.Tanh(), torch.nn.Linear(4, 1))
a, b = torch.optim.Adam(one.parameters()), torch.optim.SGD(two.parameters(), lr=0.1)
for _ in range(4):
    loss = two(one(torch.randn(5, 3))).pow(2).mean()
+    a.zero_grad()
+    b.zero_grad()
+    loss.backward()
    train_op(loss, a)
    train_op(loss, optimizer=b)
! each optimizer has a loss of its own
one, two = torch.nn.Linear(3, 4), torch.nn.Linear(3, 4)
opts = [torch.optim.SGD(net.parameters(), lr=0.1) for net in (one, two)]
for _ in range(4):
    out = (one(torch.randn(5, 3)) + two(torch.randn(5, 3))).tanh()
    for n, opt in enumerate(opts):
        loss = (out - n).pow(2).mean()
        train: loss
! one optimizer steps again and again with the same loss
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
loss = net(torch.randn(5, 3)).pow(2).mean()
for _ in range(4):
    train: loss
! the function is called for another loss, too
def train_op(loss, opt):
    train: loss


one, two = torch.nn.Linear(3, 4), torch.nn.Sequential(torch.nn.Tanh(), torch.nn.Linear(4, 1))
a, b = torch.optim.Adam(one.parameters()), torch.optim.SGD(two.parameters(), lr=0.1)
for _ in range(4):
    loss = two(one(torch.randn(5, 3))).pow(2).mean()
    for opt in (a, b):
        train_op(loss, opt)
    train_op(one(torch.randn(5, 3)).pow(2).mean(), a)
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """One, where the failing backward stands in a loop over optimizers, or in a function called for each."""
        stack = diagnosis.failure.stack
        for _, source, node in sources.located(stack[:1]):
            if calls.name_of(node) != "backward":
                continue
            statement = source.statement(node)
            loop, function = source.parent(statement), source.function(statement)
            if isinstance(loop, ast.For):
                yield self.propose(_once(source, statement, source, loop, [{}]), WHY)
            elif function is not None:
                for _, there, call in sources.located(stack[1:2]):
                    if isinstance(call, ast.Call):
                        steps = _called(source, statement, function, there, call, sources)
                        yield self.propose(steps, WHY)


Given = Mapping[str, str]
"""What a function's parameters are in a call of it, as it is written there."""


def _called(  # noqa: PLR0913, PLR0917  two places in two files
    source: Source, statement: ast.stmt, function: calls.Function, there: Source, call: ast.Call, sources: Sources
) -> list[Step]:
    """The same by a function that is called for each optimizer, and for nothing else."""
    caller = there.statement(call)
    alike = [
        one.value
        for one in blocks.block_of(there, caller)
        if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call)
        if ast.dump(one.value.func) == ast.dump(call.func)
    ]
    if call not in alike or sources.reads(function, there) != len(alike):
        raise Declined(f"{function.name} is called for another loss, too")
    loop = there.parent(caller)
    first = loop if isinstance(loop, ast.For) and len(alike) == 1 else there.statement(alike[0])
    return _once(source, statement, there, first, [_given(there, one, function) for one in alike])


def _given(source: Source, call: ast.Call, function: calls.Function) -> Given:
    values = {name: calls.handed(call, function, name) for name in calls.parameters(function)}
    return {name: source.segment(value) for name, value in values.items() if value is not None}


def _once(source: Source, statement: ast.stmt, there: Source, first: ast.stmt, each: Sequence[Given]) -> list[Step]:
    """What clears gradients, and the backward, before `first`: the loop over optimizers, or the first of the calls."""
    block = blocks.block_of(source, statement)
    before, after = blocks.before(block, statement), blocks.after(block, statement)
    clearing = [one for one in before if not isinstance(calls.statement_call(one), ast.Constant)]
    if any(calls.method(one) != "zero_grad" for one in clearing):
        raise Declined("other statements than clearing gradients stand before the backward")
    losses = {tuple(_said(source, statement, given)) for given in each}
    steps = [_said(source, one, given) for given in each for one in after if owning.stepped(one) is not None]
    header: list[str] = []
    own = not steps or len(losses) > 1
    if isinstance(first, ast.For):
        bound = names.binds(first)
        own = own or any(names.meets(bound, _read(lines)) for lines in losses)
        own = own or not all(names.meets(bound, _read(lines)) for lines in steps)
        header = [f"for {there.segment(first.target)} in {there.segment(first.iter)}:"] if clearing else []
    if own or len({tuple(lines) for lines in steps}) < len(each):
        raise Declined("each optimizer has a loss of its own, or there is but one")
    lines = [line for given in each for one in clearing for line in _said(source, one, given)]
    lines = [*header, *(f"    {line}" if header else line for line in lines), *losses.pop()]
    gone = [step for one in (*clearing, statement) for step in delete(source, one)]
    return [*insert_before(there, first, lines), *gone]


def _said(source: Source, statement: ast.stmt, given: Given) -> list[str]:
    """The lines of a statement of the function, as its caller would write them."""
    function = source.function(statement)
    if given and function is not None and not names.locals_read(function, statement) <= set(given):  # type: ignore[arg-type]
        raise Declined(f"{function.name} computes itself the loss that it takes backward")
    renamed = {node: given[node.id] for node in ast.walk(statement) if isinstance(node, ast.Name) and node.id in given}
    return names.copied(source, statement, renamed=renamed)


def _read(lines: Iterable[str]) -> set[str]:
    return names.reads(ast.parse("\n".join(lines)))
