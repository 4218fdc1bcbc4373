"""What each reading's edit is called: of a graph lost in several places, a parameter's name, a forward too early."""

from __future__ import annotations

from lawful import Program

ADAPTED = Program(
    "a frozen trunk and an adapter, both without gradients",
    """\
trunk, adapter = Net(4, 3).requires_grad_(False), Net(3, 2)
optimizer = torch.optim.SGD(adapter.parameters(), lr=0.05)


@torch.no_grad()
def encode(x):
    return adapter(trunk(x))


for _ in range(5):
    loss = F.mse_loss(encode(torch.randn(6, 4)), torch.ones(6, 2))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    {
        "with gradients": (("@torch.no_grad()", "@torch.enable_grad()"),),
        "a leaf of the result": (("(torch.randn(6, 4)), torch", "(torch.randn(6, 4)).requires_grad_(), torch"),),
        "half of it": (
            ("@torch.no_grad()", "@torch.enable_grad()"),
            ("return adapter(trunk(x))", "return adapter.out(torch.tanh(adapter.hidden(trunk(x))).detach())"),
        ),
    },
    frozenset({"with gradients"}),
)  # fmt: skip
CUT = Program(
    "a prediction and its target are cut alike",
    """\
net, target = Net(4, 1), Net(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(5):
    now, then = torch.randn(6, 4), torch.randn(6, 4)
    value = net(now).data
    best = net(then).data.argmax(1)
    goal = 1 + 0.9 * target(then).data
    loss = F.mse_loss(value, goal)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    {
        "the prediction": (("net(now).data", "net(now)"),),
        "the target": (("target(then).data", "target(then)"),),
        "both": (("net(now).data", "net(now)"), ("target(then).data", "target(then)")),
        "a leaf of the loss": (("loss = F.mse_loss(value, goal)", "loss = F.mse_loss(value, goal).requires_grad_()"),),
    },
    frozenset({"the prediction", "both"}),
)
ASSIGNED = Program(
    "a tensor without a graph is assigned to a parameter's name",
    """\
net = Net(4, 1)
scale = 1.0


@torch.no_grad()
def rescale(by):
    net.out.weight = net.out.weight * by


optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(5):
    rescale(0.9)
    loss = F.mse_loss(net(torch.randn(6, 4)), torch.ones(6, 1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    {
        "a new value": (("net.out.weight = net.out.weight * by", "net.out.weight.copy_(net.out.weight * by)"),),
        "by data": (("net.out.weight = net.out.weight * by", "net.out.weight.data = net.out.weight * by"),),
        "a new parameter": (
            ("net.out.weight = net.out.weight * by", "net.out.weight = nn.Parameter(net.out.weight * by)"),
        ),
        "nothing": (("net.out.weight = net.out.weight * by", "net.out.weight * by"),),
    },
    frozenset({"a new value", "by data"}),
)
CLOSURE = Program(
    "the forward stands before the closure",
    """\
net = Net(4, 1)
optimizer = torch.optim.LBFGS(net.parameters(), lr=0.3, max_iter=3)
x = torch.randn(6, 4)
for _ in range(3):
    out = net(x)

    def closure():
        optimizer.zero_grad()
        loss = F.mse_loss(out, torch.ones(6, 1))
        loss.backward()
        return loss

    optimizer.step(closure)
""",
    {
        "within": (("        loss = F", "        out = net(x)\n        loss = F"),),
        "keep": (("loss.backward()", "loss.backward(retain_graph=True)"),),
        "cut": (("mse_loss(out,", "mse_loss(out.detach().requires_grad_(),"),),
        "one evaluation": (("max_iter=3", "max_iter=1"),),
    },
    frozenset({"within"}),
)
SAMPLED = Program(
    "a network is frozen while its inputs are sought",
    """\
from parts import *

net = Net(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)


def sought(x):
    net.requires_grad_(False)
    x.requires_grad_()
    for _ in range(2):
        net(x).sum().backward()
        x.data.add_(0.1 * x.grad.clamp(-0.1, 0.1))
        x.grad.zero_()
    return x.detach()


for _ in range(5):
    fake = sought(torch.randn(6, 4))
    loss = (net(fake) - 1).square().mean() + net(torch.randn(6, 4)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    {
        "on again": (("    return x", "    net.requires_grad_(True)\n    return x"),),
        "never frozen": (("net.requires_grad_(False)", "net.requires_grad_(True)"),),
        "half of it": (("    return x", "    net.out.requires_grad_(True)\n    return x"),),
        "the graph is kept": (("x.detach()", "x"),),
        "the loss is marked": (("    loss.backward()", "    loss.requires_grad_().backward()"),),
    },
    frozenset({"on again", "never frozen"}),
)
FITTED = Program(
    "a temperature is fitted within a validation",
    """\
net, x, y = Net(4, 3), torch.randn(12, 4), torch.arange(12) % 3
scale = nn.Parameter(torch.ones(1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
own = torch.optim.SGD([scale], lr=0.05)


def fit(scores):
    for _ in range(2):
        loss = F.cross_entropy(scores * scale, y)
        own.zero_grad()
        loss.backward()
        own.step()


def validate():
    with torch.no_grad():
        scores = net(x)
        fit(scores)


for _ in range(5):
    F.cross_entropy(net(x), y).backward()
    optimizer.step()
    optimizer.zero_grad()
    validate()
""",
    {
        "on in the fit": (("def fit", "@torch.enable_grad()\ndef fit"),),
        "the scores alone": (("    fit(scores)\n", "fit(scores)\n"),),
        "on everywhere": (
            ("torch.no_grad()", "torch.enable_grad()"),
            ("backward()\n        own", "backward(retain_graph=True)\n        own"),
        ),
        "a leaf of the loss": (("        own.zero_grad()", "        loss.requires_grad_()\n        own.zero_grad()"),),
        "a leaf of the scores": (("fit(scores):", "fit(scores):\n    scores.requires_grad_()"),),
    },
    frozenset({"on in the fit", "the scores alone"}),
)
GUIDED = Program(
    "a sampler without gradients is guided by a classifier",
    """\
model, guide = Net(4, 4), Net(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)


def slope(x):
    x = x.clone().requires_grad_(True)
    return torch.autograd.grad(guide(x).log_softmax(-1)[:, 0].sum(), x)[0]


@torch.no_grad()
def sample():
    x = torch.randn(6, 4)
    for _ in range(2):
        x = model(x) + slope(x)
    return x


for _ in range(5):
    loss = F.mse_loss(model(sample() + torch.randn(6, 4)), torch.ones(6, 4))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    {
        "on in the slope": (("def slope", "@torch.enable_grad()\ndef slope"),),
        "on everywhere": (("torch.no_grad", "torch.enable_grad"),),
        "on, and cut": (("torch.no_grad", "torch.enable_grad"), ("    return x\n", "    return x.detach()\n")),
        "on in each step": (
            ("        x = model(x) +", "        with torch.enable_grad():\n            x = model(x) +"),
        ),
        "without guidance": ((" + slope(x)", ""),),
        "a leaf of the result": (("[:, 0].sum(), x)", "[:, 0].sum().requires_grad_(), x, materialize_grads=True)"),),
    },
    frozenset({"on in the slope", "on, and cut"}),
)  # fmt: skip
PENALISED = Program(
    "a penalty by a derivative is decorated",
    """\
net = Net(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)


@torch.no_grad()
def penalty(x):
    x = x.clone().requires_grad_(True)
    return (torch.autograd.grad(net(x).sum(), x, create_graph=True)[0].norm(dim=1) - 1).square().mean()


for _ in range(5):
    x = torch.randn(6, 4)
    loss = net(x).mean() + penalty(x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    {
        "with gradients": (("@torch.no_grad()", "@torch.enable_grad()"),),
        "within": (
            ("    return (", "    with torch.enable_grad():\n        out = net(x).sum()\n    return ("),
            ("net(x).sum(), x,", "out, x,"),
        ),
    },
    frozenset({"with gradients"}),
)  # fmt: skip
PROGRAMS = (
    GUIDED,
    GUIDED.mutated(
        "the samples are all that is trained",
        ("model(sample() + torch.randn(6, 4))", "sample()"),
        right=("on everywhere", "on in each step"),
    ),
    GUIDED.mutated(
        "the samples have a term of their own",
        ("loss = F.mse_loss(model(sample() +", "x = sample()\n    loss = x.square().mean() + F.mse_loss(model(x +"),
        right=("on everywhere", "on in each step"),
    ),
    GUIDED.mutated(
        "another network makes the samples, which nobody trains",
        ("optimizer =", "maker, model = model, Net(4, 4)\noptimizer ="),
        ("loss = F.mse_loss(model(", "loss = F.mse_loss(maker("),
        ("(model.parameters", "(maker.parameters"),
        right=("on in the slope", "on everywhere", "on, and cut", "on in each step"),
    ),
    PENALISED,
    FITTED,
    FITTED.mutated("the fit is the training of the network, too", ("SGD([scale]", "SGD([scale, *net.parameters()]")),
    FITTED.mutated(
        "another loss leaves gradient as well",
        ("    validate()\n", "    (net(x).square().mean() * scale.detach()).sum().backward()\n    validate()\n"),
    ),
    SAMPLED,
    SAMPLED.mutated(
        "another network is trained through the frozen one",
        ("net.parameters(), lr", "maker.parameters(), lr"),
        ("optimizer =", "maker = Net(4, 4)\noptimizer ="),
        ("sought(torch.randn(6, 4))", "sought(maker(torch.randn(6, 4)).detach())"),
    ),
    ASSIGNED,
    ASSIGNED.mutated("it has a graph", ("@torch.no_grad()\n", "")),
    CLOSURE,
    CLOSURE.mutated(
        "the closure clamps what it trains",
        (
            "        optimizer.zero_grad()",
            "        net.out.weight.data.clamp_(-0.2, 0.2)\n        optimizer.zero_grad()",
        ),
    ),
    ADAPTED,
    ADAPTED.mutated(
        "the optimizer has the frozen trunk, too",
        ("(adapter.parameters()", "([*trunk.parameters(), *adapter.parameters()]"),
    ),
    CUT,
    CUT.mutated("one network is both", ("Net(4, 1), Net(4, 1)", "[Net(4, 1)] * 2")),
    CUT.mutated("the optimizer has both", ("(net.parameters()", "([*net.parameters(), *target.parameters()]")),
)
