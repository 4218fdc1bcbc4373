"""A place in the user's code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of the user's code. Lines count from 1, columns from 0 in UTF-8 bytes, as `co_positions` gives them."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    function: str

    @classmethod
    def around(cls, file: str, node: Any, function: str) -> Frame:
        """The place of a node of a syntax tree; of a compound statement, where it begins."""
        start = node.lineno, node.col_offset
        end = start if hasattr(node, "body") else (node.end_lineno or node.lineno, node.end_col_offset or 0)
        return cls(file, *start, *end, function)

    @classmethod
    def of_line(cls, file: str, line: int, function: str = "") -> Frame:
        """The place of a line, of which no part is named."""
        return cls(file, line, 0, line, 0, function)


Stack = tuple[Frame, ...]
"""User frames, innermost first."""
