"""What code keeps of a computation for later calls, as a cache does: computed anew in each of them."""

from __future__ import annotations

import ast
import contextlib
import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from autofix.core.edit import Declined
from autofix.core.model import Diagnosis
from autofix.syntax import blocks, calls, names
from autofix.syntax.calls import Function
from autofix.syntax.edits import Step, append_call, body_alone, delete, is_empty, replace, undecorate
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources

_At = ast.If | ast.Try | ast.IfExp
_LEAVES = (ast.Return, ast.Continue)


@dataclass(frozen=True, slots=True)
class _Lookup:
    """A place at which a function takes what it has kept, or else computes and keeps it."""

    source: Source
    function: Function | None
    at: _At
    making: Sequence[ast.stmt]
    """The statements that compute it, where they are not one expression."""
    paths: frozenset[str]
    """What it is kept in, as the function writes it."""

    def without(self, sources: Sources) -> list[Step]:
        """It computed in each call, and kept where something else reads that."""
        source, at = self.source, self.at
        if isinstance(at, ast.IfExp):
            return replace(source, at, source.segment(_arm(at)))
        made, behind = self.making, self.making[0] in blocks.block_of(source, at)
        steps = delete(source, at) if behind else body_alone(source, at, made)
        looked = [*(one for one in blocks.above(source, at) if self._looks(one, made))]
        gone = {part for one in (*looked, at) for part in ast.walk(one)} - {p for one in made for p in ast.walk(one)}
        for one in looked:
            steps += delete(source, one)
        for store, path, value in _stores(self.function, made):
            alone = isinstance(value, ast.Name) and value is store.value
            if alone and path in self.paths and not self._read(path, store, gone, sources):
                holder = source.parent(store)
                empty = isinstance(holder, ast.If) and holder.body == [store] and not holder.orelse
                steps += delete(source, holder if empty and isinstance(holder, ast.If) else store)
        return steps

    def without_graph(self) -> list[Step]:
        """It kept without its graph, as what it gives where it was not kept yet."""
        if isinstance(self.at, ast.IfExp):
            return append_call(self.source, _arm(self.at), ".detach()")
        steps: list[Step] = []
        for _, path, value in _stores(self.function, self.making):
            made = names.bound_once(self.function, value.id) if isinstance(value, ast.Name) and self.function else value
            if path in self.paths and isinstance(made, calls.VALUES) and not isinstance(made, ast.Name):
                steps += append_call(self.source, made, ".detach()")
        return steps

    def _looks(self, statement: ast.stmt, made: Sequence[ast.stmt]) -> bool:
        """Whether a statement only looks up what was kept, under a name that what computes it binds first."""
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if names.meets(self.paths, names.reads(value)):
                first = next((one for one in made if name in names.reads(one) | names.binds(one)), None)
                return first is not None and name in names.binds(first) and name not in names.reads(first)
        return False

    def _read(self, path: str, store: ast.stmt, gone: set[ast.AST], sources: Sources) -> bool:
        """Whether anything else reads a path of which an object, a module or a function around keeps the value."""
        _, dot, attribute = path.rpartition(".")
        skipped = gone | {*ast.walk(store)}
        for source in sources.imported_by(self.source) if dot else (self.source,):
            for node in source.walk():
                named = isinstance(node, ast.Attribute) and node.attr == attribute and bool(dot)
                named = named or (isinstance(node, ast.Name) and node.id == path)
                if named and node not in skipped and isinstance(getattr(node, "ctx", None), ast.Load):
                    return True
        return False


def not_kept(diagnosis: Diagnosis, sources: Sources) -> Iterator[tuple[list[Step], str]]:
    """Functions whose result is kept for later calls, without that: the edits, and what each is of."""
    made = (*(one.made for one in diagnosis.trace.crossings), *(one.made for one in diagnosis.trace.saved))
    seen: set[ast.AST] = set()
    for stack in dict.fromkeys(made):
        inner: Function | None = None
        source_of_inner: Source | None = None
        for _, source, node in sources.located(stack):
            function = source.function(node)
            if function is not None and function not in seen:
                yield from _undecorated(source, function)
                seen.add(function)
            if (found := next(_lookups(sources, source, function, node), None)) is not None:
                if found.at not in seen:
                    seen.add(found.at)
                    around = source.around(function) if function is not None else ()
                    own = {one.name for one in around if isinstance(one, Function)}
                    without = list(_undecorated(source_of_inner, inner, own)) if inner and source_of_inner else []
                    yield from without or [(found.without(sources), ", ".join(sorted(found.paths)))]
                break
            inner, source_of_inner = function, source


def cut_where_kept(diagnosis: Diagnosis, sources: Sources) -> Iterator[tuple[list[Step], str]]:
    """What functions keep for later calls, without its graph: the edits, and what each is kept in."""
    made = (*(one.made for one in diagnosis.trace.crossings), *(one.made for one in diagnosis.trace.saved))
    for stack in dict.fromkeys(made):
        places = ((source, source.function(node), node) for _, source, node in sources.located(stack))
        found = (one for source, function, node in places for one in _lookups(sources, source, function, node))
        for one in itertools.islice(found, 1):
            with contextlib.suppress(Declined):
                if steps := one.without_graph():
                    yield steps, ", ".join(sorted(one.paths))


def _undecorated(
    source: Source, function: Function, own: Collection[str] = ()
) -> Iterator[tuple[list[Step], str]]:  # fmt: skip
    """A function without the decorator that keeps what it gives: one of `functools`, or of the project's `own`."""
    for one in function.decorator_list:
        named = one.func if isinstance(one, ast.Call) else one
        kind = calls.known(source, named, ("functools",))
        if kind == "cached_property":
            yield replace(source, one, "property"), function.name
        elif kind in ("cache", "lru_cache") or calls.name_of(named) in own:
            yield undecorate(source, one), function.name


def _lookups(sources: Sources, source: Source, function: Function | None, node: ast.AST) -> Iterator[_Lookup]:
    """The lookups that lead to a node of a function where nothing was kept, innermost first."""
    for at, making in _ways(source, node):
        stored = [source.statement(at)] if isinstance(at, ast.IfExp) else making
        if kept := _kept(sources, source, function, at, stored):
            yield _Lookup(source, function, at, making, kept)


def _ways(source: Source, node: ast.AST) -> Iterator[tuple[_At, Sequence[ast.stmt]]]:
    """What decides whether a node runs, with the statements that then do; innermost first."""
    inside = node
    for one in (node, *blocks.around(source, node)):
        if isinstance(one, ast.IfExp) and inside is _arm(one):
            yield one, ()
        if isinstance(one, ast.Try):
            yield from ((one, handler.body) for handler in one.handlers if inside is handler)
        elif isinstance(one, ast.If) and inside is not one.test:
            yield one, one.orelse if inside in one.orelse else one.body
        if isinstance(one, ast.stmt):
            above = blocks.before(block := blocks.block_of(source, one), one)
            leaving = (other for other in above if isinstance(other, ast.If) and not other.orelse)
            yield from ((other, blocks.after(block, other)) for other in leaving if isinstance(other.body[-1], _LEAVES))
        inside = one


def _kept(
    sources: Sources, source: Source, function: Function | None, at: _At, making: Sequence[ast.stmt]
) -> frozenset[str]:
    """What some statements give a value for later calls, and a condition looks at; nothing where others do, too."""
    stored = {path: (source, path, making) for _, path, _ in _stores(function, making)}
    tests = at.body if isinstance(at, ast.Try) else [at.test]
    looked = set(names.read_by(tests))
    looked |= {f"{owner}.{name}" for owner, name in _asked(tests)}
    for call, _, called in _called(sources, source, tests):
        looked |= {_outside(path, call, called) for path in names.reads(called)}
    for one in blocks.above(source, source.statement(at)):
        if names.meets(names.binds(one), looked):
            looked |= names.reads(one)
    looked.discard("")
    for call, other, called in _called(sources, source, making):
        for _, path, _ in _stores(called, called.body):
            if names.meets([outside := _outside(path, call, called)], looked):
                stored[outside] = (other, path, called.body)
    if not names.meets(stored, looked):
        return frozenset()
    for file, path, statements in stored.values():
        inside = {part for statement in statements for part in ast.walk(statement)}
        given = ((node, value) for node in names.assignments(file, path) for value in names.given_to(node, path))
        values = [value for node, value in (*given, *names.fills(file, path)) if node not in inside]
        if not all(map(_is_start, values)):
            return frozenset()
    return frozenset(stored)


def _called(sources: Sources, source: Source, nodes: Sequence[ast.AST]) -> Iterator[tuple[ast.Call, Source, Function]]:
    """The calls in some nodes that mean a function of the user's, each with that function and its file."""
    for call in calls.within(*nodes):
        if (found := sources.called(source, call)) is not None:
            yield call, *found


def _outside(path: str, call: ast.Call, called: Function) -> str:
    """What a path within a called function is for its caller; "" where it is the function's own alone."""
    head, dot, rest = path.partition(".")
    if head not in names.locals_of(called):
        return path
    return f"{owner}{dot}{rest}" if (owner := calls.path_of(calls.handed(call, called, head))) else ""


def _asked(tests: Sequence[ast.AST]) -> Iterator[tuple[str, str]]:
    """The objects of which some expressions ask whether they have an attribute, and its name."""
    for call in calls.within(*tests):
        match call:
            case ast.Call(ast.Name("hasattr" | "getattr"), [owner, ast.Constant(str(name)) | ast.Name(name), *_]):
                yield calls.path_of(owner), name


def _is_start(value: ast.expr | None) -> bool:
    """Whether a value is what a place holds before anything is kept in it."""
    empty = isinstance(value, (ast.Dict, ast.List)) and not (value.keys if isinstance(value, ast.Dict) else value.elts)
    return value is None or empty or is_empty(value) or (isinstance(value, ast.Call) and not value.args)


def _stores(
    function: Function | None, statements: Sequence[ast.stmt]
) -> Iterator[tuple[ast.Assign | ast.Expr, str, ast.expr]]:
    """The assignments whose value outlives a call, each with the path that keeps it; `setattr` is one."""
    own = names.locals_of(function) - set(calls.parameters(function)) if function is not None else set()
    for node in (part for one in statements for part in ast.walk(one)):
        match node:
            case ast.Expr(ast.Call(ast.Name("setattr"), [owner, ast.Constant(str(name)) | ast.Name(name), value])):
                yield node, f"{calls.path_of(owner)}.{name}", value
        if isinstance(node, ast.Assign):
            for target, value in names.paired(node):
                path = calls.path_of(target.value if isinstance(target, ast.Subscript) else target)
                if path and path.partition(".")[0] not in own:
                    yield node, path, value


def _arm(choice: ast.IfExp) -> ast.expr:
    """What a choice computes where nothing was kept: the arm that calls more."""
    return max(choice.body, choice.orelse, key=lambda one: sum(1 for _ in calls.within(one)))
