"""Layers in a plain list, where the module that owns them cannot see them.

## What it does
Finds `self.layers = [nn.Linear(…), …]`, also as a comprehension or filled with `append`, in a class that derives from
`nn.Module` and does not hand the list to `nn.ModuleList`, `nn.Sequential` or `add_module`.

## Why it matters
A module only knows the parameters of what is assigned to it directly or stands in a `ModuleList`. The layers of a
plain list are missing from `parameters()`: no optimizer trains them, `to(device)` leaves them, `state_dict()` loses
them.

## What it cannot tell
It stays silent where the class uses the list in any call that might register the layers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.check.finder import Finder, Spot, examples
from autofix.syntax.facts import Bind, Scope

_WITH_PARAMETERS = {
    "Linear", "Bilinear", "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d",
    "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "LayerNorm", "GroupNorm", "Embedding", "LSTM", "GRU", "RNN",
    "LSTMCell", "GRUCell", "RNNCell", "MultiheadAttention", "TransformerEncoderLayer", "Parameter",
}  # fmt: skip
_READS = {"len", "enumerate", "zip", "range", "reversed", "print", "append", "isinstance", "iter", "next"}


class ModulesInPlainList(Finder):
    code, name = "AG507", "modules-in-plain-list"
    title = "Layers in a plain list are not trained"
    words = (b"Module", b"self.", b"nn.")
    finds, passes = examples("""\
!
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(4, 4) for _ in range(3)]  # found

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
!
import torch.nn as nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = []
        for _ in range(2):
            self.heads.append(nn.Linear(4, 1))  # found

    def forward(self, x):
        return [head(x) for head in self.heads]
!
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(4, 4) for _ in range(3)]
        self.net = nn.Sequential(*self.layers)
!
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(4, 4) for _ in range(3)]
        for i, layer in enumerate(self.layers):
            self.add_module(str(i), layer)
""")

    def spots(self, scope: Scope) -> Iterator[Spot]:
        lists = [name for name, binds in scope.attributes.items() if all(map(_is_list, binds))]
        if not lists or not scope.module.is_module_class(scope):
            return
        methods = [inner for inner in scope.module.scopes if inner is not scope and scope in inner.chain()]
        if any(name in inner.calls for inner in methods for name in ("add_module", "setattr", "register_parameter")):
            return
        for name in lists:
            if _handed_on(methods, name):
                continue
            for node in _layers(scope, methods, name):
                yield Spot(node, f"the layers in {name} are no part of the module: a plain list hides their parameters")


def _is_list(bind: Bind) -> bool:
    return bind.how == "=" and isinstance(bind.value, ast.List | ast.ListComp)


def _layers(scope: Scope, methods: list[Scope], name: str) -> Iterator[ast.AST]:
    """The first place that puts a layer with parameters into the list."""
    for bind in scope.attributes[name]:
        elements = bind.value.elts if isinstance(bind.value, ast.List) else [getattr(bind.value, "elt", None)]
        if any(_is_layer(scope, element) for element in elements):
            yield bind.node
            return
    for inner in methods:
        for call in inner.calls.get("append", ()):
            if call.receiver == name and call.node.args and _is_layer(scope, call.node.args[0]):
                yield call.node
                return


def _is_layer(scope: Scope, node: ast.AST | None) -> bool:
    package, _, made = scope.module.called(node).rpartition(".")
    return package in {"torch.nn", "torch.nn.parameter"} and made in _WITH_PARAMETERS


def _handed_on(methods: list[Scope], name: str) -> bool:
    """Whether the list is given to a call, or to another name, that may register its layers."""
    for inner in methods:
        for calls in inner.calls.values():
            for call in calls:
                if call.method not in _READS and name in inner.used(call):
                    return True
        for other, binds in inner.binds.items():
            if other != name and any(bind.how in {"=", "unpacked"} and name in inner.used(bind) for bind in binds):
                return True
        if any(part.startswith(f"{name}.") for part in inner.loads if part != f"{name}.append"):
            return True
    return False
