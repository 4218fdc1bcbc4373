"""Module that keeps a weight computed by a hook, and is copied.

## What it does
Takes the weight norm of `torch.nn.utils.parametrizations`, which computes the weight whenever it is read, in place of
that of `torch.nn.utils`: in the import, or in each call.

## Why autograd fails
The older function replaces the weight by a plain attribute, which a hook computes from a direction and a magnitude
before each forward, and for the first time where it is applied. That result has a graph, and `copy.deepcopy` copies
leaves alone. Whoever keeps the arguments of a constructor, or a copy for an average, meets it.

## Fix safety
Both compute the same weight of the same two parameters. Declined where the code names what the hook keeps
(`weight_g`, `weight_v`, `remove_weight_norm`), which are called otherwise then.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import calls
from autofix.syntax.edits import Step, replace, replace_statement

WHY = "The weight is computed when it is read; what is copied are the two parameters that it is made of."
HOOKED = ("remove_weight_norm", "weight_g", "weight_v")


class WeightComputedByHook(Rule):
    code, name = "AG445", "weight-computed-by-hook"
    title = "Parametrize the weight"
    causes = frozenset({Cause.CONVERSION})
    tier = Tier.MEANT
    examples = Example.each("""\
! by an import, and an average of the weights
import copy
from torch.nn.utils import clip_grad_norm_
-from torch.nn.utils import weight_norm
+from torch.nn.utils.parametrizations import weight_norm

net = torch.nn.Sequential(weight_norm(torch.nn.Linear(3, 4)), torch.nn.Tanh(), weight_norm(torch.nn.Linear(4, 1)))
average = copy.deepcopy(net)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    train: net(torch.randn(5, 3)).square().mean()
    clip_grad_norm_(net.parameters(), 1.0)
! by the module, in a constructor whose arguments are kept
import copy


class Kept:
    def __init__(self, **given):
        self.given = copy.deepcopy({name: one for name, one in given.items()})


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
-        self.one = torch.nn.utils.weight_norm(torch.nn.Linear(3, 4))
+        self.one = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(3, 4))
-        self.two = torch.nn.utils.weight_norm(torch.nn.Linear(4, 1), name="weight")
+        self.two = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(4, 1), name="weight")

    def forward(self, x):
        return self.two(torch.tanh(self.one(x)))


net = Net()
kept = Kept(net=net)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    train: net(torch.randn(5, 3)).square().mean()
! the best network so far is kept, and the import has more names
import copy
-from torch.nn.utils import clip_grad_norm_, weight_norm as normed
+from torch.nn.utils import clip_grad_norm_
+from torch.nn.utils.parametrizations import weight_norm as normed

net, low = torch.nn.Sequential(normed(torch.nn.Linear(3, 4)), torch.nn.Linear(4, 1)), 1e9
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    loss = net(torch.randn(5, 3)).square().mean()
    train: loss
    if loss.item() < low:
        best, low = copy.deepcopy(net), loss.item()
! the code reads what the hook keeps
import copy

net = torch.nn.utils.weight_norm(torch.nn.Linear(3, 4))
print(net.weight_g.sum().item())
copy.deepcopy(net)
! no weight is computed by a hook
import copy

copy.deepcopy(torch.ones(3, requires_grad=True).exp())
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """All that the project normalises so: each copy would meet the rest."""
        entry = next((source for _, source, _ in sources.nodes(diagnosis.failure.stack[::-1])), None)
        files = [*sources.imported_by(entry)] if entry is not None and _is_copy(diagnosis) else []
        steps = [step for one in files for step in _parametrized(one)]
        if not steps:
            raise Declined("no weight is computed by a hook of torch.nn.utils")
        if kept := [name for name in HOOKED for one in files if any(one.places(name))]:
            raise Declined(f"the code names {kept[0]}, which would be called otherwise")
        yield self.propose(steps, WHY)


def _is_copy(diagnosis: Diagnosis) -> bool:
    return diagnosis.failure.function.endswith(".__deepcopy__")


def _parametrized(source: Source) -> Iterator[Step]:
    """The edits of one file: of its imports of the function by its name, and of calls that name its module."""
    for node in source.mentioning("weight_norm"):
        match node:
            case ast.ImportFrom(module="torch.nn.utils", names=aliases, level=0):
                yield from _imported(source, node, aliases)
            case ast.Call(func=ast.Attribute(value=module, attr="weight_norm")):
                if calls.known(source, node.func, ("torch",)) == "nn.utils.weight_norm":
                    yield from replace(source, module, f"{source.segment(module)}.parametrizations")


def _imported(source: Source, node: ast.ImportFrom, aliases: list[ast.alias]) -> list[Step]:
    taken = [ast.unparse(one) for one in aliases if one.name == "weight_norm"]
    rest = ", ".join(ast.unparse(one) for one in aliases if one.name != "weight_norm")
    lines = [f"from torch.nn.utils import {rest}"] * bool(rest)
    lines += [f"from torch.nn.utils.parametrizations import {one}" for one in taken]
    return replace_statement(source, node, lines) if taken else []
