"""Plays calls: of functions and classes that are known, of torch, of what nobody knows."""

from __future__ import annotations

import ast
from collections.abc import Callable

from autofix.check.abstract import containers, gradients, library, methods, nets, torchlike
from autofix.check.abstract.attributes import PROPERTIES, Attributes
from autofix.check.abstract.player import NoGradient
from autofix.check.abstract.values import (
    Ask,
    CallFrame,
    Class,
    Const,
    Function,
    Instance,
    Listed,
    Managed,
    Mapped,
    Method,
    Mode,
    Named,
    Opaque,
    Optimizer,
    Plain,
    Tensor,
    Value,
    bound,
    contents,
)
from autofix.syntax.calls import path_of
from autofix.syntax.vocabulary import BACKWARDS

_DEEPEST = 24


class Caller(Attributes):
    """What a call comes to."""

    def held(self, value: Instance, node: ast.AST) -> tuple[list[Value], bool]:
        if value.of is not None and value.of.find("__iter__") is not None:
            return self.elements(self.call_method(value, "__iter__", Ask([], {}, node)), node)
        if nets.is_module(value):
            return nets.children(value), True
        return [self.unknown(node) for _ in range(2)], False

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Function:
        made = Function(node, self.frame)
        if not isinstance(node, ast.Lambda):
            made.words = frozenset(
                path_of(one.func if isinstance(one, ast.Call) else one).rpartition(".")[2]
                for one in node.decorator_list
            )
        return made

    def switch(self, mode: Mode, node: ast.AST) -> None:
        """Record from now on as a manager or decorator says."""
        self.tape.grad = mode.on
        if mode.on is False:
            self.tape.switched = self.place(node)

    def call(self, function: Value, ask: Ask) -> Value:
        match function:
            case Function():
                return self.invoke(function, ask)
            case Class():
                return self.instantiate(function, ask)
            case Named(name=name):
                return self._of_library(name, ask)
            case Method(receiver=receiver, name=name):
                return self.call_method(receiver, name, ask)
            case Instance():
                return self.call_instance(function, ask)
            case NoGradient():
                return self.unknown(ask.node)
        methods.frozen_by(self, path_of(getattr(ask.node, "func", None)), ask)
        return self.unknown(ask.node)

    def _of_library(self, name: str, ask: Ask) -> Value:
        if name.startswith("torch."):
            return torchlike.call(self, name, ask)
        found = library.call(self, name, ask)
        if found is not None:
            return found
        methods.frozen_by(self, name, ask)
        return self.unknown(ask.node)

    def invoke(self, function: Function, ask: Ask, around: Callable[[Value], object] | None = None) -> Value:
        if self.depth >= _DEEPEST:
            return self.unknown(ask.node)
        if "contextmanager" in function.words and around is None:
            return Managed(function, ask)
        self.spend()
        if function.receiver is not None:
            ask = ask._replace(given=[function.receiver, *ask.given])
        inner = CallFrame(function, function.frame, self.place(ask.node), function.frame.file, around=around)
        inner.given = {id(one.node) for value in (*ask.given, *ask.words.values()) for one in contents(value)}
        outer, before, switched = self.frame, self.tape.grad, self.tape.switched
        self._fill(inner, function, list(ask.given), dict(ask.words), ask.node)
        self.frame, self.depth = inner, self.depth + 1
        if function.mode is not None:
            self.switch(*function.mode)
        self.played.add(function.node)
        if not function.starts(ask.node):
            self.called[function.node] = function
        try:
            return self._body(function, inner)
        finally:
            self.frame, self.depth = outer, self.depth - 1
            if function.mode is not None:
                self.tape.grad, self.tape.switched = before, switched

    def _body(self, function: Function, inner: CallFrame) -> Value:
        if isinstance(function.node, ast.Lambda):
            return self.evaluate(function.node.body)
        self.block(function.node.body)
        if inner.yielded is not None:
            return Listed(inner.yielded, "generator", exact=False)
        return inner.result if inner.result is not None else Const(None)

    def _fill(
        self, inner: CallFrame, function: Function, given: list[Value], words: dict[str, Value], node: ast.AST
    ) -> None:
        """Bind the parameters."""
        arguments = function.node.args
        positional = [*arguments.posonlyargs, *arguments.args]
        for one, value in zip(positional, given, strict=False):
            inner.names[one.arg] = value
        if arguments.vararg is not None:
            inner.names[arguments.vararg.arg] = Listed(given[len(positional) :], "tuple")
        names = {one.arg for one in (*positional, *arguments.kwonlyargs)}
        if arguments.kwarg is not None:
            more = {k: v for k, v in words.items() if k not in names and k != "**"}
            inner.names[arguments.kwarg.arg] = Mapped(more, exact="**" not in words)
        inner.names.update({key: value for key, value in words.items() if key in names})
        late = zip(positional[len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True)
        named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        for one, default in (*late, *named):
            if one.arg not in inner.names and default is not None and "**" not in words:
                inner.names[one.arg] = self._default(function, default)
        for one in (*positional, *arguments.kwonlyargs):
            if one.arg not in inner.names:
                inner.names[one.arg] = self.unknown(node)

    def _default(self, function: Function, default: ast.expr) -> Value:
        outer, self.frame = self.frame, function.frame
        try:
            return self.evaluate(default)
        finally:
            self.frame = outer

    def instantiate(self, of: Class, ask: Ask) -> Value:
        """Make an object of a class of a file."""
        foreign = of.foreign()
        if any(base.endswith("Enum") for base in foreign):
            return Plain()
        made = Instance(of)
        start = of.find("__init__")
        if isinstance(start, Function):
            self.invoke(bound(start, made), ask)
        elif foreign and foreign[0].startswith("torch.nn."):
            nets.fill(self, made, foreign[0].rpartition(".")[2], ask)
        elif foreign and foreign[0].startswith("torch.optim."):
            self._own_optimizer(made, ask)
        else:
            self._fields(made, of, ask)
        return made

    def _fields(self, made: Instance, of: Class, ask: Ask) -> None:
        """The fields of a dataclass or named tuple."""
        names = []
        for one in reversed([*of.lineage()]):
            for statement in one.node.body:
                if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                    names.append(statement.target.id)
                    if isinstance(statement.value, ast.Call) and path_of(statement.value.func).endswith("field"):
                        made.attributes[statement.target.id] = self._factory(statement.value)
        made.attributes.update(zip(names, ask.given, strict=False))
        made.attributes.update({key: value for key, value in ask.words.items() if key in names})

    def _factory(self, field: ast.Call) -> Value:
        for word in field.keywords:
            if word.arg == "default_factory":
                return self.call(self.evaluate(word.value), Ask([], {}, field))
            if word.arg == "default":
                return self.evaluate(word.value)
        return self.unknown(field)

    def _own_optimizer(self, made: Instance, ask: Ask) -> None:
        found, exact = nets.owned(ask.first("params"))
        group = Mapped({"params": Listed([*found], exact=exact)}, exact=False)
        made.attributes["param_groups"] = Listed([group])

    def call_instance(self, made: Instance, ask: Ask) -> Value:
        """Call an object: a module's forward with its hooks, another's `__call__`."""
        for hook in made.before:
            changed = self.call(hook, Ask([made, Listed([*ask.given], "tuple")], {}, ask.node))
            if isinstance(changed, Listed) and changed.exact:
                ask = ask._replace(given=changed.items)
        if made.of is None:
            result = nets.run(self, made, ask) if made.kind.startswith("torch.nn.") else self.unknown(ask.node)
        else:
            found = made.of.find("__call__") or made.of.find("forward")
            if isinstance(found, Function):
                result = self.invoke(bound(found, made), ask)
            elif any(base.endswith("Sequential") for base in made.of.foreign()):
                result = nets.in_turn(self, made, ask)
            else:
                return self.unknown(ask.node)
        for hook in made.hooks:
            changed = self.call(hook, Ask([made, Listed([*ask.given], "tuple"), result], {}, ask.node))
            if isinstance(changed, Tensor):
                result = changed
        return result

    def call_super(self, name: str, ask: Ask) -> Value:
        """`super().name(…)` in a method."""
        frame: CallFrame | None = self.frame
        while frame is not None and frame.function is not None and (frame.function.owner is None):
            frame = frame.outer
        function = frame.function if frame is not None else None
        owner = function.owner if function is not None else None
        if (
            owner is None
            or function is None
            or frame is None
            or isinstance(function.node, ast.Lambda)
            or not function.node.args.args
        ):
            return self.unknown(ask.node)
        made = frame.names.get(function.node.args.args[0].arg)
        for parent in owner.parents:
            found = parent.find(name)
            if isinstance(found, Function):
                return self.invoke(bound(found, made) if "staticmethod" not in found.words else found, ask)
        if not isinstance(made, Instance) or made.of is None:
            return self.unknown(ask.node)
        foreign = made.of.foreign()
        if name == "__init__":
            if foreign and foreign[0].startswith("torch.optim."):
                self._own_optimizer(made, ask)
            elif foreign and foreign[0].startswith("torch.nn.") and foreign[0] != "torch.nn.Module":
                nets.fill(self, made, foreign[0].rpartition(".")[2], ask)
            return Const(None)
        if name == "forward" and foreign and foreign[0].startswith("torch.nn."):
            return nets.run(self, Instance(None, foreign[0], made.attributes), ask)
        found_here = methods.of_module(self, made, name, ask) if nets.is_module(made) else None
        return found_here if found_here is not None else self.unknown(ask.node)

    def call_method(self, receiver: Value, name: str, ask: Ask) -> Value:
        match receiver:
            case Named(name=holder):
                return self._of_library(f"{holder}.{name}", ask)
            case Instance():
                return self._of_instance(receiver, name, ask)
            case Tensor():
                return self._of_tensor(receiver, name, ask)
            case Optimizer():
                return methods.of_optimizer(self, receiver, name, ask.given, ask.node)
            case Class():
                return self._of_class(receiver, name, ask)
            case Function():
                return self.call(self.attribute(receiver, name, ask.node), ask)
        return containers.method(self, receiver, name, ask)

    def _of_tensor(self, receiver: Tensor, name: str, ask: Ask) -> Value:
        if isinstance(receiver, Opaque):
            own = receiver.attributes.get(name)
            if own is not None and not isinstance(own, Opaque):
                return self.call(own, ask)
            loss = ask.given[0] if ask.given else None
            if name in BACKWARDS and isinstance(loss, Tensor):
                gradients.backward(self, loss, Ask(ask.given[1:], ask.words, ask.node))
                return Const(None)
            for mode in ask.given if name == "enter_context" else ():
                if isinstance(mode, Mode):
                    self.switch(mode, ask.node)
            if name == "scale" and isinstance(loss, Tensor):
                return self.tape.operate("mul", [loss], self.place(ask.node))
            if name == "step" and isinstance(loss, Optimizer):
                return methods.of_optimizer(self, loss, "step", [], ask.node)
            if name in {"prepare", "to", "cuda", "setup"} and len(ask.given) == 1 and isinstance(loss, Instance):
                return loss
            methods.frozen_by(self, name, ask)
        return methods.of_tensor(self, receiver, name, ask)

    def _of_class(self, receiver: Class, name: str, ask: Ask) -> Value:
        found = receiver.find(name)
        if isinstance(found, Function):
            if "classmethod" in found.words:
                return self.invoke(bound(found, receiver), ask)
            return self.invoke(found, ask)
        if name == "apply" and "torch.autograd.Function" in receiver.foreign():
            inputs = [one for value in (*ask.given, *ask.words.values()) for one in contents(value)]
            return self.tape.operate(receiver.node.name, inputs, self.place(ask.node))
        return self.call(found, ask) if found is not None else self.unknown(ask.node)

    def _of_instance(self, receiver: Instance, name: str, ask: Ask) -> Value:
        own = self._own_attribute(receiver, name, ask.node)
        if own is not None:
            return self.call(own, ask)
        found = receiver.of.find(name) if receiver.of is not None else None
        if isinstance(found, Function):
            return self._of_class_of(receiver, found, ask)
        if found is not None:
            return self.call(found, ask)
        if receiver.kind == "torch.distributions":
            return methods.of_distribution(self, receiver, name, ask.given, ask.node)
        result = self._of_module(receiver, name, ask) if nets.is_module(receiver) else None
        if result is not None:
            return result
        if name == "zero_grad" and "param_groups" in receiver.attributes:
            for one in contents(receiver.attributes["param_groups"]):
                one.grad = False
            return Const(None)
        methods.frozen_by(self, name, ask)
        return self.unknown(ask.node)

    def _of_class_of(self, receiver: Instance, found: Function, ask: Ask) -> Value:
        """A method that an object's class defines; what a property gives is called."""
        if found.words & PROPERTIES:
            return self.call(self.invoke(bound(found, receiver), Ask([], {}, ask.node)), ask)
        if "staticmethod" in found.words:
            return self.invoke(found, ask)
        return self.invoke(bound(found, receiver.of if "classmethod" in found.words else receiver), ask)

    def _of_module(self, receiver: Instance, name: str, ask: Ask) -> Value | None:
        if name in {"forward", "__call__"}:
            return self.call_instance(receiver, ask)
        if name == "manual_backward" and ask.given and isinstance(ask.given[0], Tensor):
            gradients.backward(self, ask.given[0], ask._replace(given=ask.given[1:]))
            return Const(None)
        return methods.of_module(self, receiver, name, ask)
