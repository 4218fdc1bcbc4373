"""In-place writes said without writing: as a value that the variable then takes, or on a copy."""

from __future__ import annotations

import ast

from autofix.core.edit import Declined
from autofix.syntax.apply import apply
from autofix.syntax.calls import name_of, path_of
from autofix.syntax.edits.calls import remove_keyword, set_keyword
from autofix.syntax.edits.expressions import append_call, aug_to_assign, bind, rename, replace
from autofix.syntax.edits.imports import ensure_import
from autofix.syntax.edits.statements import insert_before, replace_statement
from autofix.syntax.edits.steps import Step, rendered
from autofix.syntax.names import binds
from autofix.syntax.source import Source
from autofix.syntax.vocabulary import VIEWS
from autofix.syntax.writes import chain, flag_of, in_place, is_module, root, with_gradient, written

_ONLY_IN_PLACE = frozenset({
    "zero_", "fill_", "copy_", "normal_", "uniform_", "random_", "exponential_", "cauchy_", "geometric_", "log_normal_",
})  # fmt: skip
"""Methods that only write: torch has no form of them that gives a new tensor."""


def out_of_place(source: Source, node: ast.AST) -> list[Step]:
    """The write as an expression whose value the variable then takes; declines where it has none."""
    match node:
        case ast.AugAssign(target=ast.Name() | ast.Attribute()):
            return aug_to_assign(source, node)
        case ast.AugAssign(target=ast.Subscript(value=holder)) if _is_container(source, node, path_of(holder)):
            return aug_to_assign(source, node)
        case ast.AugAssign() | ast.Subscript():
            raise Declined("a write to a part of a tensor cannot be written out of place")
        case ast.Call():
            return _call(source, node)
    raise Declined("this write cannot be written out of place")


def clone_before(source: Source, node: ast.AST, around: ast.stmt | None = None) -> list[Step]:
    """The same write, to a copy that the variable holds from then on; `around`: what holds the write, for one copy."""
    name = written(source, node)
    if not name:
        raise Declined("the tensor that it writes to has no name")
    place = around or with_gradient(source, source.statement(node))
    if name in binds(place) - binds(source.statement(node)):
        raise Declined(f"{name} gets its value inside the block, so it cannot be copied before it")
    return insert_before(source, place, [f"{name} = {name}.clone()"])


def not_inplace(source: Source, call: ast.Call) -> list[Step]:
    """The call with its flag `inplace` off; nothing where it is not plainly on."""
    flag = flag_of(call)
    if flag is None:
        return []
    if any(keyword.value is flag for keyword in call.keywords):
        return set_keyword(source, call, "inplace", "False")
    return replace(source, flag, "False")


def value_after(source: Source, node: ast.AST) -> str:
    """What the variable holds after the write, as one expression."""
    changed = Source(source.path, apply(source, rendered(out_of_place(source, node))), source)
    place = source.extent(source.statement(node))[0]
    for one in (inside for statement in source.apart(changed)[1] for inside in ast.walk(statement)):
        if isinstance(one, ast.Assign) and changed.extent(one)[0] == place:
            return changed.segment(one.value)
    raise Declined("its value is no expression")


def _is_container(source: Source, node: ast.AST, path: str) -> bool:
    """Whether a local name, or an attribute, is a list or dict wherever it is bound: an item is no part of a tensor."""
    around = source.walk(None if "." in path else source.function(node))
    held = (one for one in around if isinstance(one, (ast.Name, ast.Attribute)) and isinstance(one.ctx, ast.Store))
    stores = [one for one in held if path and path_of(one) == path]
    makers = (source.parent(one) for one in stores)
    return bool(stores) and all(
        isinstance(maker, (ast.Assign, ast.AnnAssign)) and maker.value is not None and _makes_container(maker.value)
        for maker in makers
    )


def _makes_container(value: ast.expr) -> bool:
    called = path_of(value.func) if isinstance(value, ast.Call) else ""
    return called in ("list", "dict") or isinstance(value, (ast.List, ast.ListComp, ast.Dict, ast.DictComp))


def _call(source: Source, node: ast.Call) -> list[Step]:
    last = node
    while isinstance(parent := source.parent(last), ast.Attribute) and isinstance(
        caller := source.parent(parent), ast.Call
    ):
        last = caller
    alone = isinstance(source.parent(last), ast.Expr)
    if flag_of(node) is not None:
        return [*_bound(source, node, root(node.args[0]) if node.args else "", alone=alone), *not_inplace(source, node)]
    if any(keyword.arg == "out" for keyword in node.keywords):
        name = _target(source, next(keyword.value for keyword in node.keywords if keyword.arg == "out"))
        return [*_bound(source, node, name, alone=alone), *remove_keyword(source, node, "out")]
    if not in_place(node) or not isinstance(node.func, ast.Attribute):
        raise Declined("it is not known whether the call writes in place")
    if is_module(source, node.func.value):
        name = _target(source, node.args[0]) if node.args else ""
        return [*_bound(source, last, name, alone=alone), *_renamed(source, node)]
    return _method(source, list(chain(last)), alone=alone)


def _method(source: Source, chain: list[ast.Call], *, alone: bool) -> list[Step]:
    """`x.mul_(k).add_(z)` as `x = x.mul(k).add(z)`, or as a value where it is used as one."""
    first = chain[-1]
    if not isinstance(first.func, ast.Attribute):
        raise Declined("the tensor that it writes to has no name")
    name = _target(source, first.func.value) if alone else ""
    if alone and not all(map(in_place, chain)):
        raise Declined("it writes to a view of the tensor")
    if alone and len(chain) == 1 and (new := _overwritten(source, first, name)) is not None:
        return new
    first_write, *others = reversed([call for call in chain if in_place(call)])
    anew = _filled(source, first_write) if name_of(first_write) in _ONLY_IN_PLACE else _renamed(source, first_write)
    # What is filled behind another write fills the new tensor that this one makes.
    renamed = [e for call in others if name_of(call) not in _ONLY_IN_PLACE for e in _renamed(source, call)]
    return [*_bound(source, chain[0], name, alone=alone), *anew, *renamed]


def _filled(source: Source, call: ast.Call) -> list[Step]:
    """A write that has no form out of place, to a tensor of its own: `torch.zeros_like(x)` for `x.zero_()`."""
    if name_of(call) in ("zero_", "fill_"):
        torch, imports = ensure_import(source, "torch")
        return [*imports, *replace(source, call, f"{torch}.{_like(source, call)}")]
    if isinstance(call.func, ast.Attribute):
        return append_call(source, call.func.value, ".clone()")
    raise Declined("the tensor that it writes to has no name")


def _overwritten(source: Source, call: ast.Call, name: str) -> list[Step] | None:
    """A write that leaves nothing of what was there: the variable takes the new value itself."""
    method = getattr(call.func, "attr", "")
    if method == "copy_" and len(call.args) == 1 and not call.keywords:
        value = call.args[0]
        copy = "" if isinstance(value, (ast.Call, ast.BinOp)) else ".clone()"
        return replace_statement(source, source.statement(call), [f"{name} = {source.segment(value)}{copy}"])
    if method in ("zero_", "fill_"):
        torch, imports = ensure_import(source, "torch")
        made = f"{name} = {torch}.{_like(source, call)}"
        return [*imports, *replace_statement(source, source.statement(call), [made])]
    return None


def _like(source: Source, call: ast.Call) -> str:
    """What `zero_()` and `fill_(v)` leave, as a call of a function of torch's."""
    held = source.segment(call.func.value) if isinstance(call.func, ast.Attribute) else ""
    filled = f", {source.segment(call.args[0])}" if name_of(call) == "fill_" and call.args else ""
    return f"{'full' if filled else 'zeros'}_like({held}{filled})"


def _target(source: Source, node: ast.expr) -> str:
    """The written operand as something that can be assigned to without writing to a tensor."""
    path = path_of(node)
    if not path or (isinstance(node, ast.Attribute) and node.attr in (*VIEWS, "data", "grad")):
        raise Declined(f"{source.segment(node)} cannot be assigned a new tensor")
    return path


def _bound(source: Source, call: ast.Call, name: str, *, alone: bool) -> list[Step]:
    """Keep the value of a call that stands alone in the variable it wrote to."""
    if not alone:
        return []
    if not name:
        raise Declined("the tensor that it writes to has no name")
    statement = source.statement(call)
    return bind(source, statement, name) if isinstance(statement, ast.Expr) else []


def _renamed(source: Source, call: ast.Call) -> list[Step]:
    """`mul_` as `mul`."""
    return rename(source, call.func, name_of(call)[:-1]) if isinstance(call.func, (ast.Name, ast.Attribute)) else []
