"""Everything owned learns, and every term counts: what is made once, where that decides and where it asks."""

from __future__ import annotations

from lawful import Program

PENALTY = Program(
    "a penalty over all weights is built once",
    """\
net = Net(4, 2)
optimizer = Optimizers(net)
x, y = torch.randn(6, 4), torch.randn(6, 2)
term = sum(p.square().sum() for p in net.parameters())
for _ in range(5):
    loss = F.mse_loss(net(x), y) + 0.1 * term
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    {
        "anew": (("    loss = F", "    term = sum(p.square().sum() for p in net.parameters())\n    loss = F"),),
        "keep": (("loss.backward()", "loss.backward(retain_graph=True)"),),
        "cut": (("    optimizer.step()", "    optimizer.step()\n    term = term.detach()"),),
    },
    frozenset({"anew"}),
)
NORMALISED = Program(
    "weights are normalised once",
    """\
raw, head = nn.Parameter(torch.randn(4, 6)), Net(6, 2)
optimizer = torch.optim.SGD([raw, *head.parameters()], lr=0.05)
x, y = torch.randn(6, 4), torch.randn(6, 2)
weight = F.normalize(raw)
for _ in range(5):
    loss = F.mse_loss(head(x @ weight), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    {
        "anew": (("    loss = F", "    weight = F.normalize(raw)\n    loss = F"),),
        "keep": (("loss.backward()", "loss.backward(retain_graph=True)"),),
        "cut": (("    optimizer.step()", "    optimizer.step()\n    weight = weight.detach()"),),
    },
    frozenset({"anew"}),
)
PROBED = Program(
    "features are computed once from data",
    """\
encoder, head = Net(4, 3), Net(3, 2)
both = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.05)
x, y = torch.randn(6, 4), torch.randn(6, 2)
features = encoder(x)
for _ in range(5):
    loss = F.mse_loss(head(features), y)
    both.zero_grad()
    loss.backward()
    both.step()
""",
    {
        "anew": (("    loss = F", "    features = encoder(x)\n    loss = F"),),
        "keep": (("loss.backward()", "loss.backward(retain_graph=True)"),),
        "cut": (("features = encoder(x)", "features = encoder(x).detach()"),),
    },
)
PPO = Program(
    "old log-probabilities keep their graph",
    """\
policy = Net(4, 2)
optimizer = Optimizers(policy)
for _ in range(2):
    seen, advantage = torch.randn(6, 4), torch.randn(6)
    old = policy(seen).log_softmax(-1)[:, 0]
    for _ in range(3):
        new = policy(seen).log_softmax(-1)[:, 0]
        loss = -((new - old).exp() * advantage).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
""",
    {
        "cut": (("[:, 0]\n    for", "[:, 0].detach()\n    for"),),
        "keep": (("loss.backward()", "loss.backward(retain_graph=True)"),),
        "anew": (("        new =", "        old = policy(seen).log_softmax(-1)[:, 0]\n        new ="),),
    },
    frozenset({"cut"}),
)
AVERAGE = Program(
    "a running average of the loss is trained",
    """\
net = Net(4, 2)
optimizer = Optimizers(net)
average = torch.zeros(())
for _ in range(5):
    loss = F.mse_loss(net(torch.randn(6, 4)), torch.zeros(6, 2))
    average = 0.9 * average + 0.1 * loss
    optimizer.zero_grad()
    average.backward()
    optimizer.step()
""",
    {
        "cut": (("0.9 * average", "0.9 * average.detach()"),),
        "keep": (("average.backward()", "average.backward(retain_graph=True)"),),
        "the loss alone": (
            ("    average.backward()", "    loss.backward(retain_graph=True)\n    average = average.detach()"),
        ),
    },
    frozenset({"cut"}),
)
THROUGH = Program(
    "a straight-through estimator over a codebook that is made once",
    """\
codes, net = nn.Parameter(torch.randn(5, 3)), Net(4, 3)
optimizer = torch.optim.SGD([codes, *net.parameters()], lr=0.05)
x = torch.randn(6, 4)
book = codes.tanh()
for _ in range(5):
    z = net(x)
    near = book[torch.cdist(z, book).argmin(1)]
    through = z + (near - z).detach()
    loss = (through - 1).square().mean() + (near - z.detach()).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    {
        "anew": (("    z = net", "    book = codes.tanh()\n    z = net"),),
        "keep": (("loss.backward()", "loss.backward(retain_graph=True)"),),
        "cut": (("    optimizer.step()", "    optimizer.step()\n    book = book.detach()"),),
    },
    frozenset({"anew"}),
)
MEMORY = Program(
    "a memory is compared with what it was, in the same memory",
    """\
class Bank(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("memory", torch.randn(4, 3))


net, bank, gain = Net(3, 3), Bank(), nn.Parameter(torch.tensor(0.5))
optimizer = torch.optim.SGD([*net.parameters(), gain], lr=0.05)
shown = torch.randn(4, 3)


def loss_of(z):
    before = bank.memory
    fit = (z @ before.t() + z @ shown.t()).square().mean()
    bank.memory[0] = 0.5 * bank.memory[0] + 0.5 * z.detach().mean(0)
    moved = (bank.memory - before).square()
    return fit + (moved * gain.sigmoid()).sum()


for _ in range(4):
    loss = loss_of(net(torch.randn(5, 3)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    {
        "clone before": (("before = bank.memory", "before = bank.memory.clone()"),),
        "write to a copy": (("    bank.memory[0] =", "    bank.memory = bank.memory.clone()\n    bank.memory[0] ="),),
        "clone for one use": (("before.t()", "before.clone().t()"),),
        "through data": (("    bank.memory[0] =", "    bank.memory.data[0] ="),),
    },
    frozenset({"clone before", "write to a copy"}),
)
REUSED = Program(
    "what a critic gave for a cut sample is the loss of the generator, too",
    """\
maker, critic = Net(3, 4), Net(4, 1)
of_maker, of_critic = Optimizers(maker), Optimizers(critic)
for _ in range(5):
    of_critic.zero_grad()
    fake = maker(torch.randn(6, 3))
    score = critic(fake.detach())
    both = F.softplus(score).mean() + F.softplus(-critic(torch.randn(6, 4))).mean()
    both.backward()
    of_critic.step()
    of_maker.zero_grad()
    loss = F.softplus(-score).mean()
    loss.backward()
    of_maker.step()
""",
    {
        "anew": (("    loss = F", "    score = critic(fake)\n    loss = F"),),
        "anew and cut": (("    loss = F", "    score = critic(fake.detach())\n    loss = F"),),
        "anew, and half of it": (("    loss = F", "    score = critic(fake)\n    loss = 0.5 * F"),),
        "keep": (("both.backward()\n    of_critic.step()", "both.backward(retain_graph=True)"),),
        "keep and do not cut": (
            ("fake.detach()", "fake"),
            ("both.backward()\n    of_critic.step()", "both.backward(retain_graph=True)"),
            ("    of_maker.step()", "    of_maker.step()\n    of_critic.step()"),
        ),
    },
    frozenset({"anew"}),
)
PAIRS = Program(
    "each batch makes a term of what was made once in its epoch",
    """\
table, lean, head = nn.Parameter(torch.randn(8, 3)), torch.rand(8, 8).softmax(1), Net(3, 1)
both = [torch.optim.SGD([table], lr=0.05), torch.optim.SGD(head.parameters(), lr=0.05)]
for _ in range(2):
    given = (lean @ table).tanh()
    for _ in range(3):
        one, other = torch.randint(8, (2, 5))
        loss = F.softplus(-(given[one] * given[other]).sum(1)).mean()
        loss = loss + 0.1 * table[one].square().mean() + 0.1 * head(table[one].detach()).square().mean()
        for optimizer in both:
            optimizer.zero_grad()
        loss.backward()
        for optimizer in both:
            optimizer.step()
""",
    {
        "anew": (("        one,", "        given = (lean @ table).tanh()\n        one,"),),
        "keep": (("loss.backward()", "loss.backward(retain_graph=True)"),),
        "constant": (("tanh()\n", "tanh().detach()\n"),),
        "cut": (("        loss.backward()", "        loss.backward()\n        given = given.detach()"),),
    },
    frozenset({"anew"}),
)
PROGRAMS = (
    PAIRS,
    PAIRS.mutated(
        "what was made once is held against what is newer", ("(given[one] * given[other])", "(given[one] - table[one])")
    ),
    PAIRS.mutated(
        "the term is the difference of two numbers, one of what is newer",
        ("F.softplus(-(given[one] * given[other]).sum(1)).mean()", "given[one].exp().mean() - table[one].exp().mean()"),
    ),
    PAIRS.mutated("the term trains what steps behind it, too", ("(given[one] *", "(head(given[one]) *")),
    REUSED,
    REUSED.mutated(
        "both are cleared first",
        ("    of_maker.zero_grad()\n", ""),
        ("    of_critic.zero_grad()", "    of_critic.zero_grad()\n    of_maker.zero_grad()"),
        right=("anew",),
    ),
    REUSED.mutated(
        "the critic uses what that loss sends, too",
        ("    of_maker.step()", "    of_maker.step()\n    of_critic.step()"),
    ),
    MEMORY,
    MEMORY.mutated("somebody else holds it, too", ("shown = torch.randn(4, 3)", "shown = bank.memory")),
    MEMORY.mutated(
        "its difference is 0 in any case", ("(bank.memory - before)", "(bank.memory - bank.memory.detach())")
    ),
    MEMORY.mutated(
        "nothing is compared",
        ("(bank.memory - before)", "bank.memory"),
        right=("clone before", "write to a copy", "clone for one use"),
    ),
    PENALTY,
    PENALTY.mutated(
        "the penalty is of data, too",
        ("term = sum(p.square().sum() for p in net.parameters())", "term = net(x).square().sum()"),
    ),
    PENALTY.mutated(
        "it pulls towards old weights",
        ("term = sum", "anchor = [p.detach().clone() + 1 for p in net.parameters()]\nterm = sum"),
        (
            "p.square().sum() for p in net.parameters()",
            "(p - a).square().sum() for p, a in zip(net.parameters(), anchor)",
        ),
    ),
    PENALTY.mutated(
        "nobody owns what it is of",
        (
            "term = sum(p.square().sum() for p in net.parameters())",
            "term = torch.randn(3, requires_grad=True).square().sum()",
        ),
        right=("keep", "cut"),
    ),
    PENALTY.mutated("it is a factor of the loss", ("+ 0.1 * term", "* (1 + 0.1 * term)")),
    PENALTY.mutated(
        "its weight is 0 at first",
        ("for _ in", "for step in"),
        ("0.1 * term", "0.1 * max(0, step - 1) * term"),
        right=("anew",),
    ),
    NORMALISED,
    NORMALISED.mutated("data goes in", ("F.normalize(raw)", "F.normalize(raw * torch.randn(4, 1))")),
    PROBED,
    PROBED.mutated(
        "an optimizer of its own steps in each pass",
        ("torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.05)", "Optimizers(encoder, head)"),
        right=("anew",),
    ),
    PROBED.mutated("of a constant alone", ("x, y = torch.randn(6, 4)", "x, y = torch.ones(6, 4)"), right=("anew",)),
    PPO,
    AVERAGE,
    THROUGH,
)
