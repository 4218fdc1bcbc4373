"""What a graph was made from: parameters and constants alone, or data too."""

from __future__ import annotations

import weakref
from bisect import bisect_right
from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import TorchFunctionMode

from . import graph
from .refused import name_of, tensors

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .taps import Taps

_REGULAR = ("zeros", "ones", "full", "eye", "arange", "linspace", "logspace", "tril_indices", "triu_indices")
"""What makes the same numbers wherever it stands: no data."""


class Sources(TorchFunctionMode):
    """Watches torch calls for what goes into a graph beside parameters.

    A constant is a buffer, what torch counts up by itself, what holds one number, and what is made of such alone. All
    else that has no graph is data: who reads a file or draws at random has samples.
    """

    def __init__(self, taps: Taps) -> None:
        super().__init__()
        self._taps = taps
        self._constants: dict[int, weakref.ref[torch.Tensor]] = {}
        self._fed: list[tuple[int, int]] = []
        """The ages of nodes that took data, from and to, in order."""
        torch.nn.modules.module.register_module_buffer_registration_hook(self._buffer)

    def _buffer(self, _module: torch.nn.Module, _name: str, buffer: torch.Tensor | None) -> None:
        if buffer is not None:
            self._keep(buffer)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        before = graph.now()
        result = func(*args, **(kwargs or {}))
        with torch._C.DisableTorchFunction():
            given = list(tensors((args, kwargs)))
            constant = all(map(self._is_constant, given))
            if graph.now() > before and not constant:
                self._fed.append((before, graph.now()))
            if constant and (given or name_of(func).rsplit(".", 1)[-1] in _REGULAR):
                for tensor in tensors(result):
                    if tensor.grad_fn is None:
                        self._keep(tensor)
        return result

    def _keep(self, tensor: torch.Tensor) -> None:
        key = id(tensor)
        self._constants[key] = weakref.ref(tensor, lambda _: self._constants.pop(key, None))

    def _is_constant(self, tensor: torch.Tensor) -> bool:
        if tensor.requires_grad or isinstance(tensor, torch.nn.Parameter) or tensor.numel() == 1:
            return True  # what has a graph is asked for by its nodes
        known = self._constants.get(id(tensor))
        return known is not None and known() is tensor

    def fed(self, nodes: Iterable[Any]) -> bool:
        """Whether any of these nodes took data, or is a leaf that no optimizer trains."""
        owned = set().union(*self._taps.owned)
        for node in nodes:
            variable = graph.leaf(node)
            if variable is not None:
                if owned and id(variable) not in owned:
                    return True
            elif (place := bisect_right(self._fed, (node._sequence_nr(), 1 << 62)) - 1) >= 0:
                first, end = self._fed[place]
                if first <= node._sequence_nr() < end:
                    return True
        return False
