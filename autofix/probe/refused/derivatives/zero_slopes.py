"""Derivatives of higher order that are zero as what they are taken of is linear, and that stand beside other terms.

A straight line has no curvature, and in `u'' + u - t` the rest trains it. So such a zero is what the code says. It is
not where it is made by a choice, as `where` makes one: there the curvature may have been meant to train it.
"""

from __future__ import annotations

from typing import Any

import torch

from ...engine import graph
from ...engine.remembered import Remembered
from ...program.frames import Raw

_SUMS = {"add", "radd", "iadd", "sub", "rsub", "isub", "subtract"}
_KEEPS = {
    "mul", "rmul", "imul", "multiply", "div", "truediv", "itruediv", "divide", "true_divide", "neg", "negative",
    "getitem", "select", "narrow", "squeeze", "unsqueeze", "view", "view_as", "reshape", "reshape_as", "flatten", "t",
    "transpose", "permute", "expand", "expand_as", "clone", "contiguous", "to", "float", "double",
}  # fmt: skip
"""Operations that make of a term a multiple of it, or give it another form; those of Python without underscores."""
_LINEAR = {
    "Add", "Addmm", "Baddbmm", "Bmm", "Clone", "Div", "Dot", "Expand", "Linear", "Mm", "Mul", "Mv",
    "Neg", "Permute", "ReshapeAlias", "Select", "Slice", "Squeeze", "Sub", "Sum", "T", "Transpose", "UnsafeView",
    "Unsqueeze", "View",
}  # fmt: skip
"""What makes something linear in each of its operands, as torch calls the nodes of a graph."""


class ZeroSlopes:
    """Follows the zeros that derivatives gave, as far as they are terms of a sum."""

    def __init__(self) -> None:
        self._made = Remembered[dict[int, bool]]()
        """Of inputs, the ages of the nodes that gave derivatives by them, and whether those were of what is linear."""
        self._points = Remembered[None]()
        """The leaves that these are made of, which are no parameters of what is linear in them."""
        self._terms = Remembered[dict[int, Raw]]()
        """What is made of such zeros alone, and of constants, by the numbers of these and where they were given."""
        self._alone: dict[int, Raw] = {}
        """The zeros that met no other term so far."""
        self._met: set[Raw] = set()
        """The places whose zeros met one."""
        self._count = 0

    def derived(self, outputs: Any, inputs: Any, result: Any) -> None:
        """Inputs were given derivatives."""
        line = _is_linear(_each(outputs), _each(inputs))
        for given, slope in zip(_each(inputs), result, strict=False):
            node = graph.made_by(slope) if isinstance(slope, torch.Tensor) else None
            if isinstance(given, torch.Tensor) and node is not None:
                for leaf in _leaves(given):
                    self._points.keep(leaf, None)
                self._made.keep(given, (self._made.of(given) or {}) | {node._sequence_nr(): line})

    def is_of_line(self, outputs: Any, inputs: Any) -> bool:
        """Whether an output is made of derivatives by each of these inputs, of what is linear, and is linear itself."""
        known = graph.ages(graph.walk(_each(outputs)))
        made = [[line for age, line in (self._made.of(one) or {}).items() if age in known] for one in _each(inputs)]
        return all(lines and all(lines) for lines in made) and _is_linear(_each(outputs), _each(inputs))

    def gave(self, place: Raw, zeros: Any) -> None:
        """A derivative of higher order gave zeros at a place."""
        for zero in zeros:
            self._count += 1
            self._alone[self._count] = place
            self._terms.keep(zero, {self._count: place})

    @property
    def alone(self) -> set[Raw]:
        """The places where some of these zeros met no other term; the newest one may do so yet, as those before did."""
        return {place for number, place in self._alone.items() if number < self._count or place not in self._met}

    def heard(self, func: Any, args: Any, result: Any) -> None:
        """An operation was made: of a zero, it may be a sum with what can be trained."""
        if not len(self._terms) or not isinstance(result, torch.Tensor):
            return
        operands = [one for one in args if isinstance(one, torch.Tensor)]
        mine = {number: place for one in operands for number, place in (self._terms.of(one) or {}).items()}
        name = func.__name__.strip("_")
        others = [one for one in operands if one not in self._terms and one.requires_grad]
        if mine and name in _SUMS and any(leaf not in self._points for one in others for leaf in _leaves(one)):
            self._met.update(mine.values())
            for number in mine:
                self._alone.pop(number, None)
        elif mine and name in _SUMS | _KEEPS:
            self._terms.keep(result, mine)


def _each(tensors: Any) -> list[Any]:
    return [tensors] if isinstance(tensors, torch.Tensor) else list(tensors)


def _is_linear(outputs: list[Any], inputs: list[Any]) -> bool:
    """Whether outputs are made by linear operations alone, as far back as these inputs and other leaves."""
    known = {*graph.starts(inputs)}
    found = (
        node
        for node in graph.walk(outputs, lambda node: node not in known)
        if node not in known and graph.leaf(node) is None
    )
    return all(node.name().partition("Backward")[0] in _LINEAR for node in found)


def _leaves(tensor: torch.Tensor) -> list[torch.Tensor]:
    """The leaves that a tensor is made of, or itself."""
    return [tensor] if graph.is_leaf(tensor) else [*graph.leaves(graph.walk([tensor]))]
