"""Parameters of a module that an inner step writes to, where the outer loss is to train through that step.

## What it does
Keeps the adapted weights in a dict beside the module: `fast = dict(net.named_parameters())` before the inner step,
`fast = {name: p - lr * g for (name, p), g in zip(fast.items(), grads)}` in place of the loop that writes, and
`torch.func.functional_call(net, fast, (x,))` where the module is called with them. A function that returns the module
returns `functools.partial(torch.func.functional_call, net, fast)`.

## Why autograd fails
Each write is one to a leaf that requires a gradient. Under `torch.no_grad()` it would be allowed: the gradients, which
have a graph (`create_graph=True`), would be for nothing, and the parameters would be moved for good.

## Fix safety
The write can also be an update of the parameters, as a step by hand is. Both are run. Where nothing rules one of them
out, no edit is safe, and the report asks.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import blocks, calls, names, writes
from autofix.syntax.edits import Step, ensure_name, insert_before, replace, replace_statement, value_after

WHY = "The outer loss trains through {name}, which {module} is called with; its parameters stay as they are."
_KEPT = ("parameters", "named_parameters", "zero_grad", "train", "eval", "requires_grad_", "state_dict")
"""Methods of a module by which nothing is computed."""


class ParametersAdaptedInPlace(Rule):
    code, name = "AG323", "parameters-adapted-in-place"
    title = "Adapt a dict of weights, and call the module with it"
    causes = frozenset({Cause.LEAF_MODIFIED})
    tier = Tier.AGAIN
    examples = Example.each("""\
import copy
import functools
import torch.nn.functional as F
from torch.autograd import grad

net = torch.nn.Linear(3, 1)
opt = torch.optim.Adam(net.parameters(), lr=0.1)
! unsafe: an update of the parameters is possible, too


def adapt(model, x, y, steps):
+    fast = dict(model.named_parameters())
    for _ in range(steps):
-        loss = F.mse_loss(model(x), y)
-        grads = torch.autograd.grad(loss, model.parameters(), create_graph=True)
-        for p, g in zip(model.parameters(), grads):
-            p -= 0.1 * g
-    return model
+        loss = F.mse_loss(torch.func.functional_call(model, fast, (x,)), y)
+        grads = torch.autograd.grad(loss, tuple(fast.values()), create_graph=True)
+        fast = {name: p - 0.1 * g for (name, p), g in zip(fast.items(), grads)}
+    return functools.partial(torch.func.functional_call, model, fast)


for _ in range(4):
    x, y = torch.randn(8, 3), torch.randn(8, 1)
    opt.zero_grad()
    adapted = adapt(net, x[:4], y[:4], 2)
    F.mse_loss(adapted(x[4:]), y[4:]).backward()
    opt.step()
! unsafe: an update of the parameters is possible, too
for _ in range(4):
    total = 0
    for x, y in zip(torch.randn(3, 8, 3), torch.randn(3, 8, 1)):
        loss = F.mse_loss(net(x[:4]), y[:4])
-        grads = torch.autograd.grad(loss, list(net.parameters()), create_graph=True)
-        for (name, w), g in zip(net.named_parameters(), grads):
-            w.sub_(g, alpha=0.1)
-        total = total + F.mse_loss(net(x[4:]), y[4:])
+        fast = dict(net.named_parameters())
+        grads = torch.autograd.grad(loss, tuple(fast.values()), create_graph=True)
+        fast = {name: w.sub(g, alpha=0.1) for (name, w), g in zip(fast.items(), grads)}
+        total = total + F.mse_loss(torch.func.functional_call(net, fast, (x[4:],)), y[4:])
    train: total
! unsafe: an update of the parameters is possible, too
class Learner:
    def __init__(self, model):
        self.model, self.lr = model, 0.1

    def outer_loss(self, x, y):
        params = list(self.model.parameters())
        loss = F.mse_loss(self.model(x[:4]), y[:4])
-        grads = torch.autograd.grad(loss, params, create_graph=True)
-        for i, p in enumerate(params):
-            p.add_(grads[i] * -self.lr)
-        return F.mse_loss(self.model(x[4:]), y[4:])
+        fast = dict(self.model.named_parameters())
+        grads = torch.autograd.grad(loss, tuple(fast.values()), create_graph=True)
+        fast = {name: p.add(grads[i] * -self.lr) for i, (name, p) in enumerate(fast.items())}
+        return F.mse_loss(torch.func.functional_call(self.model, fast, (x[4:],)), y[4:])


learner = Learner(net)
for _ in range(4):
    train: learner.outer_loss(torch.randn(8, 3), torch.randn(8, 1))
! unsafe: the code trains nothing through the step
for _ in range(4):
    x, y = torch.randn(8, 3), torch.randn(8, 1)
-    learner = copy.deepcopy(net)
-    learner.train()
-    loss = F.mse_loss(learner(x[:4]), y[:4])
-    for p, g in zip(learner.parameters(), grad(loss, learner.parameters(), create_graph=True)):
-        p -= g
-    train: F.mse_loss(learner(x[4:]), y[4:])
+    fast = dict(net.named_parameters())
+    net.train()
+    loss = F.mse_loss(torch.func.functional_call(net, fast, (x[:4],)), y[:4])
+    fast = {name: p - g for (name, p), g in zip(fast.items(), grad(loss, tuple(fast.values()), create_graph=True))}
+    train: F.mse_loss(torch.func.functional_call(net, fast, (x[4:],)), y[4:])
! a step by hand: its gradients have no graph
for _ in range(4):
    loss = F.mse_loss(net(torch.randn(8, 3)), torch.randn(8, 1))
    grads = torch.autograd.grad(loss, net.parameters())
    for p, g in zip(net.parameters(), grads):
        p -= 0.1 * g
! nothing reads what was adapted: the penalty alone needs the graph
for _ in range(4):
    loss = F.mse_loss(net(torch.randn(8, 3)), torch.randn(8, 1))
    grads = torch.autograd.grad(loss, net.parameters(), create_graph=True)
    for p, g in zip(net.parameters(), grads):
        p -= 0.1 * g
    loss = loss + sum(g.square().sum() for g in grads)
! each turn of the loop goes on with the same data: it may be one more inner step
x, y = torch.randn(8, 3), torch.randn(8, 1)
total = 0
for _ in range(4):
    loss = F.mse_loss(net(x[:4]), y[:4])
    grads = torch.autograd.grad(loss, net.parameters(), create_graph=True)
    for p, g in zip(net.parameters(), grads):
        p -= 0.1 * g
    total = total + F.mse_loss(net(x[4:]), y[4:])
! what is adapted is made by other means than a copy
for _ in range(4):
    x, y = torch.randn(8, 3), torch.randn(8, 1)
    learner = torch.nn.Linear(3, 1)
    grads = torch.autograd.grad(F.mse_loss(learner(x), y), learner.parameters(), create_graph=True)
    for p, g in zip(learner.parameters(), grads):
        p -= 0.1 * g
    train: F.mse_loss(learner(x), y) + F.mse_loss(net(x), y)
! the loop writes something else, too
moved = 0
for _ in range(4):
    x = torch.randn(8, 3)
    grads = torch.autograd.grad(net(x).square().mean(), net.parameters(), create_graph=True)
    for p, g in zip(net.parameters(), grads):
        moved += g.abs().sum().item()
        p -= 0.1 * g
    net(x).sum().backward()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """For the loop around the failing write, where it steps a module by gradients that have a graph."""
        for _, source, node in sources.nodes(diagnosis.failure.stack[:1]):
            loop = source.parent(source.statement(node))
            if not isinstance(loop, ast.For) or loop.orelse or len(loop.body) != 1:
                raise Declined("the write is not alone in a loop over parameters")
            step = _step(source, node, loop, _named(source, loop))
            yield self.propose(_edits(source, step), WHY.format(name=step.fast, module=step.module))


@dataclass(frozen=True, slots=True)
class _InnerStep:
    """A loop that steps the parameters of a module, and what else has to change with it."""

    module: str
    loop: ast.For
    inputs: ast.expr
    """What the gradients are taken by."""
    fast: str
    """The name of the adapted weights."""
    made: str
    """What makes them anew."""


def _step(source: Source, node: ast.AST, loop: ast.For, fast: str) -> _InnerStep:
    written, value = writes.written(source, node), value_after(source, node)
    targets = [calls.path_of(one) for one in names.parts(loop.target)]
    name = "name" if "name" in targets else names.unused(source, "name")
    match loop.iter:
        case ast.Call(func=ast.Name("zip"), args=[held, given]) if targets[-2:-1] == [written]:
            each = f"({name}, {written}), {targets[-1]} in zip({fast}.items(), {source.segment(given)})"
        case ast.Call(func=ast.Name("enumerate"), args=[held]) if targets[1:] == [written]:
            each = f"{targets[0]}, ({name}, {written}) in enumerate({fast}.items())"
        case _:
            raise Declined("the loop does not walk through parameters and their gradients")
    module = _module(source, held)
    taken = [one for one in _gradients(source, loop, value) if _module(source, one) == module]
    if not module or len(taken) != 1:
        raise Declined("no gradients with a graph are taken by these parameters, so it is a step by hand")
    if blocks.holds(loop, taken[0]):
        each = each.replace(source.segment(taken[0]), f"tuple({fast}.values())")
    return _InnerStep(module, loop, taken[0], fast, f"{{{name}: {value} for {each}}}")


def _named(source: Source, loop: ast.For) -> str:
    """A name for the adapted weights that means nothing yet where the inner step stands."""
    nodes = list(source.walk(source.function(loop)))
    taken = {getattr(one, "id", "") for one in nodes} | {getattr(one, "arg", "") for one in nodes}
    return next((one for one in ("fast", "weights") if one not in taken), names.unused(source, "fast_weights"))


def _module(source: Source, parameters: ast.expr) -> str:
    """The module whose parameters an expression gives, in their order; '' where that cannot be told."""
    match parameters:
        case ast.Call(func=ast.Attribute(held, "parameters" | "named_parameters"), args=[], keywords=[]):
            return calls.path_of(held)
        case ast.Call(func=ast.Name("list" | "tuple"), args=[inner]):
            return _module(source, inner)
        case ast.Name(id=name) if (function := source.function(parameters)) is not None:
            given = names.bound_once(function, name)
            return _module(source, given) if given is not None else ""
    return ""


def _gradients(source: Source, loop: ast.For, value: str) -> Iterator[ast.expr]:
    """By what the gradients that a loop reads are taken, where they have a graph."""
    read = names.reads(loop.iter) | names.reads(ast.parse(value))
    above = [one for one in blocks.block_of(source, loop) if isinstance(one, ast.Assign) and one.lineno <= loop.lineno]
    given = [one.value for one in above if names.meets(names.binds(one), read)]
    for call in calls.within(loop.iter, *given):
        graph = calls.keyword(call, "create_graph")
        inputs = calls.argument(call, calls.differentiation(call), "inputs")
        if inputs is not None and graph is not None and not (isinstance(graph, ast.Constant) and not graph.value):
            yield inputs


def _begin(source: Source, step: _InnerStep) -> tuple[list[ast.stmt], ast.stmt]:
    """The block whose end reads what was adapted, and the statement before which the adapted weights begin."""
    for holder in blocks.holders(source, step.loop):
        block = blocks.block_of(source, holder)
        later = blocks.after(block, holder)
        if not any(_uses(one, step.module) for one in later):
            continue
        first = next(one for one in block if blocks.holds(one, step.inputs))
        loop = next(blocks.loops(source, holder), None)
        if loop is not None and not _brings_data(loop, blocks.before(block, first), first, step.module):
            raise Declined("each turn of the loop may be one more inner step, as it brings no data of its own")
        return block, first
    raise Declined(f"nothing behind the loop reads what {step.module} was adapted to")


def _uses(statement: ast.stmt, module: str) -> bool:
    """Whether a module is called in a statement, or returned by it."""
    called = any(calls.path_of(one.func) == module for one in calls.within(statement))
    return called or (isinstance(statement, ast.Return) and calls.path_of(statement.value) == module)


def _brings_data(loop: ast.For | ast.While, ahead: Sequence[ast.stmt], first: ast.stmt, module: str) -> bool:
    """Whether the inner loss is computed from what each turn of a loop binds, and binds ahead of it."""
    own, computed = names.binds(loop.target) if isinstance(loop, ast.For) else set(), {module}
    for one in ahead:
        (computed if names.meets(computed, names.reads(one)) else own).update(names.binds(one))
    fed = [*names.backward(names.reads(first), ahead), first]
    return names.meets(own, names.read_by(fed))


def _edits(source: Source, step: _InnerStep) -> Iterator[Step]:
    block, first = _begin(source, step)
    call, imports = ensure_name(source, "torch.func.functional_call")
    copied, module = _copied(blocks.before(block, first), step.module)
    lines = [f"{step.fast} = dict({module}.named_parameters())"]
    yield from imports
    yield from replace_statement(source, copied, lines) if copied is not None else insert_before(source, first, lines)
    if not blocks.holds(step.loop, step.inputs):
        yield from replace(source, step.inputs, f"tuple({step.fast}.values())")
    yield from replace_statement(source, step.loop, [f"{step.fast} = {step.made}"])
    for statement in block[block.index(copied or first) :]:
        for node in ast.walk(statement) if statement is not copied else ():
            if isinstance(node, calls.VALUES) and calls.path_of(node) == step.module:
                apart = not any(blocks.holds(one, node) for one in (step.loop, step.inputs))
                yield from _with_weights(source, node, module, f"{call}({module}, {step.fast}") if apart else ()
        if calls.method(statement) == "step":
            return


def _copied(ahead: Sequence[ast.stmt], module: str) -> tuple[ast.Assign | None, str]:
    """The module that the outer loss trains, and the statement that copies it if what is adapted is a copy of it."""
    match [one for one in ahead if module in names.binds(one)]:
        case []:
            return None, module
        case [ast.Assign(targets=[_], value=ast.Call(args=[original]) as value) as found] if calls.path_of(original):
            if calls.name_of(value) == "deepcopy":
                return found, calls.path_of(original)
    raise Declined(f"{module} is made here, and is no copy of what the outer loss trains")


def _with_weights(source: Source, node: ast.expr, module: str, opened: str) -> Iterator[Step]:
    """A module, where it is called or given back, with the adapted weights; else as it is, by the name `module`."""
    match source.parent(node):
        case ast.Call(func=function, args=args, keywords=words) as called if function is node:
            texts = [source.segment(one) for one in args]
            given = f"({', '.join(texts)}{',' * (len(texts) == 1)})"
            if any(word.arg is None for word in words):
                raise Declined(f"{module} is called with a dict of arguments")
            named = ", ".join(f'"{word.arg}": {source.segment(word.value)}' for word in words)
            yield from replace(source, called, f"{opened}, {given}{f', {{{named}}}' * bool(named)})")
        case ast.Return():
            partial, imports = ensure_name(source, "functools.partial")
            yield from imports
            yield from replace(source, node, f"{partial}({opened.replace('(', ', ', 1)})")
        case ast.Attribute(attr=name) if name in _KEPT:
            yield from replace(source, node, module) if calls.path_of(node) != module else ()
        case _:
            raise Declined(f"{module} is read in another way than by a call")
