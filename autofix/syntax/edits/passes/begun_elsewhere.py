"""A state that passes hand on, and that another loop of the project gives its start again in each of its turns."""

from __future__ import annotations

import ast
import functools
import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

from autofix.probe.wire import Carrier, Crossing, Frame
from autofix.syntax import blocks, calls, names
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources
from autofix.syntax.vocabulary import DERIVES

_NONE = frozenset[str]()


def begun_elsewhere(
    crossings: Iterable[Crossing], failed: Sequence[Frame], sources: Sources, *, once: bool = False
) -> Iterator[tuple[Carrier, Source, ast.stmt, str]]:
    """The states that the failing pass took from an earlier one, each with where a loop gives it its start again.

    With it goes the path, in the carrier's function, of the object whose state or whose method that statement names.
    That loop is none that the failing backward stood in, and goes backward nowhere. In the same turn it calls the
    module that owns the state, or hands the state to what the passes hand it to: so each of its calls begins anew.
    `once`: a function that does so for a module outside of its loops counts, too; it says less, for what is handed on
    begins there.
    A state that a loop of the failing pass itself gives its start, as one over epochs does, is carried on purpose.
    """
    carriers = dict.fromkeys(carrier for one in crossings if one.by == "failing" for carrier in one.carriers)
    files = sources.project_of(failed)
    for carrier, source in itertools.product(carriers, files):
        owner, _, name = carrier.path.rpartition(".")
        if is_begun(carrier, carriers, failed, files):
            continue
        methods = _resets(name, files) if owner else _NONE
        takers = set() if owner else _takers(carrier, sources)
        same = [one for one in carriers if "." in one.path and one.path.rpartition(".")[2] == name] if owner else []
        for statement, path in _starts(source, name, methods):
            own, loop = path.rpartition(".")[0], next(blocks.loops(source, statement), None)
            turn = loop or (source.function(statement) if once and owner else None)
            if turn is None or bool(own) is not bool(owner) or not _is_each_turn(source, turn, statement):
                continue
            if blocks.passed(source, turn, failed) or DERIVES & {calls.name_of(one) for one in calls.within(turn)}:
                continue
            later = [
                one
                for one in calls.within(turn)
                if one.lineno > statement.lineno and next(blocks.loops(source, one), None) is loop
            ]
            if not owner and any(is_given(one, path) and calls.name_of(one) in takers for one in later):
                yield carrier, source, statement, ""
            elif owner and any(_is_part(own, one) or is_given(one, path) for one in later):
                parts = (one for one in _parts(own, source, statement, same, files) if owner.endswith(one))
                yield from ((carrier, source, statement, owner.removesuffix(one)) for one in itertools.islice(parts, 1))


def begun_by_nobody(
    crossings: Iterable[Crossing], failed: Sequence[Frame], sources: Sources
) -> Iterator[tuple[Carrier, Source, ast.FunctionDef, str]]:
    """The states that the failing pass took from an earlier one, each with a method that nothing calls.

    That method takes no argument and gives the state its start again: of its own object, or of parts of that. With it
    goes the path of the state in that object. The method of an object whose parts have such a method calls theirs.
    """
    carriers = dict.fromkeys(carrier for one in crossings if one.by == "failing" for carrier in one.carriers)
    files = sources.project_of(failed)
    for carrier in (one for one in carriers if "." in one.path):
        name = carrier.path.rpartition(".")[2]
        resets = frozenset(method.name for _, method in _uncalled(name, _NONE, files))
        for source, method in dict.fromkeys(_uncalled(name, resets, files)):
            for path in _owned(carrier, carriers, source, method):
                yield carrier, source, method, path


def begun_by_constructors(
    crossings: Iterable[Crossing], failed: Sequence[Frame], sources: Sources
) -> Iterator[tuple[Carrier, Source, ast.Call, str]]:
    """The states that a constructor alone gives a start, by a method that nothing else calls; by what call of it.

    With it goes what `self` of that call is where the state is carried.
    """
    carriers = dict.fromkeys(carrier for one in crossings if one.by == "failing" for carrier in one.carriers)
    files = sources.project_of(failed)
    for carrier in carriers:
        owner, _, name = carrier.path.rpartition(".")
        starts = [(source, one) for source in files for one, _ in _starts(source, name)] if owner else []
        if any(getattr(source.function(one), "name", "") != "__init__" for source, one in starts):
            continue
        for source, statement in starts:
            match statement:
                case ast.Assign([ast.Attribute(ast.Name("self"))], ast.Call(ast.Attribute(attr=method)) as call) if {
                    one.id for one in ast.walk(call) if isinstance(one, ast.Name)
                } == {"self"} and _is_called_once(method, files):
                    yield carrier, source, call, owner


def _is_called_once(method: str, files: Sequence[Source]) -> bool:
    """Whether a project defines a method of a name, and names it at one place alone."""
    nodes = [node for one in files for node in one.mentioning(method)]
    defined = any(isinstance(one, ast.FunctionDef) and one.name == method for one in nodes)
    return defined and sum(_names(one, method) for one in nodes) == 1


def _owned(carrier: Carrier, carriers: Iterable[Carrier], source: Source, method: ast.FunctionDef) -> Iterator[str]:
    """By what path the object of a method has a state: by its name, or through a part that its class gives it."""
    kind, me = source.parent(method), calls.parameters(method)[0]
    path, name = carrier.path, carrier.path.rpartition(".")[2]
    classes = {one.function for one in carriers if one.path == f"{me}.{name}"}
    if isinstance(kind, ast.ClassDef) and kind.name in {one.rpartition(".")[2] for one in classes}:
        yield name
    while "." in (path := path.partition(".")[2]):
        part = path.partition(".")[0].partition("[")[0]
        if any(kind in set(source.around(one)) for one in names.assignments(source, f"{me}.{part}")):
            yield path


def times_begun(carrier: Carrier, failed: Sequence[Frame], sources: Sources) -> int:
    """At how many places of the project a state gets its start, by that attribute's name."""
    name, files = carrier.path.rpartition(".")[2], sources.project_of(failed)
    return sum(1 for source in files for _ in _starts(source, name))


def turns_begun(carrier: Carrier, failed: Sequence[Frame], sources: Sources) -> Counter[tuple[str, int]]:
    """How often functions, in so many of their loops, give a state its start."""
    owner, _, name = carrier.path.rpartition(".")
    files = sources.project_of(failed)
    methods = _resets(name, files) if owner else _NONE
    found = ((source, one) for source in files for one, _ in _starts(source, name, methods))
    return Counter((blocks.qualified(source, one), len(list(blocks.loops(source, one)))) for source, one in found)


def _uncalled(name: str, methods: frozenset[str], files: Sequence[Source]) -> Iterator[tuple[Source, ast.FunctionDef]]:
    """The methods that give a state its start, by a statement or by `methods` of parts, and that nothing names."""
    for source in files:
        for statement, _ in _starts(source, name, methods):
            method = source.function(statement)
            if isinstance(method, ast.FunctionDef) and _is_asked_for(source, method):
                named = ((one, node) for one in files for node in one.mentioning(method.name))
                calling = (one.function(node) for one, node in named if _names(node, method.name))
                if all(getattr(function, "name", "") == method.name for function in calling):
                    yield source, method


def _names(node: ast.AST, name: str) -> bool:
    return getattr(node, "attr" if isinstance(node, ast.Attribute) else "id", "") == name


def _is_asked_for(source: Source, method: ast.FunctionDef) -> bool:
    """Whether a function is a method that does something when it is called by its name alone, without arguments."""
    required = len(method.args.args) - len(method.args.defaults)
    plain = not method.decorator_list and not method.name.startswith("__") and method.name != "forward"
    return plain and required == 1 and isinstance(source.parent(method), ast.ClassDef)


def begun_before(
    loop: ast.stmt, carriers: Iterable[Carrier], source: Source, sources: Sequence[Source]
) -> Iterator[tuple[Carrier, ast.stmt]]:  # fmt: skip
    """The states of a function that get their start before a loop, each with the last statement that gives it."""
    before = blocks.above(source, loop)
    for carrier in carriers:
        owner, _, name = carrier.path.rpartition(".")
        given = _starts(source, name, _resets(name, sources) if owner else _NONE)
        made = [one for one, path in given if path == carrier.path and one in before]
        yield from ((carrier, one) for one in made[-1:])


@functools.lru_cache(maxsize=256)  # many variables of a pass have one name, and a project has many files
def _starts(source: Source, name: str, methods: frozenset[str] = _NONE) -> tuple[tuple[ast.stmt, str], ...]:
    """Where a state gets a value that is not made of its own, with its path; by a statement or by a method of it."""
    found: list[tuple[ast.stmt, str]] = []
    for node in dict.fromkeys(node for one in (name, *methods) for node in source.mentioning(one)):
        if isinstance(node, ast.Assign):
            paths = [calls.path_of(part) for target in node.targets for part in names.parts(target)]
            kept = any(calls.name_of(one) == name for one in ast.walk(node.value))
            own = {*paths, *_taken_apart(source, node, paths)}
            fed = any(calls.path_of(one) in own for one in ast.walk(node.value))
            found += ((node, one) for one in paths if one.rpartition(".")[2] == name and not (kept or fed))
        elif isinstance(node, ast.Expr) and calls.name_of(node.value) in methods and isinstance(node.value, ast.Call):
            owner = calls.path_of(node.value.func).rpartition(".")[0]
            found += [(node, f"{owner}.{name}")] if owner else []
    return tuple(sorted(found, key=lambda one: one[0].lineno))


def _taken_apart(source: Source, statement: ast.Assign, paths: Collection[str]) -> set[str]:
    """The names that a state was taken apart into, before a statement of the same block binds it."""
    before = blocks.before(blocks.block_of(source, statement), statement)
    taken = (one for one in before if isinstance(one, ast.Assign) and calls.path_of(one.value) in paths)
    return names.bound_by(taken)


def is_begun(
    carrier: Carrier, carriers: Iterable[Carrier], failed: Sequence[Frame], files: Sequence[Source]
) -> bool:  # fmt: skip
    """Whether a loop that the failing backward stood in gives a state its start, by any of its paths."""
    owner, _, name = carrier.path.rpartition(".")
    methods = _resets(name, files) if owner else _NONE
    return any(_is_begun(one, methods, failed, files) for one in carriers if one.path.rpartition(".")[2] == name)


def _is_begun(carrier: Carrier, methods: frozenset[str], failed: Sequence[Frame], files: Iterable[Source]) -> bool:
    """Whether a loop that the failing backward stood in gives a state its start, by the path that it has there."""
    name = carrier.path.rpartition(".")[2]
    return any(
        path == carrier.path and any(blocks.passed(source, loop, failed) for loop in blocks.loops(source, statement))
        for source in files
        for statement, path in _starts(source, name, methods)
    )


def _resets(name: str, files: Iterable[Source]) -> frozenset[str]:
    """The methods that give an attribute of their object its start again."""
    found = (
        blocks.qualified(one, node) for one in files for node, path in _starts(one, name) if path == f"self.{name}"
    )
    return frozenset({function.rpartition(".")[2] for function in found} - {"__init__", "forward", "__call__"})


def _takers(carrier: Carrier, sources: Sources) -> set[str]:
    """The names of what a variable is handed to in its function."""
    home = sources.source(carrier.file)
    function = blocks.function_named(home, carrier.function) if home is not None else None
    if home is None or function is None:
        return set()
    near = home.mentioning(carrier.path) if isinstance(function, ast.Module) else ast.walk(function)
    return {calls.name_of(one) for one in near if isinstance(one, ast.Call) and is_given(one, carrier.path)}


def is_given(call: ast.Call, path: str) -> bool:
    """Whether a call is handed a state."""
    return any(True for one in calls.values(call) for _ in names.mentions(one, path))


def _is_part(own: str, call: ast.Call) -> bool:
    """Whether a call runs the module that owns a state, or one that this is a part of."""
    called = calls.path_of(call.func).removesuffix(".forward")
    return bool(called) and f"{own}.".startswith(f"{called}.")


def _is_each_turn(source: Source, turn: ast.For | ast.While | calls.Function, statement: ast.stmt) -> bool:
    """Whether a statement of a loop, or of a function, runs in each of its turns."""
    inside = itertools.takewhile(lambda one: one is not turn, blocks.holders(source, statement)[1:])
    return all(isinstance(one, ast.With) for one in inside) and statement not in getattr(turn, "orelse", ())


def _parts(
    own: str, source: Source, statement: ast.stmt, same: Sequence[Carrier], files: Iterable[Source]
) -> Iterator[str]:
    """Which part of an object owns the state: `` of the owner itself, by its name or as what its function is given.

    A method may give all parts of its object their starts: `.encoder.cell` of a model that is reset as a whole.
    """
    owners = list(dict.fromkeys(one.path.rpartition(".")[0] for one in same))
    given, function = [own], source.function(statement)
    if own.partition(".")[0] == "self":
        kind = blocks.qualified(source, statement).rpartition(".")[0]
        given = [own] if any(one.function.rpartition(".")[0] == kind for one in same) else []
    elif isinstance(function, ast.FunctionDef) and own in calls.parameters(function):
        given = [
            calls.path_of(calls.argument(call, calls.parameters(function), own))
            for one in files
            for call in one.mentioning(function.name)
            if isinstance(call, ast.Call) and calls.name_of(call) == function.name
        ]
    for path, owner in itertools.product(filter(None, given), owners):
        if owner == path or (isinstance(statement, ast.Expr) and owner.startswith((f"{path}.", f"{path}["))):
            yield owner.removeprefix(path)
