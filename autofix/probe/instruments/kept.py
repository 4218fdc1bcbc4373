"""Graphs that no backward frees: what goes through `.detach()`, or a module holds, has one that grows each pass."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import torch

from ..engine import graph
from ..engine.taps import Call, Listener
from ..program.frames import Frames, Raw
from ..wire import Fact

_OFTEN = 3
"""How many times a graph must have grown, after as many looks each time as between two of these at most."""
_LAYERS, _BARE = "torch.nn.modules.", ("torch.nn.modules.module", "torch.nn.modules.container")
"""Where torch's own layers are, whose parameters are weights; what is made of a bare module may keep a state so."""


@dataclass(slots=True)
class _Cut:
    """A cut, or a call: after which backward it was seen, how many older nodes it had, how often they grew.

    `same`: how many looks in a row found as many as before, and `between`: at most between two that found more.
    """

    after: int = -1
    older: int = 0
    grown: int = 0
    same: int = 0
    between: int = 0

    def look(self, older: int) -> None:
        """It grows in each pass, or in each epoch. A graph that stays for longer is full, as that of a window is."""
        if older > self.older:
            self.grown, self.between, self.same = self.grown + 1, max(self.between, self.same), 0
        else:
            self.same = self.same + 1 if older and older == self.older else 0
            self.grown *= older == self.older and self.same <= self.between
        self.older = older


class KeptGraphs(Listener):
    """Looks, once between two backward calls, at how much of earlier passes the graph behind each cut holds.

    No backward comes there to be seen, and nothing frees it: a moving average whose loss uses it detached keeps the
    graphs of all passes, unless it is cut where it is stored. So do the weights of a module that are moved towards
    others with their graph, and are used without gradient.
    """

    def __init__(self, frames: Frames) -> None:
        self._frames = frames
        self._calls = 0
        self._mark = 0
        self._cuts: dict[Raw, _Cut] = {}
        self._held: dict[Raw, _Cut] = {}
        self._written: dict[str, set[int]] = {}
        """Of weights of torch's own layers that were used as results, by their names, before which backward calls."""
        torch.nn.modules.module.register_module_forward_pre_hook(self._called)
        plain = torch.Tensor.detach

        def detach(tensor: torch.Tensor) -> torch.Tensor:
            if (node := graph.made_by(tensor)) is not None and frames.owns(
                sys._getframe(1).f_code
            ):  # not what torch or we cut
                self._look(node, self._cuts)
            return plain(tensor)

        torch.Tensor.detach = detach

    def backward_done(self, call: Call) -> None:
        if call.outer is None:
            self._calls += 1
            self._mark = graph.now()

    def told(self) -> dict[str, Any]:
        """The cuts, and the calls of modules, behind which a graph grew until the end."""
        each = (("kept-growth", self._cuts), ("held-growth", self._held))
        grown = ((name, raw, cut) for name, seen in each for raw, cut in seen.items() if cut.grown >= _OFTEN)
        facts = [self._frames.fact(name, raw, str(cut.older)) for name, raw, cut in grown]
        facts += [Fact("layer-is-result", name) for name, calls in self._written.items() if len(calls) >= _OFTEN]
        return {"facts": tuple(facts)}

    def _called(self, module: torch.nn.Module, args: Any) -> None:
        if not module._parameters:
            return
        with torch._C.DisableTorchFunction():  # or modes would hear of each question as of a call of the script
            # What stands in for a parameter in a call, as an inner step makes it, is a plain tensor.
            held = [(name, one) for name, one in module._parameters.items() if isinstance(one, torch.nn.Parameter)]
            made = [(name, node) for name, one in held if (node := graph.made_by(one)) is not None]
        for name, node in made:
            self._look(node, self._held)
            if _is_layer(type(module)):
                self._written.setdefault(f"{name} of {type(module).__name__}", set()).add(self._calls)

    def _look(self, node: Any, seen: dict[Raw, _Cut]) -> None:
        stack = self._frames.here()
        cut = seen.setdefault(stack, _Cut()) if stack else _Cut(self._calls)
        if cut.after == self._calls:
            return
        cut.after = self._calls
        cut.look(sum(age < self._mark for age in graph.ages(graph.walk_nodes([node]))))


def _is_layer(kind: type[torch.nn.Module]) -> bool:
    """Whether a module is one of torch's layers, or made of one: an adapter is often a linear layer."""
    return any(one.__module__.startswith(_LAYERS) and one.__module__ not in _BARE for one in kind.__mro__)
