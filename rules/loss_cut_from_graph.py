"""A loss that was taken out of the graph on its way to backward.

## What it does
Takes out the call that cut the graph (`.item()`, `.detach()`, `.data`, `float(...)`, `Parameter(...)`), cuts another
tensor of the same values where one was cut in place (`loss = loss.detach()` for `loss.detach_()` in a meter), and puts
tensors together with `torch.stack(losses)` in place of `torch.tensor(losses)`; of a list of lists each row likewise,
with its numbers as tensors. A `state_dict()` that is computed with gives the parameters themselves: `keep_vars=True`.

## Why autograd fails
Numbers, detached tensors and tensors made of numbers do not know what they were computed from. A loss made of them has
no graph, and backward has nowhere to go.

## Fix safety
Safe where one place alone cuts the graph and every parameter that an optimizer owns gets a gradient without the cut.
Declines comparisons, `argmax` and numpy, which have no gradient that could be kept.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from autofix.probe.wire import Frame, Origin, Stack
from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Sources, Tier
from autofix.syntax import calls
from autofix.syntax.edits import Step, delete, out_of_place, receiver, rename, replace, set_keyword
from autofix.syntax.translate.rebuilt import MAKE, of_tensors

WHY = "The loss keeps the graph of what it was computed from."
WHY_SAVED = "A derivative that is differentiated again needs the graph of what its backward computes with."
_INTEGERS = ("long", "int", "short")
_CALLS = (*_INTEGERS, "item", "detach", "tolist", "detach_", "cpu")
_WITHOUT = {
    "discrete": "a comparison or an index has no gradient; the loss needs a function that has one",
    "numpy": "numpy keeps no graph; the same computation is needed in torch",
    "undifferentiable": "the operation has no gradient",
}
_USUAL = {
    "discrete": "an index, a count or a comparison has no gradient: in the place of an argmax, take the mean of the "
    "values under the softmax, or train the scores by cross_entropy; of a comparison, a sigmoid of the distance",
    "numpy": "what numpy computes has no graph: compute the same with torch",
    "undifferentiable": "this operation has no gradient: use one that has, or give its part of the graph by hand",
    "item": "a number has no graph: keep the tensor here, and take its number where it is printed",
    "rebuilt": "a tensor made of values has no graph: use torch.stack, torch.cat or arithmetic on the tensors",
    "detach": "the graph is cut here: keep the tensor itself for the loss, and detach only what is stored or printed",
    "data": "the graph is cut here: use the tensor itself, not its .data, in what the loss is made of",
    "no_grad": "gradients are off here: compute what the loss needs outside of no_grad, or once more with gradients",
}


class LossCutFromGraph(Rule):
    code, name = "AG401", "loss-cut-from-graph"
    title = "Keep the tensor instead of a value without a graph"
    causes = frozenset({Cause.NO_GRAPH, Cause.UNUSED_INPUT, Cause.GRADIENT_NONE})
    tier = Tier.MEANT
    examples = Example.each("""\
import numpy
! unsafe: the code as written has no gradient there
prompt, head = torch.nn.Parameter(torch.randn(2)), torch.nn.Linear(2, 1)
opt = torch.optim.SGD([prompt, *head.parameters()], lr=0.1)
for _ in range(4):
-    prompts = torch.stack([torch.nn.Parameter(prompt.clone()) for _ in range(3)])
+    prompts = torch.stack([prompt.clone() for _ in range(3)])
    opt.zero_grad()
    head(prompts + torch.randn(3, 2)).pow(2).mean().backward()
    print(prompt.grad.norm())
    opt.step()
! unsafe: a gradient that is read may be zero: that of an image that was copied by its values
net = torch.nn.Linear(3, 2)


def scores(x):
-    return net(torch.tensor(x))
+    return net(x)


for _ in range(3):
    x = torch.randn(1, 3, requires_grad=True)
    loss = torch.nn.functional.cross_entropy(scores(x), torch.tensor([1]))
    loss.backward()
    attacked = x.detach() + 0.1 * x.grad.sign()
    print(loss.item(), net(attacked).sum().item())
! a tensor made of numbers
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    losses = []
    for x in torch.randn(3, 5, 2):
-        losses.append(net(x).pow(2).mean().item())
-    loss = torch.tensor(losses).mean()
+        losses.append(net(x).pow(2).mean())
+    loss = torch.stack(losses).mean()
    train: loss
! the values of one, as a list
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
-    out = torch.tensor(net(torch.randn(5, 2)).tolist())
+    out = net(torch.randn(5, 2))
    train: out.pow(2).mean()
! a matrix made of tensors
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
points = torch.randn(5, 3)
for _ in range(4):
    c, s = torch.cos(net(points).mean()), torch.sin(net(points).mean())
-    turn = torch.tensor([[c, -s], [s, c]]).view(1, 2, 2)
+    turn = torch.stack([torch.stack([c, -s]), torch.stack([s, c])]).view(1, 2, 2)
    train: (points[:, :2] @ turn - points[:, 1:]).pow(2).mean()
! a step of a copy of the weights is taken from what a checkpoint would hold
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
-    fast = dict(net.state_dict())
+    fast = dict(net.state_dict(keep_vars=True))
    x = torch.randn(5, 2)
    loss = torch.func.functional_call(net, fast, (x,)).pow(2).mean()
    grads = torch.autograd.grad(loss, list(fast.values()), create_graph=True)
    fast = {name: w - 0.1 * g for (name, w), g in zip(fast.items(), grads)}
    train: torch.func.functional_call(net, fast, (x,)).pow(2).mean()
! unsafe: nothing in the code says which part of the loss is meant to have a gradient
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
-        ctx.save_for_backward(x.detach())
+        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return 2 * gradient * x


w = torch.ones(3, requires_grad=True)
(slope,) = torch.autograd.grad(Square.apply(w).sum(), w, create_graph=True)
slope.pow(2).sum().backward()
print(w.grad.sum().item())
! a meter cuts in place what it is given
class Meter:
    def __init__(self):
        self.total = 0

    def update(self, value):
-        value.detach_()
+        value = value.detach()
        self.total += value


net, meter = torch.nn.Linear(2, 2), Meter()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    out = net(torch.randn(5, 2))
    near, far = out.pow(2).mean(), out.exp().mean()
    meter.update(near)
    meter.update(far)
    loss = near + far
    train: loss
! what is kept to be shown is cut in place
net, shown = torch.nn.Linear(2, 2), []
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    loss = net(torch.randn(5, 2)).pow(2).mean()
-    shown.append(loss.detach_())
+    shown.append(loss.detach())
    train: loss
! the matrix is of numbers alone
x = torch.ones(2)
(torch.tensor([[0.0, 1.0], [1.0, 0.0]]) @ x).sum().backward()
! what was cut in place has no part in the loss
net = torch.nn.Linear(2, 2)
out = net(torch.randn(5, 2))
out.detach_()
torch.randn(5, 2).pow(2).mean().backward()
! numpy keeps no graph
w = torch.ones(3, requires_grad=True)
torch.from_numpy(numpy.sqrt(w.detach().numpy())).mean().backward()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """Without each cut alone, without all of them, and with what was made of the numbers."""
        origins = _cuts(diagnosis)
        if any(origin.kind == "derivative" for origin in origins):
            raise Declined("the graph was lost by a derivative, not by a value taken out of it")
        for origin in origins:
            if origin.kind in _WITHOUT and not list(self._cut(origin, sources)):
                raise Declined(_WITHOUT[origin.kind])
        if not origins and any(backward.create for backward in diagnosis.trace.earlier):
            yield from self._saved(diagnosis, sources)
        cuts = [cut for origin in origins for cut in self._cut(origin, sources)]
        together = [one for cut in cuts for one in cut]
        remade = list(self._remade(diagnosis, sources))
        for made in remade:
            yield self.propose([*together, *made], WHY)
        if cuts:
            yield self.propose(together, WHY, later=1)
        if whole := [step for origin in origins for step in _uncut(origin, sources)]:
            yield self.propose(whole, WHY, title="Leave the tensor its graph", later=4)
        if len(cuts) > 1:
            for cut in cuts:
                yield self.propose(cut, WHY, later=4)

    def hints(self, diagnosis: Diagnosis) -> Iterator[tuple[Frame, str]]:
        """At each place where the graph is lost."""
        yield from ((one.stack[0], _USUAL[one.kind]) for one in _cuts(diagnosis) if one.kind in _USUAL)

    def _cut(self, origin: Origin, sources: Sources) -> Iterator[list[Step]]:
        """The expression at which the graph ended, without what ended it."""
        for _, source, node in sources.located(origin.stack[:1]):
            whole = source.parent(node)
            match node:
                case ast.Call(args=[value, *_]) if origin.kind == "wrapped" and calls.name_of(node) == "Parameter":
                    yield replace(source, node, source.segment(value))
                case ast.Attribute(value=value, attr="data") if isinstance(whole, ast.Call) and _wraps(whole):
                    yield replace(source, whole, source.segment(value))
                case ast.Call(func=ast.Attribute(value=value, attr="item" | "tolist")) if _is_made_of(whole, node):
                    yield replace(source, whole, source.segment(value))
                case ast.Attribute(attr="data"):
                    yield receiver(source, node)
                case ast.Call(func=ast.Attribute(attr="detach_") as function, args=[]):
                    yield (
                        out_of_place(source, node)
                        if isinstance(whole, ast.Expr)
                        else rename(source, function, "detach")
                    )
                case ast.Call(func=ast.Attribute(attr=name), args=[]) if name in (
                    _INTEGERS if origin.kind in _WITHOUT else _CALLS
                ):
                    yield receiver(source, node)
                case ast.Call(func=ast.Attribute(attr="state_dict")) if not calls.keyword(node, "keep_vars"):
                    yield set_keyword(source, node, "keep_vars", "True")
                case ast.Call(func=ast.Name(id="float"), args=[value], keywords=[]):
                    yield replace(source, node, source.segment(value))

    def _saved(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """What a function of the user's saves for its backward, with its graph: a derivative of it needs that."""
        for source in sources.files(diagnosis.failure.stack):
            kept = (one for node in calls.functions(source) for one in ast.walk(node) if _keeps(one))
            for part in (part for one in kept for part in ast.walk(one)):
                match part:
                    case ast.Call(func=ast.Attribute(attr="detach"), args=[]) | ast.Attribute(attr="data"):
                        yield self.propose(receiver(source, part), WHY_SAVED)

    def _remade(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[list[Step]]:
        """`torch.stack(...)`, or the tensor itself, in place of each tensor made of numbers."""
        if diagnosis.cause is not Cause.NO_GRAPH:
            rebuilt = (one.stack[:1] for one in _cuts(diagnosis) if one.kind == "rebuilt")
            for _, source, node in (place for stack in rebuilt for place in sources.located(stack)):
                yield from of_tensors(source, node)
            return
        if diagnosis.lost("constant"):
            return
        stacks: list[Stack] = [diagnosis.failure.stack, *(origin.stack for origin in _cuts(diagnosis))]
        for source in sources.files(frame for stack in stacks for frame in stack):
            yield from (edits for node in source.walk() for edits in of_tensors(source, node))


def _uncut(origin: Origin, sources: Sources) -> Iterator[Step]:
    """A statement that cuts a tensor in place, gone: where the same function computes the loss from it."""
    for _, source, node in sources.located(origin.stack[:1]):
        statement = source.statement(node)
        if calls.name_of(node) == "detach_" and isinstance(statement, ast.Expr) and statement.value is node:
            yield from delete(source, statement)


def _cuts(diagnosis: Diagnosis) -> list[Origin]:
    """Where a graph was lost; not where a number was made that never had one."""
    return [origin for origin in diagnosis.trace.origins if origin.stack and origin.kind != "constant"]


def _wraps(call: ast.Call) -> bool:
    """Whether a call is the `Variable(...)` of old, which makes a leaf of what it is given."""
    return calls.name_of(call) == "Variable"


def _is_made_of(call: ast.AST | None, value: ast.expr) -> TypeGuard[ast.Call]:
    """Whether a call makes a tensor of a value, as it is."""
    return isinstance(call, ast.Call) and call.args == [value] and calls.name_of(call) in MAKE


def _keeps(node: ast.AST) -> bool:
    """Whether a statement or call keeps something on the context of a function for its backward."""
    match node:
        case ast.Assign(targets=targets):
            return any(calls.path_of(one).startswith(("ctx.", "self.")) for one in targets)
        case ast.Call(func=ast.Attribute(attr="save_for_backward")):
            return True
    return False
