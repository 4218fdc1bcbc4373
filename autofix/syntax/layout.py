"""How code is laid out: which statements share a line, how blocks are indented, how lines end, which quotes it has."""

from __future__ import annotations

import ast
import io
import itertools
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

from autofix.core.edit import Declined
from autofix.syntax.blocks import FIELDS, block_of
from autofix.syntax.source import Source

_NEWLINE = re.compile(r"\r\n?|\n")
_SPACE = r"(?:[ \t\f]|\\(?:\r\n?|\n))*"
_SHARED = re.compile(rf"{_SPACE};{_SPACE}")
_SUITE = re.compile(rf":({_SPACE})\Z")
_REST = re.compile(rf"{_SPACE};?{_SPACE}(?:#[^\r\n]*)?(\r\n?|\n|\Z)")
_COMMENT_LINE = re.compile(r"([ \t\f]*)#[^\r\n]*(\r\n?|\n|\Z)")
_BLANK = re.compile(r"[ \t\f]*")
_CONTINUED = re.compile(r"(?:\A|[\r\n])[^#\r\n]*\\(?:\r\n?|\n)\Z")
_SINGLE, _PLAIN = re.compile(r"\w*'"), re.compile(r"'[^'\"\\\n]*'")
"""A string that begins with a single quote; one that may have double ones as well."""
_FAR = 400
"""How far back the colon of a suite and a line before are looked for."""


@dataclass(frozen=True, slots=True)
class StatementRun:
    """Neighbouring statements of one block; places are indices into the source's text."""

    source: Source
    block: list[ast.stmt]
    first: int
    last: int

    @property
    def statements(self) -> list[ast.stmt]:
        return self.block[self.first : self.last + 1]

    @property
    def start(self) -> int:
        return header_start(self.source, self.block[self.first])

    @property
    def end(self) -> int:
        return self.source.extent(self.block[self.last])[1]

    @property
    def next_start(self) -> int | None:
        """Where the statement after begins if it shares the last line, else None."""
        following = self.block[self.last + 1 : self.last + 2]
        return None if not following or leads(self.source, following[0]) else self.source.extent(following[0])[0]

    @property
    def leads(self) -> bool:
        """Whether the first statement begins a line."""
        return leads(self.source, self.block[self.first])

    @property
    def line_start(self) -> int:
        """Where the line that the first statement leads begins."""
        return line_start(self.source, self.start)

    @property
    def commented(self) -> int:
        """Where the comments begin that stand directly above the first statement, which leads its line.

        Comments that reach the top of the file are the file's.
        """
        source, above = self.source, self.block[self.first - 1].end_lineno if self.first else 0
        begin = line = source.starts.index(self.line_start)
        while begin > (above or 0) and source.lines[begin - 1].startswith(f"{self.indent}#"):
            begin -= 1
        return source.starts[begin or line]

    @property
    def line_end(self) -> tuple[int, int]:
        """Where the last line's newline begins and ends, past comments that belong deeper inside."""
        rest = _REST.match(self.source.text, self.end)
        if rest is None:
            raise Declined("the end of its line was not found")
        found = rest.span(1)
        if not is_compound(self.block[self.last]):
            return found
        while (line := _COMMENT_LINE.match(self.source.text, found[1])) and _is_deeper(line[1], self.indent):
            found = line.span(2)
        return found

    @property
    def gap(self) -> tuple[int, int]:
        """What lies between the first statement and what shares its line: `; `, or the space behind a colon."""
        if self.first:
            return self.source.extent(self.block[self.first - 1])[1], self.start
        suite = _suite(self.source, self.start)
        if suite is None:
            raise Declined("the colon before it was not found")
        return suite.start(1), self.start

    @property
    def indent(self) -> str:
        """The white space before the statements of this block; a one-line suite's is what it would have."""
        return indent_of(self.source, self.block)


def run_of(source: Source, statements: list[ast.stmt]) -> StatementRun:
    """Place neighbouring statements; declines what cannot be moved about as statements."""
    if not statements:
        raise Declined("there is no statement")
    block = block_of(source, statements[0])
    first = next(place for place, item in enumerate(block) if item is statements[0])
    last = first + len(statements) - 1
    if len(block) <= last or any(a is not b for a, b in zip(block[first:], statements, strict=False)):
        raise Declined("the statements do not follow each other in one block")
    if source.text.startswith("elif", source.extent(statements[0])[0]) and isinstance(statements[0], ast.If):
        raise Declined("an elif is part of the if before it")
    return StatementRun(source, block, first, last)


def header_start(source: Source, node: ast.AST) -> int:
    """Where a statement begins, decorators included; a `case`, which is no node with a place of its own, too."""
    if isinstance(node, ast.match_case):
        return source.text.rindex("case", 0, source.extent(node.pattern)[0])
    decorators = getattr(node, "decorator_list", [])
    return source.text.rindex("@", 0, source.extent(decorators[0])[0]) if decorators else source.extent(node)[0]


def leads(source: Source, statement: ast.stmt) -> bool:
    """Whether a statement begins a line, and follows neither `;` nor the colon of a suite."""
    block, start = block_of(source, statement), header_start(source, statement)
    place = next(at for at, item in enumerate(block) if item is statement)
    if place:
        return _SHARED.fullmatch(source.text, source.extent(block[place - 1])[1], start) is None
    return isinstance(source.parent(statement), ast.Module) or _suite(source, start) is None


def line_start(source: Source, index: int) -> int:
    """Where the line begins on which a leading statement stands."""
    start = source.text.rfind("\n", 0, index) + 1
    start = max(start, source.text.rfind("\r", 0, index) + 1)
    if not _BLANK.fullmatch(source.text, start, index) or _CONTINUED.search(source.text, max(0, start - _FAR), start):
        raise Declined("a backslash joins its line to another")
    return start


def is_compound(statement: ast.stmt) -> bool:
    """Whether a statement holds others, and so cannot share its line with a neighbour."""
    return hasattr(statement, "body") or hasattr(statement, "cases")


def indent_of(source: Source, block: list[ast.stmt]) -> str:
    """The white space before a block's statements, had they lines of their own."""
    if leads(source, block[0]):
        return _margin(source, header_start(source, block[0]))
    return _suite_indent(source, block) + unit_near(source, block[0])


def lines_of(source: Source, block: list[ast.stmt], text: str) -> list[str]:
    """The lines of text from a block, to be inserted elsewhere: each step of their indentation is four spaces."""
    indent, unit = indent_of(source, block), unit_near(source, block[0])
    first, *others = _NEWLINE.split(text)
    found = [first]
    for line in others:
        bare = line.removeprefix(indent)
        steps = 0
        while bare.startswith(unit):
            bare = bare.removeprefix(unit)
            steps += 1
        found.append(" " * 4 * steps + bare)
    return found


def unit_near(source: Source, statement: ast.AST) -> str:
    """One step of indentation as the neighbourhood has it."""
    nodes = itertools.chain((statement,), source.around(statement), ast.walk(source.tree))
    steps = (margins for node in nodes for margins in _margins(source, node))
    return next((inner[len(base) :] for inner, base in steps if _is_deeper(inner, base)), "    ")


def newline_near(source: Source, index: int) -> str:
    """How lines end around a place."""
    found = _NEWLINE.search(source.text, index) or _NEWLINE.search(source.text)
    return found[0] if found else "\n"


def quoted_as(source: Source, text: str) -> str:
    """New code with its strings in double quotes, where all strings of the source are: `ast` writes single ones."""
    if "'" not in text:
        return text
    try:
        own = [one.string for one in _strings(source.text)]
        if not own or any(_SINGLE.match(one) and '"' not in one for one in own):
            return text
        plain = [one for one in _strings(text) if _PLAIN.fullmatch(one.string)]
    except (tokenize.TokenError, SyntaxError):
        return text
    lines = list(io.StringIO(text))
    for one in reversed(plain):
        row, first, last = one.start[0] - 1, one.start[1], one.end[1]
        lines[row] = f'{lines[row][:first]}"{one.string[1:-1]}"{lines[row][last:]}'
    return "".join(lines)


def _strings(text: str) -> Iterator[tokenize.TokenInfo]:
    """The strings of some code; of a formatted one its begin alone, where it has tokens of its own."""
    depth = 0
    for one in tokenize.generate_tokens(io.StringIO(text).readline):
        name = tokenize.tok_name[one.type]
        if depth == 0 and name in ("STRING", "FSTRING_START"):
            yield one
        depth += (name == "FSTRING_START") - (name == "FSTRING_END")


def _suite(source: Source, start: int) -> re.Match[str] | None:
    """The space between the colon of a one-line suite and its first statement."""
    return _SUITE.search(source.text, max(0, start - _FAR), start)


def _suite_indent(source: Source, block: list[ast.stmt]) -> str:
    """The white space before the line whose colon opens a block."""
    parent = source.parent(block[0])
    if isinstance(parent, ast.ExceptHandler):
        parent = source.parent(parent)
    placed = isinstance(parent, (ast.stmt, ast.match_case))
    return _margin(source, header_start(source, parent)) if placed and parent is not None else ""


def _margin(source: Source, index: int) -> str:
    """The white space before what leads a line."""
    return source.text[line_start(source, index) : index].rpartition("\f")[2]


def _margins(source: Source, node: ast.AST) -> Iterator[tuple[str, str]]:
    """The indentation of each block below a node, with that of the line which opens it."""
    if isinstance(node, ast.Match):
        yield _margin(source, header_start(source, node.cases[0])), indent_of(source, [node])
    for field in () if isinstance(node, ast.Module) else FIELDS:
        block = getattr(node, field, None)
        if isinstance(block, list) and block and leads(source, block[0]):
            yield indent_of(source, block), _suite_indent(source, block)


def _is_deeper(margin: str, indent: str) -> bool:
    margin = margin.rpartition("\f")[2]
    return margin.startswith(indent) and margin != indent
