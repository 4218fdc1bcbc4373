"""Has what bounds values change all that it leaves a little: one that does not bind yet shows where it stands."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import torch

from ..arrays.followed import Followed, followed
from ..engine.operators import storage_key
from ..engine.quiet import quiet
from ..engine.taps import Taps, parameters

_BOUNDS = [f"{name}{end}" for name in ("clamp", "clip", "clamp_min", "clamp_max") for end in ("", "_")]
_OF_ARRAYS = {"clip": "clip", "maximum": "clamp_min", "minimum": "clamp_max"}
_BY = 0.01


def show(taps: Taps) -> None:
    """From now on what these functions leave differs, by its own size and by the bounds; gradients do not.

    What an optimizer owns stays in its bounds. Numpy's `clip` does as torch's, and so does what takes the larger or
    smaller one of an array and a number.
    """
    Followed.bounds = _followed
    calling: list[str] = []

    def is_owned(tensor: torch.Tensor) -> bool:
        owned = (storage_key(one) for optimizer in taps.optimizers for one in parameters(optimizer))
        return storage_key(tensor) in owned

    for name in _BOUNDS:
        for owner in (torch.Tensor, torch):
            if hasattr(owner, name):
                setattr(owner, name, _shown(getattr(owner, name), name, calling, is_owned))
    if (numpy := sys.modules.get("numpy")) is not None:
        for name in _OF_ARRAYS:
            setattr(numpy, name, _OfArrays(getattr(numpy, name), name, numpy))


class _OfArrays:
    """A function of numpy's that keeps arrays in a range; all else of it is as it was."""

    def __init__(self, unbounded: Any, name: str, numpy: Any) -> None:
        self.unbounded, self._name, self._kinds = unbounded, name, (numpy.ndarray, numpy.floating)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.unbounded, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        found = self.unbounded(*args, **kwargs)
        plain = issubclass(type(found), self._kinds) and found.dtype.kind == "f" and kwargs.get("out") is None
        bounds = _bounds_of(self._name, args, kwargs) if plain else None
        if bounds is None:
            return found
        with quiet():
            change = _change(_OF_ARRAYS[self._name], torch.as_tensor(found.astype("float64")), *bounds).numpy()
        return (found + change).astype(found.dtype)


def _bounds_of(name: str, args: tuple[Any, ...], words: dict[str, Any]) -> tuple[Any, dict[str, Any]] | None:
    """By what an array is bounded; None where two are compared instead."""
    if name == "clip":
        return args[1:], {key.removeprefix("a_"): one for key, one in words.items()}
    numbers = tuple(one for one in args if isinstance(one, (int, float)) and not followed(one))
    return (numbers, {}) if len(numbers) == 1 else None


def _shown(
    plain: Callable[..., Any], name: str, calling: list[str], is_owned: Callable[[torch.Tensor], bool]
) -> Callable[..., Any]:
    @functools.wraps(plain)
    def bounded(*args: Any, **kwargs: Any) -> Any:
        calling.append(name)
        try:
            found = plain(*args, **kwargs)
        finally:
            calling.pop()
        # A mode of functions has it called once more.
        if calling or not found.is_floating_point() or (name.endswith("_") and is_owned(found)):
            return found
        with quiet():
            change = _change(name, found.detach(), args[1:], kwargs)
            if name.endswith("_"):
                found.detach().add_(change)
        return found if name.endswith("_") else found + change

    return bounded


def _followed(found: Any, name: str, given: tuple[Any, ...], words: dict[str, Any]) -> Any:
    bounds = _bounds_of(name, given, words) if name in _OF_ARRAYS else None
    if bounds is None:
        return found
    with quiet():
        change = _change(_OF_ARRAYS[name], found.tensor.detach(), *bounds)
    return found + change.numpy().astype(found.value.dtype)


def _change(name: str, value: torch.Tensor, bounds: tuple[Any, ...], words: dict[str, Any]) -> torch.Tensor:
    return _BY * value * (value + _sum_of(name, bounds, words)).sin()


def _sum_of(name: str, bounds: tuple[Any, ...], words: dict[str, Any]) -> float:
    """A number of the bounds that is another one where they are."""
    known = words | dict(zip(("max",) if "max" in name else ("min", "max"), bounds, strict=False))
    numbers = {
        key: float(torch.as_tensor(one).detach().double().mean()) for key, one in known.items() if one is not None
    }
    return sum(
        times * numbers.get(key, 0.0) / (1 + abs(numbers.get(key, 0.0))) for key, times in (("min", 2), ("max", 3))
    )
