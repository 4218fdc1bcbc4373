"""In-place writes: what they write to, and the edits that say the same without writing."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from autofix.edit import Declined, Edit
from autofix.rewrite.apply import apply, edit
from autofix.rewrite.calls import remove_keyword, set_keyword
from autofix.rewrite.expressions import aug_to_assign, replace
from autofix.rewrite.flow import binds, path_of
from autofix.rewrite.imports import ensure_import
from autofix.rewrite.layout import block_of, indent_of, run_of, shifted, start_of
from autofix.rewrite.parentheses import outer
from autofix.rewrite.statements import insert_before
from autofix.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterator

POSITIONS = {
    "relu": 1, "relu6": 1, "selu": 1, "silu": 1, "mish": 1, "hardswish": 1, "hardsigmoid": 1, "leaky_relu": 2,
    "elu": 2, "celu": 2, "threshold": 3, "hardtanh": 3, "dropout": 3, "alpha_dropout": 3, "dropout1d": 3,
    "dropout2d": 3, "dropout3d": 3, "rrelu": 4,
    "ReLU": 0, "ReLU6": 0, "SELU": 0, "SiLU": 0, "Mish": 0, "Hardswish": 0, "Hardsigmoid": 0, "LeakyReLU": 1,
    "ELU": 1, "CELU": 1, "Dropout": 1, "Dropout1d": 1, "Dropout2d": 1, "Dropout3d": 1, "AlphaDropout": 1,
    "Hardtanh": 2, "Threshold": 2, "RReLU": 2,
}  # fmt: skip
"""Where `inplace` stands among the arguments of torch's functions and modules that take it."""
_VIEW_ATTRIBUTES = ("T", "H", "mT", "mH", "real", "imag")
_NO_GRADIENT = ("no_grad", "inference_mode", "set_grad_enabled")


def written(source: Source, node: ast.AST) -> str:
    """The variable whose tensor a write changes, through whatever views: `x` of `x[0].t().mul_(2)`; '' if no write."""
    match node:
        case ast.AugAssign(target=target):
            return _root(target)
        case ast.Subscript(ctx=ast.Store()):
            return _root(node)
        case ast.Call():
            operand = _operand(source, node)
            return _root(operand) if operand is not None else ""
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


def out_of_place(source: Source, node: ast.AST) -> list[Edit]:
    """The write as an expression whose value the variable then takes; declines where it has none."""
    match node:
        case ast.AugAssign(target=ast.Name() | ast.Attribute()):
            return aug_to_assign(source, node)
        case ast.AugAssign(target=ast.Subscript(value=ast.Name(id=holder))) if _is_container(source, node, holder):
            return aug_to_assign(source, node)
        case ast.AugAssign() | ast.Subscript():
            raise Declined("a write to a part of a tensor has no form without writing")
        case ast.Call():
            return _call(source, node)
    raise Declined("it is no write that can be said otherwise")


def _is_container(source: Source, node: ast.AST, name: str) -> bool:
    """Whether a local name is a list or a dict wherever it is bound: an item then is a tensor, not a part of one."""
    around = ast.walk(source.function(node) or source.tree)
    stores = [one for one in around if isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Store)]
    makers = (source.parent(one) for one in stores)
    return bool(stores) and all(
        isinstance(maker, (ast.Assign, ast.AnnAssign)) and maker.value is not None and _makes_container(maker.value)
        for maker in makers
    )


def _makes_container(value: ast.expr) -> bool:
    called = path_of(value.func) if isinstance(value, ast.Call) else ""
    return called in ("list", "dict") or isinstance(value, (ast.List, ast.ListComp, ast.Dict, ast.DictComp))


def clone_before(source: Source, node: ast.AST) -> list[Edit]:
    """The same write, to a copy that the variable holds from then on."""
    name = written(source, node)
    if not name:
        raise Declined("what it writes to has no name")
    place = with_gradient(source, source.statement(node))
    if name in binds(place) - binds(source.statement(node)):
        raise Declined(f"{name} is bound inside the block before which it would be copied")
    return insert_before(source, place, [f"{name} = {name}.clone()"])


def with_gradient(source: Source, statement: ast.stmt) -> ast.stmt:
    """The statement, or the outermost block around it in its function in which no graph is recorded."""
    found, holder = statement, source.parent(statement)
    while isinstance(holder, ast.stmt) and not isinstance(holder, (ast.FunctionDef, ast.AsyncFunctionDef)):
        if without_gradient(holder):
            found = holder
        holder = source.parent(holder)
    return found


def without_gradient(statement: ast.AST) -> bool:
    """Whether a statement is a `with torch.no_grad():` or one of its kind."""
    if not isinstance(statement, (ast.With, ast.AsyncWith)):
        return False
    return any(word in ast.unparse(item.context_expr) for item in statement.items for word in _NO_GRADIENT)


def neighbours(source: Source, node: ast.AST) -> list[ast.AST]:
    """The write with the writes that directly stand before and after it, in order."""
    statement = source.statement(node)
    holder = source.parent(statement)
    blocks = (getattr(holder, name, None) for name in ("body", "orelse", "finalbody"))
    block = next((b for b in blocks if isinstance(b, list) and statement in b), [statement])
    place = block.index(statement)
    first = last = place
    while first and _plain(block[first - 1]) is not None:
        first -= 1
    while last + 1 < len(block) and _plain(block[last + 1]) is not None:
        last += 1
    found = [node if one is statement else _plain(one) for one in block[first : last + 1]]
    return [one for one in found if one is not None]


def not_inplace(source: Source, call: ast.Call) -> list[Edit]:
    """The call with its flag `inplace` off; nothing where it is not plainly on."""
    flag = flag_of(call)
    if flag is None:
        return []
    if any(keyword.value is flag for keyword in call.keywords):
        return set_keyword(source, call, "inplace", "False")
    return replace(source, flag, "False")


def flag_of(call: ast.Call) -> ast.expr | None:
    """The `True` that makes a call work in place, by keyword or by its position."""
    name = path_of(call.func).rpartition(".")[2]
    place = POSITIONS.get(name, len(call.args))
    found = call.args[place : place + 1] + [keyword.value for keyword in call.keywords if keyword.arg == "inplace"]
    return next((value for value in found if isinstance(value, ast.Constant) and value.value is True), None)


def value(source: Source, node: ast.AST) -> str:
    """What the variable holds after the write, as one expression."""
    changed = Source(source.path, apply(source, out_of_place(source, node)))
    place = source.extent(source.statement(node))[0]
    for one in ast.walk(changed.tree):
        if isinstance(one, ast.Assign) and changed.extent(one)[0] == place:
            return changed.segment(one.value)
    raise Declined("its value is no expression")


def around(source: Source, node: ast.expr, before: str, after: str) -> list[Edit]:
    """Text before and after an expression and the parentheses that are its own."""
    start, end = outer(source, node)
    return [edit(source, start, start, before), edit(source, end, end, after)]


def unwrapped(source: Source, block: ast.With) -> list[Edit]:
    """The statements of a `with` block without it."""
    if len(block.items) > 1:
        raise Declined("it is under more than one context")
    inner = run_of(source, block.body)
    start, first = start_of(source, block), start_of(source, block.body[0])
    moved = shifted(source, first, inner.line_end[0], inner.indent, indent_of(source, block_of(source, block)))
    return [edit(source, start, first, ""), *(edit(source, *change) for change in moved)]


def without_line(source: Source, decorator: ast.expr) -> list[Edit]:
    """The function without a decorator."""
    return [edit(source, source.index(decorator.lineno, 0), source.index((decorator.end_lineno or 0) + 1, 0), "")]


def is_module(source: Source, node: ast.expr) -> bool:
    """Whether a name is that of an imported module and not of a tensor."""
    name = path_of(node).partition(".")[0]
    imports = (n for n in ast.walk(source.tree) if isinstance(n, (ast.Import, ast.ImportFrom)))
    return bool(name) and any((a.asname or a.name.partition(".")[0]) == name for n in imports for a in n.names)


def _root(node: ast.expr) -> str:
    """The variable at the bottom of subscripts, views and calls of methods."""
    while True:
        if isinstance(node, ast.Subscript):
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            node = node.func.value
        elif isinstance(node, ast.Attribute) and (node.attr in _VIEW_ATTRIBUTES or not path_of(node)):
            node = node.value
        else:
            return path_of(node)


def in_place(call: ast.Call) -> bool:
    """Whether a call is of a method or function that writes, by torch's naming convention."""
    name = path_of(call.func).rpartition(".")[2] or getattr(call.func, "attr", "")
    return name.endswith("_") and not name.endswith("__") and name != "requires_grad_"


def _plain(statement: ast.stmt) -> ast.AST | None:
    """The write that a statement consists of."""
    match statement:
        case ast.AugAssign(target=ast.Name() | ast.Attribute()):
            return statement
        case ast.Expr(value=ast.Call() as call):
            return next((c for c in _chain(call) if in_place(c)), None)
    return None


def _chain(call: ast.expr) -> Iterator[ast.Call]:
    """The calls of methods one upon the other, the last first."""
    node: ast.expr = call
    while isinstance(node, ast.Call):
        yield node
        if not isinstance(node.func, ast.Attribute):
            return
        node = node.func.value


def _call(source: Source, node: ast.Call) -> list[Edit]:
    last = node
    while isinstance(parent := source.parent(last), ast.Attribute) and isinstance(
        caller := source.parent(parent), ast.Call
    ):
        last = caller
    alone = isinstance(source.parent(last), ast.Expr)
    if flag_of(node) is not None:
        return [
            *_bound(source, node, _root(node.args[0]) if node.args else "", alone=alone),
            *not_inplace(source, node),
        ]
    if any(keyword.arg == "out" for keyword in node.keywords):
        name = _target(source, next(keyword.value for keyword in node.keywords if keyword.arg == "out"))
        return [*_bound(source, node, name, alone=alone), *remove_keyword(source, node, "out")]
    if not in_place(node) or not isinstance(node.func, ast.Attribute):
        raise Declined("the call is not known to write in place")
    if is_module(source, node.func.value):
        name = _target(source, node.args[0]) if node.args else ""
        return [*_bound(source, last, name, alone=alone), *_renamed(source, node)]
    return _method(source, list(_chain(last)), alone=alone)


def _method(source: Source, chain: list[ast.Call], *, alone: bool) -> list[Edit]:
    """`x.mul_(k).add_(z)` as `x = x.mul(k).add(z)`, or as a value where it is used as one."""
    first = chain[-1]
    if not isinstance(first.func, ast.Attribute):
        raise Declined("what it writes to has no name")
    name = _target(source, first.func.value) if alone else ""
    if alone and not all(map(in_place, chain)):
        raise Declined("it writes through a view")
    if alone and len(chain) == 1 and (new := _overwritten(source, first, name)) is not None:
        return new
    writes = [call for call in chain if in_place(call)]
    return [*_bound(source, chain[0], name, alone=alone), *(e for call in writes for e in _renamed(source, call))]


def _overwritten(source: Source, call: ast.Call, name: str) -> list[Edit] | None:
    """A write that leaves nothing of what was there: the variable takes the new value itself."""
    method = getattr(call.func, "attr", "")
    if method == "copy_" and len(call.args) == 1 and not call.keywords:
        value = call.args[0]
        copy = "" if isinstance(value, (ast.Call, ast.BinOp)) else ".clone()"
        return _assigned(source, call, name, source.segment(value) + copy)
    if method in ("zero_", "fill_"):
        torch, imports = ensure_import(source, "torch")
        filled = f", {source.segment(call.args[0])}" if method == "fill_" and call.args else ""
        made = f"{torch}.{'full' if filled else 'zeros'}_like({name}{filled})"
        return [*imports, *_assigned(source, call, name, made)]
    return None


def _assigned(source: Source, call: ast.Call, name: str, value: str) -> list[Edit]:
    start, end = source.extent(source.statement(call))
    return [edit(source, start, end, f"{name} = {value}")]


def _target(source: Source, node: ast.expr) -> str:
    """The written operand as something that can be assigned to without writing to a tensor."""
    path = path_of(node)
    if not path or (isinstance(node, ast.Attribute) and node.attr in (*_VIEW_ATTRIBUTES, "data", "grad")):
        raise Declined(f"{source.segment(node)} cannot take another tensor")
    return path


def _bound(source: Source, call: ast.Call, name: str, *, alone: bool) -> list[Edit]:
    """Keep the value of a call that stands alone in the variable it wrote to."""
    if not alone:
        return []
    if not name:
        raise Declined("what it writes to has no name")
    start = source.extent(source.statement(call))[0]
    return [edit(source, start, start, f"{name} = ")]


def _renamed(source: Source, call: ast.Call) -> list[Edit]:
    """`mul_` as `mul`."""
    end = source.extent(call.func)[1]
    return [edit(source, end - 1, end, "")]
