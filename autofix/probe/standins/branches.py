"""Comparisons that decide on a branch: which came out alike each time, and, on request, the opposite."""

from __future__ import annotations

import ast
import builtins
import os
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from .. import wire
from ..engine.taps import Listener

MET = "__autofix_met__"
COMPARED = "__autofix_compared__"


@dataclass(slots=True)
class _Test:
    """One comparison: where it stands, what it came to so far, and whether a number that it compares has changed."""

    place: wire.Frame
    came_to: set[bool] = field(default_factory=set)
    numbers: dict[int, float] = field(default_factory=dict)
    changes: bool = False


class Branches(ast.NodeTransformer, Listener):
    """Puts a call around each comparison that a branch hangs on, and around each value that it compares.

    Only numbers count as changing, and only a comparison that gives True or False: a setting never changes.
    """

    def __init__(self, owned: Callable[[str], bool], lines: dict[str, tuple[int, ...]], turned: Iterable[str]) -> None:
        self._owned, self._lines, self._turned = owned, lines, frozenset(turned)
        self._path = ""
        self._counted: Counter[int] = Counter()
        self._tests: dict[str, _Test] = {}

    def install(self, change: Callable[..., None]) -> None:
        """Have sources changed in this way as they are loaded, by what `change` is told."""
        setattr(builtins, MET, self._met)
        setattr(builtins, COMPARED, self._compared)
        change(self._owned, self._changed)

    def told(self) -> dict[str, Any]:
        """The comparisons of what changes that came out alike each time, each with what it came to, and its key."""
        known = ((key, test) for key, test in self._tests.items() if test.changes and len(test.came_to) == 1)
        return {
            "facts": tuple(wire.Fact("one-sided", f"{max(test.came_to)} {key}", (test.place,)) for key, test in known)
        }

    def _changed(self, tree: ast.Module, path: str) -> ast.Module:
        self._path, self._counted = os.path.realpath(path), Counter()
        return ast.fix_missing_locations(self.visit(tree))

    # The code -------------------------------------------------------------------------------------------------------

    def visit_If(self, node: ast.If) -> ast.AST:
        node.test = self._tested(node.test)
        return self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        node.test = self._tested(node.test)
        return self.generic_visit(node)

    def _tested(self, test: ast.expr) -> ast.expr:
        match test:
            case ast.BoolOp():
                test.values = [self._tested(one) for one in test.values]
            case ast.UnaryOp(ast.Not()):
                test.operand = self._tested(test.operand)
            case ast.Compare():
                key = self._key(test)
                test.left = self._met_at(key, 0, test.left)
                test.comparators = [self._met_at(key, n, one) for n, one in enumerate(test.comparators, 1)]
                return _call(COMPARED, key, test)
            case ast.BinOp():
                key = self._key(test)
                return _call(COMPARED, key, self._met_at(key, 0, test))
        return test

    def _key(self, node: ast.expr) -> str:
        """By which it is known in the code and in an edit of it: the line that it had, and which one it is there."""
        lines = self._lines.get(self._path, ())
        line = lines[node.lineno - 1] if node.lineno <= len(lines) else node.lineno
        self._counted[line] += 1
        key = f"{line}:{self._counted[line]}:{self._path}"
        self._tests[key] = _Test(wire.Frame.around(self._path, node, ""))
        return key

    @staticmethod
    def _met_at(key: str, place: int, value: ast.expr) -> ast.expr:
        return value if isinstance(value, ast.Constant) else _call(MET, key, value, place)

    # The run --------------------------------------------------------------------------------------------------------

    def _met(self, key: str, value: Any, place: int) -> Any:
        if type(value) in (int, float):
            test = self._tests[key]
            test.changes = test.changes or test.numbers.setdefault(place, value) != value
        return value

    def _compared(self, key: str, result: Any) -> Any:
        if type(result) not in (bool, int, float):
            return result
        self._tests[key].came_to.add(bool(result))
        return not result if key in self._turned else result


def _call(name: str, key: str, value: ast.expr, *more: int) -> ast.expr:
    arguments: list[ast.expr] = [ast.Constant(key), value, *map(ast.Constant, more)]
    return ast.copy_location(ast.Call(ast.Name(name, ast.Load()), arguments, []), value)
