"""Sums, differences and products of two tensors: broadcast by accident, of one memory, with a constant term."""

from __future__ import annotations

from typing import Any

import torch

from ..engine.quiet import quiet
from ..engine.remembered import Remembered
from ..program.frames import Frames
from . import products
from .calls import Calls
from .ledger import Ledger
from .notes import Notes
from .paths import Cut, Paths
from .scores import shape, size

ARITHMETIC = frozenset({
    "sub", "__sub__", "__rsub__", "rsub", "subtract", "mul", "__mul__", "__rmul__", "multiply", "add", "__add__",
    "__radd__", "lerp", "allclose", "equal", "isclose", "dist",
})  # fmt: skip
"""Calls of two tensors that are looked at."""
_DIFFERENCE = frozenset({"sub", "__sub__", "subtract", "allclose", "equal", "isclose", "dist"})
_PRODUCT = frozenset({"mul", "__mul__", "__rmul__", "multiply"})
_COLUMN = 2
_SUM = frozenset({"add", "__add__", "__radd__"})


class Arithmetic:
    """Looks at both operands and the result."""

    def __init__(self, frames: Frames, ledger: Ledger, calls: Calls, notes: Notes, paths: Paths) -> None:
        self._notes, self._paths, self._frames, self._ledger, self._calls = notes, paths, frames, ledger, calls
        self._explicit = Remembered[Any]()

    def shaped(self, name: str, args: Any, result: torch.Tensor) -> None:
        """A tensor was given a further dimension on purpose."""
        explicit = name == "unsqueeze" or (name == "__getitem__" and _has_none(args[1:]))
        if name in ("view", "reshape"):  # to a column it is rather the accident itself
            explicit = result.dim() > max(args[0].dim(), _COLUMN)
        if explicit and (here := self._frames.here()):
            self._explicit.keep(result, here[0][0])

    def of(self, name: str, given: list[torch.Tensor], args: Any, result: Any) -> None:
        """A call of two tensors was made."""
        if len(given) == 1 and name in _SUM and isinstance(result, torch.Tensor) and result.requires_grad:
            self._tell(self._paths.returned(args) if result.numel() == 1 else (), certain=False)
        if len(given) < 2:  # noqa: PLR2004  of two tensors
            return
        a, b = given[0], given[1]
        if name in _DIFFERENCE:
            self._difference(a, b)
        if isinstance(result, torch.Tensor) and result.requires_grad:
            if not self._ledger.step_number and name in _DIFFERENCE | _PRODUCT:
                self._weigh(name, a, b, result)
            self._broadcast(name, a, b, result)
            if name in _PRODUCT and a.requires_grad and b.requires_grad:
                products.made(result, self._frames.here())
            if name in _SUM and result.numel() == 1:
                self._constant(a, b)

    def _weigh(self, name: str, a: torch.Tensor, b: torch.Tensor, result: torch.Tensor) -> None:
        """Keep how large a result is at first, and how large it is of operands of one shape."""
        should = None
        with quiet():
            if a.numel() == b.numel() < result.numel():
                one, other = a.reshape(-1), b.reshape(-1)
                should = size(one * other if name in _PRODUCT else one - other)
            self._notes.value(self._frames.here(), size(result), should)

    def _broadcast(self, name: str, a: torch.Tensor, b: torch.Tensor, result: torch.Tensor) -> None:
        n = a.numel()
        if n < 2 or b.numel() != n or result.numel() <= n or a.dim() == b.dim():  # noqa: PLR2004
            return
        if name in _SUM or a.data_ptr() == b.data_ptr():  # all pairs of one thing
            return
        here = self._frames.here()
        if here and any(self._explicit.of(tensor) is here[0][0] for tensor in (a, b)):
            return
        self._notes.note("broadcast-by-accident", f"{shape(a)} and {shape(b)}", here)

    def _difference(self, a: torch.Tensor, b: torch.Tensor) -> None:
        if a.shape != b.shape or not a.numel() or a.data_ptr() != b.data_ptr() or a.stride() != b.stride():
            return
        if a is b:
            if isinstance(a, torch.nn.Parameter) and self._ledger.step_number:
                self._notes.note("snapshot-is-alias", "same", self._frames.here())
            return
        for tensor in (a, b):
            steps, place = self._calls.age(tensor)
            if steps is not None and steps < self._ledger.step_number:
                self._notes.note("snapshot-is-alias", "difference", place, self._frames.here())

    def _constant(self, a: torch.Tensor, b: torch.Tensor) -> None:
        """A term of a sum that was cut from its graph."""
        for tensor in (a, b):
            if tensor.requires_grad or tensor.numel() != 1:
                continue
            self._tell(self._paths.behind([tensor]), certain=True)

    def _tell(self, cuts: tuple[Cut, ...], *, certain: bool) -> None:
        for cut in cuts:
            if not cut.old and any(key in self._ledger.owned() for key in cut.behind):
                name = "term-is-constant" if certain and cut.kind != "detach" else "term-detached"
                self._notes.note(name, cut.kind, cut.stack, self._frames.here(), cut.off)


def _has_none(index: Any) -> bool:
    return any(item is None or (isinstance(item, tuple) and any(part is None for part in item)) for item in index)
