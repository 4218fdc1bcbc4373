"""A start that each pass has and only the first one reads: later ones find in its place what the pass before left."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

from autofix.probe.wire import Carrier, Crossing, Frame
from autofix.syntax import blocks, calls, names
from autofix.syntax.blocks import holds
from autofix.syntax.edits.passes.begun_elsewhere import (
    begun_before,
    begun_by_constructors,
    begun_by_nobody,
    begun_elsewhere,
)
from autofix.syntax.edits.passes.outlived import outlived
from autofix.syntax.edits.passes.resets import left_as_it_is
from autofix.syntax.edits.passes.shuffled import is_of_rows, shuffled
from autofix.syntax.edits.statements import insert_after, insert_before, replace_statement
from autofix.syntax.edits.steps import Step
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources

_NAMESPACES = frozenset({"locals", "globals", "vars", "dir"})
_SAME = frozenset({"clone", "detach", "to", "cuda", "float", "contiguous"})
"""Methods that leave a start what it is."""


@dataclass(frozen=True, slots=True)
class Begun:
    """Where a pass could forget what it left, so that the next one begins with its start.

    `path` is what the pass leaves, `start` what stands ready to begin with, `place` where one of the two is chosen.
    `about` names the property that says how the code shows that start: there another loop begins each of its turns so
    at `place`, or a method that nothing calls begins there. `beside`: what a method puts back already, which is to put
    back this, too, at `place`.
    """

    source: Source
    steps: list[Step]
    path: str
    start: str
    place: Frame
    about: str = "start-is-read-once"
    beside: str = ""


@dataclass(frozen=True, slots=True)
class _Choice:
    """A conditional that asks whether a variable holds anything, and what is done where it holds nothing."""

    node: ast.If | ast.IfExp
    empty: Sequence[ast.AST]
    forget: str
    function: str


def begun(crossings: Iterable[Crossing], failed: Sequence[Frame], sources: Sources) -> Iterator[Begun]:
    """For each variable that the failing pass took from an earlier one: how it would begin with its start instead.

    That start is made in each pass, before a loop within the pass whose first step is to begin with it, and is read for
    nothing else in there; or it is a parameter, which would be trained in the first pass alone. Where the code itself
    forgets the variable now and then, as at the begin of an epoch or where a sequence ends, it is carried on purpose.
    """
    carriers = dict.fromkeys(carrier for one in crossings if one.by == "failing" for carrier in one.carriers)
    for carrier in carriers:
        if (source := sources.source(carrier.file)) is None:
            continue
        for choice, start in _starts(source, carrier, failed):
            if _is_forgotten(choice, carrier, carriers, failed, sources):
                continue
            for at, steps, path in _forgetting(choice, carrier, carriers, failed, sources):
                place = Frame.around(carrier.file, choice.node.test, choice.function)
                yield Begun(at, steps, path, start, place)
    yield from _as_handed(crossings, failed, sources)
    yield from _as_elsewhere(crossings, failed, sources)
    yield from _as_uncalled(crossings, failed, sources)
    yield from _as_constructed(crossings, failed, sources)
    yield from _in_whole(crossings, failed, sources)
    yield from _beside(crossings, failed, sources)
    yield from _in_random_order(crossings, failed, sources)
    yield from _before_random_order(crossings, failed, sources)


def _as_handed(crossings: Iterable[Crossing], failed: Sequence[Frame], sources: Sources) -> Iterator[Begun]:
    """Where a method is handed a start once in each pass, and takes it if there is nothing yet: it always takes it."""
    taken = {carrier: one.used for one in crossings if one.by == "failing" for carrier in one.carriers}
    for carrier, used in taken.items():
        if (source := sources.source(carrier.file)) is None or "." not in carrier.path:
            continue
        for node in source.mentioning(carrier.path):
            function = source.function(node)
            choice = _choice(node, carrier.path, blocks.qualified(source, node)) if isinstance(node, ast.If) else None
            if choice is None or function is None or choice.function == carrier.function:
                continue
            match choice.node:
                case ast.If(body=[ast.Assign([_], ast.Name(start)) as made], orelse=[]) if (
                    start in calls.parameters(function)
                    and _is_handed_once(function, used, failed, sources)
                    and not _is_forgotten(choice, carrier, taken, failed, sources)
                ):
                    steps = replace_statement(source, choice.node, [source.segment(made)])
                    place = Frame.around(carrier.file, choice.node.test, choice.function)
                    yield Begun(source, steps, carrier.path, start, place)


def _is_handed_once(
    function: calls.Function, used: Sequence[Frame], failed: Sequence[Frame], sources: Sources
) -> bool:  # fmt: skip
    """Whether a function is called at one place, to which a pass comes once on its way to where a state is `used`."""
    first = sources.source(failed[-1].file)
    places = [*sources.readers(function, first)] if first is not None else []
    callers = [(str(one.path), blocks.qualified(one, node)) for one, node in places]
    on_the_way = [number for number, frame in enumerate(used) if [(frame.file, frame.function)] == callers]
    if not on_the_way:
        return False
    calling = [(one, node) for _, one, node in sources.nodes(used[on_the_way[-1] + 1 :])]
    around = (loop for one, node in (*places, *calling) for loop in blocks.loops(one, node))
    return all(any(blocks.passed(one, loop, failed) for one in sources.files(failed)) for loop in around)


def _in_whole(crossings: Iterable[Crossing], failed: Sequence[Frame], sources: Sources) -> Iterator[Begun]:
    """In a method that each pass calls, and that puts back a part of the state: what it leaves as it is, too."""
    carriers = dict.fromkeys(carrier for one in crossings for carrier in one.carriers if carrier.kind == "tensor")
    taken = {(carrier.file, carrier.path) for one in crossings if one.by == "failing" for carrier in one.carriers}
    callers = sources.project_of(failed)
    found: dict[ast.FunctionDef, list[tuple[int, Source, str, str, ast.stmt, str]]] = {}
    for one in carriers:
        if (source := sources.source(one.file)) is None:
            continue
        for left in left_as_it_is(sources, source, one.path, callers):
            other = f"{one.path.partition('.')[0]}.{left.other}"
            # What the failing pass took from an earlier one, too, is not put back in each pass.
            if (one.file, other) not in taken and (whole := left.whole(source, one.path)) is not None:
                found.setdefault(left.method, []).append((left.value.lineno, source, one.path, other, *whole))
    for method, parts in found.items():
        parts.sort(key=itemgetter(0))
        _, source, path, other, statement, start = parts[0]
        lines = dict.fromkeys(f"{kept} = {value}" for _, _, kept, _, _, value in parts)
        place = Frame.around(str(source.path), statement, method.name)
        steps = insert_after(source, statement, list(lines))
        yield Begun(source, steps, path, start, place, "state-is-reset-in-part", other)


def _beside(crossings: Iterable[Crossing], failed: Sequence[Frame], sources: Sources) -> Iterator[Begun]:
    """Where each pass begins anew what a call is given beside the state: the start that the state has, too."""
    for one in outlived(crossings, failed, sources):
        start, source, path = one.start, one.source, one.carrier.path
        known = source.imported | source.definitions.keys()
        if start is None or not names.reads(start) <= known | {f"torch.{calls.name_of(start)}"}:
            continue
        steps = insert_before(source, one.begins, [f"{path} = {source.segment(start)}"])
        place = Frame.around(one.carrier.file, one.begins, one.carrier.function)
        yield Begun(source, steps, path, source.segment(start), place, "state-outlives-sequence", one.other)


def _as_elsewhere(crossings: Iterable[Crossing], failed: Sequence[Frame], sources: Sources) -> Iterator[Begun]:
    """At the begin of the loop that goes backward, what other code says before it calls the same module."""
    for carrier, other, statement, owner in begun_elsewhere(crossings, failed, sources, once=True):
        for frame, source, node in sources.nodes(failed):
            loop = next(blocks.loops(source, source.statement(node)), None)
            if source is not other or loop is None or carrier.function != frame.function:
                continue
            match statement:
                case ast.Assign([target], value):
                    path, said = calls.path_of(target), f"{carrier.path} = {{}}"
                case ast.Expr(ast.Call(func) as value):
                    path, said = calls.path_of(func), "{}"
                case _:
                    continue
            own, start = path.rpartition(".")[0], ast.unparse(value)
            read = {one.id for one in ast.walk(value) if isinstance(one, ast.Name)} - {own}
            if path and "." not in own and read <= source.imported | source.definitions.keys():
                if own:
                    start = re.sub(rf"(?<![.\w]){own}\b", owner, start)
                steps = insert_before(source, loop.body[0], [said.format(start)])
                place = Frame.around(str(other.path), statement, frame.function)
                yield Begun(source, steps, carrier.path, start, place, "state-begins-anew-elsewhere")
            break


def _as_uncalled(crossings: Iterable[Crossing], failed: Sequence[Frame], sources: Sources) -> Iterator[Begun]:
    """At the begin of the loop that goes backward, or behind the steps: a method that nothing calls so far."""
    found: dict[ast.FunctionDef, tuple[Source, dict[str, Carrier]]] = {}
    for carrier, home, method, owned in begun_by_nobody(crossings, failed, sources):
        owner = carrier.path.removesuffix(f".{owned}")
        found.setdefault(method, (home, {}))[1].setdefault(f"{owner}.{method.name}()", carrier)
    for method, (home, calling) in found.items():
        for frame, source, node in sources.nodes(failed):
            lines = {
                line: one for line, one in calling.items() if (one.file, one.function) == (frame.file, frame.function)
            }
            if lines:
                steps = _at_the_begin(source, source.statement(node), list(lines))
                start, carrier = next(iter(lines.items()))
                place = Frame.around(str(home.path), method, method.name)
                yield Begun(source, steps, carrier.path, start, place, "state-is-never-reset")
                break


def _as_constructed(crossings: Iterable[Crossing], failed: Sequence[Frame], sources: Sources) -> Iterator[Begun]:
    """At the begin of the loop that goes backward, or behind the steps: the start that constructors alone make."""
    for carrier, home, call, owner in begun_by_constructors(crossings, failed, sources):
        for frame, source, node in sources.nodes(failed):
            if (carrier.file, carrier.function) == (frame.file, frame.function):
                start = re.sub(r"(?<![.\w])self\b", owner, home.segment(call))
                steps = _at_the_begin(source, source.statement(node), [f"{carrier.path} = {start}"])
                place = Frame.around(str(home.path), call, "__init__")
                yield Begun(source, steps, carrier.path, start, place, "state-is-never-reset")
                break


def _in_random_order(crossings: Iterable[Crossing], failed: Sequence[Frame], sources: Sources) -> Iterator[Begun]:
    """Where batches come in random order: each call makes the start that only the first one of all makes so far.

    Where a pass calls the function again and again, its later calls go on from the first: there each pass forgets.
    """
    crossings = list(crossings)
    place = shuffled(sources, failed, crossings)
    taken = dict.fromkeys((carrier, one.used) for one in crossings if one.by == "failing" for carrier in one.carriers)
    for carrier, used in taken if place else ():
        source = sources.source(carrier.file)
        if source is None or not is_of_rows(sources, carrier):
            continue
        about, within = "shuffled-batches-share-state", [one for one, _ in taken]
        for node in source.mentioning(carrier.path):
            function = blocks.qualified(source, node)
            choice = _choice(node, carrier.path, function) if isinstance(node, ast.If | ast.IfExp) else None
            if choice is None:
                continue
            again = _is_called_again(source, node, used, failed, sources)
            match choice.node:
                case ast.If(body=[ast.Assign() as made], orelse=[]) as whole if not again:
                    steps = replace_statement(source, whole, [source.segment(made)])
                    yield Begun(source, steps, carrier.path, source.segment(made.value), place[0], about)
                case _ if not _is_forgotten(choice, carrier, within, failed, sources):
                    start = " ".join(map(source.segment, choice.empty))
                    for at, steps, path in _forgetting(choice, carrier, within, failed, sources):
                        yield Begun(at, steps, path, start, place[0], about)


def _before_random_order(crossings: Iterable[Crossing], failed: Sequence[Frame], sources: Sources) -> Iterator[Begun]:
    """Where batches come in random order: each turn is given the start that states get before the loop so far."""
    crossings = list(crossings)
    place = shuffled(sources, failed, crossings)
    carriers = dict.fromkeys(carrier for one in crossings if one.by == "failing" for carrier in one.carriers)
    of_rows = [one for one in carriers if is_of_rows(sources, one)] if place else []
    for _, source, node in sources.nodes(place if of_rows else ()):
        here = (one for one in of_rows if (one.file, one.function) == (place[0].file, place[0].function))
        loop = next(blocks.loops(source, node))
        made = {one: carrier for carrier, one in begun_before(loop, here, source, sources.project_of(failed))}
        in_order = sorted(made, key=lambda one: one.lineno)
        for first in in_order[:1]:
            steps = insert_before(
                source, loop.body[0], [line for one in in_order for line in names.copied(source, one)]
            )
            start = source.segment(first.value) if isinstance(first, ast.Assign | ast.Expr) else ""
            yield Begun(source, steps, made[first].path, start, place[0], "shuffled-batches-share-state")


def _is_called_again(
    source: Source, node: ast.AST, used: Sequence[Frame], failed: Sequence[Frame], sources: Sources
) -> bool:  # fmt: skip
    """Whether a loop that the failing backward does not stand in is around a statement, or around a call of it."""
    function = source.function(node)
    calling = [(other, call) for _, other, call in sources.nodes(used) if other.function(call) is not function]
    around = (loop for other, one in [(source, node), *calling] for loop in blocks.loops(other, one))
    return any(not any(blocks.passed(other, loop, failed) for other in sources.files(failed)) for loop in around)


def _at_the_begin(source: Source, backward: ast.stmt, lines: list[str], *, can_be: bool = True) -> list[Step]:
    """Lines at the begin of the loop that goes backward; behind the steps where they cannot be there, or none is."""
    loop = next(blocks.loops(source, backward), None) if can_be else None
    if loop is None:
        return insert_after(source, blocks.after_steps(source, backward), lines)
    return insert_before(source, loop.body[0], lines)


def _starts(source: Source, carrier: Carrier, failed: Sequence[Frame]) -> Iterator[tuple[_Choice, str]]:
    """The conditionals that ask for a variable, or for an attribute of a class, each with the start that is ready."""
    for node in source.mentioning(carrier.path):
        if isinstance(node, ast.If | ast.IfExp) and (function := blocks.qualified(source, node)):
            own = function == carrier.function or function.startswith(f"{carrier.function}.")
            choice = _choice(node, carrier.path, function) if own else None
            start = choice and _start(choice)
            if choice and start and (_is_made_in_each(source, choice, start, failed) or _is_learned(source, start)):
                yield choice, start


def _choice(node: ast.If | ast.IfExp, path: str, function: str) -> _Choice | None:
    test, wanted = node.test, True
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, wanted = test.operand, not wanted
    forget = "del {}"
    match test:
        case ast.Compare(ast.Constant(str(name)), [op], [ast.Call(ast.Name(called), [])]) if called in _NAMESPACES:
            asked = name == path
        case ast.Call(ast.Name("hasattr"), [holder, ast.Constant(str(name))]):
            asked, op = f"{ast.unparse(holder)}.{name}" == path, ast.In()
        case ast.Compare(left, [op], [ast.Constant(None)]):
            asked, forget = ast.unparse(left) == path, "{} = None"
        case _:
            return None
    if not asked or not isinstance(op, ast.In | ast.NotIn | ast.Is | ast.IsNot):
        return None
    full = isinstance(op, ast.In | ast.IsNot) is wanted
    branches = [part if isinstance(part, list) else [part] for part in (node.body, node.orelse)]
    return _Choice(node, branches[full], forget, function)


def _start(choice: _Choice) -> str:
    """What is taken, as it stands ready, where the variable holds nothing; '' where it is made there."""
    for one in choice.empty:
        value = one.value if isinstance(one, ast.Assign) else one
        while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _SAME:
            value = value.func.value
        if path := calls.path_of(value):
            return path
    return ""


def _is_made_in_each(source: Source, choice: _Choice, start: str, failed: Sequence[Frame]) -> bool:
    """Whether each pass binds a start before a loop whose steps only ask for it to begin with."""
    function = source.function(choice.node)
    around = list(blocks.loops(source, choice.node))
    inner = list(itertools.takewhile(lambda one: not blocks.passed(source, one, failed), around))
    if not inner:
        return False
    outer = around[len(inner)] if len(around) > len(inner) else None
    made: list[ast.AST] = [
        one
        for one in names.assignments(source, start)
        if source.function(one) is function and one.lineno < choice.node.lineno and (outer is None or holds(outer, one))
    ]
    given = names.binds(outer.target) if isinstance(outer, ast.For) else set()
    if outer is None and function is not None:
        given = set(calls.parameters(function))
    steps = [one for one in inner if start in given or any(not holds(one, made_there) for made_there in made)]
    return bool(steps) and not _is_read(source, steps[-1], choice, start)


def _is_read(source: Source, loop: ast.AST, choice: _Choice, start: str) -> bool:
    """Whether the steps of a loop read a start for something else than to begin with it, or to add to it."""
    to_begin = {id(inside) for one in choice.empty for inside in ast.walk(one)}
    for node in ast.walk(loop):
        if calls.path_of(node) != start or not isinstance(getattr(node, "ctx", None), ast.Load) or id(node) in to_begin:
            continue
        statement = source.statement(node)
        asks = isinstance(statement, ast.If | ast.While) and holds(statement.test, node)
        if not asks and start not in names.binds(statement):
            return True
    return False


def _is_learned(source: Source, start: str) -> bool:
    """Whether a start is a parameter of the module that keeps the state."""
    values = (one.value for one in names.assignments(source, start)) if "." in start else ()
    return any(isinstance(value, ast.Call) and calls.name_of(value) == "Parameter" for value in values)


def _forgetting(
    choice: _Choice, carrier: Carrier, carriers: Iterable[Carrier], failed: Sequence[Frame], sources: Sources
) -> Iterator[tuple[Source, list[Step], str]]:
    """At the begin of the loop that goes backward, where the variable can be reached from there.

    Elsewhere behind the steps: what is read after the last pass is gone then, too.
    """
    _, _, attribute = carrier.path.rpartition(".")
    for frame, source, node in sources.nodes(failed):
        for one in (one for one in carriers if (one.file, one.function) == (frame.file, frame.function)):
            same = one == carrier if attribute == carrier.path else one.path.endswith(f".{attribute}")
            if same:
                lines, statement = [choice.forget.format(one.path)], source.statement(node)
                to_none = choice.forget.endswith("None")
                yield source, _at_the_begin(source, statement, lines, can_be=to_none), one.path
                return


def _is_forgotten(
    choice: _Choice, carrier: Carrier, carriers: Iterable[Carrier], failed: Sequence[Frame], sources: Sources
) -> bool:  # fmt: skip
    """Whether the code itself empties a variable while it runs, or gives an attribute another value elsewhere."""
    files = dict.fromkeys([*(one.file for one in carriers), *(one.file for one in failed)])
    read = [one for one in map(sources.source, files) if one is not None]
    home, (_, _, name) = sources.source(carrier.file), carrier.path.rpartition(".")
    for source in [one for one in read if name != carrier.path or one is home]:
        for one, emptied in _given(source, name):
            own, function = source is home and blocks.qualified(source, one) == choice.function, source.function(one)
            begins = function is not None and function.name == "__init__"
            if begins or (not emptied if own else name == carrier.path):
                continue
            if any(blocks.loops(source, one)) or (own and name != carrier.path):
                return True
            if _is_repeated(carrier, failed, sources) if own else function and _is_called(read, function.name):
                return True
    return False


def _given(source: Source, name: str) -> Iterator[tuple[ast.stmt, bool]]:
    """Where a variable, or an attribute of any object, is given a value that is not made of its own; whether none."""
    for node in source.mentioning(name):
        match node:
            case ast.Assign(targets=[ast.Tuple(parts)], value=ast.Tuple(values)) if len(parts) == len(values):
                pairs = list(zip(parts, values, strict=True))
            case ast.Assign(targets=targets, value=value):
                pairs = [(part, value) for target in targets for part in names.parts(target)]
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                pairs = [(target, value)]
            case ast.Delete(targets=targets):
                pairs = [(target, ast.Constant(None)) for target in targets]
            case _:
                continue
        for path, value in ((calls.path_of(target), value) for target, value in pairs):
            if path.rpartition(".")[2] == name and path not in names.reads(value):
                yield node, isinstance(value, ast.Constant)


def _is_repeated(carrier: Carrier, failed: Sequence[Frame], sources: Sources) -> bool:
    """Whether the function of a variable is itself called in a loop."""
    functions = [frame.function for frame in failed]
    outer = failed[functions.index(carrier.function) + 1 :] if carrier.function in functions else ()
    return any(any(blocks.loops(source, node)) for _, source, node in sources.nodes(outer))


def _is_called(read: Iterable[Source], name: str) -> bool:
    """Whether a function is called elsewhere than where an object is made."""
    found = ((one, node) for one in read for node in one.mentioning(name) if isinstance(node, ast.Call))
    return any(
        calls.name_of(node) == name and getattr(one.function(node), "name", "") != "__init__" for one, node in found
    )
