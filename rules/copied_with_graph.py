"""Deep copy of an object that holds a graph.

## What it does
Detaches, where a layer or another object keeps it, what the code reads nowhere with its graph; before the copy, what it
does read so. Or the copy alone is made without the graph: `copy.deepcopy(state.detach())`; or with it, for a loss
that is made of the copy: `state.clone()`.

## Why autograd fails
A deep copy of a tensor has no place for the graph behind it, and torch refuses rather than lose it silently. An
attention map, a regulariser or a hidden state that was kept as an attribute is copied with its object.

## Fix safety
Safe where the run shows that all gradients stay, and the copy holds the same values: what a loss reads later must keep
its graph. Where a loss is made of the copy itself, and its graph matters, both are offered and none is safe.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import suppress

from autofix.probe.wire import Carrier, Frame
from autofix.search import cutting
from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import calls, names, nested, writes
from autofix.syntax.edits import Step, append_call, ensure_import, insert_before, replace

WHY = "What is kept from the last forward is dropped or detached before the copy, which needs no graph."
WHY_STORED = "What is only looked at later is kept without its graph, and can be copied."
WHY_COPY = "The copy has the values; the object that is copied keeps its graph."
VALUES, STORED = "Copy the values without the graph", "Keep the result without its graph"
KEPT = "Copy the values with their graph"
WHY_KEPT = "The copy has its own memory and the graph, so that a loss which is made of it trains what was copied."
_COPIES = ("t.detach().clone()", WHY_COPY, VALUES, 2), ("t.clone()", WHY_KEPT, KEPT, 4)
WHY_SHALLOW = "The copy shares the object's attributes; what is assigned to the copy belongs to the copy alone."


class CopiedWithGraph(Rule):
    code, name = "AG418", "copied-with-graph"
    title = "Detach the kept result before the copy"
    causes = frozenset({Cause.CONVERSION})
    tier = Tier.MEANT
    usual = "failed", "what an object keeps from its last forward is detached or dropped before it is copied"
    examples = Example.each("""\
import copy
from types import SimpleNamespace as Space
! a loss reads one of two, and nothing the other
class Attends(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.score = torch.nn.Linear(3, 3)

    def forward(self, x):
        a = self.score(x).softmax(1)
-        self.attention = a
+        self.attention = a.detach()
        self.spread = a.pow(2).mean()
        return (a * x).sum(1)


net = torch.nn.Sequential(Attends())
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    loss = (net(torch.randn(5, 3)) - 1).pow(2).mean() + net[0].spread
    train: loss
+    net[0].spread = net[0].spread.detach()
    best = copy.deepcopy(net)
! a state that a loss reads afterwards
cell = torch.nn.GRUCell(2, 3)
opt = torch.optim.SGD(cell.parameters(), lr=0.1)
for _ in range(4):
    state = {"h": cell(torch.randn(1, 2)), "steps": 1, "weights": cell.state_dict()}
-    kept = copy.deepcopy(state)
+    kept = copy.deepcopy({**state, "h": state["h"].detach()})
    train: (state["h"] - 1).pow(2).sum()
! unsafe: a loss is made of the copy, and may train what was copied or not
net, out = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
opt = torch.optim.SGD([*net.parameters(), *out.parameters()], lr=0.1)
for _ in range(4):
    whole = net(torch.randn(5, 3)).tanh()
-    masked = copy.deepcopy(whole)
+    masked = whole.clone()
    masked[:, 0] = 0
    train: (out(whole) - 1).pow(2).mean() + out(masked).pow(2).mean()
! unsafe: the same of a state that is carried on
cell = torch.nn.GRUCell(2, 3)
opt = torch.optim.SGD(cell.parameters(), lr=0.1)
for _ in range(4):
    state = {"h": cell(torch.randn(1, 2)), "steps": 1}
-    later = copy.deepcopy(state)
+    later = {**state, "h": state["h"].clone()}
    train: (cell(torch.ones(1, 2), later["h"]) - 1).pow(2).sum()
! unsafe: a loss is made of a copy that holds lists
class Cache:
    def __init__(self):
        self.keys = []


cell = torch.nn.GRUCell(2, 3)
opt = torch.optim.SGD(cell.parameters(), lr=0.1)
for _ in range(4):
    cache = Cache()
    cache.keys.append(cell(torch.randn(1, 2)))
-    branch = copy.deepcopy(cache)
+    branch = copy.deepcopy(cache, {id(t): t.clone() for t in (*cache.keys,)})
    train: (cell(torch.ones(1, 2), branch.keys[0]) - 1).pow(2).sum() + cache.keys[0].square().sum()
! the forward computes it anew
class Normed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.v = torch.nn.Parameter(torch.ones(2, 3))
-        self.weight = self.v / self.v.norm()
+        self.weight = (self.v / self.v.norm()).detach()

    def forward(self, x):
        self.weight = self.v / self.v.norm()
        return x @ self.weight.t()


net = torch.nn.Sequential(Normed())
kept = copy.deepcopy(net)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    train: (net(torch.ones(1, 3)) - kept(torch.ones(1, 3)).detach() - 1).pow(2).sum()
! its parts have a graph, and the copy is given others
class Line:
    def __init__(self, parts):
        self.parts = parts


class Lens:
    def __init__(self, power):
        self.power = power


def look(line):
-    fine = copy.deepcopy(line)
+    fine = copy.copy(line)
    fine.parts = [Lens(one.power / 2) for one in fine.parts for _ in range(2)]
    print(len(line.parts), sum(one.power.item() for one in fine.parts))


w = torch.ones(2, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for _ in range(4):
    line = Line([Lens(2 * w[0]), Lens(w[1] + 1)])
    train: (line.parts[0].power * line.parts[1].power - 1).pow(2)
    look(line)
! parts of the copy are written
def look(line):
    dark = copy.deepcopy(line)
    dark.parts[0].power = 0
    print(sum(one.power for one in dark.parts))


look(Space(parts=[Space(power=torch.ones(1, requires_grad=True) * 2)]))
! what is copied has no name
w = torch.ones(3, requires_grad=True)


def made():
    return {"w": w.exp()}


kept = copy.deepcopy(made())
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """By where the object holds what has a graph: in attributes, in itself, or in what its own parts hold."""
        for _, source, node in sources.located(diagnosis.failure.stack[:1]) if _is_copy(diagnosis) else ():
            match node:
                case ast.Call(args=[(ast.Name() | ast.Attribute() | ast.Subscript()) as given, *_]):
                    text = source.segment(given)
                    held = [one for one in diagnosis.trace.copied if not one.file]
                    below = [Carrier("", one.function, f"{text}{one.path}", one.kind) for one in held]
                    if not below:
                        yield from self._shallow(source, node)
                    elif not all(one.path for one in held):
                        yield from self._itself(source, node, below[0].kind, sources)
                    else:
                        yield from self._before(source, node, below, diagnosis, sources)
                        yield from self._where_made(diagnosis, sources)
                        yield from self._dropped(source, node, below)
                case _:
                    raise Declined("what is copied has no name")

    def hints(self, diagnosis: Diagnosis) -> Iterator[tuple[Frame, str]]:
        """Only of what was to be copied."""
        yield from super().hints(diagnosis) if _is_copy(diagnosis) else ()

    def _itself(self, source: Source, node: ast.Call, form: str, sources: Sources) -> Iterator[Proposal]:
        text = source.segment(node.args[0])
        if len(node.args) == 1 and not node.keywords:
            with suppress(Declined):
                yield self.propose(replace(source, node, nested.copied(text, form)), WHY_KEPT, title=KEPT, later=3)
        if form in nested.TENSORS:
            edits = replace(source, node, f"{text}.detach().clone()")
            yield self.propose(edits, WHY_COPY, title="Clone the values", tier=Tier.ANSWER, later=1)
            return
        for one in cutting.cut([Carrier("", "", text, form)], (), source, sources):
            target, equals, value = one.line.partition(" = ")
            if equals and target == text:
                edits = [*replace(source, node.args[0], value), *one.imports]
                yield self.propose(edits, WHY_COPY, title=VALUES)

    def _before(
        self, source: Source, node: ast.Call, below: Sequence[Carrier], diagnosis: Diagnosis, sources: Sources
    ) -> Iterator[Proposal]:
        """All that the object holds at once, where it is kept or before the copy: each alone would uncover the next."""
        statement, cuts = source.statement(node), cutting.cut(below, (), source, sources)
        before = {path: one.line for one in cuts if not one.imports for path in one.paths}
        entry = sources.source(diagnosis.failure.stack[-1].file) or source
        looked: dict[str, list[Step]] = {}
        for one in (one for one in diagnosis.trace.copied if one.file):
            edits = [step for steps, _, _ in cutting.where_stored([one], sources) for step in steps]
            if edits and not _read(one.path.removeprefix("self."), entry, sources):
                looked[one.path.removeprefix("self")] = edits
        last = [one.path for one in below if not one.path.endswith(tuple(looked))]
        if looked and all(path in before for path in last):
            edits = [step for steps in looked.values() for step in steps]
            edits += insert_before(source, statement, [before[path] for path in last]) if last else []
            yield self.propose(dict.fromkeys(edits), WHY_STORED, title="" if last else STORED)
        if before and len(before) == len(below):
            edits = insert_before(source, statement, list(dict.fromkeys(before.values())))
            yield self.propose(edits, WHY, later=1)

    def _where_made(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """In a constructor, which runs once: a forward that needs the graph computes the result anew."""
        for origin in diagnosis.trace.origins:
            for _, source, node in sources.located(origin.stack[:3]):
                made, function = source.statement(node), source.function(node)
                if isinstance(made, ast.Assign) and function is not None and function.name == "__init__":
                    edits = append_call(source, made.value, ".detach()")
                    yield self.propose(edits, WHY_STORED, title=STORED, later=1)

    def _dropped(self, source: Source, node: ast.Call, below: Sequence[Carrier]) -> Iterator[Proposal]:
        """Tensors dropped before the copy, or copied without their graphs by the memo of `deepcopy`."""
        if not all(one.kind == "tensor" or nested.is_flat(one.kind) for one in below):
            return
        if all(one.kind == "tensor" for one in below):
            edits = insert_before(source, source.statement(node), [f"{one.path} = None" for one in below])
            yield self.propose(edits, WHY, title="Drop the kept result before the copy", later=3)
        if calls.known(source, node.func, ("copy",)) == "deepcopy" and len(node.args) == 1 and not node.keywords:
            spread = [f"{'*' * nested.is_flat(one.kind)}{one.path}" for one in below]
            paths = ", ".join(spread) + "," * (len(below) == 1)
            for value, why, title, later in _COPIES:
                memo = f"{{id(t): {value} for t in ({paths})}}"
                edits = replace(source, node, f"{source.segment(node.func)}({source.segment(node.args[0])}, {memo})")
                yield self.propose(edits, why, title=title, later=later)

    def _shallow(self, source: Source, node: ast.Call) -> Iterator[Proposal]:
        """Where parts of its parts have a graph, the object alone, if it is copied for the function that copies it."""
        function = source.function(node)
        match source.statement(node):
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if value is node and function is not None:
                if names.gives_on(function, name):
                    raise Declined("the copy outlives the function that makes it")
                if names.writes_into_parts(function, name):
                    raise Declined("parts of the copy are written, which would be those of the object itself")
                module, imports = ensure_import(source, "copy")
                edits = [*imports, *replace(source, node.func, f"{module}.copy")]
                yield self.propose(edits, WHY_SHALLOW, title="Copy the object alone", tier=Tier.ANSWER)


def _is_copy(diagnosis: Diagnosis) -> bool:
    return diagnosis.failure.function.endswith(".__deepcopy__")


def _read(attribute: str, source: Source, sources: Sources) -> bool:
    """Whether the code reads an attribute of that name where gradients are on."""
    return any(
        isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and node.attr == attribute
        and not writes.under_no_grad(one, one.statement(node))
        for one in sources.imported_by(source)
        for node in one.mentioning(attribute)
    )  # fmt: skip
