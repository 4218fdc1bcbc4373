"""Which names statements bind and read, and so which of them belong together when one is moved or repeated."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from autofix.edit import Declined
from autofix.syntax.layout import block_of, indent_of

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from autofix.source import Source

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def path_of(node: ast.AST) -> str:
    """`a.b.c` for a name or attributes of one, else the empty string."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def binds(statement: ast.AST) -> set[str]:
    """The variables that a statement gives a value; an item assigned changes what holds it."""
    found = set()
    for node in _inside(statement):
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(node.ctx, (ast.Store, ast.Del)):
            holder: ast.AST = node
            while isinstance(holder, ast.Subscript):
                holder = holder.value
            found.add(path_of(holder))
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
    return found - {""}


def reads(statement: ast.AST) -> set[str]:
    """The variables whose values a statement uses, each as far as its attributes go."""
    updated = {path_of(node.target) for node in ast.walk(statement) if isinstance(node, ast.AugAssign)}
    return ({path_of(node) for node in uses(statement)} | updated) - {""}


def uses(statement: ast.AST) -> Iterator[ast.expr]:
    """The places where a statement takes the value of a variable."""
    stack: list[ast.AST] = [statement]
    while stack:
        node = stack.pop()
        if not isinstance(node, (ast.Name, ast.Attribute)) or not path_of(node):
            stack.extend(ast.iter_child_nodes(node))
        elif isinstance(node.ctx, ast.Load):
            yield node


def meets(bound: Iterable[str], read: Iterable[str]) -> bool:
    """Whether something read is, or hangs on, something bound."""
    names = set(read)
    return any(name == one or name.startswith(f"{one}.") for one in bound for name in names)


def forward(first: ast.stmt, following: Sequence[ast.stmt]) -> list[ast.stmt]:
    """`first` and the statements after it that use what it, or one of them, binds."""
    found, bound = [first], binds(first)
    for statement in following:
        if meets(bound, reads(statement)):
            found.append(statement)
            bound |= binds(statement)
    return found


def backward(needed: set[str], before: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The statements of `before` that the values of `needed` come from."""
    found: list[ast.stmt] = []
    wanted = set(needed)
    for statement in reversed(before):
        if meets(binds(statement), wanted):
            found.append(statement)
            wanted |= reads(statement)
    return found[::-1]


def copied(source: Source, statement: ast.stmt, detached: Container[str] = ()) -> list[str]:
    """The lines of a statement, to be written again elsewhere; the variables `detached` lose their graph in it."""
    for node in ast.walk(statement):
        if isinstance(node, (ast.Constant, ast.JoinedStr)) and (node.end_lineno or 0) > node.lineno:
            raise Declined("a string over several lines cannot be repeated at another place")
    start, end = source.extent(statement)
    values = [node for node in uses(statement) if path_of(node) in detached and not _called(source, node)]
    ends = sorted((source.extent(node)[1] for node in values), reverse=True)
    text = source.text[start:end]
    for place in ends:
        text = f"{text[: place - start]}.detach(){text[place - start :]}"
    indent = indent_of(source, block_of(source, statement))
    first, *others = text.splitlines()
    return [first, *(line.removeprefix(indent) for line in others)]


def _called(source: Source, node: ast.AST) -> bool:
    caller = source.parent(node)
    return isinstance(caller, ast.Call) and caller.func is node


def _inside(statement: ast.AST) -> Iterator[ast.AST]:
    """A statement's nodes without those of the functions that it defines, which run later."""
    stack: list[ast.AST] = [statement]
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, _SCOPES):
            stack.extend(ast.iter_child_nodes(node))
