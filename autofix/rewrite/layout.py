"""How statements lie on lines: who shares a line, how blocks are indented, how lines end."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from autofix.edit import Declined
from autofix.rewrite.parentheses import outer
from autofix.rewrite.tokens import Tokens, tokens_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autofix.source import Source

_BLANK = re.compile(r"[ \t\f]*")
_COMMENT_LINE = re.compile(r"([ \t\f]*)#[^\r\n]*(\r\n?|\n|\Z)")
_FIELDS = ("body", "orelse", "finalbody")


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring statements of one block; places are indices into the source's text."""

    source: Source
    block: list[ast.stmt]
    first: int
    last: int

    @property
    def tokens(self) -> Tokens:
        return tokens_of(self.source)

    @property
    def statements(self) -> list[ast.stmt]:
        return self.block[self.first : self.last + 1]

    @property
    def start(self) -> int:
        return start_of(self.source, self.block[self.first])

    @property
    def end(self) -> int:
        return self.source.extent(self.block[self.last])[1]

    @property
    def previous_end(self) -> int:
        """Where the statement before ends; there must be one."""
        return self.source.extent(self.block[self.first - 1])[1]

    @property
    def next_start(self) -> int | None:
        """Where the statement after begins if it shares the last line, else None."""
        if self.last + 1 >= len(self.block):
            return None
        start = start_of(self.source, self.block[self.last + 1])
        return None if self.tokens.newline_between(self.end, start) else start

    @property
    def leads(self) -> bool:
        """Whether the first statement begins a line."""
        return leads(self.source, self.block[self.first])

    @property
    def line_start(self) -> int:
        """Where the line that the first statement leads begins."""
        return line_start(self.source, self.start)

    @property
    def line_end(self) -> tuple[int, int]:
        """Where the last line's newline begins and ends, past comments that belong deeper inside."""
        newline = self.tokens.newline_after(self.end)
        if newline is None:
            return len(self.source.text), len(self.source.text)
        found = newline.start, newline.end
        if not is_compound(self.block[self.last]):
            return found
        while (line := _comment_line(self.source, found[1])) and _is_deeper(line[0], self.indent):
            found = line[1], line[2]
        return found

    @property
    def indent(self) -> str:
        """The white space before the statements of this block; a one-line suite's is what it would have."""
        return indent_of(self.source, self.block)


def run_of(source: Source, statements: list[ast.stmt]) -> Run:
    """Place neighbouring statements; declines what cannot be moved about as statements."""
    if not statements:
        raise Declined("there is no statement")
    block = block_of(source, statements[0])
    first = next(place for place, item in enumerate(block) if item is statements[0])
    last = first + len(statements) - 1
    if len(block) <= last or any(a is not b for a, b in zip(block[first:], statements, strict=False)):
        raise Declined("the statements are not neighbours in one block")
    if is_elif(source, block[first]):
        raise Declined("an elif is no statement of its own")
    return Run(source, block, first, last)


def block_of(source: Source, statement: ast.stmt) -> list[ast.stmt]:
    """The list of statements that holds one."""
    holder = source.parent(statement)
    for field in _FIELDS:
        block = getattr(holder, field, None)
        if isinstance(block, list) and any(item is statement for item in block):
            return block
    raise Declined("it is no statement of this file")


def start_of(source: Source, statement: ast.stmt) -> int:
    """Where a statement begins, decorators included."""
    decorators = getattr(statement, "decorator_list", [])
    if not decorators:
        return source.extent(statement)[0]
    at = tokens_of(source).before(outer(source, decorators[0])[0])
    if at is None or at.text != "@":
        raise Declined("its decorator was not found")
    return at.start


def leads(source: Source, statement: ast.stmt) -> bool:
    """Whether a statement begins a line, and follows neither `;` nor the colon of a suite."""
    start = start_of(source, statement)
    before = tokens_of(source).before(start)
    return before is None or tokens_of(source).newline_between(before.end, start)


def line_start(source: Source, index: int) -> int:
    """Where the line begins on which a leading statement stands."""
    newline = tokens_of(source).newline_before(index)
    start = newline.end if newline else 0
    if not _BLANK.fullmatch(source.text, start, index):
        raise Declined("its line is continued from a blank one by a backslash")
    return start


def is_compound(statement: ast.stmt) -> bool:
    """Whether a statement holds others, and so cannot share its line with a neighbour."""
    return hasattr(statement, "body") or hasattr(statement, "cases")


def is_elif(source: Source, statement: ast.stmt) -> bool:
    """Whether a statement is what Python makes of an `elif`."""
    holder = source.parent(statement)
    return (
        isinstance(statement, ast.If)
        and isinstance(holder, ast.If)
        and holder.orelse == [statement]
        and source.text.startswith("elif", source.extent(statement)[0])
    )


def indent_of(source: Source, block: list[ast.stmt]) -> str:
    """The white space before a block's statements, had they lines of their own."""
    if leads(source, block[0]):
        return _margin(source, start_of(source, block[0]))
    return suite_indent(source, block) + unit_near(source, block[0])


def suite_indent(source: Source, block: list[ast.stmt]) -> str:
    """The white space before the line whose colon opens a block."""
    holder = source.parent(block[0])
    if isinstance(holder, ast.ExceptHandler):
        holder = source.parent(holder)
    if isinstance(holder, ast.match_case):
        return case_indent(source, holder)
    return _margin(source, start_of(source, holder)) if isinstance(holder, ast.stmt) else ""


def case_indent(source: Source, case: ast.match_case) -> str:
    """The white space before a `case`, which is no node with a position of its own."""
    keyword = tokens_of(source).before(outer(source, case.pattern)[0])
    return _margin(source, keyword.start) if keyword else ""


def _margin(source: Source, index: int) -> str:
    """The white space before what leads a line."""
    return source.text[line_start(source, index) : index].rpartition("\f")[2]


def unit_near(source: Source, statement: ast.AST) -> str:
    """One step of indentation as the neighbourhood has it."""
    found: ast.AST | None = statement
    while found is not None:
        for inner, base in _margins(source, found):
            if inner.startswith(base) and inner != base:
                return inner[len(base) :]
        found = source.parent(found)
    steps = (margins for node in ast.walk(source.tree) for margins in _margins(source, node))
    return next((inner[len(base) :] for inner, base in steps if inner.startswith(base) and inner != base), "    ")


def newline_near(source: Source, index: int) -> str:
    """How lines end around a place."""
    tokens = tokens_of(source)
    found = tokens.newline_after(index) or tokens.newline_before(index)
    return found.text if found else "\n"


def shifted(source: Source, start: int, end: int, old: str, new: str) -> list[tuple[int, int, str]]:
    """The changes that re-indent the lines beginning in a range; the inside of strings stays as it is."""
    changes = []
    tokens = tokens_of(source)
    for line, place in enumerate(source.starts[:-1]):
        if not start <= place < end or tokens.in_literal(place):
            continue
        text = source.lines[line]
        blank = _BLANK.match(text)
        size = blank.end() if blank else 0
        if not text[size:].strip("\r\n"):
            continue
        margin = text[:size].rpartition("\f")[2]
        at = place + size - len(margin)
        if margin.startswith(old):
            changes.append((at, at + len(old), new))
        elif text[size] != "#" and new.startswith(old):
            # Inside brackets a line may stand further left than its statement; it keeps its distance.
            changes.append((at, at, new[len(old) :]))
    return changes


def _margins(source: Source, node: ast.AST) -> Iterator[tuple[str, str]]:
    """The indentation of each block below a node, with that of the line which opens it."""
    if isinstance(node, ast.Match):
        yield case_indent(source, node.cases[0]), indent_of(source, [node])
    for field in () if isinstance(node, ast.Module) else _FIELDS:
        block = getattr(node, field, None)
        if isinstance(block, list) and block and leads(source, block[0]):
            yield indent_of(source, block), suite_indent(source, block)


def _comment_line(source: Source, index: int) -> tuple[str, int, int] | None:
    """The margin and the newline's place of the line that begins at an index, if it is all comment."""
    match = _COMMENT_LINE.match(source.text, index)
    return (match[1].rpartition("\f")[2], match.start(2), match.end(2)) if match else None


def _is_deeper(margin: str, indent: str) -> bool:
    return margin.startswith(indent) and margin != indent
