"""A gradient asked of a tensor that is the result of an operation.

## What it does
Lets the gradient begin at the value that is meant: `(torch.randn(3) * 0.1).requires_grad_()` in place of
`torch.randn(3, requires_grad=True) * 0.1`, or the parameter around the whole expression. Keeps the leaf itself in
place of a clone. Where an optimizer was made for the tensor that had that name before, it is made for the new leaf.

## Why autograd fails
Only leaves keep a gradient. A cast, a scaling or a move to another device makes a new tensor whose `.grad` stays None,
which an optimizer refuses.

## Fix safety
The tensor can be meant as a leaf of its own or as the result that it is. Both are run; an edit is safe where they agree
or where one of them leaves a parameter without gradient.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
from collections.abc import Iterator

from autofix.probe.wire import Origin, Stack
from autofix.search import leaves
from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import calls
from autofix.syntax.edits import append_call, embed, receiver, remove_keyword, replace, set_keyword

WHY_HANDED = "The tensor with the new value is the leaf, and the optimizer moves it in the place of the old one."
WHY_ITSELF = "The leaf stays the tensor that an optimizer moves; its clone is a result."
_PARAMETERS = ("Parameter", "UninitializedParameter")
_DEEPEST = 3


class GradientOnNonLeaf(Rule):
    code, name = "AG302", "gradient-on-non-leaf"
    title = "Let the gradient begin where the value is complete"
    causes = frozenset({Cause.NONLEAF_GRADIENT})
    tier = Tier.MEANT
    usual = "made", "only leaves keep a gradient, and this is a result: ask the leaf for it, or call retain_grad() here"
    examples = Example.each("""\
! the flag stands inside
-w = torch.randn(3, requires_grad=True) * 0.1
+w = (torch.randn(3) * 0.1).requires_grad_()
for _ in range(4):
    loss = (torch.randn(8, 3) @ w - 1).pow(2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
    w.grad = None
    print(loss.item())
! the parameter stands inside
-w = torch.nn.Parameter(torch.randn(3)) * 0.1
+w = torch.nn.Parameter(torch.randn(3) * 0.1)
opt = torch.optim.SGD([w], lr=0.1)
for _ in range(4):
    loss = (torch.randn(8, 3) @ w - 1).pow(2).mean()
    train: loss
    print(loss.item())
! each alone would be refused as before
-rot = torch.zeros(3, requires_grad=True).to(torch.float64)
-move = torch.zeros(3, requires_grad=True).to(torch.float64)
+rot = torch.zeros(3).to(torch.float64).requires_grad_()
+move = torch.zeros(3).to(torch.float64).requires_grad_()
size = torch.ones(3, dtype=torch.float64, requires_grad=True)
opt = torch.optim.SGD([rot, move, size], lr=0.1)
for _ in range(4):
    loss = (rot + move * 2 - size).pow(2).sum()
    train: loss
! unsafe: the code does not say that the weights that are put back are those that were there, and not others
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = {"a": torch.randn(3, requires_grad=True), "b": torch.zeros(3, requires_grad=True)}

    def loss(self, x):
        return (x @ self.w["a"] + self.w["b"].sum() - 1).pow(2).mean()


net = Net()
for epoch in range(3):
    opt = torch.optim.SGD(net.w.values(), lr=0.1)
    for _ in range(2):
        x = torch.randn(5, 3)
-        saved = {name: p.clone() for name, p in net.w.items()}
+        saved = {name: p for name, p in net.w.items()}
        grads = torch.autograd.grad(net.loss(x), net.w.values())
        net.w = {name: p - 0.1 * g for (name, p), g in zip(net.w.items(), grads)}
        weight = net.loss(x).item()
        net.w = saved
        train: (weight * net.loss(x))
! a helper makes it for others, too
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def normed(x):
    return (x - x.mean()) / x.std()


def slope(x):
    x.requires_grad_()
-    x = normed(x)
+    x = normed(x).detach().requires_grad_()
    net(x).sum().backward()
    return x.grad.abs().sum().item()


for _ in range(4):
    x = torch.randn(5, 3)
    train: (net(normed(x)) - 1).square().mean()
    print(slope(x))
! unsafe: the picture that the optimizer was made for grows; its new size may be meant as a result of it
class Dream:
    def __init__(self, start, rate):
        self.img, self.rate = start.clone().requires_grad_(), rate
        self.opt = torch.optim.Adam([self.img], lr=rate)

    def grow(self):
-        self.img = torch.cat([self.img, self.img])
+        self.img = torch.cat([self.img, self.img]).detach().requires_grad_()
+        self.opt = torch.optim.Adam([self.img], lr=self.rate)

    def round(self):
        for _ in range(3):
            self.opt.zero_grad()
            (self.img - 1).square().mean().backward()
            self.img.grad /= self.img.grad.norm()
            self.opt.step()


dream = Dream(torch.zeros(2), 0.1)
for _ in range(3):
    dream.round()
    dream.grow()
! the tensor is made by code that stands in no file
w = torch.ones(2, requires_grad=True)
exec("h = w * 2")
torch.optim.SGD([h], lr=0.1)
! a flag is set, which asks for no gradient
w = torch.ones(2, requires_grad=True)
h = w * 2
h.requires_grad_(False)
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """At the place where each refused tensor was made."""
        if diagnosis.failure.function:  # what sets a flag
            return
        origins = diagnosis.trace.origins
        given = diagnosis.failure.type == "ValueError"  # an optimizer's, which refuses each of them
        declined: list[Declined] = []
        found: dict[tuple[int, str], dict[int, list[Proposal]]] = {}
        for number, origin in enumerate(origins):
            for key, one in self._where_made(origin, diagnosis.failure.stack, sources, declined):
                found.setdefault(key, {}).setdefault(number, []).append(one)
        for alike in found.values():
            if len(origins) == 1 or not (given or all(origin.kind == "nonleaf" for origin in origins)):
                yield from (one for proposals in alike.values() for one in proposals)
            elif len(alike) == len(origins):  # each alone would be refused as before
                for same in zip(*alike.values(), strict=False):
                    steps = dict.fromkeys(step for one in same for step in one.steps)
                    yield dataclasses.replace(same[0], steps=tuple(steps))
        if declined:
            raise declined[0]

    def _where_made(
        self, origin: Origin, failed: Stack, sources: Sources, declined: list[Declined]
    ) -> Iterator[tuple[tuple[int, str], Proposal]]:  # fmt: skip
        """The edits of each call through which a tensor was made, by their depth and title.

        Innermost first: but what a helper makes, for others too, becomes a leaf where the failing function takes it.
        """
        located = list(sources.located(origin.stack[:_DEEPEST]))
        used = [(one.file, one.function) for one in failed[:1]]
        taken = next((n for n, (frame, _, _) in enumerate(located) if (frame.file, frame.function) in used), 0)
        for depth, (_, source, node) in enumerate(located):
            if not calls.makes_tensor(node):
                return
            for attempt in (self._begun, self._inside, self._itself, self._leaf):
                try:
                    far = abs(depth - taken) if attempt == self._leaf else depth
                    for one in attempt(source, node):
                        yield (depth, one.title), dataclasses.replace(one, rank=one.rank + 10 * far)
                except Declined as error:
                    declined.append(error)

    def _begun(self, source: Source, node: ast.expr) -> Iterator[Proposal]:
        """`requires_grad` taken out of the expression and put behind it; a `Parameter(...)` put around it."""
        for call in calls.within(node):
            name = calls.name_of(call)
            begun = remove_keyword(source, call, "requires_grad") if calls.keyword(call, "requires_grad") else []
            if name == "requires_grad_" and isinstance(call.func, ast.Attribute) and call is not node:
                begun = receiver(source, call)
            if begun:
                yield self.propose([*begun, *append_call(source, node, ".requires_grad_()")], leaves.WHY)
            elif name in _PARAMETERS and len(call.args) == 1 and not call.keywords and call is not node:
                made = replace(source, call, source.segment(call.args[0]))
                edits = [*made, *embed(source, node, f"{source.segment(call.func)}({{}})")]
                yield self.propose(edits, leaves.WHY)

    def _inside(self, source: Source, node: ast.expr) -> Iterator[Proposal]:
        """The dtype or device given where the tensor is created, in place of a cast behind it."""
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Call() as made, attr="to"), args=[kind], keywords=[]) if (
                calls.keyword(made, "requires_grad") is not None
            ):
                text = source.segment(kind)
                name = "device" if "dev" in text.lower() or "cuda" in text.lower() or "cpu" in text else "dtype"
                edits = [*set_keyword(source, made, name, text), *receiver(source, node)]
                yield self.propose(edits, leaves.WHY, title=f"Give the {name} where the tensor is made", later=2)

    def _itself(self, source: Source, node: ast.expr) -> Iterator[Proposal]:
        """What is cloned, in place of its clone."""
        if isinstance(node, ast.Call) and calls.name_of(node) == "clone" and isinstance(node.func, ast.Attribute):
            yield self.propose(receiver(source, node), WHY_ITSELF, title="Keep the tensor itself", later=3)

    def _leaf(self, source: Source, node: ast.expr) -> Iterator[Proposal]:
        """A leaf of the result; where an optimizer holds what had its name before, only one that it is given."""
        statement = source.statement(node)
        if isinstance(statement, ast.Assign) and statement.value is node:
            with contextlib.suppress(Declined):
                handed = leaves.handed_to_optimizer(source, statement)
                edits = [*append_call(source, node, leaves.LEAF), *handed]
                yield self.propose(edits, WHY_HANDED, title="Make a leaf of the result, for the optimizer", later=3)
                return
        for copy, of, later in (("", "", 4), (".clone()", "a copy of ", 5)):
            edits = append_call(source, node, f".detach(){copy}.requires_grad_()")
            yield self.propose(edits, leaves.WHY, title=f"Make a leaf of {of}the result", later=later)
