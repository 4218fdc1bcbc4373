"""What is trained leaves the range that a function keeps it in

## What it finds

The code gives an optimizer the result of a function that keeps to a range (`torch.softmax(logits, 0)`,
`log_std.exp()`) or ties its entries (`w + w.t()`, which is symmetric), and the edit makes a leaf of that result. This
is not said of a start that is scaled, cast or reshaped, nor of features behind such a function.

## Why it matters

The function sets the start alone: a step moves a probability or a scale out of its range. It is usually the argument of
the function that is trained, and the function is applied to it in each pass.
"""

from autofix.verdict.property import Example, OfTheCode

MIXED = """\
logits = nn.Parameter(torch.randn(3))
weights = MADE
optimizer = torch.optim.SGD([weights], lr=0.1)
for _ in range(4):
    loss = ((weights * torch.randn(5, 3)).sum(1) - 1).square().mean()
    train: loss
"""
TIED = MIXED.replace("logits = nn.Parameter(torch.randn(3))", "raw = torch.randn(3, 3, requires_grad=True)")
TIED = TIED.replace("(5, 3)", "(3, 3)")


class RangeIsLeft(OfTheCode):
    fact = "range-is-left"
    sentence = (
        "this function keeps its result in a range, and steps on the result leave that range; its argument may be "
        "meant to be trained"
    )
    raises = (
        Example(MIXED.replace("MADE", "logits.softmax(0)"), "softmax(0)", "softmax(0).detach().requires_grad_()"),
        Example(MIXED.replace("MADE", "logits.exp()"), "exp()", "exp().detach().requires_grad_()"),
        Example(
            TIED.replace("MADE", "0.1 * (raw + raw.t()) * (1 - torch.eye(3))"),
            "eye(3))\nopt",
            "eye(3))\nweights = weights.detach().requires_grad_()\nopt",
        ),
    )
    silent = (
        Example(TIED.replace("MADE", "raw.t()"), "raw.t()", "raw.t().detach().requires_grad_()"),
        Example(MIXED.replace("MADE", "logits.mul(0.1)"), "mul(0.1)", "mul(0.1).detach().requires_grad_()"),
        Example(
            MIXED.replace("MADE", "nn.Linear(3, 3)(logits.tanh())"), "tanh())", "tanh()).detach().requires_grad_()"
        ),
        Example(
            MIXED.replace("MADE", "logits[:1].expand(3)"), "expand(3)", "expand(3).clone().detach().requires_grad_()"
        ),
        Example(MIXED.replace("MADE", "logits.double().float()"), "float()", "float().detach().requires_grad_()"),
    )
