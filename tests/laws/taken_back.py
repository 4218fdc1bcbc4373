"""A step takes back what its own loss asks for, and programs in which two losses are meant though they share a term."""

from __future__ import annotations

from lawful import Program

KEPT = ("first.backward()", "first.backward(retain_graph=True)")
TEXT = """\
net, other = NETS
of_net, of_other = OPTIMIZERS
for _ in range(5):
    x, label = torch.randn(8, 4), torch.randint(0, 2, (8,))
    h = net(x)
    of_net.zero_grad(), of_other.zero_grad()
    SHARED
    first = FIRST
    first.backward()
    of_other.step()
    own = OWN
    own.backward()
    of_net.step()
"""
RIGHT = frozenset({"only its own", "cleared between"})


def program(  # noqa: PLR0913, PLR0917  the parts of a program, in its order
    name: str, nets: str, optimizers: str, shared: str, first: str, own: str, *, right: bool = True
) -> Program:
    """A program in which another optimizer steps on a first loss, and the network's on its own one."""
    text = TEXT.replace("NETS", nets).replace("OPTIMIZERS", optimizers).replace("SHARED", shared)
    text = text.replace("FIRST", first).replace("OWN", own)
    edits = {
        "keep": (KEPT,),
        "only its own": (
            (
                "first.backward()",
                'first.backward(retain_graph=True, inputs=[p for g in of_other.param_groups for p in g["params"]])',
            ),
        ),
        "cleared between": (KEPT, ("    own.backward()", "    of_net.zero_grad()\n    own.backward()")),
        "one backward": (("    first.backward()\n    of_other.step()\n", ""),
                         ("own.backward()", "(first + own).backward()"),
                         ("    of_net.step()", "    of_net.step(), of_other.step()")),
        "own loss cut": (("own.backward()", "own.detach().requires_grad_().backward()"),),
    }  # fmt: skip
    return Program(name, text, edits, RIGHT if right else frozenset())


SGD = "torch.optim.SGD(net.parameters(), lr=0.05), torch.optim.SGD({}, lr=0.05)"
ONE, NET = SGD.format("[other]"), SGD.format("other.parameters()")
SCALE = "Net(4, 2), torch.zeros(1, requires_grad=True)"
GAP = "gap = F.cross_entropy(h, label)"
TASK = "(h[:, 0] - x[:, 0]).square().mean()"
DOMAIN = "Net(4, 3), Net(3, 2)"
TOLD = "told = F.cross_entropy(other(h), label)"
CLASSY = Program(
    "a multiplier of a class goes last",
    """\
class Agent:
    def __init__(self):
        self.net, self.scale = Net(4, 2), nn.Parameter(torch.zeros(()))
        self.of_net = torch.optim.Adam(self.net.parameters(), lr=0.01)
        self.of_scale = torch.optim.Adam([self.scale], lr=0.01)

    def learn(self, x, label):
        h = self.net(x)
        gap = F.cross_entropy(h, label)
        term = self.scale.exp() * (gap - 0.4)
        self.of_net.zero_grad(), self.of_scale.zero_grad()
        loss = (h[:, 0] - x[:, 0]).square().mean() + term
        loss.backward()
        self.of_net.step()
        dual = -term
        dual.backward()
        self.of_scale.step()


agent = Agent()
for _ in range(5):
    agent.learn(torch.randn(8, 4), torch.randint(0, 2, (8,)))
""",
    {
        "keep": (("loss.backward()", "loss.backward(retain_graph=True)"),),
        "anew": (("dual = -term", "dual = -self.scale.exp() * (gap.detach() - 0.4)"),),
        "anew, and cleared": (
            ("dual = -term", "dual = -self.scale.exp() * (gap.detach() - 0.4); self.of_scale.zero_grad()"),
        ),
        "each its own": (
            ("= -term", "= -self.scale.exp() * (gap.detach() - 0.4)"),
            ("+ term\n", "+ self.scale.exp().detach() * (gap - 0.4)\n"),
        ),
    },
    frozenset({"anew, and cleared"}),
)
GAME = Program(
    "a trunk of a game is stepped by an optimizer of its own",
    """\
trunk, gen, dis = Net(4, 3), Net(3, 3), Net(3, 1)
of_trunk, of_gen, of_dis = Optimizers(trunk), Optimizers(gen), Optimizers(dis)
for _ in range(5):
    of_trunk.zero_grad(), of_gen.zero_grad(), of_dis.zero_grad()
    h = trunk(torch.randn(8, 4))
    made = gen(h)
    score = (made * h).mean()
    first = score + dis(h).square().mean()
    first.backward()
    of_dis.step()
    own = -score + (made - 1).square().mean()
    own.backward()
    of_gen.step(), of_trunk.step()
""",
    {
        "keep": (KEPT,),
        "cleared for one": (KEPT, ("    own.backward()", "    of_gen.zero_grad()\n    own.backward()")),
        "cleared for both": (
            KEPT,
            ("    own.backward()", "    of_gen.zero_grad(), of_trunk.zero_grad()\n    own.backward()"),
        ),
    },
)

PROGRAMS = (
    CLASSY,
    GAME,
    program(
        "a multiplier rises with the constraint",
        SCALE,
        ONE,
        GAP,
        "-(other.exp() * (gap - 0.4))",
        f"{TASK} + other.exp().detach() * gap",
    ),
    program(
        "the product is shared",
        SCALE,
        ONE,
        f"{GAP}; term = other.exp() * (gap - 0.4)",
        "-0.5 * term",
        f"0.5 * {TASK} + term",
    ),
    program(
        "for each of a batch",
        SCALE,
        ONE,
        "gap = F.cross_entropy(h, label, reduction='none')",
        "(other.exp() * (0.4 - gap)).mean()",
        f"{TASK} + (F.softplus(other).detach() * gap).sum() / 8",
    ),
    program(
        "a domain is told apart by one network and hidden by another",
        DOMAIN,
        NET,
        TOLD,
        "told",
        "h.square().mean() - 0.3 * told",
        right=False,  # the weights of the other network moved: to be told apart anew
    ),
    program(
        "two multipliers",
        "Net(4, 2), torch.zeros(2, requires_grad=True)",
        ONE,
        f"{GAP}; size = h.square().mean(); scale = F.softplus(other)",
        "-(scale[0] * (gap - 0.4) + scale[1] * (size - 0.1))",
        f"{TASK} + scale.detach()[0] * gap + scale.detach()[1] * size",
    ),
    program(
        "a multiplier that is divided by",
        SCALE,
        ONE,
        GAP,
        "(0.4 - gap) / other.exp()",
        f"{TASK} + gap / other.detach().exp()",
    ),
    program(
        "a lower bound is kept",
        SCALE,
        ONE,
        "spread = h.std()",
        "other.exp() * (spread - 0.5)",
        f"{TASK} - other.exp().detach() * spread",
    ),
    program(
        "all of the own loss is that term",
        SCALE,
        ONE,
        GAP,
        "-(other.exp() * (gap - 0.4))",
        "other.exp().detach() * gap",
    ),
    # What is easily mistaken for it.
    program("both pull the same way", SCALE, ONE, GAP, "other.exp() * gap", f"{TASK} + gap", right=False),
    program(
        "the first has a minimum in the term", SCALE, ONE, GAP, "(gap - 3 - other).square().sum()", f"{TASK} + gap",
        right=False,
    ),
    program(
        "the first is a hinge of the term", SCALE, ONE, GAP, "F.relu(3 + other - gap).sum()", f"{TASK} + gap",
        right=False,
    ),
    program(
        "its own loss has a minimum in the term", SCALE, ONE, GAP, "-other.exp() * gap", f"{TASK} + (gap - 0.1).abs()",
        right=False,
    ),
    program(
        "its own loss uses the term elsewhere, too", SCALE, ONE, GAP, "-other.exp() * gap",
        f"{TASK} + gap + 0.1 * gap.square()", right=False,
    ),
    program(
        "the first has a further term for the network", SCALE, ONE, f"{GAP}; size = h.square().mean()",
        "-other.exp() * gap + size", f"{TASK} + gap", right=False,
    ),
    program(
        "its own loss is what is left of a sum", SCALE, ONE, f"{GAP}; total = {TASK} + 0.5 * gap",
        "other.exp().detach() * gap + other.square().sum()", "total - gap", right=False,
    ),
    program(
        "the sign of the weight changes",
        SCALE,
        ONE,
        f"{GAP}; sign = 1 - 2 * (_ % 2)",
        "-(other.exp() * gap * sign)",
        f"{TASK} + gap",
        right=False,
    ),
    program(
        "they share the network's output alone", DOMAIN, NET, TOLD, "told", "-F.cross_entropy(h[:, :2], label)",
        right=False,
    ),
    program(
        "what comes back is turned round for the network", DOMAIN, NET,
        "turned = h.detach() * 2 - h; told = F.cross_entropy(other(turned), label)", "told", TASK, right=False,
    ),
    program(
        "a trunk under two heads", DOMAIN, NET, TOLD, "told", f"{TASK} + 0.1 * h.square().mean()", right=False,
    ),
)  # fmt: skip
