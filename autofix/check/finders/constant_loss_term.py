"""A term of the loss that is a constant for the backward.

## What it does
Finds `loss = a + 0.1 * b.item()` and `loss = a + b.detach()` before `loss.backward()`, also where `b` was made a
number, detached, or computed under `no_grad` just before.

## Why it matters
The term changes the number that is printed and no gradient. A penalty or a second objective that is written like this
is not trained for.

## What it cannot tell
It stays silent about terms that cancel others (`x + (y - x).detach()`), about plain numbers, and about names that get
their value in more than one place.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.check.finder import Finder, Spot, backwards, examples, value_at
from autofix.syntax.calls import path_of
from autofix.syntax.facts import Bind, Scope

_CUTS = ("detach", "item")
_WEIGHTS = ("lamb", "weight", "alpha", "beta", "gamma", "coef", "scale")


class ConstantLossTerm(Finder):
    code, name = "AG511", "constant-loss-term"
    title = "A term of the loss has no gradient"
    words = (b"backward", b"step")
    finds, passes = examples("""\
!
def train(model, batches, opt):
    for x, y in batches:
        out = model(x)
        penalty = out.pow(2).mean()
        loss = (out - y).abs().mean() + 0.1 * penalty.item()  # found
        train: loss
!
def step(model, x, y, opt):
    with torch.no_grad():
        smooth = (model(x[1:]) - model(x[:-1])).pow(2).mean()
    loss = (model(x) - y).pow(2).mean() + 0.5 * smooth  # found
    train: loss
!
def train(model, x, y, opt):
    out = model(x)
    kl = out.pow(2).mean()
    loss = (out - y).abs().mean() + 0.1 * kl
    loss.backward()
    opt.step()
    print(loss.item() + kl.item())
!
def straight_through(model, x, hard, opt):
    soft = model(x).mean()
    loss = soft + (hard - soft).detach()
    loss.backward()
    opt.step()
""")

    def spots(self, scope: Scope) -> Iterator[Spot]:
        for call in backwards(scope):
            name = call.receiver
            made = value_at(scope, name, call.order, call.block) if name else None
            if made is None or made.how != "=" or not isinstance(made.value, ast.BinOp):
                continue
            terms = list(_terms(made.value))
            for term in terms if len(terms) > 1 else ():
                others = _names(*(other for other in terms if other is not term))
                cut = _constant(scope, made, term)
                if cut is not None and not (_is_cut(cut) and others & _names(cut)):
                    yield Spot(made.node, f"{ast.unparse(term)} has no gradient: {name} is not trained for it")
                    break


def _terms(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        yield from _terms(node.left)
        yield from _terms(node.right)
    else:
        yield node


def _constant(scope: Scope, made: Bind, term: ast.expr) -> ast.expr | None:
    """What a term would get its gradient through, where it surely gets none."""
    while isinstance(term, ast.BinOp) and isinstance(term.op, ast.Mult | ast.Div):
        if _is_weight(term.left):
            term = term.right
        elif _is_weight(term.right):
            term = term.left
        else:
            return None
    if _is_cut(term):
        return term
    name = path_of(term)
    bind = value_at(scope, name, made.order, made.block) if name else None
    if bind is None or bind.how != "=" or bind.value is None or len(scope.binds.get(name, ())) != 1:
        return None
    computed = bind.quiet and not made.quiet and isinstance(bind.value, ast.Call | ast.BinOp)
    return bind.value if _is_cut(bind.value) or computed else None


def _is_cut(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr=attr), args=[], keywords=[]) if attr in _CUTS:
            return any(isinstance(part, ast.Name) for part in ast.walk(value))
    return False


def _is_weight(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) or (bool(path_of(node)) and any(w in path_of(node).lower() for w in _WEIGHTS))


def _names(*nodes: ast.AST) -> set[str]:
    return {part.id for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name)}
