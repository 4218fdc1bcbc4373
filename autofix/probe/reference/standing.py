"""The reading in which leaves stand for the result whose values were written into them.

`vector_to_parameters(base + E @ v, net.parameters())` and `p.data = …` give a network values of which the graph is cut
on the way. Where what they are made of is to learn, the network computes with these results until the next step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ..engine import graph
from ..engine.cuts import Cuts
from ..engine.refused import is_write, name_of, short_name, swapped
from ..engine.taps import Listener
from ..program.frames import Frames
from ..wire import Site

_WRITES = ("torch.Tensor.data.__set__", "torch.Tensor.copy_")
_OF_THE_LEAF = ("torch.Tensor.data.__get__", "torch.Tensor.detach")


class Standing(Listener):
    """Keeps what leaves stand for, from a write at one of some places to the next step, or the next write."""

    def __init__(self, frames: Frames, sites: tuple[Site, ...]) -> None:
        self._frames = frames
        self._places = {site.frame for site in sites if site.action == "stand"}
        self._values: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        self._cuts = Cuts()
        self.leaves: set[int] = set()
        """The ids of all leaves that ever stood for a result."""

    def given(self, func: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """The arguments of a call, with what leaves stand for in place of them; what is written stays itself."""
        name = name_of(func)
        if not self._values or name in _OF_THE_LEAF or name.endswith("__set__"):
            return args, kwargs
        if name.endswith("__get__") and short_name(name) not in ("T", "mT", "H", "mH"):
            return args, kwargs
        kept, args = (args[:1], args[1:]) if is_write(func) else ((), args)
        for leaf, value in self._values.values():
            args, kwargs = swapped(args, leaf, value), swapped(kwargs, leaf, value)
        return (*kept, *args), kwargs

    def done(self, func: Any, args: Any, kwargs: Any, call: Callable[..., Any]) -> Any:
        """The result of a call, which for all but writes at a place is made by `call`."""
        name = name_of(func)
        if name not in _WRITES or not all(isinstance(one, torch.Tensor) for one in args[:2]) or len(args) == 1:
            result = call(func, args, kwargs)
            with torch._C.DisableTorchFunction():
                self._cuts.heard(name, args, result)
            return result
        leaf, source = self._cuts.before(args[0]), self._cuts.before(args[1])
        self._values.pop(id(leaf), None)
        here = self._frames.here()[:1]
        if not here or self._frames.resolve(here)[0] not in self._places:
            return call(func, args, kwargs)
        with torch.no_grad():
            result = func(args[0], args[1].detach(), *args[2:], **kwargs)
        if graph.is_leaf(leaf) and source.requires_grad:
            with torch._C.DisableTorchFunction(), torch.enable_grad():
                self._values[id(leaf)] = leaf, source.to(leaf.dtype).expand_as(leaf)
                self.leaves.add(id(leaf))
        return result

    def step_done(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self._values.clear()
