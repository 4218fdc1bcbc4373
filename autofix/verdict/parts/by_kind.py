"""Branches for other kinds of a variable: what never ran does to it, or to each of its items, what one that ran did.

A helper that a person writes takes a tensor and a tuple of tensors alike, and the program has one of them.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Iterator

from autofix.syntax.calls import Function, argument, defaults, name_of, parameters, path_of

_ASKS = {"isinstance", "is_tensor", "hasattr", "type"}
_SAME, _HOLE = "what the function itself does", "__what_was_given__"
_Def = ast.FunctionDef | ast.AsyncFunctionDef
_Way = tuple[ast.expr | None, ast.stmt]
"""What a branch is chosen by, None for the last one, and its only statement."""


def by_kind(_old: bytes, new: bytes, line: int, ran: Collection[int]) -> int:
    """The line that ran of a branch beside that of a line which did not; 0 if it does anything else.

    All that decides between them is of which kind a variable is.
    """
    for function, ways in _decisions(ast.parse(new)):
        for at, mine in enumerate(ways):
            for there, other in enumerate(ways) if mine[1].lineno == line else ():
                asked = {_asked(test) for test, _ in ways[: max(at, there)]}
                if other[1].lineno in ran and len(asked) == 1 and _does_the_same(mine, other, asked.pop(), function):
                    return other[1].lineno
    return 0


def _does_the_same(mine: _Way, other: _Way, name: str, function: _Def | None) -> bool:
    """Whether two branches give the same place what they make in one way of a variable, or of each of its items."""
    given, theirs = _given(mine[1]), _given(other[1])
    if not (name and given and theirs and given[0] == theirs[0]):
        return False
    # Of several things that one line does to several kinds, not all may have run.
    done, known = (_done(one[1], name, function) - {_SAME} for one in (given, theirs))
    return _is_none(mine, given[1]) or not done or done == known


def inlined(old: bytes, new: bytes, line: int, ran: Collection[int]) -> int:
    """The line of a call that ran of a new function, where a line of that does for a kind what the program does for it.

    It stands in place of a call for another kind of the same variable: in another branch the program has, for this
    kind, just what that call would come to.
    """
    before, after = ast.parse(old), ast.parse(new)
    own = {ast.dump(way[1]): way for _, ways in _decisions(before) for way in ways if way[0]}
    for function, ways in _decisions(after):
        mine = next(((test, one) for test, one in ways if one.lineno == line and test), None)
        uses = _uses(before, after, function) if function and mine else []
        if function is None or mine is None or not uses or uses[0].lineno not in ran:
            continue
        told = [_in_place(one, function, mine) for one in uses]
        theirs = [own.get(ast.dump(way[1])) if way else None for way in told]
        if all(a and b and _kind(a) == _kind(b) != set() for a, b in zip(told, theirs, strict=True)):
            return uses[0].lineno
    return 0


def stood_there(old: ast.Module, new: ast.Module, statement: ast.stmt) -> bool:
    """Whether a new function gives back what the program has where the function is called in its place."""
    known = [ast.dump(one) for one in ast.walk(old) if isinstance(one, ast.Assign)]
    for function in (one for one in ast.walk(new) if isinstance(one, Function) and isinstance(statement, ast.Return)):
        if any(getattr(one, "lineno", 0) == statement.lineno for one in function.body):
            told = [_in_place(one, function, (None, statement)) for one in _uses(old, new, function)]
            return bool(told) and all(one is not None and ast.dump(one[1]) in known for one in told)
    return False


def _uses(old: ast.Module, new: ast.Module, function: _Def) -> list[ast.Assign]:
    """Where variables are given what a new function makes; nothing if it has another use."""
    if any(isinstance(one, Function) and one.name == function.name for one in ast.walk(old)):
        return []
    assigned = (one for one in ast.walk(new) if isinstance(one, ast.Assign))
    uses = [one for one in assigned if isinstance(one.value, ast.Call) and _names(one.value.func, function.name)]
    named = [
        one for one in ast.walk(new) if isinstance(one, (ast.Name, ast.Attribute)) and name_of(one) == function.name
    ]
    return uses if len(named) == len(uses) else []


def known_side(tree: ast.Module, choice: ast.IfExp) -> ast.expr | None:
    """The side of a condition that does to an item what a branch of its function does to all of them, by their kind."""
    item = _asked(choice.test)
    for function, ways in _decisions(tree) if item else ():
        asked = {_asked(test) for test, _ in ways if test}
        if function is None or len(asked) != 1 or not _holds(function, choice):
            continue
        whole = asked.pop()
        others = [given[1] for _, one in ways if (given := _given(one)) and not _holds(one, choice)]
        each = (_done(one, whole, function) for one in others)
        known = {done for one in each for done in one if len(one) == 1 and _HOLE in done}
        for side in (choice.body, choice.orelse):
            if _done(side, item, function) <= known:
                return side
    return None


def _holds(node: ast.AST, choice: ast.IfExp) -> bool:
    """Whether a condition, of the same text but maybe of another tree, stands in a node."""
    place = choice.lineno, choice.col_offset
    return any(isinstance(one, ast.IfExp) and (one.lineno, one.col_offset) == place for one in ast.walk(node))


def _decisions(tree: ast.Module) -> Iterator[tuple[_Def | None, list[_Way]]]:
    """The branches of one statement each between which conditions decide, with the function of which these are all."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if not isinstance(block, list):
                continue
            for at, one in enumerate(block):
                if isinstance(one, ast.If):
                    whole = isinstance(node, Function) and all(map(_is_text, block[:at]))
                    yield (node if whole and isinstance(node, Function) else None), [*_ways(block[at:])]


def _ways(block: list[ast.stmt]) -> Iterator[_Way]:
    match block:
        case [ast.If(test, [one], others), *behind]:
            yield test, one
            yield from _ways(others or (behind if isinstance(one, ast.Return) else []))
        case [ast.Return() as one, *_] | [one]:
            yield None, one


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _asked(test: ast.expr | None) -> str:
    """The variable of whose kind alone a condition asks; '' for any other."""
    match test:
        case ast.UnaryOp(ast.Not(), inner):
            return _asked(inner)
        case ast.BoolOp(_, [first, *others]):
            return _asked(first) if {_asked(first)} == {*map(_asked, others)} else ""
        case ast.Compare(ast.Call() as call, [_], [_]) if name_of(call) == "type":
            return _asked(call)
        case ast.Compare(value, [ast.Is() | ast.IsNot()], [ast.Constant(None)]):
            return path_of(value)
        case ast.Call(ast.Name("any" | "all"), [ast.GeneratorExp(inner, [ast.comprehension(ast.Name(one), of, [])])]):
            return path_of(of) if _asked(inner) == one else ""
        case ast.Call(_, [value, *_]) if name_of(test) in _ASKS:
            return path_of(value)
    return ""


def _given(node: ast.stmt) -> tuple[str, ast.expr] | None:
    """To whom a statement gives a value, and that."""
    match node:
        case ast.Return(ast.expr() as value):
            return "", value
        case ast.Assign([target], value):
            return ast.dump(target), value
    return None


def _is_none(way: _Way, value: ast.expr) -> bool:
    """Whether a branch gives None on for None."""
    match way[0], value:
        case ast.Compare(asked, [ast.Is()], [ast.Constant(None)]), ast.Constant(None) | ast.Name() | ast.Attribute():
            return isinstance(value, ast.Constant) or path_of(value) == path_of(asked)
    return False


def _done(node: ast.expr, name: str, function: _Def | None) -> set[str]:
    """What is done to a variable, or to each of its items, as texts to compare."""
    match node:
        case ast.Call(ast.Name("tuple" | "list"), [inner], []):
            return _done(inner, name, function)
        case ast.Call(ast.Name("map"), [one, of]) if path_of(of) == name:
            return {_SAME} if function and _names(one, function.name) else {ast.dump(node)}
        case ast.ListComp(each, [ast.comprehension(ast.Name(one), of, [])]) | ast.GeneratorExp(
            each, [ast.comprehension(ast.Name(one), of, [])]
        ) if path_of(of) == name:
            return _done(each, one, function)
        case ast.DictComp(
            ast.Name(key), each,
            [ast.comprehension(ast.Tuple([ast.Name(a), ast.Name(b)]), ast.Call(ast.Attribute(of, "items")), [])],
        ) if path_of(of) == name and key == a:  # fmt: skip
            return _done(each, b, function)
        case ast.IfExp(test, one, other) if _asked(test) == name:
            return _done(one, name, function) | _done(other, name, function)
        case ast.Call(called, [first, *others], []) if function and _names(called, function.name):
            names = [one for one in parameters(function) if one != "self"]
            if path_of(first) == name and [*map(path_of, others)] == names[1:]:
                return {_SAME}
    return {ast.dump(_Hole(name).visit(copy.deepcopy(node)))}


def _names(node: ast.expr, function: str) -> bool:
    return path_of(node) in (function, f"self.{function}")


class _Hole(ast.NodeTransformer):
    """Puts one word in the place of a variable."""

    def __init__(self, name: str) -> None:
        self._name = name

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, (ast.Name, ast.Attribute)) and path_of(node) == self._name:
            return ast.Name(_HOLE, ast.Load())
        return self.generic_visit(node)


def _in_place(use: ast.Assign, function: _Def, way: _Way) -> _Way | None:
    """A branch of a function as it would stand in place of a call; None where that cannot be told."""
    given = defaults(function) | {
        name: value for name in parameters(function) if (value := argument(use.value, parameters(function), name))
    }
    if given.keys() | {"self"} != {*parameters(function), "self"} or function.args.vararg or function.args.kwarg:
        return None
    test, one = copy.deepcopy(way)
    if not isinstance(one, ast.Return) or one.value is None:
        return None
    filled = _Filled(given)
    return (filled.visit(test) if test else None), ast.Assign(use.targets, filled.visit(one.value))


class _Filled(ast.NodeTransformer):
    """Puts what a call gives in the place of parameters."""

    def __init__(self, given: dict[str, ast.expr]) -> None:
        self._given = given

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._given.get(node.id, node)


def _kind(way: _Way) -> set[str]:
    """The variable whose kind a branch is for, and the kinds; nothing where it asks for anything else."""
    match way[0]:
        case ast.Call(ast.Name("isinstance"), [value, kind]):
            return {path_of(value), ast.unparse(kind)}
        case ast.Compare(ast.Call(ast.Name("type"), [value]), [ast.Is() | ast.Eq()], [kind]):
            return {path_of(value), ast.unparse(kind)}
    return set()
