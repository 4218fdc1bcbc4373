"""Derivative that is taken by `backward` and read from `.grad`, although a loss is made of it.

## What it does
Takes it by `torch.autograd.grad(..., create_graph=True)`, where it was read from `.grad`. Where the tensor was cut off
from the one that is trained (`X.detach().clone().requires_grad_()`), a second edit leaves it connected.

## Why autograd fails
`backward` leaves numbers in `.grad`, without a graph. A loss made of them alone has nothing to go back through; one
that also uses the value goes back through the graph that this first backward has freed.

## Fix safety
Not safe by itself: with the graph other gradients flow than those that the code as written describes. It is what a
gradient penalty or the residual of a differential equation means.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import blocks, calls, names, vocabulary, writes
from autofix.syntax.edits import Step, delete, ensure_import, replace, replace_statement

WHY = "A loss made of a derivative trains the network behind it only if the derivative has a graph."

_NUMBERS = (*vocabulary.DETACHED, "data", "numpy", "detach_")
"""Attributes behind which a gradient is used without its graph."""


class DerivativeByBackward(Rule):
    code, name = "AG411", "derivative-by-backward"
    title = "Take the derivative with its graph"
    causes = frozenset({Cause.FREED_GRAPH, Cause.NO_GRAPH, Cause.NONLEAF_GRADIENT})
    tier = Tier.CREATE
    conventional = True
    examples = Example.each("""\
! unsafe: the code does not say whether the derivative is a constant
critic = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
opt = torch.optim.SGD(critic.parameters(), lr=0.1)


def penalty(real, fake):
    mixed = (0.3 * real + 0.7 * fake).requires_grad_()
-    critic(mixed).sum().backward()
-    return (mixed.grad.norm(dim=1) - 1).pow(2).mean()
+    return (torch.autograd.grad(critic(mixed).sum(), mixed, create_graph=True)[0].norm(dim=1) - 1).pow(2).mean()


for _ in range(4):
    train: penalty(torch.randn(5, 3), torch.randn(5, 3))
! unsafe: the code does not say whether the derivative is a constant
net = torch.nn.Sequential(torch.nn.Linear(1, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.rand(6, 1, requires_grad=True)
for _ in range(4):
    x.grad = None
    u = net(x)
-    u.backward(torch.ones_like(u))
-    residual = x.grad + u
-    speed = x.grad.abs().mean()
+    x_grad = torch.autograd.grad(u, x, torch.ones_like(u), create_graph=True)[0]
+    residual = x_grad + u
+    speed = x_grad.abs().mean()
    loss = residual.pow(2).mean() + 0.1 * speed
    train: loss
! two derivatives of one value
! unsafe: the code does not say whether the derivative is a constant
net = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    x, t = torch.rand(6, 1, requires_grad=True), torch.rand(6, 1, requires_grad=True)
    u = net(torch.cat([x, t], 1))
-    torch.autograd.backward(u.sum())
-    loss = (t.grad + u.detach() * x.grad).pow(2).mean()
+    x_grad, t_grad = torch.autograd.grad(u.sum(), [x, t], create_graph=True)
+    loss = (t_grad + u.detach() * x_grad).pow(2).mean()
    train: loss
! what is trained stays connected
! unsafe: the code does not say whether the derivative is a constant
net = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
x = torch.rand(3, 2, requires_grad=True)
opt = torch.optim.SGD([x], lr=0.1)
for _ in range(4):
-    here = x.detach().clone().requires_grad_(True)
-    net(here).sum().backward()
-    steep = here.grad
+    here = x
+    steep = torch.autograd.grad(net(here).sum(), here, create_graph=True)[0]
    train: (-steep.norm(dim=1).sum())
! a map of a feature, which keeps no gradient of its own
! unsafe: the code does not say whether the derivative is a constant
body, head = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2)
opt = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
for _ in range(4):
    opt.zero_grad()
    feature = body(torch.randn(5, 3)).tanh()
    score = head(feature).exp().sum()
-    score.backward(retain_graph=True)
-    weight = feature.grad.mean(0)
+    weight = torch.autograd.grad(score, feature, create_graph=True)[0].mean(0)
    (weight * feature).sum(1).relu().sum().backward()
    opt.step()
! the loss itself goes backward, and the gradient of a result is looked at
body, head = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2)
feature = body(torch.randn(5, 3)).tanh()
head(feature).exp().sum().backward()
size = feature.grad.abs()
! the gradient is used for an update, and no loss is made of it
w = torch.ones(3, requires_grad=True)
loss = w.exp().sum()
loss.backward()
with torch.no_grad():
    w -= 0.1 * w.grad
loss.backward()
! it is meant as a number
net, x = torch.nn.Linear(2, 1), torch.ones(4, 2, requires_grad=True)
out = net(x).exp()
out.sum().backward()
size = x.grad.norm().item()
(out * size).sum().backward()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """For each backward before the failing one whose gradients its own function reads."""
        for source, call in sources.innermost(dict.fromkeys(one.stack for one in diagnosis.trace.earlier)):
            statement = source.statement(call)
            if not isinstance(call, ast.Call) or calls.statement_call(statement) is not call:
                continue
            if diagnosis.cause is Cause.NONLEAF_GRADIENT and not _keeps(call):
                continue  # no loss is made of it
            if reads := _reads(source, statement):
                edits = _taken(source, call, statement, reads)
                connected = [step for path in reads for step in _connected(source, statement, path)]
                if connected:
                    title = "Take the derivative with its graph, of what is trained"
                    yield self.propose([*edits, *connected], WHY, title=title)
                yield self.propose(edits, WHY, later=bool(connected))


def _keeps(call: ast.Call) -> bool:
    """Whether a backward keeps its graph for another."""
    return any(calls.keyword(call, name) is not None for name in ("retain_graph", "create_graph"))


def _reads(source: Source, statement: ast.stmt) -> dict[str, list[ast.Attribute]]:
    """The gradients that are read as values behind a backward in its function, by the tensor's variable."""
    found: dict[str, list[ast.Attribute]] = {}
    around = source.function(statement) or source.tree
    for node in ast.walk(around) if around is not source.tree else source.mentioning("grad"):
        match node:
            case ast.Attribute(attr="grad", ctx=ast.Load(), value=held) if path := calls.path_of(held):
                reader = source.statement(node)
                if isinstance(called := source.parent(node), ast.Call) and called.func is node:
                    continue  # torch's function of that name
                later = node.lineno > (statement.end_lineno or 0) and source.function(node) is source.function(
                    statement
                )
                if later and _makes_a_value(source, node, reader, path):
                    found.setdefault(path, []).append(node)
    return dict(sorted(found.items(), key=lambda pair: _bound_at(source, around, pair[0])))


def _makes_a_value(source: Source, node: ast.Attribute, reader: ast.stmt, path: str) -> bool:
    """Whether a read goes on as a tensor into something new: no update, no look at its numbers."""
    if not isinstance(reader, (ast.Assign, ast.AnnAssign, ast.Return)) or names.meets(names.binds(reader), {path}):
        return False
    if any(isinstance(one, ast.stmt) and writes.without_gradient(one) for one in blocks.around(source, node)):
        return False
    held: ast.AST | None = node
    while isinstance(held, (ast.Attribute, ast.Call, ast.BinOp, ast.UnaryOp, ast.Subscript)):
        if isinstance(held, ast.Attribute) and held.attr in _NUMBERS:
            return False
        held = source.parent(held)
    return True


def _bound_at(source: Source, around: ast.AST, path: str) -> tuple[int, int]:
    """Where a variable is first named: the order in which a reader meets several."""
    nodes = source.mentioning(path) if around is source.tree else ast.walk(around)
    places = ((n.lineno, n.col_offset) for n in nodes if isinstance(n, ast.expr) and calls.path_of(n) == path)
    return min(places, default=(0, 0))


def _taken(
    source: Source, call: ast.Call, statement: ast.stmt, reads: dict[str, list[ast.Attribute]]
) -> list[Step]:  # fmt: skip
    """The derivative where it is read, or under a name where it is read several times."""
    own = calls.differentiation(call)
    outputs = calls.started(call)
    if outputs is None:
        raise Declined("what goes backward cannot be told from the text")
    weights = calls.argument(call, own, "grad_tensors" if "tensors" in own else "gradient")
    torch, imports = ensure_import(source, "torch")
    inputs = next(iter(reads)) if len(reads) == 1 else f"[{', '.join(reads)}]"
    given = [source.segment(outputs), inputs, *([source.segment(weights)] if weights is not None else [])]
    taken = f"{torch}.autograd.grad({', '.join(given)}, create_graph=True)"
    nodes = [(path, node) for path, found in reads.items() for node in found]
    if len(nodes) == 1:
        return [*imports, *delete(source, statement), *replace(source, nodes[0][1], f"{taken}[0]")]
    named = {path: names.unused(source, f"{path.rpartition('.')[2]}_grad") for path in reads}
    if len(set(named.values())) < len(named):
        raise Declined("two of the derivatives would have one name")
    line = f"{', '.join(named.values())} = {taken}{'[0]' if len(reads) == 1 else ''}"
    renamed = [step for path, node in nodes for step in replace(source, node, named[path])]
    return [*imports, *replace_statement(source, statement, [line]), *renamed]


def _connected(source: Source, statement: ast.stmt, path: str) -> Iterator[Step]:
    """The tensor itself, where the derivative is taken at a copy that was cut off from it."""
    for made in names.assignments(source, path):
        if source.function(made) is not source.function(statement) or made.value is None:
            continue
        found, cut = made.value, False
        while isinstance(found, ast.Call) and isinstance(found.func, ast.Attribute):
            if found.func.attr not in ("detach", "clone", "requires_grad_"):
                break
            cut = cut or found.func.attr == "detach"
            found = found.func.value
        if cut and calls.path_of(found) and calls.path_of(found) != path:
            yield from replace(source, made.value, source.segment(found))
