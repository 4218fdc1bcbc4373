"""A tensor that an object or a container holds, and that a statement writes by a name of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from autofix.probe.wire import Frame
from autofix.syntax import blocks, names
from autofix.syntax.calls import path_of, whole
from autofix.syntax.edits.local_name import is_empty
from autofix.syntax.edits.names.second_name import given_to_written, is_to_be_written, stored, target_of
from autofix.syntax.reaching import reads_in
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources
from autofix.syntax.vocabulary import writes


def held_name(sources: Sources, stack: Sequence[Frame]) -> str:
    """What holds the tensor, as the code writes it: where its name is from, or where it was put; '' where nothing does.

    `x = out.states` or `self.features = x`, then `x.mul_(…)`. Not where the function is called for what it writes, nor
    what was empty, nor an attribute of the own object, nor `x += …` of one of others: that may be its state.
    """
    frames = [(source, node) for _, source, node in sources.nodes(stack[:2])]
    if not frames:
        return ""
    source, node = frames[0]
    statement = source.statement(node)
    reads = reads_in(source.function(node) or source.tree)
    target = target_of(statement)
    known = _bound_before(source, statement, target) or given_to_written(reads, statement)
    if target is None and (target := handed_over(statement)) is not None:
        known = reads.get(target, frozenset())
    if target is None or any(isinstance(one, ast.Assign) and is_empty(one.value) for one in known):
        return ""
    called = frames[1:] and is_to_be_written((), frames[1][0].statement(frames[1][1]), frames[1][1])
    return "" if called else next(_holders(source, statement, target, known), "")


def _bound_before(source: Source, write: ast.stmt, target: ast.Name | None) -> frozenset[ast.AST]:
    """The statement that last binds a name in the block of a write: who reads the name later may also read others."""
    before = reversed(blocks.before(blocks.block_of(source, write), write)) if target is not None else ()
    bound = next((one for one in before if target is not None and target.id in names.binds(one)), None)
    return frozenset({bound}) if isinstance(bound, ast.Assign) else frozenset()


def handed_over(statement: ast.stmt) -> ast.Name | None:
    """The one variable that a statement hands to a function which writes to it: `h = self.act(h)`."""
    match statement:
        case ast.Assign([ast.Name()], ast.Call(ast.Attribute(ast.Name() as own, method))) if writes(method):
            return own
        case ast.Assign([ast.Name()], ast.Call(args=args)):
            found = [one for one in args if isinstance(one, ast.Name)]
            return found[0] if len(found) == 1 and args[0] is found[0] else None
    return None


def _holders(source: Source, write: ast.stmt, target: ast.Name, known: frozenset[ast.AST]) -> Iterator[str]:
    """Where the tensor is from, or was put before it is written."""
    match [*known]:
        case [ast.Assign([ast.Name()], given)] if _is_item(given) and not isinstance(write, ast.AugAssign):
            yield ast.unparse(given)
    for one in (definition.targets for definition in known if isinstance(definition, ast.Assign)):
        if any(path_of(bound) == target.id for bound in one):  # `self.seen = h = …`
            yield from (ast.unparse(bound) for bound in one if isinstance(bound, (ast.Attribute, ast.Subscript)))
    reads = reads_in(source.function(write) or source.tree)
    for value, found in reads.items():
        if path_of(value) == target.id and value.lineno < write.lineno and found - {write} == known:
            yield from (name for _, name, one in stored(source.statement(value)) if one is value)


def _is_item(value: ast.expr) -> bool:
    """Whether a value is what an object of others holds, or a container under a constant key."""
    root = path_of(whole(value))
    keys = [one.slice for one in ast.walk(value) if isinstance(one, ast.Subscript)]
    known = all(isinstance(one, ast.Constant) and isinstance(one.value, str) for one in keys)
    return (
        isinstance(value, (ast.Attribute, ast.Subscript)) and bool(root) and root.partition(".")[0] != "self" and known
    )
