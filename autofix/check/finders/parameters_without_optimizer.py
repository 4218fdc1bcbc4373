"""A network that is trained through and that no optimizer owns.

## What it does
Finds a network that is made and called beside another one whose `parameters()` alone the only optimizer of the file is
given, where the loss goes through both.

## Why it matters
The gradients of the second network are computed and never used. It stays as it was drawn, and nothing says so.

## What it cannot tell
It stays silent where the network is frozen, evaluated, loaded, wrapped or handed to anything, and where the file has
more than one optimizer.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.check.finder import Finder, Spot, backwards, examples, is_network, makes_optimizer, owners
from autofix.syntax.facts import Scope

_KNOWS = ("to", "cuda", "cpu", "train", "zero_grad", "float", "double")


class ParametersWithoutOptimizer(Finder):
    code, name = "AG510", "parameters-without-optimizer"
    title = "A network in the loss that no optimizer owns"
    words = (b"backward", b"optim", b"parameters")
    finds, passes = examples("""\
!
encoder = nn.Linear(4, 2)
decoder = nn.Linear(2, 4)
opt = torch.optim.Adam(encoder.parameters())
for x in torch.randn(10, 8, 4):
    loss = (decoder(encoder(x)) - x).pow(2).mean()  # found
    train: loss
!
def train(batches):
    body = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    head = nn.Linear(4, 1)
    opt = torch.optim.SGD(body.parameters(), lr=0.1)
    for x, y in batches:
        out = head(body(x))  # found
        loss = (out - y).pow(2).mean()
        train: loss
!
body, head = nn.Linear(4, 4), nn.Linear(4, 1)
opt = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
for x in torch.randn(10, 8, 4):
    head(body(x)).mean().backward()
    opt.step()
    opt.zero_grad()
!
class Focal(nn.Module):
    def __init__(self, power):
        super().__init__()
        self.power, self.weight = power, None

    def forward(self, x):
        self.weight = (1 - x) ** self.power
        return (self.weight * x.log()).mean()

net, criterion = nn.Linear(4, 1), Focal(2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x in torch.randn(10, 8, 4):
    criterion(net(x)).backward()
    opt.step()
    opt.zero_grad()
!
judge, net = nn.Linear(4, 1), nn.Linear(4, 4)
judge.requires_grad_(False)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x in torch.randn(10, 8, 4):
    judge(net(x)).mean().backward()
    opt.step()
    opt.zero_grad()
""")

    def spots(self, scope: Scope) -> Iterator[Spot]:
        made = [bind for inner in scope.module.scopes for binds in inner.binds.values() for bind in binds]
        optimizers = [bind for bind in made if makes_optimizer(scope, bind)]
        if len(optimizers) != 1 or not backwards(scope) or optimizers[0] not in scope.events:
            return
        owned = owners(optimizers[0].value)
        if len(owned) != 1:
            return
        seen: set[str] = set()
        for call in (one for calls in scope.calls.values() for one in calls):
            name = call.name
            if name in seen or name in owned or "." in name or call.quiet or call.block.innermost_loop() is None:
                continue
            seen.add(name)
            if is_network(scope, call.node) and not _known_elsewhere(scope, name) and _takes(call.node, owned[0]):
                yield Spot(call.node, f"{name} gets gradients, and no optimizer owns its parameters")


def _takes(call: ast.Call, owned: str) -> bool:
    """Whether a network is given what the trained one computes, so that the loss must go through both."""
    return any(
        isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id == owned
        for argument in call.args
        for part in ast.walk(argument)
    )


def _known_elsewhere(scope: Scope, name: str) -> bool:
    """Whether a network is used in the file in any way but being made, moved and called."""
    for inner in scope.module.scopes:
        if inner is not scope and name in inner.loads:
            return True
        if any(load.startswith(f"{name}.") and load.split(".")[1] not in _KNOWS for load in inner.loads):
            return True
    called = sum(call.name == name for calls in scope.calls.values() for call in calls)
    return scope.loads.count(name) != called
