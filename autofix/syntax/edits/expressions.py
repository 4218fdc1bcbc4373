"""Changes inside a statement: expressions embedded in others, replaced and renamed, operators written out."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any

import libcst as cst

from autofix.core.edit import Declined
from autofix.syntax.calls import Comprehension, choices, may_be_plain
from autofix.syntax.edits.steps import Step
from autofix.syntax.edits.unit import Guard, NodeChange, holder
from autofix.syntax.layout import newline_near, quoted_as
from autofix.syntax.source import Source

_PRIMARY = (cst.Name, cst.Attribute, cst.Call, cst.Subscript)
_TWICE = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)


def change(source: Source, node: ast.expr | ast.stmt, what: str, make: Callable[[Any, Guard], Any]) -> list[Step]:
    """A node as something else; see `unit.NodeChange`."""
    if isinstance(node, (ast.Starred, ast.Slice)):
        raise Declined("it is not an expression that can be replaced")
    holder(source, node)  # declines where text is not simply code
    return [NodeChange(source, node, what, make)]


def embed(source: Source, node: ast.expr, template: str) -> list[Step]:
    """Put an expression into another one, at the `{}` of a template such as `torch.stack({})`."""
    before, after = template.split("{}")
    mark = "_embedded_"
    whole = expression(source, node, f"{before}{mark}{after}")

    def make(new: Any, guard: Guard) -> Any:
        # One pair of parentheses may be needed inside; the others stay around the whole.
        outer = len(new.lpar) - (not isinstance(new, _PRIMARY))
        if outer <= 0:
            return whole.visit(_Put(mark, guard(new)))
        inner = new.with_changes(lpar=new.lpar[outer:], rpar=new.rpar[: len(new.rpar) - outer])
        made: Any = whole.visit(_Put(mark, inner))
        return made.with_changes(lpar=new.lpar[:outer], rpar=new.rpar[len(new.rpar) - outer :])

    return change(source, node, template, make)


def append_call(source: Source, node: ast.expr, suffix: str) -> list[Step]:
    """Append text such as `.detach()` to an expression, in parentheses where it needs them.

    Where one of several is chosen and may be a number or None, which has no such method, to each of the others.
    """
    if isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
        raise Declined("it is assigned to here, not read")
    if isinstance(node, ast.Constant) or not may_be_plain(node):
        return embed(source, node, f"{{}}{suffix}")
    if not (found := [one for one in choices(node) if any(isinstance(part, ast.Name) for part in ast.walk(one))]):
        raise Declined("it may be a number or None, which has no such method")
    return [step for one in found for step in append_call(source, one, suffix)]


def replace(source: Source, node: ast.expr, text: str) -> list[Step]:
    """Replace an expression; the parentheses that the old one stood in stay."""
    whole = expression(source, node, text)
    own = isinstance(node, (ast.Tuple, ast.GeneratorExp))  # their last pair goes with them

    def make(old: Any, guard: Guard) -> Any:
        pairs = len(old.lpar) - own
        if pairs > 0:
            return whole.with_changes(
                lpar=[*old.lpar[:pairs], *whole.lpar], rpar=[*whole.rpar, *old.rpar[len(old.rpar) - pairs :]]
            )
        return guard(whole)

    return change(source, node, text, make)


def rename(source: Source, node: ast.Name | ast.Attribute, name: str) -> list[Step]:
    """Another last name: `torch.stack` for `torch.tensor`, `x.mul` for `x.mul_`."""
    field = "attr" if isinstance(node, ast.Attribute) else "value"
    value: Any = cst.Name(name) if field == "attr" else name
    return change(source, node, f"named {name}", lambda old, _: old.with_changes(**{field: value}))


def receiver(source: Source, node: ast.Call | ast.Attribute) -> list[Step]:
    """The object itself in the place of its attribute or of a call of its method: `x` for `x.item()`."""

    def make(old: Any, _: Guard) -> Any:
        attribute: Any = old.func if isinstance(old, cst.Call) else old
        inner = attribute.value
        return inner.with_changes(lpar=[*old.lpar, *inner.lpar], rpar=[*inner.rpar, *old.rpar])

    return change(source, node, "receiver", make)


def aug_to_assign(source: Source, node: ast.AugAssign) -> list[Step]:
    """Write `x += y` as `x = x + y`, keeping the value of `y` one operand."""
    if any(isinstance(part, _TWICE) for part in ast.walk(node.target)):
        raise Declined("what it assigns to would be computed twice")

    def make(old: cst.AugAssign, guard: Guard) -> cst.Assign:
        sign = old.operator
        spaces: list[Any] = [sign.whitespace_before, sign.whitespace_after]  # type: ignore[attr-defined]
        between = cst.SimpleWhitespace(" " if any(one.value for one in spaces) else "")
        plain = getattr(cst, type(sign).__name__.removesuffix("Assign"))
        operator = plain(whitespace_before=between, whitespace_after=spaces[1])
        value = cst.BinaryOperation(old.target.deep_clone(), operator, guard(old.value))
        target = cst.AssignTarget(old.target, whitespace_before_equal=spaces[0], whitespace_after_equal=between)
        return cst.Assign([target], value)

    return change(source, node, "written out", make)


def filtered(source: Source, node: Comprehension, condition: str) -> list[Step]:
    """A comprehension that goes only through what a condition holds for."""
    last = node.generators[-1]
    if last.ifs:
        return embed(source, last.ifs[-1], f"{{}} and {condition}")
    test = expression(source, node, condition)

    def make(old: Any, _: Guard) -> Any:
        loop = old.for_in
        while loop.inner_for_in is not None:
            loop = loop.inner_for_in
        return old.with_deep_changes(loop, ifs=[cst.CompIf(test)])

    return change(source, node, condition, make)


def bind(source: Source, statement: ast.Expr, path: str) -> list[Step]:
    """Keep the value of an expression that stands alone: `x.mul(2)` as `x = x.mul(2)`."""
    written: Any = expression(source, statement, path)
    target = cst.AssignTarget(written)
    return change(source, statement, f"bound {path}", lambda old, _: cst.Assign([target], old.value))


class _Put(cst.CSTTransformer):
    """An expression in the place of the name that marks it."""

    def __init__(self, mark: str, expression: cst.BaseExpression) -> None:
        super().__init__()
        self.mark, self.expression = mark, expression

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:  # noqa: N802
        return self.expression if original_node.value == self.mark else updated_node


def expression(source: Source, node: ast.AST, text: str) -> Any:
    """Libcst's tree of new text, with the newlines of the place it goes to."""
    if re.search(r"[\r\n]", text):
        text = re.sub(r"\r\n?|\n", newline_near(source, source.extent(node)[0]), text)
    try:
        return cst.parse_expression(quoted_as(source, text))
    except cst.ParserSyntaxError:
        raise Declined(f"{text} is not an expression") from None
