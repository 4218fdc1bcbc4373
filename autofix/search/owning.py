"""Which optimizer a statement steps, what may move along with a step, and how the parameters it owns are written."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator, Sequence

from autofix.diagnosis.scenes import Scene
from autofix.syntax import blocks, calls, names, update, vocabulary, writes
from autofix.syntax.calls import path_of
from autofix.syntax.edits import Step, set_keyword
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources

_MAYBE = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.Match)
"""Statements behind which it is not sure that what stands in them was done."""
Item = tuple[str, str]
"""A variable by its path, and which item of it: as its key is written, '' for all of it."""


def stepped(statement: ast.AST) -> ast.expr | None:
    """The optimizer that a statement steps, itself or through a scaler."""
    match statement.value if isinstance(statement, ast.Expr) else None:
        case ast.Call(func=ast.Attribute(attr="step"), args=[optimizer, *_]) if calls.path_of(optimizer):
            return optimizer
        case ast.Call(func=ast.Attribute(value=optimizer, attr="step"), args=[]) if calls.path_of(optimizer):
            return optimizer
    return None


def stepped_next(source: Source, statement: ast.stmt) -> ast.expr | None:
    """The optimizer stepped behind a statement in its block, where between is only what prepares a step."""
    behind = blocks.after(blocks.block_of(source, statement), statement)
    following = next((one for one in behind if not vocabulary.prepares(calls.method(one))), None)
    return stepped(following) if following is not None else None


def cleared_before(source: Source, statement: ast.stmt) -> ast.expr | None:
    """The one optimizer, or module, whose gradients are cleared right before a backward, behind all that was trained.

    What is cleared there keeps nothing of an earlier backward: it is what this one is to train.
    """
    found: dict[str, ast.expr] = {}
    for one in reversed(blocks.before(blocks.block_of(source, statement), statement)):
        match calls.statement_call(one):
            case ast.Call(func=ast.Attribute(value=owner, attr="zero_grad")) if calls.path_of(owner):
                found[calls.path_of(owner)] = owner
            case _ if update.trains(one):
                break
    return next(iter(found.values())) if len(found) == 1 else None


def stepped_later(source: Source, statement: ast.stmt) -> list[ast.expr]:
    """The optimizers stepped after a statement of its function, in this pass or behind its loop, in this order."""
    holders = blocks.holders(source, statement)
    following = (one for holder in holders for one in blocks.after(blocks.block_of(source, holder), holder))
    nodes = (node for one in following if source.spells(one, "step") for node in ast.walk(one))
    found = [one for one in map(stepped, nodes) if one is not None]
    return list({calls.path_of(one): one for one in found[::-1]}.values())[::-1]


def stepped_earlier(source: Source, statement: ast.stmt) -> set[str]:
    """The paths of the optimizers stepped before a statement in the blocks around it."""
    before = (one for one in blocks.above(source, statement) if source.spells(one, "step"))
    found = (stepped(node) for one in before for node in ast.walk(one))
    return {calls.path_of(one) for one in found if one is not None}


def whole_update(scene: Scene, steps: Container[ast.AST | None]) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """The step of a scene with what belongs directly to it, and the whole update that it ends; `steps`: of optimizers.

    That begins at its `zero_grad`, as far as what stands between is its loss, which the later update does not need: so
    what the later backward leaves in these parameters is cleared before their own.
    """
    block, last = scene.block, scene.block.index(scene.step)
    small = first = last + 1 - len(blocks.with_clipping(block, scene.step))
    while first and all(map(vocabulary.leads_to_step, calls.methods(block[first - 1]))):
        first -= 1
    later = block[last + 1 : block.index(scene.end) + 1]
    for at in [at for at in range(first) if calls.method(block[at]) == "zero_grad"][-1:]:
        moved = block[at : last + 1]
        own = _called_on(block[at]) == _called_on(scene.step) and scene.made not in moved
        first = at if own and not needs(later, moved) and not needs(moved, later) else first
    for following in block[last + 1 : last + 2]:
        # A scheduler's step belongs to the optimizer's; another optimizer's does not.
        last += calls.method(following) in ("step", "update") and calls.statement_call(following) not in steps
    return block[small : last + 1], block[first : last + 1]


def _called_on(statement: ast.stmt) -> str:
    """The object whose method a statement calls."""
    return calls.path_of(getattr(calls.statement_call(statement), "func", None)).rpartition(".")[0]


def along(sources: Sources, source: Source, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Of the statements behind a step those that write tensors by hand: an average of the stepped weights, a clipping.

    Such is a call, too, of a function that does so. What trains, or gives a later statement a value, is none.
    """
    found: list[ast.stmt] = []
    for place, one in enumerate(statements):
        called = (sources.called(source, call, decorated=True) for call in calls.within(one))
        written = any(map(_writes, [one, *(function for known in called if known for function in known[1:])]))
        later = names.read_by(statements[place + 1 :])
        if written and not update.trains(one) and not names.meets(names.binds(one), later):
            found += [one] if isinstance(one, (ast.Expr, ast.For, ast.With)) else []
    return found


def _writes(node: ast.AST) -> bool:
    """Whether something in a statement or function writes a tensor by hand."""
    for part in ast.walk(node):
        match part:
            case ast.Call() if calls.name_of(part) == "load_state_dict":
                return True
            case ast.Call() if writes.in_place(part) and not vocabulary.trains(calls.name_of(part)):
                return True
            case ast.Attribute(attr="data", ctx=ast.Store()):
                return True
    return False


def reaching_only(source: Source, call: ast.AST, optimizers: Sequence[ast.expr]) -> list[Step]:
    """`inputs=` with the parameters of optimizers, each as they were given to it where that is in sight."""
    if not isinstance(call, ast.Call) or calls.name_of(call) != "backward":
        return []
    if calls.keyword(call, "inputs") is not None:
        return []
    given = [(calls.path_of(one), _given(source, call, one)) for one in optimizers]
    every = [own or f'p for group in {name}.param_groups for p in group["params"]' for name, own in given]
    if len(given) > 1:
        parts = (f"*{text}" if own else f"*({text})" for text, (_, own) in zip(every, given, strict=True))
        return set_keyword(source, call, "inputs", f"[{', '.join(parts)}]")
    return set_keyword(source, call, "inputs", f"list({every[0]})" if given[0][1] else f"[{every[0]}]")


def reaching_cleared(source: Source, call: ast.Call) -> list[Step]:
    """`inputs=` with what is cleared right before a backward, the parameters of an optimizer or of a module."""
    if (owner := cleared_before(source, source.statement(call))) is None:
        return []
    path = calls.path_of(owner)
    if not any(path in (calls.path_of(one.func), _listed(one)) for one in source.walk() if isinstance(one, ast.Call)):
        return reaching_only(source, call, [owner])
    return [] if calls.keyword(call, "inputs") else set_keyword(source, call, "inputs", f"list({path}.parameters())")


def _listed(call: ast.Call) -> str:
    """The module whose parameters a call lists."""
    return (
        calls.path_of(call.func.value)
        if isinstance(call.func, ast.Attribute) and call.func.attr == "parameters"
        else ""
    )


def _given(source: Source, call: ast.Call, optimizer: ast.expr) -> str:
    """The call of `parameters` that an optimizer was given, where it means the same beside `call`; else ''."""
    name, here = calls.path_of(optimizer), source.function(call)
    for node in source.mentioning(name):
        match node:
            case ast.Assign(targets=[made], value=ast.Call(args=[own, *_])) if calls.path_of(made) == name:
                given: ast.expr | None = own
            case ast.Assign(targets=[made], value=ast.Call(args=[]) as maker) if calls.path_of(made) == name:
                given = calls.keyword(maker, "params")
            case _:
                continue
        there = source.function(node)
        match given:
            case ast.Call(args=[], keywords=[], func=ast.Attribute(attr="parameters") as asked):
                if there in (here, None) or names.locals_read(there, asked) <= {name.partition(".")[0]}:
                    return source.segment(given)
    return ""


def needs(later: Iterable[ast.stmt], earlier: Iterable[ast.stmt]) -> bool:
    """Whether `later` reads what `earlier` binds, before it binds that itself; items of one dict are told apart."""
    given = {item for part in _parts(earlier) for item in _items(part, ast.Store)}
    own: set[Item] = set()
    for statement in later:
        here = set(own)
        for part in _parts([statement]):
            read = {one for one in _items(part, ast.Load) if not any(_holds(mine, one) for mine in here)}
            if any(_holds(one, other) or (not other[1] and one[0] == other[0]) for one in given for other in read):
                return True
            here |= _items(part, ast.Store)
        own = own if isinstance(statement, _MAYBE) else here
    return False


def _holds(bound: Item, read: Item) -> bool:
    """Whether what is read is, or hangs on, what is bound."""
    return names.meets({bound[0]}, {read[0]}) and bound[1] in ("", read[1])


def _parts(statements: Iterable[ast.AST]) -> Iterator[list[ast.AST]]:
    """What runs one after another: statements; of a block its header, and then what stands in it."""
    for one in statements:
        children = list(ast.iter_child_nodes(one))
        inner = [child for child in children if isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case))]
        read = [ast.parse(ast.unparse(one.target), mode="eval")] if isinstance(one, ast.AugAssign) else []
        yield [*read, *(child for child in children if child not in inner)]
        yield from _parts(inner)


def _items(part: Iterable[ast.AST], how: type[ast.expr_context]) -> set[Item]:
    """What a part of a statement reads, or binds."""
    found: set[Item] = set()
    stack = list(part)
    while stack:
        node = stack.pop()
        match node:
            case ast.Subscript(value=value, slice=ast.Constant(value=key)) if path := path_of(value):
                found |= {(path, repr(key))} if isinstance(node.ctx, how) else set()
            case ast.Subscript(value=value) if (path := path_of(value)) and isinstance(node.ctx, how):
                found.add((path, ""))
                stack.append(node.slice)
            case ast.Name(ctx=context) | ast.Attribute(ctx=context) if path := path_of(node):
                found |= {(path, "")} if isinstance(context, how) else set()
            case _:
                stack.extend(ast.iter_child_nodes(node))
    return found
