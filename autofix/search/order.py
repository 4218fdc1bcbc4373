"""Whether some statements need what others before them give, so that the two may not change places."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from autofix.syntax import names
from autofix.syntax.calls import path_of

_MAYBE = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.Match)
"""Statements behind which it is not sure that what stands in them was done."""
Item = tuple[str, str]
"""A variable by its path, and which item of it: as its key is written, '' for all of it."""


def needs(later: Iterable[ast.stmt], earlier: Iterable[ast.stmt]) -> bool:
    """Whether `later` reads what `earlier` binds, before it binds that itself; items of one dict are told apart."""
    given = {item for part in _parts(earlier) for item in _items(part, ast.Store)}
    own: set[Item] = set()
    for statement in later:
        here = set(own)
        for part in _parts([statement]):
            read = {one for one in _items(part, ast.Load) if not any(_holds(mine, one) for mine in here)}
            if any(_holds(one, other) or (not other[1] and one[0] == other[0]) for one in given for other in read):
                return True
            here |= _items(part, ast.Store)
        own = own if isinstance(statement, _MAYBE) else here
    return False


def _holds(bound: Item, read: Item) -> bool:
    """Whether what is read is, or hangs on, what is bound."""
    return names.meets({bound[0]}, {read[0]}) and bound[1] in ("", read[1])


def _parts(statements: Iterable[ast.AST]) -> Iterator[list[ast.AST]]:
    """What runs one after another: statements; of a block its header, and then what stands in it."""
    for one in statements:
        children = list(ast.iter_child_nodes(one))
        inner = [child for child in children if isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case))]
        read = [ast.parse(ast.unparse(one.target), mode="eval")] if isinstance(one, ast.AugAssign) else []
        yield [*read, *(child for child in children if child not in inner)]
        yield from _parts(inner)


def _items(part: Iterable[ast.AST], how: type[ast.expr_context]) -> set[Item]:
    """What a part of a statement reads, or binds."""
    found: set[Item] = set()
    stack = list(part)
    while stack:
        node = stack.pop()
        match node:
            case ast.Subscript(value=value, slice=ast.Constant(value=key)) if path := path_of(value):
                found |= {(path, repr(key))} if isinstance(node.ctx, how) else set()
            case ast.Subscript(value=value) if (path := path_of(value)) and isinstance(node.ctx, how):
                found.add((path, ""))
                stack.append(node.slice)
            case ast.Name(ctx=context) | ast.Attribute(ctx=context) if path := path_of(node):
                found |= {(path, "")} if isinstance(context, how) else set()
            case _:
                stack.extend(ast.iter_child_nodes(node))
    return found
