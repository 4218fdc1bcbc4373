"""A value that one function makes, in the words of another that uses it: what its variables are called there."""

from __future__ import annotations

import ast
import builtins
import copy
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from autofix.core.edit import Declined
from autofix.probe.wire import Crossing, Stack
from autofix.search import anew, handed
from autofix.syntax import blocks, calls, names
from autofix.syntax.calls import Function
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources

_DETACH = ".detach()"
_DEEPEST = 4
"""Frames around the use of a value in which it is looked for by its name."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A value that a statement keeps by a path: what it is given, and which item of that it is, as one writes it."""

    statement: ast.Assign
    target: ast.expr
    value: ast.expr
    item: str
    made: Sequence[tuple[Source, ast.expr]]
    """The call within that statement, and those around it."""


@dataclass(frozen=True, slots=True)
class Use:
    """Where a function uses a value that another one made, and by which path."""

    source: Source
    statement: ast.stmt
    path: str
    kept: Kept
    called: tuple[Source, ast.expr] | None
    """The call of the function that uses it, if it is one."""

    def again(self, sources: Sources) -> list[str]:
        """The statement that made it, as it is spelled here, without the cut."""
        first, *rest = names.copied(self.kept.made[0][0], self.kept.statement, renamed=self._renamed(sources))
        lines = [re.sub(r"^[\w.]+\s*=\s*", f"{self.path} = ", first), *rest]
        return [line.replace(_DETACH, "") for line in lines]

    def from_values(self, sources: Sources, graph: Sequence[tuple[Source, ast.expr]]) -> str:
        """The value as it is computed here of inputs that lose their graph; '' where none of its inputs has one.

        `graph`: the expressions that gave a part of it, each with its file.
        """
        source, value = self.kept.made[0][0], self.kept.value
        cut = [*_inputs(value, [node for _, node in graph], self._with_graph(graph))]
        put = [(source.extent(node)[1], source.extent(node)[1], _DETACH) for node in cut]
        put += [(*source.extent(node), name) for node, name in self._renamed(sources).items()] if cut else []
        start, end = source.extent(value)
        text = source.text[start:end]
        for first, last, new in sorted(put, reverse=True):
            text = f"{text[: first - start]}{new}{text[last - start :]}"
        return text + self.kept.item if cut else ""

    def _with_graph(self, graph: Sequence[tuple[Source, ast.expr]]) -> set[str]:
        """The variables that hold a part of a graph where the value is made, those that its function is given too."""
        source, call = self.kept.made[0]
        bound = names.bound_by(where.statement(node) for where, node in graph)
        function = source.function(call)
        if not isinstance(function, Function) or len(self.kept.made) == 1:
            return bound
        given = {one: calls.handed(self.kept.made[1][1], function, one) for one in calls.parameters(function)}
        nodes = [node for _, node in graph]
        held = {name for name, one in given.items() if one in nodes or calls.path_of(one) in bound}
        return {one for one in bound if one not in given} | held

    def _renamed(self, sources: Sources) -> dict[ast.Name, str]:
        """What the variables are called here of which the value is made."""
        source, value = self.kept.made[0][0], self.kept.value
        if any(anew.draws(call, source, sources) for call in calls.within(value)):
            raise Declined(f"{self.path} would be made of new random numbers")
        return {one: self._here(one.id) for one in ast.walk(value) if isinstance(one, ast.Name)}

    def made_here(self) -> str:
        """The variable that has the same value here, made with its graph; '' if there is none."""
        with suppress(Declined):
            wanted = _spelled(_parsed(_spelled(self.kept.value, self._here)), self._expanded)
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
        source, node = self.kept.made[depth]
        function, mine = source.function(node), self.source.function(self.statement)
        kept, (name, dot, rest) = calls.path_of(self.kept.target), path.partition(".")
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
        if value is None and name in calls.parameters(function) and depth + 1 < len(self.kept.made):
            depth += 1
            value = calls.handed(self.kept.made[depth][1], function, name)
        return self._here(whole, depth) + dot + rest if (whole := calls.path_of(value)) else _decline(name)

    def _expanded(self, name: str) -> str:
        """A variable of this function, as the path that it is another name of."""
        function = self.source.function(self.statement)
        path = calls.path_of(names.bound_once(function, name)) if function is not None else ""
        return path or name


def used_by(crossing: Crossing, sources: Sources) -> Iterator[tuple[Use, ast.expr]]:
    """The operands that are a value by the name by which it was kept: in the function that made it, else in others."""
    located = list(sources.located(crossing.used))
    for kept in makings(crossing.made, sources):
        name, home = ast.unparse(kept.target), (kept.made[0][0], kept.made[0][0].function(kept.statement))
        found = []
        for depth, (frame, source, node) in enumerate(located[:_DEEPEST]):
            called = next(((where, call) for _, where, call in located[depth + 1 :]), None)
            same = (one for one in calls.tensors_in(node) if ast.unparse(one) == name)
            held = (one for one in same if handed.carries(crossing, frame, name))
            found += [(Use(source, source.statement(one), name, kept, called), one) for one in held]
        near = [(use, one) for use, one in found if (use.source, use.source.function(one)) == home]
        yield from near or (pair for pair in found if isinstance(pair[1], ast.Attribute))


def makings(stack: Stack, sources: Sources) -> Iterator[Kept]:
    """What statements keep that was made at a stack, innermost first."""
    found = [(source, node) for _, source, node in sources.located(stack)]
    for index, (source, node) in enumerate(found):
        match source.statement(node):
            case ast.Assign(targets=[ast.Tuple(elts=several)], value=ast.Call() as value) as one:
                yield from (Kept(one, part, value, f"[{at}]", found[index:]) for at, part in enumerate(several))
            case ast.Assign() as one:
                pairs = [(part, value) for part, value in names.paired(one) if node in ast.walk(value)]
                yield from (Kept(one, part, value, "", found[index:]) for part, value in pairs if calls.path_of(part))


def cuts(node: ast.AST) -> bool:
    """Whether a node gives a tensor without its graph."""
    return isinstance(node, ast.Call) and calls.name_of(node) == "detach" and not node.args


def _inputs(node: ast.AST, graph: Collection[ast.expr], bound: Collection[str]) -> Iterator[ast.expr]:
    """What calls within an expression are given that has a graph: a variable, or what another call gave."""
    for part in ast.iter_child_nodes(node):
        given = isinstance(node, ast.Call) and part is not node.func
        if isinstance(part, ast.expr) and given and (part in graph or calls.path_of(part) in bound):
            yield part
        else:
            yield from _inputs(part, graph, bound)


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
