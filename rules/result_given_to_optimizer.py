"""A result of an operation given to an optimizer, where the leaf that it was made of was meant.

## What it does
Gives the optimizer that leaf, by the name it has where the optimizer is made: `[W, b]` for `[*W, b]`,
`store.raw["sigma"]` for a getter of the positive value, `layer.weight` for `layer.weight.double()`.

## Why autograd fails
An optimizer moves leaves. A result is computed anew in each pass, so a change of its value would be lost, and its
gradient goes on to the leaf that it was made of.

## Fix safety
A leaf of its own that starts from the result's value is the other meaning. It is safe where the program contradicts
that: no loss would reach that leaf, because the result is computed anew in each pass.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from autofix.probe.wire import Behind, Frame
from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import calls, names
from autofix.syntax.edits import Splice, Step, embed, replace

_USUAL = "a result is made here, and an optimizer moves leaves: begin one with its value, as Parameter(value.detach())"
WHY = "The optimizer moves the leaf, and the result is computed from it in every iteration."


class ResultGivenToOptimizer(Rule):
    code, name = "AG304", "result-given-to-optimizer"
    title = "Optimize the leaf that it was made of"
    causes = frozenset({Cause.NONLEAF_GRADIENT})
    tier = Tier.ANSWER
    examples = Example.each("""\
from torch import nn
! a matrix opened into its rows
W, b = torch.randn(3, 2, requires_grad=True), torch.zeros(2, requires_grad=True)
-opt = torch.optim.SGD([*W, b], lr=0.1)
+opt = torch.optim.SGD([W, b], lr=0.1)
for _ in range(4):
    train: (torch.ones(5, 3) @ W + b).pow(2).mean()
! a getter makes the value anew from what is stored
class Positive:
    def __init__(self, **values):
        self.raw = {name: torch.tensor(value).log().requires_grad_() for name, value in values.items()}

    def __getitem__(self, name):
        return self.raw[name].exp()


class Kernel:
    def __init__(self):
        self.positive = Positive(scale=0.5, noise=0.2)

    @property
    def noise(self):
        return self.positive["noise"]


kernel = Kernel()
opt = torch.optim.Adam([
-    {"params": [kernel.positive["scale"]], "lr": 0.2},
+    {"params": [kernel.positive.raw['scale']], "lr": 0.2},
-    {"params": [kernel.noise]},
+    {"params": [kernel.positive.raw['noise']]},
])
for _ in range(4):
    loss = (kernel.positive["scale"] - 2).pow(2) + (kernel.noise - 1).pow(2)
    train: loss
! a computed weight stands among the parameters of a module
class Masked(torch.nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer, self.raw = layer, torch.nn.Parameter(layer.weight.detach().clone())
        self.mask()

    def mask(self):
        self.layer._parameters["weight"] = self.raw * (self.raw > 0)

    def forward(self, x):
        self.mask()
        return self.layer(x)


net = Masked(torch.nn.Linear(3, 2))
-opt = torch.optim.SGD(net.parameters(), lr=0.1)
+opt = torch.optim.SGD([p for p in net.parameters() if p.is_leaf], lr=0.1)
for _ in range(4):
    train: (net(torch.ones(5, 3)) - 1).pow(2).mean()
! a leaf of its own would be reached by no loss: each pass asks for the value anew
class Latent(nn.Module):
    def __init__(self):
        super().__init__()
        self.raw = nn.Parameter(torch.ones(4))

    @property
    def code(self):
        return self.raw / self.raw.norm()


latent = Latent()
-opt = torch.optim.SGD([latent.code], lr=0.5)
+opt = torch.optim.SGD([latent.raw], lr=0.5)
for _ in range(4):
    train: (latent.code - torch.arange(4.0)).pow(2).sum()
! unsafe: either may be meant, the whole table or a row of its own
table = torch.randn(5, 4, requires_grad=True)
row = table[2]
-opt = torch.optim.SGD([row], lr=0.1)
+opt = torch.optim.SGD([table], lr=0.1)
for _ in range(5):
    train: (table.sum(0) - row).square().sum()
! nothing in reach holds the leaf any more
def start():
    return torch.zeros(3, requires_grad=True) + 1


w = start()
opt = torch.optim.SGD([w], lr=0.1)
! the gradient of a result is read, and there is no optimizer
w = torch.ones(3, requires_grad=True)
h = w * 2
h.sum().backward()
print(1 * h.grad)
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """For an optimizer that was given results: the leaves behind them, by the names that they have there."""
        results = [one for one in diagnosis.trace.behind if not one.leaf]
        for _, source, call in sources.nodes(diagnosis.failure.stack[:1] if results else ()):
            argument = calls.argument(call, ("params",), "params")
            if argument is None:
                continue
            groups = dict.fromkeys(one.group for one in results)
            behind = diagnosis.trace.behind
            if any(isinstance(_group(_bound(source, argument), one), ast.Call) for one in groups):
                edits = [step for one in groups for step in _given(source, argument, one, behind, filtered=True)]
                yield self.propose(edits, WHY)
            edits = [step for one in groups for step in _given(source, argument, one, behind)]
            yield self.propose(edits, WHY, later=1)

    def hints(self, diagnosis: Diagnosis) -> Iterator[tuple[Frame, str]]:
        """Where each result was made that an optimizer was to be given."""
        made = (one for one in diagnosis.trace.origins if one.stack and diagnosis.failure.type == "ValueError")
        yield from ((one.stack[0], _USUAL) for one in made)


def _bound(source: Source, argument: ast.expr) -> ast.expr:
    """What an argument is, or the list that a variable in its place was bound to."""
    if isinstance(argument, ast.Name):
        found = list(names.assignments(source, argument.id))
        scope = source.function(argument)
        if len(found) == 1 and source.function(found[0]) is scope and isinstance(found[0].value, (ast.List, ast.Tuple)):
            return found[0].value
    return argument


def _given(
    source: Source, argument: ast.expr, group: int, every: Sequence[Behind], *, filtered: bool = False
) -> list[Step]:  # fmt: skip
    """One group of parameters with the leaves in the place of its results; `filtered`: without these, where called."""
    behind = [one for one in every if one.group == group]
    results = [one for one in behind if not one.leaf]
    given = _group(_bound(source, argument), group)
    if isinstance(given, (ast.List, ast.Tuple)):
        return _elements(source, given, results)
    if not any(one.paths for one in results) or (filtered and isinstance(given, ast.Call)):
        return embed(source, given, "[p for p in {} if p.is_leaf]")
    if len(behind) == behind[0].given:
        paths = dict.fromkeys(path for one in behind for path in one.paths)
        return replace(source, given, f"[{', '.join(paths)}]")
    raise Declined("which of the tensors are results cannot be told from the text")


def _group(argument: ast.expr, group: int) -> ast.expr:
    """The parameters of one group where several are given, each in a dict."""
    if isinstance(argument, (ast.List, ast.Tuple)) and all(isinstance(one, ast.Dict) for one in argument.elts):
        match argument.elts[group : group + 1]:
            case [ast.Dict(keys=keys, values=values)]:
                for key, value in zip(keys, values, strict=True):
                    if isinstance(key, ast.Constant) and key.value == "params":
                        return value
    return argument


def _elements(source: Source, given: ast.List | ast.Tuple, behind: Sequence[Behind]) -> list[Step]:
    """Each result of a list replaced by its leaves, each leaf once; a result of what is given too goes."""
    starred = [one for one in given.elts if isinstance(one, ast.Starred)]
    if len(starred) > 1:
        raise Declined("several starred values share the list")
    paths, place, named = {one.place: one.paths for one in behind}, 0, set[str]()
    texts: list[str] = []
    for one in given.elts:
        width = behind[0].given - len(given.elts) + 1 if one in starred else 1
        places = [at for at in range(place, place + width) if at in paths]
        place += width
        leaves = [path for at in places for path in paths[at]]
        texts += [path for path in dict.fromkeys(leaves) if path not in named] if places else [source.segment(one)]
        named.update(leaves)
    start, end = source.extent(given.elts[0])[0], source.extent(given.elts[-1])[1]
    return [Splice(source, start, end, ", ".join(texts))]
