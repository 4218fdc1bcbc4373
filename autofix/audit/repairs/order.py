"""Calls of a training loop at the wrong place, or missing: clipping, schedules, scalers, steps."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.audit.repair import Found, Keeps, Offer, Place, calls, stepped, target_of
from autofix.syntax import blocks
from autofix.syntax.calls import name_of, statement_call
from autofix.syntax.edits import (
    append_call,
    delete,
    embed,
    insert_after,
    insert_before,
    move_after,
    move_before,
    replace,
    replace_statement,
)

_CALLED = ("zero_grad", "step", "train", "eval", "update", "backward")
"""Methods of a training loop that take no argument and are called for what they do."""
_BY_BATCH = ("OneCycleLR", "CyclicLR")
"""Schedules that are made to be stepped with each batch."""


def uncalled(found: Found) -> Iterator[Offer]:
    """Call the methods that statements only name."""
    for source in found.sources.imported_by(found.here.source):
        for node in source.walk():
            match node:
                case ast.Expr(value=ast.Attribute(attr=name) as method) if name in _CALLED:
                    keeps = Keeps.MORE if name == "backward" else Keeps.GRADIENTS
                    yield Offer(f"Call {name}", append_call(source, method, "()"), keeps)


def clipping(found: Found) -> Iterator[Offer]:
    """Clip between the backward and the step; behind `unscale_` where there is a scaler."""
    source = found.here.source
    for clip, block in found.here.beside("backward", "step"):
        for one in blocks.after(block, clip):
            optimizer, scaler = stepped(statement_call(one) or one)
            if found.subject == "scaled" and scaler:
                unscale = insert_before(source, clip, [f"{scaler}.unscale_({optimizer})"])
                yield Offer("Unscale the gradients before they are clipped", unscale)
            elif found.subject != "scaled" and calls(one, "backward"):
                yield Offer("Clip after the backward", move_after(source, [clip], one))
        if found.subject != "scaled":
            earlier = [one for one in blocks.before(block, clip) if calls(one, "step")]
            for one in reversed(earlier):
                yield Offer("Clip before the step", move_before(source, [clip], one))


def schedule_first(found: Found) -> Iterator[Offer]:
    """Step the schedule behind its optimizer, or at the end of its loop."""
    source, statement = found.here.source, found.here.statement
    following = blocks.after(found.here.block, statement)
    anchors = [*(one for one in following if calls(one, "step")), *following[-1:]]
    for anchor in dict.fromkeys(anchors):
        title = "Step the schedule after the optimizer"
        yield Offer(title, move_after(source, [statement], anchor))


def schedule_forgotten(found: Found) -> Iterator[Offer]:
    """Step a schedule at the end of each epoch, or behind the step where it counts batches."""
    name, source = target_of(found.here), found.here.source
    if not name or not isinstance(found.here.node, ast.Call) or not found.here.node.args:
        return
    optimizer = ast.unparse(found.here.node.args[0])
    for node in source.walk():
        if stepped(node)[0] != optimizer:
            continue
        around = list(blocks.loops(source, node))
        after = [around[-1].body[-1]] if around else []
        if name_of(found.here.node) in _BY_BATCH:
            after = [source.statement(node)]
        for anchor in after:
            yield Offer(f"Step {name}", insert_after(source, anchor, [f"{name}.step()"]))


def schedule_by_batch(found: Found) -> Iterator[Offer]:
    """Step a schedule that counts batches with each of them."""
    source, statement = found.here.source, found.here.statement
    for one in blocks.before(found.here.block, statement):
        for inner in ast.walk(one):
            if isinstance(inner, ast.stmt) and calls(inner, "step"):
                yield Offer("Step the schedule with each batch", move_after(source, [statement], inner))


def schedule_of_other(found: Found) -> Iterator[Offer]:
    """Make the schedule after the optimizer that trains."""
    made = found.others[-1] if found.others else None
    if made is not None and made.source is found.here.source:
        steps = move_after(made.source, [found.here.statement], made.statement)
        yield Offer("Make the schedule for the optimizer that steps", steps)


def scaler_update(found: Found) -> Iterator[Offer]:
    """Update the scaler behind its step."""
    _, scaler = stepped(found.here.node)
    if scaler:
        steps = insert_after(found.here.source, found.here.statement, [f"{scaler}.update()"])
        yield Offer("Update the scaler", steps)


def scaler_step(found: Found) -> Iterator[Offer]:
    """Step through the scaler whose scale the loss was multiplied by."""
    optimizer, _ = stepped(found.here.node)
    source = found.here.source
    for scaler in dict.fromkeys(_scalers(found.here)) if optimizer else ():
        lines = [f"{scaler}.step({optimizer})", f"{scaler}.update()"]
        yield Offer("Step through the scaler", replace_statement(source, found.here.statement, lines))


def scaler_scale(found: Found) -> Iterator[Offer]:
    """Go backward from the scaled loss."""
    _, scaler = stepped(found.here.node)
    for place in found.others if scaler else ():
        match place.node:
            case ast.Call(func=ast.Attribute(value=loss, attr="backward")):
                idle = (one for one in place.block if calls(one, "scale") and f"{scaler}.scale(" in ast.unparse(one))
                gone = [step for one in idle for step in delete(place.source, one)]
                scaled = embed(place.source, loss, f"{scaler}.scale({{}})")
                yield Offer("Scale the loss", (*gone, *scaled), Keeps.MULTIPLE)


def never_stepped(found: Found) -> Iterator[Offer]:
    """Step an optimizer: where its step is only named, where another is stepped twice, or beside another's step."""
    backward, made = found.here, found.others[-1] if found.others else None
    name = target_of(made) if made is not None else ""
    if not name:
        return
    source = backward.source
    following = blocks.after(backward.block, backward.statement)
    steps = [one for one in following if calls(one, "step")]
    for one in steps:
        match one:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=holder))):
                twice = sum(ast.unparse(other) == ast.unparse(one) for other in backward.block)
                if twice > 1:
                    yield Offer(f"Step {name}", replace(source, holder, name))
    anchor = steps[-1] if steps else backward.statement
    yield Offer(f"Step {name}", insert_after(source, anchor, [f"{name}.step()"]))


def backward_twice(found: Found) -> Iterator[Offer]:
    """Leave out the second backward of one loss."""
    yield Offer("Call backward once", delete(found.here.source, found.here.statement))


def _scalers(place: Place) -> Iterator[str]:
    for node in place.source.walk():
        match node:
            case ast.Call(func=ast.Attribute(value=holder, attr="scale"), args=[_]):
                yield ast.unparse(holder)
