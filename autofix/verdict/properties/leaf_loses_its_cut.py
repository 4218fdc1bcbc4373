"""A leaf is made on purpose, and the edit makes a result of it

## What it finds

A derivative fails, because its loss does not depend on what it is taken by (`grad(loss, weights)`). The code cuts a
value out of that graph, and makes a leaf of it: `weights.detach().requires_grad_()`, in one expression or in several
statements, or `copy.deepcopy(weights)`. The loss depends on this leaf. The edit takes the cut away. This is not said
where a value is cut and no leaf is made of it, nor of leaves that another function copies along, as
`dataclasses.asdict` does.

## Why it matters

Who makes a leaf wants to differentiate by it: as a rule, the derivative is asked by the wrong tensor. With the cut
taken away it exists, but each inner step begins at the old weights again, or the outer gradient flows on into what the
cut kept it from.
"""

from __future__ import annotations

from pathlib import Path

from autofix.experiments.requests import changed_lines
from autofix.probe import wire
from autofix.verdict.property import Evidence, Example, Finding, Property

ADAPTED = """\
w = nn.Parameter(torch.randn(3))
optimizer = torch.optim.SGD([w], lr=0.1)
for _ in range(4):
    x, now = torch.randn(6, 3), w
    for _ in range(2):
        inner = ((x * now).sum(1) - 1).square().mean()
        grad = torch.autograd.grad(inner, w)[0]
        now = (now - 0.1 * grad).detach().requires_grad_()
    loss = (x * now).sum(1).square().mean()
    w.grad = torch.autograd.grad(loss, now)[0]
    optimizer.step()
"""
WRAPPED = ADAPTED.replace("(now - 0.1 * grad).detach().requires_grad_()", "nn.Parameter(now - 0.1 * grad)")
UNCUT = (".detach().requires_grad_()", "")
TRAINER = """\
class Adapted:
    def __init__(self, w):
        self.now = w

    def move(self, by):
        fast = self.now.data - by
        fast.requires_grad = True
        self.now = fast


w = nn.Parameter(torch.randn(3))
optimizer = torch.optim.SGD([w], lr=0.1)
for _ in range(4):
    x, inner = torch.randn(6, 3), Adapted(w)
    for _ in range(2):
        grad = torch.autograd.grad(((x * inner.now).sum(1) - 1).square().mean(), w)[0]
        inner.move(0.1 * grad)
    w.grad = torch.autograd.grad((x * inner.now).sum(1).square().mean(), inner.now)[0]
    optimizer.step()
"""
KEPT = ("self.now.data - by\n        fast.requires_grad = True\n", "self.now - by\n")
BY_LEAF = ("grad(inner, w)", "grad(inner, now)")
PENALTY = """\
a, b = nn.Linear(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*a.parameters(), *b.parameters()], lr=0.1)
for _ in range(4):
    x = torch.randn(6, 3)
    features = a(x).tanh().detach()
    loss = b(features).square().mean()
    slope = torch.autograd.grad(loss, a.weight, create_graph=True)[0]
    train: loss + slope.square().sum()
"""
RATES = """\
import copy
from dataclasses import asdict, dataclass

@dataclass
class Rates:
    up: torch.Tensor
    down: torch.Tensor

rates, x = Rates(torch.tensor(0.7, requires_grad=True), torch.tensor(0.4, requires_grad=True)), torch.randn(6)
leaves = [rates.up, rates.down]
optimizer = torch.optim.SGD(leaves, lr=0.1)
for _ in range(5):
    given = asdict(rates)
    loss = (given["up"] * x + given["down"] - 1).square().mean()
    for leaf, grad in zip(leaves, torch.autograd.grad(loss, leaves)):
        leaf.grad = grad
    optimizer.step()
"""
COPIED = RATES.replace("asdict(rates)", "copy.deepcopy(vars(rates))")


class LeafLosesItsCut(Property):
    anyway = True
    sentence = (
        "the code makes a leaf here, and the edit makes it a result with a graph. The failing derivative may be meant"
        " with respect to the leaf"
    )
    raises = (
        Example(ADAPTED, *UNCUT),
        Example(TRAINER, *KEPT),
        Example(WRAPPED, "nn.Parameter(now - 0.1 * grad)", "now - 0.1 * grad"),
        Example(COPIED, "copy.deepcopy(vars(rates))", "vars(rates)"),
    )
    silent = (
        Example(WRAPPED, *BY_LEAF),
        Example(ADAPTED, *BY_LEAF),
        Example(PENALTY, ".tanh().detach()", ".tanh()"),
        Example(RATES, "asdict(rates)", "vars(rates)"),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        if evidence.failure.kind != "unused_input":
            return None
        made = (one.stack[0] for one in evidence.trace.origins if one.leaf and one.stack)
        return next((self.found((place,)) for place in made if _is_touched(evidence, place)), None)


def _is_touched(evidence: Evidence, place: wire.Frame) -> bool:
    """Whether the edit changes the line of a place."""
    path = Path(place.file)
    new = evidence.files.get(path)
    return new is not None and place.line in changed_lines(new, evidence.case.pool.target.read(path))
