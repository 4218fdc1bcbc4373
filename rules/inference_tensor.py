"""A tensor made in inference mode, where a graph is recorded later.

## What it does
Puts `no_grad` in the place of `inference_mode`, where the tensor was made; or gives the operation a copy of it.

## Why autograd fails
Tensors that inference mode makes count no writes, so that no graph may save them, and outside it nothing may write to
them: no optimizer can update such a parameter. `no_grad` switches gradients off, too, and makes plain tensors.

## Fix safety
Safe where every optimizer gets the gradients that it would get if inference mode only switched gradients off.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.probe.wire import Frame
from autofix.search.rule import Cause, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import calls
from autofix.syntax.edits import append_call, replace

WHY = "Under no_grad no graph is recorded either, and the tensors may be saved and written by later operations."
WHY_COPY = "A copy that is made outside inference mode is a plain tensor."
_MODE = "inference_mode"
_MADE = "what is trained, or kept for a graph, is made under torch.no_grad() instead of inference_mode"


class InferenceTensor(Rule):
    code, name = "AG423", "inference-tensor"
    title = "Switch gradients off by no_grad"
    causes = frozenset({Cause.INFERENCE_TENSOR})
    tier = Tier.MEANT
    examples = Example.each("""\
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
        """First the modes around the places where the tensor was made."""
        stacks = [*(origin.stack for origin in diagnosis.trace.origins), diagnosis.failure.stack]
        for source in sources.files(frame for stack in stacks for frame in stack):
            lines = {frame.line for stack in stacks[:-1] for frame in stack if frame.file == str(source.path)}
            for node, body in _modes(source):
                around = any(body.lineno <= line <= (body.end_lineno or line) for line in lines)
                yield self.propose(replace(source, node, _plain(source, node)), WHY, later=0 if around else 1)
        for _, source, node in [*sources.located(diagnosis.failure.stack)][:1]:
            for operand in calls.tensors_in(node):
                edits = append_call(source, operand, ".clone()")
                yield self.propose(edits, WHY_COPY, title="Copy what inference mode made", later=2)

    def hints(self, diagnosis: Diagnosis) -> Iterator[tuple[Frame, str]]:
        """Where the tensor was made."""
        yield from ((one.stack[0], _MADE) for one in diagnosis.trace.origins if one.stack)


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
