"""A gradient asked of the whole numbers by which a table is looked up.

## What it does
Takes the gradient of what is looked up: `embedded = embed(ids)`, `embedded.retain_grad()`, and `embedded.grad` where
`ids.grad` was read. Where a module looks it up, it keeps that as an attribute, which is then read.

## Why autograd fails
A gradient says how a result changes with small changes of a value. An index has none: between the rows 3 and 4 of a
table there is nothing. What the table gives does have one: it says how the loss changes with the row, which is what a
saliency or an attack on tokens needs.

## Fix safety
Never safe: nothing runs without the flag that could be compared with.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from autofix.search.rule import (
    Applicability,
    Cause,
    Declined,
    Diagnosis,
    Example,
    Proposal,
    Rule,
    Source,
    Sources,
    Tier,
)
from autofix.syntax import calls, names
from autofix.syntax.edits import Step, delete, insert_after, insert_before, receiver, replace

WHY = "The rows that are looked up have a gradient; the numbers of the rows have none."
_KEPT = "embedded"


@dataclass(frozen=True, slots=True)
class _Looked:
    """A call that looks up a table by a variable, and the steps by which `path` holds in the script what it gives."""

    path: str
    steps: list[Step]


class GradientOfIndices(Rule):
    code, name = "AG319", "gradient-of-indices"
    title = "Take the gradient of what is looked up"
    causes = frozenset({Cause.NO_GRAPH})
    tier = Tier.ANSWER
    applicability = Applicability.UNSAFE
    examples = Example.each("""\
! the table is looked up beside it
embed, out = torch.nn.Embedding(9, 4), torch.nn.Linear(4, 2)
ids = torch.randint(9, (3, 5))
-ids.requires_grad = True
-out(embed(ids).mean(1)).square().sum().backward()
-print(ids.grad.norm(dim=-1).shape)
+embedded = embed(ids)
+embedded.retain_grad()
+out(embedded.mean(1)).square().sum().backward()
+print(embedded.grad.norm(dim=-1).shape)
! under a name of its own
embed, out = torch.nn.Embedding(9, 4), torch.nn.Linear(4, 2)
ids = torch.randint(9, (3, 5))
-ids.requires_grad_()
rows = embed(ids)
+rows.retain_grad()
loss = out(rows.tanh().mean(1)).square().sum()
loss.backward()
-print(ids.grad.abs().sum(-1).argmax(1))
+print(rows.grad.abs().sum(-1).argmax(1))
! in a module
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.out = torch.nn.Embedding(9, 4), torch.nn.Linear(4, 2)

    def forward(self, tokens):
        x = self.table(tokens)
+        self.embedded = x
+        if x.requires_grad:
+            x.retain_grad()
        return self.out(x.mean(1))


net, ids = Net(), torch.randint(9, (3, 5))
for _ in range(3):
-    ids.requires_grad_()
    net(ids).square().sum().backward()
-    scores = ids.grad @ net.table.weight.t()
+    scores = net.embedded.grad @ net.table.weight.t()
    ids = scores.argmax(-1)
! in a module that a function is given
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.out = torch.nn.Embedding(9, 4), torch.nn.Linear(4, 2)

    def forward(self, tokens):
-        return self.out(self.table(tokens).mean(1))
+        embedded = self.table(tokens)
+        self.embedded = embedded
+        if embedded.requires_grad:
+            embedded.retain_grad()
+        return self.out(embedded.mean(1))


def flipped(model, ids):
-    ids = ids.clone().requires_grad_()
+    ids = ids.clone()
    model(ids).square().sum().backward()
-    return (ids.grad @ model.table.weight.t()).argmax(-1)
+    return (model.embedded.grad @ model.table.weight.t()).argmax(-1)


flipped(Net(), torch.randint(9, (3, 5)))
! nothing reads the gradient
embed = torch.nn.Embedding(9, 4)
ids = torch.randint(9, (3, 5))
ids.requires_grad = True
embed(ids).sum().backward()
! whole numbers that are no indices
x = torch.arange(3)
x.requires_grad = True
(x * 2).sum().backward()
print(x.grad)
! it is looked up twice
embed, other = torch.nn.Embedding(9, 4), torch.nn.Embedding(9, 4)
ids = torch.randint(9, (3, 5))
ids.requires_grad_()
(embed(ids) * other(ids)).sum().backward()
print(ids.grad)
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """Where the flag is set on a variable of a function that looks up a table by it, and reads its gradient."""
        if not diagnosis.failure.function:
            return
        for _, source, node in sources.nodes(diagnosis.failure.stack[:1]):
            statement = source.statement(node)
            name, steps = _unflagged(source, statement)
            function = source.function(statement)
            within = [one for one in source.walk(function) if source.function(one) is function]
            read = [one for one in within if isinstance(one, ast.Attribute) and ast.unparse(one) == f"{name}.grad"]
            looked = [found for one in within for found in _looks_up(sources, source, one, name)]
            if not name or not read or len(looked) != 1:
                raise Declined("the function does not look up one table by it and read its gradient")
            steps += looked[0].steps
            steps += [step for one in read for step in replace(source, one, f"{looked[0].path}.grad")]
            yield self.propose(steps, WHY)


def _unflagged(source: Source, statement: ast.stmt) -> tuple[str, list[Step]]:
    """The variable on which a statement sets the flag, and the steps that leave it as it is; '' where there is none."""
    match statement:
        case ast.Expr(ast.Call(ast.Attribute(ast.Name(name), "requires_grad_"))):
            return name, delete(source, statement)
        case ast.Assign([ast.Attribute(ast.Name(name), "requires_grad")]):
            return name, delete(source, statement)
        case ast.Assign([ast.Name(name)], ast.Call(ast.Attribute(attr="requires_grad_")) as call):
            return name, receiver(source, call)
    return "", []


def _looks_up(sources: Sources, source: Source, call: ast.AST, name: str) -> Iterator[_Looked]:
    """A call that is given the variable and looks up a table by it: the table's own, or that of a module around it."""
    if not isinstance(call, ast.Call) or not any(isinstance(one, ast.Name) and one.id == name for one in call.args):
        return
    if _is_table(source, call.func):
        path, steps = _kept(source, call)
        yield _Looked(path, [*steps, *_behind(source, call, path, [f"{path}.retain_grad()"])])
        return
    found = [one for home, forward in _forwards(sources, source, call) for one in _inside(home, forward, call, name)]
    for home, one in found if len(found) == 1 else ():
        path, steps = _kept(home, one)
        lines = [f"self.{_KEPT} = {path}", f"if {path}.requires_grad:", f"    {path}.retain_grad()"]
        yield _Looked(f"{ast.unparse(call.func)}.{_KEPT}", [*steps, *_behind(home, one, path, lines)])


def _forwards(sources: Sources, source: Source, call: ast.Call) -> Iterator[tuple[Source, calls.Function]]:
    """The forward of the module that is called; each that there is where a function is given the module."""
    found = sources.called(source, call)
    function = source.function(call)
    if found is None and function is not None and calls.path_of(call.func) in calls.parameters(function):
        homes = ((home, home.definitions.get("forward", ())) for home in sources.imported_by(source))
        yield from ((home, one) for home, several in homes for one in several if isinstance(one, ast.FunctionDef))
    elif found is not None and found[1].name == "forward":
        yield found


def _inside(
    home: Source, forward: calls.Function, call: ast.Call, name: str
) -> Iterator[tuple[Source, ast.Call]]:  # fmt: skip
    """The calls in a forward that look up a table by what a call of it is given as that variable."""
    given = [one for one in calls.parameters(forward) if _is(calls.handed(call, forward, one), name)]
    for one in calls.within(forward):
        if any(_is(arg, each) for arg in one.args for each in given) and _is_table(home, one.func):
            yield home, one


def _is(node: ast.expr | None, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_table(source: Source, function: ast.expr) -> bool:
    """Whether what is called was made by `Embedding(…)` wherever it is given a value."""
    path = calls.path_of(function)
    given = [value for one in names.assignments(source, path) for value in names.given_to(one, path)] if path else []
    made = [calls.name_of(one).startswith("Embedding") for one in given if isinstance(one, ast.Call)]
    return bool(made) and all(made) and len(made) == len(given)


def _kept(source: Source, call: ast.Call) -> tuple[str, list[Step]]:
    """The name of what a call gives, and the steps by which it stands there where it has none."""
    match source.statement(call):
        case ast.Assign([ast.Name(name)], value) if value is call:
            return name, []
    taken = {getattr(one, "id", getattr(one, "arg", "")) for one in source.walk(source.function(call))}
    if _KEPT in taken:
        raise Declined(f"{_KEPT} is the name of something else")
    return _KEPT, replace(source, call, _KEPT)


def _behind(source: Source, call: ast.Call, path: str, lines: list[str]) -> list[Step]:
    """Lines behind the statement that gives a call's value its name, which comes before the call's own if it is new."""
    statement = source.statement(call)
    if isinstance(statement, ast.Assign) and statement.value is call:
        return insert_after(source, statement, lines)
    return insert_before(source, statement, [f"{path} = {source.segment(call)}", *lines])
