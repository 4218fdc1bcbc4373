"""Plays expressions: the value of each, where what it is made of tells it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Sequence
from typing import Any, ClassVar

from autofix.check.abstract import containers, folding, library, nets, operators
from autofix.check.abstract.calling import Caller
from autofix.check.abstract.player import NoGradient
from autofix.check.abstract.values import (
    Ask,
    CallFrame,
    Const,
    Instance,
    Later,
    Listed,
    Mapped,
    Named,
    Opaque,
    Plain,
    PlayPlace,
    Tensor,
    Value,
)
from autofix.syntax.calls import path_of

OPERATIONS: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.Pow: "pow", ast.MatMult: "matmul",
    ast.Mod: "remainder", ast.FloorDiv: "floor_divide", ast.BitAnd: "logical_and", ast.BitOr: "logical_or",
    ast.BitXor: "logical_or", ast.LShift: "mul", ast.RShift: "div",
}  # fmt: skip
"""What tensors call the operators."""
_COPIES = 4
"""So often is a list repeated at most."""


class Expressions(Caller):
    """The value of an expression, by its kind."""

    def evaluate(self, node: ast.expr) -> Value:
        handler = self.EXPRESSIONS.get(type(node))
        return handler(self, node) if handler is not None else self.unknown(node)

    def condition(self, test: ast.expr) -> bool | None:
        """Whether a condition holds; `__main__` is what is run."""
        if isinstance(test, ast.Compare) and path_of(test.left) == "__name__":
            return self.frame.file == self.main
        return self.truth(self.evaluate(test))

    def _name(self, node: ast.Name) -> Value:
        holder = self.frame.holder(node.id)
        if holder is not None:
            value = holder.names[node.id]
            if isinstance(value, Later):
                value = holder.names[node.id] = self.imported(value, node)
            return value
        if node.id in library.BUILTINS:
            return Named(node.id)
        if node.id == "__name__":
            return Const("__main__")
        value = self.unknown(node)
        self.frame.globals.names.setdefault(node.id, value)
        return value

    def _call(self, node: ast.Call) -> Value:
        function = node.func
        if isinstance(function, ast.Attribute):
            if isinstance(function.value, ast.Call) and path_of(function.value.func) == "super":
                return self.call_super(function.attr, self._asked(node))
            return self.call_method(self.evaluate(function.value), function.attr, self._asked(node))
        return self.call(self.evaluate(function), self._asked(node))

    def _asked(self, node: ast.Call) -> Ask:
        given: list[Value] = []
        for part in node.args:
            if isinstance(part, ast.Starred):
                given.extend(self.elements(self.evaluate(part.value), part)[0])
            else:
                given.append(self.evaluate(part))
        words: dict[str, Value] = {}
        for word in node.keywords:
            value = self.evaluate(word.value)
            if word.arg is not None:
                words[word.arg] = value
            else:
                if isinstance(value, Mapped):
                    words.update({str(key): one for key, one in value.items.items()})
                if not (isinstance(value, Mapped) and value.exact):
                    words["**"] = Plain()
        return Ask(given, words, node)

    def _operation(self, node: ast.BinOp) -> Value:
        name = OPERATIONS.get(type(node.op), "add")
        return self._binary(name, node.op, self.evaluate(node.left), self.evaluate(node.right), node)

    def _binary(self, name: str, kind: ast.operator, left: Value, right: Value, node: ast.AST) -> Value:
        for one in (left, right):
            if isinstance(one, NoGradient):
                self._none_used(one, node)
                return self.unknown(node)
        if isinstance(left, Tensor) or isinstance(right, Tensor):
            return self._of_tensors(name, left, right, node)
        match left, right:
            case Const(value=first), Const(value=second):
                return folding.computed(kind, first, second)
            case Listed(), Listed() if name == "add":
                return Listed([*left.items, *right.items], left.kind, exact=left.exact and right.exact)
            case (Listed() as many, Const(value=int() as number)) | (Const(value=int() as number), Listed() as many):
                times = max(0, min(number, _COPIES))
                return Listed(many.items * times, many.kind, exact=many.exact and number == times)
            case Listed(), Plain():
                return Listed([*left.items], left.kind, exact=False)
        cut = next((one.cut for one in (left, right) if isinstance(one, Plain) and one.cut is not None), None)
        return Plain(cut)

    def _of_tensors(self, name: str, left: Value, right: Value, node: ast.AST) -> Value:
        tensors = [one for one in (left, right) if isinstance(one, Tensor)]
        if all(isinstance(one, Opaque) for one in tensors):
            if all(one.node is None for one in tensors):
                return Opaque(data=True)
            unclear = Opaque()
            saved = [(tensors[0], tensors[-1])] if name in {"mul", "matmul"} and len(tensors) > 1 else []
            result = self.tape.operate(
                name, tensors, self.place(node), holds=name not in {"add", "sub"}, saved=saved, into=unclear
            )
            unclear.is_tensor = any(isinstance(one, Opaque) and one.is_tensor for one in tensors)
            return result
        return operators.apply(self.tape, name, [left, right], {}, self.place(node))

    def _none_used(self, value: NoGradient, node: ast.AST) -> None:
        self.tape.event("gradient-none", self.place(node), tensor=value.of, node=value.of.node)

    def _unary(self, node: ast.UnaryOp) -> Value:
        value = self.evaluate(node.operand)
        if isinstance(node.op, ast.Not):
            known = self.truth(value)
            return Plain() if known is None else Const(not known)
        if isinstance(value, Tensor):
            if isinstance(value, Opaque):
                return self.part(value, "neg", node)
            return operators.apply(self.tape, "neg", [value], {}, self.place(node))
        if isinstance(value, Const) and isinstance(value.value, int | float) and isinstance(node.op, ast.USub):
            return Const(-value.value)
        return value

    def _compare(self, node: ast.Compare) -> Value:
        left, rights = self.evaluate(node.left), [self.evaluate(one) for one in node.comparators]
        if len(rights) != 1:
            return Plain()
        right, kind = rights[0], node.ops[0]
        if isinstance(kind, ast.Is | ast.IsNot):
            return folding.identity(left, right, positive=isinstance(kind, ast.Is))
        if isinstance(kind, ast.In | ast.NotIn):
            return folding.membership(left, right, positive=isinstance(kind, ast.In))
        if isinstance(left, Const) and isinstance(right, Const):
            return folding.compared(kind, left.value, right.value)
        for one in (left, right):
            if isinstance(one, Tensor) and not isinstance(one, Opaque):
                return operators.apply(self.tape, "gt", [left, right], {}, self.place(node))
        return Plain()

    def _choice(self, node: ast.IfExp) -> Value:
        known = self.condition(node.test)
        if known is None and self._asks_of_each(node.test):
            return self._one_of([self.evaluate(node.body), self.evaluate(node.orelse)], node)
        self.hesitated = self.hesitated or known is None
        chosen = self.undecided(node.test, choice=self.take) if known is None else known
        return self.evaluate(node.body if chosen else node.orelse)

    def _asks_of_each(self, test: ast.expr) -> bool:
        """Whether a condition is about an element of a comprehension: it may hold for one and not for another."""
        names = {one.id for one in ast.walk(test) if isinstance(one, ast.Name)}
        return self.frame.generates and not names.isdisjoint(self.frame.names)

    def _logical(self, node: ast.BoolOp) -> Value:
        stop = isinstance(node.op, ast.Or)
        values: list[Value] = []
        for part in node.values:
            value = self.evaluate(part)
            known = self.truth(value)
            if known is stop:
                return self._one_of([*values, value], node)
            if known is None or part is node.values[-1]:
                values.append(value)
        return self._one_of(values, node)

    def _one_of(self, values: list[Value], node: ast.AST) -> Value:
        """The value of a choice that nobody can decide, unless there is only one to choose."""
        if len(values) == 1:
            return values[0]
        simple = all(isinstance(one, Plain | Const) for one in values)
        return Plain() if simple else self.unknown(node)

    def _subscript(self, node: ast.Subscript) -> Value:
        container = self.evaluate(node.value)
        if isinstance(node.slice, ast.Slice) and isinstance(container, Listed):
            return self._slice(container, node.slice)
        key = self.evaluate(node.slice)
        match container:
            case Opaque():
                return self.part(container, "[]", node)
            case Tensor():
                return self._indexed(container, node.slice, key, node)
            case Instance():
                return self._child(container, key, node)
        found = containers.item(self, container, key, node)
        if found is None and isinstance(container, Plain):
            return Plain(container.cut)
        return found if found is not None else self.unknown(node)

    def _child(self, container: Instance, key: Value, node: ast.Subscript) -> Value:
        if container.of is not None and container.of.find("__getitem__") is not None:
            return self.call_method(container, "__getitem__", Ask([key], {}, node))
        held = nets.children(container)
        if isinstance(key, Const) and isinstance(key.value, int) and -len(held) <= key.value < len(held):
            return held[key.value]
        if isinstance(key, Const) and str(key.value) in container.attributes:
            return container.attributes[str(key.value)]
        if held and not isinstance(key, Const):
            return held[-1]
        return container if isinstance(node.slice, ast.Slice) else self.unknown(node)

    def _slice(self, container: Listed, part: ast.Slice) -> Value:
        ends = [self.evaluate(one) if one is not None else Const(None) for one in (part.lower, part.upper, part.step)]
        known = [one.value for one in ends if isinstance(one, Const) and isinstance(one.value, int | None)]
        if container.exact and len(known) == len(ends):
            return Listed(container.items[slice(*known)], container.kind)
        return Listed([*container.items], container.kind, exact=False)

    def _indexed(self, tensor: Tensor, index: ast.expr, key: Value, node: ast.AST) -> Value:
        """A view for slices and numbers, a copy for tensors and for what is not known."""
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        basic = all(isinstance(one, ast.Slice | ast.Constant | ast.UnaryOp) for one in parts)
        if not basic:
            keys = key.items if isinstance(key, Listed) else [key]
            basic = all(isinstance(one, Const | Plain) for one in keys)
        if basic:
            return operators.view(self.tape, tensor, self.place(node), "[]")
        return self.tape.operate("index", [tensor], self.place(node))

    def _collected(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value:
        found: list[Value] = []
        exact = self._generate(node.generators, lambda: found.append(self.evaluate(node.elt)))
        kind = {ast.ListComp: "list", ast.SetComp: "set"}.get(type(node), "generator")
        return Listed(found, kind, exact=exact)

    def _mapped(self, node: ast.DictComp) -> Value:
        found = Mapped()

        def one() -> None:
            self._enter(found, node.key, self.evaluate(node.value))

        found.exact = self._generate(node.generators, one) and found.exact
        return found

    def _generate(self, generators: Sequence[ast.comprehension], action: Callable[[], object]) -> bool:
        outer = self.frame
        place = PlayPlace(outer, generators[0].iter)
        self.frame = CallFrame(outer.function, outer, place, outer.file, given=outer.given, generates=True)
        try:
            return self._nested(generators, action)
        finally:
            self.frame = outer

    def _nested(self, generators: Sequence[ast.comprehension], action: Callable[[], object]) -> bool:
        if not generators:
            self.spend()
            action()
            return True
        first, *others = generators
        values, known = self.elements(self.evaluate(first.iter), first.iter)
        self.capped += not known
        exact = known
        for value in values:
            self.bind(first.target, value, first.target)
            tests = [self.condition(test) for test in first.ifs]
            if False in tests:
                continue
            exact = self._nested(others, action) and exact and None not in tests
        self.capped -= not known
        return exact

    def _sequence(self, node: ast.Tuple | ast.List | ast.Set) -> Value:
        kind = {ast.Tuple: "tuple", ast.List: "list"}.get(type(node), "set")
        found, exact = Listed([], kind), True
        for part in node.elts:
            if isinstance(part, ast.Starred):
                more, sure = self.elements(self.evaluate(part.value), part)
                found.items.extend(more)
                exact = exact and sure
            else:
                found.items.append(self.evaluate(part))
        found.exact = exact
        return found

    def _dictionary(self, node: ast.Dict) -> Value:
        found = Mapped()
        for key, part in zip(node.keys, node.values, strict=True):
            value = self.evaluate(part)
            if key is None:
                if isinstance(value, Mapped):
                    found.items.update(value.items)
                    found.exact = found.exact and value.exact
                else:
                    found.exact = False
                continue
            self._enter(found, key, value)
        return found

    def _enter(self, found: Mapped, key: ast.expr, value: Value) -> None:
        """Put a value under its key; under the key's text where that is not known."""
        known = self.evaluate(key)
        if not isinstance(known, Const):
            found.items[f"({ast.unparse(key)})"], found.exact = value, False
        elif isinstance(known.value, Hashable):
            found.items[known.value] = value

    def _text(self, node: ast.JoinedStr) -> Value:
        parts = []
        for part in node.values:
            value = self.evaluate(part.value if isinstance(part, ast.FormattedValue) else part)
            parts.append(str(value.value) if isinstance(value, Const) else None)
        return Const("".join(part for part in parts if part is not None)) if None not in parts else Plain()

    def _walrus(self, node: ast.NamedExpr) -> Value:
        value = self.evaluate(node.value)
        comprehension = self.frame
        while comprehension.generates and comprehension.outer is not None:
            comprehension = comprehension.outer
        comprehension.shared.get(node.target.id, comprehension).names[node.target.id] = value
        return value

    def _yield(self, node: ast.Yield) -> Value:
        value = self.evaluate(node.value) if node.value is not None else Const(None)
        if self.frame.around is not None:
            self.frame.around(value)
        self._yielded().append(value)
        return Plain()

    def _yielded(self) -> list[Value]:
        """What the function under way has yielded; having yielded makes it a generator."""
        if self.frame.yielded is None:
            self.frame.yielded = []
        return self.frame.yielded

    def _yield_from(self, node: ast.YieldFrom) -> Value:
        self._yielded().extend(self.elements(self.evaluate(node.value), node)[0])
        return Plain()

    EXPRESSIONS: ClassVar[dict[type[ast.AST], Callable[[Expressions, Any], Value]]] = {
        ast.Constant: lambda _, node: Const(node.value), ast.Name: _name, ast.Call: _call, ast.BinOp: _operation,
        ast.Attribute: lambda self, node: self.attribute(self.evaluate(node.value), node.attr, node),
        ast.UnaryOp: _unary, ast.Compare: _compare, ast.IfExp: _choice, ast.BoolOp: _logical, ast.Subscript: _subscript,
        ast.ListComp: _collected, ast.SetComp: _collected, ast.GeneratorExp: _collected, ast.DictComp: _mapped,
        ast.Tuple: _sequence, ast.List: _sequence, ast.Set: _sequence, ast.Dict: _dictionary, ast.JoinedStr: _text,
        ast.Lambda: lambda self, node: self.function(node), ast.NamedExpr: _walrus, ast.Yield: _yield,
        ast.YieldFrom: _yield_from, ast.Await: lambda self, node: self.evaluate(node.value),
        ast.Starred: lambda self, node: self.evaluate(node.value), ast.Slice: lambda *_: Plain(),
    }  # fmt: skip
