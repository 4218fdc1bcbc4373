"""Gradients that are used before the backward that makes them

## What it does
Moves the statement, or the call of a helper, that uses the gradients between `zero_grad()` and the backward: behind the
backward, in front of the step.

## Why autograd fails
`zero_grad()` sets gradients to None, and they are None until a backward makes new ones. Whoever scales, clips or
measures them between the two finds None, in every pass.

## Fix safety
As it is written, the statement never sees a gradient. Where it changes gradients, no run can tell that it was meant to
change those that the step uses, so that a move of it is not called safe.
"""

from __future__ import annotations

from collections.abc import Iterator

from autofix.search import early_use
from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Sources, Tier
from autofix.syntax import blocks, names
from autofix.syntax.edits import move_after

WHY = "The gradients are there when they are used: their backward has run, and the step has not."


class GradientUsedBeforeBackward(Rule):
    code, name = "AG317", "gradient-used-before-backward"
    title = "Use the gradients after the backward that makes them"
    causes = frozenset({Cause.GRADIENT_NONE})
    tier = Tier.ORDER
    conventional = True
    examples = Example.each("""\
net = torch.nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
def scale(module, by):
    for p in module.parameters():
        p.grad.data *= by
! unsafe: a helper scales them, and as it is written it scales nothing
for x in torch.randn(4, 5, 3):
    loss = net(x).square().mean()
    opt.zero_grad()
-    scale(net, 0.5)
    loss.backward()
+    scale(net, 0.5)
    opt.step()
! unsafe: they are cleared at the end of a pass, and two losses go backward
for x in torch.randn(4, 5, 3):
-    for p in net.parameters():
-        p.grad.clamp_(-0.1, 0.1)
    net(x).square().mean().backward()
    net(x).exp().mean().backward()
+    for p in net.parameters():
+        p.grad.clamp_(-0.1, 0.1)
    opt.step()
    opt.zero_grad()
! unsafe: a norm by which they are scaled later
for x in torch.randn(4, 5, 3):
    opt.zero_grad()
    loss = net(x).square().mean()
-    norm = net.weight.grad.norm()
    loss.backward()
+    norm = net.weight.grad.norm()
    opt.param_groups[0]["lr"] = 0.1 / (1 + norm.item())
    opt.step()
! what earlier passes left decays: a backward adds to it
for x in torch.randn(4, 5, 3):
    for p in net.parameters():
        p.grad.mul_(0.9)
    net(x).square().mean().backward()
    opt.step()
! the loss is made of it
for x in torch.randn(4, 5, 3):
    opt.zero_grad()
    norm = net.weight.grad.norm()
    loss = net(x).square().mean() * (1 + norm)
    loss.backward()
    opt.step()
! a gradient is only cleared
for x in torch.randn(4, 5, 3):
    opt.zero_grad()
    net.weight.grad.zero_()
    net(x).square().mean().backward()
    opt.step()
! what goes backward itself has another cause
def trained(x):
    net(x).square().mean().backward()
    return other.grad.norm()
other = torch.ones(3, requires_grad=True)
for x in torch.randn(4, 5, 3):
    opt.zero_grad()
    trained(x)
    net(x).exp().mean().backward()
    opt.step()
! the gradient of the pass before was meant
for x in torch.randn(4, 5, 3):
    net(x).square().mean().backward()
    opt.step()
    opt.zero_grad()
    scale(net, 0.5)
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """The statement that stands so, behind its backward."""
        if (found := early_use.found(diagnosis, sources)) is None:
            return
        source, use, backward = found
        following = blocks.after(blocks.block_of(source, use), use)
        passed = [*blocks.before(following, backward), backward]
        made, read = names.binds(use), names.reads(use)
        if names.meets(made, names.read_by(passed)) or names.bound_by(passed) & (made | read):
            raise Declined("a statement in between needs it, or changes what it needs")
        yield self.propose(move_after(source, [use], backward), WHY)
