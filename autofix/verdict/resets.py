"""What a class puts back to a start, and what it leaves as it is.

Read from the text of its methods: which attributes they bind, of which other attributes the new values are made, and
what is called from outside.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from autofix.syntax.source import Source

_STARTS = frozenset({"clone", "detach", "copy", "expand", "repeat", "to", "float", "new_zeros", "new_ones"})
"""Methods of tensors that give a start; others may give anything, as an environment does."""


def left_as_it_is(source: Source, path: str, callers: Iterable[Source]) -> Iterator[tuple[ast.expr, str, str]]:
    """Where an attribute (`self.speed`) gets a new value that is made of one that a method puts back to its start.

    With the name of that method, which one of `callers` calls, and the other attribute. Both are made of each other.
    """
    for kind in (node for node in source.walk() if isinstance(node, ast.ClassDef)):
        methods = {one.name: one for one in kind.body if isinstance(one, ast.FunctionDef) and one.args.args}
        again = [one for name, one in methods.items() if name != "__init__"]
        for method in again:
            own, _, kept = path.partition(".")
            values = _values(method)
            if own != method.args.args[0].arg or kept not in {name for name, _ in values}:
                continue
            made = {name: _made_of(methods, method, name) for name, _ in values}
            tied = {name for name in made if name != kept and name in made[kept] and kept in made[name]}
            for reset in again:
                back = [name for name, value in _values(reset) if name in tied and _is_a_start(value)]
                left = reset is not method and kept not in _set(reset) and not _calls(reset) & methods.keys()
                if back and left and any(_is_called(one, methods.get("__init__"), reset.name) for one in callers):
                    yield next(value for name, value in values if name == kept), reset.name, f"{own}.{back[0]}"


def _values(method: ast.FunctionDef) -> list[tuple[str, ast.expr]]:
    """The attributes of its object that a method binds, each with the new value, or with the tuple that it is of."""
    return [
        (name, node.value)
        for node in ast.walk(method)
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and node.value is not None
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        for one in (target.elts if isinstance(target, ast.Tuple) else [target])
        if (name := _own(method, one))
    ]


def _set(method: ast.FunctionDef) -> set[str]:
    """The attributes that a method binds, or says something to (`self.cache.clear()`)."""
    told = (n.func.value for n in ast.walk(method) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute))
    return {name for name, _ in _values(method)} | {_own(method, one) for one in told}


def _own(method: ast.FunctionDef, node: ast.AST) -> str:
    """The name of an attribute of the object that a method belongs to; '' of anything else."""
    mine = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    return node.attr if mine and node.value.id == method.args.args[0].arg else ""  # type: ignore[attr-defined]


def _made_of(methods: dict[str, ast.FunctionDef], method: ast.FunctionDef, name: str) -> set[str]:
    """The attributes that the new values of one are made of, through local names and methods that are called."""
    waiting, seen, found = [value for one, value in _values(method) if one == name], set[str](), set[str]()
    bound = [node for node in ast.walk(method) if isinstance(node, ast.Assign)]
    while waiting:
        for node in ast.walk(waiting.pop()):
            found.add(_own(method, node))
            if isinstance(node, ast.Name) and node.id not in seen:
                seen.add(node.id)
                waiting += [one.value for one in bound if node.id in map(ast.unparse, one.targets)]
    for called in found & methods.keys():
        found |= {_own(methods[called], node) for node in ast.walk(methods[called])}
    return found


def _is_a_start(value: ast.expr) -> bool:
    """Whether a value is read or made without asking anybody but torch."""
    calls = [node.func for node in ast.walk(value) if isinstance(node, ast.Call)]
    return all(
        isinstance(one, ast.Attribute)
        and (one.attr in _STARTS or (isinstance(one.value, ast.Name) and one.value.id in {"torch", "np", "numpy"}))
        for one in calls
    )


def _calls(node: ast.AST) -> set[str]:
    return {
        one.func.attr for one in ast.walk(node) if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute)
    }


def _is_called(source: Source, made: ast.FunctionDef | None, name: str) -> bool:
    """Whether a method is called elsewhere than where its object is made."""
    inside = set(ast.walk(made)) if made is not None else set()
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == name
        for node in source.walk()
        if node not in inside
    )
