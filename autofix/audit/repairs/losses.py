"""Losses that are given something else than they expect, or go backward at the wrong place."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.audit.repair import Found, Keeps, Offer, Place, calls
from autofix.syntax import blocks, names
from autofix.syntax.calls import name_of, path_of
from autofix.syntax.edits import (
    Step,
    append_call,
    change,
    delete,
    move_after,
    receiver,
    rename,
    replace,
    replace_statement,
    set_keyword,
)
from autofix.syntax.source import Source
from autofix.syntax.writes import is_module

_ACTIVATIONS = ("softmax", "sigmoid")
_NORMALISING = ("softmax", "log_softmax", "normalize")
_NORMALISERS = ("Softmax", "LogSoftmax")
_MODULES = ("Softmax", "Sigmoid")


def activated_twice(found: Found) -> Iterator[Offer]:
    """Leave out the activation that the loss applies itself."""
    title = "Give the loss the scores: it applies the activation itself"
    for place in found.others:
        if not isinstance(place.node, ast.Call):
            continue
        if name_of(place.node) in _ACTIVATIONS:
            yield Offer(title, _without(place), Keeps.WITNESSED)
            continue
        for call in _calls(place.source, _MODULES):
            identity = f"{path_of(call.func).rpartition('.')[0]}.Identity()".removeprefix(".")
            yield Offer(title, replace(place.source, call, identity), Keeps.WITNESSED)


def no_log_probabilities(found: Found) -> Iterator[Offer]:
    """Use the loss that takes scores, or give this one logarithms."""
    source = found.here.source
    if found.subject == "nll_loss":
        for old, new in (("NLLLoss", "CrossEntropyLoss"), ("nll_loss", "cross_entropy")):
            for call in _calls(source, (old,)):
                assert isinstance(call.func, (ast.Name, ast.Attribute))  # noqa: S101  it has a name
                yield Offer(f"Use {new}, which takes scores", rename(source, call.func, new), Keeps.WITNESSED)
    title = "Give the loss log-probabilities"
    values = [(source, value) for value in _given(found.here, 0)]
    for origin, value in (*values, *((place.source, place.node) for place in found.others)):
        for node in ast.walk(value):
            match node:
                case ast.Call(func=ast.Name(id="softmax") | ast.Attribute(attr="softmax") as function):
                    yield Offer(title, rename(origin, function, "log_softmax"), Keeps.WITNESSED)
    for place in found.others:
        for call in _calls(place.source, ("Softmax",)):
            assert isinstance(call.func, (ast.Name, ast.Attribute))  # noqa: S101  it has a name
            yield Offer(title, rename(place.source, call.func, "LogSoftmax"), Keeps.WITNESSED)


def broadcast(found: Found) -> Iterator[Offer]:
    """Give both operands one shape."""
    given: tuple[ast.expr, ...] = ()
    ways: tuple[str, ...] = ()
    match found.here.node:
        case ast.Call(args=[first, second, *_]) | ast.BinOp(left=first, right=second):
            given, ways = (first, second), (".squeeze(1)", ".squeeze(-1)", ".unsqueeze(-1)")
        case ast.Call(args=[one]):
            given, ways = (one,), (".unsqueeze(-1)",)
    for way in ways:
        for operand in given:
            yield Offer("Give both operands one shape", append_call(found.here.source, operand, way), Keeps.WITNESSED)


def along_batch(found: Found) -> Iterator[Offer]:
    """Normalise along the other dimension."""
    for place in (found.here, *found.others):
        called = [place.node] if name_of(place.node) in _NORMALISING else []
        alike = [call for call in _calls(place.source, _NORMALISING) if name_of(call) == name_of(place.node)]
        modules = [] if called else list(_calls(place.source, _NORMALISERS))
        for several in (called, alike, modules):
            steps = [step for call in several for step in _along_features(place.source, call)]
            if steps:
                yield Offer("Normalise each sample by itself", steps, Keeps.WITNESSED)


def _along_features(source: Source, call: ast.AST) -> list[Step]:
    assert isinstance(call, ast.Call)  # noqa: S101  as it was found
    bare = isinstance(call.func, ast.Attribute) and not is_module(source, call.func.value)
    at = 2 if name_of(call) == "normalize" else int(not bare and name_of(call) in _NORMALISING)
    return set_keyword(source, call, "dim", "1", position=at)


def left_out(found: Found) -> Iterator[Offer]:
    """Keep the sum that a statement only computes."""
    source = found.here.source
    for node in source.walk():
        match node:
            case ast.Expr(value=ast.BinOp(left=ast.Name(id=name), op=ast.Add())):
                text = f"{name} = {source.segment(node.value)}"
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.UnaryOp(op=ast.UAdd(), operand=value)):
                text = f"{name} += {source.segment(value)}"
            case _:
                continue
        yield Offer("Add the loss", replace_statement(source, node, [text]), Keeps.MORE)


def target(found: Found) -> Iterator[Offer]:
    """Cut the graph of the target."""
    match found.here.node:
        case ast.Call(args=[_, second, *_]):
            steps = append_call(found.here.source, second, ".detach()")
            yield Offer("Give the loss a target without a graph", steps, Keeps.LOSSES)


def last_batch(found: Found) -> Iterator[Offer]:
    """Go backward, and step, with each batch."""
    source, backward = found.here.source, found.here.statement
    block = found.here.block
    place = block.index(backward)
    first = last = place
    while first and calls(block[first - 1], "zero_grad"):
        first -= 1
    while last + 1 < len(block) and calls(block[last + 1], "step", "clip_grad", "update", "zero_grad"):
        last += 1
    loop = block[first - 1] if first else None
    if isinstance(loop, (ast.For, ast.While)):
        steps = move_after(source, block[first : last + 1], loop.body[-1])
        yield Offer("Go backward with each batch", steps, Keeps.OFTENER)


def divided_twice(found: Found) -> Iterator[Offer]:
    """Divide once."""
    source, statement = found.here.source, found.here.statement
    if isinstance(statement, ast.AugAssign):
        parent = source.parent(statement)
        whole = parent if isinstance(parent, ast.For) and len(parent.body) == 1 else statement
        yield Offer("Divide once", delete(source, whole), Keeps.MULTIPLE)
    for value in (statement, *_bound_to(source, statement)):
        for node in ast.walk(value):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
                steps = change(source, node, "undivided", lambda old, guard: guard(old.left))
                yield Offer("Divide once", steps, Keeps.MULTIPLE)


def _bound_to(source: Source, statement: ast.stmt) -> Iterator[ast.expr]:
    """The values of the variables that a statement reads, where they are assigned in its block."""
    block = blocks.block_of(source, statement)
    for one in blocks.before(block, statement):
        if isinstance(one, ast.Assign) and names.meets(names.binds(one), names.reads(statement)):
            yield one.value


def _without(place: Place) -> list[Step]:
    call = place.node
    assert isinstance(call, ast.Call)  # noqa: S101  as it was found
    on_value = isinstance(call.func, ast.Attribute) and not is_module(place.source, call.func.value)
    if on_value:
        return list(receiver(place.source, call))
    return list(replace(place.source, call, place.source.segment(call.args[0]))) if call.args else []


def _given(place: Place, position: int) -> Iterator[ast.expr]:
    """An argument of a call, and what it was assigned."""
    if isinstance(place.node, ast.Call) and len(place.node.args) > position:
        argument = place.node.args[position]
        yield argument
        for assigned in names.assignments(place.source, ast.unparse(argument)):
            if assigned.value is not None:
                yield assigned.value


def _calls(source: Source, wanted: tuple[str, ...]) -> Iterator[ast.Call]:
    for node in source.walk():
        if isinstance(node, ast.Call) and name_of(node) in wanted:
            yield node
