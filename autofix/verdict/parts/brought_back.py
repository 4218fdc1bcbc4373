"""What comes back where a part is left out: at which line, and with what it needs."""

from __future__ import annotations

import ast

from autofix.syntax.live import bound_by
from autofix.verdict.parts.statements import Item, flat


def lost_by(items: list[Item], new: ast.AST) -> dict[str, Item]:
    """The statements that bound the names, of variables, functions and modules, that the new text does not know."""
    known = {node.id for node in ast.walk(new) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    known |= {name for node in ast.walk(new) for name in _binds(node)}
    return {name: item for item in flat(items) for name in _binds(item.node) if name not in known}


def _binds(node: ast.AST) -> set[str]:
    match node:
        case ast.Import(names) | ast.ImportFrom(names=names):
            return {(one.asname or one.name).split(".")[0] for one in names}
        case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
            return {name}
    return {*bound_by(node)} if isinstance(node, ast.stmt) else set()


def needs_of(mine: Item | None, lost: dict[str, Item]) -> list[Item]:
    """What a statement that is brought back needs, and what that needs, of what the edit took away with it."""
    found, rest = [], [mine] if mine else []
    while rest:
        read = _read(rest.pop().node)
        new = dict.fromkeys(lost[name] for name in sorted(read & lost.keys()))
        rest += [item for item in new if item is not mine and item not in found]
        found += [item for item in new if item is not mine and item not in found]
    return found


def _read(node: ast.stmt) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}


def reached(mine: Item, place: int, fresh: list[Item]) -> int:
    """Where what comes back runs: in front of a new block, not in it, and of what nothing behind it runs after."""
    beside = (one for one in fresh if one.node.col_offset == mine.node.col_offset and one.start < place <= one.end)
    return next((one.start for one in beside if place < one.end or _leaves(one.node)), place)


def _leaves(node: ast.stmt) -> bool:
    """Whether nothing behind a statement runs."""
    if isinstance(node, (ast.With, ast.AsyncWith)):
        return _leaves(node.body[-1])
    both = isinstance(node, ast.If) and bool(node.orelse) and _leaves(node.body[-1]) and _leaves(node.orelse[-1])
    return both or isinstance(node, (ast.Return, ast.Raise, ast.Continue, ast.Break))
