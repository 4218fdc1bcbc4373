"""A gradient is read before it is cleared: programs in which that law speaks, and what is easily mistaken for them."""

from __future__ import annotations

from lawful import Program

FADED = Program(
    "a callback fades what has the largest gradient",
    """\
def at_the_end_of_a_batch(net):
    with torch.no_grad():
        net.out.weight[net.out.weight.grad.abs().sum(1).argmax()] *= 0.9


net = Net(3, 4)
optimizer = Optimizers(net)
for number in range(6):
    loss = net(torch.randn(5, 3)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    at_the_end_of_a_batch(net)
""",
    {
        "cleared before backward": (
            ("    optimizer.zero_grad()\n", ""),
            ("    loss.backward()", "    optimizer.zero_grad()\n    loss.backward()"),
        ),
        "cleared later": (
            ("    optimizer.zero_grad()\n", ""),
            ("    at_the_end_of_a_batch(net)\n", "    at_the_end_of_a_batch(net)\n    optimizer.zero_grad()\n"),
        ),
        "never cleared": (("    optimizer.zero_grad()\n", ""),),
        "taken for zeros": (("net.out.weight.grad.abs()", "torch.zeros_like(net.out.weight)"),),
        "left out": (
            ("    with torch.no_grad():\n", "    with torch.no_grad():\n     if net.out.weight.grad is not None:\n"),
        ),
        "by the values": (("weight.grad.abs()", "weight.abs()"),),
    },
    frozenset({"cleared before backward", "cleared later"}),
)
BEGUN_ANEW = Program(
    "a gradient begins anew with a decay",
    """\
net, heads = Net(3, 4), [torch.randn(4, requires_grad=True) for _ in range(2)]
optimizer = torch.optim.SGD([*net.parameters(), *heads], lr=0.1)
for number in range(6):
    loss = (net(torch.randn(5, 3)) @ heads[number % 2] - 1).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    with torch.no_grad():
        heads[0].grad += 0.01 * heads[0].detach()
""",
    {
        "cleared before backward": (
            ("    optimizer.zero_grad()\n", ""),
            ("    loss.backward()", "    optimizer.zero_grad()\n    loss.backward()"),
        ),
        "never cleared": (("    optimizer.zero_grad()\n", ""),),
    },
)
CLIPPED = Program(
    "gradients are clipped by hand, and a head is not used",
    """\
class Two(Net):
    def __init__(self):
        super().__init__(3, 1)
        self.other, self.query = nn.Linear(6, 1), nn.Parameter(torch.randn(6))


net = Two()
optimizer = Optimizers(net)
for _ in range(6):
    loss = net(torch.randn(5, 3)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    total = 0
    for p in net.parameters():
        total += p.grad.norm() ** 2
    for p in net.parameters():
        p.grad.mul_(min(1, 0.1 / (total.sqrt() + 1e-6)))
    optimizer.step()
""",
    {
        "left out": (
            ("        total +=", "        if p.grad is not None: total +="),
            ("        p.grad.mul_", "        if p.grad is not None: p.grad.mul_"),
        ),
        "by torch": (
            ("    for p in net.parameters():\n        total += p.grad.norm() ** 2\n", ""),
            (
                "    for p in net.parameters():\n        p.grad.mul_(min(1, 0.1 / (total.sqrt() + 1e-6)))\n",
                "    nn.utils.clip_grad_norm_(net.parameters(), 0.1)\n",
            ),
        ),
        "up to the first": (
            ("        total +=", "        if p.grad is None: break\n        total +="),
            ("        p.grad.mul_", "        if p.grad is not None: p.grad.mul_"),
        ),
        "not clipped": (
            ("        total +=", "        if p.grad is not None: total +="),
            ("        p.grad.mul_", "        if p.grad is None: p.grad.mul_"),
        ),
    },
    frozenset({"left out", "by torch"}),
)

PROGRAMS = (
    FADED,
    FADED.mutated(
        "of another layer",
        ("net.out.weight[net", "net.hidden.weight[net"),
        right=("cleared before backward", "cleared later"),
    ),
    FADED.mutated(
        "it is also read where it is there",
        ("    optimizer.step()\n", "    at_the_end_of_a_batch(net)\n    optimizer.step()\n"),
    ),
    BEGUN_ANEW,
    BEGUN_ANEW.mutated(
        "of a head that a pass leaves out",
        ("heads[0].grad += 0.01 * heads[0].detach()", "heads[number % 2] *= 1 - 0.1 * heads[1].grad.tanh()"),
    ),
    CLIPPED,
    CLIPPED.mutated(
        "one head is frozen",
        ("optimizer = ", "net.other.requires_grad_(False)\noptimizer = "),
        right=("left out", "by torch"),
    ),
)
