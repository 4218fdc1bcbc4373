"""A gradient is read after it was cleared

## What it finds

The code computes something of gradients that `zero_grad()` has cleared since the backward that made them, pass for
pass, and the edit takes them for zeros, or leaves out what is made of them: `zero_grad(set_to_none=False)`, or
`if p.grad is not None`. This is not said where the gradient is written to (`w.grad += g`), nor of a leaf that the
latest backward has not reached, such as a head that a pass leaves out.

## Why it matters

Nobody measures what is always 0: scores for which connections to grow, a norm to clip by. The gradient from before was
meant. Clear it later.
"""

from __future__ import annotations

from autofix.verdict.law import PASSES
from autofix.verdict.laws.a_gradient_is_read_before_it_is_cleared import is_written
from autofix.verdict.property import Evidence, Example, Finding, Property

READ = """\
net, head = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
for number in range(6):
    out = net(torch.randn(5, 3))
    loss = (head(out) if number % 2 else out).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    with torch.no_grad():
        net.weight[net.weight.grad.abs().sum(1).argmax()] *= 0.9
"""
STEPPED = READ.replace(
    "net.weight[net.weight.grad.abs().sum(1).argmax()] *= 0.9", "net.weight -= 0.1 * net.weight.grad.sign()"
)
KEPT = ("zero_grad()", "zero_grad(set_to_none=False)")
GUARDED = ("    with torch.no_grad():\n", "    with torch.no_grad():\n     if net.weight.grad is not None:\n")
BEFORE = READ.replace("    optimizer.zero_grad()\n", "").replace(
    "    loss.backward()", "    optimizer.zero_grad()\n    loss.backward()"
)
OTHER_HEAD = BEFORE.replace("net.weight", "head.weight").replace("if number % 2", "if number % 2 == 0")
ADDED = READ.replace("    with torch.no_grad():\n", "").replace(
    "    net.weight[net.weight.grad.abs().sum(1).argmax()] *= 0.9", "net.weight.grad += 0.01 * net.weight.detach()"
)


class GradientReadIsCleared(Property):
    change = "uncleared"
    sentence = "the gradient read here was always cleared after the backward that computed it, so it counts as 0"
    raises = (Example(READ, *KEPT), Example(STEPPED, *GUARDED))
    silent = (Example(OTHER_HEAD, *KEPT), Example(ADDED, *KEPT))

    def find(self, evidence: Evidence) -> Finding | None:
        facts = (one for one in evidence.followed.seen("cleared") if int(one.subject) >= PASSES)
        return next((self.found(one.stack) for one in facts if not is_written(evidence, one.stack)), None)
