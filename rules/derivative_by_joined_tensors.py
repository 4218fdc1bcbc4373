"""A derivative by a stack of tensors that the result was computed from one by one.

## What it does
Takes the derivatives by the tensors themselves, and puts those together in the same way:
`torch.stack(torch.autograd.grad(loss, parts))`. Where the loss is computed behind the stack, computes it from that.

## Why autograd fails
`torch.stack`, `torch.cat` and `parameters_to_vector` make a new tensor. A result that was computed from the parts does
not know it.

## Fix safety
The derivative by a stack can only be the stack of the derivatives. The run compares what optimizers then use.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.search import leaves
from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import blocks, calls, vocabulary
from autofix.syntax.edits import Step, ensure_import, replace, replace_statement

WHY = "The result was computed from the parts: they have derivatives, which are put together as the parts are."
WHY_JOINED = "The loss is computed from the very tensor that the derivative is taken by."


class DerivativeByJoinedTensors(Rule):
    code, name = "AG437", "derivative-by-joined-tensors"
    title = "Put the derivatives by the parts together"
    causes = frozenset({Cause.UNUSED_INPUT})
    tier = Tier.MEANT
    examples = Example.each("""\
from torch.nn.utils import parameters_to_vector
! all parameters as one vector
net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    loss = net(torch.randn(6, 3)).pow(2).mean()
    flat = parameters_to_vector(net.parameters())
-    (slope,) = torch.autograd.grad(loss, flat, create_graph=True)
+    slope = torch.cat([one.reshape(-1) for one in torch.autograd.grad(loss, net.parameters(), create_graph=True)])
    train: (loss + 0.1 * slope.norm())
! the same, laid out by hand
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    loss = net(torch.randn(6, 3)).tanh().pow(2).mean()
    flat = torch.cat([p.view(-1) for p in net.parameters()])
-    slope = torch.autograd.grad(loss, [flat], create_graph=True)[0]
+    slope = torch.cat([p.reshape(-1) for p in torch.autograd.grad(loss, net.parameters(), create_graph=True)])
    train: (loss + 0.1 * slope.norm())
! what a forward joins itself
net = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    x, t = torch.rand(6, 1).requires_grad_(), torch.rand(6, 1).requires_grad_()
    u = net(torch.cat([x, t], 1))
    both = torch.cat([x, t], 1)
-    slope = torch.autograd.grad(u.sum(), both, create_graph=True)[0]
+    slope = torch.cat(torch.autograd.grad(u.sum(), [x, t], create_graph=True), 1)
    train: (slope[:, 1:] + u * slope[:, :1]).pow(2).mean()
! a function is handed the vector that another one makes
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def flat(module):
    return torch.cat([p.view(-1) for p in module.parameters()])


def slope_of(loss, by):
-    (slope,) = torch.autograd.grad(loss, by, create_graph=True)
-    return slope, torch.autograd.grad(slope.exp().sum(), by, create_graph=True)[0]
+    slope = torch.cat([one.reshape(-1) for one in torch.autograd.grad(loss, by, create_graph=True)])
+    return slope, torch.cat([one.reshape(-1) for one in torch.autograd.grad(slope.exp().sum(), by, create_graph=True)])


for _ in range(4):
    loss = net(torch.randn(6, 3)).tanh().pow(2).mean()
    theta = flat(net)
-    slope, bend = slope_of(loss, theta)
+    slope, bend = slope_of(loss, list(net.parameters()))
    train: (loss + 0.1 * slope.norm() + 0.1 * (bend * theta).sum())
! the variable of the stack has another value before
x, t = torch.rand(6, 1).requires_grad_(), torch.rand(6, 1).requires_grad_()
both = None
for _ in range(2):
    u = (x * t).exp()
    print(torch.autograd.grad(u.sum(), x if both is None else both, retain_graph=True)[0].sum().item())
    both = torch.cat([x, t], 1)
! what is stacked is computed from the parts
w = [torch.ones(3, requires_grad=True) for _ in range(2)]
double = torch.stack([2 * one for one in w])
print(torch.autograd.grad(w[0].exp().sum(), double)[0].sum().item())
! it is no stack of tensors that are known here
w = torch.ones(3, requires_grad=True)
twice = w.repeat(2)
print(torch.autograd.grad(w.exp().sum(), twice)[0].sum().item())
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """At the failing call: by the parts; and the loss of the whole, where that was there first."""
        located = sources.located(diagnosis.asked[:2])
        for place, (frame, source, call) in enumerate(located):
            given = calls.argument(call, vocabulary.GRAD, "inputs")
            if place or given is None or not isinstance(call, ast.Call):
                return
            whole, bound = leaves.joined(source, given)
            if bound is not None and whole is not None:
                yield from self._of_the_whole(source, call, whole, bound)
            if whole is not None:
                parts, form = leaves.parts_of(source, whole)
                yield self.propose(_joined(source, call, _with(source, call, given, parts), form), WHY)
            elif parts := leaves.vector_of(source, given, sources):
                yield self.propose(_joined(source, call, _with(source, call, given, parts), None), WHY)
            elif (helper := sources.function(frame)) is not None:
                outer = next(((one, node) for _, one, node in located), None)
                yield from self._of_helper(source, helper, calls.only(given), outer, sources)

    def _of_helper(
        self,
        source: Source,
        helper: calls.Function,
        given: ast.expr | None,
        outer: tuple[Source, ast.AST] | None,
        sources: Sources,
    ) -> Iterator[Proposal]:
        """The same where a function is handed the vector: it is handed the parameters, and joins what it takes."""
        if not isinstance(given, ast.Name) or outer is None or not isinstance(outer[1], ast.Call):
            return
        taken = calls.argument(outer[1], calls.parameters(helper), given.id)
        if taken is not None and (parts := leaves.vector_of(outer[0], taken, sources)):
            edits = replace(outer[0], taken, f"list({parts})")
            for one in calls.within(helper):
                if calls.path_of(calls.differentiated_by(one)) == given.id:
                    edits += _joined(source, one, source.segment(one), None)
            yield self.propose(edits, WHY)

    def _of_the_whole(
        self, source: Source, call: ast.Call, whole: ast.Call, bound: ast.Assign
    ) -> Iterator[Proposal]:  # fmt: skip
        """The statements between that read the parts, with what they are stacked to."""
        match whole:
            case ast.Call(args=[ast.Name(id=parts)], keywords=[]) if calls.name_of(whole) == "stack":
                block, asked = blocks.block_of(source, bound), blocks.holders(source, call)
                between = blocks.after(block, bound)
                last = next((one for one in asked if one in between), None)
                read = [
                    node
                    for one in (blocks.before(between, last) if last is not None else ())
                    for node in ast.walk(one)
                    if isinstance(node, ast.Name) and node.id == parts
                ]
                if read and all(_is_of_each(source, node) for node in read):
                    name = calls.path_of(bound.targets[0])
                    edits = [step for node in read for step in replace(source, node, name)]
                    title = f"Compute the loss from `{name}`"
                    yield self.propose(edits, WHY_JOINED, title=title, later=1)


def _joined(source: Source, call: ast.Call, text: str, form: str | None) -> list[Step]:
    """A call that gives several derivatives, joined, in the place of the one of them that is taken."""
    edits: list[Step] = []
    if form is None:
        torch, edits = ensure_import(source, "torch")
        form = f"{torch}.cat([one.reshape(-1) for one in {{}}])"
    match source.parent(call):
        case ast.Subscript(slice=ast.Constant(value=0)) as taken:
            return edits + replace(source, taken, form.format(text))
        case ast.Assign(targets=[ast.Tuple(elts=[ast.Name(id=name)])]) as statement:
            return edits + replace_statement(source, statement, [f"{name} = {form.format(text)}"])
    raise Declined("what the derivative is bound to is no single name")


def _with(source: Source, call: ast.Call, given: ast.expr, parts: str) -> str:
    """A call with something else to differentiate by."""
    (start, end), (first, last) = source.extent(call), source.extent(given)
    return source.text[start:first] + parts + source.text[last:end]


def _is_of_each(source: Source, node: ast.Name) -> bool:
    """Whether a list is read item by item, as a tensor can be, too."""
    match source.parent(node):
        case ast.Subscript(value=one, slice=index):
            return one is node and not isinstance(index, ast.Slice)
        case ast.For(iter=one) | ast.comprehension(iter=one):
            return one is node
        case ast.Call() as call:
            return calls.name_of(call) in ("enumerate", "len", "zip")
    return False
