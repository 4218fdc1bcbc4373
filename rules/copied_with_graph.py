"""Deep copy of an object that holds a graph.

## What it does
Detaches, where a layer or another object keeps it, what the code reads nowhere with its graph; before the copy, what it
does read so. Or the copy alone is made without the graph: `copy.deepcopy(state.detach())`.

## Why autograd fails
A deep copy of a tensor has no place for the graph behind it, and torch refuses rather than lose it silently. An
attention map, a regulariser or a hidden state that was kept as an attribute is copied with its object.

## Fix safety
Safe where the run shows that all gradients stay, and the copy holds the same values: what a loss reads later must keep
its graph.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.probe.wire import Carrier, Frame
from autofix.search import cutting
from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import calls, nested, writes
from autofix.syntax.edits import Step, append_call, ensure_import, insert_before, replace

WHY = "What is kept from the last forward is dropped or detached before the copy, which needs no graph."
WHY_STORED = "What is only looked at later is kept without its graph, and can be copied."
WHY_COPY = "The copy has the values; the object that is copied keeps its graph."
WHY_SHALLOW = "The copy shares what the object holds, and what it is given itself is its own."


class CopiedWithGraph(Rule):
    """Copy the values without the graph."""

    code, name = "AG418", "copied-with-graph"
    title = "Detach the kept result before the copy"
    causes = frozenset({Cause.CONVERSION})
    tier = Tier.MEANT
    usual = "failed", "what an object keeps from its last forward is detached or dropped before it is copied"
    examples = Example.each("""\
import copy
import functools
import torch
! nothing else reads it
class Attends(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.score = torch.nn.Linear(3, 3)

    def forward(self, x):
        a = self.score(x).softmax(1)
-        self.attention = a
+        self.attention = a.detach()
        return (a * x).sum(1)


torch.manual_seed(0)
net = Attends()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    loss = (net(torch.randn(5, 3)) - 1).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    best = copy.deepcopy(net)
! a loss reads one of two
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


torch.manual_seed(0)
net = torch.nn.Sequential(Attends())
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    loss = (net(torch.randn(5, 3)) - 1).pow(2).mean() + net[0].spread
    opt.zero_grad()
    loss.backward()
    opt.step()
+    net[0].spread = net[0].spread.detach()
    best = copy.deepcopy(net)
! the attribute is not named where it is set
class Cache:
    def __init__(self):
        setattr(self, "last", w.exp())


w = torch.ones(3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
cache = Cache()
for _ in range(4):
+    cache.last = cache.last.detach()
    copy.deepcopy(cache)
    opt.zero_grad()
    w.exp().sum().backward()
    opt.step()
! a state that a loss reads afterwards
torch.manual_seed(0)
cell = torch.nn.GRUCell(2, 3)
opt = torch.optim.SGD(cell.parameters(), lr=0.1)
for _ in range(4):
    state = {"h": cell(torch.randn(1, 2)), "steps": 1}
-    kept = copy.deepcopy(state)
+    kept = copy.deepcopy({**state, 'h': state['h'].detach()})
    opt.zero_grad()
    (state["h"] - 1).pow(2).sum().backward()
    opt.step()
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
    opt.zero_grad()
    (net(torch.ones(1, 3)) - kept(torch.ones(1, 3)).detach() - 1).pow(2).sum().backward()
    opt.step()
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
    opt.zero_grad()
    (line.parts[0].power * line.parts[1].power - 1).pow(2).backward()
    opt.step()
    look(line)
! parts of the copy are written
class Lens:
    def __init__(self, power):
        self.power = power


class Line:
    def __init__(self, parts):
        self.parts = parts


def look(line):
    dark = copy.deepcopy(line)
    dark.parts[0].power = 0
    print(sum(one.power for one in dark.parts))


look(Line([Lens(torch.ones(1, requires_grad=True) * 2)]))
! what is copied has no name
w = torch.ones(3, requires_grad=True)


def made():
    return {"w": w.exp()}


kept = copy.deepcopy(made())
! the function is given its object elsewhere
out = torch.ones(3, requires_grad=True).exp()
export = functools.partial(copy.deepcopy, out)
kept = export()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """By where the object holds what has a graph: in attributes, in itself, or in what its own parts hold."""
        if not _is_copy(diagnosis):
            return
        for _, source, node in sources.located(diagnosis.failure.stack[:1]):
            given = node.args[0] if isinstance(node, ast.Call) and node.args else None
            if not isinstance(node, ast.Call) or not isinstance(given, (ast.Name, ast.Attribute, ast.Subscript)):
                raise Declined("what is copied has no name")
            below = [one for one in diagnosis.trace.copied if not one.file]
            if not below:
                yield from self._shallow(source, node)
            elif not all(one.path for one in below):
                yield from self._itself(source, node, given, below[0].kind, sources)
            else:
                yield from self._attributes(source, node, given, diagnosis, sources)

    def hints(self, diagnosis: Diagnosis) -> Iterator[tuple[Frame, str]]:
        """Only of what was to be copied."""
        yield from super().hints(diagnosis) if _is_copy(diagnosis) else ()

    def _itself(
        self, source: Source, node: ast.Call, given: ast.expr, form: str, sources: Sources
    ) -> Iterator[Proposal]:  # fmt: skip
        text = source.segment(given)
        if form in nested.TENSORS:
            edits = replace(source, node, f"{text}.detach().clone()")
            yield self.propose(edits, WHY_COPY, title="Clone the values", tier=Tier.ANSWER, later=1)
            return
        for one in cutting.cut([Carrier("", "", text, form)], (), source, sources):
            target, equals, value = one.line.partition(" = ")
            if equals and target == text:
                edits = [*replace(source, given, value), *one.imports]
                yield self.propose(edits, WHY_COPY, title="Copy the values without the graph")

    def _attributes(
        self, source: Source, node: ast.Call, given: ast.expr, diagnosis: Diagnosis, sources: Sources
    ) -> Iterator[Proposal]:
        """All that the object holds at once: each alone would only uncover the next."""
        text, statement = source.segment(given), source.statement(node)
        below = [
            Carrier(one.file, one.function, f"{text}{one.path}", one.kind)
            for one in diagnosis.trace.copied
            if not one.file
        ]
        before = {
            path: one.line for one in cutting.cut(below, (), source, sources) if not one.imports for path in one.paths
        }
        stored = {
            one.path.removeprefix("self"): list(_where_stored(one, sources))
            for one in diagnosis.trace.copied
            if one.file
        }
        entry = sources.source(diagnosis.failure.stack[-1].file) or source
        looked = {name: edits for name, edits in stored.items() if edits and not _read(name, entry, sources)}
        last = [one.path for one in below if not one.path.endswith(tuple(looked))]
        if looked and all(path in before for path in last):
            edits = [step for steps in looked.values() for step in steps]
            edits += insert_before(source, statement, [before[path] for path in last]) if last else []
            title = "" if last else "Keep the result without its graph"
            yield self.propose(dict.fromkeys(edits), WHY_STORED, title=title)
        if before and len(before) == len(below):
            edits = insert_before(source, statement, list(dict.fromkeys(before.values())))
            yield self.propose(edits, WHY, later=1)
        yield from self._where_made(diagnosis, sources)
        if all(one.kind == "tensor" for one in below):
            edits = insert_before(source, statement, [f"{one.path} = None" for one in below])
            yield self.propose(edits, WHY, title="Drop the kept result before the copy", later=3)
            if calls.known(source, node.func, ("copy",)) == "deepcopy" and len(node.args) == 1 and not node.keywords:
                paths = ", ".join(one.path for one in below)
                memo = f"{{id(t): t.detach().clone() for t in ({paths}{',' * (len(below) == 1)})}}"
                edits = replace(source, node, f"{source.segment(node.func)}({text}, {memo})")
                yield self.propose(edits, WHY_COPY, title="Copy the values without the graph", later=2)

    def _where_made(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """In a constructor, which runs once: a forward that needs the graph computes the result anew."""
        for origin in diagnosis.trace.origins:
            for _, source, node in sources.located(origin.stack[:3]):
                made, function = source.statement(node), source.function(node)
                if isinstance(made, ast.Assign) and getattr(function, "name", "") == "__init__":
                    edits = append_call(source, made.value, ".detach()")
                    yield self.propose(edits, WHY_STORED, title="Keep the result without its graph", later=1)

    def _shallow(self, source: Source, node: ast.Call) -> Iterator[Proposal]:
        """Where parts of its parts have a graph, the object alone, if it is copied for the function that copies it."""
        function, statement = source.function(node), source.statement(node)
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if value is node and function is not None:
                given_on = (one for one in ast.walk(function) if isinstance(one, (ast.Return, ast.Yield, ast.Assign)))
                if any(isinstance(one.value, ast.Name) and one.value.id == name for one in given_on):
                    raise Declined("the copy outlives the function that makes it")
                if any(_is_deeper(one, name) for one in ast.walk(function)):
                    raise Declined("parts of the copy are written, which would be those of the object itself")
                module, imports = ensure_import(source, "copy")
                edits = [*imports, *replace(source, node.func, f"{module}.copy")]
                yield self.propose(edits, WHY_SHALLOW, title="Copy the object alone", tier=Tier.ANSWER)


def _is_copy(diagnosis: Diagnosis) -> bool:
    return diagnosis.failure.function.endswith(".__deepcopy__")


def _where_stored(carrier: Carrier, sources: Sources) -> Iterator[Step]:
    """What cuts an attribute at each of its assignments."""
    for edits, _, _ in cutting.where_stored([carrier], sources):
        yield from edits


def _is_deeper(node: ast.AST, name: str) -> bool:
    """Whether something is written into what an object holds, rather than given to the object itself."""
    stored = isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load)
    if not stored or (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)):
        return False
    return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(node))


def _read(attribute: str, source: Source, sources: Sources) -> bool:
    """Whether the code reads an attribute, written `.name`, where gradients are on."""
    return any(
        isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Load)
        and f".{node.attr}" == attribute
        and not writes.under_no_grad(one, one.statement(node))
        for one in sources.imported_by(source)
        for node in one.mentioning(attribute[1:])
    )
