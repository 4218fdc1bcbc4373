"""An in-place write to one of several views that one call gave out.

## What it does
Says the write out of place, `f += b` becomes `f = f + b`, where only the view is used from then on. Where the write
must reach the tensor behind it (`for c in img: c.mul_(s)`), collects the results anew with `torch.stack` or
`torch.cat`, writes by index, or takes each part by an index of its own. A view that was taken under `no_grad` is taken
outside of it.

## Why autograd fails
`chunk`, `split`, `unbind` and iteration give several views from one call, and views taken under `no_grad` have no
graph. Autograd cannot rewrite such a graph for a write into one of them, and refuses the write.

## Fix safety
The write was refused, so nothing tells what it would have done but the script with single views in place of these.
The run compares with that; an out-of-place write that the tensor behind it should have seen changes gradients there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress

from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import calls, modes, names, slices, vocabulary, writes
from autofix.syntax.edits import (
    Step,
    append_call,
    embed,
    ensure_import,
    insert_after,
    insert_before,
    out_of_place,
    replace,
    replace_statement,
    undecorate,
    unwrap,
    value_after,
)
from autofix.syntax.slices import Loop

WHY = "{name} becomes a tensor of its own, which may change without the views beside it."
WHY_ALL = "All parts are computed anew and put together, instead of being written through views."
WHY_COPY = "The parts are copies, each of which may be written to."
WHY_SINGLE = "Each part is a view that one call gave out alone: autograd can follow a write through it."
WHY_VIEW = "The view has a graph, so that a write through it can be differentiated."


class WriteToMultiView(Rule):
    code, name = "AG105", "write-to-multi-view"
    title = "Rebind to a new tensor instead of writing through a view"
    causes = frozenset({Cause.VIEW_MODIFIED})
    tier = Tier.MEANT
    examples = Example.each("""\
! one of two chunks
w = torch.ones(2, 4, requires_grad=True)
f, g = (w * 2).chunk(2, dim=1)
-f += 1.0
+f = f + 1.0
(f * g).sum().backward()
print(w.grad.sum().item())
! a loop that only writes
w = torch.ones(3, 2, requires_grad=True)
image = w * 2
-for channel, std in zip(image, (0.2, 0.3, 0.4)):
-    channel.mul_(std).add_(0.5)
+image = torch.stack([channel.mul(std).add(0.5) for channel, std in zip(image, (0.2, 0.3, 0.4))])
image.pow(2).sum().backward()
print(w.grad.sum().item())
! a loop that computes, too
w = torch.ones(3, 2, requires_grad=True)
rows = w * 2
-for row in rows:
+for i, row in enumerate(rows.clone()):
    scale = row.detach().max()
-    row /= scale
+    rows[i] = row / scale
rows.pow(2).sum().backward()
print(w.grad.sum().item())
! parts of parts
w = torch.ones(3, 2, requires_grad=True)
scores = w * 2
-for place, row in enumerate(scores):
+for place in range(len(scores)):
+    row = scores[place]
    row[place:] = -5.0
scores.softmax(1).square().sum().backward()
print(w.grad.sum().item())
! a table that is filled through its columns
w = torch.ones(3, 4, requires_grad=True)
table = torch.zeros(3, 2)
-columns = torch.split(table, 1, dim=1)
+columns = [table[:, i:i + 1] for i in range(0, table.size(1), 1)]
for j, part in enumerate(w.split(2, 1)):
    for k in range(3):
        columns[j][k] = part[k].square().sum()
table.exp().sum().backward()
print(w.grad.sum().item())
! parts that a list holds
w = torch.ones(2, 2, requires_grad=True)
-parts = (w * 2).unbind()
+parts = [t.clone() for t in (w * 2).unbind()]
parts[0].mul_(3)
sum(part.sum() for part in parts).backward()
print(w.grad.sum().item())
! what is written to has no name
w = torch.ones(2, 2, requires_grad=True)
(w * 2).unbind()[0].add_(1).sum().backward()
torch.sigmoid((w * 2).chunk(2)[0].exp_()).sum().backward()
! a view is cut, which is no write
w = torch.ones(2, 3, requires_grad=True)
part = (w * 2)[0]
part.detach_()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """The refused write, and those beside it, in each form that it has."""
        frame = diagnosis.failure.stack[0]
        source, node = sources.source(frame.file), sources.node(frame)
        name = writes.written(source, node) if source is not None and node is not None else ""
        if source is None or node is None or not name or calls.name_of(node) == "detach_":
            return
        loop = slices.loop_over(source, node, name)
        if loop is not None:
            arguments = source, loop, node, name
            for form in (self._collected(*arguments), self._by_index(*arguments), self._listed(*arguments)):
                with suppress(Declined):
                    yield from form
        yield from self._singly(source, node, name, loop)
        with suppress(Declined):
            yield from self._copies(source, node, name)
            yield from self._viewed(source, node, name)
        yield self.propose(out_of_place(source, node), WHY.format(name=name))

    def _collected(self, source: Source, loop: Loop, node: ast.AST, name: str) -> Iterator[Proposal]:
        """`x = torch.stack([... for c in x])` in the place of a loop that does nothing but write."""
        alone = loop.statement.body == [source.statement(node)] and not loop.statement.orelse
        if not alone or calls.path_of(loop.element) == name:
            return
        torch, imports = ensure_import(source, "torch")
        header = f"for {source.segment(loop.statement.target)} in {source.segment(loop.statement.iter)}"
        made = f"{torch}.{loop.join}([{value_after(source, node)} {header}]{loop.dim})"
        edits = [*imports, *replace_statement(source, loop.statement, [f"{loop.base} = {made}"])]
        yield self.propose(edits, WHY_ALL, title="Compute the parts anew and put them together")

    def _by_index(self, source: Source, loop: Loop, node: ast.AST, name: str) -> Iterator[Proposal]:
        """The loop goes over a copy, and what it computes goes into the tensor by index."""
        if loop.join != "stack" or loop.dim:
            return
        index = loop.index or names.unused(source, "i", "j", "k", "index", "place")
        edits: list[Step] = append_call(source, loop.element, ".clone()")
        if not loop.index:
            edits += embed(source, loop.statement.target, f"{index}, {{}}")
            edits += embed(source, loop.statement.iter, "enumerate({})")
        edits += self._stored(source, loop, node, name, f"{loop.base}[{index}]")
        yield self.propose(edits, WHY_ALL, title="Write by index", later=1)

    def _listed(self, source: Source, loop: Loop, node: ast.AST, name: str) -> Iterator[Proposal]:
        """The loop gathers what it computes in a list, and the tensor is put together after it."""
        if len(loop.statement.body) == 1 or any(loop.base in names.reads(one) for one in loop.statement.body):
            return
        torch, imports = ensure_import(source, "torch")
        gathered = names.unused(source, "parts", "pieces", f"{name}_parts")
        group = [one for one in writes.neighbours(source, node) if writes.written(source, one) == name]
        edits = [*imports, *insert_before(source, loop.statement, [f"{gathered} = []"])]
        edits += [edit for one in group for edit in out_of_place(source, one)]
        edits += insert_after(source, source.statement(group[-1]), [f"{gathered}.append({name})"])
        joined = f"{loop.base} = {torch}.{loop.join}({gathered}{loop.dim})"
        edits += insert_after(source, loop.statement, [joined])
        yield self.propose(edits, WHY_ALL, title="Gather the parts and put them together", later=2)

    def _singly(self, source: Source, node: ast.AST, name: str, loop: Loop | None) -> Iterator[Proposal]:
        """Each part as a view of its own, through which autograd can follow a write: where they are taken apart."""
        edits: list[Step] = []
        for whole, element in _taken_apart(source, node, loop.base if loop is not None else name):
            if parts := slices.singly(source, element):
                edits += replace(source, whole, parts)
        if loop is not None and not edits:
            if loop.alone and loop.base not in names.bound_by(loop.statement.body):
                index = loop.index or names.unused(source, "i", "j", "k", "index", "place")
                edits += replace(source, loop.statement.target, index)
                edits += replace(source, loop.statement.iter, f"range(len({loop.base}))")
                edits += insert_before(source, loop.statement.body[0], [f"{name} = {loop.base}[{index}]"])
            elif parts := slices.singly(source, loop.parts):
                edits += replace(source, loop.parts, parts)
        if edits:
            yield self.propose(edits, WHY_SINGLE, title="Take each part by itself", later=3)

    def _stored(self, source: Source, loop: Loop, node: ast.AST, name: str, part: str) -> Iterator[Step]:
        """The writes to one variable out of place, and then its value into a part of the tensor."""
        group = [one for one in writes.neighbours(source, node) if writes.written(source, one) == name]
        last = source.statement(group[-1])
        body = loop.statement.body
        later = body[body.index(last) + 1 :] if last in body else []
        if len(group) == 1 and not any(name in names.reads(one) for one in later):
            yield from replace_statement(source, last, [f"{part} = {value_after(source, node)}"])
            return
        for one in group:
            yield from out_of_place(source, one)
        yield from insert_after(source, last, [f"{part} = {name}"])

    def _copies(self, source: Source, node: ast.AST, name: str) -> Iterator[Proposal]:
        """The views as copies, where they were taken."""
        for statement in _given(source, node, name):
            if not isinstance(statement, ast.Assign):
                continue
            value = statement.value
            if isinstance(statement.targets[0], (ast.Tuple, ast.List)) and isinstance(value, calls.VALUES):
                edits = embed(source, value, "(t.clone() for t in {})")
            elif isinstance(value, ast.Call) and ast.unparse(value.func).rpartition(".")[2] in vocabulary.PARTS:
                edits = embed(source, value, "[t.clone() for t in {}]")
            elif isinstance(value, calls.VALUES):
                edits = append_call(source, value, ".clone()")
            else:
                continue
            yield self.propose(edits, WHY_COPY, title="Take copies instead of views", tier=Tier.COPY)

    def _viewed(self, source: Source, node: ast.AST, name: str) -> Iterator[Proposal]:
        """A view that was taken without gradients, here or in a function of this file, taken with them."""
        for statement in _given(source, node, name):
            scopes: list[ast.AST] = [writes.with_gradient(source, statement)]
            called = {calls.path_of(one.func).rpartition(".")[2] for one in calls.within(statement)}
            functions = [n for n in source.walk() if isinstance(n, ast.FunctionDef) and n.name in called]
            scopes += [inner for function in functions for inner in ast.walk(function)]
            ways: list[list[Step]] = []
            for scope in (one for one in scopes if isinstance(one, ast.With)):
                off = [one for one in scope.items if modes.may_switch_off(one.context_expr)]
                ways += [unwrap(source, scope, one) for one in off[:1]]
            decorators = (one for function in functions for one in function.decorator_list)
            ways += [undecorate(source, one) for one in filter(modes.switches_off, decorators)]
            for edits in ways:
                yield self.propose(edits, WHY_VIEW, title="Take the view with gradients", later=2)


def _given(source: Source, node: ast.AST, path: str) -> Iterator[ast.stmt]:
    """The statements of the same function that give a variable a value."""
    given = (one for one in names.assignments(source, path) if one.value is not None)
    return (one for one in given if source.function(one) is source.function(node))


def _taken_apart(source: Source, node: ast.AST, path: str) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What gives a variable parts of a tensor here, with what is taken apart: `x.unbind()`, the `x` of `list(x)`."""
    for statement in _given(source, node, path):
        match statement:
            case ast.Assign(value=ast.Call(func=ast.Name(id="list" | "tuple"), args=[held])):
                yield statement.value, held
            case ast.Assign(value=ast.Call() as call):
                yield call, call
            case ast.Assign(targets=[ast.Tuple() | ast.List()], value=ast.Name() | ast.Attribute() as held):
                yield held, held
