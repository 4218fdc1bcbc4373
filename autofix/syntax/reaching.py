"""Which statements may have given a variable the value that a place reads: reaching definitions within one scope."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Mapping

from autofix.syntax.calls import Comprehension, Function, path_of
from autofix.syntax.vocabulary import STORES

Bindings = dict[str, frozenset[ast.AST]]
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Reaching:
    """The definitions that reach each read of a name or of a path of attributes, of a function or of a module.

    A definition is an assignment, a loop, a parameter, a comprehension, or a statement that fills a container.
    Functions within the scope are scopes of their own.
    """

    def __init__(self, scope: Function | ast.Module) -> None:
        self.reads: dict[ast.expr, frozenset[ast.AST]] = {}
        self.returns: list[ast.Return] = []
        self._now: Bindings = {}
        if not isinstance(scope, ast.Module):
            arguments = scope.args
            named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
            named += [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
            self._now = {one.arg: frozenset({one}) for one in named}
        self._block(scope.body)

    def of(self, definition: ast.AST) -> list[ast.expr]:
        """The places that may read what one definition gave."""
        return [read for read, found in self.reads.items() if definition in found]

    # Statements -----------------------------------------------------------------------------------------------------

    def _block(self, statements: Iterable[ast.stmt]) -> None:
        for statement in statements:
            self._statement(statement)

    def _statement(self, statement: ast.stmt) -> None:  # noqa: C901, PLR0912  one case for each kind
        match statement:
            case ast.Assign(targets=targets, value=value):
                self._expression(value)
                for target in targets:
                    self._bind(target, statement)
            case ast.AnnAssign(target=target, value=value):
                self._expression(value)
                if value is not None:
                    self._bind(target, statement)
            case ast.AugAssign(target=target, value=value):
                self._expression(value)
                self._expression(target)
                self._read(target)
                self._bind(target, statement)
            case ast.For(target=target, iter=values) | ast.AsyncFor(target=target, iter=values):
                self._expression(values)
                self._loop(statement, target)
            case ast.While(test=test):
                self._loop(statement, None, test)
            case ast.If(test=test, body=body, orelse=orelse):
                self._expression(test)
                self._either(body, orelse)
            case ast.With(items=items) | ast.AsyncWith(items=items):
                for item in items:
                    self._expression(item.context_expr)
                    if item.optional_vars is not None:
                        self._bind(item.optional_vars, statement)
                self._block(statement.body)
            case ast.Try():
                before = dict(self._now)
                self._block(statement.body)
                self._now = _joined(before, self._now)
                self._either(statement.orelse, *(handler.body for handler in statement.handlers))
                self._block(statement.finalbody)
            case ast.Match(subject=subject, cases=cases):
                self._expression(subject)
                self._either([], *(case.body for case in cases))
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                self._now[name] = frozenset({statement})
            case _:
                if isinstance(statement, ast.Return):
                    self.returns.append(statement)
                self._expression(statement)
                self._filled(statement)

    def _loop(
        self, statement: ast.For | ast.AsyncFor | ast.While, target: ast.expr | None, test: ast.expr | None = None
    ) -> None:
        before = dict(self._now)
        for _ in range(2):  # what one round leaves, the next one reads
            self._expression(test)
            if target is not None:
                self._bind(target, statement)
            self._block(statement.body)
            self._now = _joined(before, self._now)
        self._block(statement.orelse)

    def _either(self, *blocks: Iterable[ast.stmt]) -> None:
        before, found = dict(self._now), []
        for block in blocks:
            self._now = dict(before)
            self._block(block)
            found.append(self._now)
        self._now = _joined(*found)

    def _filled(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=holder, attr=name))) if name in STORES:
                self._add(path_of(holder), statement)

    # Names ----------------------------------------------------------------------------------------------------------

    def _bind(self, target: ast.expr, definition: ast.AST) -> None:
        match target:
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for part in parts:
                    self._bind(part, definition)
            case ast.Starred(value=value):
                self._bind(value, definition)
            case ast.Subscript(value=value, slice=index):
                self._expression(index)
                self._add(path_of(value), definition)
            case _ if path := path_of(target):
                self._now[path] = frozenset({definition})

    def _add(self, path: str, definition: ast.AST) -> None:
        if path:
            self._now[path] = self._now.get(path, frozenset()) | {definition}

    def _read(self, node: ast.expr) -> None:
        self.reads[node] = self.reads.get(node, frozenset()) | self._now.get(path_of(node), frozenset())

    def _expression(self, node: ast.AST | None) -> None:
        if node is None or isinstance(node, (*_SCOPES, ast.Lambda)):
            return
        if isinstance(node, Comprehension):
            before = dict(self._now)
            for generator in node.generators:
                self._expression(generator.iter)
                self._bind(generator.target, generator)
                for condition in generator.ifs:
                    self._expression(condition)
            for part in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
                self._expression(part)
            self._now = before
            return
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load) and path_of(node):
            self._read(node)
        if isinstance(node, ast.NamedExpr):
            self._expression(node.value)
            self._bind(node.target, node)
            return
        for child in ast.iter_child_nodes(node):
            self._expression(child)


def _joined(*several: Mapping[str, frozenset[ast.AST]]) -> Bindings:
    names = {name for one in several for name in one}
    return {name: frozenset().union(*(one.get(name, frozenset()) for one in several)) for name in names}


@functools.lru_cache(maxsize=16)  # of the scopes that are asked about for every edit
def reads_in(scope: Function | ast.Module) -> Mapping[ast.expr, frozenset[ast.AST]]:
    """What gave each expression of a scope that is read its value."""
    return Reaching(scope).reads
