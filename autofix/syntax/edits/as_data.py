"""A sample that leaves torch as data from where it is drawn: the expression that makes it, without its graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from autofix.core.edit import Declined
from autofix.probe.wire import Frame
from autofix.syntax import calls, names, vocabulary, writes
from autofix.syntax.edits.expressions import append_call
from autofix.syntax.edits.steps import Step
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources

_DEEPEST = 4
"""Names through which a sample is followed back from what was made of it alone."""


def as_data(sources: Sources, made: Sequence[Frame]) -> list[Step]:
    """The steps by which what was made at a place has no graph from the sample on that it is made of.

    `action = mean + std * noise` gets a `.detach()`; of `action = torch.tanh(raw)` it is `raw` that does. Declines
    where what was made is no sample: no draw is added to something there, in its own words or by a name that holds it.
    """
    for _, source, node in sources.located(made[:1]):
        sample: ast.expr | None = node
        for _ in range(_DEEPEST):
            if sample is None or _is_sample(source, sample):
                break
            sample = _made_of(source, sample)
        if sample is not None and _is_sample(source, sample):
            return append_call(source, sample, ".detach()")
    raise Declined("what is handed over is no sample that is drawn where it is made")


def _is_sample(source: Source, node: ast.expr) -> bool:
    """Whether an expression is a sum with noise in it, or a draw along a path, or what torch makes of such a one."""
    match node:
        case ast.BinOp(op=ast.Add() | ast.Sub()) if any(_is_noise(source, one) for one in _factors(node)):
            return True
        case ast.BinOp(left=left, right=right):
            return _is_sample(source, left) or _is_sample(source, right)
        case ast.Call(func=ast.Attribute(attr="rsample")):
            return True
        case ast.Call(args=[first, *_]) if writes.is_module(source, node.func):
            return _is_sample(source, first)
        case ast.Call(func=ast.Attribute(value=value)):
            return _is_sample(source, value)
    return False


def _factors(node: ast.expr) -> Iterator[ast.expr]:
    """What stands between the operators of an expression."""
    if isinstance(node, ast.BinOp):
        yield from (*_factors(node.left), *_factors(node.right))
    else:
        yield node


def _is_noise(source: Source, value: ast.expr) -> bool:
    """Whether a value is a draw without parameters: `torch.randn(3).to(device)`, or a variable that is given such."""
    if isinstance(value, ast.Name):
        given = [*_given(source, value, value.id)]
        return bool(given) and all(any(map(_draws, _factors(one))) for one in given)
    return _draws(value)


def _draws(value: ast.expr) -> bool:
    """Whether a value is a draw, or what methods make of one."""
    return any(vocabulary.draws(calls.name_of(call).removesuffix("_")) for call in writes.chain(value))


def _made_of(source: Source, node: ast.expr) -> ast.expr | None:
    """What the one variable was given that torch makes an expression of; None where more goes into that."""
    read = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)} - set(source.imported)
    found = [value for name in read for value in _given(source, node, name)]
    return found[0] if len(read) == len(found) == 1 else None


def _given(source: Source, node: ast.AST, name: str) -> Iterator[ast.expr]:
    """What the variable of that name is given in the same function."""
    function = source.function(node)
    for one in names.assignments(source, name):
        plain = isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name)
        if plain and one.value is not None and source.function(one) is function:
            yield one.value
