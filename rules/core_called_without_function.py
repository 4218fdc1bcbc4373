"""Loss computed by the core of an autograd Function of the project, without that Function.

## What it does
Calls the Function (`SoftDTW.apply(D, gamma)`) where the code calls what its `forward` computes with, with the same
conversions around it: arrays on the way in, a tensor on the way out.

## Why autograd fails
The core computes with numpy, and its result has no graph. The backward that somebody wrote for it belongs to the
Function: only `apply` puts it into the graph.

## Fix safety
Safe where the loss has the same values, and the gradients that the Function gives are those of the core as it is
evaluated beside the values that it is called with.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import calls
from autofix.syntax.edits import Step, delete, replace

WHY = "{name} computes the same, and has a backward of its own."
_METHODS = ("detach", "cpu", "numpy", "float", "double", "to", "type", "type_as", "cuda", "requires_grad_")
_MAKES = ("tensor", "as_tensor", "from_numpy", "Tensor", "FloatTensor", "DoubleTensor")


class CoreCalledWithoutFunction(Rule):
    code, name = "AG420", "core-called-without-function"
    title = "Call the Function that has a backward for it"
    causes = frozenset({Cause.NO_GRAPH, Cause.CONVERSION})
    tier = Tier.ANSWER
    examples = Example.each("""\
import numpy as np
def core(d, scale):
    return np.tanh(d * scale) ** 3


class Cubed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, d, scale):
        out = core(d.detach().cpu().numpy(), scale)
        ctx.save_for_backward(d)
        ctx.scale = scale
        return torch.as_tensor(out, dtype=d.dtype)

    @staticmethod
    def backward(ctx, grad):
        (d,) = ctx.saved_tensors
        t = torch.tanh(d * ctx.scale)
        return grad * 3 * t**2 * (1 - t**2) * ctx.scale, None


net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
! the result has a name
for _ in range(4):
    d = net(torch.randn(5, 3))
-    out = core(d.detach().numpy(), 0.5)
-    loss = torch.tensor(out, dtype=d.dtype).mean()
+    loss = Cubed.apply(d, 0.5).mean()
    train: loss
! in one expression, of an expression
for x in torch.randn(4, 5, 3):
-    loss = (torch.from_numpy(core(net(x).data.numpy(), scale=1.5)) - 0.2).square().sum()
+    loss = (Cubed.apply(net(x), 1.5) - 0.2).square().sum()
    train: loss
! the array has a name, in a method
class Loss(torch.nn.Module):
    scale = 0.7

    def forward(self, out):
-        array = out.detach().cpu().numpy()
-        return torch.tensor(core(array, self.scale)).sum()
+        return Cubed.apply(out, self.scale).sum()


for x in torch.randn(4, 5, 3):
    loss = Loss()(net(x))
    train: loss
! something else is made of what the core gives
for x in torch.randn(4, 5, 3):
    loss = torch.tensor(core(net(x).detach().numpy(), 0.5)[0].round()).sum()
    loss.backward()
! the result is read twice
for x in torch.randn(4, 5, 3):
    out = core(net(x).detach().numpy(), 0.5).round()
    loss = torch.tensor(out).sum() + float(out.max())
    loss.backward()
! no Function computes by what is called
def other(d):
    return np.round(d)


loss = torch.tensor(other(net(torch.randn(5, 3)).detach().numpy())).sum()
loss.backward()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """All calls of cores in a function that loses the graph, each as its Function."""
        lost = sources.innermost(one.stack for one in diagnosis.trace.origins)
        for source, scope in dict.fromkeys((source, source.function(node) or source.tree) for source, node in lost):
            steps: list[Step] = []
            names: dict[str, None] = {}
            for one in _functions(source, sources):
                for call in (node for node in _own(source, scope) if isinstance(node, ast.Call)):
                    if scope is not one.forward and _meant(sources, source, call) is one.core:
                        steps += _applied(source, scope, call, one)
                        names[one.name] = None
            if steps:
                yield self.propose(steps, WHY.format(name=", ".join(names)))


@dataclass(frozen=True, slots=True)
class _Function:
    """An autograd Function of the project, and a call of its forward: of what, and what is made of the result."""

    name: str
    forward: ast.FunctionDef
    core: calls.Function
    call: ast.Call
    result: str


def _functions(source: Source, sources: Sources) -> Iterator[_Function]:
    """Those that have their name in a file, with each call in their forward of a function of the project."""
    for file in sources.imported_by(source):
        for kind in (one for one in calls.functions(file) if _has_name(source, file, one.name)):
            for forward in (one for one in kind.body if isinstance(one, ast.FunctionDef) and one.name == "forward"):
                given = [one.value for one in ast.walk(forward) if isinstance(one, ast.Return)]
                for call in (one for one in ast.walk(forward) if isinstance(one, ast.Call)):
                    core = _meant(sources, file, call)
                    if core is not None and len(given) == 1 and given[0] is not None:
                        yield _Function(kind.name, forward, core, call, _shape(_plain(given[0]), file, call))


def _has_name(source: Source, file: Source, name: str) -> bool:
    imports = (one for one in source.walk() if isinstance(one, ast.ImportFrom))
    return file is source or any((one.asname or one.name) == name for each in imports for one in each.names)


def _meant(sources: Sources, source: Source, call: ast.Call) -> calls.Function | None:
    found = sources.called(source, call, decorated=True)
    return found[1] if found is not None else None


def _plain(value: ast.expr) -> ast.expr:
    """A value without the conversions around it between tensors and arrays."""
    while True:
        match value:
            case ast.Call(func=ast.Attribute(attr=name, value=inner)) if name in _METHODS:
                value = inner
            case ast.Attribute(attr="data", value=inner):
                value = inner
            case ast.Call(args=[inner, *_]) if calls.name_of(value) in _MAKES:
                value = inner
            case _:
                return value


def _shape(value: ast.expr, source: Source, call: ast.Call) -> str:
    """An expression with a mark in place of the result of a call, or of the variable that it is bound to."""
    marked = (ast.unparse(call), _bound(source, call))

    class Marking(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            return ast.Name("_", ast.Load()) if ast.unparse(node) in marked else self.generic_visit(node)

    return ast.unparse(Marking().visit(ast.parse(ast.unparse(value), mode="eval").body))


def _bound(source: Source, call: ast.Call) -> str:
    statement = source.statement(call)
    simple = isinstance(statement, ast.Assign) and statement.value is call and len(statement.targets) == 1
    return calls.path_of(statement.targets[0]) if simple and isinstance(statement, ast.Assign) else ""


def _applied(source: Source, scope: ast.AST, call: ast.Call, function: _Function) -> list[Step]:
    """The Function in place of the core and of the conversion of its result."""
    given: dict[str, str] = {}
    gone: list[ast.stmt] = []
    parameters = calls.parameters(function.core)
    for parameter in parameters:
        theirs, mine = (calls.argument(one, parameters, parameter) for one in (function.call, call))
        if theirs is not None and mine is not None and isinstance(named := _plain(theirs), ast.Name):
            made = _made(source, scope, mine)
            gone += [made] if made is not None and len(_reads(source, scope, ast.unparse(mine))) == 1 else []
            given[named.id] = source.segment(_plain(made.value if made is not None else mine))
        elif ast.dump(theirs or ast.Pass()) != ast.dump(mine or ast.Pass()):
            raise Declined(f"{function.name} computes with another {parameter}")
    wanted = calls.parameters(function.forward)[1:]
    if not given.keys() >= set(wanted):
        raise Declined(f"the call does not say all that {function.name} takes")
    value: ast.expr = call
    if bound := _bound(source, call):
        reads = _reads(source, scope, bound)
        if len(reads) != 1:
            raise Declined("what the core gives is read more than once")
        value = reads[0]
        gone.append(source.statement(call))
    found = None
    holder: ast.AST | None = value
    while isinstance(holder, ast.expr):
        plain = _plain(holder)
        if plain is not holder and _shape(plain, source, call) == function.result:
            found = holder
        holder = source.parent(holder)
    if found is None:
        raise Declined(f"the code makes something else of the core's result than {function.name} does")
    text = f"{function.name}.apply({', '.join(given[one] for one in wanted)})"
    return [*replace(source, found, text), *(step for one in gone for step in delete(source, one))]


def _made(source: Source, scope: ast.AST, value: ast.expr) -> ast.Assign | None:
    """The one statement that gives a variable, where it only converts."""
    found = [
        one for one in _own(source, scope)
        if isinstance(one, ast.Assign) and [ast.unparse(target) for target in one.targets] == [ast.unparse(value)]
    ]  # fmt: skip
    converts = len(found) == 1 and isinstance(value, ast.Name) and _plain(found[0].value) is not found[0].value
    return found[0] if converts else None


def _own(source: Source, scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function, or of a module, that are not those of a function within."""
    function = None if isinstance(scope, ast.Module) else scope
    return (one for one in ast.walk(scope) if source.function(one) is function)


def _reads(source: Source, scope: ast.AST, path: str) -> list[ast.expr]:
    names = (one for one in _own(source, scope) if isinstance(one, (ast.Name, ast.Attribute)))
    return [one for one in names if isinstance(one.ctx, ast.Load) and calls.path_of(one) == path]
