"""A target made without gradient is data: what an assigner hands out, and what only looks like it."""

from __future__ import annotations

from dataclasses import replace

from lawful import Program

TEXT = """\
net = Net(3, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


@torch.no_grad()
def assign(out):
    best = out[:, 0].topk(4).indices
    return out[best, 1], out[best, 1].sigmoid(), best


for _ in range(5):
    out = net(torch.randn(8, 3))
    kept, quality, best = assign(out)
    far = (kept - 1).square().mean()
    guess = out[best, 0]
    loss = F.binary_cross_entropy_with_logits(guess, quality)
    optimizer.zero_grad()
    far.backward(retain_graph=True)
    loss.backward()
    optimizer.step()
"""
ASSIGNED = Program(
    "an assigner hands out what it matched, and how good it is",
    TEXT,
    {
        "by place": (("(kept - 1)", "(out[best, 1] - 1)"),),
        "gathered with gradient": (
            (
                "    return out[best, 1], ",
                "    with torch.enable_grad():\n        kept = out[best, 1]\n    return kept, ",
            ),
        ),
        "the target is cut": (
            ("@torch.no_grad()\n", ""),
            (".sigmoid(), best", ".sigmoid().detach(), best"),
        ),
        "all with gradient": (("@torch.no_grad()", "@torch.enable_grad()"),),
        "a leaf": (("(kept - 1)", "(kept.requires_grad_() - 1)"),),
        "the prediction is cut": (
            ("@torch.no_grad()\n", ""),
            ("    loss =", "    guess = guess.detach()\n    loss ="),
        ),
        "another matched": (("(kept - 1)", "(out[best, 2] - 1)"),),
        "the target is another": (
            ("(kept - 1)", "(out[best, 1] - 1)"),
            ("    far =", "    quality = quality.square()\n    far ="),
        ),
        "no target": (("(kept - 1)", "(out[best, 1] - 1)"), ("    far =", "    quality = torch.ones(4)\n    far =")),
        "unmatched, too": (("(kept - 1)", "(out[:, 1] - 1)"),),
        "left out": (("far.backward(retain_graph=True)", "far"),),
    },
    frozenset({"by place", "gathered with gradient", "the target is cut"}),
)
RIGHT = ("by place", "gathered with gradient", "the target is cut")
ANOTHER_TOO = ASSIGNED.mutated(
    "the same call is given another target, too",
    (
        "loss = F.binary_cross_entropy_with_logits(guess, quality)",
        "loss = sum(F.binary_cross_entropy_with_logits(guess, one) for one in (quality, out[:4, 2].sigmoid()))",
    ),
)
BOTH_CUT = (("@torch.no_grad()", "@torch.enable_grad()"), ("(guess, one)", "(guess, one.detach())"))
ANOTHER_TOO = replace(ANOTHER_TOO, edits={**ANOTHER_TOO.edits, "both targets are cut": BOTH_CUT})
PROGRAMS = (
    ASSIGNED,
    ASSIGNED.mutated(
        "a squared error by hand",
        ("F.binary_cross_entropy_with_logits(guess, quality)", "(quality - guess).square().mean()"),
        right=RIGHT,
    ),
    ASSIGNED.mutated(
        "the prediction is made there, too",
        ("out[best, 1].sigmoid(), best\n", "out[best, 1].sigmoid(), best, out[best, 0]\n"),
        ("best = assign(out)\n", "best, guess = assign(out)\n"),
        ("    guess = out[best, 0]\n", ""),
        ("guess, quality)", "guess + 0 * out.sum(), quality)"),
    ),
    ASSIGNED.mutated(
        "one loss alone",
        ("    loss.backward()\n", ""),
        right=(*RIGHT, "all with gradient", "the prediction is cut"),
    ),
    ASSIGNED.mutated(
        "what is aimed at learns by that alone",
        ("net = Net(3, 3)\n", "net = Net(3, 3)\nscale = nn.Parameter(torch.ones(1))\n"),
        ("SGD(net.parameters()", "SGD([*net.parameters(), scale]"),
        ("out[best, 1].sigmoid(), best\n", "(scale * out[best, 1]).sigmoid(), best\n"),
        right=("all with gradient",),
    ),
    ANOTHER_TOO,
)
