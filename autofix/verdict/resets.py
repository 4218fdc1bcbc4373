"""What a class puts back to a start, and what it leaves as it is.

Read from the text of its methods: which attributes they bind, of which other attributes the new values are made, and
what is called from outside.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from autofix.syntax.source import Source
from autofix.syntax.sources import Sources

_STARTS = frozenset({"clone", "detach", "copy", "expand", "repeat", "to", "float", "new_zeros", "new_ones"})
"""Methods of tensors that give a start; others may give anything, as an environment does."""


def left_as_it_is(
    sources: Sources, source: Source, path: str, callers: Iterable[Source]
) -> Iterator[tuple[ast.expr, str, str]]:
    """Where an attribute (`self.speed`) gets a new value that is made of one that a method puts back to its start.

    With the name of that method, which one of `callers` calls, and the other attribute. That one is made of this in its
    turn, or what the method returns is.
    """
    for kind in (node for node in source.walk() if isinstance(node, ast.ClassDef)):
        methods = {one.name: one for one in kind.body if isinstance(one, ast.FunctionDef) and one.args.args}
        again = [one for name, one in methods.items() if name != "__init__"]
        for method in again:
            own, _, kept = path.partition(".")
            values = _values(method)
            if own != method.args.args[0].arg or kept not in {name for name, _ in values}:
                continue
            made = {
                name: _made_of(methods, method, [value for one, value in values if one == name]) for name, _ in values
            }
            given = _made_of(methods, method, [node.value for node in ast.walk(method) if isinstance(node, ast.Return)])
            tied = {one for one in made if one != kept and one in made[kept] and kept in made[one] | given}
            for reset in again:
                back = [name for name, value in _values(reset) if name in tied and _is_a_start(sources, source, value)]
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


def _made_of(
    methods: dict[str, ast.FunctionDef], method: ast.FunctionDef, values: Iterable[ast.expr | None]
) -> set[str]:
    """The attributes that values in a method are made of, through local names and methods that are called."""
    waiting, seen, found = [one for one in values if one is not None], set[str](), set[str]()
    bound = [
        (name.id, node.value)
        for node in ast.walk(method)
        if isinstance(node, ast.Assign)
        for target in node.targets
        for name in ast.walk(target)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
    ]
    while waiting:
        for node in ast.walk(waiting.pop()):
            found.add(_own(method, node))
            if isinstance(node, ast.Name) and node.id not in seen:
                seen.add(node.id)
                waiting += [value for name, value in bound if name == node.id]
    for called in found & methods.keys():
        found |= {_own(methods[called], node) for node in ast.walk(methods[called])}
    return found


def _is_a_start(sources: Sources, source: Source, value: ast.expr, asked: tuple[ast.AST, ...] = ()) -> bool:
    """Whether a value is read or made without asking anybody but torch, or a function that returns such a value."""
    for call in (node for node in ast.walk(value) if isinstance(node, ast.Call)):
        made, owner = call.func, call.func.value if isinstance(call.func, ast.Attribute) else None
        of_torch = isinstance(owner, ast.Name) and owner.id in {"torch", "np", "numpy"}
        if isinstance(made, ast.Attribute) and (made.attr in _STARTS or of_torch):
            continue
        found = sources.called(source, call)
        given = [node.value for node in ast.walk(found[1]) if isinstance(node, ast.Return)] if found is not None else []
        if found is None or found[1] in asked or not given:
            return False
        if not all(one and _is_a_start(sources, found[0], one, (*asked, found[1])) for one in given):
            return False
    return True


def _calls(method: ast.FunctionDef) -> set[str]:
    """The methods of its own object that a method calls."""
    return {_own(method, node.func) for node in ast.walk(method) if isinstance(node, ast.Call)}


def _is_called(source: Source, made: ast.FunctionDef | None, name: str) -> bool:
    """Whether a method is called elsewhere than where its object is made."""
    inside = set(ast.walk(made)) if made is not None else set()
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == name
        for node in source.walk()
        if node not in inside
    )
