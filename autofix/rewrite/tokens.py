"""What stands between the nodes: brackets, commas, comments and newlines, with their places.

The tree already knows where each string is, so the rest needs no tokenizer that changes between
Python versions: outside strings a quote cannot occur, and `#` always begins a comment.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left, bisect_right
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from autofix.edit import Declined

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autofix.source import Source

_TOKEN = re.compile(
    r"(?P<comment>#[^\r\n]*)|(?P<newline>\r\n?|\n)|(?P<space>(?:[ \t\f]|\\(?:\r\n?|\n))+)|\w+|.",
    re.DOTALL,
)
_LITERAL = re.compile(
    r"\w*(?:'''(?:[^\\]|\\.)*?'''|\"\"\"(?:[^\\]|\\.)*?\"\"\"|'(?:[^\\'\r\n]|\\\r\n|\\.)*'|\"(?:[^\\\"\r\n]|\\\r\n|\\.)*\")",
    re.DOTALL,
)
_CLOSING = {")": "(", "]": "[", "}": "{"}


class Token(NamedTuple):
    """A piece of text that is no space; `kind` is "comment", "newline", "string" or ""."""

    kind: str
    start: int
    end: int
    text: str


class Tokens:
    """The tokens of one source; all places are indices into its text."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._all = tuple(self._scan())
        self._code = [token for token in self._all if token.kind not in ("comment", "newline")]
        self._starts = [token.start for token in self._code]
        self._ends = [token.end for token in self._code]
        self._newlines = [token for token in self._all if token.kind == "newline"]
        self._newline_starts = [token.start for token in self._newlines]

    def before(self, index: int) -> Token | None:
        """The last token of code that ends at or before a place."""
        found = bisect_right(self._ends, index)
        return self._code[found - 1] if found else None

    def after(self, index: int) -> Token | None:
        """The first token of code that begins at or after a place."""
        found = bisect_left(self._starts, index)
        return self._code[found] if found < len(self._code) else None

    def code_between(self, start: int, end: int) -> list[Token]:
        """The tokens of code from one place to another."""
        return self._code[bisect_left(self._starts, start) : bisect_right(self._ends, end)]

    def newline_after(self, index: int) -> Token | None:
        """The first newline at or after a place that neither a backslash nor a string hides."""
        found = bisect_left(self._newline_starts, index)
        return self._newlines[found] if found < len(self._newlines) else None

    def newline_before(self, index: int) -> Token | None:
        """The last such newline that ends at or before a place."""
        found = bisect_left(self._newline_starts, index)
        return self._newlines[found - 1] if found else None

    def newline_between(self, start: int, end: int) -> bool:
        """Whether such a newline begins in a range."""
        found = self.newline_after(start)
        return found is not None and found.start < end

    def comment_between(self, start: int, end: int) -> bool:
        """Whether a comment begins in a range."""
        return any(token.kind == "comment" and start <= token.start < end for token in self._all)

    @cached_property
    def partner(self) -> dict[int, int]:
        """For the place of each bracket, that of the one that matches it."""
        found: dict[int, int] = {}
        opened: list[Token] = []
        for token in self._code:
            if token.kind == "string":
                continue
            if token.text in _CLOSING.values():
                opened.append(token)
            elif token.text in _CLOSING:
                if not opened or opened[-1].text != _CLOSING[token.text]:
                    raise Declined("its brackets could not be matched")
                found[token.start] = opened[-1].start
                found[opened.pop().start] = token.start
        return found

    @cached_property
    def literals(self) -> tuple[tuple[int, int], ...]:
        """The extents of single string literals; one that holds f-strings may count as one whole."""
        return tuple(piece for start, end in self._string_extents for piece in self._pieces(start, end))

    def in_literal(self, index: int) -> bool:
        """Whether a place is strictly inside a string literal."""
        found = bisect_left(self.literals, (index, 0))
        return found > 0 and index < self.literals[found - 1][1]

    @cached_property
    def _string_extents(self) -> list[tuple[int, int]]:
        """Where strings stand; neighbours that Python joins make one extent."""
        joined = (ast.JoinedStr, *filter(None, [getattr(ast, "TemplateStr", None)]))
        found: list[tuple[int, int]] = []
        pending: list[ast.AST] = [self.source.tree]
        while pending:
            node = pending.pop()
            if isinstance(node, joined) or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)):
                found.append(self.source.extent(node))
            else:
                pending.extend(ast.iter_child_nodes(node))
        return sorted(found)

    def _pieces(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Cut a run of neighbouring strings into literals, or keep it whole where that is not sure."""
        text, place, pieces = self.source.text, start, []
        while place < end:
            match = _LITERAL.match(text, place, end)
            if match:
                pieces.append(match.span())
            else:
                match = _TOKEN.match(text, place, end)
                if match is None or match.lastgroup is None:
                    yield start, end
                    return
            place = match.end()
        yield from pieces

    def _scan(self) -> Iterator[Token]:
        text, place = self.source.text, 0
        strings = iter([*self._string_extents, (len(text), len(text))])
        string = next(strings)
        while place < len(text):
            if place == string[0]:
                yield Token("string", *string, text[string[0] : string[1]])
                place = string[1]
                string = next(strings)
                continue
            match = _TOKEN.match(text, place, string[0])
            if match is None or match[0] in {"'", '"'}:
                raise Declined("its strings could not be told from its code")
            if match.lastgroup != "space":
                yield Token(match.lastgroup or "", match.start(), match.end(), match[0])
            place = match.end()


@lru_cache(maxsize=16)
def tokens_of(source: Source) -> Tokens:
    """The tokens of a source, scanned once while it is in use."""
    return Tokens(source)
