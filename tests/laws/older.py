"""What is compared is the older: what is held against its own former value, and what only looks like it."""

from __future__ import annotations

from dataclasses import replace

from lawful import Program

LOOP, NOW, FORMER = "    for _ in range(3):\n", "        now = give()\n", "    former = give()\n"
KEPT = Program(
    "a network is to give for old inputs what it gave before",
    """\
net, head = Net(3, 4), Net(4, 1)
both = Optimizers(net, head)
old = torch.eye(3)


def give():
    return net(old).sigmoid()


for _ in range(3):
    former = give()
    for _ in range(3):
        x, y = torch.randn(6, 3), torch.randn(6, 1)
        now = give()
        loss = F.mse_loss(head(net(x)), y) + (now - former).square().sum()
        both.zero_grad()
        loss.backward()
        both.step()
""",
    {
        "constant": ((FORMER, "    former = give().detach()\n"),),
        "without gradient": ((FORMER, "    with torch.no_grad():\n        former = give()\n"),),
        "cut in each pass": ((NOW, NOW + "        former = former.detach()\n"),),
        "anew": ((FORMER, ""), (NOW, NOW + "        former = give()\n")),
        "anew and cut": ((NOW, NOW + "        former = give().detach()\n"),),
        "keep": (("loss.backward()", "loss.backward(retain_graph=True)"),),
        "both cut": ((NOW, "        now, former = give().detach(), former.detach()\n"),),
    },
    frozenset({"constant", "without gradient", "cut in each pass"}),
)
RIGHT = tuple(KEPT.right)
BEGUN = KEPT.mutated(
    "the first round is held against data",
    ("\n\nfor _ in range(3):\n    former = give()\n", "\n\nformer = torch.rand(3, 4)\nfor _ in range(3):\n"),
    ("        both.step()\n", "        both.step()\n    former = give()\n"),
    right=RIGHT,
)
STREAM = """\
import random

net, other, head = Net(3, 4), Net(3, 4), Net(4, 1)
both = Optimizers(net, other, head)
kept, rng = [], random.Random(0)
for _ in range(9):
    x, y = torch.randn(5, 3), torch.randn(5, 1)
    out = GIVES(x)
    loss = F.mse_loss(head(out), y)
    if len(kept) > 10:
        seen, said = map(torch.stack, zip(*rng.sample(kept[:-10], 4)))
        new = GIVES(seen)
        loss = loss + TERM
    both.zero_grad()
    loss.backward()
    both.step()
    kept += zip(x, out)
"""


def replayed(
    name: str, term: str = "F.mse_loss(new, said)", gives: str = "net", new: str = "", *, known: bool
) -> Program:
    """A program that holds what a network gives against what it gave, of samples that are drawn from all before.

    `known`: that is the same but for updates.
    """
    given = f"new = {gives}(seen)"
    text = STREAM.replace(given.replace(gives, "GIVES"), new or given).replace("GIVES", gives).replace("TERM", term)
    return Program(
        name,
        text,
        {
            "constant": (("zip(x, out)", "zip(x, out.detach())"),),
            "cut where it is used": (("        new =", "        said = said.detach()\n        new ="),),
            "anew": ((f"+ {term}", f"+ {term.replace('said', f'{gives}(seen)')}"),),
            "anew and cut": ((f"+ {term}", f"+ {term.replace('said', f'{gives}(seen).detach()')}"),),
            "both are cut": ((f"+ {term}", f"+ ({term}).detach()"), ("zip(x, out)", "zip(x, out.detach())")),
            "left out": ((f"loss + {term}", "loss"),),
            "keep": (("loss.backward()", "loss.backward(retain_graph=True)"),),
            "cut for all": ((f"out = {gives}(x)", f"out = {gives}(x).detach()"),),
        },
        frozenset({"constant", "cut where it is used"} if known else ()),
    )


WEIGHTS, MEANS = "weights = [slope.square() for slope in slopes]", "means = [p.clone() for p in net.parameters()]"
TERM = "(weight * (p - mean).square()).sum()"
ANCHORED = Program(
    "what weighs the distance from former parameters was made of them",
    f"""\
net, head = Net(3, 4), Net(4, 1)
scale = nn.Parameter(torch.ones(()))
both = Optimizers(net, head)
for task in range(3):
    for _ in range(4):
        x, y = torch.randn(6, 3), torch.randn(6, 1)
        loss = F.mse_loss(head(net(x)), y)
        if task > 0:
            loss = loss + sum({TERM} for weight, p, mean in zip(weights, net.parameters(), means))
        both.zero_grad()
        loss.backward()
        both.step()
    slopes = torch.autograd.grad(net(x).square().sum(), list(net.parameters()), create_graph=True)
    {WEIGHTS}
    {MEANS}
""",
    {
        "constant": (
            (WEIGHTS, WEIGHTS.replace("slope.sq", "slope.detach().sq")),
            (MEANS, MEANS.replace("clone()", "detach().clone()")),
        ),
        "without graph": ((", create_graph=True", ""), (MEANS, MEANS.replace("clone()", "detach().clone()"))),
        "only weights": ((WEIGHTS, WEIGHTS.replace("slope.sq", "slope.detach().sq")),),
        "only means": ((MEANS, MEANS.replace("clone()", "detach().clone()")),),
        "no copies": (
            (WEIGHTS, WEIGHTS.replace("slope.sq", "slope.detach().sq")),
            (MEANS, MEANS.replace("clone()", "detach()")),
        ),
        "keep": (("loss.backward()", "loss.backward(retain_graph=True)"),),
    },
    frozenset({"constant", "without graph"}),
)
OF_NET = "net(x).square().sum()"


def anchored(name: str, *changes: tuple[str, str]) -> Program:
    """The same, changed so that what is made along with former parameters may be meant to learn."""
    return ANCHORED.mutated(name, *changes)


PROGRAMS = (
    KEPT,
    ANCHORED,
    anchored("what weighs the distance is a term, too", (TERM, f"({TERM} + 0.1 * weight.sum())")),
    anchored("what weighs the distance is also made of others", (OF_NET, "head(net(x)).square().sum()")),
    anchored(
        "it is also made of a scale that is learned",
        (OF_NET, f"scale * {OF_NET}"),
        ("(net, head)", "(net, head)\nboth.each[0].add_param_group({'params': [scale]})"),
    ),
    anchored(
        "parameters are copied a step later",
        (f"    {MEANS}\n", f"    head(net(x)).sum().backward()\n    both.step()\n    {MEANS}\n"),
    ),
    anchored("it weighs the distance from other numbers", ("(p - mean)", "(p - mean - 0.1)")),
    anchored(
        "features are made along with former parameters",
        ("    slopes", "    seen = net(x).sigmoid()\n    slopes"),
        (f"sum({TERM}", f"head(seen).square().mean() + sum({TERM}"),
    ),
    BEGUN,
    BEGUN.mutated("data first, then what is given for other inputs", ("(now - former)", "(net(old + 0.1) - former)")),
    replayed("answers that are kept with their inputs are held against new ones in other batches", known=True),
    replayed("answers are held against new ones by a ratio", "(new / said).clamp(-2, 2).square().mean()", known=True),
    replayed("a distillation", "F.kl_div(new.log_softmax(1), said.softmax(1), reduction='sum')", known=True),
    replayed("a distillation by logarithms", "(new.log_softmax(1) - said.log_softmax(1)).square().sum()", known=True),
    replayed("two terms hold it", "F.l1_loss(new, said) + F.mse_loss(new, said)", known=True),
    replayed("it is held against what is given for other inputs", new="new = net(seen + 0.1)", known=False),
    replayed("it is held against what another network gives", new="new = other(seen)", known=False),
    replayed("what was kept has another noise", gives="(lambda z: F.dropout(net(z), 0.3))", known=False),
    replayed("what was kept is trained, too", "F.mse_loss(new, said) + head(said).exp().mean()", known=False),
    replayed("what was kept weighs another term, too", "F.mse_loss(new, said) + (said * new).mean()", known=False),
    replayed("it is held against nothing", "(new * said).square().mean()", known=False),
    KEPT.mutated("a ratio", ("(now - former).square()", "(now / former - 0.5).square()"), right=RIGHT),
    KEPT.mutated("it is held against what is given for other inputs", ("(now - former)", "(net(old + 0.1) - former)")),
    KEPT.mutated("noise in both", ("net(old).sigmoid()", "F.dropout(net(old).sigmoid(), 0.5)")),
    KEPT.mutated("it is trained by another term, too", ("square().sum()", "square().sum() + head(former).exp().sum()")),
    KEPT.mutated(
        "only something without a graph is compared with its former value",
        (FORMER, FORMER + "    held = [p.detach().clone() for p in net.parameters()]\n"),
        ("(now - former)", "(head(former) + sum((p - h).abs().sum() for p, h in zip(net.parameters(), held)))"),
    ),
    replace(
        KEPT.mutated(
            "what else is made once is compared with nothing",
            (FORMER, FORMER + "    mix = head(net(old)).softmax(0)\n"),
            ("+ (now", "+ (mix * net(old)).square().sum() + (now"),
        ),
        edits={
            "constant": ((FORMER, "    former = give().detach()\n"), ("softmax(0)", "softmax(0).detach()")),
            "anew": ((NOW, NOW + "        former, mix = give(), head(net(old)).softmax(0)\n"),),
            "only the other anew": (
                (FORMER, "    former = give().detach()\n"), (NOW, NOW + "        mix = head(net(old)).softmax(0)\n"),
            ),
        },
    ),
)  # fmt: skip
