"""A part is read by its name after it was overwritten

## What it finds

A name was given to a part of a tensor (`x1, x2 = t[:, :n], t[:, n:]`), the same part was then assigned to
(`t[:, :n] = x1 * cos - x2 * sin`), and the name is read once more (`t[:, n:] = x2 * cos + x1 * sin`). The edit keeps
that. This is not said of a part that is written by its own name, nor of a copy, nor of other parts.

## Why it matters

The name shows what was written. The code literally says so, but it is seldom meant: a rotation then mixes the new first
half into the second.
"""

from autofix.verdict.property import Example, OfTheCode

ROTATED = """\
net, angle = nn.Linear(3, 4), nn.Parameter(torch.tensor(0.3))
optimizer = torch.optim.SGD([*net.parameters(), angle], lr=0.1)
for _ in range(4):
    t = net(torch.randn(5, 3)).tanh()
    a, b = HALVES
    t[:, :2] = a * angle.cos() - b * angle.sin()
    t[:, 2:] = b * angle.cos() + a * angle.sin()
    loss = (t - 1).square().mean()
    train: loss
"""
VIEWS, BOTH = ROTATED.replace("HALVES", "t[:, :2], t[:, 2:]"), ROTATED.replace("HALVES", "t[:, :2], t[:, 2:].clone()")
TO_THE_LETTER = (
    "    t[:, :2] = a * angle.cos() - b * angle.sin()\n    t[:, 2:] = b * angle.cos() + a * angle.sin()\n",
    "    a = a * angle.cos() - b * angle.sin()\n    t = torch.cat([a, b * angle.cos() + a * angle.sin()], 1)\n",
)
TURNED = VIEWS.replace(".tanh()", "").replace("b * angle.cos() + a * angle.sin()", "b * angle.cos()")
LIFTED = VIEWS.replace("b * angle.cos() + a * angle.sin()", "b * angle.cos() + t[:, :2] * angle.sin()")


class PartOverwrittenBeforeRead(OfTheCode):
    fact = "part-overwritten"
    sentence = "the part read here by its name was overwritten before; it may be meant to have its old value"
    raises = (Example(VIEWS, *TO_THE_LETTER), Example(BOTH, *TO_THE_LETTER))
    silent = (
        Example(LIFTED, TO_THE_LETTER[0].replace("a * angle.sin()", "t[:, :2] * angle.sin()"), TO_THE_LETTER[1]),
        Example(TURNED, "a, b = t[:, :2], t[:, 2:]", "a, b = t[:, :2].clone(), t[:, 2:].clone()"),
    )  # fmt: skip
