"""The smallest statement around a change, as libcst's tree: found there, changed there, printed back.

A simple statement is read by itself; of a compound one only the header is, with `pass` as its body. What libcst did
not change it prints as it was.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import libcst as cst
from libcst.metadata import ByteSpanPositionProvider, MetadataWrapper

from autofix.core.edit import Declined
from autofix.syntax.layout import header_start, is_compound, newline_near
from autofix.syntax.source import Source

Guard = Callable[[Any], Any]
"""Puts an expression into parentheses where Python would otherwise group it differently."""
_BORROWING = (ast.Tuple, ast.GeneratorExp)
"""Expressions whose place in `ast` includes parentheses that libcst keeps apart from them."""


@dataclass(frozen=True)
class NodeChange:
    """What becomes of one expression or simple statement; `what` tells changes of one node apart.

    `make` is given libcst's node with the changes inside it made, and a guard for the one expression in what it
    returns that may need parentheses.
    """

    source: Source
    node: ast.expr | ast.stmt
    what: str
    make: Callable[[Any, Guard], cst.CSTNode]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NodeChange) and (self.node, self.what) == (other.node, other.what)

    def __hash__(self) -> int:
        return hash((self.node, self.what))


def holder(source: Source, node: ast.AST) -> ast.AST:
    """What is read for a change of a node: its statement, or the part of one that has a header of its own."""
    found: ast.AST | None = node
    while found is not None and not isinstance(found, (ast.stmt, ast.ExceptHandler, ast.match_case)):
        if found is not node and isinstance(found, (ast.JoinedStr, *filter(None, [getattr(ast, "TemplateStr", None)]))):
            raise Declined("it is inside an f-string")
        if isinstance(found, ast.pattern):
            raise Declined("it is part of a pattern")
        found = source.parent(found)
    if found is None:
        raise Declined("it is not part of a statement")
    return found


class Unit:
    """One statement or header: its place in the text, and its tree."""

    def __init__(self, source: Source, node: ast.AST) -> None:
        self.source = source
        self.start, self.end, self._before, self._after = _extent(source, node)
        self.text = source.text[self.start : self.end]
        module = parsed(self._before + self.text + self._after)
        if not re.search(r"[\r\n]", self.text):
            module = module.with_changes(default_newline=newline_near(source, self.start))
        self.module = module
        spans = MetadataWrapper(module, unsafe_skip_copy=True).resolve(ByteSpanPositionProvider)
        self._spans = {one: (span.start, span.start + span.length) for one, span in spans.items()}

    def find(self, node: ast.expr | ast.stmt) -> cst.CSTNode:
        """Libcst's node for one of `ast`'s; its parentheses are its own there."""
        start, end = (self._offset(place) for place in self.source.extent(node))
        kind = cst.BaseSmallStatement if isinstance(node, ast.stmt) else cst.BaseExpression
        found: list[cst.CSTNode] = [
            one for one, span in self._spans.items() if span == (start, end) and isinstance(one, kind)
        ]
        if not found and isinstance(node, _BORROWING):
            alike = getattr(cst, type(node).__name__)
            inside = [one for one in self._of(alike) if start <= self._spans[one][0] and self._spans[one][1] <= end]
            found = sorted(inside, key=lambda one: self._spans[one][0] - self._spans[one][1])[:1]
        if len(found) != 1:
            raise Declined("it was not found in its statement")
        return found[0]

    def printed(self, changes: Collection[NodeChange]) -> str:
        """The text of the statement with all changes made, and no more parentheses than they need."""
        nodes: dict[cst.CSTNode, list[NodeChange]] = {}
        for change in changes:
            nodes.setdefault(self.find(change.node), []).append(change)
        bare: set[NodeChange] = set()
        code = self._code(nodes, bare)
        meant = _meaning(code)
        if meant is None:
            raise Declined("the changed statement would not be valid Python")
        for change in changes:
            shorter = self._code(nodes, {*bare, change})
            if shorter is not None and shorter != code and _meaning(shorter) == meant:
                bare.add(change)
                code = shorter
        assert code is not None  # noqa: S101  it has a meaning
        return code[len(self._before) : len(code) - len(self._after)]

    def _code(self, nodes: Mapping[cst.CSTNode, list[NodeChange]], bare: Collection[NodeChange]) -> str | None:
        try:
            return self.module.visit(_Changes(nodes, bare)).code
        except (cst.CSTValidationError, TypeError):  # what libcst itself would not print
            return None

    def _of(self, kind: type[cst.CSTNode]) -> Iterable[cst.CSTNode]:
        return (one for one in self._spans if isinstance(one, kind))

    def _offset(self, index: int) -> int:
        return len((self._before + self.source.text[self.start : index]).encode())


def parsed(text: str) -> cst.Module:
    """Libcst's tree of some statements; declines what libcst cannot read, or would print otherwise."""
    try:
        module = cst.parse_module(text)
        if module.code == text:
            return module
    except cst.ParserSyntaxError as error:
        raise Declined(f"libcst cannot read the statement: {error.message.partition(chr(10))[0]}") from None
    except RecursionError:
        raise Declined("the statement is nested too deeply") from None
    raise Declined("the statement cannot be rewritten without changes to its layout")


class _Changes(cst.CSTTransformer):
    def __init__(self, nodes: Mapping[cst.CSTNode, list[NodeChange]], bare: Collection[NodeChange]) -> None:
        super().__init__()
        self.nodes, self.bare = nodes, bare

    def on_leave(self, original_node: Any, updated_node: Any) -> Any:
        for change in self.nodes.get(original_node, ()):
            updated_node = change.make(updated_node, _plain if change in self.bare else _guarded)
        return updated_node


def _plain(node: Any) -> Any:
    return node


def _guarded(node: Any) -> Any:
    if node.lpar:
        return node
    return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def _meaning(code: str | None) -> str | None:
    try:
        return ast.dump(ast.parse(code)) if code is not None else None
    except (SyntaxError, ValueError):
        return None


def _extent(source: Source, node: ast.AST) -> tuple[int, int, str, str]:
    """Where what is read begins and ends, and what has to stand before and after it to be a statement."""
    start = header_start(source, node)
    match node:
        case ast.ExceptHandler(body=[first, *_]):
            return start, header_start(source, first), "try: pass\n", "pass"
        case ast.match_case(body=[first, *_]):
            return start, header_start(source, first), "match 0:\n ", "pass"
        case ast.Match(cases=[case, *_]):
            return start, header_start(source, case), "", "case _: pass"
        case ast.If(body=[first, *_]) if source.text.startswith("elif", start):
            return start, header_start(source, first), "if 1: pass\n", "pass"
        case ast.stmt() if is_compound(node):
            first = node.body[0]  # type: ignore[attr-defined]
            lead = source.text[:start].rpartition("\n")[2].rpartition("\r")[2]
            lead = lead if not lead.strip(" \t") else ""
            after = f"pass\n{lead}finally: pass" if isinstance(node, (ast.Try, ast.TryStar)) else "pass"
            return start, header_start(source, first), f"if 1:\n{lead}" if lead else "", after
        case ast.stmt():
            return *source.extent(node), "", ""
    raise Declined("it is not part of a statement")
