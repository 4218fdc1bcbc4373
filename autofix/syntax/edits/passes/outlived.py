"""A state that passes hand on, while what each pass hands to the same call with it begins anew."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from autofix.probe.wire import Carrier, Crossing, Frame
from autofix.syntax import blocks, calls, names
from autofix.syntax.blocks import holds
from autofix.syntax.edits.passes.begun_elsewhere import is_begun
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources


@dataclass(frozen=True, slots=True)
class Outlived:
    """A state that goes on from the pass before, and `other`, which `begins` gives its start in each pass.

    One call takes both. `loop` is what a pass is a turn of, or the function that each pass calls.
    """

    carrier: Carrier
    source: Source
    loop: ast.For | ast.While | calls.Function
    begins: ast.stmt
    other: str

    @property
    def start(self) -> ast.expr | None:
        """What the state begins with before all passes, where the text gives it one start."""
        if "." in self.carrier.path:
            return None
        inside = {id(one) for one in ast.walk(self.loop)}
        function = self.source.function(self.begins)
        values = [
            value
            for one in names.assignments(self.source, self.carrier.path)
            if id(one) not in inside and self.source.function(one) is function
            for value in names.given_to(one, self.carrier.path)
        ]
        return values[0] if len(values) == 1 else None


def outlived(crossings: Iterable[Crossing], failed: Sequence[Frame], sources: Sources) -> Iterator[Outlived]:
    """The states that the failing pass took from an earlier one, beside what begins anew in each pass.

    A loop within the pass hands both from turn to turn, and gives both to one call: an observation, which an
    environment gives anew for each episode, or the other part of a state. Or what is called is made anew itself, as
    the model of each fold is. A state that the passes give its start now and then is carried on purpose.
    """
    taken = [one for one in crossings if one.by == "failing"]
    carriers = dict.fromkeys(carrier for one in taken for carrier in one.carriers)
    files = sources.project_of(failed)
    for one in taken:
        states = {carrier.path for carrier in one.carriers}
        for carrier in one.carriers:
            inner = ""
            for frame, source, call in sources.nodes(one.used):
                called, inner = inner, frame.function.rpartition(".")[2]
                if isinstance(call, ast.Call) and not (
                    is_begun(carrier, carriers, failed, files)
                    if "." in carrier.path
                    else _is_started(source, carrier.path, call, failed)
                ):
                    found = _begun_beside(source, call, states, failed)
                    yield from (
                        Outlived(carrier, source, *each)
                        for each in found
                        if _goes_with(each[-1], carrier, call, method=called)
                    )


def _goes_with(other: str, carrier: Carrier, call: ast.Call, *, method: str) -> bool:
    """Whether a call takes both: the state is what it is given, too, or is kept by what it is called of.

    That may be the object of which it calls a method. Whoever gives a call an attribute and a variable keeps the one on
    purpose, as a memory that lasts.
    """
    owner = carrier.path.rpartition(".")[0]
    is_method = isinstance(call.func, ast.Attribute) and call.func.attr == method
    kept_by = calls.path_of(call.func.value if is_method and isinstance(call.func, ast.Attribute) else call.func)
    if owner and f"{owner}.".startswith(f"{kept_by}."):
        return True
    given = {calls.path_of(part) for one in calls.values(call) for part in names.parts(one)}
    return carrier.path in given and ("." in other or not owner)


def _is_started(source: Source, path: str, call: ast.Call, failed: Sequence[Frame]) -> bool:
    """Whether a loop that the backward stood in gives a variable a value made of nothing that its call returns."""
    returned = names.binds(source.statement(call))
    return any(
        source.function(one) is source.function(call)
        and any(blocks.passed(source, loop, failed) for loop in blocks.loops(source, one))
        and not _variables(value) & {path, *returned}
        for one in names.assignments(source, path)
        for part, value in names.paired(one)
        if calls.path_of(part) == path and one is not source.statement(call)
    )


def _begun_beside(
    source: Source, call: ast.Call, states: set[str], failed: Sequence[Frame]
) -> Iterator[tuple[ast.For | ast.While | calls.Function, ast.stmt, str]]:
    """What a call is given, or called of, that each turn of a loop around the backward gives a start; and that loop."""
    loops: list[ast.For | ast.While | calls.Function] = [*blocks.loops(source, call)]
    function = source.function(call)
    if function is not None and not blocks.passed(source, function, failed):
        loops.append(function)
    inputs = set(calls.parameters(function)) - {"self"} if function is not None else set()
    given = {calls.path_of(part) for one in calls.values(call) for part in names.parts(one)} - {"", *states}
    made = calls.path_of(call.func).partition(".")[0]
    for inner, outer in itertools.pairwise(loops):
        if outer is not function and not blocks.passed(source, outer, failed):
            continue
        for other in sorted({*given, made} - {"", "self"}):
            bound = [node for node in names.assignments(source, other) if holds(outer, node)]
            begins = [
                node
                for node in bound
                if not holds(inner, node)
                and node.lineno < inner.lineno
                and not any(_reads(node, one) for one in {other, *(inputs if outer is function else ())})
            ]
            if not begins or (other != made and not any(holds(inner, one) and _goes_on(one, call) for one in bound)):
                continue
            if other != made or isinstance(begins[0].value, ast.Call):
                yield outer, begins[0], other


def _reads(node: ast.Assign | ast.AnnAssign | ast.AugAssign, name: str) -> bool:
    return isinstance(node, ast.AugAssign) or (node.value is not None and name in _variables(node.value))


def _goes_on(node: ast.Assign | ast.AnnAssign | ast.AugAssign, call: ast.Call) -> bool:
    """Whether a turn gives the next one what it computes by a call, and no mere counter."""
    return node.end_lineno is not None and node.end_lineno >= call.lineno and any(calls.within(node))


def _variables(value: ast.expr) -> set[str]:
    return {path.partition(".")[0] for path in names.reads(value)}
