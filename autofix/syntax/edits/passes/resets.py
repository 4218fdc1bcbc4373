"""What a class puts back to a start, and what it leaves as it is.

Read from the text of its methods: which attributes they bind, of which other attributes the new values are made, and
what is called from outside.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from autofix.syntax import calls, names, vocabulary
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources

_STARTS = frozenset({"clone", "detach", "copy", "expand", "repeat", "to", "float", "new_zeros", "new_ones"})
"""Methods of tensors that give a start; others may give anything, as an environment does."""


@dataclass(frozen=True, slots=True)
class InPart:
    """A method that puts `other` of its object back to its start, and leaves an attribute that is made of it.

    `value` is what that one becomes elsewhere, `made` the method that makes the object.
    """

    method: ast.FunctionDef
    other: str
    value: ast.expr
    made: ast.FunctionDef | None

    def whole(self, source: Source, path: str) -> tuple[ast.stmt, str] | None:
        """The statement that puts the other one back, and the start that is to be given to `path` behind it.

        That is the one which the object was made with, as far as the method knows what it is made of.
        """
        if self.made is None or {one.args.args[0].arg for one in (self.method, self.made)} != {path.partition(".")[0]}:
            return None
        kept = path.partition(".")[2]
        values = [value for name, value in _given(self.made) if name == kept]
        placed = [
            node
            for node in ast.walk(self.method)
            if isinstance(node, ast.stmt) and self.other in {name for name, _ in _bound(self.method, node)}
        ]
        if len(placed) != 1 or len(values) != 1:
            return None
        (place,), (value,), given = placed, values, calls.parameters(self.method)
        read = {name.partition(".")[0] for name in names.reads(value)}
        called = (one for one in calls.within(self.made) if _own(self.made, one.func) == self.method.name)
        early = any(one.lineno < value.lineno for one in called)
        filled = isinstance(value, ast.Call) and not value.keywords and calls.known(source, value.func, ("torch",))
        if filled in ("zeros", "ones") and not early and not read & {*given[1:]}:
            return place, f"torch.{filled}_like({path})"
        known = source.imported | source.definitions.keys() | names.bound_by(source.tree.body) | {*given}
        drawn = any(vocabulary.draws(calls.name_of(one)) for one in calls.within(value))
        return None if drawn or path in names.reads(value) or not read <= known else (place, ast.unparse(value))


def left_as_it_is(sources: Sources, source: Source, path: str, callers: Iterable[Source]) -> Iterator[InPart]:
    """The methods that leave an attribute (`self.speed`) as it is, and that one of `callers` calls.

    Each puts back another one, which is made of this in its turn, or what is returned beside is.
    """
    for kind in (node for node in source.mentioning(path) if isinstance(node, ast.ClassDef)):
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
                    value = next(value for name, value in values if name == kept)
                    yield InPart(reset, back[0], value, methods.get("__init__"))


def _values(method: ast.FunctionDef) -> list[tuple[str, ast.expr]]:
    """The attributes of its object that a method binds, each with the new value, or with the tuple that it is of."""
    return [found for node in ast.walk(method) for found in _bound(method, node)]


def _bound(method: ast.FunctionDef, node: ast.AST) -> list[tuple[str, ast.expr]]:
    """The attributes of its object that a statement of a method binds, each with what `_values` gives for it."""
    if not isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)) or node.value is None:
        return []
    return [
        (name, node.value)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        for one in (target.elts if isinstance(target, ast.Tuple) else [target])
        if (name := _own(method, one))
    ]


def _given(made: ast.FunctionDef) -> Iterator[tuple[str, ast.expr]]:
    """The attributes that an object is made with, buffers too, each with its value; none of what is unpacked."""
    for node in ast.walk(made):
        match node:
            case ast.Assign(targets=[ast.Tuple(parts)], value=ast.Tuple(values)) if len(parts) == len(values):
                yield from ((_own(made, one), value) for one, value in zip(parts, values, strict=True))
            case ast.Assign(targets=targets, value=value):
                yield from ((_own(made, one), value) for one in targets)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                yield _own(made, target), value
            case ast.Call(ast.Attribute(attr="register_buffer") as told, [ast.Constant(str(name)), value, *_]):
                yield (name, value) if _own(made, told) else ("", value)


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
