"""Functions of autograd whose instance is called: before torch 1.5 the instance was the node of the graph."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

_KIND: Any = torch.autograd.Function
CALL = _KIND.__call__
"""What refuses such a call. A call by `apply` does not come here."""
_OF_NODE = ("saved_tensors", "saved_variables", "needs_input_grad")
"""What a node knows of its call, and an instance said of its own."""
_nodes: dict[int, Any] = {}
"""The node by the id of the instance whose `forward` or `backward` runs for it."""


def perform(note: Callable[[], None]) -> None:
    """Let such calls go on, and tell `note` of each.

    `forward` and `backward` are those of the instance, and what they set of it stays set. What is saved for backward is
    that of the one call: also where an instance is called again before its backward, as torch had it in the end.
    """

    def call(self: Any, *inputs: Any) -> Any:
        note()
        kind: Any = type(self)
        return kind.apply(*inputs) if has_static(kind) else _node(kind).apply(self, *inputs)

    _KIND.__call__ = call
    for name in _OF_NODE:
        setattr(_KIND, name, property(functools.partial(_asked, name.replace("variables", "tensors"))))


def has_static(kind: type) -> bool:
    """Whether the forward of a function is static: then no torch has ever called it through an instance."""
    found = next((vars(one)["forward"] for one in kind.__mro__ if "forward" in vars(one)), None)
    return isinstance(found, (staticmethod, classmethod))


def _asked(name: str, instance: Any) -> Any:
    node = _nodes.get(id(instance))
    if node is None:
        return ()
    given = getattr(node, name)
    return given if name != "needs_input_grad" else given[1:]


@contextmanager
def _runs(instance: Any, node: Any) -> Iterator[None]:
    """While a method of the instance runs for a node."""
    before = _nodes.get(id(instance))
    _nodes[id(instance)] = node
    try:
        yield
    finally:
        if before is None:
            del _nodes[id(instance)]
        else:
            _nodes[id(instance)] = before


@functools.cache
def _node(kind: Any) -> Any:
    """The function by whose node a call of such an instance goes into the graph; under the name of its class."""

    def forward(ctx: Any, instance: Any, *inputs: Any) -> Any:
        ctx.instance = instance
        with _runs(instance, ctx):
            result = instance.forward(*inputs)
        for name in ("to_save", "dirty_tensors", "non_differentiable"):
            setattr(ctx, name, getattr(instance, name))
            setattr(instance, name, None)
        return result

    def backward(ctx: Any, *gradients: Any) -> Any:
        with _runs(ctx.instance, ctx):
            given = ctx.instance.backward(*gradients)
        return None, *(given if isinstance(given, (tuple, list)) else (given,))

    return type(kind.__name__, (_KIND,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})
