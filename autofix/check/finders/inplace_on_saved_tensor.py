"""An in-place write to a tensor that its own operation has saved for backward.

## What it does
Finds, in a `forward` of a `torch.nn.Module`, an augmented assignment to the result of `exp`, `sigmoid`, `tanh`,
`relu`, `softmax` or `sqrt`, in one straight run of statements. These operations save their result.

## Why it matters
Backward finds another version of the tensor than the one that was saved: "one of the variables needed for gradient
computation has been modified by an inplace operation". `y = y + x` makes a new tensor instead.

## What it cannot tell
It stays silent outside of `forward`, under `no_grad`, and where the name was bound to anything else in between.
"""

from __future__ import annotations

import ast
from itertools import pairwise
from typing import TYPE_CHECKING

from autofix.check.finder import Finder, Spot

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autofix.syntax.facts import Bind, Scope

_SAVES_RESULT = {"exp", "sigmoid", "tanh", "relu", "softmax", "sqrt", "rsqrt"}
_SAVING_MODULES = {"torch.nn.ReLU", "torch.nn.Sigmoid", "torch.nn.Tanh", "torch.nn.Softmax"}


class InplaceOnSavedTensor(Finder):
    """A result that backward needs, written over."""

    code, name = "AG101", "inplace-on-saved-tensor"
    title = "In-place write to a tensor that backward needs"
    words = (b"def forward", b"= ", b"nn.")
    finds = (
        """\
import torch
from torch import nn

class Block(nn.Module):
    def forward(self, x):
        y = torch.sigmoid(x)
        y *= 2  # found
        return y
""",
        """\
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Linear(4, 4)
        self.relu = nn.ReLU()

    def forward(self, x):
        out = self.relu(self.conv(x))
        out += x  # found
        return out
""",
    )
    passes = (
        """\
import torch
from torch import nn

class Block(nn.Module):
    def forward(self, x):
        y = torch.sigmoid(x)
        y = y * 2
        return y
""",
        """\
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Linear(4, 4)

    def forward(self, x):
        out = self.conv(x)
        out += x
        return torch.relu(out)
""",
        """\
import torch
from torch import nn

class Block(nn.Module):
    @torch.no_grad()
    def forward(self, x):
        y = torch.sigmoid(x)
        y *= 2
        return y
""",
    )

    def spots(self, scope: Scope) -> Iterator[Spot]:
        owner = scope.owner
        if scope.name != "forward" or owner is None or not scope.module.is_module_class(owner):
            return
        for name, binds in scope.binds.items():
            for made, written in pairwise(binds):
                if written.how == "augmented" and written.block is made.block and not written.quiet:
                    operation = _saves(scope, made)
                    if operation:
                        message = f"{name} is written in place, but {operation} has saved it for its backward"
                        yield Spot(written.node, message)


def _saves(scope: Scope, made: Bind) -> str:
    """The operation that made a tensor and saved it; empty when it is not known to have."""
    value = made.value
    if made.how != "=" or not isinstance(value, ast.Call):
        return ""
    full = scope.module.called(value)
    package, _, operation = full.rpartition(".")
    if operation in _SAVES_RESULT and package in {"torch", "torch.nn.functional"}:
        return operation if _computed(value) else ""
    if full.startswith("self."):
        origins = scope.origins(full)
        kinds = {scope.module.called(bind.value) for bind in origins}
        if origins and kinds <= _SAVING_MODULES:
            return full
    return ""


def _computed(value: ast.Call) -> bool:
    """Whether the operation is given something that may need a gradient."""
    return bool(value.args) and not isinstance(value.args[0], ast.Constant)
