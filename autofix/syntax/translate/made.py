"""What a translation knows of an expression, and the text of one with new words for some of its parts."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto

from autofix.syntax.calls import Function
from autofix.syntax.reaching import Reaching
from autofix.syntax.source import Source


class Kind(Enum):
    """What an expression is. NUMBER: a number without gradient. OTHER: unknown, perhaps an array without one.

    TORCH: a tensor, as the program has it. ARRAY: an array or number of numpy's in the program, which becomes a tensor.
    LIST: a list or tuple of these.
    """

    NUMBER = auto()
    OTHER = auto()
    TORCH = auto()
    ARRAY = auto()
    LIST = auto()


MOVED = (Kind.ARRAY, Kind.LIST)


@dataclass(frozen=True, slots=True)
class Translated:
    """An expression in its new words. `why`: the reason for which it has no derivative; `parts`: those of a tuple."""

    text: str
    kind: Kind
    scalar: bool = False
    why: str = ""
    parts: tuple[Translated, ...] = ()
    changed: bool = False
    several: bool = False
    """A list in the program, though nothing in it is known to be an array."""


@dataclass(eq=False, slots=True)
class Body:
    """What becomes of one function, or of a module outside of its functions."""

    source: Source
    body: Function | ast.Module
    reaching: Reaching
    given: dict[str, Translated] = field(default_factory=dict)
    known: dict[ast.AST, Translated] = field(default_factory=dict)
    """What each definition gives."""
    texts: dict[ast.AST, str | None] = field(default_factory=dict)
    """New words of expressions, by where they stand; None where a statement goes."""
    seen: set[ast.AST] = field(default_factory=set)
    """Names that translated expressions read."""
    calls: list[tuple[Body, ast.Call]] = field(default_factory=list)
    """Where it is called from within what is translated."""
    result: Translated | None = None


def element(made: Translated) -> Translated:
    if made.kind is Kind.LIST:
        return replace(made, kind=Kind.ARRAY) if not made.parts else made
    return replace(made, scalar=False, parts=()) if made.kind is Kind.ARRAY else replace(made, parts=())


def joined(several: Sequence[Translated]) -> Translated:
    order = (Kind.LIST, Kind.ARRAY, Kind.TORCH, Kind.OTHER, Kind.NUMBER)
    kind = next(one for one in order if any(made.kind is one for made in several))
    mine = [made for made in several if made.kind is kind]
    parts = mine[0].parts if len(mine) == 1 else ()
    return Translated(
        "", kind, all(made.scalar for made in mine), reason(mine), parts, any(made.changed for made in several),
        all(made.several for made in mine),
    )  # fmt: skip


def reason(several: Iterable[Translated]) -> str:
    """The reason for which what is made of these has no derivative; '' where one of them has one."""
    reasons = [made.why for made in several]
    return "" if "" in reasons else next(iter(reasons), "")


def respelled(source: Source, node: ast.AST, parts: Iterable[tuple[ast.AST, str]]) -> str:
    """The text of a node with that of some parts of it replaced."""
    start, end = source.extent(node)
    text, done = "", start
    for (first, last), new in sorted((source.extent(part), new) for part, new in parts):
        text += source.text[done:first] + new
        done = last
    return text + source.text[done:end]


def spelled(scope: Body, node: ast.expr, parts: Iterable[tuple[ast.expr, Translated]]) -> str:
    """The text of a node with its parts in their new words, in parentheses where they need them."""
    changed = [(part, made.text) for part, made in parts if made.changed]
    tight = isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Attribute, ast.Subscript, ast.IfExp))
    first = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    return respelled(
        scope.source, node, [(part, beside(part, text) if tight or part is first else text) for part, text in changed]
    )


def rebuilt(  # noqa: PLR0913, PLR0917  what is known of an expression
    scope: Body, node: ast.expr, given: Sequence[tuple[ast.expr, Translated]], kind: Kind, scalar: bool = False,
    why: str = "", parts: tuple[Translated, ...] = (), *, several: bool = False,
) -> Translated:  # fmt: skip
    """A node with its parts in their new words, and what it is then."""
    changed = any(made.changed for _, made in given)
    return Translated(spelled(scope, node, given), kind, scalar, why, parts, changed, several)


def beside(part: ast.expr, text: str) -> str:
    """New words for a part of an expression: one that is built as it was needs no other parentheses."""
    parsed = ast.parse(f"({text}\n)", mode="eval").body
    same = type(parsed) is type(part) and type(getattr(parsed, "op", None)) is type(getattr(part, "op", None))
    return text if same else atom(text)


def atom(text: str) -> str:
    """An expression that keeps together whatever stands beside it."""
    parsed = ast.parse(f"({text}\n)", mode="eval").body
    whole = isinstance(parsed, (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant, ast.List))
    return text if whole else f"({text})"


def short(node: ast.AST) -> str:
    text = ast.unparse(node)
    return text if len(text) < 40 else f"{text[:37]}..."  # noqa: PLR2004  of a line of a report
