"""Plays calls: of functions and classes that are known, of torch, of what nobody knows; and reads attributes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from autofix.check.abstract import containers, library, nets, operators, torchlike
from autofix.check.abstract.player import NoGradient, NotYet, Player
from autofix.check.abstract.values import (
    MAYBE,
    YES,
    Ask,
    Class,
    Const,
    Frame,
    Function,
    Instance,
    Later,
    Listed,
    Managed,
    Mapped,
    Method,
    Mode,
    Named,
    Opaque,
    Optimizer,
    Plain,
    Storage,
    Tensor,
    Value,
    contents,
)
from autofix.syntax.calls import path_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from autofix.check.abstract.tape import Tape

    Words = Mapping[str, Value]
    Given = Sequence[Value]

_DEEPEST = 24
_PLAIN_ATTRIBUTES = frozenset({
    "shape", "dtype", "device", "ndim", "is_leaf", "is_cuda", "layout", "itemsize", "nbytes", "grad_fn", "is_sparse",
    "name",
})  # fmt: skip
_PROPERTIES = frozenset({"property", "cached_property"})
_MODULE_METHODS = frozenset({
    "parameters", "forward", "named_parameters", "requires_grad_", "zero_grad", "modules", "children", "eval", "train",
})  # fmt: skip
_VIEW_ATTRIBUTES = frozenset({"T", "mT", "H", "mH", "real", "imag"})


class Caller(Player):
    """What calling and reading come to."""

    def __init__(self, tape: Tape, main: str, *, take: bool, budget: int) -> None:
        super().__init__(tape, take=take, budget=budget)
        self.main = main
        self.played: set[ast.AST] = set()
        self.texts: dict[ast.AST, str] = {}

    def block(self, body: Iterable[ast.stmt]) -> int:
        """Play statements."""
        raise NotImplementedError

    def evaluate(self, node: ast.expr) -> Value:
        """The value of an expression."""
        raise NotImplementedError

    def bind(self, target: ast.expr, value: Value, node: ast.AST) -> None:
        """Give a target its value."""
        raise NotImplementedError

    def module(self, name: str, level: int, file: str) -> Instance | None:
        """A module of the same project, played."""
        raise NotImplementedError

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

    # --- calls -----------------------------------------------------------------------------------

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
        torchlike.frozen_by(self, path_of(getattr(ask.node, "func", None)), ask)
        return self.unknown(ask.node)

    def _of_library(self, name: str, ask: Ask) -> Value:
        if name.startswith("torch."):
            return torchlike.call(self, name, ask)
        found = library.call(self, name, ask)
        if found is not None:
            return found
        torchlike.frozen_by(self, name, ask)
        return self.unknown(ask.node)

    def invoke(self, function: Function, ask: Ask, around: Callable[[Value], object] | None = None) -> Value:
        """Play a function of a file; a context manager only `around` the body of its `with`."""
        if self.depth >= _DEEPEST:
            return self.unknown(ask.node)
        if "contextmanager" in function.words and around is None:
            return Managed(function, ask)
        self.spend()
        if function.receiver is not None:
            ask = ask._replace(given=[function.receiver, *ask.given])
        inner = Frame(function, function.frame, self.place(ask.node), function.frame.file)
        inner.around = around
        inner.given = {id(one.node) for value in (*ask.given, *ask.words.values()) for one in contents(value)}
        outer, before, switched = self.frame, self.tape.grad, self.tape.switched
        self._fill(inner, function, list(ask.given), dict(ask.words), ask.node)
        self.frame, self.depth = inner, self.depth + 1
        if function.mode is not None:
            self.switch(*function.mode)
        self.played.add(function.node)
        try:
            return self._body(function, inner)
        finally:
            self.frame, self.depth = outer, self.depth - 1
            if function.mode is not None:
                self.tape.grad, self.tape.switched = before, switched

    def _body(self, function: Function, inner: Frame) -> Value:
        if isinstance(function.node, ast.Lambda):
            return self.evaluate(function.node.body)
        self.block(function.node.body)
        if inner.yielded is not None:
            return Listed(inner.yielded, "generator", exact=False)
        return inner.result if inner.result is not None else Const(None)

    def _fill(
        self, inner: Frame, function: Function, given: list[Value], words: dict[str, Value], node: ast.AST
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
            self._own_optimizer(made, ask.given, ask.words)
        else:
            self._fields(made, of, ask.given, ask.words)
        return made

    def _fields(self, made: Instance, of: Class, given: Given, words: Words) -> None:
        """The fields of a dataclass or named tuple."""
        names = []
        for one in reversed([*of.lineage()]):
            for statement in one.node.body:
                if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                    names.append(statement.target.id)
                    if isinstance(statement.value, ast.Call) and path_of(statement.value.func).endswith("field"):
                        made.attributes[statement.target.id] = self._factory(statement.value)
        made.attributes.update(zip(names, given, strict=False))
        made.attributes.update({key: value for key, value in words.items() if key in names})

    def _factory(self, field: ast.Call) -> Value:
        for word in field.keywords:
            if word.arg == "default_factory":
                return self.call(self.evaluate(word.value), Ask([], {}, field))
            if word.arg == "default":
                return self.evaluate(word.value)
        return self.unknown(field)

    def _own_optimizer(self, made: Instance, given: Given, words: Words) -> None:
        value = given[0] if given else words.get("params")
        found, exact = nets.owned(value)
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
                result = ask.given[0] if ask.given else Plain()
                for child in nets.children(made):
                    result = self.call(child, Ask([result], {}, ask.node))
            else:
                return self.unknown(ask.node)
        for hook in made.hooks:
            changed = self.call(hook, Ask([made, Listed([*ask.given], "tuple"), result], {}, ask.node))
            if isinstance(changed, Tensor):
                result = changed
        return result

    def call_super(self, name: str, ask: Ask) -> Value:
        """`super().name(…)` in a method."""
        frame: Frame | None = self.frame
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
                self._own_optimizer(made, ask.given, ask.words)
            elif foreign and foreign[0].startswith("torch.nn.") and foreign[0] != "torch.nn.Module":
                nets.fill(self, made, foreign[0].rpartition(".")[2], ask)
            return Const(None)
        if name == "forward" and foreign and foreign[0].startswith("torch.nn."):
            twin = Instance(None, foreign[0])
            twin.attributes = made.attributes
            return nets.run(self, twin, ask)
        found_here = torchlike.module_method(self, made, name, ask) if nets.is_module(made) else None
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
                return torchlike.optimizer_method(self, receiver, name, ask.given, ask.node)
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
            if name in {"backward", "manual_backward"} and isinstance(loss, Tensor):
                torchlike.backward(self, loss, Ask(ask.given[1:], ask.words, ask.node))
                return Const(None)
            for mode in ask.given if name == "enter_context" else ():
                if isinstance(mode, Mode):
                    self.switch(mode, ask.node)
            if name == "scale" and isinstance(loss, Tensor):
                return self.tape.operate("mul", [loss], self.place(ask.node))
            if name == "step" and isinstance(loss, Optimizer):
                return torchlike.optimizer_method(self, loss, "step", [], ask.node)
            if name in {"prepare", "to", "cuda", "setup"} and len(ask.given) == 1 and isinstance(loss, Instance):
                return loss
            torchlike.frozen_by(self, name, ask)
        return torchlike.tensor_method(self, receiver, name, ask)

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
            return torchlike.distribution_method(self, receiver, name, ask.given, ask.node)
        result = self._of_module(receiver, name, ask) if nets.is_module(receiver) else None
        if result is not None:
            return result
        if name == "zero_grad" and "param_groups" in receiver.attributes:
            for one in contents(receiver.attributes["param_groups"]):
                one.grad = False
            return Const(None)
        torchlike.frozen_by(self, name, ask)
        return self.unknown(ask.node)

    def _own_attribute(self, receiver: Instance, name: str, node: ast.AST) -> Value | None:
        value = receiver.attributes.get(name)
        if isinstance(value, Later):
            value = receiver.attributes[name] = self.imported(value, node)
        return value

    def _of_class_of(self, receiver: Instance, found: Function, ask: Ask) -> Value:
        """A method that an object's class defines; what a property gives is called."""
        if found.words & _PROPERTIES:
            return self.call(self.invoke(bound(found, receiver), Ask([], {}, ask.node)), ask)
        if "staticmethod" in found.words:
            return self.invoke(found, ask)
        return self.invoke(bound(found, receiver.of if "classmethod" in found.words else receiver), ask)

    def _of_module(self, receiver: Instance, name: str, ask: Ask) -> Value | None:
        if name in {"forward", "__call__"}:
            return self.call_instance(receiver, ask)
        if name == "manual_backward" and ask.given and isinstance(ask.given[0], Tensor):
            torchlike.backward(self, ask.given[0], ask._replace(given=ask.given[1:]))
            return Const(None)
        return torchlike.module_method(self, receiver, name, ask)

    # --- attributes ------------------------------------------------------------------------------

    def attribute(self, receiver: Value, name: str, node: ast.AST) -> Value:
        match receiver:
            case Named(name=holder):
                return Named(f"{holder}.{name}")
            case Instance():
                return self._attribute_of_instance(receiver, name, node)
            case Opaque():
                return self._attribute_of_opaque(receiver, name, node)
            case Tensor():
                return self._attribute_of_tensor(receiver, name, node)
            case Class():
                found = receiver.find(name)
                if found is None and name == "apply":
                    return Method(receiver, name)
                return found if found is not None else Plain() if name.startswith("__") else self.unknown(node)
            case Optimizer() if name == "param_groups":
                group = Mapped({"params": Listed([*receiver.parameters], exact=receiver.exact)}, exact=False)
                return Listed([group])
            case NoGradient():
                self.tape.event("gradient-none", self.place(node), tensor=receiver.of, node=receiver.of.node)
                return self.unknown(node)
            case Plain() | Const():
                return Plain(receiver.cut if isinstance(receiver, Plain) else None)
        return Method(receiver, name)

    def imported(self, value: Later, node: ast.AST) -> Value:
        """What an import of the project's own comes to."""
        raise NotImplementedError

    def _attribute_of_instance(self, receiver: Instance, name: str, node: ast.AST) -> Value:
        own = self._own_attribute(receiver, name, node)
        if own is not None:
            return own
        found = receiver.of.find(name) if receiver.of is not None else None
        if isinstance(found, Function):
            return self._method_of(receiver, name, found, node)
        if found is not None:
            return found
        special = self._special_attribute(receiver, name, node)
        if special is not None:
            return special
        value = self.unknown(node)
        if not receiver.kind.startswith("torch.nn."):
            receiver.attributes[name] = value
        return value

    def _method_of(self, receiver: Instance, name: str, found: Function, node: ast.AST) -> Value:
        if not found.words & _PROPERTIES:
            return found if "staticmethod" in found.words else bound(found, receiver)
        value = self.invoke(bound(found, receiver), Ask([], {}, node))
        if "cached_property" in found.words:
            receiver.attributes[name] = value
        return value

    def _special_attribute(self, receiver: Instance, name: str, node: ast.AST) -> Value | None:
        """What Python and `torch.nn.Module` give every object."""
        if name == "training":
            return Plain()
        if name == "__class__":
            return receiver.of
        if name == "__dict__":
            return Mapped(receiver.attributes, exact=False)
        if name in {"_parameters", "_buffers", "_modules"}:
            receiver.attributes["(more)"] = self.unknown(node)  # whoever goes behind a module may change it
            return self.unknown(node)
        if nets.is_module(receiver) and name in _MODULE_METHODS:
            return Method(receiver, name)
        if receiver.kind.startswith("torch.nn.") and name.startswith("running_"):
            return Tensor()
        sizes = receiver.kind.startswith("torch.nn.") and name.endswith(("features", "size", "channels", "dim"))
        return Plain() if sizes else None

    def _attribute_of_opaque(self, receiver: Opaque, name: str, node: ast.AST) -> Value:
        if name not in receiver.attributes:
            if name == "data" and not receiver.data:
                return operators.detached(self.tape, Tensor(receiver.node), self.place(node), "data")
            if name in _PLAIN_ATTRIBUTES:
                return Plain()
            receiver.attributes[name] = self.part(receiver, f".{name}", node)
        return receiver.attributes[name]

    def _attribute_of_tensor(self, tensor: Tensor, name: str, node: ast.AST) -> Value:
        if name == "grad":
            return self._gradient(tensor, node)
        if name == "data":
            made = operators.detached(self.tape, tensor, self.place(node), "data")
            made.storage = Storage()
            return made
        if name == "requires_grad":
            return Plain() if tensor.needs == MAYBE or self.tape.grad is not True else Const(tensor.needs == YES)
        if name in _VIEW_ATTRIBUTES:
            return operators.view(self.tape, tensor, self.place(node), name)
        if name in _PLAIN_ATTRIBUTES:
            return Plain()
        return Method(tensor, name)

    def _gradient(self, tensor: Tensor, node: ast.AST) -> Value:
        if tensor.node is not None and tensor.needs == YES and not tensor.is_leaf and not tensor.node.retained:
            if tensor.node.operation == operators.PERHAPS:
                return self.unknown(node)
            return NoGradient(tensor)
        if tensor.derived:
            return self.unknown(node)
        if tensor.needs == YES and tensor.grad:
            made = Tensor()
            made.cut = self.tape.happening(self.place(node), ".grad")
            return made
        if type(tensor) is Tensor and tensor.needs == YES and tensor.is_leaf:
            return NotYet()
        made = Opaque()
        made.data = True
        return made

    def set_attribute(self, receiver: Value, name: str, value: Value, node: ast.AST) -> None:
        match receiver:
            case Tensor() if name == "requires_grad":
                self.require(receiver, value, node)
            case Tensor() if name == "grad":
                receiver.grad = not (isinstance(value, Const) and value.value is None)
            case Opaque():
                self.keep(value, node, "attribute")
                receiver.attributes[name] = value
            case Instance():
                self._set_on_instance(receiver, name, value, node)
            case Class():
                self.keep(value, node, "attribute")
                receiver.names[name] = value

    def _set_on_instance(self, receiver: Instance, name: str, value: Value, node: ast.AST) -> None:
        old = receiver.attributes.get(name)
        self.keep(value, node, "attribute")
        if receiver.of is not None:
            setter = receiver.of.find(f"{name}.setter")
            if isinstance(setter, Function):
                self.invoke(bound(setter, receiver), Ask([value], {}, node))
                return
        if (
            isinstance(old, Tensor) and old.parameter and isinstance(value, Tensor) and not value.parameter
            and not isinstance(value, Opaque) and nets.is_module(receiver) and "(more)" not in receiver.attributes
        ):  # fmt: skip
            self.tape.event("assigned-to-parameter", self.place(node), tensor=value, text=name)
        receiver.attributes[name] = value


def bound(function: Function, receiver: Value | None) -> Function:
    """A function with the object that it is a method of."""
    made = Function(function.node, function.frame)
    made.owner, made.words, made.mode, made.receiver = function.owner, function.words, function.mode, receiver
    return made
