"""Flag switched off on what a module computes.

## What it does
Switches off the flag of the parameter from which the module computes it: `layer.weight_orig.requires_grad = False` for
`layer.weight.requires_grad = False`, where pruning, a normalisation or another parametrization makes the weight. In a
loop over all parameters, among which such a weight stands, sets the flags of leaves alone.

## Why autograd fails
Only the flags of leaves can be switched off. A weight that is computed is a result, and the next forward computes it
anew: a detached one in its place would be overwritten, and its layer would train on.

## Fix safety
Safe where the module computes it anew after the flag was set, and nothing that is trained was made of the one that had
the flag: then the statement means something for the parameter alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import blocks, calls, names
from autofix.syntax.edits import Step, replace_statement, wrap

WHY = "The module computes this tensor anew in each forward; the parameter behind it is what can be frozen."

WHY_ALL = "The module computes this tensor, and its requires_grad is that of the parameter behind it."


class FlagOfComputedWeight(Rule):
    code, name = "AG315", "flag-of-computed-weight"
    title = "Freeze the parameter behind the computed one"
    causes = frozenset({Cause.NONLEAF_GRADIENT})
    tier = Tier.MEANT
    examples = Example.each("""\
from torch import nn
from torch.nn.utils import parametrizations, parametrize, prune
! a pruned layer is frozen
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
prune.l1_unstructured(net[0], "weight", amount=0.4)
-net[0].weight.requires_grad = False
+net[0].weight_orig.requires_grad = False
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    loss = (net(torch.randn(5, 3)) - 1).square().mean()
    train: loss
! unsafe: each look at such a weight also moves the vectors by which its norm is found
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
parametrizations.spectral_norm(net[0])
-net[0].weight.requires_grad = False
+net[0].parametrizations.weight.original.requires_grad = False
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    loss = (net(torch.randn(5, 3)) - 1).square().mean()
    train: loss
! a weight of two parameters, of a network that a trainer holds
class Trainer:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
        parametrizations.weight_norm(self.net[0])

    def freeze(self):
-        self.net[0].weight.requires_grad = False
+        self.net[0].parametrizations.weight.original0.requires_grad = False
+        self.net[0].parametrizations.weight.original1.requires_grad = False


trainer = Trainer()
trainer.freeze()
opt = torch.optim.Adam(trainer.net.parameters(), lr=0.1)
for _ in range(4):
    loss = (trainer.net(torch.randn(5, 3)) - 1).square().mean()
    train: loss
! a weight that is computed anew in each forward stands among the parameters, of which all are frozen
class Dropped(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer, self.raw = layer, nn.Parameter(layer.weight.detach().clone())
        self.draw()

    def draw(self):
        self.layer._parameters["weight"] = nn.functional.dropout(self.raw, 0.5)

    def forward(self, x):
        self.draw()
        return self.layer(x)


net, head = Dropped(nn.Linear(3, 4)), nn.Linear(4, 1)
for p in net.parameters():
-    p.requires_grad = False
+    if p.is_leaf:
+        p.requires_grad = False
opt = torch.optim.SGD(head.parameters(), lr=0.1)
for _ in range(4):
    loss = (head(net(torch.randn(5, 3))) - 1).square().mean()
    train: loss
! what a network gave is no weight of a module
body, head = nn.Linear(3, 4), nn.Linear(4, 1)
opt = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
for _ in range(4):
    features = body(torch.randn(5, 3))
    features.requires_grad = False
    loss = head(features).square().mean()
! what a forward leaves behind is not computed of the parameters of who keeps it
class Encoder(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.layers = [body]

    def forward(self, x):
        self.code = self.layers[0](x)
        return self.code


body = nn.Linear(3, 4)
encoder, head = Encoder(body), nn.Linear(4, 1)
encoder(torch.randn(5, 3))
encoder.code.requires_grad = False
! the weight goes by another name, and the module has none
net = nn.Linear(3, 1)
prune.l1_unstructured(net, "weight", amount=0.4)
for weight in [net.weight]:
    weight.requires_grad = False
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """At the statement that sets the flag: the same of each parameter behind."""
        behind = [one for one in diagnosis.trace.origins if one.kind == "behind"]
        for _, source, node in sources.nodes(diagnosis.failure.stack[:1]):
            statement = source.statement(node)
            if (held := _one_of_all(source, statement)) is not None:
                edits = wrap(source, [statement], f"if {held.id}.is_leaf:")
                yield self.propose(edits, WHY_ALL, title="Set the flag of leaves")
            elif behind:
                edits = _leaves(source, statement, behind[0].node, [one.name for one in behind])
                yield self.propose(edits, WHY)


def _one_of_all(source: Source, statement: ast.stmt) -> ast.Name | None:
    """The variable of a loop over all parameters of a module, where a statement sets the flag of each by it."""
    loop, found = next(blocks.loops(source, statement), None), calls.flagged(statement)
    if not isinstance(loop, ast.For) or found is None or not isinstance(held := found[0], ast.Name):
        return None
    asked = calls.name_of(loop.iter) in ("parameters", "named_parameters")
    return held if asked and held.id in map(calls.path_of, names.parts(loop.target)) else None


def _leaves(source: Source, statement: ast.stmt, computed: str, leaves: list[str]) -> list[Step]:
    match calls.flagged(statement):
        case (ast.Attribute(value=module, attr=name) as weight, _) if name == computed:
            owner, flag = source.segment(module), source.segment(statement).removeprefix(source.segment(weight))
            return replace_statement(source, statement, [f"{owner}.{leaf}{flag}" for leaf in leaves])
    raise Declined("what the flag is set of is not written as a part of its module")
