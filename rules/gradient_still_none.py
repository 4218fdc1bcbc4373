"""A gradient that no backward has made yet, used as if it were zeros.

## What it does
Adds to the gradient only where there is one: `x.grad = g if x.grad is None else x.grad + g`; or leaves out what would
change it: `if x.grad is not None: x.grad.zero_()`. A loop or a comprehension over parameters, such as one that clips
their gradients by hand, passes over those that have none; where they are collected for later, zeros stand for them.

## Why autograd fails
The gradient of a leaf is None until a backward reaches it, and since torch 2.0 `zero_grad()` sets it to None again.
None can be neither added to nor zeroed.

## Fix safety
Safe where the run shows that, with zeros in the place of None, all gradients and steps are the same.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.search import early_use
from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import blocks, calls, names
from autofix.syntax.edits import Step, ensure_import, filtered, replace, replace_statement, wrap

WHY = "The first gradient is set, and those after it are added; None counts as zero."
WHY_GUARD = "What has no gradient yet is left as it is."
ZEROS = "Take zeros where there is no gradient"
WHY_ZEROS = "A parameter that no backward has reached counts as zeros, and each keeps its place among the others."


class GradientStillNone(Rule):
    code, name = "AG305", "gradient-still-none"
    title = "Set the gradient where there is none to add to"
    causes = frozenset({Cause.GRADIENT_NONE})
    tier = Tier.MEANT
    usual = "failed", "a gradient is usually read behind the backward that reaches its tensor, and set where it is None"
    examples = Example.each("""\
! the first of several is set
w = torch.ones(3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for _ in range(4):
    opt.zero_grad()
    for scale in (1.0, 0.5):
        (g,) = torch.autograd.grad((scale * w).exp().sum(), [w])
-        w.grad += g if scale == 0.5 else 2 * g
+        w.grad = (g if scale == 0.5 else 2 * g) if w.grad is None else w.grad + (g if scale == 0.5 else 2 * g)
    opt.step()
! several at once
w, b = torch.ones(3, requires_grad=True), torch.zeros(3, requires_grad=True)
opt = torch.optim.SGD([w, b], lr=0.1)
for _ in range(4):
    opt.zero_grad()
    gw, gb = torch.autograd.grad((w * 2 + b).exp().sum(), [w, b])
-    w.grad += gw
-    b.grad -= gb
+    w.grad = gw if w.grad is None else w.grad + gw
+    b.grad = -gb if b.grad is None else b.grad - gb
    opt.step()
! there is nothing to zero yet
w = torch.ones(3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for _ in range(4):
-    w.grad.zero_()
+    if w.grad is not None:
+        w.grad.zero_()
    w.exp().sum().backward()
    opt.step()
! unsafe: a mean over all parameters counts those without a gradient, too
body, spare = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
net = torch.nn.ModuleList([body, spare])
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    opt.zero_grad()
    body(torch.ones(2, 3)).exp().sum().backward()
-    norms = [p.grad.norm() for p in net.parameters()]
+    norms = [p.grad.norm() for p in net.parameters() if p.grad is not None]
    for p in body.parameters():
        p.grad.div_(sum(norms) / len(norms) + 1)
    opt.step()
! unsafe: the gradients were cleared before the norm was taken
net = torch.nn.Linear(3, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    net(torch.ones(2, 3)).exp().sum().backward()
    opt.step()
    opt.zero_grad()
    for p in net.parameters():
-        p.data -= 0.01 * p.grad.sign()
+        if p.grad is not None:
+            p.data -= 0.01 * p.grad.sign()
! the gradients of several passes are averaged elsewhere, and one head is not used
body, heads = torch.nn.Linear(3, 3), torch.nn.ModuleList([torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)])
net = torch.nn.ModuleList([body, heads])
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def gradients(i):
    net.zero_grad()
    heads[i](body(torch.ones(2, 3)).tanh()).exp().sum().backward()
-    return [p.grad for p in net.parameters()]
+    return [torch.zeros_like(p) if p.grad is None else p.grad for p in net.parameters()]


def mean(collected):
    return [sum(g / len(collected) for g in of_one) for of_one in zip(*collected)]


for _ in range(4):
    collected = [gradients(i) for i in (0, 1)]
    for p, g in zip(net.parameters(), mean(collected)):
        p.grad = g
    opt.step()
! a count between what is done with a gradient says that all are meant
body, spare = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
body(torch.ones(2, 3)).exp().sum().backward()
total, count = 0.0, 0
for p in (*body.parameters(), *spare.parameters()):
    norm = p.grad.norm()
    count += 1
    total += norm
! gradients are always cleared where they are scaled: leaving that out, it would never be done
net = torch.nn.Linear(3, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    opt.zero_grad()
    for p in net.parameters():
        p.grad *= 0.5
    net(torch.ones(2, 3)).exp().sum().backward()
    opt.step()
! an update without a gradient would never train, and nothing says why there is none
w = torch.ones(3, requires_grad=True)
w.exp().sum().backward()
w.grad = None
w.data -= 0.1 * w.grad
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """All uses of one block at once."""
        found = _read(diagnosis, sources)
        failing = [source.statement(node) for _, source, node in sources.nodes(diagnosis.failure.stack[:1])]
        if early_use.found(diagnosis, sources) is not None:
            raise Declined("the gradient is used between its clearing and its backward, where there is never one")
        added = all(map(_adds, failing))
        edits: list[Step] = []
        guarded: list[ast.stmt] = []
        for statement, (source, node) in found.items():
            each = None if added else _each(source, node)
            if statement in failing and each is None and not _adds(statement) and diagnosis.trace.backward_count:
                raise Declined(f"{calls.path_of(node.value)} has no gradient after a backward either")
            if statement in guarded:
                continue
            try:
                if isinstance(each, ast.For):
                    together = _together(source, statement, calls.path_of(node.value))
                    guarded += together
                    edits += wrap(source, together, f"if {source.segment(node)} is not None:")
                elif each is not None:
                    edits += filtered(source, each, f"{source.segment(node)} is not None")
                else:
                    edits += _set(source, statement, node)
            except Declined:
                if statement in failing:
                    raise
        if edits:
            title = "" if added else "Leave out what has no gradient yet"
            yield self.propose(edits, WHY if added else WHY_GUARD, title=title)
        yield from () if added else self._zeros(diagnosis, sources)

    def _zeros(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """Zeros in what is collected of several gradients: first where it fails later, so that nobody misses one."""
        failing = [node for _, _, node in sources.nodes(diagnosis.failure.stack[:1])]
        edits: list[Step] = []
        outside = False
        for source, node in sources.innermost(diagnosis.lost("empty")):
            if not isinstance(node, ast.Attribute):
                return
            each = _each(source, node)
            inside = each is not None and any(one is part for one in failing for part in ast.walk(each))
            if each is None or (inside and isinstance(each, ast.For)):
                return
            outside = outside or not inside
            torch, imports = ensure_import(source, "torch")
            path, owner = source.segment(node), source.segment(node.value)
            edits += [*imports, *replace(source, node, f"{torch}.zeros_like({owner}) if {path} is None else {path}")]
        if edits:
            yield self.propose(edits, WHY_ZEROS, title=ZEROS, later=-1 if outside else 2)


def _read(diagnosis: Diagnosis, sources: Sources) -> dict[ast.stmt, tuple[Source, ast.Attribute]]:
    """The first gradient that each statement reads."""
    found: dict[ast.stmt, tuple[Source, ast.Attribute]] = {}
    for source, node in sources.innermost(one.stack for one in diagnosis.trace.origins):
        if isinstance(node, ast.Attribute):
            found.setdefault(source.statement(node), (source, node))
    return found


def _adds(statement: ast.stmt) -> bool:
    """Whether a statement adds to a gradient: zeros times anything are zeros, and need not be there."""
    match statement:
        case ast.AugAssign(target=target, op=ast.Add() | ast.Sub()):
            return calls.name_of(target) == "grad"
    return False


def _each(source: Source, node: ast.Attribute) -> ast.For | calls.Comprehension | None:
    """The loop, or the comprehension, that goes through the tensors of which a gradient is one's."""
    owner = calls.path_of(node.value)
    for around in blocks.around(source, node):
        if isinstance(around, (ast.For, calls.Comprehension)):
            loops = [around] if isinstance(around, ast.For) else around.generators
            if owner and any(owner == calls.path_of(part) for one in loops for part in names.parts(one.target)):
                return around
    return None


def _together(source: Source, statement: ast.stmt, owner: str) -> list[ast.stmt]:
    """What a pass does with the gradient of one, from a statement on: neighbours, and nothing between them."""
    block = blocks.block_of(source, statement)
    found, used = [statement], {f"{owner}.grad"}
    for one in (statement, *blocks.after(block, statement)):
        if names.meets(used, names.reads(one)):
            found = [*block[block.index(statement) : block.index(one) + 1]]
            kept = {calls.path_of(part.target) for part in ast.walk(one) if isinstance(part, ast.AugAssign)}
            used |= names.binds(one) - kept
    if not all(names.meets(used, names.reads(one)) for one in found):
        raise Declined("statements in between are also done without a gradient")
    return found


def _set(source: Source, statement: ast.stmt, node: ast.Attribute) -> list[Step]:
    """A statement that takes None for zero."""
    path = source.segment(node)
    match statement:
        case ast.AugAssign(target=target, op=ast.Add() | ast.Sub() as operator, value=value) if target is node:
            text = source.segment(value)
            added = text if isinstance(value, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)) else f"({text})"
            sign, first = ("+", added) if isinstance(operator, ast.Add) else ("-", f"-{added}")
            if "\n" in text:
                raise Declined("what is added does not stand on one line")
            made = f"{path} = {first} if {path} is None else {path} {sign} {added}"
            return replace_statement(source, statement, [made])
        case ast.AugAssign(target=target) if target is node:
            return wrap(source, [statement], f"if {path} is not None:")
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name))) if name.endswith("_"):
            return wrap(source, [statement], f"if {path} is not None:")
    raise Declined("nothing says why there is no gradient, or what the value should be without one")
