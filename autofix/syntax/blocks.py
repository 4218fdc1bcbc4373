"""Blocks: which statements stand together, what is around them, and where something new may stand."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence

from autofix.core.edit import Declined
from autofix.probe.wire import Frame
from autofix.syntax.calls import Function, method, path_of
from autofix.syntax.source import Source
from autofix.syntax.vocabulary import completes, prepares, steps

FIELDS = ("body", "orelse", "finalbody")
"""Where nodes keep their statements."""


def block_of(source: Source, statement: ast.stmt) -> list[ast.stmt]:
    """The list of statements that holds one."""
    parent = source.parent(statement)
    for field in FIELDS:
        block = getattr(parent, field, None)
        if isinstance(block, list) and any(item is statement for item in block):
            return block
    raise Declined("it is not a statement of this file")


def top(function: Function) -> ast.stmt:
    """The first statement of a function that is no docstring, if there is one."""
    documented = ast.get_docstring(function) is not None and len(function.body) > 1
    return function.body[documented]


def around(source: Source, node: ast.AST) -> Iterator[ast.AST]:
    """The nodes around one, innermost first, as far as the function that runs it."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    return itertools.takewhile(lambda one: not isinstance(one, functions), source.around(node))


def holders(source: Source, node: ast.AST) -> list[ast.stmt]:
    """A statement, or that of an expression, and the statements around it in its function, innermost first."""
    statement = source.statement(node)
    return [statement, *(one for one in around(source, statement) if isinstance(one, ast.stmt))]


def above(source: Source, statement: ast.stmt) -> list[ast.stmt]:
    """The statements before one in its block and in the blocks around it, as far as its function, in their order."""
    inside = reversed(holders(source, statement))
    return [other for one in inside for other in before(block_of(source, one), one)]


def loops(source: Source, node: ast.AST) -> Iterator[ast.For | ast.While]:
    """The loops around a node in its function, innermost first."""
    return (one for one in around(source, node) if isinstance(one, (ast.For, ast.While)))


def passed(source: Source, node: ast.stmt, stack: Iterable[Frame]) -> bool:
    """Whether one of these frames stood inside a statement."""
    lines = (frame.line for frame in stack if frame.file == str(source.path))
    return any(node.lineno <= line <= (node.end_lineno or 0) for line in lines)


def holds(outer: ast.AST, node: ast.AST) -> bool:
    """Whether a node is another one, or stands in it."""
    return any(one is node for one in ast.walk(outer))


def counts(test: ast.expr) -> bool:
    """Whether a condition holds every so many turns: `step % 4 == 0`."""
    return any(isinstance(node, ast.Mod) for node in ast.walk(test))


def standing(source: Source, scope: ast.AST | None, stack: Iterable[Frame]) -> Iterator[ast.AST]:
    """The nodes of a function; of a module (None), those of its statements in which these frames stood."""
    lines = (frame.line for frame in stack if frame.file == str(source.path))
    return ast.walk(scope) if scope is not None else source.on_lines(lines)


def before(block: Sequence[ast.stmt], statement: ast.stmt) -> Sequence[ast.stmt]:
    """The statements of a block before one."""
    return block[: block.index(statement)]


def after(block: Sequence[ast.stmt], statement: ast.stmt) -> Sequence[ast.stmt]:
    """The statements of a block after one."""
    return block[block.index(statement) + 1 :]


def after_steps(source: Source, statement: ast.stmt) -> ast.stmt:
    """`statement`, or the last of the steps and clippings that directly follow it in its block."""
    return _last(block_of(source, statement), statement, steps)


def end_of_update(block: Sequence[ast.stmt], statement: ast.stmt) -> ast.stmt:
    """The last statement of the update that a backward belongs to; what is cleared behind it is the next one's."""
    return _last(block, statement, completes)


def _last(block: Sequence[ast.stmt], statement: ast.stmt, belongs: Callable[[str], bool]) -> ast.stmt:
    following = itertools.takewhile(lambda one: belongs(method(one)), after(block, statement))
    return [statement, *following][-1]


def with_clipping(block: Sequence[ast.stmt], step: ast.stmt) -> Sequence[ast.stmt]:
    """A step with what directly before it unscales or clips the gradients that it uses."""
    first = last = block.index(step)
    while first and prepares(method(block[first - 1])):
        first -= 1
    return block[first : last + 1]


def runs(statements: Sequence[ast.stmt], moved: Sequence[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """The moved statements in groups of neighbours."""
    run: list[ast.stmt] = []
    for one in statements:
        if one in moved:
            run.append(one)
        elif run:
            yield run
            run = []
    if run:
        yield run


def qualified(source: Source, node: ast.AST) -> str:
    """The function that a node runs in, as Python names it."""
    parts: list[str] = []
    for holder in source.around(node):
        if isinstance(holder, ast.ClassDef):
            parts.insert(0, holder.name)
        elif isinstance(holder, (ast.FunctionDef, ast.AsyncFunctionDef)):
            parts[:0] = [holder.name, "<locals>"] if parts else [holder.name]
    return ".".join(parts) if source.function(node) is not None else "<module>"


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
            node
            for node in (source.mentioning(name) if scope is source.tree else ast.walk(scope))
            if isinstance(node, kinds) and node.name == name and node is not scope
        ]
        if not inner:
            return None
        scope = inner[0]
    return scope if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)) else None


def iterations(node: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    """Each variable that a loop in `node` computes from itself by a call and nothing else new, and that call."""
    for loop in ast.walk(node):
        if not isinstance(loop, (ast.For, ast.While)):
            continue
        assigned = [(path_of(one.targets[0]), one.value) for one in loop.body if isinstance(one, ast.Assign)]
        made = {name: value for name, value in assigned if name}
        own = {path_of(one) for one in ast.walk(loop.target)} if isinstance(loop, ast.For) else set()
        for name, value in made.items():
            step = made.get(path_of(value), value)
            others = own | made.keys() - {name, path_of(value)}
            if isinstance(step, ast.Call) and _mentions(step, {name}) and not _mentions(step, others):
                yield name, step


def _mentions(node: ast.AST, names: set[str]) -> bool:
    return any(path_of(one) in names for one in ast.walk(node) if isinstance(one, (ast.Name, ast.Attribute)))
