"""What statements do in a training step: which belong to an update, which run once, which lead to no gradient."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from autofix.syntax import blocks, names, vocabulary, writes
from autofix.syntax.blocks import block_of
from autofix.syntax.calls import method, name_of, path_of, statement_call, within
from autofix.syntax.source import Source
from autofix.syntax.vocabulary import DETACHED, SHARING, WRAPPING

_KEEPING = frozenset({"append", "appendleft", "extend", "insert", "add", "put", "setdefault", "update"})
_PASSING = frozenset({"dict", "list", "tuple", "min", "max", "copy"})


def trains(statement: ast.stmt) -> bool:
    """Whether a statement itself runs a backward or a step, which must happen once."""
    called = (call.func for call in within(statement))
    return any(isinstance(func, ast.Attribute) and vocabulary.trains(func.attr) for func in called)


def calls(statement: ast.stmt) -> bool:
    return any(True for _ in within(statement))


def has_no_gradient(statement: ast.stmt) -> bool:
    """Whether a statement only makes a value through which no gradient flows, so that it may stay as it was."""
    if writes.without_gradient(statement):
        return True
    value = statement.value if isinstance(statement, ast.Assign) else None
    return isinstance(value, ast.Call) and name_of(value) in DETACHED


@dataclass(frozen=True, slots=True)
class Binding:
    """One variable that a statement binds, alone or beside others: `w, b = w - lr * w.grad, b - lr * b.grad`."""

    statement: ast.Assign
    target: ast.expr
    value: ast.expr

    @property
    def path(self) -> str:
        return ast.unparse(self.target)


def bindings(statement: ast.AST) -> list[Binding]:
    """The variables that an assignment binds, each with its own value; [] where they cannot be told apart."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
        return []
    found = [Binding(statement, target, value) for target, value in names.paired(statement)]
    kinds = (ast.Name, ast.Attribute, ast.Subscript)
    plain = all(isinstance(one.target, kinds) and not isinstance(one.value, ast.Starred) for one in found)
    apart = all(one.value is not statement.value or one.target is statement.targets[0] for one in found)
    return found if plain and apart else []


def rebindings(source: Source, statement: ast.stmt) -> list[Binding]:
    """Where a block binds variables anew to what they come to by their gradient.

    `w = w - lr * w.grad`, and what follows on the same variable (`w = w.clamp(0, 1)`), of each variable that is treated
    so there; none, if `statement` is not one of them.
    """
    block = block_of(source, statement)
    found: list[Binding] = []
    by_gradient: set[str] = set()
    for one in block:
        bound = bindings(one)
        if bound and all(_rebinds(each, by_gradient, block) for each in bound):
            by_gradient.update(each.path for each in bound)
            found += bound
    return found if any(one.statement is statement for one in found) else []


def rebinds_owned(source: Source, statement: ast.stmt) -> bool:
    """Whether a statement behind a step binds anew, from its own value, what the stepping optimizer was given."""
    bound = bindings(statement)
    before = blocks.before(block_of(source, statement), statement)
    steps = [getattr(statement_call(one), "func", None) for one in before if method(one) == "step"]
    owners = {path_of(one.value) for one in steps if isinstance(one, ast.Attribute)}
    function = source.function(statement)
    near = (node for owner in owners for node in (ast.walk(function) if function else source.mentioning(owner)))
    given = [
        made.value for made in near if isinstance(made, ast.Assign) and {path_of(one) for one in made.targets} & owners
    ]  # fmt: skip
    return bool(bound) and all(
        any(names.mentions(each.value, each.path)) and any(any(names.mentions(one, each.path)) for one in given)
        for each in bound
    )


def _rebinds(binding: Binding, by_gradient: set[str], block: Sequence[ast.stmt]) -> bool:
    """Whether a variable is bound to a value computed from it, by its gradient or after it was."""
    path = binding.path
    return any(names.mentions(binding.value, path)) and (
        path in by_gradient or _by_gradient(binding.value, path, block)
    )


def _by_gradient(value: ast.expr, path: str, block: Sequence[ast.stmt]) -> bool:
    """Whether a value uses the gradient of a variable, itself or by another name that its block gives it."""
    gradient = f"{path}.grad"
    if any(names.mentions(value, gradient)):
        return True
    named = [one for one in block if isinstance(one, ast.Assign) and any(names.mentions(one.value, gradient))]
    return names.meets(names.bound_by(named), names.reads(value))


def held_elsewhere(source: Source, binding: Binding) -> bool:
    """Whether the tensor of a variable that is bound anew may be held by something else, which a write would change.

    `best = w`, `path.append(w.detach())`, `w = start.detach()`, a parameter of the function. Neither a gradient nor a
    printed number need ever show that. Copies (`w.clone()`) and what else computes is no such holder.
    """
    path, function = binding.path, source.function(binding.statement)
    if function is not None and any(isinstance(one, ast.arg) and one.arg == path for one in ast.walk(function.args)):
        return True
    around: ast.AST = function if function is not None and isinstance(binding.target, ast.Name) else source.tree
    if any(isinstance(one, ast.Global) for one in ast.walk(around)):
        around = source.tree
    for node in ast.walk(around):
        match node:
            case ast.Assign(targets=targets, value=value) if any(
                path == ast.unparse(part) for target in targets for part in names.parts(target)
            ):
                values = [one.value for one in bindings(node) if one.path == path] or [value]
                if len(targets) > 1 or any(_shared(one, path) for one in values):
                    return True
            case ast.Name() | ast.Attribute() | ast.Subscript() if ast.unparse(node) == path and _held(source, node):
                return True
    return False


def _shared(value: ast.expr, path: str) -> bool:
    """Whether a value may be the tensor that another variable holds."""
    while True:
        match value:
            case ast.Call(func=ast.Attribute(value=inner, attr=attr)) | ast.Attribute(value=inner, attr=attr) if (
                attr in SHARING
            ):
                value = inner
            case ast.Call(func=ast.Name(id=attr) | ast.Attribute(attr=attr), args=[inner, *_]) if attr in WRAPPING:
                value = inner
            case _:
                return isinstance(value, (ast.Name, ast.Attribute, ast.Subscript)) and ast.unparse(value) != path


def _held(source: Source, node: ast.AST) -> bool:
    """Whether an occurrence of a variable gives the same storage to something that outlasts its statement."""
    holder = source.parent(node)
    while holder is not None and _carries(holder, node):
        node, holder = holder, source.parent(holder)
    match holder:
        case ast.Call(func=ast.Attribute(attr=attr) as called):
            return attr in _KEEPING and node is not called
        case ast.Assign(targets=targets, value=value):
            return value is node and not _same(targets, node)
        case ast.AugAssign(value=value):
            return value is node and isinstance(node, (ast.List, ast.Tuple))
        case ast.AnnAssign(value=value) | ast.NamedExpr(value=value):
            return value is node
    return isinstance(holder, (ast.Yield, ast.ListComp, ast.DictComp))


def _carries(holder: ast.AST, node: ast.AST) -> bool:
    """Whether an expression gives on the storage of a part of it."""
    match holder:
        case ast.Attribute(attr=attr):
            return attr in SHARING
        case ast.Subscript(value=inner, ctx=ast.Load()):
            return inner is node
        case ast.Call(func=ast.Name(id=name)):
            return name in _PASSING
        case ast.Call(func=ast.Attribute(value=inner, attr=attr) as called):
            return called is node or (isinstance(inner, ast.Name) and inner.id == attr == "copy")
    return isinstance(holder, (ast.Tuple, ast.List, ast.Set, ast.Dict, ast.Starred, ast.IfExp, ast.keyword))


def _same(targets: Sequence[ast.expr], node: ast.AST) -> bool:
    """Whether an assignment binds only the variable that its value shares the storage of."""
    root = node
    while isinstance(root, (ast.Call, ast.Attribute)) and ast.unparse(root) != ast.unparse(targets[0]):
        root = root.func if isinstance(root, ast.Call) else root.value
    return len(targets) == 1 and ast.unparse(root) == ast.unparse(targets[0])


@dataclass(frozen=True, slots=True)
class InnerStep:
    """Where the gradient of a weight is read for its step, where it is asked to be kept, and whether it descends."""

    reads: list[ast.Attribute]
    keeps: list[ast.Expr]
    descends: bool


def inner_steps(source: Source, statement: ast.stmt) -> dict[str, InnerStep]:
    """The weights that are bound anew by their gradient behind a backward, in its block: `w = w - lr * w.grad`.

    None of them, where one has no `retain_grad()`, or its gradient is read or written for something else.
    """
    around = source.function(statement) or source.tree
    found: dict[str, InnerStep] = {}
    block = block_of(source, statement)
    for one in block[block.index(statement) + 1 :]:
        for bound in bindings(one):
            reads = _gradients(bound.value, bound.path)
            if not reads:
                continue
            keeps = [node for node in ast.walk(around) if isinstance(node, ast.Expr) and _keeps(node, bound.path)]
            if not keeps or len(_gradients(around, bound.path)) > len(reads):
                return {}
            found[bound.path] = InnerStep(reads, keeps, _descends(bound.value, bound.path))
    return found


def _descends(value: ast.expr, path: str) -> bool:
    match value:
        case ast.BinOp(left=weight, op=ast.Sub()) | ast.Call(func=ast.Attribute(value=weight, attr="sub")):
            return path_of(weight) == path
    return False


def _gradients(node: ast.AST, path: str) -> list[ast.Attribute]:
    return [
        one
        for one in ast.walk(node)
        if isinstance(one, ast.Attribute) and one.attr == "grad" and path_of(one.value) == path
    ]


def _keeps(statement: ast.Expr, path: str) -> bool:
    match statement.value:
        case ast.Call(func=ast.Attribute(value=held, attr="retain_grad")):
            return path_of(held) == path
    return False
