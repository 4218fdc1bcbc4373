"""What is put by keeps its value: programs in which that law speaks, and as many that are easily mistaken for them."""

from __future__ import annotations

from lawful import Program

EVIDENCE = Program(
    "evidence of the true class is taken out of a second name",
    """\
body, head = Net(3, 6), Net(6, 4)
both = Optimizers(body, head)
for _ in range(5):
    evidence = F.softplus(head(body(torch.randn(8, 3)))) + 1
    fit = torch.digamma(evidence).mean()
    others = evidence
    others[:, 0] = 1.0
    misled = others.log().square().mean()
    share = (evidence / evidence.sum(1, keepdim=True)).square().mean()
    loss = fit + misled + share
    both.zero_grad()
    loss.backward()
    both.step()
""",
    {
        "a copy": (("others = evidence\n", "others = evidence.clone()\n"),),
        "a copy for the first term": (("digamma(evidence)", "digamma(evidence.clone())"),),
        "a copy without gradient": (("others = evidence\n", "others = evidence.detach().clone()\n"),),
        "into the values": (("others[:, 0] = 1.0", "others.data[:, 0] = 1.0"),),
        "one for both": (
            ("    others[:, 0] = 1.0", "    evidence = others = others.index_fill(1, torch.tensor([0]), 1.0)"),
        ),
    },
    frozenset({"a copy"}),
)
CLEAN = Program(
    "what is clean is put by before a mask is written",
    """\
encoder, decoder = Net(3, 6), Net(6, 3)
both = Optimizers(encoder, decoder)


def lost(x):
    hidden = torch.tanh(encoder(x))
    size = hidden.square().mean()
    target = hidden
    hidden[:, :2] = 0.5
    restored = decoder(hidden)
    return (restored - x).abs().mean() + size + (target.mean(0) - 1).abs().mean()


for _ in range(5):
    loss = lost(torch.randn(8, 3))
    both.zero_grad()
    loss.backward()
    both.step()
""",
    {
        "a copy is put by": (("target = hidden\n", "target = hidden.clone()\n    hidden = hidden.clone()\n"),),
        "a copy is written": (("    hidden[:, :2]", "    hidden = hidden.clone()\n    hidden[:, :2]"),),
        "constants are put by": (
            ("target = hidden\n", "target = hidden.detach().clone()\n    hidden = hidden.clone()\n"),
        ),
        "both are written": (("size = hidden.square()", "size = hidden.clone().square()"),),
    },
    frozenset({"a copy is put by", "a copy is written"}),
)
STEP = "    both.zero_grad()\n    loss.backward()\n    both.step()\n"
CALLED = f"    return loss\n\n\nfor _ in range(5):\n    loss = lost()\n{STEP}"

PROGRAMS = (
    EVIDENCE,
    EVIDENCE.mutated(
        "the parameters rest", ("    both.step()", "    both.step() if _ % 2 else None"), right=("a copy",)
    ),
    EVIDENCE.mutated("in a function", ("for _ in range(5):", "def lost():"), (STEP, CALLED), right=("a copy",)),
    CLEAN,
    CLEAN.mutated(
        "a part is added to", ("[:, :2] = 0.5", "[:, :2] += 0.5"), right=("a copy is put by", "a copy is written")
    ),
    # What follows is easily mistaken for it.
    EVIDENCE.mutated(
        "a part is named",
        ("others = evidence\n", "others = evidence\n    others = others[:, :2]\n"),
        right=("a copy for the first term",),
    ),
    EVIDENCE.mutated(
        "nobody reads the second name",
        ("misled = others", "misled = evidence"),
        right=("a copy for the first term", "one for both"),
    ),
    EVIDENCE.mutated(
        "nobody reads the first name",
        ("(evidence / evidence.sum(1, keepdim=True))", "others"),
        right=("a copy", "a copy for the first term", "one for both"),
    ),
    CLEAN.mutated(
        "it is filled in a loop",
        ("    hidden[:, :2] = 0.5", "    for at in range(2):\n        hidden[:, :2] = at"),
    ),
    CLEAN.mutated(
        "an attribute is put by",
        ("target = hidden\n", "target = hidden\n    encoder.target = target\n"),
        ("(target.mean", "(encoder.target.mean"),
    ),
)
