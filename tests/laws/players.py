"""A loss trains what steps on it, of two players whose losses use one score: where it speaks, and where it must not."""

from __future__ import annotations

from lawful import Program

SCORED = Program(
    "a generator and its critic use one score, and both step at the end",
    """\
G, D = Net(4, 3), Net(3, 1)
opt_g, opt_d = Optimizers(G), Optimizers(D)
for _ in range(4):
    x, real = torch.randn(6, 4), torch.randn(6, 3)
    fake = G(x)
    held, score = D(real), D(fake)
    of_g, of_d = score, score
    loss_g = F.softplus(-of_g).mean() + 0.1 * F.l1_loss(fake, real)
    loss_d = F.softplus(-held).mean() + F.softplus(of_d).mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_d.zero_grad()
    loss_d.backward()
    opt_g.step(), opt_d.step()
""",
    {
        "keep": (("loss_g.backward()", "loss_g.backward(retain_graph=True)"),),
        "anew, cut D's": (("= score, score", "= score, D(fake.detach())"),),
        "D's alone": (
            ("loss_g.backward()", "loss_g.backward(retain_graph=True)"),
            ("loss_d.backward()", "loss_d.backward(inputs=list(D.parameters()))"),
        ),
        "each alone": (
            ("loss_g.backward()", "loss_g.backward(retain_graph=True, inputs=list(G.parameters()))"),
            ("loss_d.backward()", "loss_d.backward(inputs=list(D.parameters()))"),
        ),
        "cut the score": (("= score, score", "= score, score.detach()"),),
        "anew, cut G's": (("= score, score", "= D(fake.detach()), score"),),
        "G's for D": (
            ("loss_g.backward()", "loss_g.backward(retain_graph=True)"),
            ("loss_d.backward()", "loss_d.backward(inputs=list(G.parameters()))"),
        ),
    },
    frozenset({"anew, cut D's", "D's alone", "each alone"}),
)
RIGHT = tuple(SCORED.right)
OF_G, OF_D, HELD = "F.softplus(-of_g).mean()", "F.softplus(of_d).mean()", "F.softplus(-held).mean()"
LIKELIHOOD = ("((fake - real).square().mean(1, keepdim=True) * torch.exp(-of_g)).mean()", "of_d.mean()")
TARGETS = SCORED.mutated(
    "the losses have targets", (OF_G, "(of_g - 1).square().mean()"), (OF_D, "of_d.square().mean()")
)
BOTH = SCORED.mutated(
    "the critic learns from both",
    ("    opt_d.zero_grad()\n", ""),
    ("    opt_g.zero_grad()\n", "    opt_g.zero_grad(), opt_d.zero_grad()\n"),
)

PROGRAMS = (
    SCORED,
    SCORED.mutated("the critic steps first", ("opt_g.step(), opt_d.step()", "opt_d.step(), opt_g.step()"), right=RIGHT),
    SCORED.mutated("a critic of Wasserstein's", (OF_G, "-of_g.mean()"), (OF_D, "(of_d - held).mean()"), right=RIGHT),
    SCORED.mutated("a hinge", (OF_G, "-of_g.mean()"), (OF_D, "F.relu(1 + of_d).mean()"), right=RIGHT),
    SCORED.mutated("the generator has no other loss", (" + 0.1 * F.l1_loss(fake, real)", ""), right=RIGHT),
    TARGETS,
    SCORED.mutated("both pull the same way", (OF_G, "F.softplus(of_g).mean()")),
    SCORED.mutated("a judge of domains is to be unsure", (OF_G, "(of_g.sigmoid() - 0.5).square().mean()")),
    SCORED.mutated("the critic's loss holds nothing made of data", (f"{HELD} + ", "")),
    SCORED.mutated("data comes through the other network, too", ("D(real), D(fake)", "D(G(x + 1)), D(fake)")),
    SCORED.mutated("a term of the critic's trains the other", (HELD, f"{HELD} + (fake - 1).square().mean()")),
    SCORED.mutated(
        "a term of the critic's goes through a score of its own", (HELD, f"{HELD} + D(fake + 1).exp().mean()")
    ),
    SCORED.mutated(
        "a term of the critic's goes through another part of the score",
        ("Net(3, 1)", "Net(3, 2)"),
        (HELD, f"{HELD} + (D(fake)[:, 1] - 1).square().mean()"),
        (OF_G, "F.softplus(-of_g[:, 0]).mean()"),
        (OF_D, "F.softplus(of_d[:, 0]).mean()"),
    ),
    BOTH,
    SCORED.mutated("two terms of a likelihood", (OF_G, LIKELIHOOD[0]), (f"{HELD} + {OF_D}", LIKELIHOOD[1])),
    SCORED.mutated(
        "they are one network's",
        ("Optimizers(G), Optimizers(D)", "Optimizers(G, D), Optimizers(D)"),
    ),
)
