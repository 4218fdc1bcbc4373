"""The statements of a text as lines: what an edit gives, takes and moves."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from autofix.syntax.source import BLOCKS, within
from autofix.verdict.parts.bare import bare, exact


@dataclass(slots=True, eq=False)
class Item:
    """A statement, or the head of a compound one: lines `start` to `stop`, all of it to `end`."""

    node: ast.stmt
    exact: tuple[Any, ...]
    bare: tuple[Any, ...]
    start: int
    stop: int
    end: int
    inner: list[Item] = field(default_factory=list)

    @property
    def shown(self) -> ast.stmt:
        """The statement, without what is inside it where that is no part of the change."""
        return self.node if self.stop == self.end else head_of(self.node)


def statements(tree: ast.AST, chain: tuple[str, ...], depth: int) -> Iterator[Item]:
    """The statements of a tree in their order, outermost, each with those inside it."""
    for node in _children(tree):
        first = min([node, *getattr(node, "decorator_list", [])], key=lambda n: n.lineno)
        start, end = first.lineno - 1, node.end_lineno or node.lineno
        inner = _children(node)
        own = inner and inner[0].lineno > node.lineno
        stop = inner[0].lineno - 1 if own else end
        if own and getattr(inner[0], "decorator_list", None):
            stop = min(d.lineno for d in inner[0].decorator_list) - 1  # type: ignore[attr-defined]
        name, loop = getattr(node, "name", None), isinstance(node, (ast.For, ast.While, ast.AsyncFor))
        head = head_of(node) if own else node
        where = (chain, depth)
        rest = bare(head)
        item = Item(node, (where, exact(head)), (where, rest) if rest else (), start, stop, end)
        if own:
            item.inner = list(statements(node, (*chain, name) if name else chain, depth + loop))
        yield item


def _children(node: ast.AST) -> list[ast.stmt]:
    found = []
    for child in within(node):
        found.extend([child] if isinstance(child, ast.stmt) else _children(child))
    return found


def head_of(node: ast.stmt) -> ast.stmt:
    head = copy.copy(node)
    for block in BLOCKS:
        if hasattr(head, block):
            setattr(head, block, [])
    return head


def flat(items: list[Item]) -> Iterator[Item]:
    for item in items:
        yield item
        yield from flat(item.inner)


def left_out(head: Item, after: list[bytes]) -> tuple[int, int, list[bytes]]:
    """The change that takes a new statement away; what is inside a new block, and is not new, stays."""
    if head.stop == head.end:
        return head.start, head.stop, []
    width = head.inner[0].node.col_offset - head.node.col_offset
    own = [one for one in head.inner if one.node in getattr(head.node, "body", ())]  # of an `else`, nothing
    inside = [line[width:] if line[:width].isspace() else line for line in after[head.stop : own[-1].end]]
    return head.start, head.end, inside
