"""What was collected is data: what is drawn once and trained on in several passes, and what only looks like it."""

from __future__ import annotations

from lawful import Program

EDITS = {
    "constant": (("    for _ in range(4):", "    {old} = {old}.detach()\n    for _ in range(4):"),),
    "keep": (("loss.backward()", "loss.backward(retain_graph=True)"),),
    "first pass alone": (("        both.step()", "        both.step()\n        {old} = {old}.detach()"),),
}


def edits(old: str, *anew: str) -> dict[str, tuple[tuple[str, str], ...]]:
    """The edits of each reading: of `old`, which is made once, and of the lines that make it anew."""
    filled = {name: tuple((a, b.format(old=old)) for a, b in changes) for name, changes in EDITS.items()}
    lines = "".join(f"        {line}\n" for line in anew)
    return {**filled, "anew": (("    for _ in range(4):\n", f"    for _ in range(4):\n{lines}"),)}


ACTIONS = Program(
    "actions are drawn once",
    """\
def draws(scores):
    return torch.distributions.Categorical(logits=scores)


policy, value = Net(4, 3), Net(4, 1)
both = Optimizers(policy, value)
for _ in range(2):
    seen = torch.randn(8, 4)
    chosen = draws(policy(seen))
    action = chosen.sample()
    old = chosen.log_prob(action)
    reward = (action == 1).float() + seen[:, 0]
    for _ in range(4):
        new = draws(policy(seen)).log_prob(action)
        ratio = (new - old).exp()
        loss = -(ratio * (reward - value(seen).squeeze(1).detach())).mean() + F.mse_loss(value(seen).squeeze(1), reward)
        both.zero_grad()
        loss.backward()
        both.step()
""",
    edits("old", "chosen = draws(policy(seen))", "old = chosen.log_prob(action)"),
    frozenset({"constant"}),
)
LABELS = Program(
    "labels and centres are taken once",
    """\
net = Net(4, 3)
both = Optimizers(net)
for _ in range(2):
    x = torch.randn(9, 4)
    scores = net(x)
    label = scores.argmax(1)
    centre = scores.softmax(1).t() @ scores / 9
    for _ in range(4):
        out = net(x + 0.1)
        loss = F.cross_entropy(out, label) + (out - centre[label]).square().mean()
        both.zero_grad()
        loss.backward()
        both.step()
""",
    edits("centre", "scores = net(x)", "centre = scores.softmax(1).t() @ scores / 9"),
    frozenset({"constant"}),
)
QUIETLY = ("    for x in seen:", "    with torch.no_grad():\n     for x in seen:")
UNROLLS = Program(
    "two passes over what an actor with a state did",
    """\
core, head = nn.GRUCell(3, 6), Net(6, 3)
both = Optimizers(core, head)
state = torch.zeros(4, 6)
for _ in range(3):
    seen, done, start = torch.randn(3, 4, 3), [], state
    for x in seen:
        state = core(x, state)
        given = torch.distributions.Categorical(logits=head(state))
        action = given.sample()
        done.append((x, action, given.log_prob(action)))
    for _ in range(2):
        hidden, loss = start, torch.zeros(())
        for x, action, old in done:
            hidden = core(x, hidden)
            new = torch.distributions.Categorical(logits=head(hidden)).log_prob(action)
            loss = loss - ((new - old).exp() * (action == 1)).mean()
        both.zero_grad()
        loss.backward()
        both.step()
""",
    {
        "without gradient": (QUIETLY,),
        "constant": (
            ("given.log_prob(action)))", "given.log_prob(action).detach()))"),
            ("    for _ in range(2)", "    start, state = start.detach(), state.detach()\n    for _ in range(2)"),
        ),
        "keep": EDITS["keep"],
        "first pass alone": (
            (
                "        both.step()",
                "        both.step()\n        start, done = start.detach(), [(x, a, o.detach()) for x, a, o in done]",
            ),
        ),
        "the learner's state cut": (QUIETLY, ("core(x, hidden)", "core(x, hidden.detach())")),
    },
    frozenset({"without gradient", "constant"}),
)  # fmt: skip
HANDED_ON = Program(
    "a state is handed on, and actions are drawn",
    """\
core, head = nn.GRUCell(3, 6), Net(6, 3)
both = Optimizers(core, head)
state = torch.zeros(4, 6)
for _ in range(5):
    loss = torch.zeros(())
    for x in torch.randn(3, 4, 3):
        state = core(x, state)
        shown = state
        given = torch.distributions.Categorical(logits=head(shown))
        action = given.sample()
        loss = loss - (given.log_prob(action) * (action == 1)).mean()
    both.zero_grad()
    loss.backward()
    both.step()
""",
    {
        "cut where kept": (("    both.step()", "    both.step()\n    state = state.detach()"),),
        "cut in its own pass": (("        shown = state", "        shown = state = state.detach()"),),
        "the last one cut": (
            ("    for x in torch", "    state = state.detach()\n    for x in torch"),
            ("shown = state", "shown = state.detach()"),
        ),
        "keep": EDITS["keep"],
    },
    frozenset({"cut where kept"}),
)  # fmt: skip
CENTRED = Program(
    "a centre is computed while the network evaluates",
    """\
net = Net(4, 3)
both = Optimizers(net)
for _ in range(2):
    x = torch.randn(9, 4)
    net.eval()
    centre = net(x).mean(0)
    net.train()
    for part in (0, 3, 6, 0):
        loss = (net(x[part : part + 3]) - centre).square().mean()
        both.zero_grad()
        loss.backward()
        both.step()
""",
    {
        **{
            name: tuple(
                (
                    a.replace("    for _ in range(4):", "    for part"),
                    b.replace("{old}", "centre").replace("    for _ in range(4):", "    for part"),
                )
                for a, b in changes
            )
            for name, changes in EDITS.items()
        },
        "anew": (("        loss = (", "        centre = net(x).mean(0)\n        loss = ("),),
        "no gradient": (("centre = net(x).mean(0)", "centre = net(x).mean(0).detach()"),),
    },
    frozenset({"constant", "no gradient"}),
)
OTHER = (
    "both = Optimizers(net)",
    "other = Net(4, 3)\nboth = torch.optim.SGD([*net.parameters(), *other.parameters()], lr=0.05)",
)
LABEL = "    label = scores.argmax(1)\n"
GIVEN = "    label = x[:, :3].argmax(1)\n"
ONE_BY_ONE = Program(
    "records of actions are taken one by one",
    """\
def draws(scores):
    return torch.distributions.Categorical(logits=scores)


policy, value = Net(4, 2), Net(4, 1)
both = Optimizers(policy, value)
for _ in range(3):
    records = []
    for _ in range(5):
        seen = torch.randn(4)
        chosen = draws(policy(seen))
        action = chosen.sample()
        records.append({"seen": seen, "action": action, "old": chosen.log_prob(action), "reward": seen[0]})
    for _ in range(2):
        for one in records:
            new = draws(policy(one["seen"])).log_prob(one["action"])
            ratio = (new - one["old"]).exp()
            guess = value(one["seen"]).squeeze(0)
            loss = -ratio * (one["reward"] - guess.detach()) + (one["reward"] - guess) ** 2
            both.zero_grad()
            loss.backward()
            both.step()
""",
    {
        "constant": (("chosen.log_prob(action)", "chosen.log_prob(action).detach()"),),
        "constant where used": (('one["old"]', 'one["old"].detach()'),),
        "keep": (("loss.backward()", "loss.backward(retain_graph=True)"),),
        "first pass alone": (
            ("            both.step()\n", '            both.step()\n            one["old"] = one["old"].detach()\n'),
        ),
        "anew": (('new - one["old"]', 'new - draws(policy(one["seen"])).log_prob(one["action"])'),),
        "constant against a constant": (('new - one["old"]', 'new.detach() - one["old"].detach()'),),
    },
    frozenset({"constant", "constant where used"}),
)
PROGRAMS = (
    ONE_BY_ONE,
    ACTIONS,
    ACTIONS.mutated(
        "actions are numbers on a scale",
        ("Categorical(logits=scores)", "Normal(scores[:, 0], 1.0)"),
        ("(action == 1).float()", "action.cos()"),
        right=("constant",),
    ),
    ACTIONS.mutated(
        "nothing is drawn, but a ratio with what was before is taken",
        ("action = chosen.sample()", "action = seen[:, :3].argmax(1)"),
        right=("constant",),
    ),
    ACTIONS.mutated(
        "noise is drawn, and no action",
        ("action = chosen.sample()", "action = torch.rand_like(chosen.logits)[:, :3].argmax(1)"),
        ("(new - old).exp()", "(new - 0.5 * old).exp()"),
    ),
    UNROLLS,
    CENTRED,
    CENTRED.mutated("a centre, always in one mode", ("    net.train()\n", "")),
    CENTRED.mutated("a centre, and nobody says a mode", ("    net.eval()\n", "")),
    CENTRED.mutated("a centre for another network", ("(net(x[part", "(other(x[part"), OTHER),
    HANDED_ON,
    LABELS,
    LABELS.mutated("labels are given: prototypes of examples", (LABEL, GIVEN)),
    LABELS.mutated("what scores most is only printed", (LABEL, GIVEN + "    print(int(scores.argmax()))\n")),
    LABELS.mutated(
        "a trunk under a head, which each pass applies alone",
        ("net = Net(4, 3)", "net, head = Net(4, 3), Net(3, 3)"), ("Optimizers(net)", "Optimizers(net, head)"),
        ("out = net(x + 0.1)", "out = head(scores)"), ("(out - centre[label])", "(out - centre[label] + net.out.bias)"),
    ),
    LABELS.mutated(
        "each pass only keeps the trunk small",
        ("net = Net(4, 3)", "net, head = Net(4, 3), Net(3, 3)"),
        ("Optimizers(net)", "(torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.05))"),
        ("out = net(x + 0.1)", "out = head(x[:, :3])"),
        ("loss = F.cross", "loss = sum(p.square().sum() for p in net.parameters()) + F.cross"),
    ),
)  # fmt: skip


DEAR = (UNROLLS.mutated("two passes, and nothing is drawn", ("action = given.sample()", "action = x.argmax(1)")),)
