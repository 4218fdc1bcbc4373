"""The gradient of a result, changed after the backward that was to send it on.

## What it does
Changes the gradient on its way, by a hook on the result: `h.grad.mul_(scale)` behind `loss.backward()` becomes
`h.register_hook(lambda grad: grad.mul(scale))` before it.

## Why autograd fails
A result keeps no gradient unless it is asked to, so `h.grad` is None. Asked to, it would keep one; but what was sent on
to the parameters is there by then, and does not change any more.

## Fix safety
Never safe: the gradients that the optimizer uses become other ones, which the code only means to have. Declines where
the gradient is read elsewhere, where no backward stands before the line in its block, and where the line needs a value
that is made of gradients.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.core.edit import Declined
from autofix.search.rule import Cause, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import blocks, calls, names
from autofix.syntax.edits import delete, insert_before, move_after, replace_statement, unread_gradient

WHY = "A hook changes the gradient before it is sent on; the parameters behind the result get the changed one."
_OPERATORS = {ast.Mult: "*", ast.Add: "+", ast.Sub: "-", ast.Div: "/"}


class GradientChangedTooLate(Rule):
    code, name = "AG448", "gradient-changed-too-late"
    title = "Change the gradient on its way, by a hook"
    causes = frozenset({Cause.NONLEAF_GRADIENT})
    tier = Tier.MEANT
    conventional = True
    examples = Example.each("""\
! unsafe: by a method
table, head = torch.nn.Embedding(9, 3), torch.nn.Linear(3, 1)
opt = torch.optim.SGD([*table.parameters(), *head.parameters()], lr=0.1)
for _ in range(4):
    points = table(torch.randint(9, (6,)))
    loss = (head(points) - 1).square().mean()
    opt.zero_grad()
+    points.register_hook(lambda grad: grad.mul(1 - points.detach().square()))
    loss.backward()
-    points.grad.mul_(1 - points.detach().square())
    opt.step()
! unsafe: by an operator
net, head = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)
opt = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
for _ in range(4):
    h = net(torch.randn(5, 2))
    opt.zero_grad()
+    h.register_hook(lambda grad: grad * 0.1)
    head(h).square().mean().backward()
-    h.grad *= 0.1
    opt.step()
! unsafe: it is clamped
net, head = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)
opt = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
limit = 0.01
for _ in range(4):
    h = net(torch.randn(5, 2))
    opt.zero_grad()
+    h.register_hook(lambda grad: grad.clamp(-limit, limit))
    head(h).square().mean().backward()
-    h.grad.clamp_(-limit, limit)
    opt.step()
! unsafe: what it is multiplied by is drawn between the two
net, head = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)
opt = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
for _ in range(4):
    h = net(torch.randn(5, 2))
    opt.zero_grad()
-    head(h).square().mean().backward()
    keep = (torch.rand_like(h) > 0.3).float()
-    h.grad *= keep
+    h.register_hook(lambda grad: grad * keep)
+    head(h).square().mean().backward()
    opt.step()
! it is read, too
net, head = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)
h = net(torch.randn(5, 2))
head(h).square().mean().backward()
h.grad.mul_(0.1)
print(h.grad.norm())
! what it is multiplied by is made behind the backward
net, head = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)
h = net(torch.randn(5, 2))
head(h).square().mean().backward()
scale = head.weight.grad.norm()
h.grad.mul_(scale)
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """Where the line that fails writes the gradient of a result."""
        for _, source, node in sources.nodes(diagnosis.failure.stack[:1]):
            statement = source.statement(node)
            name, block = unread_gradient(source, statement), blocks.block_of(source, statement)
            before = block[: block.index(statement)] if name else []
            back = next((one for one in reversed(before) if _goes_backward(one)), None)
            if back is None:
                continue
            hook, between = (
                f"{name}.register_hook(lambda grad: {_changed(source, statement)})",
                before[before.index(back) :],
            )
            if not {made for one in between for made in names.binds(one)} & names.reads(statement):
                edits = [*insert_before(source, back, [hook]), *delete(source, statement)]
            elif any(getattr(node, "attr", "") == "grad" for one in between for node in ast.walk(one)):
                raise Declined("it needs a value that is made of gradients")
            else:
                edits = [*replace_statement(source, statement, [hook]), *move_after(source, [back], statement)]
            yield self.propose(edits, WHY)


def _goes_backward(statement: ast.stmt) -> bool:
    return any(calls.name_of(one) == "backward" for one in calls.within(statement))


def _changed(source: Source, statement: ast.stmt) -> str:
    """What a write makes of `grad`; declines where it is of a part, or of more than one step."""
    match statement:
        case ast.AugAssign(ast.Attribute(attr="grad"), op, value) if type(op) in _OPERATORS:
            text, bare = source.segment(value), isinstance(value, (ast.Constant, ast.Name, ast.Attribute, ast.Call))
            return f"grad {_OPERATORS[type(op)]} {text if bare else f'({text})'}"
        case ast.Expr(ast.Call(ast.Attribute(ast.Attribute(attr="grad"), attr), args, [])) if attr.endswith("_"):
            return f"grad.{attr.removesuffix('_')}({', '.join(map(source.segment, args))})"
    raise Declined("only a part of the gradient is written, or in several steps")
