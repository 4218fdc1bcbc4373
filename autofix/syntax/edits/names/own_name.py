"""A name of its own for a result that takes the name of the leaf it is made of: the leaf keeps its own."""

from __future__ import annotations

import ast
import re

from autofix.core.edit import Declined
from autofix.syntax import blocks, calls, names, writes
from autofix.syntax.edits.expressions import replace
from autofix.syntax.edits.local_name import own_names
from autofix.syntax.edits.steps import Step
from autofix.syntax.source import Source

_MAKES = frozenset({"Variable", "Parameter", "tensor", "as_tensor"})
_STARTS = re.compile("new_|rand|zeros|ones|full|empty|eye|normal")


def takes_name_of_leaf(source: Source, statement: ast.stmt, name: str) -> bool:
    """Whether a statement gives the name of a leaf that was flagged before it in its function to a result of that."""
    return _flag(source, statement, name) is not None


def own_name(source: Source, statement: ast.stmt, name: str) -> list[Step]:
    """The steps by which such a result has a name of its own, from there to where the gradient of `name` is read.

    The statements that read the gradient, and those that begin to, mean the leaf.
    """
    flag = _flag(source, statement, name)
    if flag is None or not isinstance(statement, ast.Assign):
        raise Declined(f"{name} is not the name of a leaf that a result of it takes")
    if set(blocks.loops(source, statement)) - set(blocks.loops(source, flag)):
        raise Declined(f"a loop gives {name} to results again and again")
    scope = source.function(statement) or source.tree
    found = [one for one in names.mentions(scope, name) if one.lineno > statement.lineno]
    if any(not isinstance(one.ctx, ast.Load) for one in found):
        raise Declined(f"{name} is given to something else behind it")
    reading = {source.statement(one) for one in found if _is_gradient(source, one)}
    known = {getattr(node, "id", getattr(node, "arg", "")) for node in ast.walk(scope)}
    new = next(one for one in own_names(statement.targets[0]) if one not in known)
    results = [statement.targets[0], *(one for one in found if source.statement(one) not in reading)]
    return [step for one in results for step in replace(source, one, new)]


def _is_gradient(source: Source, node: ast.expr) -> bool:
    user = source.parent(node)
    return isinstance(user, ast.Attribute) and user.attr == "grad"


def _flag(source: Source, statement: ast.stmt, name: str) -> ast.AST | None:
    """Where the leaf is flagged, if a statement gives its name to a result of it."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=bound)], value=value) if bound == name and name in names.reads(value):
            before = (
                one
                for one in ast.walk(source.function(statement) or source.tree)
                if isinstance(one, ast.stmt) and one.lineno < statement.lineno
            )
            marked = (one for one in before if _flags(one, name))
            return next(marked, None) if calls.path_of(writes.shown(value)) != name else None
    return None


def _flags(statement: ast.stmt, name: str) -> bool:
    """Whether a statement asks for the gradient of a variable: `x.requires_grad_()`, also where that is its value."""
    named = isinstance(statement, ast.Assign) and [calls.path_of(one) for one in statement.targets] == [name]
    if isinstance(statement, ast.Assign) and named and _makes_leaf(statement.value):
        return True
    flagged = calls.flagged(statement.value if isinstance(statement, ast.Assign) and named else statement)
    if flagged is None or not (named or calls.path_of(flagged[0]) == name):
        return False
    return not (isinstance(flagged[1], ast.Constant) and flagged[1].value is False)


def _makes_leaf(value: ast.expr) -> bool:
    """Whether a call makes a leaf of data: `Variable(x, requires_grad=True)`.

    What is drawn, or begins with zeros, may be a start that is scaled: there the result is the leaf that is meant.
    """
    if not isinstance(value, ast.Call) or calls.name_of(value) not in _MAKES:
        return False
    asked = calls.keyword(value, "requires_grad")
    if asked is None and calls.name_of(value) != "Parameter":
        return False
    makes = (calls.name_of(one) for one in calls.within(value))
    return not (isinstance(asked, ast.Constant) and not asked.value) and not any(map(_STARTS.match, makes))
