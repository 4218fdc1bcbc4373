"""Branches of one condition that an edit changes alike: one that ran says what the other does."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from autofix.syntax.calls import path_of

_HOLE = "what was there"


def ran_alike(old: bytes, new: bytes, line: int, ran: Collection[int], *, before: bool) -> int:
    """The line of a changed statement that ran in the other branch, and was changed in the same way; 0 for none.

    Lines are those of the old text if `before`, else of the new one. The same way: around what was there stands the
    same, it is given to the same name, and what was there is made of nothing else.
    """
    trees = ast.parse(old), ast.parse(new)
    modules = {(one.asname or one.name).split(".")[0] for one in _imported(trees[0])}
    for was, now in _conditions(*trees):
        for mine, other in ((was.body, was.orelse), (was.orelse, was.body)):
            pairs = _changes(mine, now.body if mine is was.body else now.orelse)
            others = _changes(other, now.body if other is was.body else now.orelse)
            for change in pairs:
                if (change[0] if before else change[1]).lineno != line:
                    continue
                for one in others:
                    there = (one[0] if before else one[1]).lineno
                    made, known = _made_of(change[0], modules), _made_of(one[0], modules)
                    if there in ran and made <= known and _way(*change) == _way(*one) != "":
                        return there
    return 0


def _imported(tree: ast.Module) -> Iterator[ast.alias]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from node.names


def _conditions(old: ast.Module, new: ast.Module) -> Iterator[tuple[ast.If, ast.If]]:
    """The conditions of both texts, in their order, if the edit adds and takes none."""
    found = [[node for node in ast.walk(tree) if isinstance(node, ast.If)] for tree in (old, new)]
    if [ast.dump(node.test) for node in found[0]] == [ast.dump(node.test) for node in found[1]]:
        yield from zip(*found, strict=True)


def _changes(old: list[ast.stmt], new: list[ast.stmt]) -> list[tuple[ast.stmt, ast.stmt]]:
    """The statements of a branch that the edit changes, where it adds and takes none."""
    pairs = zip(old, new, strict=True) if len(old) == len(new) else ()
    return [(was, now) for was, now in pairs if ast.dump(was) != ast.dump(now)]


def _way(old: ast.stmt, new: ast.stmt) -> str:
    """What an edit puts around the value of a statement, and to whom it is given; '' where it changes more."""
    match old, new:
        case ast.Expr(was), ast.Expr(now):
            given = ""
        case ast.Assign([target], was), ast.Assign([other], now) if ast.dump(target) == ast.dump(other):
            given = ast.dump(target)
        case _:
            return ""
    whole, part = ast.dump(now), ast.dump(was)
    return given + whole.replace(part, _HOLE) if whole.count(part) == 1 else ""


def _made_of(node: ast.stmt, modules: set[str]) -> set[str]:
    """The names and attributes that a statement reads, but for modules and for methods that write in place."""
    found = set()
    inner = {id(one.value) for one in ast.walk(node) if isinstance(one, ast.Attribute)}
    for one in ast.walk(node):
        if (
            isinstance(one, (ast.Name, ast.Attribute))
            and id(one) not in inner
            and path_of(one).split(".")[0] not in modules
        ):
            in_place = isinstance(one, ast.Attribute) and one.attr.endswith("_")
            found.add(ast.unparse(one.value if in_place and isinstance(one, ast.Attribute) else one))
    return found
