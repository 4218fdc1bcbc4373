"""A fixed point that is solved for without gradients, and never computed with them.

## What it does
Applies the function once more where gradients are recorded: `z = f(z, x)` behind the block that solves for `z`.

## Why autograd fails
Solving without gradients saves the memory of all its steps, and leaves no graph. An implicit layer gets its gradient
from one step at the solution: directly, or by a hook that solves for what comes back.

## Fix safety
Never shown to be safe: the gradient of one step at the solution is another than that of all steps that led there.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from autofix.search.rule import Applicability, Cause, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import calls, writes
from autofix.syntax.blocks import iterations
from autofix.syntax.edits import insert_after

WHY = "One step at the solution is recorded, and through it the loss reaches the parameters of {function}."


class SolvedWithoutTape(Rule):
    code, name = "AG415", "solved-without-tape"
    title = "Apply it once more with gradients"
    causes = frozenset({Cause.NO_GRAPH, Cause.HOOK_REFUSED})
    tier = Tier.ANSWER
    applicability = Applicability.UNSAFE
    conventional = True
    examples = Example.each("""\
cell, head = torch.nn.Linear(4, 4), torch.nn.Linear(4, 1)
opt = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)


def f(z, x):
    return torch.tanh(0.3 * cell(z) + x)
! the loop stands in the block
! unsafe: the gradient of one step is not that of all steps
for _ in range(4):
    x = torch.randn(5, 4)
    with torch.no_grad():
        z = torch.zeros(5, 4)
        for _ in range(20):
            z = f(z, x)
+    z = f(z, x)
    train: z.pow(2).mean()
! a function solves, here and in a hook
! unsafe: the gradient of one step is not that of all steps
def solve(g, z):
    for _ in range(20):
        z = g(z)
    return z


for _ in range(4):
    x = torch.randn(5, 4)
    with torch.no_grad():
        z = solve(lambda y: f(y, x), torch.zeros(5, 4))
+    z = f(z, x)
    at = z.detach().clone().requires_grad_()
    out = f(at, x)
    z.register_hook(
        lambda g: solve(lambda y: torch.autograd.grad(out, at, y, retain_graph=True)[0] + g, g)
    )
    train: z.pow(2).mean()
! until it changes no more
! unsafe: the gradient of one step is not that of all steps
for _ in range(4):
    x = torch.randn(5, 4)
    with torch.no_grad():
        z, change = torch.zeros(5, 4), 1.0
        while change > 1e-3:
            new = f(z, x)
            change = (new - z).abs().max()
            z = new
+    z = f(z, x)
    train: z.pow(2).mean()
! nothing is solved for in the block
net = torch.nn.Linear(3, 1)
with torch.no_grad():
    out = net(torch.ones(2, 3))
out.sum().backward()
! each pass computes from something else, not from what the one before came to
net = torch.nn.Linear(3, 1)
with torch.no_grad():
    for x in torch.ones(4, 2, 3):
        out = net(x)
out.sum().backward()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """For each block without gradients at whose end a variable was iterated, or solved for."""
        for source, node in sources.innermost(diagnosis.lost("no_grad")):
            block = source.statement(node)
            if isinstance(block, ast.With) and writes.without_gradient(block):
                for line, function in _steps(source, block.body[-1]):
                    yield self.propose(insert_after(source, block, [line]), WHY.format(function=function))


def _steps(source: Source, last: ast.stmt) -> Iterator[tuple[str, str]]:
    """The step of an iteration as a statement, and the function that it applies."""
    match last:
        case ast.For() | ast.While():
            for name, call in iterations(last):
                yield f"{name} = {source.segment(call)}", source.segment(call.func)
        case ast.Assign(targets=[target], value=ast.Call(args=[ast.Lambda() as function, *_])):
            found = target.elts[0] if isinstance(target, ast.Tuple) else target
            step, given = function.body, function.args.args
            if isinstance(step, ast.Call) and len(given) == 1 and (name := calls.path_of(found)):
                text = re.sub(rf"(?<![\w.]){given[0].arg}\b(?!\s*=[^=])", name, source.segment(step))
                yield f"{name} = {text}", source.segment(step.func)
