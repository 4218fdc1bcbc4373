"""A derivative is zero everywhere

## What it finds

The code asks for the derivative of an output by an input that the output does not depend on. So the derivative is zero.

## Why it matters

A residual of zeros trains nothing: the output was meant to depend on that input. This is not said where only some of
several inputs are unused, such as a head that an inner loop leaves out. Nor is it where some passes use the input, and
the output of all others is made of what is trained and of indices alone, as the energy of a single atom is: no data
come to it that could have been meant. Nor is it of a column of an input that was used whole: the derivative by that is
a column of the derivative by the whole. But it is said of one that the output is made of by a derivative without a
graph, such as an inner learning rate: zeros would never train it. A derivative of higher order of what is linear in the
input is zero by its nature. It is said only where no other term stands beside that: the residual of `u'' + u` still
trains. It is always said of what has kinks, as by `where`.
"""

from __future__ import annotations

from autofix.probe import wire
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
FREE = """\
class Energy(nn.Module):
    def __init__(self):
        super().__init__()
        self.alone, self.kinds = nn.Embedding(3, 1), nn.Embedding(3, 4)
        self.pairs = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 1))

    def forward(self, kind, at):
        energy = self.alone(kind).sum()
        if len(kind) == 1:
            return ALONE
        far = (at[1:] - at[:1]).norm(dim=1, keepdim=True)
        return energy + self.pairs(torch.cat([self.kinds(kind[1:]), far], 1)).sum()

model = Energy()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for kinds in ([0, 1], [1, 2, 0], [2], [1, 1], [0], [2, 0]):
    places = torch.randn(len(kinds), 3)
    at, kind = STARTS, torch.tensor(kinds)
    energy = model(kind, at)
    force = -torch.autograd.grad(energy, at, create_graph=True)[0]
    loss = energy.square() + (force - 0.1).square().sum()
    train: loss
"""
PLACES = FREE.replace("STARTS", "places.requires_grad_()")
SLOPED = "    force = -torch.autograd.grad(energy, at, create_graph=True)[0]\n"
ZERO_OR_SLOPED = """\
    slope = torch.autograd.grad(energy, at, create_graph=True, allow_unused=True)[0]
    force = torch.zeros_like(at) if slope is None else -slope
"""
FREE_ATOM = PLACES.replace("ALONE", "energy")
DATA_BESIDE = (
    "energy * at.detach().square().sum()",
    "energy * float(at.norm())",
    "energy + self.pairs(torch.cat([self.kinds(kind), at.data[:, :1]], 1)).sum()",
)
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
        *(Example(PLACES.replace("ALONE", one), *ALLOWED) for one in DATA_BESIDE),
        Example(FREE_ATOM.replace("len(kind) == 1", "True"), *ALLOWED),
        Example(FREE_ATOM.replace("torch.randn(len(kinds), 3)", "torch.eye(3)[:len(kinds)]"), *ALLOWED),
        Example(
            FREE.replace("STARTS", "model.alone(torch.tensor(kinds)).detach().requires_grad_()").replace(
                "ALONE", "energy"
            ),
            *ALLOWED,
        ),
    )
    silent = (
        Example(BESIDE_OTHERS, *ALLOWED),
        Example(INNER.replace("rate.exp() * w.square", "0.1 * w.square"), *ALLOWED_INNER),
        Example(NONE_AMONG.replace("rate.exp() * w.square", "0.1 * w.square"), *MATERIALIZED),
        Example(LINE, *ZERO_BEND),
        Example(FREE_ATOM, *ALLOWED),
        Example(FREE_ATOM, "            return energy\n", "            return energy + 0 * at.sum()\n"),
        Example(FREE_ATOM, SLOPED, ZERO_OR_SLOPED),
        Example(PLACES.replace("ALONE", "self.alone.weight[kind].mean()"), *ALLOWED),
        Example(FREE_ATOM.replace("len(kind) == 1", "at.norm() > 1.5"), *ALLOWED),
        Example(PLACES.replace("ALONE", "energy if at.norm() > 9 else self.kinds(kind).tanh().sum()"), *ALLOWED),
        Example(LINE.replace("0.5 * bend - t + u", "u + bend.reshape(-1, 1) - t"), *ZERO_BEND),
        Example(LINE.replace("nn.Linear(1, 1)", "nn.Sequential(nn.Linear(1, 4), nn.Linear(4, 1))"), *ZERO_BEND),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        lost = any(origin.kind == "derivative" for origin in evidence.trace.origins)
        for done in evidence.letter.performed:
            if done.kind == "nothing_used" and done.stack not in _left_out(evidence):
                return self.found(done.stack, subject="anything")
            if done.kind == "unused_input" and lost:
                return self.found(done.stack, subject="everything")
        return None


def _left_out(evidence: Evidence) -> set[wire.Stack]:
    """Where some passes use the inputs, and the outputs of all others depend on no data."""
    return {fact.stack for fact in evidence.sourced.seen("input-left-out")}
