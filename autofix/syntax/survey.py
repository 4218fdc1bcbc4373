"""Walks over a file's tree, once, and writes down its facts: one method for each kind of node that matters."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, NamedTuple

from autofix.syntax.calls import Comprehension, path_of
from autofix.syntax.facts import Bind, Block, Call, Module, Scope
from autofix.syntax.modes import switches_off


def survey(tree: ast.Module, data: bytes) -> Module:
    """The facts of a file."""
    module = Module(tree, data)
    _Walk(module.top).statements(tree.body)
    return module


class _Made(NamedTuple):
    """How names come to a value: the statement, the way, and what the value reads."""

    node: ast.AST
    how: str
    start: int
    end: int


class _Fields(dict[type, tuple[str, ...]]):
    """For each type of node, the fields in which expressions can stand."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        skipped = {"ctx", "op", "ops", "kind", "conversion", "id", "attr", "arg", "type_comment", "is_async"}
        self[kind] = tuple(field for field in kind._fields if field not in skipped)
        return self[kind]


_FIELDS = _Fields()


class _Walk:
    """Walks the statements of one scope, and opens a walk for each scope in it."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.block = scope.block
        self.quiet = scope.quiet
        self.loads = scope.loads

    # --- statements --------------------------------------------------------------------------

    def statements(self, body: Iterable[ast.stmt]) -> None:
        for statement in body:
            handler = self.STATEMENTS.get(type(statement))
            if handler is not None:
                handler(self, statement)
            else:
                self.expressions(statement)

    def _suite(self, body: list[ast.stmt], node: ast.AST) -> None:
        if not body:
            return
        outer, self.block = self.block, Block(self.block, node)
        self.statements(body)
        self.block = outer

    def _assign(self, node: ast.Assign) -> None:
        made = self._made(node, "=", node.value)
        for target in node.targets:
            self._bind(target, node.value, made)

    def _given(self, node: ast.AnnAssign | ast.NamedExpr) -> None:
        if node.value is not None:
            self._bind(node.target, node.value, self._made(node, "=", node.value))

    def _augmented(self, node: ast.AugAssign) -> None:
        how = "augmented" if isinstance(node.target, ast.Name | ast.Attribute) else "item"
        self._bind(node.target, node.value, self._made(node, how, node.value))

    def _made(self, node: ast.AST, how: str, value: ast.expr) -> _Made:
        """Walk a value, and say what it reads."""
        start = len(self.loads)
        self.expression(value)
        return _Made(node, how, start, len(self.loads))

    def _bind(self, target: ast.expr, value: ast.expr | None, made: _Made) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            self._unpack(target, value, made)
            return
        if isinstance(target, ast.Starred):
            target, made = target.value, made._replace(how="unpacked")
        if isinstance(target, ast.Subscript):
            made = made._replace(how="item")
        while isinstance(target, ast.Subscript):
            self.expression(target.slice)
            target = target.value
        name = path_of(target)
        if not name:
            self.expression(target)
            return
        scope = self.scope
        bind = Bind(len(scope.events), made.node, name, value, made.how, self.block, self.quiet, made.start, made.end)
        scope.events.append(bind)
        scope.binds.setdefault(name, []).append(bind)
        if name.startswith("self.") and scope.within is not None:
            scope.within.attributes.setdefault(name, []).append(bind)

    def _unpack(self, target: ast.Tuple | ast.List, value: ast.expr | None, made: _Made) -> None:
        values: list[ast.expr | None] = [value] * len(target.elts)
        if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
            values = [*value.elts]
        else:
            made = made._replace(how="unpacked")
        for element, part in zip(target.elts, values, strict=True):
            self._bind(element, part, made)

    def _loop(self, node: ast.For | ast.AsyncFor) -> None:
        made = self._made(node, "other", node.iter)
        outer, self.block = self.block, Block(self.block, node, loop=True)
        self._bind(node.target, None, made)
        self.statements(node.body)
        self.block = outer
        self._suite(node.orelse, node)

    def _while(self, node: ast.While) -> None:
        outer, self.block = self.block, Block(self.block, node, loop=True)
        self.expression(node.test)
        self.statements(node.body)
        self.block = outer
        self._suite(node.orelse, node)

    def _if(self, node: ast.If) -> None:
        self.expression(node.test)
        self._suite(node.body, node)
        self._suite(node.orelse, node)

    def _try(self, node: ast.Try | ast.TryStar) -> None:
        self._suite(node.body, node)
        for handler in node.handlers:
            self._suite(handler.body, handler)
        self._suite(node.orelse, node)
        self.statements(node.finalbody)

    def _match(self, node: ast.Match) -> None:
        self.expression(node.subject)
        for case in node.cases:
            self._suite(case.body, case)

    def _with(self, node: ast.With | ast.AsyncWith) -> None:
        outer = self.quiet
        for item in node.items:
            made = self._made(node, "other", item.context_expr)
            self.quiet = self.quiet or switches_off(item.context_expr)
            if item.optional_vars is not None:
                self._bind(item.optional_vars, None, made)
        self.statements(node.body)
        self.quiet = outer

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        imports = self.scope.module.imports
        prefix = f"{node.module}." if isinstance(node, ast.ImportFrom) and not node.level and node.module else ""
        for alias in node.names:
            if prefix or isinstance(node, ast.ImportFrom):
                imports.setdefault(alias.asname or alias.name, f"{prefix or '.'}{alias.name}")
            elif alias.asname:
                imports.setdefault(alias.asname, alias.name)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for decorator in node.decorator_list:
            self.expression(decorator)
        self._defaults(node.args)
        inner = self._open(node)
        arguments = node.args
        listed = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        inner.parameters = frozenset(argument.arg for argument in listed if argument is not None)
        inner.quiet = self.scope.quiet or any(map(switches_off, node.decorator_list))
        if self.scope is self.scope.module.top:
            self.scope.module.functions[node.name] = inner
        _Walk(inner).statements(node.body)

    def _class(self, node: ast.ClassDef) -> None:
        for part in (*node.decorator_list, *node.bases):
            self.expression(part)
        inner = self._open(node)
        self.scope.module.classes.setdefault(node.name, inner)
        _Walk(inner).statements(node.body)

    def _open(self, node: ast.AST) -> Scope:
        module = self.scope.module
        inner = Scope(node, self.scope, module)
        module.scopes.append(inner)
        return inner

    def _defaults(self, arguments: ast.arguments) -> None:
        for default in (*arguments.defaults, *arguments.kw_defaults):
            if default is not None:
                self.expression(default)

    # --- expressions -------------------------------------------------------------------------

    def expressions(self, node: ast.AST) -> None:
        """Everything in the fields of a node that is nothing special itself."""
        for field in _FIELDS[type(node)]:
            value = getattr(node, field, None)
            if isinstance(value, list):
                for part in value:
                    if isinstance(part, ast.AST):
                        self.expression(part)
            elif isinstance(value, ast.AST):
                self.expression(value)

    def expression(self, node: ast.AST) -> None:
        kind = type(node)
        if kind is ast.Constant:
            return
        if kind is ast.Name:
            self.loads.append(node.id)  # type: ignore[attr-defined]
            return
        handler = self.EXPRESSIONS.get(kind)
        if handler is not None:
            handler(self, node)
        else:
            self.expressions(node)

    def _attribute(self, node: ast.Attribute) -> None:
        name = path_of(node)
        if name:
            self.loads.append(name)
        else:
            self.expression(node.value)

    def _call(self, node: ast.Call) -> None:
        start = len(self.loads)
        func = node.func
        name = path_of(func)
        if name:
            self.loads.append(name)
        else:
            self.expression(func.value if isinstance(func, ast.Attribute) else func)
        for part in node.args:
            self.expression(part)
        for word in node.keywords:
            self.expression(word.value)
        method = func.attr if isinstance(func, ast.Attribute) else name
        scope = self.scope
        call = Call(len(scope.events), node, name, method, self.block, self.quiet, start, len(self.loads))
        scope.events.append(call)
        scope.calls.setdefault(method, []).append(call)

    def _comprehension(self, node: Comprehension) -> None:
        outer, self.block = self.block, Block(self.block, node, loop=True)
        for generator in node.generators:
            self.expression(generator.iter)
            for test in generator.ifs:
                self.expression(test)
        for part in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
            self.expression(part)
        self.block = outer

    def _choice(self, node: ast.IfExp | ast.BoolOp) -> None:
        first, *others = node.values if isinstance(node, ast.BoolOp) else (node.test, node.body, node.orelse)
        self.expression(first)
        outer, self.block = self.block, Block(self.block, node)
        for part in others:
            self.expression(part)
        self.block = outer

    def _lambda(self, node: ast.Lambda) -> None:
        self._defaults(node.args)
        inner = self._open(node)
        inner.parameters = frozenset(argument.arg for argument in node.args.args)
        inner.quiet = self.scope.quiet
        _Walk(inner).expression(node.body)
        self.loads.extend(inner.loads)

    STATEMENTS: ClassVar[dict[type[ast.AST], Callable[[_Walk, Any], None]]] = {
        ast.Assign: _assign, ast.AnnAssign: _given, ast.AugAssign: _augmented,
        ast.For: _loop, ast.AsyncFor: _loop, ast.While: _while, ast.If: _if,
        ast.Try: _try, ast.TryStar: _try, ast.Match: _match, ast.With: _with,
        ast.AsyncWith: _with, ast.Import: _import, ast.ImportFrom: _import,
        ast.FunctionDef: _function, ast.AsyncFunctionDef: _function, ast.ClassDef: _class,
    }  # fmt: skip
    EXPRESSIONS: ClassVar[dict[type[ast.AST], Callable[[_Walk, Any], None]]] = {
        ast.Attribute: _attribute, ast.Call: _call, ast.ListComp: _comprehension,
        ast.SetComp: _comprehension, ast.GeneratorExp: _comprehension, ast.DictComp: _comprehension,
        ast.IfExp: _choice, ast.BoolOp: _choice, ast.Lambda: _lambda, ast.NamedExpr: _given,
    }  # fmt: skip
