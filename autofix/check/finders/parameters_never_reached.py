"""A layer that is made and never used.

## What it does
Finds `self.extra = nn.Linear(...)` in the `__init__` of a module whose file never reads `extra` again.

## Why it matters
No loss reaches its parameters: they are counted, saved and handed to the optimizer, and stay as they were drawn.
Often `forward` was meant to use the layer, or uses another one twice. Under distributed training it is an error.

## What it cannot tell
It stays silent about classes that others in the file derive from, about modules that look through their own children,
and about layers without parameters. Another file that uses the layer is seen if it is checked in the same call.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.check.finder import Finder, Spot, examples
from autofix.syntax.calls import path_of
from autofix.syntax.facts import Module, Scope

_LAYERS = frozenset(
    ("Linear", "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "LSTM", "GRU", "RNN", "LSTMCell",
     "GRUCell", "Embedding", "Bilinear", "MultiheadAttention", "Parameter")
)  # fmt: skip
_LOOKS_THROUGH = frozenset(
    ("children", "named_children", "modules", "named_modules", "getattr", "__getattr__", "get_submodule", "vars",
     "eval", "exec", "state_dict", "load_state_dict")
)  # fmt: skip


class ParametersNeverReached(Finder):
    code, name = "AG509", "parameters-never-reached"
    title = "A layer is made and never used"
    words = (b"nn", b"forward", b"__init__")
    finds, passes = examples("""\
!
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.second = nn.Linear(4, 4)  # found

    def forward(self, x):
        return self.first(self.first(x))
!
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.second = nn.Linear(4, 4)

    def forward(self, x):
        for layer in self.children():
            x = layer(x)
        return x
!
class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 1)

    def forward(self, x):
        return x

class Scorer(Base):
    pass
""")

    def spots(self, scope: Scope) -> Iterator[Spot]:
        module = scope.module
        if not isinstance(scope.node, ast.ClassDef) or not _is_plain(module, scope) or _looks_through(module):
            return
        methods = {inner.name for inner in module.scopes if inner.parent is scope}
        if not {"forward", "__init__"} <= methods:
            return
        for name, binds in scope.attributes.items():
            made = [bind for bind in binds if _is_layer(module, bind.value)]
            only = name.count(".") == len(binds) == len(made) == 1
            if only and module.data.count(name.removeprefix("self.").encode()) == 1:
                told = f"{name} has parameters, and nothing here uses it: no loss reaches them"
                yield Spot(made[0].node, told, unless=name.removeprefix("self"))


def _is_plain(module: Module, scope: Scope) -> bool:
    """Whether a class derives from torch's Module itself, and no class of the file from it."""
    if not isinstance(scope.node, ast.ClassDef):
        return False
    bases = [module.full(path_of(base)) for base in scope.node.bases]
    heirs = (other.node for other in module.classes.values() if isinstance(other.node, ast.ClassDef))
    derived = any(path_of(base) == scope.name for heir in heirs for base in heir.bases)
    return bases == ["torch.nn.Module"] and not derived


def _looks_through(module: Module) -> bool:
    return any(_LOOKS_THROUGH & inner.calls.keys() for inner in module.scopes)


def _is_layer(module: Module, node: ast.AST | None) -> bool:
    package, _, made = module.called(node).rpartition(".")
    return package in {"torch.nn", "torch.nn.parameter"} and made in _LAYERS
