"""A value that one function makes, in the words of another that uses it: what its variables are called there."""

from __future__ import annotations

import ast
import builtins
import copy
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from autofix.core.edit import Declined
from autofix.search import anew
from autofix.syntax import blocks, calls, names
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources

_DETACH = ".detach()"
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Use:
    """Where a function uses a value that another one made: in the first of the calls `made`, the next one around it."""

    source: Source
    statement: ast.stmt
    path: str
    made: list[tuple[Source, ast.expr]]

    @property
    def _making(self) -> tuple[str, ast.expr]:
        statement = self.made[0][0].statement(self.made[0][1])
        assert isinstance(statement, ast.Assign)  # noqa: S101  `_made` takes no others
        return calls.path_of(statement.targets[0]), statement.value

    def again(self, sources: Sources) -> list[str]:
        """The statement that made it, as it is spelled here, without the cut."""
        source, value = self.made[0][0], self._making[1]
        if any(anew.draws(call, source, sources) for call in calls.within(value)):
            raise Declined(f"{self.path} would be made of other random numbers")
        read = [node for node in ast.walk(value) if isinstance(node, ast.Name)]
        first, *rest = names.copied(source, source.statement(value), renamed={one: self._here(one.id) for one in read})
        lines = [re.sub(r"^[\w.]+\s*=\s*", f"{self.path} = ", first), *rest]
        return [line.replace(_DETACH, "") for line in lines]

    def made_here(self) -> str:
        """The variable that has the same value here, made with its graph; '' if there is none."""
        with suppress(Declined):
            wanted = _spelled(_parsed(_spelled(self._making[1], self._here)), self._expanded)
            above = blocks.above(self.source, self.statement)
            for index, one in enumerate(above):
                match one:
                    case ast.Assign(targets=[ast.Name(name)], value=value) if not any(map(cuts, ast.walk(value))):
                        again = name in names.bound_by(above[index + 1 :])
                        if not again and _spelled(value, self._expanded) == wanted:
                            return name
        return ""

    def _here(self, name: str, depth: int = 0) -> str:
        """What a variable is here that the function around one of the calls knows."""
        source, node = self.made[depth]
        function, (kept, _) = source.function(node), self._making
        if function is self.source.function(self.statement):
            return name
        if function is None or name not in names.locals_of(function):
            known = source is self.source or name in self.source.imported or hasattr(builtins, name)
            return name if known else _decline(name)
        if depth == 0 and kept.startswith(f"{name}.") and self.path.endswith(kept.removeprefix(name)):
            return self.path.removesuffix(kept.removeprefix(name))
        value, given = _binding(function, name), calls.parameters(function)
        if value is None and name in given and depth + 1 < len(self.made):
            call = self.made[depth + 1][1]
            path, owner = calls.path_of(_given(call, function, name)), calls.path_of(_given(call, function, "self"))
            if name != "self" and given[0] == "self" and path.startswith(f"{owner}."):
                return self._here("self", depth) + path.removeprefix(owner)
            depth += 1
        else:
            path = calls.path_of(value)
        root, dot, rest = path.partition(".")
        return self._here(root, depth) + dot + rest if root else _decline(name)

    def _expanded(self, name: str) -> str:
        """A variable of this function, as the path that it is another name of."""
        function = self.source.function(self.statement)
        path = calls.path_of(_binding(function, name)) if function is not None else ""
        return path or name


def cuts(node: ast.AST) -> bool:
    """Whether a node gives a tensor without its graph."""
    return isinstance(node, ast.Call) and calls.name_of(node) == "detach" and not node.args


def _decline(name: str) -> str:
    raise Declined(f"the function that uses it does not know {name}")


def _binding(function: Function, name: str) -> ast.expr | None:
    """The value of a variable that a function binds once."""
    bound = [one for one in ast.walk(function) if isinstance(one, ast.stmt) and name in names.binds(one)]
    match [one for one in bound if one is not function and not isinstance(one, (ast.If, ast.With, ast.Try))]:
        case [ast.Assign(targets=[ast.Name()], value=value)] if name not in calls.parameters(function):
            return value
    return None


def _given(call: ast.expr, function: Function, name: str) -> ast.expr | None:
    """What a call gives to a parameter of the function that it calls, or calls it on."""
    if not isinstance(call, ast.Call):
        return None
    known = calls.parameters(function)
    if known[:1] != [name] or name != "self":
        return calls.argument(call, known, name)
    called = call.func
    return called.value if isinstance(called, ast.Attribute) and called.attr == function.name else called


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _spelled(value: ast.expr, name: Callable[[str], str]) -> str:
    """An expression as text with other names, and without its cuts."""

    class Spelling(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return _parsed(name(node.id))

        def visit_Call(self, node: ast.Call) -> ast.AST:
            kept = node.func.value if cuts(node) and isinstance(node.func, ast.Attribute) else None
            return self.generic_visit(node) if kept is None else self.visit(kept)

    return ast.unparse(Spelling().visit(copy.deepcopy(value)))
