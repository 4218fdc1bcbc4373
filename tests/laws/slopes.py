"""A forward is differentiated alike: the terms of an equation, and what only looks like them."""

from __future__ import annotations

from dataclasses import replace

from lawful import Program

FIRST, SECOND = "du, = torch.autograd.grad(u.sum(), x", "ddu, = torch.autograd.grad(du.sum(), x"
TIME = "dt, = torch.autograd.grad(u.sum(), t"
CREATE, KEEP = ", create_graph=True", ", retain_graph=True"
LOSS = "loss = (dt + u * du - ddu).square().mean() + u.square().mean()"
EQUATION = Program(
    "an equation of which the derivatives have no graph",
    f"""\
net = nn.Sequential(Net(2, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, t = torch.rand(8, 1, requires_grad=True), torch.rand(8, 1, requires_grad=True)
for _ in range(5):
    u = net(torch.cat([x, t], 1))
    {TIME}{KEEP})
    {FIRST}{KEEP})
    {SECOND}{KEEP})
    {LOSS}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    {
        "all": ((TIME + KEEP, TIME + CREATE), (FIRST + KEEP, FIRST + CREATE), (SECOND + KEEP, SECOND + CREATE)),
        "only what is differentiated": ((FIRST + KEEP, FIRST + CREATE),),
        "not by time": ((FIRST + KEEP, FIRST + CREATE), (SECOND + KEEP, SECOND + CREATE)),
        "not the second": ((TIME + KEEP, TIME + CREATE), (FIRST + KEEP, FIRST + CREATE)),
        "one cut": (
            (TIME + KEEP, TIME + CREATE), (FIRST + KEEP, FIRST + CREATE), (SECOND + KEEP, SECOND + CREATE),
            ("dt + u * du", "dt.detach() + u * du"),
        ),
    },
    frozenset({"all"}),
)  # fmt: skip
HESSIAN, JACOBIAN = "hessian(energy, x", "jacobian(energy, x"
MOTION = Program(
    "functional derivatives at one point, of which none has a graph",
    """\
from torch.autograd.functional import hessian, jacobian

net = nn.Sequential(Net(2, 8), nn.Tanh(), nn.Linear(8, 1, bias=False))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(5):
    x, y = torch.rand(2), torch.rand(2)

    def energy(at):
        return net(at[None]).sum()

    mass, force = hessian(energy, x), jacobian(energy, x)
    loss = (mass @ torch.ones(2) + force - 1).square().sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    {
        "both": ((HESSIAN, HESSIAN + CREATE), (JACOBIAN, JACOBIAN + CREATE)),
        "the hessian": ((HESSIAN, HESSIAN + CREATE),),
        "the jacobian": ((JACOBIAN, JACOBIAN + CREATE),),
        "a leaf of the loss": (("loss.backward()", "loss.requires_grad_().backward()"),),
    },
    frozenset({"both"}),
)
PROGRAMS = (
    EQUATION,
    EQUATION.mutated(
        "another term holds the solution against data", ("u.square().mean()", "F.mse_loss(u, x)"), right=("all",)
    ),
    replace(
        EQUATION.mutated(
            "the derivative by time only weighs a term",
            ("u.square().mean()", "dt.abs().mean() * u.square().mean()"),
            ("dt + u * du", "u * du"),
        ),
        edits={name: EQUATION.edits[name] for name in ("all", "only what is differentiated", "not by time")},
        right=frozenset(),  # that the weight may be trained, too, is left open
    ),
    replace(
        EQUATION.mutated(
            "a step along the derivative, of another forward",
            (TIME + KEEP, "dt, = torch.autograd.grad(net(torch.cat([x, t], 1)).sum(), t"),
            ("(dt + u * du", "(net(torch.cat([x, t + dt.sign() / 9], 1)) + u * du"),
        ),
        edits={name: EQUATION.edits[name] for name in ("only what is differentiated", "not by time")},
        right=frozenset(),  # what the step is made of is a number still, which a loss may be meant to train through
    ),
    Program(
        "inner steps, of which one is differentiated",
        f"""\
net = Net(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(5):
    x, fast = torch.randn(8, 3), [p * 1 for p in net.parameters()]

    def loss():
        return (torch.tanh(x @ fast[0].T + fast[1]) @ fast[2].T + fast[3] - 1).square().mean()

    first = torch.autograd.grad(loss(), fast{KEEP})
    curved = torch.autograd.grad(sum(g.sum() for g in first), fast{KEEP}, allow_unused=True)
    fast = [w - 0.1 * g - 0.01 * (0 if c is None else c) for w, g, c in zip(fast, first, curved)]
    optimizer.zero_grad()
    loss().backward()
    optimizer.step()
""",
        {
            "all": ((f"loss(), fast{KEEP}", f"loss(), fast{CREATE}"), (f"first), fast{KEEP}", f"first), fast{CREATE}")),
            "only what is differentiated": ((f"loss(), fast{KEEP}", f"loss(), fast{CREATE}"),),
        },
    ),
    MOTION,
    MOTION.mutated(
        "the slope only weighs the loss", (" + force - 1).square().sum()", " - 1).square().sum() * force.norm()")
    ),
    replace(
        MOTION.mutated("the slope is taken at another point", (JACOBIAN, "jacobian(energy, y")),
        edits={
            "the hessian": MOTION.edits["the hessian"],
            "both": (*MOTION.edits["the hessian"], ("energy, y", "energy, y" + CREATE)),
        },
    ),
)
