"""A context that switches gradients off, kept under a name and entered where something is trained.

## What it does
Keeps `contextlib.nullcontext`, which does nothing, in the place of `torch.no_grad`: as a default
(`getattr(model, "no_sync", torch.no_grad)`), in a condition, or as a value that a variable or a parameter is given.

## Why autograd fails
Whoever enters the context by its name sees nothing of gradients there, and the forward in it records no graph.

## Fix safety
Safe where that context alone switched gradients off, and every parameter that an optimizer owns gets its gradient with
the other one. Declines where a `with` names the mode itself: that is meant there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.search.rule import Cause, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import modes
from autofix.syntax.edits import ensure_import, replace

WHY = "The forward that backward goes through records its graph; a context is still entered there."


class ModeKeptByName(Rule):
    code, name = "AG447", "mode-kept-by-name"
    title = "Keep a context that does nothing"
    causes = frozenset({Cause.NO_GRAPH, Cause.CONVERSION, Cause.UNUSED_INPUT, Cause.GRADIENT_NONE})
    tier = Tier.MEANT
    examples = Example.each("""\
import contextlib
! the default of an attribute
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
-quiet = getattr(net, "no_sync", torch.no_grad)
+quiet = getattr(net, "no_sync", contextlib.nullcontext)
for step in range(6):
    last = step % 2 == 1
    with contextlib.nullcontext() if last else quiet():
        loss = net(torch.randn(5, 2)).pow(2).mean()
        loss.backward()
    if last:
        opt.step()
        opt.zero_grad()
! a default of a parameter
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)


-def loss_of(x, context=torch.no_grad):
+def loss_of(x, context=contextlib.nullcontext):
    with context():
        return net(x).pow(2).mean()


for _ in range(4):
    train: loss_of(torch.randn(5, 2))
! a context that is made before
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
-around = torch.no_grad()
+around = contextlib.nullcontext()
for _ in range(4):
    with around:
        out = net(torch.randn(5, 2))
    train: out.pow(2).mean()
! the block itself names the mode
net = torch.nn.Linear(2, 1)
with torch.no_grad():
    out = net(torch.randn(5, 2))
out.pow(2).mean().backward()
! a function runs without gradient by a decorator
net = torch.nn.Linear(2, 1)


@torch.no_grad()
def loss_of(x):
    return net(x).pow(2).mean()


loss_of(torch.randn(5, 2)).backward()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """Each place that keeps such a mode, where a `with` entered one that it does not name."""
        for origin in diagnosis.trace.origins:
            entered = origin.stack[:1] if origin.kind == "no_grad" else ()
            for _, source, node in sources.nodes(entered):
                statement = source.statement(node)
                if not isinstance(statement, ast.With):
                    continue
                if any(modes.may_switch_off(one.context_expr) for one in statement.items):
                    continue
                for home in sources.reached(origin.stack):
                    for kept, does_nothing in _kept(home):
                        contextlib, imports = ensure_import(home, "contextlib")
                        yield self.propose([*imports, *replace(home, kept, does_nothing.format(contextlib))], WHY)
                return


def _kept(source: Source) -> Iterator[tuple[ast.expr, str]]:
    """Modes without gradient that are values: neither entered nor put on a function where they stand."""
    for node in source.walk():
        if not isinstance(node, ast.expr) or not modes.switches_off(node):
            continue
        user = source.parent(node)
        called = isinstance(user, ast.Call) and user.func is node
        decorates = (
            isinstance(user, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node in user.decorator_list
        )
        if called or decorates or isinstance(user, (ast.withitem, ast.Attribute, ast.Expr)):
            continue
        yield node, "{}.nullcontext" + "()" * isinstance(node, ast.Call)
