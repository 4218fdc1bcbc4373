"""Derivatives of functions of arrays, found by evaluating the functions themselves beside where they were called.

No table says what a derivative ought to be: what a function is to numpy decides. numpy is the user's, and handed in.
"""

from __future__ import annotations

import cmath
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Array = Any
_IMAGINARY = 1e-30
"""A step into the imaginary: analytic functions give their derivative by it without any rounding."""
_STEP = 6e-6
"""A step along the real line, relative to the value: the cube root of the rounding of doubles."""
_SAME = 1e-3
_MOST = 2048
"""Elements up to which a function that mixes them is evaluated once beside each."""


class NoSlope(Exception):  # noqa: N818  an answer
    """A function whose derivative cannot be found here."""


def elementwise(
    np: Any, function: Callable[..., Any], given: Sequence[Any], options: Mapping[str, Any], place: int
) -> Array:
    """How the result moves with the argument at `place`, of a function that treats each element by itself.

    The imaginary step is exact where a function is analytic; that it is shows in a step along the real line.
    """
    x = np.asarray(given[place], dtype=np.float64)

    def at(value: Array) -> Array:
        return np.asarray(_call(function, [*given[:place], value, *given[place + 1 :]], options))

    with np.errstate(all="ignore"):
        near, far = (_central(at, x, step) for step in (_STEP * (np.abs(x) + (x == 0)), _STEP * np.fmax(np.abs(x), 1)))
        real = np.where(np.isclose(near, far, _SAME, 0), far, near)
        try:
            found = at(x + _IMAGINARY * 1j)
        except (TypeError, ValueError):
            return real
        if found.dtype.kind != "c":
            return real
        exact = found.imag / _IMAGINARY
        told = np.isclose(exact, near, _SAME, 1e-9) | np.isclose(exact, far, _SAME, 1e-9) | ~np.isfinite(real)
        return np.where(told, exact, real)


def mixing(
    np: Any, function: Callable[..., Any], given: Sequence[Any], options: Mapping[str, Any], place: int
) -> Array:
    """The matrix of derivatives of a function that mixes the elements of the argument at `place`: result × argument."""
    x = np.asarray(given[place], dtype=np.float64)
    if x.size > _MOST:
        raise NoSlope(f"{x.size} elements are too many to evaluate it beside each")
    rows = []
    for index in range(x.size):
        step = _STEP * max(1.0, abs(float(x.flat[index])))
        sides = []
        for sign in (step, -step):
            moved = x.copy()
            moved.flat[index] += sign
            result = _call(function, [*given[:place], moved, *given[place + 1 :]], options)
            sides.append(np.asarray(result, dtype=np.float64).ravel())
        rows.append((sides[0] - sides[1]) / (2 * step))
    return np.stack(rows, axis=-1) if rows else np.zeros((0, 0))


def summed(np: Any, gradient: Array, shape: tuple[int, ...]) -> Array:
    """The gradient of what was broadcast, from that of what it was broadcast to."""
    extra = gradient.ndim - len(shape)
    gradient = gradient.sum(axis=tuple(range(extra))) if extra else gradient
    axes = tuple(axis for axis, size in enumerate(shape) if size == 1 != gradient.shape[axis])
    return gradient.sum(axis=axes, keepdims=True) if axes else np.asarray(gradient)


def _central(at: Callable[[Array], Array], x: Array, step: Array) -> Array:
    above, below = x + step, x - step
    return (at(above) - at(below)) / (above - below)


def _call(function: Callable[..., Any], given: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """A call of numpy's, or of `math`'s with its namesake for complex numbers."""
    if getattr(function, "__module__", "") != "math":
        return function(*given, **options)
    plain = [value.item() if hasattr(value, "item") else value for value in given]
    if any(isinstance(value, complex) for value in plain):
        function = getattr(cmath, function.__name__, None) or _unknown
    return function(*plain, **options)


def _unknown(*_: Any) -> Any:
    raise TypeError("no function of complex numbers")
