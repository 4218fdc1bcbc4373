"""Gradients that a script takes by itself, of parameters that a loss does not contain.

## What it does
Allows that a parameter is not used, and passes it over where the derivatives are gone through: its gradient stays
`None`. A norm is taken of those that there are.

## Why autograd fails
`torch.autograd.grad` refuses an input that the result does not depend on, such as a coefficient of a later phase, or
the head of another task.

## Fix safety
`backward` leaves `None` for such a parameter, too, and no step moves it. The run compares what optimizers then use.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import blocks, calls, names, vocabulary
from autofix.syntax.edits import Step, embed, filtered, set_keyword, wrap

WHY = "A parameter that the result does not contain has no gradient, and the step passes it over, as behind `backward`."
_PAIRS = {"zip", "enumerate"}


class UnusedPassedOver(Rule):
    code, name = "AG446", "unused-passed-over"
    title = "Pass over parameters that the loss does not contain"
    causes = frozenset({Cause.UNUSED_INPUT})
    tier = Tier.MEANT
    examples = Example.each("""\
! the weight of a later phase, with weight decay
net, weight = torch.nn.Linear(3, 1), torch.nn.Parameter(torch.ones(1))
owned = [*net.parameters(), weight]
opt = torch.optim.AdamW(owned, lr=0.1)
for step in range(6):
    x = torch.randn(6, 3)
    loss = (net(x) - 1).square().mean()
    if step > 2:
        loss = loss + (weight * net(x) - x[:, :1]).square().mean()
-    gradients = torch.autograd.grad(loss, owned)
+    gradients = torch.autograd.grad(loss, owned, allow_unused=True)
-    norm = torch.stack([g.norm() for g in gradients]).norm()
+    norm = torch.stack([g.norm() for g in gradients if g is not None]).norm()
    for one, g in zip(owned, gradients):
-        one.grad = g / (norm + 1)
+        one.grad = g / (norm + 1) if g is not None else None
    opt.step()
! copies are kept in their places
heads = torch.nn.ModuleList([torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)])
owned = [*heads.parameters()]
opt = torch.optim.SGD(owned, lr=0.1, momentum=0.9)
for step in range(6):
    loss = (heads[step % 2](torch.randn(4, 3)) - 1).square().mean()
-    gradients = [g.clone() for g in torch.autograd.grad(loss, owned)]
+    gradients = [g.clone() if g is not None else None for g in torch.autograd.grad(loss, owned, allow_unused=True)]
    for p, g in zip(owned, gradients):
        p.grad = g
    opt.step()
! what is done with each is left out
heads = torch.nn.ModuleList([torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)])
opt = torch.optim.Adam(heads.parameters(), lr=0.1, weight_decay=0.1)
for step in range(6):
    opt.zero_grad()
    loss = (heads[step % 2](torch.randn(4, 3)) - 1).square().mean()
-    for p, g in zip(heads.parameters(), torch.autograd.grad(loss, list(heads.parameters()))):
+    for p, g in zip(heads.parameters(), torch.autograd.grad(loss, list(heads.parameters()), allow_unused=True)):
-        g = g.clamp(-1, 1)
-        p.grad = g
+        if g is not None:
+            g = g.clamp(-1, 1)
+            p.grad = g
    opt.step()
! they are joined elsewhere
a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
gradients = torch.autograd.grad(a.pow(2).sum(), [a, b])
print(torch.cat(gradients).sum().item())
! what is behind the first of a pass is done in any case
a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
count = 0
for p, g in zip((a, b), torch.autograd.grad(a.pow(2).sum(), [a, b])):
    p.data -= 0.1 * g
    count += 1
    print(g.sum().item(), count)
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """At the call, and wherever what it gives is gone through."""
        for _, source, node in sources.located(diagnosis.asked[:1]):
            if not isinstance(node, ast.Call) or calls.differentiated_by(node) is None:
                raise Declined("the inputs are not an argument of this call")
            allow: list[Step] = []
            match calls.argument(node, vocabulary.GRAD, "allow_unused"):
                case None:
                    place = vocabulary.GRAD.index("allow_unused")
                    allow = set_keyword(source, node, "allow_unused", "True", position=place)
            if passed := list(_passed(source, node)):
                yield self.propose([*allow, *passed], WHY, later=2)


def _passed(source: Source, given: ast.expr) -> Iterator[Step]:
    """What lets whoever goes through some derivatives pass over those that are None."""
    held, around, place = given, source.parent(given), -1
    if isinstance(around, ast.Call) and calls.name_of(around) in _PAIRS:
        held, place = around, around.args.index(given)
        around = source.parent(around)
    if isinstance(around, ast.For) and around.iter is held:
        yield from _in_loop(source, around, _of_each(around.target, held, place))
    elif isinstance(around, ast.comprehension) and around.iter is held:
        each = source.parent(around)
        assert isinstance(each, calls.Comprehension)  # noqa: S101  what holds one
        yield from _in_comprehension(source, each, _of_each(around.target, held, place))
    elif isinstance(around, ast.Assign) and len(around.targets) == 1 and isinstance(around.targets[0], ast.Name):
        yield from _named(source, around, around.targets[0].id)
    else:
        raise Declined("the derivatives are not gone through one by one")


def _named(source: Source, made: ast.stmt, name: str) -> Iterator[Step]:
    """The same for each that reads a name behind the statement that binds it."""
    for statement in blocks.after(blocks.block_of(source, made), made):
        for one in ast.walk(statement):
            if isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Load):
                yield from _passed(source, one)
        if name in names.binds(statement):
            return


def _of_each(target: ast.expr, held: ast.expr, place: int) -> str:
    """The name of one derivative in the target of a loop."""
    if isinstance(held, ast.Call) and place >= 0:
        place += calls.name_of(held) == "enumerate"
        target = target.elts[place] if isinstance(target, ast.Tuple) and place < len(target.elts) else held
    if not isinstance(target, ast.Name):
        raise Declined("one derivative has no name where they are gone through")
    return target.id


def _in_comprehension(source: Source, each: calls.Comprehension, name: str) -> Iterator[Step]:
    """Those that there are; where a name keeps them beside the parameters, None in its place."""
    statement = source.parent(each)
    if not isinstance(each, ast.ListComp) or not isinstance(statement, ast.Assign):
        yield from filtered(source, each, f"{name} is not None")
    elif len(statement.targets) == 1 and isinstance(target := statement.targets[0], ast.Name):
        yield from embed(source, each.elt, f"{{}} if {name} is not None else None")
        yield from _named(source, statement, target.id)
    else:
        raise Declined("the derivatives are kept where nobody follows them")


def _in_loop(source: Source, loop: ast.For, name: str) -> Iterator[Step]:
    """A gradient that is set is None; what else is done with a derivative is left out."""
    match loop.body:
        case [ast.Assign(targets=[ast.Attribute(attr="grad")], value=value)]:
            if not isinstance(value, ast.Name):
                yield from embed(source, value, f"{{}} if {name} is not None else None")
            return
    using = [one for one in loop.body if any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(one))]
    together = loop.body[loop.body.index(using[0]) : loop.body.index(using[-1]) + 1] if using else []
    if using != together:
        raise Declined("statements in between are also done without a derivative")
    if using:
        yield from wrap(source, using, f"if {name} is not None:")
