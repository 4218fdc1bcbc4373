"""A graph that is carried from one iteration into the next.

## What it does
Finds a hidden state that goes through a network in each pass of a training loop and is never detached, and a total of
losses that runs backward in each pass.

## Why it matters
The backward of one pass frees its graph, and the next pass runs into it: "Trying to backward through the graph a second
time". With `retain_graph=True` each pass would take longer than the last, without bound.

## What it cannot tell
It stays silent where the network is not seen to be a `torch.nn.Module`, where the state is bound in any other way in
the loop, and where the network's own class detaches anything or calls what is not seen to be a module.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from autofix.check.finder import Finder, Spot, is_network
from autofix.syntax.calls import path_of
from autofix.syntax.facts import Bind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autofix.syntax.facts import Block, Scope

_CUTS = ("detach", "detach_", "data", "item")


class GraphCarriedOver(Finder):
    """A state that keeps the graph of every iteration before."""

    code, name = "AG203", "graph-carried-over"
    title = "A state is carried into the next iteration with its graph"
    words = (b".backward()",)
    finds = (
        """\
import torch

rnn, head = torch.nn.GRU(2, 4), torch.nn.Linear(4, 1)
h = torch.zeros(1, 3, 4)
for x in torch.randn(5, 7, 3, 2):
    out, h = rnn(x, h)  # found
    loss = head(out).mean()
    loss.backward()
""",
        """\
import torch

def train(model, batches):
    total = 0
    for x in batches:
        total += model(x).mean()  # found
        total.backward()
""",
    )
    passes = (
        """\
import torch

rnn, head = torch.nn.GRU(2, 4), torch.nn.Linear(4, 1)
h = torch.zeros(1, 3, 4)
for x in torch.randn(5, 7, 3, 2):
    out, h = rnn(x, h.detach())
    loss = head(out).mean()
    loss.backward()
""",
        """\
import torch

rnn, head = torch.nn.GRU(2, 4), torch.nn.Linear(4, 1)
for x in torch.randn(5, 7, 3, 2):
    h = torch.zeros(1, 3, 4)
    for part in x.split(2):
        out, h = rnn(part, h)
    head(out).mean().backward()
""",
        """\
import torch

def train(model, batches):
    for x in batches:
        total = 0
        for part in x:
            total += model(part).mean()
        total.backward()
""",
    )

    def spots(self, scope: Scope) -> Iterator[Spot]:
        for call in scope.calls.get("backward", ()):
            loop = call.block.innermost_loop()
            if loop is None or call.block is not loop or call.node.args or call.node.keywords or not call.receiver:
                continue
            if not isinstance(loop.node, ast.For | ast.AsyncFor | ast.While):
                continue
            for name in sorted(scope.binds):
                carrier = _carrier(scope, name, loop, call.receiver)
                if carrier is not None and carrier.order < call.order:
                    yield Spot(
                        carrier.node, f"{name} carries its graph into the next pass, whose backward runs into it"
                    )


def _carrier(scope: Scope, name: str, loop: Block, loss: str) -> Bind | None:
    """The binding by which `name` takes its graph from each pass of the loop to the next."""
    binds = scope.binds[name]
    inside = [bind for bind in binds if bind.block.inside(loop)]
    before = [bind for bind in binds if not bind.block.inside(loop)]
    if len(inside) != 1 or not before or inside[0].block is not loop or inside[0].quiet:
        return None
    if any(f"{name}.{cut}" in scope.loads for cut in _CUTS):
        return None
    bind = inside[0]
    if name == loss and _sums(bind):
        return bind
    return bind if _recurs(scope, bind) and _reaches(scope, bind, loss) else None


def _sums(bind: Bind) -> bool:
    """Whether a total is the sum of itself and something computed."""
    if bind.how == "augmented":
        return isinstance(bind.node, ast.AugAssign) and isinstance(bind.node.op, ast.Add)
    match bind.value:
        case ast.BinOp(left=left, op=ast.Add()) if bind.how == "=":
            return path_of(left) == bind.name
    return False


def _recurs(scope: Scope, bind: Bind) -> bool:
    """Whether a network is given the state as it is and gives back the next."""
    value = bind.value
    if bind.how not in {"=", "unpacked"} or not isinstance(value, ast.Call) or not is_network(scope, value):
        return False
    given = [path_of(argument) for argument in (*value.args, *(word.value for word in value.keywords))]
    return bind.name in given


def _reaches(scope: Scope, bind: Bind, loss: str) -> bool:
    """Whether the loss is computed from what the network gives back in the same pass."""
    binds = [event for event in scope.events[bind.order - 1 :] if isinstance(event, Bind)]
    tainted = {other.name for other in binds if other.node is bind.node}
    for other in binds:
        if tainted & set(scope.used(other)):
            tainted.add(other.name)
    return loss in tainted
