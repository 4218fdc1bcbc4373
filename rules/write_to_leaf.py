"""A write to a leaf that requires a gradient, or to a view of one.

## What it does
Puts an update under `with torch.no_grad():`, writes that stand together under one; or says the write out of place
(`a += 1` becomes `a = a + 1`), or lets it go to a copy (`q = self.q.clone()`) where the result is part of the forward:
where each pass finds the leaf, to a copy that has a name of its own.

## Why autograd fails
A leaf is where gradients end. Writing to it in place would make it the result of an operation, and there would be no
place left to put its gradient; torch refuses before anything is written.

## Fix safety
The write can be meant as an update without gradient or as an operation with gradient. Both are run, and an edit is safe
only where they agree or where the rest of the program rules one out.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterator
from dataclasses import replace

from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import blocks, calls, names, writes
from autofix.syntax.edits import (
    Step,
    append_call,
    clone_before,
    embed,
    insert_before,
    out_of_place,
    own_copy,
    without_gradient,
)

WHY_UPDATE = "Under no_grad the write is an update of the values: autograd allows it and does not follow it."
WHY_DATA = "The write goes to the values behind {name}; autograd does not see it."
WHY_OPERATION = "{name} becomes a new tensor that gradients flow through; the leaf stays as it is."
_DEEPEST = 4


class WriteToLeaf(Rule):
    code, name = "AG301", "write-to-leaf"
    title = "Update the leaf under torch.no_grad()"
    causes = frozenset({Cause.LEAF_MODIFIED, Cause.VIEW_MODIFIED})
    tier = Tier.UPDATE
    usual = (
        "failed",
        "an update of a leaf stands under torch.no_grad(); what belongs to the forward goes to a new tensor",
    )
    examples = Example.each("""\
! an update
w = torch.zeros(3, requires_grad=True)
for _ in range(5):
    loss = (torch.randn(8, 3) @ w - 1).pow(2).mean()
    loss.backward()
-    w -= 0.1 * w.grad
+    with torch.no_grad():
+        w -= 0.1 * w.grad
    w.grad.zero_()
    print(loss.item())
! a write that belongs to the forward
a = torch.ones(3, requires_grad=True)
c = a * 2
-a += 1
+a = a + 1
c.sum().backward()
print(c.sum().item(), a.sum().item())
! two initial values
layer = torch.nn.Linear(2, 2)
-layer.weight.fill_(0.5)
-layer.bias[0] = 1
+with torch.no_grad():
+    layer.weight.fill_(0.5)
+    layer.bias[0] = 1
opt = torch.optim.SGD(layer.parameters(), lr=0.1)
for _ in range(4):
    train: layer(torch.randn(5, 2)).pow(2).mean()
! unsafe: an update of the values is possible, too
code, psi = torch.randn(2, 6, requires_grad=True), 0.7
opt = torch.optim.SGD([code], lr=0.1)
for _ in range(4):
-    code[:, 3:] = psi * code[:, 3:]
-    loss = code.exp().mean() + code.square().mean()
+    code_now = code.clone()
+    code_now[:, 3:] = psi * code[:, 3:]
+    loss = code_now.exp().mean() + code_now.square().mean()
    train: loss
    print(code.norm().item())
! unsafe: the same of a parameter in the forward
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(3, 4))

    def forward(self, x):
-        for i in range(3):
-            self.w[i] += x.mean(0)
-        return x @ self.w.t()
+        w = self.w.clone()
+        for i in range(3):
+            w[i] += x.mean(0)
+        return x @ w.t()


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x in torch.randn(4, 5, 4):
    train: net(x).square().mean()
! a table whose hidden rows are a token that learns
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.token = torch.nn.Embedding(6, 4), torch.nn.Parameter(torch.zeros(4))
        self.out = torch.nn.Linear(4, 1)

    def hide(self, x):
        hidden = torch.randperm(len(x))[:3]
+        x = x.clone()
        x[hidden] = self.token
        return x

    def forward(self):
        return self.out(self.hide(self.table.weight).tanh())


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    train: (net() - 1).square().mean()
! the write stands in no file
w = torch.ones(2, requires_grad=True)
exec("w += 1")
! what writes is handed over as a value, and no expression here is the tensor written
w = torch.ones(2, requires_grad=True)
list(map(torch.Tensor.zero_, [w]))
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """Out of place, under no_grad, on the values behind, and the same at the call of the helper that writes."""
        declined: list[Declined] = []
        located = [(source, node) for _, source, node in sources.nodes(diagnosis.failure.stack[:_DEEPEST])]
        if located and calls.name_of(located[0][1]) == "detach_":
            return  # it writes nothing
        if located and not _writes(located[0][1]):
            yield from self._activation(diagnosis, *located[0])
            return
        leafless = diagnosis.cause is Cause.VIEW_MODIFIED
        for depth, (source, node) in enumerate(located):
            attempts: list[Callable[[Source, ast.AST], Iterator[Proposal]]] = [self._wrapped]
            if depth == 0:
                own = functools.partial(self._own, diagnosis)
                attempts = [self._rebound, own, self._copied, self._wrapped, self._behind, self._decorated]
            for attempt in attempts:
                try:
                    found = list(attempt(source, node))
                except Declined as error:
                    declined.append(error)
                    continue
                for one in found:
                    title = "Write under torch.no_grad()" if leafless and one.title == self.title else one.title
                    yield replace(one, rank=one.rank + 9 * depth, title=title)
        yield from self._handed_over(located)
        if declined:
            raise declined[0]

    def _rebound(self, source: Source, node: ast.AST) -> Iterator[Proposal]:
        """`a = a + 1`; behind no_grad where the value is made of a gradient, as an update's is."""
        tier, later = (Tier.UPDATE, 9) if writes.is_update(source, node) else (Tier.AGAIN, 0)
        why = WHY_OPERATION.format(name=writes.written(source, node) or "the variable")
        title = "Rebind instead of writing in place"
        yield self.propose(out_of_place(source, node), why, title=title, tier=tier, later=later)

    def _own(self, diagnosis: Diagnosis, source: Source, node: ast.AST) -> Iterator[Proposal]:
        """`w_now = w.clone()` in each pass, for a leaf that lasts: by its own name the next pass would find it."""
        if not writes.is_update(source, node):
            why = WHY_OPERATION.format(name="The copy")
            edits = own_copy(source, node, diagnosis.failure.stack)
            # What is made of the old value goes on from pass to pass, as an update does.
            tier = Tier.AGAIN if isinstance(node, ast.Subscript) else Tier.UPDATE
            yield self.propose(edits, why, title="Write to a copy of this pass", tier=tier, later=2)

    def _copied(self, source: Source, node: ast.AST) -> Iterator[Proposal]:
        """`q = self.q.clone()` where the written name is another name of the leaf; else a copy just before."""
        name = writes.written(source, node)
        why, title = WHY_OPERATION.format(name=name), "Write to a copy"
        function = source.function(node)
        for statement in names.assignments(source, name):
            value = statement.value
            if source.function(statement) is function and isinstance(value, (ast.Name, ast.Attribute, ast.Subscript)):
                yield self.propose(append_call(source, value, ".clone()"), why, title=title, tier=Tier.AGAIN, later=2)
        yield self.propose(clone_before(source, node), why, title=title, tier=Tier.COPY)

    def _wrapped(self, source: Source, node: ast.AST) -> Iterator[Proposal]:
        """`with torch.no_grad():` around the write and those after it, and around the loop that holds only them."""
        statement = source.statement(node)
        together = writes.together(source, statement)
        yield self.propose(without_gradient(source, together), WHY_UPDATE, later=1)
        block = blocks.block_of(source, statement)
        last = max(place for place, other in enumerate(block) if other is together[-1] or writes.is_write(other))
        if block[last] is not together[-1]:
            spread = block[block.index(statement) : last + 1]
            yield self.propose(without_gradient(source, spread), WHY_UPDATE, later=4)
        loop = source.parent(statement)
        if isinstance(loop, ast.For) and loop.body == together:
            one_line = loop.lineno == statement.lineno
            yield self.propose(without_gradient(source, [loop]), WHY_UPDATE, later=0 if one_line else 3)

    def _behind(self, source: Source, node: ast.AST) -> Iterator[Proposal]:
        """`w.data -= ...` for the write and those after it."""
        edits: list[Step] = []
        name = ""
        statement = source.statement(node)
        for other in writes.together(source, statement):
            root = writes.written_part(source, node if other is statement else other)
            if root is None or (isinstance(root, ast.Attribute) and root.attr == "data"):
                continue
            name = name or ast.unparse(root)
            edits += embed(source, root, "{}.data")
        if edits:
            yield self.propose(edits, WHY_DATA.format(name=name), title="Write to .data", later=7)

    def _decorated(self, source: Source, node: ast.AST) -> Iterator[Proposal]:
        """`@torch.no_grad()` on the function that writes."""
        function = source.function(node)
        if function is None:
            return
        yield self.propose(without_gradient(source, function), WHY_UPDATE, later=6)

    def _activation(self, diagnosis: Diagnosis, source: Source, node: ast.AST) -> Iterator[Proposal]:
        """`act(p.clone())` for a module that works in place."""
        if not diagnosis.failure.function.startswith("torch.nn.functional.") or not isinstance(node, ast.Call):
            raise Declined("the write does not stand in a file of yours")
        for argument in node.args[:1]:
            why = WHY_OPERATION.format(name=source.segment(argument))
            yield self.propose(append_call(source, argument, ".clone()"), why, title="Write to a copy", later=1)

    def _handed_over(self, located: list[tuple[Source, ast.AST]]) -> Iterator[Proposal]:
        """Where a helper writes to its parameter: `.data` or a copy at its call, or an alias at its top."""
        if not located:
            return
        source, node = located[0]
        function, name = source.function(node), writes.written(source, node)
        if function is None or name not in calls.parameters(function):
            return
        why = WHY_DATA.format(name=name)
        for caller, call in located[1:2]:
            given = calls.argument(call, calls.parameters(function), name)
            if given is None:
                continue
            yield self.propose(append_call(caller, given, ".data"), why, title="Hand over .data", later=8)
            copy = append_call(caller, given, ".clone()")
            yield self.propose(copy, WHY_OPERATION.format(name=name), title="Hand over a copy", later=10)
        edits = insert_before(source, blocks.top(function), [f"{name} = {name}.detach()"])
        yield self.propose(edits, why, title="Write to a detached alias", later=11)


def _writes(node: ast.AST) -> bool:
    """Whether a node is itself a write, and not a call of something that writes."""
    if not isinstance(node, ast.Call):
        return isinstance(node, (ast.AugAssign, ast.Subscript))
    return writes.in_place(node) or writes.flag_of(node) is not None or any(k.arg == "out" for k in node.keywords)
