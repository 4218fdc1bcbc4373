"""Copies that are none, modes that are left on, draws that repeat, and graphs that are cut."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from autofix.audit.repair import Found, Keeps, Offer, Place
from autofix.audit.repairs import owning
from autofix.syntax import blocks, modes, names
from autofix.syntax.calls import name_of, path_of
from autofix.syntax.edits import (
    Step,
    append_call,
    embed,
    ensure_import,
    insert_before,
    move_before,
    receiver,
    remove_keyword,
    rename,
    replace,
    replace_statement,
    set_keyword,
    undecorate,
    unwrap,
)
from autofix.syntax.source import Source

_ENTERS = ("tensor", "as_tensor", "from_numpy", "FloatTensor", "Tensor")
_LEAVES = ("detach", "numpy", "tolist", "cpu", "item")


def alias(found: Found) -> Iterator[Offer]:
    """Keep a copy."""
    yield from _copied(found.here)


def same_object(found: Found) -> Iterator[Offer]:
    """Make the second network a copy of the first, or what is loaded a copy of what it was."""
    source = found.here.source
    match found.here.node:
        case ast.Call(func=ast.Attribute(value=holder)):
            for assigned in names.assignments(source, ast.unparse(holder)):
                if isinstance(assigned.value, (ast.Name, ast.Attribute)):
                    yield Offer("Make it a network of its own", _deep(source, assigned.value))
    for place in found.others:
        yield from _copied(place)


def _copied(place: Place) -> Iterator[Offer]:
    if isinstance(place.node, ast.expr):
        whole = name_of(place.node) == "state_dict"
        clone = append_call(place.source, place.node, ".clone()") if not whole else ()
        yield Offer("Keep a copy", _deep(place.source, place.node) if whole else tuple(clone))


def _deep(source: Source, node: ast.expr) -> tuple[Step, ...]:
    copy, imports = ensure_import(source, "copy")
    return (*imports, *embed(source, node, f"{copy}.deepcopy({{}})"))


def never_written(found: Found) -> Iterator[Offer]:
    """Write an average into the tensor that it is of."""
    match found.here.statement:
        case ast.Assign(targets=[ast.Name() | ast.Subscript() as target], value=value):
            source = found.here.source
            text = f"{source.segment(target)}.data.copy_({source.segment(value)})"
            yield Offer("Write the average into the tensor", replace_statement(source, found.here.statement, [text]))


def eval_left_on(found: Found) -> Iterator[Offer]:
    """Put the network into train mode where training begins."""
    match found.here.node:
        case ast.Call(func=ast.Attribute(value=holder)):
            name = ast.unparse(holder)
        case _:
            return
    for place in found.others:
        function = place.source.function(place.node)
        loops = list(blocks.loops(place.source, place.node))
        if function is not None and names.meets({name}, names.reads(function)):
            places = [blocks.top(function), *(loop.body[0] for loop in loops)]
        else:
            places = [loop.body[0] for loop in reversed(loops)]
        for first in places:
            yield Offer(f"Put {name} into train mode again", insert_before(place.source, first, [f"{name}.train()"]))


def seeded_again(found: Found) -> Iterator[Offer]:
    """Seed once, before the loop."""
    for place in found.stack if found.subject == "seed" else ():
        loop = next(blocks.loops(place.source, place.node), None)
        if loop is not None and isinstance(place.statement, ast.Expr) and place.statement in loop.body:
            yield Offer("Seed once, before the loop", move_before(place.source, [place.statement], loop))


def cut(found: Found) -> Iterator[Offer]:
    """Leave out what cuts the graph."""
    for place in (found.here, *found.others):
        yield from _uncut(place)


def idle(found: Found) -> Iterator[Offer]:
    """Bring gradient to an optimizer that finds none: its graph again, or the tensors that are trained."""
    yield from cut(found)
    yield from owning.idle(found)


def _inner(value: ast.expr) -> ast.expr:
    """What an expression takes out of a graph: `h` of `h.detach().cpu().numpy()`."""
    match value:
        case ast.Call(func=ast.Attribute(value=inner, attr=name), args=[]) if name in _LEAVES:
            return _inner(inner)
    return value


def _kept(place: Place) -> Iterator[Sequence[Step]]:
    """A call that takes something out of a graph, as one that leaves it there."""
    source, node = place.source, place.node
    around: ast.AST | None = node
    while isinstance(around, ast.expr):
        if isinstance(around, ast.Call) and name_of(around) in _ENTERS and around.args:
            inner = _inner(around.args[0])
            if inner is not around.args[0]:
                yield replace(source, around, source.segment(inner))
        around = source.parent(around)
    match node:
        case ast.Call(func=ast.Attribute(attr="detach" | "item")) | ast.Attribute(attr="data"):
            yield receiver(source, node)
        case ast.Call(func=ast.Attribute(attr="sample") as function):
            yield rename(source, function, "rsample")
        case ast.Call(func=ast.Attribute(attr="grad") as function) if "autograd" in path_of(function):
            yield set_keyword(source, node, "create_graph", "True")
        case ast.Call(func=ast.Name(id="float"), args=[value]):
            yield replace(source, node, source.segment(value))
        case ast.Call(func=ast.Attribute(attr="tensor") as function):
            flagged = any(word.arg == "requires_grad" for word in node.keywords)
            flag = remove_keyword(source, node, "requires_grad") if flagged else ()
            yield from ((*rename(source, function, way), *flag) for way in ("stack", "cat"))


def _uncut(place: Place) -> Iterator[Offer]:
    title, source = "Keep the graph", place.source
    for steps in _kept(place):
        yield Offer(title, steps, Keeps.LOSSES)
    for around in (place.node, *blocks.around(source, place.node), source.function(place.node)):
        match around:
            case ast.With(items=items):
                for item in (one for one in items if modes.may_switch_off(one.context_expr)):
                    yield Offer(title, unwrap(source, around, item), Keeps.LOSSES)
            case ast.FunctionDef(decorator_list=decorators):
                for one in decorators:
                    if modes.may_switch_off(one):
                        yield Offer(title, undecorate(source, one), Keeps.LOSSES)
