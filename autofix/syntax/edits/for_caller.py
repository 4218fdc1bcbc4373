"""A statement of a function as its caller would write it: arguments for parameters, values for local names."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Mapping

from autofix.core.edit import Declined
from autofix.syntax import blocks, names
from autofix.syntax.calls import Function
from autofix.syntax.source import Source


def for_caller(
    source: Source, statement: ast.stmt, given: Mapping[str, ast.expr], may_repeat: Callable[[ast.Call], bool]
) -> list[str]:
    """The lines of a statement outside of its function, whose parameters are `given`.

    Declines where a local name is made in several steps, and where a call is none that `may_repeat`.
    """
    function = source.function(statement)
    if function is None:
        raise Declined("it is not in a function")
    said = _ForCaller(source, statement, function, given, may_repeat)
    return ast.unparse(said.visit(copy.deepcopy(statement))).splitlines()


class _ForCaller(ast.NodeTransformer):
    def __init__(
        self, source: Source, statement: ast.stmt, function: Function, given: Mapping[str, ast.expr],
        may_repeat: Callable[[ast.Call], bool],
    ) -> None:  # fmt: skip
        self._given, self._may_repeat, self._local = given, may_repeat, names.locals_of(function)
        self._before = blocks.before(blocks.block_of(source, statement), statement)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if not self._may_repeat(node):
            raise Declined("it would draw other random numbers")
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id not in self._local:
            return node
        match [one for one in self._before if node.id in names.binds(one)]:
            case [] if node.id in self._given:
                return self._given[node.id]
            case [ast.Assign(targets=[ast.Name()], value=value)]:
                found: ast.AST = self.visit(copy.deepcopy(value))
                return found
            case [ast.Assign(targets=[ast.Tuple(elts=parts)], value=ast.Attribute(attr="shape") as shape)]:
                at = [ast.unparse(one) for one in parts].index(node.id)
                return ast.Subscript(self.visit(copy.deepcopy(shape)), ast.Constant(at), ast.Load())
        raise Declined(f"several statements make {node.id}")
