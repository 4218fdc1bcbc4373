"""What is handed from round to round of several phases is cut between rounds, and nothing within one is."""

from __future__ import annotations

import re
from dataclasses import replace

from lawful import Program

TEXT = """\
one, two = Net(3, 3), Net(2, 3)
first, second = Optimizers(one), Optimizers(two)
k = 0.1
for _ in range(9):
    for _ in range(TIMES):
        x = torch.randn(6, 3)
        given = two(torch.randn(6, 2)).detach()
        real, fake = (one(x) - x).abs().mean(), (one(given) - given).abs().mean()
        loss = real - k * fake
        first.zero_grad()
        loss.backward()
        first.step()
    given = two(torch.randn(6, 2))
    other = (one(given) - given).abs().mean()
    second.zero_grad()
    other.backward()
    second.step()
    k = RULE
"""
FAKE = "k * fake"


def weighed(name: str, rule: str, times: int = 1) -> Program:
    """A program whose first phase is weighed by what a rule makes of the losses of both."""
    return Program(
        name,
        TEXT.replace("RULE", rule).replace("TIMES", str(times)),
        {
            "cut": ((rule, re.sub("(real|other)", r"\1.detach()", rule)),),
            "a number": ((rule, f"float({rule})"),),
            "the loss is cut": ((FAKE, "k * fake.detach()"),),
            "half": ((rule, f"0.5 * float({rule})"),),
            "it never moves": ((rule, "k"),),
        },
        frozenset({"cut", "a number"}),
    )


PIPED = Program(
    "what one phase made is used by the first of the next round, and trained there",
    """\
one, two = Net(3, 1), Net(2, 3)
first, second = Optimizers(one), Optimizers(two)
z = two(torch.randn(6, 2))
for _ in range(6):
    first.zero_grad()
    second.zero_grad()
    loss = (one(z) - 1).square().mean()
    loss.backward()
    first.step()
    z = two(torch.randn(6, 2))
    other = z.square().mean()
    other.backward()
    second.step()
    end = 0
""",
    {"cut": (("end = 0", "z = z.detach()"),), "cut where it is used": (("one(z)", "one(z.detach())"),)},
)
SMOOTH = Program(
    "the second phase holds a state against that of the round before",
    """\
one, two = Net(3, 3), Net(3, 1)
first, second = Optimizers(two), Optimizers(one)
before = torch.zeros(6, 3)
for _ in range(6):
    h = one(torch.randn(6, 3))
    first.zero_grad()
    second.zero_grad()
    loss = (two(h) - 1).square().mean()
    loss.backward(retain_graph=True)
    first.step()
    second.zero_grad()
    other = (h - before).square().mean() + h.abs().mean()
    other.backward()
    second.step()
    before = h
""",
    {
        "cut": (("before = h", "before = h.detach()"),),
        "the change is cut": (("(h - before)", "(h - before).detach()"), ("before = h", "before = h.detach()")),
        "both are cut": (("(h - before)", "(h.detach() - before)"), ("before = h", "before = h.detach()")),
    },
    frozenset({"cut"}),
)
PROGRAMS = (
    weighed("a weight follows the losses of two phases", "k + 0.1 * (0.7 * real - other)"),
    weighed("it is clamped", "min(max(k + 0.1 * (0.7 * real - other), 0), 1)"),
    weighed("an average of a ratio", "0.9 * k + 0.1 * real / (real + other)"),
    weighed("the first phase has two steps", "k + 0.1 * (0.7 * real - other)", 2),
    weighed("it has no memory", "0.1 * (0.7 * real - other)"),
    # what the second loss was made of looks made once: nothing of it is made anew in the first phase
    replace(weighed("a controller of the second loss", "k + 0.1 * (0.7 - other)"), right=frozenset()),
    PIPED,
    replace(
        PIPED.mutated(
            "two of them are mixed",
            ("z = two(torch.randn(6, 2))\n    other", "z = two(torch.randn(6, 2)) - 0.5 * z\n    other"),
        ),
        edits={"cut": (("end = 0", "z = z.detach()"),), "cut in part": (("0.5 * z", "0.5 * z.detach()"),)},
    ),
    SMOOTH,
)
