"""A function that reads a variable from outside in place of its own parameter, by which a derivative is taken.

## What it does
Reads the parameter there, in the form in which other functions read a parameter of that name: `trigger` becomes
`params[0]`.

## Why autograd fails
The derivative is by what the function was given. Its result was computed from something else, so that this took no part
in it.

## Fix safety
Not safe by itself: the result is then computed from other values, and what the code as written computes has no
derivative by them. Done only where one function reads a leaf from outside that asks for its gradient, and one parameter
fits: the only one that it does not read, or the only one of these that other functions read.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.search.rule import (
    Applicability,
    Cause,
    Declined,
    Diagnosis,
    Example,
    Proposal,
    Rule,
    Source,
    Sources,
    Tier,
)
from autofix.syntax import calls, names
from autofix.syntax.edits import replace

WHY = "{function} computes its result from {parameter}, which it is given, and not from {outer} of the code around it."
_FLAGS = frozenset({"requires_grad", "requires_grad_", "Parameter"})


class ArgumentNotRead(Rule):
    code, name = "AG432", "argument-not-read"
    title = "Read the argument"
    causes = frozenset({Cause.UNUSED_INPUT})
    tier = Tier.MEANT
    applicability = Applicability.UNSAFE
    conventional = True
    examples = Example.each("""\
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)


! unsafe: the code as written has no derivative there
def inner(params, x):
-    return (net(x + shift) - 1).square().mean() + shift.square().sum()
+    return (net(x + params[0]) - 1).square().mean() + params[0].square().sum()


def outer(params, x):
    return net(x + params[0]).square().mean()


for _ in range(4):
    shift, x = torch.zeros(3, requires_grad=True), torch.randn(5, 3)
    params = [shift.detach().requires_grad_()]
    (slope,) = torch.autograd.grad(inner(params, x), params, create_graph=True)
    train: outer([params[0] - 0.1 * slope], x)
! unsafe: the code as written has no derivative there
def energy(at):
-    return net(place).square().sum()
+    return net(at).square().sum()


for _ in range(4):
    place = torch.randn(5, 3).requires_grad_()
    at = place.detach().requires_grad_()
    (force,) = torch.autograd.grad(energy(at), at, create_graph=True)
    train: (force - 1).square().mean()
! unsafe: the code as written has no derivative there
class Solver:
    def __init__(self):
        self.code = torch.nn.Parameter(torch.zeros(3))

    def error(self, code, x):
-        return net(x + self.code).square().mean()
+        return net(x + code).square().mean()

    def step(self, x):
        code = self.code.detach().requires_grad_()
        (slope,) = torch.autograd.grad(self.error(code, x), code, create_graph=True)
        return code - 0.1 * slope


solver = Solver()
for _ in range(4):
    train: net(solver.step(torch.randn(5, 3))).square().mean()
! two parameters are not read
def energy(at, scale):
    return net(place).square().sum()


place = torch.randn(5, 3).requires_grad_()
at = place.detach().requires_grad_()
(force,) = torch.autograd.grad(energy(at, 2), at, create_graph=True)
! nothing from outside asks for its gradient
def energy(at):
    return net(place).square().sum()


place = torch.randn(5, 3)
at = place.clone().requires_grad_()
(force,) = torch.autograd.grad(energy(at), at, create_graph=True)
! others read it in two forms
def energy(at):
    return net(place).square().sum()


def first(at):
    return at[0].sum()


def whole(at):
    return at.sum()


place = torch.randn(5, 3).requires_grad_()
at = place.detach().requires_grad_()
print(first(at).item(), whole(at).item())
(force,) = torch.autograd.grad(energy(at), at, create_graph=True)
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """In the one function of the project that has such a parameter and such a variable."""
        files = sources.project_of(diagnosis.failure.stack)
        found = [(source, *one) for source in files for one in _unread(source)]
        if len(found) != 1:
            raise Declined("no function, or more than one, reads a leaf from outside and not what it is given")
        source, function, unread, outer = found[0]
        forms = {one: _forms(files, function, one) for one in unread}
        known = {one: form for one, form in forms.items() if form} if len(unread) > 1 else forms
        if len(known) != 1 or any(len(form) > 1 for form in known.values()):
            raise Declined("several parameters are not read, or one is read in several forms elsewhere")
        parameter, other = next(iter(known.items()))
        form = next(iter(other), parameter)
        reads = [one for one in names.mentions(function, outer) if isinstance(one.ctx, ast.Load)]
        why = WHY.format(function=function.name, parameter=form, outer=outer)
        yield self.propose([step for one in reads for step in replace(source, one, form)], why)


def _unread(source: Source) -> Iterator[tuple[calls.Function, list[str], str]]:
    """Each function with parameters that it does not read, and with one leaf of the code around it that it reads."""
    for function in source.walk():
        if not isinstance(function, calls.Function):
            continue
        read = {one.id for one in ast.walk(function) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}
        left = [one for one in calls.parameters(function) if one not in read and one not in ("self", "cls")]
        own = names.locals_of(function) | {*calls.parameters(function)}
        paths = {calls.path_of(one) for one in ast.walk(function) if isinstance(one, (ast.Name, ast.Attribute))}
        leaves = [one for one in paths if one and one not in own and _asks(source, function, one)]
        if left and len(leaves) == 1:
            yield function, left, leaves[0]


def _asks(source: Source, function: calls.Function, path: str) -> bool:
    """Whether a variable is bound outside a function alone, each time to what asks for its gradient."""
    values = [value for one in names.assignments(source, path) for value in names.given_to(one, path)]
    inside = any(source.function(one) is function for one in names.assignments(source, path))
    return bool(values) and not inside and all(map(_is_leaf, values))


def _is_leaf(value: ast.expr) -> bool:
    """Whether an expression makes a tensor that asks for its gradient."""
    flags = (word.arg for word in value.keywords) if isinstance(value, ast.Call) else ()
    return isinstance(value, ast.Call) and not _FLAGS.isdisjoint({calls.name_of(value), *flags})


def _forms(files: list[Source], function: calls.Function, parameter: str) -> set[str]:
    """How other functions read a parameter of that name: `params[0]`, or as it is."""
    found = set()
    for source in files:
        for other in source.walk():
            if isinstance(other, calls.Function) and other is not function and parameter in calls.parameters(other):
                for read in (one for one in names.mentions(other, parameter) if isinstance(one.ctx, ast.Load)):
                    above = source.parent(read)
                    item = isinstance(above, ast.Subscript) and above.value is read and ast.unparse(above.slice) == "0"
                    found.add(f"{parameter}[0]" if item else parameter)
    return found
