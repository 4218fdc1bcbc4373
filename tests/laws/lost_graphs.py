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
TURNS = Program(
    "networks take turns, and the value of one is made while it is off",
    """\
G, D, seen = Net(4, 3), Net(3, 1), Net(3, 2)
g_opt, d_opt = (torch.optim.SGD(net.parameters(), lr=0.05) for net in (G, D))
seen.requires_grad_(False)


def switch(net, on):
    for parameter in net.parameters():
        parameter.requires_grad = on


for _ in range(5):
    g_opt.zero_grad()
    d_opt.zero_grad()
    noise = torch.randn(6, 4)
    switch(D, True)
    switch(G, False)
    fake = G(noise)
    d_loss = D(fake.detach()).mean() - D(torch.randn(6, 3)).mean()
    d_loss.backward()
    d_opt.step()
    switch(D, False)
    switch(G, True)
    g_loss = F.mse_loss(seen(fake), torch.ones(6, 2)) - D(fake).mean()
    g_loss.backward()
    g_opt.step()
    d_opt.zero_grad()
""",
    {
        "left on": (("    switch(G, False)\n", "    switch(G, True)\n"),),
        "made before": (
            ("    fake = G(noise)\n", ""),
            ("    switch(G, False)\n", "    fake = G(noise)\n    switch(G, False)\n"),
        ),
        "made again": (("    switch(G, True)\n", "    switch(G, True)\n    fake = G(noise)\n"),),
        "the other left on": (("    switch(D, False)\n", "    switch(D, True)\n"),),
        "what is frozen is on": (("seen.requires_grad_(False)\n", "seen.requires_grad_(True)\n"),),
        "left on, its graph kept": (
            ("    switch(G, False)\n", "    switch(G, True)\n"),
            ("d_loss.backward()", "d_loss.backward(retain_graph=True)"),
        ),
        "a leaf of the loss": (("    g_loss.backward()", "    g_loss.requires_grad_().backward()"),),
    },
    frozenset({"left on", "made before", "made again", "left on, its graph kept"}),
)  # fmt: skip
TWO_OFF = Program(
    "values of two networks are made while both are off",
    """\
A, B, D = Net(4, 4), Net(4, 4), Net(4, 1)
g_opt = torch.optim.SGD([*A.parameters(), *B.parameters()], lr=0.05)
d_opt = torch.optim.SGD(D.parameters(), lr=0.05)
for _ in range(5):
    a, b = torch.randn(6, 4), torch.randn(6, 4)
    A.requires_grad_(False)
    B.requires_grad_(False)
    D.requires_grad_(True)
    like_b, like_a = A(a), B(b)
    d_opt.zero_grad()
    (D(like_b.detach()) + D(like_a.detach()) - D(a) - D(b)).mean().backward()
    d_opt.step()
    D.requires_grad_(False)
    A.requires_grad_(True)
    B.requires_grad_(True)
    g_opt.zero_grad()
    (D(like_a) + D(like_b)).mean().neg().backward()
    g_opt.step()
""",
    {
        "both": (("    A.requires_grad_(False)", "    pass"), ("    B.requires_grad_(False)", "    pass")),
        "one": (("    A.requires_grad_(False)", "    pass"),),
        "the other": (("    B.requires_grad_(False)", "    pass"),),
    },
    frozenset({"both"}),
)  # fmt: skip
IN_TURN = Program(
    "what is off is to be trained, and what was made while off is a constant",
    """\
G, D = Net(4, 3), Net(3, 1)
g_opt, d_opt = (torch.optim.SGD(net.parameters(), lr=0.05) for net in (G, D))
for _ in range(6):
    noise = torch.randn(6, 4)
    G.requires_grad_(False)
    fake = G(noise)
    G.requires_grad_(True)
    d_opt.zero_grad()
    (D(fake).mean() + (D(fake) - 1).square().mean()).backward()
    d_opt.step()
    D.requires_grad_(False)
    g_opt.zero_grad()
    (-D(G(noise)).mean()).backward()
    g_opt.step()
""",
    {
        "left on": (("    G.requires_grad_(False)\n", "    G.requires_grad_(True)\n"),),
        "made again": (("    G.requires_grad_(True)\n", "    G.requires_grad_(True)\n    fake = G(noise)\n"),),
        "the other on again": (("    d_opt.zero_grad()\n", "    d_opt.zero_grad()\n    D.requires_grad_(True)\n"),),
    },
    frozenset({"the other on again"}),
)  # fmt: skip
ZERO, BACKWARD, STEP = (f"    {one}()\n" for one in ("optimizer.zero_grad", "loss.backward", "optimizer.step"))
SKIPPED = "a leaf", "skipped", "skipped where it is no tensor", "backward is skipped"
NOTHING = Program(
    "nothing was found in some passes",
    """\
net = Net(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
for number in range(9):
    out, loss = net(torch.randn(5, 4)), 0
    for row in out[: (number + 1) % 3]:
        loss = loss + row.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    {
        "a leaf": (("), 0\n", "), torch.zeros((), requires_grad=True)\n"),),
        "skipped": ((ZERO, f"    if isinstance(loss, int):\n        continue\n{ZERO}"),),
        "skipped where it is no tensor": ((ZERO, f"    if not torch.is_tensor(loss):\n        continue\n{ZERO}"),),
        "backward is skipped": ((BACKWARD, f"    if not isinstance(loss, int):\n    {BACKWARD}"),),
        "zeros of the output": (("), 0\n", "), 0\n    loss = 0 * out.sum()\n"),),
        "another loss": ((ZERO, f"    loss = loss + 0.1 * out.mean()\n{ZERO}"),),
        "the last gradient again": (
            (ZERO + BACKWARD, f"    if not isinstance(loss, int):\n    {ZERO}    {BACKWARD}"),
        ),
        "the first row always": (("out[: (number + 1) % 3]", "out[: max(1, (number + 1) % 3)]"),),
    },
    frozenset(SKIPPED),
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
    TURNS,
    TURNS.mutated("the other loss goes through the value", ("fake.detach()", "fake"), right=("made again",)),
    TURNS.mutated(
        "what is trained is a constant in the other's place",
        ("seen(fake), torch.ones(6, 2)", "learner(noise), seen(fake).detach()"),
        (" - D(fake).mean()\n", "\n"),
        ("(3, 2)\n", "(3, 2)\nlearner = Net(4, 2).requires_grad_(False)\n"),
        ("in (G, D))", "in (learner, D))"),
    ),
    TWO_OFF,
    IN_TURN,
    NOTHING,
    NOTHING.mutated(
        "zeros are nothing without momentum", (", momentum=0.9", ""), right=(*SKIPPED, "zeros of the output")
    ),
    NOTHING.mutated("weights decay", (", momentum=0.9", ", weight_decay=0.1"), right=SKIPPED),
    NOTHING.mutated("Adam counts its steps", ("SGD", "Adam"), (", momentum=0.9", ""), right=SKIPPED),
    NOTHING.mutated(
        "a rate that each pass makes smaller",
        (STEP, f'{STEP}    optimizer.param_groups[0]["lr"] *= 0.9\n'),
        right=("a leaf", "backward is skipped"),
    ),
    NOTHING.mutated("what is added has no graph", ("row.pow(2)", "row.detach().pow(2)")),
    NOTHING.mutated("numbers are added", ("row.pow(2).mean()", "row.pow(2).mean().item()")),
    NOTHING.mutated(
        "another name is added to",
        ("loss = loss + row", "total = loss + row"),
        (STEP, f"    out.abs().mean().backward()\n{STEP}"),
    ),
    CUT.mutated("the optimizer has both", ("(net.parameters()", "([*net.parameters(), *target.parameters()]")),
)
