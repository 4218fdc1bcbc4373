"""An option that an edit adds: a parameter by which the old behaviour can still be had."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from autofix.syntax.calls import Function, defaults, name_of, parameters, path_of, place_of


def options(old: Iterable[ast.AST], new: Iterable[ast.AST]) -> set[str]:
    """What conditions may ask of the options of an edit: `detach`, `self.detach`.

    An option is a parameter that the old text does not know. It has a default, and all that gives it, or keeps it,
    gives a constant or hands it on. So it is the same in later passes as it was in those compared.
    """
    before, after = ([node for tree in trees for node in ast.walk(tree)] for trees in (old, new))
    known = {ast.unparse(node) for node in before if isinstance(node, (ast.Name, ast.Attribute))}
    known |= {node.arg for node in before if isinstance(node, (ast.arg, ast.keyword)) and node.arg}
    takers = [node for node in after if isinstance(node, Function)]
    found = {name for one in takers for name in parameters(one)} - known
    fixed = {name for name in found if all(_is_fixed(value, name) for value in _given(name, after, takers))}
    return {path for name in fixed for path in (name, *_kept(name, after)) if path not in known}


def old_side(node: ast.IfExp, old: Iterable[ast.expr], options: Iterable[str]) -> ast.expr | None:
    """The side of a condition that is what stood there before, where an option decides."""
    test = node.test.operand if isinstance(node.test, ast.UnaryOp) else node.test
    was = set(map(ast.dump, old))
    side = next((side for side in (node.body, node.orelse) if ast.dump(side) in was), None)
    return side if path_of(test) in set(options) else None


def _given(name: str, nodes: list[ast.AST], takers: list[Function]) -> Iterable[ast.expr | None]:
    """Everything that a parameter, or the attribute that keeps it, is given; None for what is no plain value."""
    for node in nodes:
        match node:
            case ast.Assign(targets=[target], value=value) if name_of(target) == name:
                yield value if isinstance(value, ast.Name) else None  # a constant may be given in a later pass alone
            case ast.Name(id=one, ctx=ast.Store() | ast.Del()) if one == name:
                yield None
            case ast.AugAssign(target=target) if name_of(target) == name:
                yield None
            case ast.keyword(arg=one, value=value) if one == name:
                yield value
    for taker in (one for one in takers if name in parameters(one)):
        yield defaults(taker).get(name)
        place = place_of(parameters(taker), name)
        classes = [one.name for one in nodes if isinstance(one, ast.ClassDef) and taker in one.body]
        for call in (one for one in nodes if isinstance(one, ast.Call) and name_of(one) in (taker.name, *classes)):
            yield from call.args[place : place + 1]


def _is_fixed(value: ast.expr | None, name: str) -> bool:
    return isinstance(value, ast.Constant) or (isinstance(value, ast.Name) and value.id == name)


def _kept(name: str, nodes: list[ast.AST]) -> Iterable[str]:
    """The attributes that keep a parameter."""
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Attribute(attr=attr) as target], value=ast.Name(id=one)) if (
                one == name == attr
            ):
                yield path_of(target)
