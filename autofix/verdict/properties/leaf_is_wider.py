"""A leaf holds more numbers than what it was made of

## What it finds

The code gives an optimizer a result that has more elements than the leaves that it was made of (a coarse mask that is
enlarged to an image, a basis times its coefficients), and the edit makes a leaf of that result. This is not said of a
start that is scaled, cast or reshaped, nor where an optimizer has what it was made of, too: a picture that grows, a
posterior that starts at its prior.

## Why it matters

The few numbers were marked as what is trained, and the function says which results they can have. Where the result
itself is trained, each of its elements goes its own way. The few numbers are usually meant, and the function is applied
to them in each pass.
"""

from __future__ import annotations

from autofix.verdict.property import Example, OfTheCode

ENLARGED = """\
coarse = torch.full((1, 1, 2, 2), 0.5, requires_grad=True)
mask = MADE
optimizer = torch.optim.SGD([mask], lr=0.1)
for _ in range(4):
    loss = (mask.mean((0, 1)) * torch.randn(MANY, MANY) - 1).square().mean()
    train: loss
"""


def _made(how: str, many: int = 2) -> str:
    return ENLARGED.replace("MADE", how).replace("MANY", str(many))


LEAF = ".detach().requires_grad_()"


class LeafIsWider(OfTheCode):
    fact = "leaf-is-wider"
    sentence = (
        "the new leaf has more elements than the leaf that it is computed from; the smaller one may be meant to be "
        "trained"
    )
    raises = (
        Example(_made("F.interpolate(coarse, size=(6, 6))", 6), "size=(6, 6))", f"size=(6, 6)){LEAF}"),
        Example(_made("coarse.repeat(1, 1, 2, 2)", 4), "repeat(1, 1, 2, 2)", f"repeat(1, 1, 2, 2){LEAF}"),
    )
    silent = (
        Example(_made("coarse * 0.1"), "coarse * 0.1", f"(coarse * 0.1){LEAF}"),
        Example(
            _made("coarse.repeat(1, 1, 2, 2)", 4)
            .replace("SGD([mask]", "SGD([mask, coarse]")
            .replace("randn(4, 4)", "randn(4, 4) * coarse.mean()"),
            "repeat(1, 1, 2, 2)",
            f"repeat(1, 1, 2, 2){LEAF}",
        ),
        Example(_made("coarse.double().float()"), "float()", f"float(){LEAF}"),
        Example(_made("coarse.reshape(1, 1, 4).reshape(1, 1, 2, 2)"), "(1, 1, 2, 2)\nopt", f"(1, 1, 2, 2){LEAF}\nopt"),
    )
