"""What is switched off stays so: what is made beside that which a loss needs with gradients on, and its look-alikes."""

from __future__ import annotations

from lawful import Program

ON = (("torch.no_grad()", "torch.enable_grad()"),)
CUT = (*ON, ("    far =", "    weight = weight.detach()\n    far ="))
IMPORTANCE = Program(
    "an importance is made beside a feature",
    """\
net, head = Net(3, 4), Net(4, 2)
optimizer = torch.optim.Adam([*net.parameters(), *head.parameters()], lr=0.01)
for _ in range(5):
    x, label = torch.randn(8, 3), torch.randint(2, (8,))
    with torch.no_grad():
        z = net(x)
        weight = F.cross_entropy(head(z), label, reduction="none").sigmoid()
    far = (z.std(0) - 1).square().mean()
    each = F.cross_entropy(head(net(x)), label, reduction="none")
    loss = (weight * each).sum()
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    far.backward()
    optimizer.step()
""",
    {
        "all": ON,
        "cut": CUT,
        "cut where it is used": (*ON, ("(weight *", "(weight.detach() *")),
        "by place": (
            ("    with torch.no_grad():\n        z = net(x)\n", "    z = net(x)\n    with torch.no_grad():\n"),
        ),
        "what it weighs is cut": (*ON, ("head(net(x)), label", "head(net(x).detach()), label")),
        "no weight": (*ON, ("(weight * each)", "each")),
    },
    frozenset({"cut", "cut where it is used", "by place"}),
)
ADVANTAGE = Program(
    "an advantage is made beside a value",
    """\
actor, critic = Net(3, 2), Net(3, 1)
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=0.01)
for _ in range(5):
    x, act, ret = torch.randn(8, 3), torch.randint(2, (8,)), torch.randn(8)
    with torch.no_grad():
        value = critic(x).squeeze(1)
        weight = ret - value
    far = (value - ret).square().mean()
    chance = actor(x).log_softmax(1).gather(1, act[:, None]).squeeze(1)
    loss = -(weight * chance).mean()
    optimizer.zero_grad()
    far.backward(retain_graph=True)
    loss.backward()
    optimizer.step()
""",
    {"all": ON, "cut": CUT},
)
FEATURE = Program(
    "two losses are made of one feature",
    """\
net, head, gate = Net(3, 4), Net(4, 4), Net(3, 4)
optimizer = torch.optim.SGD([*net.parameters(), *head.parameters(), *gate.parameters()], lr=0.1)
for _ in range(5):
    x, y = torch.randn(8, 3), torch.randn(8, 4)
    with torch.no_grad():
        z = net(x)
        weight = z.exp()
    far = (z - 1).square().mean()
    loss = (head(z) - y).square().mean() + (gate(x) - y).square().mean()
    optimizer.zero_grad()
    far.backward(retain_graph=True)
    loss.backward()
    optimizer.step()
""",
    {"all": ON, "cut": CUT},
    frozenset({"all", "cut"}),
)
PROGRAMS = (
    IMPORTANCE,
    ADVANTAGE,
    ADVANTAGE.mutated("the advantage is made outside", ("        weight =", "    weight =")),
    ADVANTAGE.mutated(
        "how sure a network is, beside the logarithm of that",
        ("value - ret).square()", "value)"),
        ("= ret - value", "= (-value).exp()"),
        ("-(weight * chance)", "(weight * -chance)"),
    ),
    FEATURE,
    FEATURE.mutated("a loss takes more of it than the failing one", ("head(z)", "head(z + weight)"), right=("all",)),
    FEATURE.mutated("a loss takes what the failing one does not", ("head(z)", "head(weight)")),
    FEATURE.mutated(
        "the failing loss takes the weight, too",
        ("(z - 1)", "(z * weight - 1)"),
        ("head(z)", "head(weight)"),
        right=("all",),
    ),
    FEATURE.mutated(
        "what is made beside it learns by the other loss alone",
        ("z.exp()", "gate(x).sigmoid()"),
        ("(gate(x) - y)", "(head(x.repeat(1, 2)[:, :4]) - y)"),
        ("(head(z) - y)", "weight.mean() * (head(y) - y)"),
        right=("all",),
    ),
    FEATURE.mutated(
        "a loss is weighed by what it trains by that alone", ("(head(z) - y)", "weight.mean() * (head(y) - y)")
    ),
    FEATURE.mutated(
        "a loss is weighed by what it trains",
        ("(head(z) - y)", "weight.mean() * (head(net(y[:, :3])) - y)"),
        right=("cut",),
    ),
    FEATURE.mutated("it opens a gate within a network", ("head(z)", "weight * head(y)")),
)
