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
COUNTED = Program(
    "the number of a loss is multiplied by how many values it has",
    """\
net = Net(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(4):
    x = torch.randn(6, 4)
    loss = (net(x) - 1).square().mean(1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item() * x.size(0))
""",
    {"mean": (("mean(1)", "mean(1).mean()"),), "sum": (("mean(1)", "mean(1).sum()"),)},
    frozenset({"mean"}),
)
SLOPE = Program(
    "a derivative by what each example has of its own",
    """\
net = Net(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(4):
    x = torch.randn(6, 4, requires_grad=True)
    slope = torch.autograd.grad(net(x), x, create_graph=True)[0]
    optimizer.zero_grad()
    (slope.norm(dim=1) - 1).square().mean().backward()
    optimizer.step()
""",
    {"mean": (("net(x)", "net(x).mean()"),), "sum": (("net(x)", "net(x).sum()"),)},
    frozenset({"sum"}),
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
    COUNTED,
    COUNTED.mutated(
        "it is multiplied by a size of something else, which is as large",
        ("Net(4, 2)", "Net(6, 2)"),
        ("randn(6, 4)", "randn(6, 6)"),
        ("size(0)", "size(1)"),
    ),
    COUNTED.mutated("it is multiplied by something else, of which there are as many", ("x.size(0)", "(2 * 3)")),
    SLOPE,
    SLOPE.mutated("a derivative for each of several values may be meant", ("Net(4, 1)", "Net(4, 2)")),
)
