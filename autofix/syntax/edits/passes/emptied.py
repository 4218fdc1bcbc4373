"""Lists that passes fill in step and a loss pairs, of which each pass empties one: the others are emptied with it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from autofix.core.edit import Declined
from autofix.probe.wire import Carrier, Crossing, Frame
from autofix.syntax import blocks, names, nested
from autofix.syntax.calls import Function, name_of, path_of, whole, within
from autofix.syntax.edits.calls import set_keyword
from autofix.syntax.edits.statements import insert_after
from autofix.syntax.edits.steps import Step
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources

_BEGINS = ("__init__", "__post_init__", "__new__")
_EMPTY = ("list", "deque")


class Emptied(NamedTuple):
    """The steps that empty records where `twin` is, and by which `zip` of both fails where one is longer."""

    steps: dict[Source, list[Step]]
    records: list[str]
    twin: str


def emptied(crossings: Iterable[Crossing], failed: Sequence[Frame], sources: Sources) -> Emptied | None:
    """How all lists by which the failing pass reaches an earlier one would be emptied as their twin is.

    None where one of them is emptied, given something else, or read for something else than the pairs anywhere; where
    `zip` pairs it with nothing that each pass fills and empties; and where that is emptied less often than passes end.
    """
    files = sources.reached(failed)
    carriers = [one for each in crossings if each.by == "failing" for one in each.carriers]
    steps: dict[Source, list[Step]] = {}
    records: dict[str, None] = {}
    twins: dict[str, None] = {}
    for name in dict.fromkeys(_last(one.path) for one in carriers if _is_filled(one, files)):
        if (found := _with_twin(name, files, carriers, failed, sources)) is None:
            return None
        at, statement, path, twin, pairs = found
        try:
            new = [(at, insert_after(at, statement, [f"{path}.clear()"]))]
            new += [(source, set_keyword(source, pair, "strict", "True")) for source, pair in pairs]
        except Declined:
            return None
        for source, some in new:
            known = steps.setdefault(source, [])
            known += [one for one in some if one not in known]
        records[path] = twins[twin] = None
    return Emptied(steps, list(records), next(iter(twins))) if records else None


def _last(path: str) -> str:
    return path.rpartition(".")[2]


def _is_filled(carrier: Carrier, files: Sequence[Source]) -> bool:
    return nested.is_container(carrier.kind) and "[" not in carrier.path and _grows(_last(carrier.path), files)


def _grows(name: str, files: Iterable[Source]) -> bool:
    """Whether something of that name, a variable or an attribute, takes values by a method like `append`."""
    return any(_fills(source, node) for source, node in _mentions(name, files))


def _mentions(name: str, files: Iterable[Source]) -> Iterator[tuple[Source, ast.Name | ast.Attribute]]:
    for source in files:
        for node in source.mentioning(name):
            if isinstance(node, (ast.Name, ast.Attribute)) and _last(path_of(node)) == name:
                yield source, node


def _fills(source: Source, node: ast.expr) -> bool:
    call = source.parent(method) if isinstance(method := source.parent(node), ast.Attribute) else None
    return isinstance(call, ast.Call) and any(holder is node for holder, _ in names.filled(call))


def _with_twin(
    name: str, files: Sequence[Source], carriers: list[Carrier], failed: Sequence[Frame], sources: Sources
) -> tuple[Source, ast.stmt, str, str, list[tuple[Source, ast.Call]]] | None:
    """Where records are to be emptied and by which path, what is emptied there, and all that pairs them."""
    pairs: dict[ast.Call, Source] = {}
    paths: dict[str, Source] = {}
    for source, node in _mentions(name, files):
        if _fills(source, node) or _is_start(source, node, carriers):
            continue
        given = _pairings(source, node)
        if not given:
            return None
        pairs.update(dict.fromkeys(given, source))
        paths[path_of(node)] = source
    for pair, source in pairs.items():
        for twin in _paired_with(source, pair, name):
            if _last(twin) == name or not _grows(_last(twin), files):
                continue
            for at, statement, emptied_path in _emptyings(_last(twin), failed, sources):
                for path, home in paths.items():
                    if record := _beside(path, emptied_path, twin, (home, at), carriers):
                        return at, statement, record, emptied_path, [(one, call) for call, one in pairs.items()]
    return None


def _is_start(source: Source, node: ast.Name | ast.Attribute, carriers: Iterable[Carrier]) -> bool:
    """Whether records are given their first, empty list there: by a constructor, or once before the passes."""
    if not isinstance(node.ctx, ast.Store):
        return False
    statement, function = source.statement(node), source.function(node)
    made = isinstance(statement, (ast.Assign, ast.AnnAssign)) and _is_emptied_by(statement, path_of(node))
    holder = blocks.qualified(source, node)
    own = isinstance(node, ast.Name) and holder in {one.function for one in carriers if one.path == node.id}
    once = function is None or function.name in _BEGINS or own
    return made and once and next(blocks.loops(source, node), None) is None


def _is_emptied_by(statement: ast.stmt, path: str) -> bool:
    """Whether a statement leaves a list empty: `a = []`, `del a[:]`, `a[:] = []`, `a.clear()`."""
    match statement:
        case ast.Assign() | ast.AnnAssign():
            both = (path, f"{path}[:]")
            given = [value for part, value in names.paired(statement) if ast.unparse(part) in both]
            return bool(given) and all(map(_is_empty, given))
        case ast.Delete(targets):
            return any(ast.unparse(one) == f"{path}[:]" for one in targets)
        case ast.Expr(ast.Call(ast.Attribute(holder, "clear"))):
            return ast.unparse(holder) == path
    return False


def _is_empty(value: ast.expr) -> bool:
    """Not where a length is given: that is a window, which takes no more than its last ones."""
    if isinstance(value, ast.Call):
        return name_of(value) in _EMPTY and not value.keywords and all(map(_is_empty, value.args))
    return isinstance(value, ast.List) and not value.elts


def _pairings(source: Source, node: ast.Name | ast.Attribute) -> list[ast.Call]:
    """The calls of `zip` that records are given to, by this name or by a second one that the function has for them."""
    if not isinstance(node.ctx, ast.Load):
        return []
    user = source.parent(node)
    if isinstance(user, ast.Call):
        return [user] if _is_zip(user) else []
    function = source.function(node)
    match user:
        case ast.Assign([ast.Name(other)], value) if value is node and function is not None:
            used = [one for one in ast.walk(function) if isinstance(one, ast.Name) and one.id == other]
            found = [source.parent(one) for one in used if isinstance(one.ctx, ast.Load)]
            calls = [one for one in found if isinstance(one, ast.Call) and _is_zip(one)]
            return calls if len(calls) == len(found) == len(used) - 1 else []
    return []


def _is_zip(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id == "zip"


def _paired_with(source: Source, pair: ast.Call, name: str) -> list[str]:
    """What is paired with records, and what that is made of in the function."""
    scope: Function | ast.Module = source.function(pair) or source.tree
    waiting = [path for path in map(path_of, pair.args) if path and _last(path) != name]
    found = dict.fromkeys(waiting)
    made = list(_made(scope))
    for path in waiting:
        new = {one for target, value in made if target == path for one in value} - found.keys()
        found.update(dict.fromkeys(sorted(new)))
        waiting += sorted(new)
    return list(found)


def _made(scope: Function | ast.Module) -> Iterator[tuple[str, set[str]]]:
    """Each variable that a function binds or fills, with what is read for that."""
    for node in ast.walk(scope):
        match node:
            case ast.Assign(targets=targets, value=value):
                yield from ((path_of(part), names.reads(value)) for one in targets for part in names.parts(one))
            case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
                yield from ((path_of(part), names.reads(value)) for part in names.parts(target))
            case ast.AugAssign(target=target, value=value):
                yield path_of(whole(target)), names.reads(value)
            case ast.Call():
                yield from ((path_of(holder), names.reads(item)) for holder, item in names.filled(node))


def _emptyings(name: str, failed: Sequence[Frame], sources: Sources) -> Iterator[tuple[Source, ast.stmt, str]]:
    """Where each pass empties a list, itself or by a call: beside the failing backward or a call that leads to it.

    Not where a function begins a list of its own. Only where nothing stands between that is done in some passes alone,
    and within the innermost loop.
    """
    for _, source, node in sources.nodes(failed):
        for holder in blocks.holders(source, node):
            block = blocks.block_of(source, holder)
            for one in block:
                yield from ((source, one, path) for path in _emptied_in(source, one, name))
                for call in within(one) if isinstance(one, (ast.Expr, ast.Assign)) else ():
                    if (called := sources.called(source, call)) is not None and called[1].name not in _BEGINS:
                        at, function = called
                        for inner in function.body:
                            yield from ((at, inner, path) for path in _emptied_in(at, inner, name))
            outer = source.parent(holder)
            if isinstance(outer, (ast.For, ast.AsyncFor, ast.While, ast.If, ast.ClassDef)):
                return
            if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef)):
                break


def _emptied_in(source: Source, statement: ast.stmt, name: str) -> Iterator[str]:
    found = {path_of(node) for _, node in _mentions(name, [source]) if source.statement(node) is statement}
    for path in sorted(found):
        if _is_emptied_by(statement, path) and ("." in path or not _is_begun(source, statement, path)):
            yield path


def _is_begun(source: Source, statement: ast.stmt, variable: str) -> bool:
    """Whether a statement gives a variable of its function the first value that it has there."""
    function = source.function(statement)
    bound = [one for one in names.assignments(source, variable) if source.function(one) is function]
    outer = function is not None and variable not in names.locals_of(function)
    return statement in bound and not outer and all(one.lineno >= statement.lineno for one in bound)


def _beside(path: str, emptied_path: str, twin: str, place: tuple[Source, Source], carriers: Iterable[Carrier]) -> str:
    """How records that are paired by a path are called where their twin is emptied; '' where that cannot be told.

    `place`: the files in which both are done.
    """
    owner, _, name = path.rpartition(".")
    if owner == twin.rpartition(".")[0]:
        return f"{emptied_path.rpartition('.')[0]}.{name}".lstrip(".")
    if twin == emptied_path and place[0] is place[1]:
        return path
    own = [one.path for one in carriers if one.function == "<module>" and _last(one.path) == name]
    return next((one for one in own if place[0] is place[1]), "")
