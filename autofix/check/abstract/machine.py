"""Plays statements: two passes stand for a loop, one choice for a condition that nobody can decide."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

from autofix.check.abstract import containers, nets, operators
from autofix.check.abstract.expressions import OPERATIONS, Expressions
from autofix.check.abstract.player import FOREIGN, NoGradient
from autofix.check.abstract.tape import Pass
from autofix.check.abstract.values import (
    YES,
    Ask,
    CallFrame,
    Class,
    Const,
    Function,
    Instance,
    Later,
    Listed,
    Managed,
    Mapped,
    Mode,
    Named,
    Opaque,
    Plain,
    Tensor,
    Value,
)
from autofix.syntax.calls import path_of

NEXT, BREAK, CONTINUE, RETURN, RAISE = range(5)
_DECORATORS = frozenset({"property", "staticmethod", "classmethod", "dataclass", "contextmanager"})
_EXPECTING = frozenset({"raises", "assertRaises", "assertRaisesRegex", "suppress"})
_CAUGHT = frozenset({"RuntimeError", "Exception", "BaseException"})
_LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)


class Machine(Expressions):
    """Runs the statements of one frame after the other."""

    def block(self, body: Iterable[ast.stmt]) -> int:
        for statement in body:
            self.spend()
            handler = self.STATEMENTS.get(type(statement))
            signal = handler(self, statement) if handler is not None else None
            if signal:
                return signal
        return NEXT

    def _expression_statement(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.evaluate(node.value)

    def _assign(self, node: ast.Assign) -> None:
        value = self.evaluate(node.value)
        if self.capped and isinstance(value, Const) and isinstance(value.value, int | float) and _renews(node):
            value = Plain()
        for target in node.targets:
            self.bind(target, value, node)

    def _annotated(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.bind(node.target, self.evaluate(node.value), node)

    def _augmented(self, node: ast.AugAssign) -> None:
        operation = OPERATIONS.get(type(node.op), "add")
        if isinstance(node.target, ast.Attribute) and node.target.attr == "grad":
            self._add_to_gradient(node, node.target)
            return
        target = self.evaluate(node.target)
        value = self.evaluate(node.value)
        if isinstance(target, Tensor) and (not isinstance(target, Opaque) or target.is_tensor):
            if isinstance(value, NoGradient):
                self._none_used(value, node)
            self.tape.write(target, [value] if isinstance(value, Tensor) else [], self.place(node), f"{operation}_")
            if isinstance(node.target, ast.Subscript):
                return
            self.bind(node.target, target, node)
            return
        if isinstance(target, Listed) and isinstance(node.op, ast.Add):
            containers.method(self, target, "extend", Ask([value], {}, node))
            return
        result = self._binary(operation, node.op, target, value, node)
        if self.capped and isinstance(result, Const):
            result = Plain()
        self.bind(node.target, result, node)

    def _add_to_gradient(self, node: ast.AugAssign, target: ast.Attribute) -> None:
        """`x.grad += …`: before a backward has reached a leaf there is nothing to add to."""
        holder = self.evaluate(target.value)
        self.evaluate(node.value)
        if type(holder) is Tensor and holder.node is not None and holder.needs == YES and not holder.grad:
            kind = "gradient-still-none" if holder.is_leaf else "gradient-none"
            if holder.is_leaf or not holder.node.retained:
                self.tape.event(kind, self.place(node), tensor=holder, node=holder.node)
        if isinstance(holder, Tensor):
            holder.grad = True

    def bind(self, target: ast.expr, value: Value, node: ast.AST) -> None:
        match target:
            case ast.Name(id=name):
                self.frame.shared.get(name, self.frame).names[name] = value
            case ast.Attribute(value=holder, attr=name):
                self.set_attribute(self.evaluate(holder), name, value, node)
            case ast.Subscript():
                self._set_item(target, value, node)
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                self._unpack(targets, value, node)
            case ast.Starred(value=inner):
                self.bind(inner, value, node)

    def _unpack(self, targets: Sequence[ast.expr], value: Value, node: ast.AST) -> None:
        starred = next((n for n, one in enumerate(targets) if isinstance(one, ast.Starred)), None)
        items, exact = self.elements(value, node)
        if isinstance(value, Listed) and value.fresh is not None:
            items = [value.fresh() for _ in targets]
        elif starred is not None:
            after = len(targets) - starred - 1
            middle = items[starred : len(items) - after] if exact else items[-1:]
            head, tail = items[:starred], items[len(items) - after :] if after else []
            items = [*head, Listed([*middle], exact=exact), *tail]
        elif isinstance(value, Opaque):
            items = [self.part(value, "[]", node) for _ in targets]
        elif isinstance(value, Tensor):
            place = self.place(node)
            items = [operators.view(self.tape, value, place, "unbind", multiple=True) for _ in targets]
        for number, target in enumerate(targets):
            known = number < len(items) and (exact or len(items) >= len(targets))
            self.bind(target, items[number] if known else self.unknown(node), node)

    def _set_item(self, target: ast.Subscript, value: Value, node: ast.AST) -> None:
        container, key = self.evaluate(target.value), self.evaluate(target.slice)
        match container:
            case Listed() if isinstance(target.slice, ast.Slice):
                self._set_slice(container, target.slice, value, node)
            case Mapped() | Listed():
                name = key if isinstance(key, Const) else Const(f"({ast.unparse(target.slice)})")
                containers.set_item(self, container, key, name, Ask([value], {}, node))
            case Instance():
                self._set_child(container, key, value, node)
            case Tensor() if not isinstance(container, Opaque) or container.is_tensor:
                if isinstance(value, Tensor):
                    self.keep(value, node)
                self.tape.write(container, [value] if isinstance(value, Tensor) else [], self.place(node), "[]=")

    def _set_slice(self, container: Listed, part: ast.Slice, value: Value, node: ast.AST) -> None:
        """`some[:] = …` replaces all elements; which ones another slice replaces, nobody knows."""
        if not (part.lower or part.upper):
            container.items, container.exact = self.elements(value, node)
        else:
            container.items, container.exact = [self.unknown(node)], False

    def _set_child(self, container: Instance, key: Value, value: Value, node: ast.AST) -> None:
        if container.of is not None and container.of.find("__setitem__") is not None:
            self.call_method(container, "__setitem__", Ask([key, value], {}, node))
            return
        names = [name for name, _ in nets.held(container)]
        if isinstance(key, Const) and isinstance(key.value, int) and -len(names) <= key.value < len(names):
            container.attributes[names[key.value]] = value
        elif isinstance(key, Const):
            container.attributes[str(key.value)] = value
        else:
            container.attributes["(more)"] = self.unknown(node)

    def _delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            match target:
                case ast.Name(id=name):
                    self.frame.names.pop(name, None)
                case ast.Attribute(value=holder, attr=name):
                    container = self.evaluate(holder)
                    if isinstance(container, Instance):
                        container.attributes.pop(name, None)
                case ast.Subscript(value=holder):
                    container = self.evaluate(holder)
                    if isinstance(container, Listed):
                        whole = isinstance(target.slice, ast.Slice) and not (target.slice.lower or target.slice.upper)
                        container.exact = whole
                        if whole:
                            container.items.clear()
                    elif isinstance(container, Mapped):
                        container.exact = False

    def _if(self, node: ast.If) -> int:
        value = self.condition(node.test)
        if value is not None:
            return self.block(node.body if value else node.orelse)
        leaving = isinstance(node.body[-1], _LEAVING)
        if leaving and not node.orelse and (self.take or not isinstance(node.body[-1], ast.Return)):
            return NEXT
        if leaving and isinstance(node.body[-1], ast.Raise):
            return self.block(node.orelse)
        self.hesitated = self.hesitated or bool(node.orelse)
        chosen = self.undecided(node.test, choice=self.take or not node.orelse)
        body = node.body if chosen else node.orelse
        if not body:
            return NEXT
        return self._under(node.test, chosen, body)

    def _under(self, test: ast.expr, chosen: object, body: list[ast.stmt]) -> int:
        before = self.tape.conditions
        if test not in self.texts:
            self.texts[test] = ast.unparse(test)
        self.tape.conditions = before | {f"{self.texts[test]} {chosen}"}
        try:
            return self.block(body)
        finally:
            self.tape.conditions = before

    def _for(self, node: ast.For | ast.AsyncFor) -> int:
        iterated = self.evaluate(node.iter)
        values, exact = self.elements(iterated, node.iter)
        if isinstance(iterated, Listed) and iterated.kind == "generator":
            values = [self.later(value, node.iter) for value in values]
        return self._loop(node, values, exact=exact)

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, values: Sequence[Value | None], *, exact: bool) -> int:
        began = self.tape.tick()
        self.capped += not exact
        self.tape.passes.append(Pass(self.place(node), began, began))
        left = NEXT
        try:
            for value in values:
                self.tape.passes[-1] = Pass(self.place(node), began, self.tape.tick())
                if value is not None and not isinstance(node, ast.While):
                    self.bind(node.target, value, node)
                elif isinstance(node, ast.While) and self.condition(node.test) is False:
                    break
                left = self.block(node.body)
                if left in {BREAK, RETURN, RAISE}:
                    break
        finally:
            self.capped -= not exact
            self.tape.passes.pop()
        if left in {RETURN, RAISE}:
            return left
        return self.block(node.orelse) if left != BREAK else NEXT

    def _try(self, node: ast.Try | ast.TryStar) -> int:
        with self.tape.expecting(self.frame if any(map(_expects, node.handlers)) else None):
            left = self.block(node.body)
        if left == RAISE and node.handlers:
            left = self.block(node.handlers[0].body)
        elif left == NEXT:
            left = self.block(node.orelse)
        return self.block(node.finalbody) or left

    def _with(self, node: ast.With | ast.AsyncWith) -> int:
        before, switched = self.tape.grad, self.tape.switched
        raises = any(_short(item.context_expr) in _EXPECTING for item in node.items)
        with self.tape.expecting(self.frame if raises else None):
            left = self._managed(node, node.items)
        self.tape.grad, self.tape.switched = before, switched
        return left

    def _managed(self, node: ast.With | ast.AsyncWith, items: Sequence[ast.withitem]) -> int:
        """Play a body within the managers that are left to enter."""
        if not items:
            return self.block(node.body)
        first, outer, left = items[0], self.frame, NEXT

        def body(value: Value) -> None:
            nonlocal left
            inner, self.frame = self.frame, outer
            if first.optional_vars is not None:
                self.bind(first.optional_vars, value, node)
            left = self._managed(node, items[1:])
            self.frame = inner

        expression = first.context_expr
        manager = self.evaluate(expression)
        match manager:
            case Managed(function=function, ask=ask):
                self.invoke(function, ask, body)
            case Instance(of=Class() as of) if of.find("__enter__") is not None:
                body(self.call_method(manager, "__enter__", Ask([], {}, expression)))
                self.call_method(manager, "__exit__", Ask([Const(None)] * 3, {}, node))
            case Mode():
                self.switch(manager, expression)
                body(Plain())
            case _:
                if isinstance(manager, Opaque) and _may_switch(expression):
                    self.tape.grad = None
                body(manager)
        return left

    def _return(self, node: ast.Return) -> int:
        self.frame.result = self.evaluate(node.value) if node.value is not None else Const(None)
        return RETURN

    def _global(self, node: ast.Global | ast.Nonlocal) -> None:
        for name in node.names:
            holder: CallFrame | None = self.frame.globals
            if isinstance(node, ast.Nonlocal):
                holder = self.frame.outer.holder(name) if self.frame.outer is not None else None
            if holder is not None:
                self.frame.shared[name] = holder

    def _match(self, node: ast.Match) -> int:
        self.evaluate(node.subject)
        case = node.cases[0 if self.take else -1]
        for part in ast.walk(case.pattern):
            name = part.rest if isinstance(part, ast.MatchMapping) else getattr(part, "name", None)
            if name is not None:
                self.bind(ast.Name(name), self.unknown(node.subject), node)
        return self._under(node.subject, chosen=True, body=case.body)

    def _import(self, node: ast.Import) -> None:
        for alias in node.names:
            name = alias.name if alias.asname else alias.name.partition(".")[0]
            foreign = name.partition(".")[0] in FOREIGN
            value = Named(name) if foreign else Later(name, "", 0, self.frame.file)
            self.frame.names[alias.asname or name] = value

    def _import_from(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        foreign = not node.level and module.partition(".")[0] in FOREIGN
        for alias in node.names:
            name = alias.asname or alias.name
            if foreign:
                self.frame.names[name] = Named(f"{module}.{alias.name}")
            elif alias.name == "*":
                holder = self.module(module, node.level, self.frame.file)
                self.frame.names.update(holder.attributes if holder is not None else {})
            else:
                self.frame.names[name] = Later(module, alias.name, node.level, self.frame.file)

    def imported(self, value: Later, node: ast.AST) -> Value:
        holder = self.module(value.module, value.level, value.file)
        if not value.name:
            return holder if holder is not None else Named(value.module)
        if holder is None:
            return self.unknown(node) if value.level else Named(f"{value.module}.{value.name}")
        found = holder.attributes.get(value.name)
        if found is None:
            found = self.module(".".join(filter(None, (value.module, value.name))), value.level, value.file)
        if isinstance(found, Later):
            found = holder.attributes[value.name] = self.imported(found, node)
        return found if found is not None else self.unknown(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        function = self.function(node)
        made: Value = function
        before = self.tape.grad
        for decorator in reversed(node.decorator_list):
            value = self.evaluate(decorator) if path_of(decorator) not in _DECORATORS else None
            if isinstance(value, Named):  # without parentheses
                value = self.call(value, Ask([], {}, decorator))
            if isinstance(value, Opaque) and "grad" in _short(decorator):
                value = Mode(on=None)
            if isinstance(value, Mode):
                function.mode = value, decorator
            elif isinstance(value, Function):  # of the project; a foreign one is taken to change nothing
                made = self.call(value, Ask([made], {}, decorator))
        self.tape.grad = before
        self.frame.names[f"{node.name}.setter" if "setter" in function.words else node.name] = made

    def _class(self, node: ast.ClassDef) -> None:
        made = Class(node, self.frame)
        for base in node.bases:
            value = self.evaluate(base)
            if isinstance(value, Class):
                made.parents.append(value)
            else:
                made.bases.append(value.name.replace(".modules.module.", ".") if isinstance(value, Named) else "?")
        outer = self.frame
        self.frame = CallFrame(outer.function, outer, outer.caller, outer.file)
        self.block(node.body)
        made.names, self.frame = self.frame.names, outer
        for value in made.names.values():
            if isinstance(value, Function) and value.owner is None:
                value.owner, value.frame = made, outer
        outer.names[node.name] = made

    STATEMENTS: ClassVar[dict[type[ast.AST], Callable[[Machine, Any], int | None]]] = {
        ast.Expr: _expression_statement, ast.Assign: _assign, ast.AnnAssign: _annotated, ast.AugAssign: _augmented,
        ast.Delete: _delete, ast.If: _if, ast.For: _for, ast.AsyncFor: _for, ast.Try: _try, ast.TryStar: _try,
        ast.While: lambda self, node: self._loop(node, (None, None), exact=False),
        ast.With: _with, ast.AsyncWith: _with, ast.Return: _return, ast.Raise: lambda *_: RAISE,
        ast.Break: lambda *_: BREAK, ast.Continue: lambda *_: CONTINUE, ast.Global: _global, ast.Nonlocal: _global,
        ast.Match: _match, ast.Import: _import, ast.ImportFrom: _import_from, ast.FunctionDef: _function,
        ast.AsyncFunctionDef: _function, ast.ClassDef: _class,
    }  # fmt: skip


def _short(expression: ast.expr) -> str:
    return path_of(expression.func if isinstance(expression, ast.Call) else expression).rpartition(".")[2]


def _expects(handler: ast.ExceptHandler) -> bool:
    """Whether a handler takes what autograd raises, and goes on."""
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    caught = any(kind is None or path_of(kind) in _CAUGHT for kind in kinds)
    return caught and not any(isinstance(one, ast.Raise) for part in handler.body for one in ast.walk(part))


def _may_switch(expression: ast.expr) -> bool:
    """Whether a manager or decorator that nobody knows may switch gradients: one in a variable, or one named so."""
    return not isinstance(expression, ast.Call) or "grad" in _short(expression)


def _renews(node: ast.Assign) -> bool:
    """Whether a name gets a value that is made of itself."""
    read = {path_of(one) for one in ast.walk(node.value) if isinstance(one, ast.Name | ast.Attribute)}
    return any(path_of(target) in read for target in node.targets)
