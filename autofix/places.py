"""Finds, in the user's code, the expressions that a trace points at and the places where an edit may stand."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autofix.probe.wire import Crossing, Frame, Stack
    from autofix.rule import Sources
    from autofix.source import Source

STORES = ("append", "appendleft", "insert", "add", "push", "extend", "put")
"""Methods by which containers take a value."""
VALUES = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.BinOp, ast.UnaryOp)
"""Expressions that may hold a tensor; constants, lambdas, comprehensions and the like do not."""


def located(sources: Sources, stack: Stack) -> Iterator[tuple[Frame, Source, ast.expr]]:
    """Each frame of `stack` whose span names an expression in a file of the user's, innermost first."""
    for frame in stack:
        source = sources.source(frame.file)
        node = sources.node(frame)
        if source is not None and isinstance(node, ast.expr):
            yield frame, source, node


def call_at(sources: Sources, frame: Frame) -> ast.Call | None:
    """The call that `frame` was executing."""
    node = sources.node(frame)
    return node if isinstance(node, ast.Call) else None


def operands(node: ast.expr) -> Iterator[ast.expr]:
    """The expressions whose values go into `node`: arguments, a method's receiver, both sides of an operator."""
    match node:
        case ast.Call(func=function, args=arguments, keywords=keywords):
            yield from (argument.value if isinstance(argument, ast.Starred) else argument for argument in arguments)
            yield from (keyword.value for keyword in keywords)
            if isinstance(function, ast.Attribute):
                yield function.value
        case ast.BinOp(left=left, right=right):
            yield from (left, right)
        case ast.UnaryOp(operand=operand):
            yield operand
        case ast.Compare(left=left, comparators=others):
            yield from (left, *others)
        case ast.Subscript(value=value) | ast.Attribute(value=value):
            yield value
        case ast.List(elts=items) | ast.Tuple(elts=items):
            yield from items


def tensors_in(node: ast.expr) -> Iterator[ast.expr]:
    """The operands of `node` that may be tensors, lists of them opened."""
    for operand in operands(node):
        if isinstance(operand, (ast.List, ast.Tuple)):
            yield from (item for item in operand.elts if isinstance(item, VALUES))
        elif isinstance(operand, VALUES):
            yield operand


def assignments(source: Source, path: str) -> Iterator[ast.Assign | ast.AnnAssign | ast.AugAssign]:
    """The statements that bind the variable written `path`, alone or within a tuple of targets."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Assign):
            targets = [part for target in node.targets for part in _parts(target)]
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign)):
            targets = [node.target]
        else:
            continue
        if any(ast.unparse(target) == path for target in targets):
            yield node


def fills(source: Source, path: str) -> Iterator[tuple[ast.expr | ast.stmt, ast.expr]]:
    """What puts a value into the container written `path`, with the value: a call like `append`, an item set."""
    for node in ast.walk(source.tree):
        match node:
            case ast.Call(func=ast.Attribute(value=holder, attr=name), args=[*_, item]) if name in STORES:
                if ast.unparse(holder) == path:
                    yield node, item
            case ast.Assign(targets=[ast.Subscript(value=holder)], value=item):
                if ast.unparse(holder) == path:
                    yield node, item


def _parts(target: ast.expr) -> Iterator[ast.expr]:
    if isinstance(target, (ast.Tuple, ast.List)):
        for part in target.elts:
            yield from _parts(part)
    else:
        yield target


def block(source: Source, statement: ast.stmt) -> list[ast.stmt]:
    """The list of statements that `statement` stands in."""
    parent = source.parent(statement)
    for name in ("body", "orelse", "finalbody"):
        statements = getattr(parent, name, None)
        if isinstance(statements, list) and statement in statements:
            return statements
    return [statement]


def after_steps(source: Source, statement: ast.stmt) -> ast.stmt:
    """`statement`, or the last of the steps and clippings that directly follow it in its block."""
    statements = block(source, statement)
    last = statement
    for following in statements[statements.index(statement) + 1 :]:
        if not _is_step(following):
            break
        last = following
    return last


def _is_step(statement: ast.stmt) -> bool:
    value = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(value, ast.Call):
        return False
    name = value.func.attr if isinstance(value.func, ast.Attribute) else getattr(value.func, "id", "")
    return name in ("step", "update", "zero_grad", "unscale_") or name.startswith("clip_grad")


def function_named(source: Source, qualname: str) -> ast.FunctionDef | ast.AsyncFunctionDef | ast.Module | None:
    """The function that a frame's qualified name means; the module for `<module>`."""
    if qualname == "<module>":
        return source.tree
    scope: ast.AST = source.tree
    for name in qualname.replace("<locals>.", "").split("."):
        if name.startswith("<"):
            break
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        inner = [
            node for node in ast.walk(scope) if isinstance(node, kinds) and node.name == name and node is not scope
        ]
        if not inner:
            return None
        scope = inner[0]
    return scope if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)) else None


def carries(crossing: Crossing, frame: Frame, name: str) -> bool:
    """Whether `name`, read in `frame`, is a variable that held the tensor of `crossing`."""
    return any(
        carrier.path == name
        and carrier.kind == "tensor"
        and (frame.function == carrier.function or frame.function.startswith(f"{carrier.function}."))
        for carrier in crossing.carriers
    )


def reads(node: ast.AST, path: str) -> bool:
    """Whether the variable written `path` is read anywhere in `node`."""
    kinds = (ast.Name, ast.Attribute)
    return any(isinstance(n, kinds) and isinstance(n.ctx, ast.Load) and ast.unparse(n) == path for n in ast.walk(node))


def binds(node: ast.AST, path: str) -> bool:
    """Whether the variable written `path` is bound anywhere in `node`."""
    kinds = (ast.Name, ast.Attribute)
    stored = (n for n in ast.walk(node) if isinstance(n, kinds) and isinstance(n.ctx, (ast.Store, ast.Del)))
    return any(ast.unparse(n) == path for n in stored)


def locals_read(function: ast.FunctionDef | ast.AsyncFunctionDef, expression: ast.expr) -> set[str]:
    """The local names of `function` (parameters and what it binds) that `expression` reads."""
    arguments = function.args
    own = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    own |= {a.arg for a in (arguments.vararg, arguments.kwarg) if a is not None}
    own |= {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return own & {n.id for n in ast.walk(expression) if isinstance(n, ast.Name)}
