"""A derivative is zero everywhere

## What it finds

The code asks for the derivative of an output by an input that the output does not depend on. So the derivative is zero.

## Why it matters

A residual of zeros trains nothing: the output was meant to depend on that input. This is not said where only some of
several inputs are unused, such as a head that an inner loop leaves out. Nor is it of a column of an input that was used
whole: the derivative by that is a column of the derivative by the whole. But it is said of one that the output is made
of by a derivative without a graph, such as an inner learning rate: zeros would never train it. A derivative of higher
order of what is linear in the input is zero by its nature. It is said only where no other term stands beside that: the
residual of `u'' + u` still trains. It is always said of what has kinks, as by `where`.
"""

from __future__ import annotations

from autofix.verdict.property import Evidence, Example, Finding, Property

SLICED = """\
net, other = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1)), nn.Parameter(torch.ones(1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(4):
    points = torch.rand(16, 2).requires_grad_()
    x = 2 * points[:, :1]
    u = net(points)
    slope = torch.autograd.grad(u.sum(), x, create_graph=True)[0]
    loss = (slope - 1).square().mean() + u.square().mean()
    train: loss
"""
BESIDE_OTHERS = SLICED.replace("u.sum(), x, create_graph=True)[0]", "u.sum(), [points, other], create_graph=True)[0]")
ALLOWED = ("create_graph=True)", "create_graph=True, allow_unused=True, materialize_grads=True)")

INNER = """\
w, rate = torch.nn.Parameter(torch.randn(3)), torch.nn.Parameter(torch.zeros(()))
optimizer = torch.optim.Adam([w, rate], lr=0.01)
for _ in range(4):
    x, y = torch.randn(8, 3), torch.randn(8)
    inner = (x @ w - y).square().mean() + rate.exp() * w.square().sum()
    fast = w - 0.1 * torch.autograd.grad(inner, w)[0]
    outer = (x @ fast - 1).square().mean()
    grads = torch.autograd.grad(outer, [w, rate])
    optimizer.zero_grad()
    for p, g in zip([w, rate], grads):
        p.grad = g.clone()
    optimizer.step()
"""
ALLOWED_INNER = ("[w, rate])\n    opt", "[w, rate], allow_unused=True, materialize_grads=True)\n    opt")
NONE_AMONG = INNER.replace("(outer, [w, rate])", "(outer, [w, rate], allow_unused=True)")
MATERIALIZED = ("allow_unused=True", "allow_unused=True, materialize_grads=True")
LINE = """\
net = nn.Linear(1, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(4):
    t = torch.rand(16, 1).requires_grad_()
    u = net(t)
    rise = torch.autograd.grad(u.sum(), t, create_graph=True)[0]
    bend = torch.autograd.grad(rise.sum(), t, create_graph=True)[0]
    loss = (0.5 * bend - t + u).square().mean() + (u[:1] - 1).square().sum()
    train: loss
"""
BENDS = "rise.sum(), t, create_graph=True)"
ZERO_BEND = (BENDS, BENDS.replace("=True)", "=True, allow_unused=True, materialize_grads=True)"))
KINKS = LINE.replace("u = net(t)", "u = torch.where(t > 0.5, net(t), 2 * net(t))")
ALONE = LINE.replace("- t + u)", "- t)")


class TrainsNothing(Property):
    sentence = "this derivative is always zero: its output does not depend on {subject} that it is taken by"
    raises = (
        Example(SLICED, *ALLOWED),
        Example(INNER, *ALLOWED_INNER),
        Example(NONE_AMONG, *MATERIALIZED),
        Example(SLICED.replace("(slope - 1)", "(slope + u - 1)"), *ALLOWED),
        Example(KINKS, *ZERO_BEND),
        Example(ALONE, *ZERO_BEND),
    )
    silent = (
        Example(BESIDE_OTHERS, *ALLOWED),
        Example(INNER.replace("rate.exp() * w.square", "0.1 * w.square"), *ALLOWED_INNER),
        Example(NONE_AMONG.replace("rate.exp() * w.square", "0.1 * w.square"), *MATERIALIZED),
        Example(LINE, *ZERO_BEND),
        Example(LINE.replace("0.5 * bend - t + u", "u + bend.reshape(-1, 1) - t"), *ZERO_BEND),
        Example(LINE.replace("nn.Linear(1, 1)", "nn.Sequential(nn.Linear(1, 4), nn.Linear(4, 1))"), *ZERO_BEND),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        lost = any(origin.kind == "derivative" for origin in evidence.trace.origins)
        for done in evidence.letter.performed:
            if done.kind == "nothing_used":
                return self.found(done.stack, subject="anything")
            if done.kind == "unused_input" and lost:
                return self.found(done.stack, subject="everything")
        return None
