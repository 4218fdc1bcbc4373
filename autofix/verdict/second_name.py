"""A second name for what a statement writes: plain assignments and calls are followed from the name written to."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence

from autofix.probe.wire import Frame
from autofix.syntax import writes
from autofix.syntax.calls import Function, path_of
from autofix.syntax.reaching import Reaching
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources


def second_name(sources: Sources, stack: Sequence[Frame]) -> str:
    """The name that shows what a statement writes by another: of the same function, or of its caller; or ''."""
    frames = list(sources.nodes(stack))
    if not frames:
        return ""
    _, source, node = frames[0]
    scope, write = _scope(source, node), source.statement(node)
    reads = Reaching(scope).reads
    for second in _names(_given(reads, write)):
        if _is_read(second, reads, write):
            return second.id
        given = next((one for one in reads.get(second, ()) if isinstance(one, ast.arg)), None)
        if given is None or isinstance(scope, ast.Module) or len(frames) == 1:
            continue
        _, source, call = frames[1]
        name = _handed(scope, given, call)
        caller, reads_there = source.statement(call), Reaching(_scope(source, call)).reads
        bound = isinstance(caller, ast.Assign) and path_of(caller.targets[0])
        if name is not None and bound and bound != name.id and _is_read(name, reads_there, caller):
            return name.id
    return ""


def _scope(source: Source, node: ast.AST) -> Function | ast.Module:
    found = source.function(node)
    return found if isinstance(found, (ast.FunctionDef, ast.AsyncFunctionDef)) else source.tree


def _given(reads: Mapping[ast.expr, frozenset[ast.AST]], write: ast.AST) -> set[ast.AST]:
    """The definitions of the name to which a statement writes."""
    match write:
        case ast.Assign([ast.Subscript(ast.Name())]) | ast.AugAssign(ast.Subscript(ast.Name())):
            shown = (found for read, found in reads.items() if isinstance(read, ast.Name) and write in found)
            return {one for found in shown for one in found} - {write}
        case ast.Expr(ast.Call() as call) if isinstance(last := list(writes.chain(call))[-1].func, ast.Attribute):
            return set(reads.get(last.value, ()))
    return set()


def _handed(function: Function, given: ast.arg, call: ast.AST) -> ast.Name | None:
    """The name that a call hands to a function for one of its parameters."""
    if not isinstance(call, ast.Call):
        return None
    names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    names = names[1:] if names[:1] == ["self"] else names
    handed = {**dict(zip(names, call.args, strict=False)), **{one.arg: one.value for one in call.keywords if one.arg}}
    found = handed.get(given.arg)
    return found if isinstance(found, ast.Name) else None


def _names(definitions: Iterable[ast.AST]) -> list[ast.Name]:
    """The names for which a name was given, by plain assignments."""
    values = [one.value for one in definitions if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name)]
    return [value for value in values if isinstance(value, ast.Name)]


def _is_read(name: ast.Name, reads: Mapping[ast.expr, frozenset[ast.AST]], after: ast.stmt) -> bool:
    """Whether a name is read after a statement for what it stands for where it was given or handed on."""
    later = (read for read in reads if isinstance(read, ast.Name) and read.id == name.id and read.lineno > after.lineno)
    return any(reads[read] == reads.get(name) for read in later)
