"""A new last layer under a name by which the network calls nothing.

## What it does
Puts the layer in the place of the one whose size it was made for: where `n = net.classifier[1].in_features` was read
for it, `net.fc = Linear(n, 3)` becomes `net.classifier[1] = Linear(n, 3)`, and so does what reads `net.fc`.

## Why autograd fails
A module takes any attribute, and its forward calls those that it knows. The layer that is trained takes no part in the
loss; where the others are frozen, the loss has no graph at all.

## Fix safety
Not safe by itself: the network then computes something else than before. Done only where no class of the project reads
an attribute of that name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.search.rule import (
    Applicability,
    Cause,
    Diagnosis,
    Example,
    Proposal,
    Rule,
    Source,
    Sources,
    Tier,
)
from autofix.syntax import calls, names
from autofix.syntax.edits import replace

WHY = "The network calls {old}, for which this layer was made, and nothing by the name {new}."
_SIZES = ("in_features", "in_channels")


class NewLayerNeverCalled(Rule):
    code, name = "AG442", "new-layer-never-called"
    title = "Put the layer where the network calls it"
    causes = frozenset({Cause.NO_GRAPH, Cause.GRADIENT_NONE, Cause.UNUSED_INPUT})
    tier = Tier.MEANT
    applicability = Applicability.UNSAFE
    conventional = True
    examples = Example.each("""\
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Linear(3, 4)
        self.classifier = torch.nn.Sequential(torch.nn.Dropout(0.1), torch.nn.Linear(4, 10))

    def forward(self, x):
        return self.classifier(self.body(x).relu())


net = Net()


! unsafe: the network computes something else
for p in net.parameters():
    p.requires_grad = False
size = net.classifier[1].in_features
-net.fc = torch.nn.Linear(size, 2)
-opt = torch.optim.SGD(net.fc.parameters(), lr=0.1)
+net.classifier[1] = torch.nn.Linear(size, 2)
+opt = torch.optim.SGD(net.classifier[1].parameters(), lr=0.1)
for _ in range(4):
    train: (net(torch.randn(5, 3)) - 1).pow(2).mean()
! unsafe: the size is read where the layer is made
net.requires_grad_(False)
-net.head = torch.nn.Linear(net.classifier[1].in_features, 2)
+net.classifier[1] = torch.nn.Linear(net.classifier[1].in_features, 2)
-opt = torch.optim.SGD([p for p in net.head.parameters()], lr=0.1)
+opt = torch.optim.SGD([p for p in net.classifier[1].parameters()], lr=0.1)
for _ in range(4):
    train: (net(torch.randn(5, 3)) - 1).pow(2).mean()
! unsafe: a gradient is read
size = net.classifier[1].in_features
-net.fc = torch.nn.Linear(size, 2)
+net.classifier[1] = torch.nn.Linear(size, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    (net(torch.randn(5, 3)) - 1).pow(2).mean().backward()
-    print(net.fc.weight.grad.norm())
+    print(net.classifier[1].weight.grad.norm())
    opt.step()
! the network calls it
class Other(Net):
    def forward(self, x):
        return self.fc(self.body(x).relu())


other = Other()
other.fc = torch.nn.Linear(other.classifier[1].in_features, 2)
other.requires_grad_(False)
other(torch.randn(5, 3)).sum().backward()
! it is in its place already
net.classifier[1] = torch.nn.Linear(net.classifier[1].in_features, 2)
net.requires_grad_(False)
net(torch.randn(5, 3)).sum().backward()
! nothing says for which layer it was made
net.requires_grad_(False)
net.fc = torch.nn.Linear(4, 2)
net(torch.randn(5, 3)).sum().backward()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """For each layer that was made for the place of another, and that has a name of its own."""
        for source in sources.project_of(diagnosis.failure.stack):
            for statement in source.walk():
                match statement:
                    case ast.Assign(
                        targets=[ast.Attribute(value=ast.Name() | ast.Attribute() as owner) as new], value=made
                    ):
                        old = _replaced(source, ast.unparse(owner), made)
                        if old and old != ast.unparse(new) and not _is_called(sources, source, new.attr):
                            yield self._in_its_place(source, ast.unparse(new), old)

    def _in_its_place(self, source: Source, new: str, old: str) -> Proposal:
        found = list(names.mentions(source.tree, new))
        why = WHY.format(old=old, new=new.rpartition(".")[2])
        return self.propose([step for one in found for step in replace(source, one, old)], why)


def _replaced(source: Source, owner: str, made: ast.expr) -> str:
    """The layer of the same module whose size a new one is made with; '' where that is not known."""
    if not isinstance(made, ast.Call):
        return ""
    for one in ast.walk(made):
        given = (
            [value for each in names.assignments(source, one.id) for value in names.given_to(each, one.id)]
            if (isinstance(one, ast.Name))
            else [one]
        )
        for value in given:
            match value:
                case ast.Attribute(value=layer, attr=attr) if attr in _SIZES:
                    if (path := ast.unparse(layer)).startswith(f"{owner}."):
                        return path
    return ""


def _is_called(sources: Sources, source: Source, attribute: str) -> bool:
    """Whether a class of the project reads an attribute of that name."""
    return any(
        isinstance(node, ast.Attribute) and node.attr == attribute and calls.path_of(node.value) == "self"
        for one in sources.imported_by(source)
        for node in one.mentioning(attribute)
    )
