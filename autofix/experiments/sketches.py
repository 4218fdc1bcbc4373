"""Sketches of tensors, and within which tolerance two of them are of one."""

from __future__ import annotations

import math

LIVE = 2e-5
"""Relative tolerance while parameters evolve: rounding of reordered sums grows from step to step."""
FROZEN = 4e-6
"""Relative tolerance while every step is undone: only the rounding of one pass is left."""
FOLLOWED = 2e-4
"""Relative tolerance where one run computes with numpy and the other with torch: each rounds in its own way."""
_ROUNDED, _STILL_THE_SAME = 2e-5, 1e-2
"""Then a gradient may differ by the first of the largest of its step, up to the second of its own: where a loss hardly
depends on a parameter, what rounding leaves is large beside its gradient."""
_LAST_PLACE, _OF_ITSELF = 5e-7, 1e-4
"""What rounding leaves of one pass, beside the largest gradient of its step: some units in the last place of a float.
A gradient that is far smaller may differ by the first, up to the second of its own: it is a sum of what cancels out."""
EXACT = 0.0
"""No tolerance: runs of the same operations on the same numbers."""
CHANGES = 2e-2
"""Relative tolerance of a step's own parameter change: Adam turns the rounding of a tiny gradient into a full step."""


def norm(sketch: tuple[float, ...]) -> float:
    """The norm in a sketch, 0 for None."""
    return sketch[0] if sketch else 0.0


def for_rounding(largest: float, tolerance: float) -> tuple[float, float]:
    """By how much a gradient may differ beside the largest one of its step, and up to which part of its own size."""
    of_a_pass = _LAST_PLACE * largest, _OF_ITSELF
    known = {FOLLOWED: (_ROUNDED * largest, _STILL_THE_SAME), FROZEN: of_a_pass, LIVE: of_a_pass}
    return known.get(tolerance, (0.0, 0.0))


def close(
    expected: tuple[float, ...], got: tuple[float, ...], tolerance: float, rounding: tuple[float, float] = (0.0, 0.0)
) -> bool:
    """Whether two sketches are of one tensor; None equals zeros. No absolute floor: a small gradient counts too.

    `rounding`: by how much they may differ, where that is no more than this part of them.
    """
    if not expected or not got:
        return norm(expected) == norm(got) == 0.0
    size = max(norm(expected), norm(got))
    least = max(tolerance * size, min(rounding[0], rounding[1] * size))
    return least < math.inf and all(abs(a - b) <= least for a, b in zip(expected, got, strict=True))
