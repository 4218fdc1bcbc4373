"""Derivatives without a graph that losses take as weights of their terms alone, to balance what is trained."""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from ..engine import graph
from ..engine.refused import DERIVATIVE, name_of, short_name, tensors
from ..engine.remembered import Remembered
from ..engine.sums import is_sum
from ..engine.taps import Call, Listener
from ..program.frames import Frames, Raw

_WEIGHS = frozenset(("mul", "mul_", "multiply", "rmul", "imul", "div", "div_", "truediv", "itruediv"))
_DETACHES = ("torch.Tensor.detach", "torch.Tensor.data.__get__")
_NONE: frozenset[Raw] = frozenset()


class DerivedWeights(TorchFunctionMode, Listener):
    """Follows derivatives without a graph, and what is made of them, to where they meet what is trained.

    A weight is one number, by which what is computed is multiplied on its way to the sum that a backward starts from;
    or several, of each example its own, where the code says by `detach` that they are constants. A penalty, a residual
    and a point that was moved along a derivative take it in another way.
    """

    def __init__(self, frames: Frames) -> None:
        super().__init__()
        self._frames = frames
        self._made_of = Remembered[frozenset["Raw"]]()
        """Of a tensor without graph, the places whose derivatives it is made of."""
        self._detached = Remembered[bool]()
        """Those of them that the code has detached, though they have no graph, and what is made of these alone."""
        self._takers: list[tuple[range, bool, frozenset[Raw]]] = []
        """The ages of nodes that took such a tensor, whether each may take it as a weight, and the places."""
        self._weigh: set[Raw] = set()
        self._enter: set[Raw] = set()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        before = graph.now()
        result = func(*args, **(kwargs or {}))
        with torch._C.DisableTorchFunction():
            if name_of(func) == DERIVATIVE:
                self._keep(result, frozenset({self._frames.here()}))
            elif len(self._made_of):
                given = list(tensors((args, kwargs)))
                if made_of := _NONE.union(*(self._made_of.of(one) or _NONE for one in given)):
                    self._keep(result, made_of, detached=name_of(func) in _DETACHES or self._are_detached(given))
                    if graph.now() > before:
                        self._takers.append((range(before, graph.now()), self._weighs(func, given), made_of))
        return result

    def _keep(self, result: Any, made_of: frozenset[Raw], *, detached: bool = False) -> None:
        for one in tensors(result):
            if not one.requires_grad:
                self._made_of.keep(one, made_of)
                if detached:
                    self._detached.keep(one, True)

    def _are_detached(self, given: list[torch.Tensor]) -> bool:
        return all(one in self._detached for one in given if one in self._made_of)

    def _weighs(self, func: Any, given: list[torch.Tensor]) -> bool:
        weights = [one for one in given if one in self._made_of]
        others = [one for one in given if one not in self._made_of]
        named = short_name(name_of(func)).strip("_") in _WEIGHS
        constants = self._are_detached(given) or all(one.numel() == 1 for one in weights)
        return named and constants and not any(map(graph.is_leaf, others))

    def backward(self, call: Call) -> None:
        """Look how a loss takes what is made of derivatives."""
        if not self._takers:
            return
        reached = graph.ages(graph.walk(call.roots))
        terms = graph.ages(node for node in graph.walk(call.roots, is_sum) if is_sum(node))
        for ages, weighs, places in self._takers:
            if met := reached.intersection(ages):
                (self._weigh if weighs and met <= terms else self._enter).update(places)

    def told(self) -> dict[str, Any]:
        """The derivatives that only weigh, and enter no loss in another way."""
        found = sorted(self._weigh - self._enter)
        return {"facts": tuple(self._frames.fact("derivative-weighs", raw) for raw in found)}
