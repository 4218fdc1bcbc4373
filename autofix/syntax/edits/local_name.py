"""What a pass makes of a value, or gives to a parameter, under a name of its own: what it finds stays as it is."""

from __future__ import annotations

import ast
import itertools
import keyword
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from autofix.core.edit import Declined
from autofix.probe.wire import Frame
from autofix.syntax import blocks, calls, names
from autofix.syntax.edits.calls import functional_call
from autofix.syntax.edits.expressions import replace
from autofix.syntax.edits.imports import ensure_import
from autofix.syntax.edits.statements import delete, insert_before
from autofix.syntax.edits.steps import Step
from autofix.syntax.source import Source

_EMPTY = ("zeros", "ones", "empty", "full", "new_", "zero", "init")
"""How a call begins that gives a state its start."""


def in_local_name(source: Source, statement: ast.stmt, failed: Iterable[Frame]) -> list[Step]:
    """The steps by which a pass no longer overwrites what `statement` makes anew of the value that it finds.

    A pass is the body of the loop in which one of `failed` stands too, or else the whole function. What is read and
    written in it gets a name of its own, which begins with the value found. Declines where the value is no input: where
    something else puts zeros or None in its place, the pass writes a part of it, or it is a name of the function.
    """
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or not _is_path(statement.targets[0]):
        raise Declined("the statement does not assign one value to one name")
    path = ast.unparse(statement.targets[0])
    body = _pass(source, statement, failed)
    if body is None and path.isidentifier():
        raise Declined("no loop repeats it, and only its own function sees it")
    function = source.function(statement)
    whole = body if body is not None else function.body if function is not None else []
    mentions = [node for one in whole for node in names.mentions(one, path)]
    first = next((one for one in whole if any(names.mentions(one, path))), None)
    if first is None or not any(isinstance(node.ctx, ast.Load) for node in names.mentions(first, path)):
        raise Declined("the pass does not read it before it writes it")
    if any(
        isinstance(source.parent(node), ast.AugAssign | ast.Subscript | ast.Delete)
        for node in mentions
        if _stored(source, node)
    ):
        raise Declined("the pass changes it in place")
    if starts_empty(source, path):
        raise Declined("it starts as zeros or None: it is a state, which passes hand on")
    known = {getattr(node, "id", getattr(node, "arg", "")) for node in source.walk(function)}
    name = next(one for one in own_names(statement.targets[0]) if one not in known)
    steps = insert_before(source, first, [f"{name} = {source.segment(statement.targets[0])}"])
    return [*steps, *(step for node in mentions for step in replace(source, node, name))]


def _pass(source: Source, statement: ast.stmt, failed: Iterable[Frame]) -> Sequence[ast.stmt] | None:
    """The body of the innermost loop around a statement in which one of these frames stands, too."""
    stack = list(failed)
    loops = (
        one for one in blocks.loops(source, statement) if any(blocks.passed(source, inner, stack) for inner in one.body)
    )
    found = next(loops, None)
    return None if found is None else found.body


def _is_path(node: ast.expr) -> bool:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Constant):
            return False
        node = node.value
    return isinstance(node, ast.Name)


def _stored(source: Source, node: ast.expr) -> bool:
    """Whether something is written there, or into it."""
    holder = source.parent(node)
    inside = isinstance(holder, ast.Subscript) and holder.value is node and not isinstance(holder.ctx, ast.Load)
    return inside or not isinstance(getattr(node, "ctx", None), ast.Load)


def starts_empty(source: Source, path: str) -> bool:
    """Whether a variable, an attribute or a buffer is somewhere given None, a number, or numbers that are all alike."""
    values = [one.value for one in names.assignments(source, path) if one.value is not None]
    for node in source.mentioning("register_buffer"):
        match node:
            case ast.Call(func=ast.Attribute(attr="register_buffer"), args=[ast.Constant(value=name), value, *_]):
                values += [value] * (path.rpartition(".")[2] == name)
    return any(map(is_empty, values))


def is_empty(value: ast.expr | None) -> bool:
    """Whether a value is None, a number, or numbers that are all alike."""
    called = calls.name_of(value) if isinstance(value, ast.Call) else ""
    return isinstance(value, ast.Constant) or called.startswith(_EMPTY)


def own_names(target: ast.expr) -> Iterator[str]:
    """Names for what is bound by `target`, the shortest first."""
    match target:
        case ast.Subscript(slice=ast.Constant(value=str(key))) if key.isidentifier() and not keyword.iskeyword(key):
            name = key
        case ast.Attribute(attr=name):
            pass
        case ast.Name(id=name):
            name += "_now"
        case _:
            name = "value"
    yield from (name + more for more in itertools.accumulate(itertools.repeat("_"), initial=""))


class Given(NamedTuple):
    """A statement that gives a parameter a value."""

    statement: ast.stmt
    parameter: ast.Attribute
    value: ast.expr


def for_pass(source: Source, given: Sequence[Given], *, written: bool = False) -> list[Step]:
    """The steps by which a pass uses values by their own names, and calls each module with those of its parameters.

    `given`: one block's, in order; `written`: each statement stays, and still gives its parameter the value. No steps
    where nothing repeats that block, or it does not use all of them.
    """
    block, function = blocks.block_of(source, given[0].statement), source.function(given[0].statement)
    following = blocks.after(block, given[0].statement)
    scope = function or next(blocks.loops(source, given[0].statement), None)
    others = [one for one in following if not any(one is each.statement for each in given)]
    if scope is None or any(ast.unparse(one.parameter) in names.binds(other) for one in given for other in others):
        return []
    taken = {getattr(node, "id", getattr(node, "arg", "")) for node in source.walk(function)}
    edits: list[Step] = []
    known: list[tuple[Given, str]] = []
    for one in given:
        rest = blocks.after(block, one.statement)
        name = f"new_{one.parameter.attr}" if one.parameter.attr in taken else one.parameter.attr
        if isinstance(one.value, ast.Name) and not any(one.value.id in names.binds(other) for other in rest):
            name = one.value.id
            edits += [] if written else delete(source, one.statement)
        elif name in taken or (written and "\n" in (text := source.segment(one.value))):
            return []
        elif written:
            edits += [*insert_before(source, one.statement, [f"{name} = {text}"]), *replace(source, one.value, name)]
        else:
            edits += replace(source, one.parameter, name)
        taken.add(name)
        known.append((one, name))
    used: list[Given] = []
    for statement in following:
        before = [(one, name) for one, name in known if one.statement.lineno < statement.lineno]
        for node in ast.walk(statement):
            steps = list(_use(source, node, before))
            edits += [step for _, each in steps for step in each]
            used += [one for some, _ in steps for one in some]
    return edits if all(one in used for one in given) else []


def _use(
    source: Source, node: ast.AST, known: Sequence[tuple[Given, str]]
) -> Iterator[tuple[list[Given], list[Step]]]:  # fmt: skip
    """Which values are used where a node stands, and the edit of it."""
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        path = ast.unparse(node)
        yield from (([one], replace(source, node, name)) for one, name in known if ast.unparse(one.parameter) == path)
    elif isinstance(node, ast.Call):
        again = calls.name_of(node) == "functional_call" and len(node.args) > 1
        module = ast.unparse(node.args[0] if again else node.func).removesuffix(".forward")
        mine = [(one, _name_in(one.parameter, module), name) for one, name in known]
        mine = [(one, own, name) for one, own, name in mine if own and module != "self"]
        entries = ", ".join(f'"{own}": {name}' for _, own, name in mine)
        if mine and not again:
            torch, imports = ensure_import(source, "torch")
            yield [one for one, _, _ in mine], [*imports, *functional_call(source, node, torch, f"{{{entries}}}")]
        elif mine and isinstance(node.args[1], ast.Dict) and node.args[1].keys:
            text = source.segment(node.args[1])
            yield [one for one, _, _ in mine], replace(source, node.args[1], f"{text[:-1].rstrip(', ')}, {entries}}}")


def _name_in(parameter: ast.expr, module: str) -> str:
    """The name by which a module knows a parameter; '' where that is no part of it."""
    parts: list[str] = []
    while ast.unparse(parameter) != module:
        match parameter:
            case ast.Attribute(value=holder, attr=part):
                parts.append(part)
            case ast.Subscript(value=holder, slice=ast.Constant(value=int(number))):
                parts.append(str(number))
            case _:
                return ""
        parameter = holder
    return ".".join(reversed(parts))
