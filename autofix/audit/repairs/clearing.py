"""Gradients that are cleared at the wrong place, or not at all."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.audit.repair import Found, Offer, Place, calls, stepped
from autofix.syntax import blocks
from autofix.syntax.edits import insert_after, insert_before, move_after, move_before, replace


def missing(found: Found) -> Iterator[Offer]:
    """Clear what a step uses: instead of what is cleared twice, before its backward, or after the step."""
    step = found.here
    name, holder = stepped(step.node)
    if not name:
        yield from _by_hand(step)
        return
    closure = next((f for f in step.source.walk() if isinstance(f, ast.FunctionDef) and f.name == name), None)
    for one in closure.body if closure is not None else ():
        if calls(one, "backward"):
            steps = insert_before(step.source, one, [f"{holder}.zero_grad()"])
            yield Offer(f"Clear the gradients of {holder} in {name}", steps)
    for call in _cleared_twice(step, name):
        assert isinstance(call.func, ast.Attribute)  # noqa: S101  as it was found
        yield Offer(f"Clear the gradients of {name}", replace(step.source, call.func.value, name))
    clear = [f"{name}.zero_grad()"]
    title = f"Clear the gradients of {name} in each pass"
    if (first := _first_backward(step)) is not None:
        yield Offer(title, insert_before(step.source, first, clear))
    yield Offer(title, insert_after(step.source, step.statement, clear))


def _by_hand(step: Place) -> Iterator[Offer]:
    """Forget the gradients that updates by hand have used."""
    steps = []
    for one in step.block:
        match one:
            case ast.AugAssign(target=ast.Name() | ast.Attribute() as target, value=value) if any(
                isinstance(node, ast.Attribute) and node.attr == "grad" for node in ast.walk(value)
            ):
                leaf = step.source.segment(target).removesuffix(".data")
                steps += insert_after(step.source, one, [f"{leaf}.grad = None"])
    if steps:
        yield Offer("Clear the gradients that were used", steps)


def before_step(found: Found) -> Iterator[Offer]:
    """Move what clears gradients before the backward that the step uses, or behind the step."""
    step = found.here
    for clear in found.others:
        if clear.source is not step.source:
            continue
        if (first := _first_backward(step)) is not None:
            steps = move_before(clear.source, [clear.statement], first)
            yield Offer("Clear the gradients before the backward", steps)
        yield behind(clear, step)


def thrown_away(found: Found) -> Iterator[Offer]:
    """Move what clears gradients behind the step that is to use them."""
    if found.others and found.others[-1].source is found.here.source:
        yield behind(found.here, found.others[-1])


def behind(clear: Place, step: Place) -> Offer:
    """What clears gradients, behind a step."""
    return Offer("Clear the gradients after the step", move_after(clear.source, [clear.statement], step.statement))


def _first_backward(step: Place) -> ast.stmt | None:
    """The first backward of a step in its block, after the step before it."""
    first = None
    for one in blocks.before(step.block, step.statement):
        if calls(one, "step"):
            first = None
        elif calls(one, "backward") and first is None:
            first = one
    return first


def _cleared_twice(step: Place, name: str) -> Iterator[ast.Call]:
    """Calls that clear another optimizer a second time in the loop of a step."""
    loop = next(blocks.loops(step.source, step.node), None)
    found: dict[str, list[ast.Call]] = {}
    for node in ast.walk(loop) if loop is not None else ():
        match node:
            case ast.Call(func=ast.Attribute(value=holder, attr="zero_grad")):
                found.setdefault(ast.unparse(holder), []).append(node)
    for other, several in found.items():
        if other != name and len(several) > 1:
            yield from several
