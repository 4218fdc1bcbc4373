"""Parameters that a constructor keeps only by what it computed from them: each is given a name of its own."""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from autofix.core.edit import Declined
from autofix.probe.wire import Stack
from autofix.syntax import vocabulary
from autofix.syntax.blocks import around
from autofix.syntax.calls import name_of, within
from autofix.syntax.edits.expressions import embed, rename, replace
from autofix.syntax.edits.statements import insert_after
from autofix.syntax.edits.steps import Step
from autofix.syntax.names import copied, locals_of
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources


class Registered(NamedTuple):
    """The edit by which the parameters that a constructor loses are kept, and the attributes that are made of them.

    `listed`: where the class gives such an attribute for its parameter, what gives the parameter itself.
    """

    source: Source
    steps: list[Step]
    paths: list[str]
    listed: list[Step]


class _Lost(NamedTuple):
    statement: ast.Assign
    target: ast.Attribute
    parameter: ast.expr


def registered(sources: Sources, stacks: Iterable[Stack]) -> Iterator[Registered]:
    """What registers the parameters of which a constructor made these results, and kept these alone.

    `self.scale = torch.exp(nn.Parameter(…))` becomes `self.raw_scale = nn.Parameter(…)` and a property `scale`.
    """
    places = dict.fromkeys(
        (source, maker)
        for stack in dict.fromkeys(stacks)
        for _, source, node in sources.located(stack)
        if isinstance(maker := source.function(node), ast.FunctionDef)
        and isinstance(source.parent(maker), ast.ClassDef)
        and source.statement(node) in [one.statement for one in _lost(source, maker)]
    )
    for source, maker in places:
        with contextlib.suppress(Declined):
            yield _registered(source, maker)


def completed(sources: Sources, stacks: Iterable[Stack]) -> Iterator[tuple[list[Step], str]]:
    """What makes a parameter of the whole value that a constructor keeps, where one stands within it; its path.

    Not where a function keeps that value in a range, which a parameter would leave.
    `self.weight = nn.Parameter(torch.randn(3)) * 0.1` becomes `nn.Parameter(torch.randn(3) * 0.1)`.
    """
    statements = dict.fromkeys(
        (source, source.statement(node)) for stack in stacks for _, source, node in sources.located(stack)
    )
    for source, statement in statements:
        match statement:
            case ast.Assign([ast.Attribute(ast.Name()) as target], value) if _is_of_constructor(source, statement):
                inside = [one for one in ast.walk(value) if _is_parameter(one)]
                ranged = any(name_of(one) in vocabulary.KEEPS_IN_RANGE for one in within(value))
                if len(inside) == 1 and isinstance(call := inside[0], ast.Call) and call is not value and not ranged:
                    made = replace(source, call, source.segment(call.args[0]))
                    yield [*made, *embed(source, value, f"{source.segment(call.func)}({{}})")], ast.unparse(target)


def _is_of_constructor(source: Source, statement: ast.stmt) -> bool:
    maker = source.function(statement)
    return isinstance(maker, ast.FunctionDef) and maker.name == "__init__" and statement in maker.body


def _registered(source: Source, maker: ast.FunctionDef) -> Registered:
    steps: list[Step] = []
    lines: list[str] = []
    listed: list[Step] = []
    taken = {one.attr for one in source.walk() if isinstance(one, ast.Attribute)}
    lost = list(_lost(source, maker))
    for statement, target, parameter in lost:
        me, name = ast.unparse(target.value), target.attr
        own = next((f"{word}_{name}" for word in ("raw", "unconstrained") if f"{word}_{name}" not in taken), "")
        if not own:
            raise Declined(f"raw_{name} is another attribute")
        steps += rename(source, target, own) + replace(source, statement.value, source.segment(parameter))
        first, *rest = copied(source, statement, renamed={parameter: f"{me}.{own}"})
        value = re.sub(r"^[\w.]+\s*=\s*", "return ", first)
        listed += [step for one in _listed(source, maker, ast.unparse(target)) for step in rename(source, one, own)]
        lines += ["", "@property", f"def {name}({me}):", *(f"    {line}" for line in (value, *rest))]
    steps += insert_after(source, maker, lines)
    return Registered(source, steps, [ast.unparse(one.target) for one in lost], listed)


def _listed(source: Source, maker: ast.FunctionDef, path: str) -> Iterator[ast.Attribute]:
    """Where methods of the class return an attribute among others in a list or a tuple, or yield it, as a parameter."""
    for node in source.walk(source.parent(maker)):
        match node:
            case ast.Return(value=ast.List(elts=found) | ast.Tuple(elts=found)):
                pass
            case ast.Yield(value=ast.expr() as one):
                found = [one]
            case _:
                continue
        yield from (one for one in found if isinstance(one, ast.Attribute) and ast.unparse(one) == path)


def _lost(source: Source, maker: ast.FunctionDef) -> Iterator[_Lost]:
    me = maker.args.args[0].arg if maker.args.args else ""
    for statement in maker.body:
        match statement:
            case ast.Assign([ast.Attribute(ast.Name(id=holder)) as target], value) if holder == me:
                parameter = _parameter(source, maker, value)
                alone = parameter is not None and _is_computed_alone(maker, value, parameter)
                if parameter is not None and alone and not _is_written(source, target):
                    yield _Lost(statement, target, parameter)


def _parameter(source: Source, maker: ast.FunctionDef, value: ast.expr) -> ast.expr | None:
    """The one parameter that a value is made of by a function that keeps it in a range, or the variable that has it.

    By another function it may be meant to begin with that value: `nn.Parameter(torch.randn(3)) * 0.1`.
    """
    found = [one for one in ast.walk(value) if _is_parameter(one) or _has_parameter(maker, one)]
    if len(found) != 1 or not isinstance(one := found[0], ast.expr):
        return None
    between = [each for each in around(source, one) if each is value or each in ast.walk(value)]
    return (
        one
        if any(isinstance(each, ast.Call) and name_of(each) in vocabulary.KEEPS_IN_RANGE for each in between)
        else None
    )


def _is_parameter(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or name_of(node) != "Parameter" or node.keywords:
        return False
    return len(node.args) == 1 and not isinstance(node.args[0], ast.Starred)


def _has_parameter(maker: ast.FunctionDef, node: ast.AST) -> bool:
    """Whether a node reads a variable of the constructor that is a parameter, and that nothing else is done with."""
    if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load) or node.id not in locals_of(maker):
        return False
    uses = [one for one in ast.walk(maker) if isinstance(one, ast.Name) and one.id == node.id]
    made = [one for one in maker.body if isinstance(one, ast.Assign) and one.targets[0] in uses]
    return len(uses) == 2 and len(made) == 1 and len(made[0].targets) == 1 and _is_parameter(made[0].value)  # noqa: PLR2004


def _is_computed_alone(maker: ast.FunctionDef, value: ast.expr, parameter: ast.expr) -> bool:
    """Whether a value is made of the parameter and of what is the same in each pass."""
    inside = {*ast.walk(parameter)}
    rest = [one for one in ast.walk(value) if one not in inside]
    own = locals_of(maker)
    reads = any(isinstance(one, ast.Name) and one.id in own for one in rest)
    return not reads and not any(isinstance(one, ast.Call) and vocabulary.draws(name_of(one)) for one in rest)


def _is_written(source: Source, target: ast.Attribute) -> bool:
    """Whether an attribute of that name is assigned elsewhere in the file, or something is put into its value."""
    for one in source.walk():
        if isinstance(one, ast.Attribute) and one.attr == target.attr and one is not target:
            user = source.parent(one)
            puts = isinstance(user, ast.Subscript) and not isinstance(user.ctx, ast.Load)
            method = isinstance(user, ast.Attribute) and (vocabulary.writes(user.attr) or user.attr == "data")
            if puts or method or not isinstance(one.ctx, ast.Load):
                return True
    return False
