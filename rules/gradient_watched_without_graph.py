"""A gradient that is kept, or meets a hook, also where gradients are switched off.

## What it does
Keeps or watches the gradient only of a tensor that gets one: `if h.requires_grad: h.retain_grad()`.

## Why autograd fails
Under `torch.no_grad()` no graph is recorded, and its tensors get no gradient. The same forward serves training, where
`retain_grad()` and `register_hook(...)` are allowed, and validation, where torch refuses them. So it does in a stage of
training in which all that is behind the tensor is frozen.

## Fix safety
Safe where the run shows that all gradients and steps stay as they are. What reads the gradient after such a pass would
find none, and die of it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.probe.wire import Frame
from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import calls, live
from autofix.syntax.edits import wrap

WHY = "Where gradients are off, {tensor} gets none, and there is nothing to keep or to watch."
_OFF = ({"no_grad"}, {"frozen"})
_USUAL = "a gradient comes only to what has a graph: keep or watch it where x.requires_grad says that there is one"


class GradientWatchedWithoutGraph(Rule):
    code, name = "AG314", "gradient-watched-without-graph"
    title = "Keep or watch the gradient only where one comes"
    causes = frozenset({Cause.HOOK_REFUSED})
    tier = Tier.MEANT
    examples = Example.each("""\
body, head = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
opt = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
! a validation between the passes runs the same forward
def forward(x):
    h = body(x).tanh()
-    h.retain_grad()
+    if h.requires_grad:
+        h.retain_grad()
    return h, head(h)


for _ in range(4):
    h, out = forward(torch.randn(5, 3))
    train: out.pow(2).mean()
    print(h.grad.norm().item())
    with torch.no_grad():
        print(forward(torch.randn(5, 3))[1].mean().item())
! a stage of training in which the body is frozen
def forward(x):
    h = body(x).tanh()
-    h.register_hook(lambda g: -0.1 * g)
+    if h.requires_grad:
+        h.register_hook(lambda g: -0.1 * g)
    return head(h)


for step in range(6):
    for p in body.parameters():
        p.requires_grad = step >= 2
    train: forward(torch.randn(5, 3)).pow(2).mean()
! unsafe: what is frozen stays so, and the gradient is never watched
def forward(x):
    h = body(x).tanh()
-    h.register_hook(lambda g: -0.1 * g)
+    if h.requires_grad:
+        h.register_hook(lambda g: -0.1 * g)
    return head(h)


for p in body.parameters():
    p.requires_grad = False
for _ in range(6):
    train: forward(torch.randn(5, 3)).pow(2).mean()
! a hook, whose handle nobody takes
def forward(x):
    h = body(x).tanh()
-    handle = h.register_hook(lambda g: g * 0.5)
+    if h.requires_grad:
+        handle = h.register_hook(lambda g: g * 0.5)
    return head(h)


for _ in range(4):
    with torch.inference_mode():
        print(forward(torch.randn(5, 3)).mean().item())
    train: forward(torch.randn(5, 3)).pow(2).mean()
! gradients are on: it was meant to have one
x = torch.ones(3)
x.retain_grad()
! what it is made of was cut, and nothing says that it is to be
h = body(torch.ones(2, 3)).detach()
h.register_hook(print)
head(h).sum().backward()
! the handle is taken away again
with torch.no_grad():
    h = body(torch.ones(2, 3))
    handle = h.register_hook(print)
    handle.remove()
! the tensor has no name
with torch.no_grad():
    body(torch.ones(2, 3)).retain_grad()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """A condition around the statement, where gradients were switched off."""
        lost = diagnosis.trace.origins
        if not lost or {origin.kind for origin in lost} not in _OFF:
            raise Declined("gradients are not switched off where it has no graph")
        for _, source, node in sources.located(diagnosis.failure.stack[:1]):
            statement = source.statement(node)
            called = node.func if isinstance(node, ast.Call) else None
            tensor = calls.path_of(called.value) if isinstance(called, ast.Attribute) else ""
            if not tensor or not _stands_alone(source, statement, node):
                raise Declined("what it gives is used, or the tensor has no name")
            edits = wrap(source, [statement], f"if {tensor}.requires_grad:")
            yield self.propose(edits, WHY.format(tensor=tensor))

    def hints(self, diagnosis: Diagnosis) -> Iterator[tuple[Frame, str]]:
        """At the call that was refused."""
        yield from ((frame, _USUAL) for frame in diagnosis.failure.stack[:1])


def _stands_alone(source: Source, statement: ast.stmt, node: ast.expr) -> bool:
    """Whether a statement is that call, and nobody takes what it gives."""
    match statement:
        case ast.Expr(value=value):
            return value is node
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return value is node and not live.read_after(source, statement, name)
    return False
