"""Edits inside a statement: calls appended to an expression, operators and whole expressions replaced."""

from __future__ import annotations

import ast
import copy
import re
from typing import TYPE_CHECKING, Any

from autofix.edit import Declined, Edit
from autofix.rewrite.apply import BrokenRewrite, apply, edit
from autofix.rewrite.parentheses import (
    PRIMARY,
    binding,
    editable,
    in_call_parentheses,
    outer,
    own,
    required,
    right_operand_binding,
)
from autofix.rewrite.tokens import tokens_of
from autofix.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterator

_OPERATOR = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.MatMult: "@",
    ast.Div: "/",
    ast.Mod: "%",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.BitAnd: "&",
    ast.FloorDiv: "//",
    ast.Pow: "**",
}
_EVALUATED_TWICE = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)


def append_call(source: Source, node: ast.expr, suffix: str) -> list[Edit]:
    """Append text such as `.detach()` to an expression, in parentheses where it needs them."""
    editable(source, node)
    if isinstance(node, ast.Starred | ast.Slice):
        raise Declined("it is no expression of its own")
    if isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
        raise Declined("it is a target, not a value")
    start, end = source.extent(node)
    bare = binding(source, node) == PRIMARY and not _is_number(node)
    if bare:
        return [edit(source, end, end, suffix)]
    if pairs := own(source, node):
        after = pairs[0][1] + 1
        return [edit(source, after, after, suffix)]
    if in_call_parentheses(source, node):
        return [edit(source, start, start, "("), edit(source, end, end, f"{suffix})")]
    return [edit(source, start, start, "("), edit(source, end, end, f"){suffix}")]


def replace(source: Source, node: ast.AST, text: str) -> list[Edit]:
    """Replace a node's text; a new expression gets parentheses where the old one stood without."""
    editable(source, node)
    start, end = source.extent(node)
    text = _in_style(source, start, text)
    if isinstance(node, ast.expr) and _must_be_wrapped(source, node, text):
        text = f"({text})"
    before, after = source.text[start - 1 : start], source.text[end : end + 1]
    # `return(a, b)` and `(a)if b` need no space before they change, but may after.
    text = f" {text}" if _is_word(before) and _is_word(text[:1]) else text
    text = f"{text} " if _is_word(after) and _is_word(text[-1:]) else text
    return [edit(source, start, end, text)]


def aug_to_assign(source: Source, node: ast.AugAssign) -> list[Edit]:
    """Write `x += y` as `x = x + y`, keeping the value of `y` one operand."""
    if any(isinstance(part, _EVALUATED_TWICE) for part in ast.walk(node.target)):
        raise Declined("its target would be evaluated twice")
    start, end = _operator_extent(source, node.target, node.value)
    # A target over several lines needs the parentheses that allow it.
    target_start, target_end = outer(source, node.target)
    target = source.text[target_start:target_end]
    sign = _OPERATOR[type(node.op)]
    spaced = source.text[start - 1] in " \t" or source.text[end : end + 1] in (" ", "\t")
    text = f"= {target} {sign}" if spaced else f"={target}{sign}"
    edits = [edit(source, start, end, text)]
    bare = not own(source, node.value)
    if bare and binding(source, node.value) < right_operand_binding(node.op):
        value_start, value_end = source.extent(node.value)
        edits += [edit(source, value_start, value_start, "("), edit(source, value_end, value_end, ")")]
    return edits


def replace_operator(
    source: Source, node: ast.BinOp | ast.AugAssign | ast.Compare | ast.BoolOp, operator: str
) -> list[Edit]:
    """Replace the one operator between two operands; declines where others would bind differently."""
    editable(source, node)
    match node:
        case ast.BinOp(left=left, right=right) | ast.Compare(left=left, comparators=[right]):
            pass
        case ast.BoolOp(values=[left, right]):
            pass
        case ast.AugAssign(target=left, value=right):
            pass
        case _:
            raise Declined("it has more than one operator")
    edits = [edit(source, *_operator_extent(source, left, right), operator)]
    if not _keeps_operands(source, node, edits):
        raise Declined(f"with {operator!r} the operands around it would group differently")
    return edits


def _operator_extent(source: Source, left: ast.expr, right: ast.expr) -> tuple[int, int]:
    """Where the operator between two operands stands."""
    tokens = tokens_of(source).code_between(outer(source, left)[1], outer(source, right)[0])
    if not tokens:
        raise Declined("its operator was not found")
    return tokens[0].start, tokens[-1].end


def _must_be_wrapped(source: Source, node: ast.expr, text: str) -> bool:
    """Whether a new expression in the place of `node` needs parentheses."""
    if in_call_parentheses(source, node):
        return True
    if own(source, node):
        return False
    try:
        new = ast.parse(text, mode="eval").body
    except SyntaxError:
        return False  # not an expression alone, as `*a` is not; whether it fits is for apply to say
    alone = Source(source.path, text.encode())
    first = alone.tree.body[0]
    level = binding(alone, first.value) if isinstance(first, ast.Expr) else 0
    return level < required(source, node) or (_is_number(new) and _has_attribute(source, node))


def _keeps_operands(source: Source, node: ast.AST, edits: list[Edit]) -> bool:
    """Whether after the edits the same operands stand in the same place, and nothing else changed."""
    try:
        changed = Source(source.path, apply(source, edits)).tree
    except BrokenRewrite:
        return False
    steps = list(_steps(source, node))
    old, new = _follow(source.tree, steps), _follow(changed, steps)
    if isinstance(node, ast.AugAssign) and isinstance(new, ast.Assign):
        return ast.dump(node.value) == ast.dump(new.value)
    if type(old) is not type(new):
        return False
    expected = copy.deepcopy(source.tree)
    place = _follow(expected, steps)
    for name in ("op", "ops"):
        if hasattr(new, name):
            setattr(place, name, getattr(new, name))
    return ast.dump(expected) == ast.dump(changed)


def _steps(source: Source, node: ast.AST) -> Iterator[tuple[str, int | None]]:
    """The way from the module down to a node: field names and places in lists."""
    holder = source.parent(node)
    if holder is None:
        return
    yield from _steps(source, holder)
    for name, value in ast.iter_fields(holder):
        if value is node:
            yield name, None
        elif isinstance(value, list) and any(item is node for item in value):
            yield name, next(place for place, item in enumerate(value) if item is node)


def _follow(tree: ast.AST, steps: list[tuple[str, int | None]]) -> Any:
    """The node at the end of a way, or None where there is no such way."""
    found: Any = tree
    for name, place in steps:
        found = getattr(found, name, None)
        if place is not None:
            found = found[place] if isinstance(found, list) and place < len(found) else None
    return found


def _in_style(source: Source, index: int, text: str) -> str:
    """Text with the newlines of the place it goes to."""
    newline = tokens_of(source).newline_after(index) or tokens_of(source).newline_before(index)
    return re.sub(r"\r\n?|\n", newline.text if newline else "\n", text)


def _is_word(character: str) -> bool:
    return bool(re.fullmatch(r"\w", character))


def _is_number(node: ast.AST) -> bool:
    """Whether a dot after the node would be read as a decimal point, or look like one."""
    return isinstance(node, ast.Constant) and type(node.value) in {int, float, complex}


def _has_attribute(source: Source, node: ast.AST) -> bool:
    return isinstance(source.parent(node), ast.Attribute)
