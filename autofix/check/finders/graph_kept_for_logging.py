"""A loss that is kept, with its graph, where its number is meant.

## What it does
Finds `history.append(loss)` and `total += loss` in a training loop, where `loss` is the tensor that runs backward in
the same pass and the list or total outlives the pass and never runs backward itself.

## Why it matters
The tensor keeps its graph alive. A total links every iteration's graph to the next: memory grows with each, and the
number printed in the end is a tensor. `loss.item()` or `loss.detach()` is what is meant.

## What it cannot tell
It stays silent where the list or total is used to compute a loss, where it is made anew in each pass, and where the
name might have been given a plain number in between.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.check.finder import Finder, Spot, backwards, examples
from autofix.syntax.calls import path_of, whole
from autofix.syntax.facts import Bind, Block, Call, Scope

_TENSOR_METHODS = {"mean", "sum", "squeeze", "clone", "cpu", "view", "reshape"}


class GraphKeptForLogging(Finder):
    code, name = "AG503", "graph-kept-for-logging"
    title = "A loss is kept together with its graph"
    words = (b"backward",)
    finds, passes = examples("""\
!
model = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
total, history = 0.0, []
for _ in range(3):
    opt.zero_grad()
    loss = model(torch.randn(4, 2)).mean()
    loss.backward()
    opt.step()
    total += loss  # found
    history.append(loss)  # found
print(total / 3)
!
def train(model, batches, optimizer):
    running = 0
    for x in batches:
        loss = model(x).mean()
        running = running + loss * x.size(0)  # found
        train[optimizer]: loss
    return running / len(batches)
!
def train(model, batches, optimizer):
    total, history = 0.0, []
    for x in batches:
        optimizer.zero_grad()
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
        total += loss.item()
        loss = float(loss)
        history.append(loss)
!
def train(model, batches, optimizer):
    total = 0.0
    for x in batches:
        loss = model(x).mean()
        total += loss
    total.backward()
!
def train(model, batches, optimizer):
    for x in batches:
        losses = []
        for part in x:
            loss = model(part).mean()
            losses.append(loss)
            loss.backward(retain_graph=True)
        torch.stack(losses).sum().backward()
""")

    def spots(self, scope: Scope) -> Iterator[Spot]:
        losses = {call.receiver for call in backwards(scope) if call.receiver and not call.node.args}
        for kept, what, where in _kept(scope, losses):
            loop = _training_loop(scope, kept, what)
            if loop is not None and _outlives(scope, where, loop) and not _used_in_loss(scope, where):
                how = "added to" if isinstance(kept, Bind) else "kept in"
                yield Spot(kept.node, f"{what} is {how} {where} together with its graph; {what}.item() is its number")


def _kept(scope: Scope, losses: set[str]) -> Iterator[tuple[Bind | Call, str, str]]:
    """Each place that adds a loss to something: the event, the loss, and what it is added to."""
    for call in scope.calls.get("append", ()):
        where = path_of(whole(call.node.func.value)) if isinstance(call.node.func, ast.Attribute) else ""
        if where and len(call.node.args) == 1 and not call.quiet:
            what = _carrier(call.node.args[0])
            if what in losses:
                yield call, what, where
    for name, binds in scope.binds.items():
        for bind in binds:
            what = _carrier(_added(bind)) if not bind.quiet else ""
            if what in losses and what != name:
                yield bind, what, name


def _added(bind: Bind) -> ast.expr | None:
    """What a binding adds to the name it binds."""
    if bind.how == "augmented" and isinstance(bind.node, ast.AugAssign) and isinstance(bind.node.op, ast.Add):
        return bind.value
    match bind.value:
        case ast.BinOp(left=left, op=ast.Add(), right=right) if bind.how == "=" and path_of(left) == bind.name:
            return right
    return None


def _carrier(node: ast.AST | None) -> str:
    """The name whose graph an expression surely carries on."""
    match node:
        case ast.Name() | ast.Attribute():
            return path_of(node)
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div()):
            return _carrier(left)
        case ast.Call(func=ast.Attribute(attr=method, value=value), args=[]) if method in _TENSOR_METHODS:
            return _carrier(value)
    return ""


def _training_loop(scope: Scope, kept: Bind | Call, what: str) -> Block | None:
    """The loop in each pass of which `what` is computed, runs backward and is kept."""
    loop = kept.block.innermost_loop()
    made = scope.last_bind(what, kept.order)
    if loop is None or made is None or made.how != "=" or not made.block.inside(loop) or made.quiet:
        return None
    if not kept.block.inside(made.block) or _plain(made):
        return None
    later = min((bind.order for bind in scope.binds[what] if bind.order > kept.order), default=len(scope.events))
    for call in backwards(scope):
        if call.receiver == what and call.block.inside(loop) and made.order < call.order < later:
            return loop
    return None


def _plain(bind: Bind) -> bool:
    """Whether a value is a number, or detached already."""
    method = bind.value.func if isinstance(bind.value, ast.Call) else bind.value
    last = method.attr if isinstance(method, ast.Attribute) else path_of(method)
    return last in {"item", "float", "data", "detach", "detach_", "numpy", "tolist"}


def _outlives(scope: Scope, where: str, loop: Block) -> bool:
    """Whether the list or total is made before the loop and lives on after a pass."""
    binds = [bind for bind in scope.binds.get(where, ()) if bind.how == "=" and _added(bind) is None]
    if where.startswith("self."):
        return not any(bind.block.inside(loop) for bind in binds)
    return bool(binds) and all(not bind.block.inside(loop) and bind.block is not loop for bind in binds)


def _used_in_loss(scope: Scope, where: str) -> bool:
    """Whether what was kept runs backward itself, or something that is computed from it does."""
    tainted = {where}
    for event in scope.events:
        if isinstance(event, Bind) and tainted & set(scope.used(event)):
            tainted.add(event.name)
    return any(
        call.receiver in tainted or f"{where}.backward" in scope.loads or where in scope.used(call)
        for call in backwards(scope)
    )
