"""Plays the reading and setting of attributes: of objects and modules, of tensors, of what nobody knows."""

from __future__ import annotations

import ast

from autofix.check.abstract import nets, operators
from autofix.check.abstract.player import NoGradient, NotYet, Player
from autofix.check.abstract.values import (
    MAYBE,
    YES,
    Ask,
    Class,
    Const,
    Function,
    Instance,
    Later,
    Listed,
    Mapped,
    Method,
    Named,
    Opaque,
    Optimizer,
    Plain,
    Storage,
    Tensor,
    Value,
    bound,
)
from autofix.syntax.vocabulary import VIEWS

_PLAIN_ATTRIBUTES = frozenset({
    "shape", "dtype", "device", "ndim", "is_leaf", "is_cuda", "layout", "itemsize", "nbytes", "grad_fn", "is_sparse",
    "name",
})  # fmt: skip
PROPERTIES = frozenset({"property", "cached_property"})
"""Decorators by which a method is read like an attribute."""
_MODULE_METHODS = frozenset({
    "parameters", "forward", "named_parameters", "requires_grad_", "zero_grad", "modules", "children", "eval", "train",
})  # fmt: skip


class Attributes(Player):
    """What `a.b` gives, and what `a.b = c` does."""

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

    def _own_attribute(self, receiver: Instance, name: str, node: ast.AST) -> Value | None:
        value = receiver.attributes.get(name)
        if isinstance(value, Later):
            value = receiver.attributes[name] = self.imported(value, node)
        return value

    def _method_of(self, receiver: Instance, name: str, found: Function, node: ast.AST) -> Value:
        if not found.words & PROPERTIES:
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
        if name in VIEWS:
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
            return Tensor(cut=self.tape.happening(self.place(node), ".grad"))
        if type(tensor) is Tensor and tensor.needs == YES and tensor.is_leaf:
            return NotYet()
        return Opaque(data=True)

    def set_attribute(self, receiver: Value, name: str, value: Value, node: ast.AST) -> None:
        match receiver:
            case Tensor() if name == "requires_grad":
                self.require(receiver, value, node)
            case Tensor() if name == "grad":
                receiver.grad = not (isinstance(value, Const) and value.value is None)
                receiver.derived = receiver.derived or receiver.grad  # what is put there may have a graph
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
