"""What the program compares with each other, and whether the two are ever different: new with new shows nothing."""

from __future__ import annotations

from typing import Any

import torch

from .. import wire
from ..engine.operators import Functions
from ..engine.quiet import quiet
from ..engine.taps import Listener
from ..program.frames import Frames, Raw

DIFFERENCES = frozenset({
    torch.Tensor.sub, torch.sub, torch.Tensor.subtract, torch.subtract, torch.Tensor.dist, torch.dist,
    torch.nn.functional.mse_loss, torch.nn.functional.l1_loss, torch.nn.functional.smooth_l1_loss,
    torch.nn.functional.huber_loss, torch.nn.functional.pairwise_distance,
})  # fmt: skip
"""What is zero where both arguments are the same."""
_RATIOS = frozenset({torch.Tensor.div, torch.div, torch.Tensor.true_divide, torch.nn.functional.cosine_similarity})
_BOTH = 2
_OFTEN = 40
_LARGE = 1 << 20


class Comparisons(Functions, Listener):
    """Counts, for each place that takes a difference or a ratio, how often the two were the same and how often not."""

    def __init__(self, frames: Frames) -> None:
        super().__init__()
        self._frames = frames
        self._seen: dict[Raw, list[int]] = {}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if (func in DIFFERENCES or func in _RATIOS) and len(args) >= _BOTH:
            self._look(*args[:_BOTH])
        return func(*args, **(kwargs or {}))

    def _look(self, one: Any, other: Any) -> None:
        if not (isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor)):
            return
        with quiet():
            if one.shape != other.shape or not one.is_floating_point() or not 0 < one.numel() <= _LARGE:
                return
            counts = self._seen.setdefault(self._frames.here(), [0, 0])
            if sum(counts) < _OFTEN and bool(one.any()):
                counts[not torch.equal(one, other.to(one.dtype))] += 1

    def told(self) -> dict[str, Any]:
        """Each place, with its counts."""
        site, resolve = self._frames.site, self._frames.resolve
        return {
            "compared": tuple(wire.Compared(site(raw), resolve(raw), *counts) for raw, counts in self._seen.items())
        }
