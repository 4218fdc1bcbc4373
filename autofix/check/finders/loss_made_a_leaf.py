"""A loss that is made a leaf just before it runs backward.

## What it does
Finds `loss = Variable(loss, requires_grad=True)` and `loss = torch.tensor(loss, requires_grad=True)` before
`loss.backward()`.

## Why it matters
The new tensor has no graph. `backward()` no longer fails, as it rightly did, but no parameter gets a gradient:
nothing is learned.

## What it cannot tell
It stays silent where the gradient of the new tensor itself is read, and where it is made of numbers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.check.finder import Finder, Spot, backwards, examples, value_at
from autofix.syntax.facts import Bind, Scope

_NEW = {"torch.tensor", "torch.autograd.Variable", "torch.autograd.variable.Variable", "torch.FloatTensor"}


class LossMadeALeaf(Finder):
    code, name = "AG508", "loss-made-a-leaf"
    title = "The loss is cut off from its graph and marked as requiring a gradient"
    words = (b"backward", b"requires_grad")
    finds, passes = examples("""\
!
from torch.autograd import Variable

def train(model, batches, criterion, opt):
    for x, y in batches:
        opt.zero_grad()
        loss = criterion(model(x), y)
        loss = Variable(loss, requires_grad=True)
        loss.backward()  # found
        opt.step()
!
def train(model, x, opt):
    score = model(x).mean()
    loss = torch.tensor(score, requires_grad=True)
    loss.backward()  # found
    opt.step()
!
x = torch.tensor(2.0, requires_grad=True)
x.backward()
print(x.grad)
!
def train(model, x, opt):
    loss = model(x).mean()
    loss.backward()
    opt.step()
""")

    def spots(self, scope: Scope) -> Iterator[Spot]:
        for call in backwards(scope):
            name = call.receiver
            made = value_at(scope, name, call.order, call.block) if name else None
            if made is None or not _new_leaf(scope, made) or f"{name}.grad" in scope.loads:
                continue
            line = getattr(made.node, "lineno", 0)
            yield Spot(call.node, f"{name} was made a leaf in line {line}: its backward reaches no parameter")


def _new_leaf(scope: Scope, made: Bind) -> bool:
    value = made.value
    if made.how != "=" or not isinstance(value, ast.Call) or scope.module.called(value) not in _NEW or not value.args:
        return False
    marked = any(
        word.arg == "requires_grad" and isinstance(word.value, ast.Constant) and word.value.value is True
        for word in value.keywords
    )
    return marked and any(isinstance(node, ast.Name) for node in ast.walk(value.args[0]))
