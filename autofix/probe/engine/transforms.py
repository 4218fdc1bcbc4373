"""Sees into torch.func: its tensors that stand for others, and saved-tensor hooks, which it would refuse."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch

_functorch: Any = getattr(torch._C, "_functorch", None)
_keys: Any = torch._C._dispatch_key_parse
_VMAP = torch._C.DispatchKeySet(_keys("FuncTorchVmapMode")) | torch._C.DispatchKeySet(_keys("VmapMode"))
"""That of `torch.vmap`, and the older one by which `autograd.functional` takes several derivatives at once."""


def wrapped(value: Any) -> bool:
    """Whether a tensor stands for others, inside a transform: it has no storage of its own."""
    return _functorch is not None and isinstance(value, torch.Tensor) and _functorch.is_functorch_wrapped_tensor(value)


def batched(value: Any) -> bool:
    """Whether a tensor stands for one of several gradients that `autograd.functional` sends at once."""
    known = getattr(_functorch, "is_legacy_batchedtensor", None)
    return known is not None and isinstance(value, torch.Tensor) and bool(known(value))


def inside() -> bool:
    """Whether a transform is under way."""
    return _functorch is not None and _functorch.peek_interpreter_stack() is not None


def plain(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor that the wrappers stand for."""
    while wrapped(tensor):
        tensor = _functorch.get_unwrapped(tensor)
    return tensor


def alias(tensor: torch.Tensor) -> torch.Tensor:
    """The same values without the graph of this level; those of the levels around it stay, as when torch saves one."""
    return tensor.data if wrapped(tensor) else tensor.detach()


def copied(tensor: torch.Tensor) -> torch.Tensor:
    """Such an alias that later writes do not reach. Torch calls hooks without gradients, which outer levels need."""
    with torch.enable_grad():
        return alias(tensor).clone()


def allow_hooks() -> None:
    """Have grad, vjp and what is built of them run under saved-tensor hooks.

    They refuse hooks because one that detaches would cut the graphs of the levels around it. Ours use `alias`.
    """
    graph: Any = torch.autograd.graph
    graph.disable_saved_tensors_hooks = lambda _message: contextlib.nullcontext()


@contextlib.contextmanager
def outside() -> Iterator[None]:
    """Leave all transforms for a while: they refuse random draws, and writes to a tensor that a function captured."""
    if _functorch is None:
        yield
        return
    left = []
    # Below a transform's own level it is off the stack already, and only this key still speaks of it.
    with torch._C._ExcludeDispatchKeyGuard(_VMAP):
        while _functorch.peek_interpreter_stack() is not None:
            left.append(_functorch.pop_dynamic_layer_stack())
        try:
            yield
        finally:
            while left:
                _functorch.push_dynamic_layer_stack(left.pop())
