"""Takes a changed statement apart: the same statement without one of the expressions that changed in it."""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Iterator
from collections.abc import Set as AbstractSet
from itertools import zip_longest
from typing import NamedTuple, TypeGuard

from autofix.core.aligned import opcodes
from autofix.syntax import calls
from autofix.verdict.parts.bare import GRAPH_WORDS, graph_call, plain
from autofix.verdict.parts.bounds import bounds
from autofix.verdict.parts.branches import decided, tells_form
from autofix.verdict.parts.by_kind import known_side
from autofix.verdict.parts.filled import fills, named_masks
from autofix.verdict.parts.indices import OF_TORCH
from autofix.verdict.parts.options import old_side
from autofix.verdict.parts.rewritten import shape

_PLACES = {"to", "astype", "cpu", "cuda", "numpy", "array", "asarray", "as_tensor", "new", "new_empty", "empty_like"}
_PLACES |= {"resize_as_", "backward", "step", "stack"}
"""Where tensors are and in which memory, which is the same here and not elsewhere; and what has no result."""
_SPREAD = {"expand", "expand_as", "broadcast_to", "contiguous", "type_as", "float", "double"}
"""What does to values in words what most operations do to them by themselves: where it is not needed, it never is."""
_UNSEEN = {*GRAPH_WORDS, "device"}
"""What a call may be told or not without another value."""
_ALLOWS, _FILLS = "allow_unused", "materialize_grads=True"
"""Torch takes the first to be said by the second."""
Piece = tuple[ast.expr, bytes, bool, str]
"""An expression of the new text, what to put in its place, whether only the graph is another, and the change."""


class _Change(NamedTuple):
    """An expression of the new text that changed, what it was, and what is new in it."""

    was: ast.expr
    now: ast.expr
    fresh: ast.AST | None


def pieces(
    old: ast.stmt | None, new: ast.stmt, texts: tuple[bytes, bytes], moved: AbstractSet[str], options: Collection[str]
) -> Iterator[Piece]:  # fmt: skip
    """Where several expressions of a statement changed, each as it was; each new condition, with one side alone.

    What a call was given, and is given no more, is such a change. Of a condition within a line, or a `where`, no run
    tells which side was taken: it was, if neither side alone does as well. Where it is one of `options` that decides,
    the other side may be what stood there before. Of an operation that was put around
    what was there (a clamp), no run tells whether it did something, so it is left out. `moved` is what stood in
    statements that are gone, and what they filled in: it was put nowhere around anything.
    """
    before, after = texts
    changed = list(_changed(old, new)) if old else []
    for change in changed if len(changed) > 1 else ():
        same = plain(change.was) == plain(change.now)
        alike = "" if same else shape(ast.Expr(change.was), ast.Expr(change.now))
        was = ast.unparse(change.was)
        yield change.now, (was if isinstance(change.was, ast.Starred) else f"({was})").encode(), same, alike
    whole: list[ast.AST] = [one.fresh for one in changed if one.fresh] if changed else [new]
    trees = ast.parse(before), ast.parse(after)
    known_choice = _chosen_already(*trees, new)
    masks = named_masks(trees[1], new)
    whole_ones = [node for node in ast.walk(new) if _keeps(node) or moved & fills(node, masks)]
    whole_ones += [one.now for one in changed if _is_value_of(trees[0], one)]
    kept = {id(inner) for node in whole_ones for inner in ast.walk(node)}
    for part in whole:
        for node in ast.walk(part):
            if isinstance(node, ast.IfExp) and id(node) not in kept and node is not known_choice:
                if tells_form(*trees, node):
                    continue
                side = old_side(node, (change.was for change in changed), options)
                side = side or known_side(trees[1], node)
                for one in (node.body, node.orelse) if side is None else (side,):
                    yield node, b"(" + _source(one, after) + b")", False, ""
    # A statement that is new mostly does again what is done elsewhere: there only an operation of another name is new.
    known = {name for node in ast.walk(old or ast.parse(before)) for name in _operations(node)} | moved
    modules = _imported(after)
    for part in whole:
        for node, inner in _layers(part, known, alone=old is None):
            if id(node) in kept or ast.dump(node) in moved or calls.path_of(inner).split(".")[0] in modules:
                continue
            yield node, b"(" + _source(inner, after) + b")" if inner else b"True", False, ""


def _is_value_of(old: ast.Module, change: _Change) -> bool:
    """Whether an expression stands for a name, and is what the program computes by that name: it does so again."""
    bound = (one for one in ast.walk(old) if isinstance(one, ast.Assign) and isinstance(change.was, ast.Name))
    values = (one.value for one in bound if [*map(ast.unparse, one.targets)] == [ast.unparse(change.was)])
    return ast.dump(change.now) in map(ast.dump, values)


def _chosen_already(old: ast.Module, text: ast.Module, new: ast.stmt) -> ast.IfExp | None:
    """The condition that gives a name its value, where the program decides by it between the same values, too."""
    match new:
        case ast.Assign([target], ast.IfExp() as value) if decided(old, text, value, target):
            return value
    return None


def _layers(new: ast.AST, known: set[str], *, alone: bool) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """New operations, each with what it is done to; and new conditions."""
    near = {id(link) for node in ast.walk(new) for link in _cuts_of(node)}
    for node in ast.walk(new):
        by_cut = alone and (id(node) in near or _cut(node)) and not (_is_slice(node) and known & set(_operations(node)))
        if graph_call(node) or _says_nothing(node) or (not by_cut and known & set(_operations(node))):
            continue
        match node:
            case ast.comprehension(ifs=conditions):
                # What requires no gradient gets none, whether that is asked or not.
                yield from ((one, None) for one in conditions if calls.name_of(one) != "requires_grad")
            case ast.BinOp(left, _, right):
                yield from ((node, side) for side in (left, right) if not alone or _cut(side))
            case ast.Subscript(value, ast.Slice()) if (not alone or by_cut) and isinstance(node.ctx, ast.Load):
                yield node, value
            case ast.Call(ast.Name("min" | "max"), args):
                yield from ((node, one) for one in args)
            case ast.Call(ast.Attribute(attr="where"), [_, one, other]):
                yield from ((node, side) for side in (one, other))
            # A question, as `is_tensor`, is another than what it asks about.
            case ast.Call(ast.Attribute(value, name), args) if name not in _PLACES | _SPREAD and name[:3] != "is_":
                yield node, value
                if args and not isinstance(args[0], (ast.Starred, ast.Constant)):  # a literal was put around nothing
                    yield node, args[0]


def _says_nothing(node: ast.AST) -> bool:
    """Whether a node adds 0, multiplies by 1, or takes one number without dimensions: it gives that in any pass."""
    match node:
        case ast.Call(ast.Attribute(attr="reshape" | "view"), [ast.Tuple([])]):  # of more than one it gives nothing
            return True
        case ast.BinOp(_, ast.Add() | ast.Sub(), ast.Constant(0)) | ast.BinOp(ast.Constant(0), ast.Add(), _):
            return True
        case ast.BinOp(_, ast.Mult() | ast.Div(), ast.Constant(1)) | ast.BinOp(ast.Constant(1), ast.Mult(), _):
            return True
    return False


def _is_slice(node: ast.AST) -> bool:
    """Whether a node takes some of the items: where the program takes the same elsewhere, it may read no others."""
    return isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)


def _keeps(node: ast.AST) -> bool:
    """Whether a word says for how long a graph is kept: what is wrong there fails, and trains nothing else."""
    return isinstance(node, ast.keyword) and node.arg == "retain_graph"


def _cut(node: ast.AST) -> bool:
    """Whether a chain of methods copies, or tells autograd what to record, at its end or before, or of each item."""
    return graph_call(node) or _cuts_each(node) or any(map(_cut, _links(node)))


def _cuts_of(node: ast.AST) -> Iterator[ast.AST]:
    """What is copied, or cut, by a node: what its chain of methods is called on, or whose items it goes through."""
    if graph_call(node):
        yield from _links(node)
    elif _cuts_each(node):
        yield from (link for one in node.generators for link in (one.iter, *_links(one.iter)))


def _cuts_each(node: ast.AST) -> TypeGuard[ast.ListComp | ast.SetComp | ast.GeneratorExp]:
    return isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)) and _cut(node.elt)


def _operations(node: ast.AST) -> Iterator[str]:
    """What is done in a node, as text to compare; of a call also its name alone."""
    yield from done(node)
    yield from bounds(node)
    match node:
        case ast.Call(ast.Attribute(_, name) | ast.Name(name)):
            yield name


def done(node: ast.AST) -> Iterator[str]:
    """What is done in a node, to whatever it is, as text to compare."""
    match node:
        case ast.BinOp(left, op, right):
            yield from (ast.dump(op) + ast.dump(side) for side in (left, right))
        case ast.AugAssign(_, op, value):
            yield ast.dump(op) + ast.dump(value)
        case ast.Subscript(_, ast.Slice() as part):
            yield ast.dump(part)
        case ast.comprehension(ifs=conditions):
            yield from map(ast.dump, conditions)
        case ast.Call(ast.Attribute(_, name) | ast.Name(name), args, words):
            # In place it is the same operation, if what it is given is the same; of a module it is a function of that.
            given = args[1:] if calls.path_of(node.func).split(".")[0] in OF_TORCH else args
            yield f"{name.rstrip('_')}({''.join(map(ast.dump, (*given, *words)))})"


def _imported(text: bytes) -> set[str]:
    """The names by which a file knows modules: what a function of theirs is called on is no value."""
    found = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import))
    return {(one.asname or one.name).split(".")[0] for node in found for one in node.names}


def _links(node: ast.AST) -> Iterator[ast.AST]:
    """The calls and items of a chain of methods, from behind a node to where it begins."""
    while isinstance(node, (ast.Call, ast.Attribute, ast.Subscript)):
        node = node.func if isinstance(node, ast.Call) else node.value
        if isinstance(node, (ast.Call, ast.Subscript, ast.ListComp)):
            yield node


def spliced(text: bytes, node: ast.expr, other: bytes) -> bytes:
    """`text` with `other` in place of an expression."""
    start, end = _span(node, text)
    return text[:start] + other + text[end:]


def _changed(old: ast.AST, new: ast.AST) -> Iterator[_Change]:
    """The smallest expressions that differ; nothing where the difference is in no expression."""
    if _values(old) == _values(new):
        return
    found: list[_Change] = []
    if isinstance(new, ast.Call) and ast.dump(new) in map(ast.dump, calls.within(old)):
        found = [_Change(old, new, None)] if isinstance(old, ast.expr) else []  # only what stood around it is gone
    elif isinstance(old, ast.Call) and isinstance(new, ast.Call) and plain(old.func) == plain(new.func):
        found = [*_changed(old.func, new.func), *_given(old, new)]
    elif type(old) is type(new) and _own(old) == _own(new):
        found = _in_parts(old, new)
    read = isinstance(getattr(new, "ctx", ast.Load()), ast.Load)
    if isinstance(new, ast.Subscript) and len(found) > 1:  # an index is one of what it is an index into
        found = []
    if found:
        yield from found
        # What another function is given may be no argument of the one that was called: both are also one change.
        if isinstance(old, ast.Call) and isinstance(new, ast.Call) and any(one.now is new.func for one in found[:-1]):
            yield _Change(old, new, None)
    elif isinstance(old, ast.expr) and isinstance(new, ast.expr) and read:
        yield _Change(old, new, new)


def _in_parts(old: ast.AST, new: ast.AST) -> list[_Change]:
    """What changed in each part of two nodes of one kind; nothing where one of them has more parts."""
    pairs = list(zip_longest(ast.iter_child_nodes(old), ast.iter_child_nodes(new)))
    return [] if any(None in pair for pair in pairs) else [one for was, now in pairs for one in _changed(was, now)]


def _given(old: ast.Call, new: ast.Call) -> Iterator[_Change]:
    """What two calls are given otherwise; what only one of them is given, put back or taken away."""
    for _, a, b, c, d in opcodes([*map(ast.dump, old.args)], [*map(ast.dump, new.args)]):
        both = min(b - a, d - c)
        for mine, other in zip(old.args[a : a + both], new.args[c : c + both], strict=True):
            yield from _changed(mine, other)
        if b - a != d - c:
            left = [*new.args[: c + both], *old.args[a + both : b], *new.args[d:]]
            yield from _otherwise(new, left, new.keywords, new.args[c + both : d])
    was, now = ({word.arg: word for word in call.keywords} for call in (old, new))
    implied = {_ALLOWS} if any(ast.unparse(word) == _FILLS for word in new.keywords) else set()
    for name in (one for one in was | now if one not in _UNSEEN | implied):
        if name in was and name in now:
            yield from _changed(was[name].value, now[name].value)
        else:
            words = [word for word in new.keywords if word.arg != name] + ([was[name]] if name in was else [])
            yield from _otherwise(new, new.args, words, [now[name].value] if name in now else [])


def _otherwise(
    call: ast.Call, args: list[ast.expr], words: list[ast.keyword], fresh: list[ast.expr]
) -> Iterator[_Change]:
    other = copy.copy(call)
    other.args, other.keywords = args, words
    yield _Change(other, call, ast.Tuple(fresh) if fresh else None)


def _values(node: ast.AST) -> list[object]:
    """What is in a node, in order; 1 and 1.0 are equal: only together with its neighbours can such a one matter."""
    return [part for inner in ast.walk(node) for part in (type(inner), *_own(inner))]


def _own(node: ast.AST) -> list[object]:
    """What a node says itself, without the nodes inside it."""
    return [v for _, v in ast.iter_fields(node) if not isinstance(v, (ast.AST, list))]


def _source(node: ast.expr, text: bytes) -> bytes:
    start, end = _span(node, text)
    return text[start:end]


def _span(node: ast.expr, text: bytes) -> tuple[int, int]:
    lines = text.splitlines(keepends=True)
    last, column = node.end_lineno or node.lineno, node.end_col_offset or 0
    return sum(map(len, lines[: node.lineno - 1])) + node.col_offset, sum(map(len, lines[: last - 1])) + column
