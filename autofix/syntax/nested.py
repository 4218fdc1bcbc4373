"""Nested values: the statement that cuts the graph of all tensors in one, read off the form that the probe saw."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from autofix.core.edit import Declined

TENSORS = ("tensor", "parameter")
"""The forms of what is no container."""
UNKNOWN = "..."
"""The form of what holds no tensor, or holds it in a way that cannot be told."""
IMPORTED = ("dataclasses.replace", "collections.deque")
"""What a statement may call that its file has to import."""
_NAMES = ("t", "s", "r", "q", "p", "o")


def cut_statement(path: str, form: str) -> str:
    """What leaves the variable `path` its values and none of their graphs; raises Declined if that cannot be told."""
    if form == "parameter":
        return f"{path}.detach_()"
    parsed = ast.parse(form, mode="eval").body
    if not _carries(parsed):
        raise Declined(f"{path} holds no tensor that is known")
    match parsed:
        case ast.Call(func=ast.Name(id="mapping"), args=[inner]):
            return f"{path}.update({{k: {_cut('v', inner, _depth(inner))} for k, v in {path}.items()}})"
    return f"{path} = {_cut(path, parsed, _depth(parsed))}"


def copied(path: str, form: str) -> str:
    """An expression of the same form, with copies of its tensors that keep their graphs."""
    if form in TENSORS:
        return f"{path}.clone()"
    parsed = ast.parse(form, mode="eval").body
    for one in (node for node in ast.walk(parsed) if _is_name(node, "bare")):
        one.id = "tensor"
    return _cut(path, parsed, _depth(parsed)).replace(".detach()", ".clone()")


def is_container(form: str) -> bool:
    """Whether a form is that of a container which can be emptied."""
    return form.startswith(("[", "{", "mapping", "deque"))


def kinds(form: str) -> set[str]:
    """The words of a form that are no lists and tuples: dict, mapping, deque, named, data."""
    nodes = list(ast.walk(ast.parse(form, mode="eval")))
    called = {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    return called | ({"dict"} if any(isinstance(node, ast.Dict) for node in nodes) else set())


def is_flat(form: str) -> bool:
    """Whether a form is that of a list or tuple of nothing but tensors."""
    return form in ("[*tensor]", "(*tensor,)")


def rebuilds(form: str) -> bool:
    """Whether a statement that cuts a container of that form makes each of its records anew, field by field."""
    parsed = ast.parse(form, mode="eval").body
    return "data" in kinds(form) or any(_fields(one) for one in ast.walk(parsed) if one is not parsed and _carries(one))


def of_each(form: str) -> str:
    """The form of what a container takes, '' where that is not one for all."""
    match ast.parse(form, mode="eval").body:
        case (
            ast.List(elts=[ast.Starred(value=inner)])
            | ast.Tuple(elts=[ast.Starred(value=inner)])
            | ast.Dict(keys=[None], values=[inner])
            | ast.Call(func=ast.Name(id="mapping" | "deque"), args=[inner])
        ):
            return ast.unparse(inner)
    return ""


def cut_parts(item: ast.expr, form: str) -> Iterator[tuple[ast.expr, str]]:
    """The parts of an expression, whose value has that form, that have a graph, each with what is put in its place."""
    yield from _cut_parts(item, ast.parse(form, mode="eval").body)


def _cut_parts(item: ast.expr, form: ast.expr) -> Iterator[tuple[ast.expr, str]]:
    fields = _fields(form)
    given = _given(item, list(fields))
    if given and given.keys() <= fields.keys():
        for name, part in given.items():
            yield from _cut_parts(part, fields[name])
    elif isinstance(item, (ast.Tuple, ast.List)) and (inner := of_each(ast.unparse(form))):
        for part in item.elts:
            yield from cut_parts(part, inner)
    elif _carries(form):
        yield item, _cut(ast.unparse(item), form, _depth(form))


def _fields(form: ast.AST) -> dict[object, ast.expr]:
    """The forms of the parts of what has a certain number of them, by their places, keys or names."""
    match form:
        case ast.List(elts=items) | ast.Tuple(elts=items) if not any(isinstance(one, ast.Starred) for one in items):
            return dict(enumerate(items))
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            return {key.value: value for key, value in pairs if isinstance(key, ast.Constant)}
        case ast.Call(keywords=words):
            return {word.arg: word.value for word in words}
    return {}


def _given(item: ast.expr, names: list[object]) -> dict[object, ast.expr]:
    """What an expression puts together, by the places, keys or names of the parts."""
    if any(isinstance(one, ast.Starred) for one in ast.iter_child_nodes(item)):
        return {}
    match item:
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return dict(enumerate(items))
        case ast.Dict():
            return _fields(item)
        case ast.Call(args=args, keywords=words):
            return {**dict(zip(names, args, strict=False)), **{word.arg: word.value for word in words}}
    return {}


def _cut(path: str, form: ast.expr, depth: int) -> str:
    """The expression; `depth`: how many containers lie in each other, from which loops take their variables."""
    one = _NAMES[max(depth - 2, 0)]
    if not _carries(form):
        return path
    match form:
        case ast.Name(id="tensor"):
            return f"{path}.detach()"
        case ast.BoolOp(values=[*others, last]):
            cases = "".join(f"{_cut(path, one, depth)} if {_test(path, one)} else " for one in others)
            return f"{cases}{_cut(path, last, depth)}"
        case ast.List(elts=[ast.Starred(value=inner)]):
            return f"[{_cut(one, inner, depth - 1)} for {one} in {path}]"
        case ast.Tuple(elts=[ast.Starred(value=inner)]):
            return f"tuple({_cut(one, inner, depth - 1)} for {one} in {path})"
        case ast.List(elts=items):
            return f"[{_items(path, items, depth)}]"
        case ast.Tuple(elts=items):
            return f"({_items(path, items, depth)}{',' * (len(items) == 1)})"
        case ast.Dict(keys=[None], values=[inner]):
            return f"{{k: {_cut('v', inner, depth - 1)} for k, v in {path}.items()}}"
        case ast.Call(func=ast.Name(id="deque"), args=[inner]):
            return f"collections.deque(({_cut(one, inner, depth - 1)} for {one} in {path}), maxlen={path}.maxlen)"
    return _by_name(path, form, depth - 1)


def _by_name(path: str, form: ast.expr, depth: int) -> str:
    """Where each part has a name, those that hold tensors are replaced."""
    match form:
        case ast.Dict(keys=keys, values=values):
            parts = {f"[{ast.unparse(key)}]": value for key, value in zip(keys, values, strict=True) if key is not None}
        case ast.Call(keywords=words):
            parts = {f".{word.arg}": word.value for word in words}
        case _:
            parts = {}
    changed = {name: _cut(path + name, part, depth) for name, part in parts.items() if _carries(part)}
    match form:
        case ast.Dict():
            return f"{{**{path}, {', '.join(f'{name[1:-1]}: {text}' for name, text in changed.items())}}}"
        case ast.Call(func=ast.Name(id="named" | "data" as kind)):
            texts = ", ".join(f"{name[1:]}={text}" for name, text in changed.items())
            return f"{path}._replace({texts})" if kind == "named" else f"dataclasses.replace({path}, {texts})"
    raise Declined(f"{path} holds its tensors in a way that cannot be rebuilt")


def _test(path: str, form: ast.expr) -> str:
    """What tells that the variable `path` has this form, and none of those that follow it."""
    for kind, built in ((ast.Tuple, "tuple"), (ast.List, "list"), (ast.Dict, "dict")):
        if isinstance(form, kind):
            return f"isinstance({path}, {built})"
    if isinstance(form, ast.Constant):
        return f"{path} is None"
    raise Declined(f"the types of what {path} holds do not tell which of it is a tensor")


def _items(path: str, items: list[ast.expr], depth: int) -> str:
    return ", ".join(_cut(f"{path}[{at}]", item, depth - 1) for at, item in enumerate(items))


def _carries(form: ast.AST) -> bool:
    """Whether a form holds a tensor with a graph."""
    return any(_is_name(node, "tensor") for node in ast.walk(form))


def _is_name(node: ast.AST, name: str) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and node.id == name


def _depth(form: ast.AST) -> int:
    """How many containers of a form lie in each other, tensors counted as one."""
    inner = max((_depth(one) for one in ast.iter_child_nodes(form)), default=0)
    kinds = (ast.List, ast.Tuple, ast.Dict, ast.Call)
    return inner + isinstance(form, kinds) + _is_name(form, "tensor")
