"""A second name is a copy: a tensor that a function names twice and writes to, and what is easily mistaken for it."""

from __future__ import annotations

from lawful import Program

READ = ("(scores * (1 - scores))", "(scores.clone() * (1 - scores.clone()))")
GIVEN = ("scores = torch.sigmoid(net(x))", "scores = torch.sigmoid(net(x)).clone()")
MASKED = Program(
    "scores are masked by a second name, and trained by both",
    """\
net, head = Net(3, 4), Net(4, 1)
both = Optimizers(net, head)


def loss_of(x, aim):
    scores = torch.sigmoid(net(x))
    sharp = (scores * (1 - scores)).mean()
    masked = scores
    masked[:, :2] = 0.5
    return (head(masked) - 1).square().mean() + (scores - aim).square().mean() + sharp


for _ in range(4):
    aim = torch.rand(6, 4)
    loss = loss_of(torch.randn(6, 3), aim)
    both.zero_grad()
    loss.backward()
    both.step()
""",
    {
        "a copy is written": (("masked = scores", "masked = scores.clone()"),),
        "a copy is read": (READ, GIVEN),
        "the copy is cut": (("masked = scores", "masked = scores.detach().clone()"),),
        "data is written": (("masked = scores", "masked = scores.data"),),
        "the other is cut": (("masked = scores", "masked = scores.clone()"), ("(scores - ", "(scores.detach() - ")),
    },
    frozenset({"a copy is written"}),
)
CALLER = """

def loss_of(x, aim):
    scores = torch.sigmoid(net(x))
    return score_of(scores, aim) + scores.square().mean()


for _"""
WITHOUT = "def without(x):\n    x[:, :2] = 0.5\n    return x\n\n\n"
HELPED = Program(
    "scores get a second name before a function masks them",
    WITHOUT
    + MASKED.text.replace(
        "masked = scores\n    masked[:, :2] = 0.5", "whole = scores\n    masked = without(scores)"
    ).replace("(scores - aim)", "(whole - aim)"),
    {
        "a copy is written": (("    x[:, :2] = 0.5\n", "    x = x.clone()\n    x[:, :2] = 0.5\n"),),
        "out of place": (
            ("    x[:, :2] = 0.5\n    return x", "    return torch.cat([torch.full((6, 2), 0.5), x[:, 2:]], 1)"),
        ),
        "the older is a copy": (READ, GIVEN, ("whole = scores", "whole = scores.clone()")),
        "a copy is read": (READ, GIVEN),
        "the copy is cut": (("    x[:, :2] = 0.5\n", "    x = x.detach().clone()\n    x[:, :2] = 0.5\n"),),
        "the older is cut": (READ, GIVEN, ("whole = scores", "whole = scores.detach().clone()")),
    },
    frozenset({"a copy is written", "out of place", "the older is a copy"}),
)
PROGRAMS = [
    MASKED,
    HELPED,
    MASKED.mutated(
        "a target is filled into what was predicted",
        ("masked[:, :2] = 0.5", "masked[:, :2] = aim[:, :2]"),
        ("(head(masked) - 1)", "(head(scores) - masked)"),
    ),
    MASKED.mutated(
        "a name stands for something else later", ("    return", "    scores = torch.tanh(scores)\n    return")
    ),
    MASKED.mutated("it is written again and again", ("    masked[", "    for _ in range(2):\n        masked[")),
    MASKED.mutated(
        "some passes read the other alone",
        ("    return", "    if x.mean() < 0:\n        return (masked - aim).square().mean()\n    return"),
    ),
    HELPED.mutated("the name that was handed over is read as well", ("(whole - aim)", "(whole - aim + scores)")),
    HELPED.mutated(
        "what a caller has is named before a function masks it",
        ("def loss_of(x, aim):\n    scores = torch.sigmoid(net(x))\n", "def score_of(scores, aim):\n"),
        ("\n\nfor _", CALLER),
    ),
]
