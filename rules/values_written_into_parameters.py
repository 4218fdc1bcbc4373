"""Results written into the parameters of a module, whose gradient is to reach what they are made of.

## What it does
Calls the module with the results by `torch.func.functional_call`, beside writing their values:
`vector_to_parameters(base + E @ v, net.parameters())` leaves `net(x)` without a graph to `v`.

## Why autograd fails
A parameter is a leaf. A write to its `.data`, as `vector_to_parameters` makes one, gives it values and no graph, so the
backward ends there: the parameter gets the gradient, and what its values were made of keeps None.

## Fix safety
Safe where the run shows that what is written gets the gradient of the module's parameters, and that all else stays.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import blocks, calls, names
from autofix.syntax.edits import Step, ensure_import, functional_call, insert_after, insert_before, replace

WHY = "The module computes with the results themselves, which keep their graph."
_UNKNOWN = "no loop says of which module the parameters are written"


class ValuesWrittenIntoParameters(Rule):
    code, name = "AG310", "values-written-into-parameters"
    title = "Call the module with what is written into it"
    causes = frozenset({Cause.GRADIENT_NONE, Cause.UNUSED_INPUT})
    tier = Tier.MEANT
    examples = Example.each("""\
from torch.nn.utils import parameters_to_vector, vector_to_parameters
! all from one vector
net = torch.nn.Linear(3, 1)
base, E = parameters_to_vector(net.parameters()).detach(), torch.randn(4, 2)
v = torch.nn.Parameter(torch.zeros(2))
opt = torch.optim.SGD([v], lr=0.1)
for _ in range(4):
    theta = base + E @ v
    vector_to_parameters(theta, net.parameters())
+    weights, start = {}, 0
+    for name, p in net.named_parameters():
+        weights[name] = theta[start : start + p.numel()].view_as(p)
+        start += p.numel()
    opt.zero_grad()
-    net(torch.ones(4, 3)).pow(2).mean().backward()
+    torch.func.functional_call(net, weights, (torch.ones(4, 3),)).pow(2).mean().backward()
    print(v.grad.norm())
    opt.step()
! in a module of its own, with a value that has no name
class Subspace(torch.nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net, self.v = net, torch.nn.Parameter(torch.zeros(2))
        self.base = torch.nn.utils.parameters_to_vector(net.parameters()).detach()
        self.basis = torch.randn(len(self.base), 2)

    def forward(self, x):
-        torch.nn.utils.vector_to_parameters(self.base + self.basis @ self.v, self.net.parameters())
-        return self.net(x)
+        vector = self.base + self.basis @ self.v
+        torch.nn.utils.vector_to_parameters(vector, self.net.parameters())
+        weights, start = {}, 0
+        for name, p in self.net.named_parameters():
+            weights[name] = vector[start : start + p.numel()].view_as(p)
+            start += p.numel()
+        return torch.func.functional_call(self.net, weights, (x,))


sub = Subspace(torch.nn.Linear(3, 1))
opt = torch.optim.SGD([sub.v], lr=0.1)
for _ in range(4):
    opt.zero_grad()
    sub(torch.ones(4, 3)).pow(2).mean().backward()
    print(sub.v.grad.norm())
    opt.step()
! a network that makes the weights of another
net, hyper = torch.nn.Linear(3, 1), torch.nn.Linear(2, 4)
opt = torch.optim.SGD(hyper.parameters(), lr=0.1)
for _ in range(4):
    made = hyper(torch.ones(2))
    parts = made[:3].view(1, 3), made[3:]
-    for p, part in zip(net.parameters(), parts):
-        p.data = part.data
+    weights = {}
+    for (name, p), part in zip(net.named_parameters(), parts):
+        weights[name] = part
+        p.data = part.data
    opt.zero_grad()
-    net(torch.ones(4, 3)).pow(2).mean().backward()
+    torch.func.functional_call(net, weights, (torch.ones(4, 3),)).pow(2).mean().backward()
    print(hyper.weight.grad.norm())
    opt.step()
! by their names, without gradient
net = torch.nn.Linear(3, 1)
shift = {n: torch.zeros_like(p, requires_grad=True) for n, p in net.named_parameters()}
base = {n: p.detach().clone() for n, p in net.named_parameters()}
opt = torch.optim.SGD(shift.values(), lr=0.1)
for _ in range(4):
    made = {n: base[n] + 2 * shift[n] for n in base}
+    weights = {}
    for n, p in net.named_parameters():
        new = made[n]
        with torch.no_grad():
+            weights[n] = new
            p.copy_(new)
    opt.zero_grad()
-    net(torch.ones(4, 3)).pow(2).mean().backward()
+    torch.func.functional_call(net, weights, (torch.ones(4, 3),)).pow(2).mean().backward()
    print(shift["weight"].grad.norm())
    opt.step()
! unsafe: the average is of what another loss trains, and is meant as a constant
net, mean, head = (torch.nn.Linear(3, 1) for _ in range(3))
opt = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
x = torch.ones(4, 3)
for _ in range(4):
-    for m, p in zip(mean.parameters(), net.parameters()):
+    weights = {}
+    for (name, m), p in zip(mean.named_parameters(), net.parameters()):
+        weights[name] = 0.9 * m.data + 0.1 * p
        m.data = 0.9 * m.data + 0.1 * p
    opt.zero_grad()
-    (head(x) - mean(x)).pow(2).mean().backward()
+    (head(x) - torch.func.functional_call(mean, weights, (x,))).pow(2).mean().backward()
    net.weight.grad.mul_(0.5)
    net(x).pow(2).mean().backward()
    opt.step()
! the module is called by another function
net, v = torch.nn.Linear(3, 1), torch.zeros(4, requires_grad=True)
opt = torch.optim.SGD([v], lr=0.1)
loss = lambda: net(torch.ones(4, 3)).pow(2).mean()
vector_to_parameters(2 * v, net.parameters())
loss().backward()
print(v.grad.norm())
! no loop says which module's parameters these are
net, v = torch.nn.Linear(3, 1), torch.zeros(1, 3, requires_grad=True)
opt = torch.optim.SGD([v], lr=0.1)
net.weight.data = (2 * v).data
net(torch.ones(4, 3)).pow(2).mean().backward()
print(v.grad.norm())
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """By how the values are written: all from one vector, or one by one in a loop."""
        for source, node in sources.innermost(diagnosis.lost("written")):
            statement = source.statement(node)
            match statement:
                case ast.Expr(ast.Call(args=[vector, ast.Call(ast.Attribute(value=module, attr="parameters"))])):
                    edits = _in_pieces(source, statement, vector, source.segment(module))
                    around: ast.stmt = statement
                case _:
                    module, around, edits = _one_by_one(source, statement)
            yield self.propose([*edits, *_called(source, around, source.segment(module))], WHY)


def _in_pieces(source: Source, statement: ast.stmt, vector: ast.expr, module: str) -> list[Step]:
    """The pieces of a vector by the names of the parameters that they are written into."""
    edits: list[Step] = []
    text = calls.path_of(vector)
    if not text:
        text = names.unused(source, "vector")
        edits += insert_before(source, statement, [f"{text} = {source.segment(vector)}"])
        edits += replace(source, vector, text)
    weights, start, name, p = (names.unused(source, one) for one in ("weights", "start", "name", "p"))
    lines = [
        f"{weights}, {start} = {{}}, 0",
        f"for {name}, {p} in {module}.named_parameters():",
        f"    {weights}[{name}] = {text}[{start} : {start} + {p}.numel()].view_as({p})",
        f"    {start} += {p}.numel()",
    ]
    return [*edits, *insert_after(source, statement, lines)]


def _one_by_one(source: Source, statement: ast.stmt) -> tuple[ast.expr, ast.For, list[Step]]:
    """The module of a loop over its parameters, the loop, and what keeps each value by its parameter's name."""
    parameter, value = _written(statement)
    around = (one for one in blocks.loops(source, statement) if isinstance(one, ast.For))
    loop = next((one for one in around if parameter in names.binds(one.target)), None)
    if loop is None:
        raise Declined(_UNKNOWN)
    zipped = isinstance(loop.iter, ast.Call) and calls.name_of(loop.iter) == "zip"
    gone = loop.iter.args[0] if zipped and isinstance(loop.iter, ast.Call) else loop.iter
    target = loop.target.elts[0] if zipped and isinstance(loop.target, ast.Tuple) else loop.target
    weights, edits = names.unused(source, "weights"), list[Step]()
    match gone, target:
        case ast.Call(ast.Attribute(value=module, attr="named_parameters")), ast.Tuple(elts=[ast.Name(id=name), _]):
            pass
        case ast.Call(ast.Attribute(value=module, attr="parameters"), []), ast.Name(id=own) if own == parameter:
            name = names.unused(source, "name")
            edits += replace(source, gone, f"{source.segment(module)}.named_parameters()")
            edits += replace(source, target, f"({name}, {own})" if zipped else f"{name}, {own}")
        case _:
            raise Declined(_UNKNOWN)
    edits += insert_before(source, statement, [f"{weights}[{name}] = {_with_graph(source, value)}"])
    return module, loop, [*insert_before(source, loop, [f"{weights} = {{}}"]), *edits]


def _written(statement: ast.stmt) -> tuple[str, ast.expr]:
    """The variable of a parameter that a statement writes, and the value."""
    match statement:
        case ast.Assign(targets=[ast.Attribute(value=ast.Name(id=name), attr="data")], value=value):
            return name, value
        case ast.Expr(ast.Call(ast.Attribute(ast.Attribute(ast.Name(id=name), "data"), "copy_"), [value])):
            return name, value
        case ast.Expr(ast.Call(ast.Attribute(ast.Name(id=name), "copy_"), [value])):
            return name, value
    raise Declined(_UNKNOWN)


def _with_graph(source: Source, value: ast.expr) -> str:
    match value:
        case ast.Attribute(value=whole, attr="data") | ast.Call(ast.Attribute(value=whole, attr="detach"), []):
            return source.segment(whole)
    return source.segment(value)


def _called(source: Source, written: ast.stmt, module: str) -> list[Step]:
    """The calls of the module behind the write in its function, with the results in place of its parameters."""
    torch, edits = ensure_import(source, "torch")
    weights = names.unused(source, "weights")
    for node in (found := calls.evaluations(source, module, written)):
        edits += functional_call(source, node, torch, weights)
    if not found:
        raise Declined(f"{module} is not called in the function that writes its parameters")
    return edits
