"""In-place writes: what they write to, and which stand together."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from autofix.probe.wire import Frame
from autofix.syntax import vocabulary
from autofix.syntax.blocks import around, block_of, holders, loops, passed
from autofix.syntax.calls import name_of, path_of, whole, within
from autofix.syntax.modes import may_switch_off, switches_off
from autofix.syntax.source import Source
from autofix.syntax.vocabulary import INPLACE, VIEWS


def written(source: Source, node: ast.AST) -> str:
    """The variable whose tensor a write changes, through whatever views: `x` of `x[0].t().mul_(2)`; '' if no write."""
    match node:
        case ast.AugAssign(target=target):
            return root(target)
        case ast.Subscript(ctx=ast.Store()):
            return root(node)
        case ast.Call():
            operand = _operand(source, node)
            return root(operand) if operand is not None else ""
    return ""


def _operand(source: Source, call: ast.Call) -> ast.expr | None:
    """What a call writes to: `out=`, the first argument of a function, or a method's own tensor."""
    for keyword in call.keywords:
        if keyword.arg == "out":
            return keyword.value
    if flag_of(call) is not None and path_of(call.func).rpartition(".")[2].islower():
        return call.args[0] if call.args else None
    if not in_place(call):
        return None
    if isinstance(call.func, ast.Attribute) and not is_module(source, call.func.value):
        return call.func.value
    return call.args[0] if call.args else None


def with_gradient(source: Source, statement: ast.stmt) -> ast.stmt:
    """The statement, or the outermost block around it in its function in which no graph is recorded."""
    return [one for one in holders(source, statement) if one is statement or without_gradient(one)][-1]


def without_gradient(statement: ast.AST) -> bool:
    """Whether a statement is a `with torch.no_grad():` or one of its kind."""
    if not isinstance(statement, (ast.With, ast.AsyncWith)):
        return False
    return any(may_switch_off(node) for item in statement.items for node in ast.walk(item.context_expr))


def neighbours(source: Source, node: ast.AST) -> list[ast.AST]:
    """The write with the writes that directly stand before and after it, in order."""
    statement = source.statement(node)
    block = block_of(source, statement)
    place = block.index(statement)
    first = last = place
    while first and _plain(block[first - 1]) is not None:
        first -= 1
    while last + 1 < len(block) and _plain(block[last + 1]) is not None:
        last += 1
    found = [node if one is statement else _plain(one) for one in block[first : last + 1]]
    return [one for one in found if one is not None]


def flag_of(call: ast.Call) -> ast.expr | None:
    """The `True` that makes a call work in place, by keyword or by its position."""
    name = path_of(call.func).rpartition(".")[2]
    place = INPLACE.get(name, len(call.args))
    found = call.args[place : place + 1] + [keyword.value for keyword in call.keywords if keyword.arg == "inplace"]
    return next((value for value in found if isinstance(value, ast.Constant) and value.value is True), None)


def is_module(source: Source, node: ast.expr) -> bool:
    """Whether a name is that of an imported module and not of a tensor."""
    return path_of(node).partition(".")[0] in source.imported


def root(node: ast.expr) -> str:
    """The variable at the bottom of subscripts, views and calls of methods."""
    while True:
        if isinstance(node, ast.Subscript):
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            node = node.func.value
        elif isinstance(node, ast.Attribute) and (node.attr in VIEWS or not path_of(node)):
            node = node.value
        else:
            return path_of(node)


def shown(value: ast.expr) -> ast.expr:
    """The variable whose tensor a value is, or a part of it: `self.mesh` of `self.mesh.to(device)[1:].mul_(2)`."""
    while not path_of(value):
        match value:
            case ast.Call(ast.Attribute(inner, attr)) if attr in vocabulary.SHARING or vocabulary.writes(attr):
                value = inner
            case ast.Subscript(inner) | ast.Attribute(inner):
                value = inner
            case _:
                break
    return value


def in_place(call: ast.Call) -> bool:
    """Whether a call is of a method or function that writes, by torch's naming convention."""
    return vocabulary.writes(name_of(call))


def filling(source: Source, node: ast.AST, stack: Iterable[Frame]) -> ast.For | ast.While | None:
    """The outermost loop of the pass of `stack` that only writes into the variable written, and never binds it."""
    name, found = written(source, node), None
    for loop in loops(source, with_gradient(source, source.statement(node))):
        uses = (one for one in ast.walk(loop) if isinstance(one, ast.Name) and one.id == name)
        if passed(source, loop, stack) or not all(isinstance(one.ctx, ast.Load) for one in uses):
            break
        found = loop
    return found


def _plain(statement: ast.stmt) -> ast.AST | None:
    """The write that a statement consists of."""
    match statement:
        case ast.AugAssign(target=ast.Name() | ast.Attribute()):
            return statement
        case ast.Expr(value=ast.Call() as call):
            return next((c for c in chain(call) if in_place(c)), None)
    return None


def chain(call: ast.expr) -> Iterator[ast.Call]:
    """The calls of methods one upon the other, the last first."""
    node: ast.expr = call
    while isinstance(node, ast.Call):
        yield node
        if not isinstance(node.func, ast.Attribute):
            return
        node = node.func.value


def together(source: Source, statement: ast.stmt) -> list[ast.stmt]:
    """The statement and the writes that directly follow it; zeroed gradients in between, but not at the end."""
    block = block_of(source, statement)
    first = last = block.index(statement)
    for place in range(first + 1, len(block)):
        if not is_write(block[place]) and not is_write(block[place], gradients=True):
            break
        last = place if is_write(block[place]) else last
    return block[first : last + 1]


def is_write(statement: ast.stmt, *, gradients: bool = False) -> bool:
    """Whether a statement surely writes to a tensor in place; to a `.grad` only if asked for."""
    match statement:
        case ast.AugAssign(target=target, value=value):
            sure = isinstance(target, ast.Subscript) or ".grad" in ast.unparse(value)
        case ast.Assign(targets=[ast.Subscript(value=target)]):
            sure = isinstance(target, (ast.Name, ast.Attribute)) and "[" not in ast.unparse(target)
        case ast.Expr(value=ast.Call() as call):
            target, sure = call, any(map(in_place, within(call)))
        case _:
            return False
    return sure and (".grad" in ast.unparse(target).split("(")[0]) == gradients


def written_part(source: Source, node: ast.AST) -> ast.expr | None:
    """The expression of the tensor behind a write: `p` of `p[0] = v`, `p.mul_(k).add_(z)`, `p += 1`."""
    found: ast.expr
    match node:
        case ast.AugAssign(target=target):
            found = target
        case ast.Assign(targets=[target]):
            found = target
        case ast.Expr(value=ast.Call() as call) | (ast.Call() as call):
            inside = list(filter(in_place, within(call)))
            if not inside or not isinstance(inside[-1].func, ast.Attribute):
                return None
            found = inside[-1].func.value
            if is_module(source, found):
                return inside[-1].args[0] if inside[-1].args else None
        case ast.Subscript():
            found = node
        case _:
            return None
    return whole(found)


def is_update(source: Source, node: ast.AST) -> bool:
    """Whether what is written is made of a gradient, as an optimizer's step is."""
    return any(isinstance(part, ast.Attribute) and part.attr == "grad" for part in ast.walk(source.statement(node)))


def under_no_grad(source: Source, node: ast.AST) -> bool:
    """Whether a node is in a block without gradients, or in a function that is decorated so."""
    if any(map(without_gradient, around(source, node))):
        return True
    return any(map(switches_off, getattr(source.function(node), "decorator_list", ())))
