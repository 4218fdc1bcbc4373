"""Backward from several values is safe as their mean or sum only where the optimizers move all alike for both."""

from __future__ import annotations

from lawful import Program

ADAM = Program(
    "Adam does not see the size of a loss",
    """\
net = Net(4, 2)
optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
for step in range(5):
    loss = (net(torch.randn(6, 4)) - 1).square().mean(1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    {
        "mean": (("loss.backward", "loss.mean().backward"),),
        "sum": (("loss.backward", "loss.sum().backward"),),
        "ones": (("loss.backward()", "loss.backward(torch.ones_like(loss))"),),
        "one of them": (("loss.backward", "loss[0].backward"),),
        "the largest": (("loss.backward", "loss.max().backward"),),
        "weighted": (("loss.backward", "(loss * loss.detach()).mean().backward"),),
    },
    frozenset({"mean", "sum", "ones"}),
)
RATE = "torch.optim.AdamW(net.parameters(), lr=0.01)"
PROGRAMS = (
    ADAM,
    ADAM.mutated("SGD does", (RATE, "torch.optim.SGD(net.parameters(), lr=0.01)")),
    ADAM.mutated("SGD with much decay does", (RATE, "torch.optim.SGD(net.parameters(), lr=0.01, weight_decay=1.0)")),
    ADAM.mutated("a rate of 0 hides it", (RATE, "torch.optim.SGD(net.parameters(), lr=0.0)")),
    ADAM.mutated(
        "a penalty beside it has a size of its own",
        ("    loss.backward()", "    (0.1 * net.out.weight.square().sum()).backward()\n    loss.backward()"),
    ),
)
