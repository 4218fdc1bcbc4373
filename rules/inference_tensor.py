"""Inference mode around what is to have a graph, or around a tensor that is in one later.

## What it does
Puts `no_grad` in the place of `inference_mode`, where the tensor was made; or gives the operation a copy of it. What
switches gradients on within that mode leaves it instead: `inference_mode(False)`.

## Why autograd fails
Tensors that inference mode makes count no writes, so that no graph may save them, and outside it nothing may write to
them: no optimizer can update such a parameter. `no_grad` switches gradients off, too, and makes plain tensors. Within
the mode no graph is recorded, also under `enable_grad`.

## Fix safety
Safe where every optimizer gets the gradients that it would get if inference mode only switched gradients off.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.probe.wire import Frame, Origin
from autofix.search.rule import Cause, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import calls, modes
from autofix.syntax.edits import append_call, ensure_name, replace

WHY = "Under no_grad no graph is recorded either, and the tensors may be saved and written by later operations."
WHY_LEFT = "Inference mode records no graph, also where gradients are switched on: that part leaves the mode."
WHY_COPY = "A copy that is made outside inference mode is a plain tensor."
_MODE = "inference_mode"
_MADE = "what is trained, or kept for a graph, is made under torch.no_grad() instead of inference_mode"


class InferenceTensor(Rule):
    code, name = "AG423", "inference-tensor"
    title = "Switch gradients off by no_grad"
    causes = frozenset({Cause.INFERENCE_TENSOR, Cause.NO_GRAPH})
    tier = Tier.MEANT
    examples = Example.each("""\
! a derivative is part of what a validation computes
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def slope(x):
    x = x.clone().requires_grad_()
    return torch.autograd.grad(net(x).square().sum(), x, create_graph=True)[0]


def validate(x):
    with torch.inference_mode():
-        with torch.enable_grad():
+        with torch.inference_mode(False):
            error = slope(x)
        return error.mean().item()


for _ in range(4):
    train: slope(torch.randn(5, 2)).square().mean()
    print(validate(torch.randn(5, 2)))
! the function that differentiates switches gradients on for itself
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)


-@torch.enable_grad()
+@torch.inference_mode(False)
def slope(x):
    x = x.clone().requires_grad_()
    return torch.autograd.grad(net(x).square().sum(), x, create_graph=True)[0]


@torch.inference_mode()
def validate(x):
    return slope(x).mean().item()


for _ in range(4):
    train: slope(torch.randn(5, 2)).square().mean()
    print(validate(torch.randn(5, 2)))
! gradients are switched on by a statement
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    train: net(torch.randn(5, 2)).square().mean()
-    with torch.inference_mode():
+    with torch.no_grad():
        torch.set_grad_enabled(True)
        x = torch.randn(5, 2).requires_grad_()
        print(torch.autograd.grad(net(x).square().sum(), x)[0].mean().item())
! nothing was switched on in there
net = torch.nn.Linear(2, 1)
with torch.inference_mode():
    loss = net(torch.randn(5, 2)).square().mean()
loss.backward()
! features for a head that is trained
body, head = torch.nn.Linear(2, 4), torch.nn.Linear(4, 1)
-with torch.inference_mode():
+with torch.no_grad():
    features = body(torch.randn(3, 2))
head(features).sum().backward()
print(head.weight.grad.sum().item())
! a function makes new parameters
net = torch.nn.Linear(3, 2)
-@torch.inference_mode()
+@torch.no_grad()
def widened(layer, count):
    layer.weight = torch.nn.Parameter(torch.cat([layer.weight, layer.weight[:count] + 0.1]))
    layer.bias = torch.nn.Parameter(torch.cat([layer.bias, layer.bias[:count]]))


widened(net, 1)
opt = torch.optim.Adam(net.parameters(), lr=0.1)
for _ in range(4):
    loss = net(torch.randn(5, 3)).square().mean()
    train: loss
! in the loop, by another name
from torch import inference_mode
net, target = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    x = torch.randn(5, 2)
-    with inference_mode(True):
+    with torch.no_grad():
        aim = target(x)
    loss = (net(x) * aim).mean()
    train: loss
! a leaf that an optimizer steps
-with torch.inference_mode():
+with torch.no_grad():
    point = torch.randn(2) + 1
    point.requires_grad_()
opt = torch.optim.SGD([point], lr=0.1)
for _ in range(4):
    loss = (point * torch.randn(2)).sum()
    train: loss
! a flag decides
quick = True
body, head = torch.nn.Linear(2, 4), torch.nn.Linear(4, 1)
with torch.inference_mode(quick):
    features = body(torch.randn(3, 2))
-head(features).sum().backward()
+head(features.clone()).sum().backward()
print(head.weight.grad.sum().item())
! a flag decides where a leaf is made that an optimizer steps
quick = True
with torch.inference_mode(quick):
    point = torch.zeros(2).requires_grad_()
opt = torch.optim.SGD([point], lr=0.1)
(point + torch.ones(2)).sum().backward()
opt.step()
! the mode comes from a name
Mode = torch.inference_mode
with Mode():
    point = torch.zeros(2).requires_grad_()
opt = torch.optim.SGD([point], lr=0.1)
(point + torch.ones(2)).sum().backward()
opt.step()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """First what was switched on in vain, then the modes around the places where the tensor was made."""
        enabled = [one for one in diagnosis.trace.origins if one.kind == "enabled" and one.stack]
        if diagnosis.cause is Cause.NO_GRAPH and not enabled:
            return
        for source, mode in dict.fromkeys(found for one in enabled for found in _enabling(one, sources)):
            name, imports = ensure_name(source, "torch.inference_mode")
            edits = [*imports, *replace(source, mode, f"{name}(False)")]
            yield self.propose(edits, WHY_LEFT, title="Leave inference mode there")
        yield from self._modes(diagnosis, sources, later=bool(enabled))
        for _, source, node in [*sources.located(diagnosis.failure.stack)][: not enabled]:
            for operand in calls.tensors_in(node):
                edits = append_call(source, operand, ".clone()")
                yield self.propose(edits, WHY_COPY, title="Copy what inference mode made", later=2)

    def _modes(self, diagnosis: Diagnosis, sources: Sources, *, later: int) -> Iterator[Proposal]:
        """`no_grad` for the modes in the files of these places, first for those around them."""
        stacks = [*(origin.stack for origin in diagnosis.trace.origins), diagnosis.failure.stack]
        for source in sources.files(frame for stack in stacks for frame in stack):
            lines = {frame.line for stack in stacks[:-1] for frame in stack if frame.file == str(source.path)}
            for node, body in _modes(source):
                around = any(body.lineno <= line <= (body.end_lineno or line) for line in lines)
                yield self.propose(replace(source, node, _plain(source, node)), WHY, later=later + (not around))

    def hints(self, diagnosis: Diagnosis) -> Iterator[tuple[Frame, str]]:
        """Where the tensor was made; where gradients were switched on in vain, the mode around that."""
        kind = "inference" if diagnosis.cause is Cause.NO_GRAPH else ""
        made = (one for one in diagnosis.trace.origins if one.stack and (not kind or one.kind == kind))
        yield from ((one.stack[0], _MADE) for one in made)


def _enabling(enabled: Origin, sources: Sources) -> Iterator[tuple[Source, ast.expr]]:
    """The mode that switches gradients on, as a context or as a decorator."""
    if enabled.node:
        file, _, line = enabled.node.rpartition(":")
        source = sources.source(file)
        held = [one for one in source.walk() if isinstance(one, calls.Function)] if source is not None else []
        near = (one for one in held if min(d.lineno for d in (*one.decorator_list, one)) == int(line))
        given = [mode for one in near for mode in one.decorator_list]
    else:
        source, node = sources.source(enabled.stack[0].file), sources.node(enabled.stack[0])
        statement = source.statement(node) if source is not None and node is not None else None
        given = [one.context_expr for one in statement.items] if isinstance(statement, ast.With) else []
    if source is not None:
        yield from ((source, one) for one in given if modes.is_mode(one) and not modes.may_switch_off(one))


def _modes(source: Source) -> Iterator[tuple[ast.expr, ast.stmt]]:
    """The calls and names of inference mode that surely switch gradients off, each with what it governs."""
    for body in source.walk():
        match body:
            case ast.With(items=items) | ast.AsyncWith(items=items):
                given = [item.context_expr for item in items]
            case ast.FunctionDef(decorator_list=given) | ast.AsyncFunctionDef(decorator_list=given):
                pass
            case _:
                continue
        yield from ((node, body) for node in given if calls.name_of(node) == _MODE and _is_on(node))


def _is_on(node: ast.expr) -> bool:
    """Whether a mode is on, whatever the program does: it has no flag, or a constant one."""
    given = calls.values(node) if isinstance(node, ast.Call) else []
    return all(isinstance(value, ast.Constant) and value.value is True for value in given)


def _plain(source: Source, node: ast.expr) -> str:
    """The mode that only switches gradients off, as the file spells it."""
    mode = node.func if isinstance(node, ast.Call) else node
    owner = source.segment(mode.value) if isinstance(mode, ast.Attribute) else "torch"
    return f"{owner}.no_grad{'()' if isinstance(node, ast.Call) else ''}"
