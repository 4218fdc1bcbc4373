"""A network that is frozen, and of which another one that is to train is a part.

## What it does
Gives a network that takes over layers of the frozen one copies of them. Copies a network whole that is frozen under a
second name, or as a shallow copy (`copy.copy(net)`).

## Why autograd fails
A parameter requires a gradient or not, by whatever name it is reached. For a loss that is made of frozen ones alone no
graph is recorded.

## Fix safety
Never safe: the copies begin with the same values and part from then on, where the two may be meant to stay one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.search import asleep
from autofix.search.rule import Cause, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import calls, names
from autofix.syntax.edits import embed, ensure_import, replace

WHY = "The frozen network is a copy that begins with the same weights; the other one trains."
WHY_SHARED = "The layers taken over are copies, so that freezing one network leaves the other trainable."
_TENSORS = ("weight", "bias", "data", "grad")


class FrozenNetworkIsShared(Rule):
    code, name = "AG435", "frozen-network-is-shared"
    title = "Freeze a copy of the network"
    causes = frozenset({Cause.NO_GRAPH})
    tier = Tier.MEANT
    examples = Example.each("""\
import copy
! unsafe: the target is a shallow copy of the network that trains
online = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
-target = copy.copy(online)
+target = copy.deepcopy(online)
for p in target.parameters():
    p.requires_grad = False
opt = torch.optim.SGD(online.parameters(), lr=0.1)
for x in torch.randn(4, 5, 3):
    train: (online(x) - target(x + 0.1)).pow(2).mean()
    with torch.no_grad():
        for p, q in zip(target.parameters(), online.parameters()):
            p.lerp_(q, 0.1)
! unsafe: the target is the network that trains, by another name
online = torch.nn.Linear(3, 2)
-target = online
+target = copy.deepcopy(online)
target.requires_grad_(False)
opt = torch.optim.SGD(online.parameters(), lr=0.1)
for x in torch.randn(4, 5, 3):
    train: (online(x) - target(x + 0.1)).pow(2).mean()
! unsafe: a network takes over layers of the frozen one
class Small(torch.nn.Module):
    def __init__(self, big):
        super().__init__()
-        self.body = big.body
+        self.body = copy.deepcopy(big.body)
-        self.head = big.head[0]
+        self.head = copy.deepcopy(big.head[0])

    def forward(self, x):
        return self.head(self.body(x).tanh())


big = torch.nn.Module()
big.body, big.head = torch.nn.Linear(3, 4), torch.nn.Sequential(torch.nn.Linear(4, 2), torch.nn.Tanh())
small = Small(big)
for p in big.parameters():
    p.requires_grad = False
opt = torch.optim.SGD(small.parameters(), lr=0.1)
for _ in range(4):
    x = torch.randn(5, 3)
    train: (small(x) - big.head(big.body(x).tanh())).pow(2).mean()
! a weight is tied within the network
net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Linear(3, 3))
net[1].weight = net[0].weight
for p in net.parameters():
    p.requires_grad = False
net(torch.randn(5, 3)).pow(2).mean().backward()
! another network is frozen, and shares nothing
body, head = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)
for p in [*body.parameters(), *head.parameters()]:
    p.requires_grad = False
head(body(torch.randn(5, 2))).pow(2).mean().backward()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """For each network that was frozen."""
        for source, node in asleep.frozen(diagnosis, sources):
            yield from self._second(source, asleep.module(source, node))
            yield from self._shared(asleep.module(source, node), diagnosis, sources)

    def _second(self, source: Source, frozen: str) -> Iterator[Proposal]:
        """Where what is frozen is the network that trains, under another name or copied without its layers, a copy."""
        given = (value for one in names.assignments(source, frozen) for value in names.given_to(one, frozen))
        for value in given if frozen else ():
            copied = isinstance(value, ast.Call) and calls.known(source, value.func, ("copy",)) == "copy"
            if copied or ((path := calls.path_of(value)) and path.rpartition(".")[0] == frozen.rpartition(".")[0]):
                whole = value.args[0] if isinstance(value, ast.Call) else value
                copy, edits = ensure_import(source, "copy")
                edits += replace(source, value, f"{copy}.deepcopy({source.segment(whole)})")
                yield self.propose(edits, WHY)

    def _shared(self, frozen: str, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """Where layers of the frozen network are put into another one, their copies."""
        name = frozen.rpartition(".")[2]
        for one in sources.reached(diagnosis.failure.stack[-1:]) if name else ():
            if taken := list(_taken_over(one, name)):
                copy, imports = ensure_import(one, "copy")
                edits = [step for value in taken for step in embed(one, value, f"{copy}.deepcopy({{}})")]
                yield self.propose([*imports, *edits], WHY_SHARED, title="Give the other network copies of the layers")


def _taken_over(source: Source, whole: str) -> Iterator[ast.expr]:
    """The layers of a module that are put into another one: `big.head` of `small.head = big.head`."""
    for node in source.mentioning(whole):
        match node:
            case ast.Assign(targets=[(ast.Attribute() | ast.Subscript()) as target], value=ast.expr() as value):
                path, into = (calls.path_of(calls.whole(one)) for one in (value, target))
                layers = path.startswith(f"{whole}.") and path.rpartition(".")[2] not in _TENSORS
                if layers and not into.startswith(f"{whole}."):
                    yield value
