"""Inner step on computed weights that takes their gradients by `backward`.

## What it does
Takes them by `torch.autograd.grad(loss, [weight, bias])`, which goes back to these weights and no farther. A second
edit gives them a graph, too (`create_graph=True`), so that the outer loss trains through the step.

## Why autograd fails
The weights were computed, as prototypes of features are, and keep their gradients by `retain_grad()`. `backward` does
not stop at them: it goes on to what they were made of, and frees that graph, which the next inner step and the outer
loss need.

## Fix safety
Not safe by itself: as written, the inner loss also leaves gradients in all parameters behind the weights, and the outer
step uses them. An inner step hardly means that. Keeping the graph (`retain_graph=True`) adds them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import calls, names
from autofix.syntax.edits import Step, delete, ensure_import, replace, replace_statement
from autofix.syntax.update import InnerStep, inner_steps

WHY = "The gradients of the inner loss are taken by the weights that it moves, and left in nothing else."
WHY_GRAPH = f"{WHY} They have a graph, so that the outer loss trains through the step."


class InnerStepByBackward(Rule):
    code, name = "AG320", "inner-step-by-backward"
    title = "Take the gradients of the inner step alone"
    causes = frozenset({Cause.FREED_GRAPH})
    tier = Tier.MEANT
    conventional = True
    examples = Example.each("""\
body, F = torch.nn.Linear(3, 4), torch.nn.functional
opt = torch.optim.SGD(body.parameters(), lr=0.1)


! unsafe: as written, the inner loss trains the body, too
def adapt(features, y):
    weight, bias = features.mean(0, keepdim=True), -features.square().mean().reshape(1)
    for _ in range(3):
-        weight.retain_grad()
-        bias.retain_grad()
        loss = (F.linear(features, weight, bias) - y).square().mean()
-        loss.backward()
-        weight = weight - 0.1 * weight.grad
-        bias = bias - 0.1 * bias.grad
+        weight_grad, bias_grad = torch.autograd.grad(loss, [weight, bias])
+        weight = weight - 0.1 * weight_grad
+        bias = bias - 0.1 * bias_grad
    return weight, bias


for _ in range(4):
    opt.zero_grad()
    fast = adapt(body(torch.randn(5, 3)).tanh(), torch.randn(5, 1))
    F.linear(body(torch.randn(5, 3)).tanh(), *fast).square().mean().backward()
    opt.step()
! unsafe: as written, the inner loss trains the body, too
body = torch.nn.Linear(3, 4)
opt = torch.optim.SGD(body.parameters(), lr=0.1)
for _ in range(4):
    opt.zero_grad()
    code = body(torch.randn(5, 3)).tanh()
-    code.retain_grad()
-    (code - 1).square().mean().backward()
-    code = code - 0.5 * code.grad
+    code_grad = torch.autograd.grad((code - 1).square().mean(), code)[0]
+    code = code - 0.5 * code_grad
    code.abs().mean().backward()
    opt.step()
! unsafe: as written, the inner loss trains the body, too
class Learner:
    def __init__(self):
        self.body = torch.nn.Linear(3, 4)

    def adapt(self, x, y):
        self.head = self.body(x).tanh().mean(0)
        for _ in range(2):
-            self.head.retain_grad()
            error = (x @ self.head[:3] - y).square()
-            error.backward(torch.ones_like(error))
-            self.head = self.head - 0.1 * self.head.grad
+            head_grad = torch.autograd.grad(error, self.head, torch.ones_like(error))[0]
+            self.head = self.head - 0.1 * head_grad


learner = Learner()
opt = torch.optim.SGD(learner.body.parameters(), lr=0.1)
for _ in range(4):
    learner.adapt(torch.randn(5, 3), torch.randn(5))
    train: (learner.head - 1).square().mean()
! the gradient is looked at, too
body = torch.nn.Linear(3, 4)
for _ in range(2):
    code = body(torch.randn(5, 3)).tanh()
    code.retain_grad()
    (code - 1).square().mean().backward()
    print(code.grad.norm().item())
    code = code - 0.5 * code.grad
    code.abs().mean().backward()
! the weight is a leaf
net, w = torch.nn.Linear(3, 4), torch.ones(4, requires_grad=True)
for _ in range(2):
    out = net(torch.randn(5, 3)).exp()
    (w * out).square().mean().backward()
    w = w - 0.5 * w.grad
    (w * out).mean().backward()
! the loss itself trains, and a weight is made of its gradient
body = torch.nn.Linear(3, 4)
for _ in range(2):
    code = body(torch.randn(5, 3)).tanh()
    code.retain_grad()
    (code - 1).square().mean().backward()
    scale = code.grad.abs()
    (scale * code).mean().backward()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """For each backward before the failing one behind which computed weights are stepped in its block."""
        for source, call in sources.innermost(dict.fromkeys(one.stack for one in diagnosis.trace.earlier)):
            statement = source.statement(call)
            if not isinstance(call, ast.Call) or calls.statement_call(statement) is not call:
                continue
            if stepped := inner_steps(source, statement):
                for graph in ("", ", create_graph=True"):
                    edits = _taken(source, call, statement, stepped, graph)
                    yield self.propose(edits, WHY_GRAPH if graph else WHY, later=bool(graph))


def _taken(
    source: Source,
    call: ast.Call,
    statement: ast.stmt,
    stepped: dict[str, InnerStep],
    graph: str,
) -> list[Step]:
    """The gradients under names of their own, in place of the backward that left them in the weights."""
    outputs, own = calls.started(call), calls.differentiation(call)
    if outputs is None:
        raise Declined("what goes backward cannot be told from the text")
    weights = calls.argument(call, own, "grad_tensors" if "tensors" in own else "gradient")
    named = {path: names.unused(source, f"{path.rpartition('.')[2]}_grad") for path in stepped}
    if len(set(named.values())) < len(named):
        raise Declined("two of the gradients would have one name")
    torch, imports = ensure_import(source, "torch")
    inputs = next(iter(stepped)) if len(stepped) == 1 else f"[{', '.join(stepped)}]"
    given = [source.segment(outputs), inputs, *([source.segment(weights)] if weights is not None else [])]
    taken = f"{torch}.autograd.grad({', '.join(given)}{graph}){'[0]' if len(stepped) == 1 else ''}"
    kept = {id(one): one for step in stepped.values() for one in step.keeps}
    return [
        *imports,
        *(step for one in kept.values() for step in delete(source, one)),
        *replace_statement(source, statement, [f"{', '.join(named.values())} = {taken}"]),
        *(step for path, at in stepped.items() for node in at.reads for step in replace(source, node, named[path])),
    ]
