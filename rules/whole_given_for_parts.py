"""A forward that is given a whole tensor, and a derivative by parts that were cut out of it.

## What it does
Gives the forward the parts, joined again: `u = net(torch.cat([x, t], dim=1))` for `u = net(xt)`, where
`x, t = xt[:, :1], xt[:, 1:]` require gradients.

## Why autograd fails
Parts of a tensor that requires no gradient are leaves of their own once they require one. The forward that reads the
whole knows nothing of them, so that its result does not depend on them.

## Fix safety
Not safe by itself: the code as written has no derivative there to compare with. The parts joined again have the values
of the whole. Done only where they follow each other from the first column on.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from typing import NamedTuple

from autofix.search.rule import Applicability, Cause, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import calls, names
from autofix.syntax.edits import Step, ensure_import, replace

WHY = "The result is computed from the parts, joined again, so that it has a derivative by each of them."
_CUTS = ("chunk", "split", "tensor_split")
_DEEPEST = 3
_SEVERAL = 2


class Part(NamedTuple):
    """A variable that holds some columns of a whole, from one to another; and the statement that cuts them out."""

    name: str
    first: str
    end: str
    cut: ast.stmt


class WholeGivenForParts(Rule):
    code, name = "AG443", "whole-given-for-parts"
    title = "Give the forward the parts, joined again"
    causes = frozenset({Cause.UNUSED_INPUT})
    tier = Tier.MEANT
    applicability = Applicability.UNSAFE
    conventional = True
    examples = Example.each("""\
net = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def slope(u, by):
    return torch.autograd.grad(u.sum(), by, create_graph=True)[0]


! columns of points
! unsafe: the code as written has no derivative there
def residual(xt):
    x, t = xt[:, :1], xt[:, 1:]
    x.requires_grad_(True)
    t.requires_grad_(True)
-    u = net(xt)
+    u = net(torch.cat([x, t], dim=1))
    u_t = torch.autograd.grad(u.sum(), t, create_graph=True)[0]
    u_x = torch.autograd.grad(u.sum(), x, create_graph=True)[0]
    return u_t + u * u_x


for _ in range(4):
    train: residual(torch.rand(6, 2)).pow(2).mean()
! one by one, with a helper that differentiates
! unsafe: the code as written has no derivative there
for _ in range(4):
    points = torch.rand(6, 2)
    x = points[:, 0:1].requires_grad_()
    y = points[:, 1:2].requires_grad_()
-    u = net(points)
+    u = net(torch.cat([x, y], dim=1))
    train: (slope(u, x) + slope(u, y) - u).pow(2).mean()
! split by a call
! unsafe: the code as written has no derivative there
for _ in range(4):
    points = torch.rand(6, 2)
    x, y = torch.split(points, 1, dim=1)
    x.requires_grad_(), y.requires_grad_()
-    u = net(points)
+    u = net(torch.cat([x, y], dim=1))
    train: (slope(u, x) + slope(slope(u, y), y)).pow(2).mean()
! one column alone was cut out
for _ in range(4):
    points = torch.rand(6, 2)
    x = points[:, 0:1].requires_grad_()
    u = net(points)
    train: slope(u, x).pow(2).mean()
! the parts do not follow each other
for _ in range(4):
    points = torch.rand(6, 2)
    x, y = points[:, 1:2].requires_grad_(), points[:, :1].requires_grad_()
    u = net(points)
    train: (slope(u, x) + slope(u, y)).pow(2).mean()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """In each function on the way to the derivative that cuts a tensor and gives it as a whole behind that."""
        for depth, (_, source, node) in enumerate(sources.located(diagnosis.asked[:_DEEPEST])):
            scope = source.function(node) or source.tree
            for (whole, dim), parts in _parts(scope).items():
                if edits := _joined(source, scope, whole, dim, parts):
                    yield self.propose(edits, WHY, later=depth)


def _joined(source: Source, scope: ast.AST, whole: str, dim: str, parts: list[Part]) -> list[Step]:
    """The parts in place of the whole, where a call behind them is given it."""
    follow = all(one.end == other.first for one, other in itertools.pairwise(parts))
    if len(parts) < _SEVERAL or parts[0].first != "0" or not follow:
        return []
    behind = max(one.cut.end_lineno or one.cut.lineno for one in parts)
    reads = [one for one in names.mentions(scope, whole) if isinstance(one.ctx, ast.Load) and one.lineno > behind]
    torch, imports = ensure_import(source, "torch")
    text = f"{torch}.cat([{', '.join(one.name for one in parts)}], dim={dim})"
    given = [one for one in reads if isinstance(call := source.parent(one), ast.Call) and one in call.args]
    return [*imports, *(step for one in given for step in replace(source, one, text))] if given else []


def _parts(scope: ast.AST) -> dict[tuple[str, str], list[Part]]:
    """The parts that a function cuts out of each tensor along one dimension, in order."""
    found: dict[tuple[str, str], list[Part]] = {}
    for statement in (one for one in ast.walk(scope) if isinstance(one, ast.Assign)):
        for target, value in (*names.paired(statement), (statement.targets[0], statement.value)):
            match _unmarked(value):
                case ast.Subscript(value=whole, slice=ast.Tuple(elts=[*others, ast.Slice(lower, upper, None)])) if (
                    isinstance(target, ast.Name) and all(map(_is_all, others))
                ):
                    first, end = (ast.unparse(one) if one else "" for one in (lower, upper))
                    key = ast.unparse(whole), str(len(others))
                    if all(one.name != target.id for one in found.setdefault(key, [])):
                        found[key].append(Part(target.id, first or "0", end, statement))
                case ast.Call(func=ast.Attribute(value=held, attr=cut)) as call if (
                    cut in _CUTS and isinstance(target, ast.Tuple) and all(isinstance(p, ast.Name) for p in target.elts)
                ):
                    whole = call.args[0] if calls.path_of(held) == "torch" and call.args else held
                    dim = calls.keyword(call, "dim")
                    parts = [Part(ast.unparse(p), str(n), str(n + 1), statement) for n, p in enumerate(target.elts)]
                    found[ast.unparse(whole), ast.unparse(dim) if dim is not None else "0"] = parts
    return found


def _unmarked(value: ast.expr) -> ast.expr:
    """A value without the call that lets it require a gradient."""
    match value:
        case ast.Call(func=ast.Attribute(value=inner, attr="requires_grad_" | "clone" | "detach")):
            return _unmarked(inner)
    return value


def _is_all(index: ast.expr) -> bool:
    return isinstance(index, ast.Slice) and index.lower is None and index.upper is None and index.step is None
