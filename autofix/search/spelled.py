"""A value that one function makes, in the words of another that uses it: what its variables are called there."""

from __future__ import annotations

import ast
import builtins
import copy
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from autofix.core.edit import Declined
from autofix.search import anew
from autofix.syntax import blocks, calls, names
from autofix.syntax.calls import Function
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources

_DETACH = ".detach()"


@dataclass(frozen=True, slots=True)
class Use:
    """Where a function uses a value that another one made, and by which path."""

    source: Source
    statement: ast.stmt
    path: str
    making: ast.Assign
    made: Sequence[tuple[Source, ast.expr]]
    """The call within that statement, and those around it."""
    called: tuple[Source, ast.expr] | None
    """The call of the function that uses it, if it is one."""

    def again(self, sources: Sources) -> list[str]:
        """The statement that made it, as it is spelled here, without the cut."""
        source, value = self.made[0][0], self.making.value
        if any(anew.draws(call, source, sources) for call in calls.within(value)):
            raise Declined(f"{self.path} would be made of new random numbers")
        read = [node for node in ast.walk(value) if isinstance(node, ast.Name)]
        first, *rest = names.copied(source, self.making, renamed={one: self._here(one.id) for one in read})
        lines = [re.sub(r"^[\w.]+\s*=\s*", f"{self.path} = ", first), *rest]
        return [line.replace(_DETACH, "") for line in lines]

    def made_here(self) -> str:
        """The variable that has the same value here, made with its graph; '' if there is none."""
        with suppress(Declined):
            wanted = _spelled(_parsed(_spelled(self.making.value, self._here)), self._expanded)
            above = blocks.above(self.source, self.statement)
            for index, one in enumerate(above):
                match one:
                    case ast.Assign(targets=[ast.Name(name)], value=value) if not any(map(cuts, ast.walk(value))):
                        again = name in names.bound_by(above[index + 1 :])
                        if not again and _spelled(value, self._expanded) == wanted:
                            return name
        return ""

    def _here(self, path: str, depth: int = 0) -> str:
        """What a variable, or a part of one, is here that the function around one of the calls knows."""
        source, node = self.made[depth]
        function, mine = source.function(node), self.source.function(self.statement)
        kept, (name, dot, rest) = calls.path_of(self.making.targets[0]), path.partition(".")
        if function is mine and source is self.source:
            return path
        if isinstance(mine, Function) and self.called and self.called[0].function(self.called[1]) is function:
            for one in calls.parameters(mine):
                given = calls.path_of(calls.handed(self.called[1], mine, one))
                if given and f"{path}.".startswith(f"{given}."):
                    return one + path.removeprefix(given)
        if function is None or name not in names.locals_of(function):
            known = source is self.source or name in self.source.imported or hasattr(builtins, name)
            return path if known else _decline(name)
        if depth == 0 and kept.startswith(f"{name}.") and self.path.endswith(kept.removeprefix(name)):
            return self.path.removesuffix(kept.removeprefix(name)) + dot + rest
        value = names.bound_once(function, name)
        if value is None and name in calls.parameters(function) and depth + 1 < len(self.made):
            depth += 1
            value = calls.handed(self.made[depth][1], function, name)
        return self._here(whole, depth) + dot + rest if (whole := calls.path_of(value)) else _decline(name)

    def _expanded(self, name: str) -> str:
        """A variable of this function, as the path that it is another name of."""
        function = self.source.function(self.statement)
        path = calls.path_of(names.bound_once(function, name)) if function is not None else ""
        return path or name


def cuts(node: ast.AST) -> bool:
    """Whether a node gives a tensor without its graph."""
    return isinstance(node, ast.Call) and calls.name_of(node) == "detach" and not node.args


def _decline(name: str) -> str:
    raise Declined(f"{name} has no value in the function that uses it")


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
