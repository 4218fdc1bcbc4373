"""A term is scaled by a constant: losses divided by what they were at first, and what only looks like that."""

from __future__ import annotations

from lawful import Program
from scripts import Change

TEXT = """\
net, other = Net(3, 1), Net(3, 1)
both = Optimizers(net, other)
start = None
for _ in range(6):
    x = torch.randn(8, 3)
    terms = [F.mse_loss(net(x), x.sum(1, True)), (other(x) - net(x)).abs().mean() + 1]
    if start is None:
        start = terms
    loss = TERM
    both.zero_grad()
    loss.backward()
    both.step()
"""
SUM = "sum(one / first for one, first in zip(terms, start))"
KEPT = "        start = terms\n"


def progress(name: str, term: str = SUM, *changes: Change, right: bool = True) -> Program:
    """A program whose loss is made of what the terms are by now and what they were at first."""
    first = Program(
        name,
        TEXT.replace("TERM", term),
        {
            "constant": ((KEPT, "        start = [one.detach() for one in terms]\n"),),
            "numbers": ((KEPT, "        start = [one.item() for one in terms]\n"),),
            "cut behind the step": (
                ("    both.step()\n", "    both.step()\n    start = [s.detach() for s in start]\n"),
            ),
            "above the line": (
                ("for one, first", "for first, one"),
                (KEPT, "        start = [t.detach() for t in terms]\n"),
            ),
            "keep": (("loss.backward()", "loss.backward(retain_graph=True)"),),
            "anew": (("    if start is None:\n        start = terms\n", "    start = terms\n"),),
            "anew and cut": (
                ("    if start is None:\n        start = terms\n", "    start = [t.detach() for t in terms]\n"),
            ),
            "not divided": ((term, "sum(terms)"),),
        },
    )
    found = first.mutated(name, *changes, right=("constant", "numbers") if right else ())
    fitting = {edit: made for edit, made in found.edits.items() if all(old in found.text for old, _ in made)}
    return Program(name, found.text, fitting, found.right)


PROGRAMS = (
    progress("losses by their first values"),
    progress("the mean of a stack", "torch.stack([one / first for one, first in zip(terms, start)]).mean()"),
    progress("weighed by numbers", "0.3 * (terms[0] / start[0]) + 2 * (terms[1] / start[1])"),
    progress("beside a plain term", f"{SUM} + net(x).square().mean()"),
    progress(
        "first values of every third pass", SUM, ("for _ in", "for at in"), ("if start is None", "if at % 3 == 0")
    ),
    progress("held against another number", f"({SUM} - 3).square()", right=False),
    progress("the logarithm", "sum((one / first).log() for one, first in zip(terms, start))", right=False),
    progress("a difference", "sum(one - first for one, first in zip(terms, start))", right=False),
    progress("one by the first of the other", "terms[0] / start[0] + terms[1] / start[0]", right=False),
    progress("the earlier above the line", "sum(first / one for one, first in zip(terms, start))", right=False),
    progress("it weighs a term, too", f"{SUM} + start[0] * terms[1]", right=False),
    progress("what else is used at first", f"{SUM} + terms[0].square()", right=False),
    progress(
        "scores of several examples",
        "(terms[0] / start[0]).mean()",
        ("terms = [F.mse_loss(net(x), x.sum(1, True))", "terms = [net(x).exp()"),
        right=False,
    ),
    progress(
        "of features that are made once",
        SUM,
        (
            "both = Optimizers(net, other)\n",
            "first = nn.Linear(3, 3)\nboth = Optimizers(net, other, first)\nmade = first(torch.randn(8, 3))\n",
        ),
        ("F.mse_loss(net(x)", "F.mse_loss(net(made)"),
        right=False,
    ),
    progress(
        "another term below the line",
        "terms[0] / start[0] + terms[1] / start[1]",
        (
            "        start = terms\n",
            "        start = terms\n    else:\n        terms = [other(x).square().mean(), net(x).exp().mean()]\n",
        ),
        right=False,
    ),
)
