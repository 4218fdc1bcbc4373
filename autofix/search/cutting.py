"""Where a kept graph can be cut, and how the project writes that: by its own method or function, or spelled out."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from autofix.core.edit import Declined
from autofix.core.model import Diagnosis
from autofix.probe.wire import Carrier, Crossing, Frame
from autofix.syntax import blocks, calls, live, names, nested, writes
from autofix.syntax.edits import Splice, Step, append_call, ensure_name, insert_after, insert_before, replace
from autofix.syntax.reaching import reads_in
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources
from autofix.syntax.vocabulary import DETACHED

_HARMLESS = frozenset({
    "detach", "detach_", "Variable", "isinstance", "type", "len", "tuple", "list", "dict", "items", "values", "keys",
    "is_tensor", "clone", "append", "zip", "enumerate", "range", "map", "hasattr",
})  # fmt: skip
"""What a function calls that does nothing but cut."""
_MODULE = "<module>"
_MAY_GIVE_NONE = frozenset({"get", "pop", "getattr", "next", "setdefault"})
"""Calls whose value is often None."""
_DISPLAYS = (ast.Constant, ast.List, ast.Dict, ast.Tuple, ast.Set)
_CONTAINERS = ("deque", "list", "dict", "set", "defaultdict", "OrderedDict")


Placed = tuple[Sequence["Step"], Sequence[str], int]
"""Edits, the variables that they cut, and behind how many others of its tier they come."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A statement that cuts some variables, and the imports that it needs."""

    paths: tuple[str, ...]
    line: str
    imports: tuple[Step, ...] = ()


def carried(crossings: Iterable[Crossing]) -> list[Carrier]:
    """What carries a graph, each variable once: as a container that can be cut, wherever it was seen as one."""
    found: dict[tuple[str, str, str], Carrier] = {}
    for carrier in (one for crossing in crossings for one in crossing.carriers):
        place = (carrier.file, carrier.function, carrier.path)
        if place not in found or found[place].kind == nested.UNKNOWN:
            found[place] = carrier
    return list(found.values())


def after_backward(carriers: list[Carrier], diagnosis: Diagnosis, sources: Sources) -> Iterator[Placed]:
    """Behind the step that follows each backward, in each function whose variables hold what is carried."""
    freed = (saved.freed_by for saved in diagnosis.trace.saved[:1] if saved.freed_by)
    stacks = (diagnosis.failure.stack, *freed)
    placed = [(depth, *one) for s in stacks for depth, frame in enumerate(s) for one in sources.nodes([frame])]
    for depth, frame, source, node in dict.fromkeys(placed):
        here = [c for c in carriers if c.file == frame.file and _is_known(c, frame, source, node)]
        statement = blocks.after_steps(source, source.statement(node))
        kept = [c for c in here if c.kind != "tensor" or not _made_before(source, statement, c.path)]
        kept = [c for c in kept if live.read_after(source, statement, c.path)]
        cuts = cut(kept, carriers, source, sources)
        for chosen in [cuts, *([one] for one in cuts if len(cuts) > 1)] if cuts else ():
            lines = [line for one in chosen for line in _guarded(source, statement, one)]
            edits = insert_after(source, statement, lines)
            paths = [path for one in chosen for path in one.paths]
            # A path through other objects' attributes is a worse place than the method that uses the state,
            # and worse still in a file that knows nothing of the state but its object. So is one that rebuilds records.
            rebuilt = any(c.kind != "other" and nested.rebuilds(c.kind) for c in kept if c.path in paths)
            reach = 3 * (rebuilt or any(path.removeprefix("self.").count(".") + path.count("[") for path in paths))
            reach += 2 * any(_is_elsewhere(path, frame.file, carriers) for path in paths)
            yield [*edits, *(step for one in chosen for step in one.imports)], paths, min(depth, 2) + reach


def _is_known(carrier: Carrier, frame: Frame, source: Source, node: ast.AST) -> bool:
    """Whether a variable is one of the function that a frame runs, or of the module, by the same name there."""
    if carrier.function == frame.function:
        return True
    function = source.function(node)
    if carrier.function != _MODULE or function is None:
        return False
    root = carrier.path.split(".")[0].split("[")[0]
    lent = {name for one in ast.walk(function) if isinstance(one, ast.Global) for name in one.names}
    return root in lent or (root != carrier.path and root not in names.locals_of(function))


def in_own_method(carriers: list[Carrier], diagnosis: Diagnosis, sources: Sources) -> Iterator[Placed]:
    """At the end of the method by which a class cuts its other states, where the program calls that."""
    owners: dict[tuple[str, str], list[Carrier]] = {}
    for carrier in carriers:
        if carrier.path.startswith("self.") and carrier.path.count(".") == 1:
            owners.setdefault((carrier.file, carrier.function.rpartition(".")[2]), []).append(carrier)
    reached = sources.reached(diagnosis.failure.stack) if owners else []
    for (file, name), kept in owners.items():
        for source in (one for one in reached if str(one.path) == file):
            for method in _methods_that_cut(source, name):
                written = ast.unparse(method)
                cuts = cut([one for one in kept if one.path not in written], (), source, sources)
                called = (one for other in reached for one in other.mentioning(method.name))
                if cuts and any(isinstance(one, ast.Call) and calls.name_of(one) == method.name for one in called):
                    edits = insert_after(source, method.body[-1], [one.line for one in cuts])
                    yield (
                        [*edits, *(step for one in cuts for step in one.imports)],
                        [path for one in cuts for path in one.paths],
                        0,
                    )


def _methods_that_cut(source: Source, name: str) -> Iterator[ast.FunctionDef]:
    """The methods of a class that only cut what its objects hold, and give nothing back."""
    for node in source.mentioning(name):
        for method in node.body if isinstance(node, ast.ClassDef) and node.name == name else ():
            if isinstance(method, ast.FunctionDef) and _cuts_all(method, set()) and not live.returned(method):
                yield method


def _guarded(source: Source, statement: ast.stmt, cut: Cut) -> list[str]:
    """A cut's lines, under the condition under which the code beside it uses the object that holds what is cut."""
    around = set(source.around(statement))
    holders = {path[:at] for path in cut.paths for at, mark in enumerate(path) if mark in ".["}
    nodes = source.mentioning(min(holders, key=len), source.function(statement)) if holders else ()
    for node in nodes:
        for test in _conditions(node) if node not in around else ():
            match test:
                case ast.Compare(held, [ast.IsNot()], [ast.Constant(None)]) | (ast.Name() | ast.Attribute() as held):
                    if ast.unparse(held) in holders:
                        return [f"if {ast.unparse(test)}:", f"    {cut.line}"]
    return [cut.line]


def _conditions(node: ast.AST) -> list[ast.expr]:
    if not isinstance(node, (ast.If, ast.IfExp)):
        return []
    return node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]


def where_stored(carriers: list[Carrier], sources: Sources) -> Iterator[Placed]:
    """At each assignment to a variable, at each value put into a container, and at all attributes together."""
    together: dict[Step, str] = {}
    for carrier in carriers:
        source = sources.source(carrier.file)
        if source is None:
            continue
        for statement in names.assignments(source, carrier.path):
            value = statement.value
            if value is None or isinstance(value, _DISPLAYS) or _begins_empty(value):
                continue
            several = isinstance(statement, ast.Assign) and isinstance(statement.targets[0], (ast.Tuple, ast.List))
            with contextlib.suppress(Declined):
                if not several and carrier.kind == "tensor":
                    edits = append_call(source, value, f".detach(){_as_input(source, carrier.path)}")
                    together.update(dict.fromkeys(edits, carrier.path) if carrier.path.startswith("self.") else {})
                    yield edits, [carrier.path], 2
                else:
                    for one in cut([carrier], (), source, sources):
                        yield [*insert_after(source, statement, [one.line]), *one.imports], [carrier.path], 4
    if len(together) > 1:  # each may keep a graph: one cut alone would only uncover the next
        yield list(together), list(dict.fromkeys(together.values())), 3
    yield from _into_containers(carriers, sources)


def _begins_empty(value: ast.expr) -> bool:
    """Whether a container is made that holds nothing yet: `deque(maxlen=5)`."""
    return (
        isinstance(value, ast.Call)
        and calls.name_of(value) in _CONTAINERS
        and (not value.args or calls.name_of(value) == "defaultdict")
    )


def _into_containers(carriers: list[Carrier], sources: Sources) -> Iterator[Placed]:
    """Of each value put into a container, all that has a graph; and where several are filled, that of all of them."""
    found: dict[tuple[Step, ...], str] = {}
    for carrier in carriers:
        source = sources.source(carrier.file)
        if source is not None and carrier.kind not in ("tensor", "parameter", "other"):
            homes = dict.fromkeys(filter(None, (sources.source(one.file) for one in carriers)))
            fills = (_handed(source, place, item, homes, sources) for place, item in names.fills(source, carrier.path))
            steps = (step for one in fills for at, place, item in one for step in _put(at, place, item, carrier))
            found[tuple(dict.fromkeys(steps))] = carrier.path
    found.pop((), None)
    if len(found) > 1:
        yield list(dict.fromkeys(step for one in found for step in one)), list(dict.fromkeys(found.values())), 1
    for one, path in found.items():
        yield one, [path], 1 + (len(found) > 1)


def _put(source: Source, place: ast.AST, item: ast.expr, carrier: Carrier) -> Iterator[Step]:
    """What cuts the parts of a value that have a graph, where it is put into a container."""
    form = nested.of_each(carrier.kind)
    if isinstance(place, ast.Call) and calls.name_of(place) == "extend":
        form = f"[*{form}]" if form else ""
    written = _written_out(source, item)
    parts = nested.cut_parts(written, form) if form else ((one, "") for one in getattr(written, "elts", [written]))
    for part, text in parts:
        with contextlib.suppress(Declined):
            if not text or text == f"{ast.unparse(part)}.detach()":
                yield from append_call(source, part, ".detach()") if _may_have_graph(part) else ()
            elif calls.path_of(part):
                yield from replace(source, part, text)


def _handed(
    source: Source, place: ast.AST, item: ast.expr, homes: Iterable[Source], sources: Sources
) -> Iterator[tuple[Source, ast.AST, ast.expr]]:
    """Where a value that is put into a container is put together: `Record(*args)` by whoever calls that function."""
    function = source.function(item)
    rest = function.args.vararg if function is not None else None
    match item:
        case ast.Call(args=[ast.Starred(value=ast.Name(id=name))]) if function and rest and name == rest.arg:
            read = dict.fromkeys(one for home in homes for one in sources.readers(function, home))
            called = ((at, at.parent(node)) for at, node in read)
            yield from ((at, place, call) for at, call in called if isinstance(call, ast.Call))
        case _:
            yield source, place, item


def _may_have_graph(part: ast.expr) -> bool:
    return isinstance(part, calls.VALUES) and not (isinstance(part, ast.Call) and calls.name_of(part) in DETACHED)


def _written_out(source: Source, item: ast.expr) -> ast.expr:
    """What a variable was given that nothing else reads."""
    if isinstance(item, ast.Name):
        given = reads_in(source.function(item) or source.tree)
        found = given.get(item, frozenset())
        match [one for one in found if sum(one in others for others in given.values()) == 1]:
            case [ast.Assign(targets=[ast.Name()], value=value)] if len(found) == 1:
                return value
    return item


def before_use(crossing: Crossing, sources: Sources) -> Iterator[tuple[list[Step], str]]:
    """Where a variable may hold nothing yet, only a guarded cut can stand before its use."""
    for carrier in crossing.carriers:
        for frame, source, node in sources.located(crossing.used):
            path = carrier.path
            if (frame.function, frame.file) != (carrier.function, carrier.file) or "[" in path:
                continue
            if path not in {ast.unparse(part) for part in calls.tensors_in(node)} or _never_none(source, node, path):
                continue
            for one in cut([carrier], (), source, sources):
                lines = [f"if {path} is not None:", f"    {one.line}"]
                with contextlib.suppress(Declined):
                    yield [*insert_before(source, source.statement(node), lines), *one.imports], path


def _never_none(source: Source, node: ast.AST, path: str) -> bool:
    """Whether a variable of a function is one in whose place no None can stand: each value it is given is computed."""
    function = source.function(node)
    if not path.isidentifier() or (function is not None and path in calls.parameters(function)):
        return False
    given = [one.value for one in names.assignments(source, path) if source.function(one) is function]
    sure = (
        isinstance(one, ast.BinOp) or (isinstance(one, ast.Call) and calls.name_of(one) not in _MAY_GIVE_NONE)
        for one in given
    )
    return bool(given) and all(sure)


def may_be_none(carrier: Carrier, sources: Sources) -> bool:
    """Whether the class that keeps an attribute itself sets it to None."""
    source = sources.source(carrier.file)
    if source is None or not carrier.path.startswith("self."):
        return False
    values = (statement.value for statement in names.assignments(source, carrier.path))
    return any(isinstance(value, ast.Constant) and value.value is None for value in values)


def cut(here: Sequence[Carrier], everywhere: Sequence[Carrier], source: Source, sources: Sources) -> list[Cut]:
    """A statement for each variable of one function, or for all those of one object that its own method cuts.

    `everywhere`: what else held the same tensors, which tells the class that an object is of.
    """
    found: dict[str, Cut] = {}
    for carrier in here:
        if carrier.path in found:
            continue
        holder, _, name = carrier.path.rpartition(".")
        beside = [one.path for one in here if one.path.rpartition(".")[0] == holder]
        method = _method({path.rpartition(".")[2] for path in beside}, name, everywhere, sources) if holder else ""
        if method:
            found.update(dict.fromkeys(beside, Cut(tuple(beside), f"{holder}.{method}()")))
        elif (one := _one(carrier, source, sources)) is not None:
            found[carrier.path] = one
    return list(dict.fromkeys(found.values()))


def _one(carrier: Carrier, source: Source, sources: Sources) -> Cut | None:
    path = carrier.path
    if names.sometimes_plain(source, path):  # it is cut where it is given its value
        return None
    for function, home in _functions(carrier.kind, source, sources):
        if (called := _reached(function, home, source)) is not None:
            return Cut((path,), f"{path} = {called[0]}({path})", called[1])
    try:
        line = nested.cut_statement(path, carrier.kind)
        line += _as_input(source, path) if carrier.kind == "tensor" else ""
        imports: list[Step] = []
        for name in (one for one in nested.IMPORTED if f"{one}(" in line):
            known, steps = ensure_name(source, name)
            line, imports = line.replace(f"{name}(", f"{known}("), imports + steps
    except Declined:
        return None
    return Cut((path,), line, tuple(imports))


def _as_input(source: Source, path: str) -> str:
    """What a variable without its graph needs besides where derivatives are taken by it: to require a gradient."""
    found = (one for one in source.mentioning(path) if isinstance(one, ast.Call))
    inputs = (calls.argument(one, calls.differentiation(one), "inputs") for one in found)
    return ".requires_grad_()" if any(path in names.reads(one) for one in inputs if one is not None) else ""


def _functions(form: str, source: Source, sources: Sources) -> Iterator[tuple[ast.FunctionDef, Source]]:
    """The functions of the project that give back what they are given, without its graph."""
    if form in nested.TENSORS or nested.kinds(form) - {"dict"}:
        return
    for home in sources.imported_by(source):
        for function in home.tree.body:
            if isinstance(function, ast.FunctionDef) and _gives_back(function, form):
                yield function, home


def _gives_back(function: ast.FunctionDef, form: str) -> bool:
    required = calls.parameters(function)[: len(function.args.args) - len(function.args.defaults)]
    called = set(map(calls.name_of, calls.within(function)))
    returned = [node for node in ast.walk(function) if isinstance(node, ast.Return) and node.value is not None]
    if len(required) != 1 or not _cuts_only(function, called - {function.name}) or not returned:
        return False
    if "dict" in nested.kinds(form) and "items" not in called:
        return False
    return function.name in called or nested.is_flat(form)


def _cuts_only(function: ast.FunctionDef, called: set[str]) -> bool:
    attributes = {node.attr for node in ast.walk(function) if isinstance(node, ast.Attribute)}
    return called <= _HARMLESS and bool({"detach", "detach_", "data"} & attributes)


def _reached(function: ast.FunctionDef, home: Source, source: Source) -> tuple[str, tuple[Step, ...]] | None:
    """How a file calls a function of another one, if it imports anything of that."""
    if home is source:
        return function.name, ()
    for node in source.tree.body:
        match node:
            case ast.Import(names=aliases):
                for alias in aliases:
                    if alias.name.rpartition(".")[2] == home.path.stem:
                        return f"{alias.asname or alias.name}.{function.name}", ()
            case ast.ImportFrom(module=str(module), names=aliases) if module.rpartition(".")[2] == home.path.stem:
                known = next((a.asname or a.name for a in aliases if a.name in (function.name, "*")), "")
                if known:
                    return known if known != "*" else function.name, ()
                end = source.extent(aliases[-1])[1]
                return function.name, (Splice(source, end, end, f", {function.name}"),)
    return None


def _method(attributes: Iterable[str], name: str, everywhere: Sequence[Carrier], sources: Sources) -> str:
    """The method, if there is one, by which the class of an object cuts some of its attributes and nothing else."""
    for owner in (one for one in everywhere if one.path == f"self.{name}"):
        source = sources.source(owner.file)
        name = owner.function.rpartition(".")[2]
        for node in source.mentioning(name) if source is not None else ():
            if not isinstance(node, ast.ClassDef) or node.name != name:
                continue
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and _cuts_all(method, {f"self.{one}" for one in attributes}):
                    return method.name
    return ""


def _cuts_all(method: ast.FunctionDef, attributes: set[str]) -> bool:
    called, bound = set(map(calls.name_of, calls.within(method))), names.bound_by(method.body)
    alone = len(calls.parameters(method)) == 1 + len(method.args.defaults)
    return alone and attributes <= bound and _cuts_only(method, called)


def _is_elsewhere(path: str, file: str, carriers: list[Carrier]) -> bool:
    """Whether an attribute is one of a class in another file."""
    owners = {one.file for one in carriers if one.path == f"self.{path.rpartition('.')[2]}"}
    return "." in path and bool(owners) and file not in owners


def _made_before(source: Source, statement: ast.stmt, path: str) -> bool:
    """Whether a variable keeps one tensor through all passes of the loop around `statement`.

    Cut at the end of the body it would be another in the first pass than in those after it; it is cut where it is made.
    """
    loop = next(blocks.loops(source, statement), None)
    if loop is None or not path.isidentifier():
        return False
    shared = (one for one in source.mentioning(path) if isinstance(one, (ast.Global, ast.Nonlocal)))
    if any(path in one.names for one in shared) or path in names.binds(loop):
        return False
    return not any(writes.written(source, node) == path for node in ast.walk(loop))
