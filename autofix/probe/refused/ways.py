"""The ways to perform what torch refuses: as an update, out of place, in place of the leaf, through another view."""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import torch
from torch.utils.hooks import RemovableHandle

from ..engine import graph
from ..engine.refused import DERIVATIVE, name_of, same_view, swapped

_EXCHANGE: Any = getattr(torch._C, "_swap_tensor_impl", None)
"""Older versions of torch lack it."""
_WEIGHTS = {"torch.Tensor.backward": (1, "gradient"), DERIVATIVE: (2, "grad_outputs")}
"""Where a call is given what each value counts that it starts from: the place, and the name."""


def update(func: Any, args: Any, kwargs: Any) -> Any:
    """Write values alone."""
    with torch.no_grad():
        return func(*args, **kwargs)


def into(func: Any, args: Any, kwargs: Any) -> Any:
    """Put results where the caller wants them; nothing is left of what stood there, nor of its graph."""
    result = func(*args, **{key: value for key, value in kwargs.items() if key != "out"})
    several = isinstance(result, (tuple, list))
    for out, value in zip(kwargs["out"], result, strict=True) if several else [(kwargs["out"], result)]:
        if not out._is_view():
            out.detach_()
        if out.shape != value.shape:
            out.resize_(value.shape)
        out.copy_(value)
    return kwargs["out"]


def out_of_place(func: Any, args: Any, kwargs: Any, target: torch.Tensor) -> tuple[torch.Tensor, Any]:
    """Write to a copy that is bound in place of the target; the leaf itself stays as it is."""
    copy = target.clone()
    result = func(*swapped(args, target, copy), **swapped(kwargs, target, copy))
    return copy, result


def apart(func: Any, args: Any, kwargs: Any, target: torch.Tensor) -> tuple[torch.Tensor, Any]:
    """Write to a copy that the very tensor is from then on; the memory that it had, and others have, is written too."""
    copy, result = out_of_place(func, args, kwargs, target)
    with torch.no_grad():
        target.detach().copy_(copy)
    _EXCHANGE(target, copy)
    return target, target if result is copy else result


def may_exchange(target: torch.Tensor) -> bool:
    """Whether torch can let this very tensor be another one."""
    return _EXCHANGE is not None and type(target) is torch.Tensor


def in_place(func: Any, args: Any, kwargs: Any, target: torch.Tensor) -> tuple[torch.Tensor, Any]:
    """Make the user's own tensor go on as the result: all who hold it see the write, and it is a leaf no more."""
    base = target if graph.is_leaf(target) else graph.base(target)
    whole = base.detach().clone().requires_grad_().clone()
    written = whole if base is target else _same_view(whole, target, base)
    result = func(*swapped(args, target, written), **swapped(kwargs, target, written))
    base.requires_grad_(False)
    base.copy_(whole)
    return base, target if result is written else result


def on_fresh_view(func: Any, args: Any, kwargs: Any, target: torch.Tensor) -> tuple[torch.Tensor, Any]:
    """Write through a view of the same place that autograd knows."""
    base = graph.base(target)
    view = base.as_strided(target.size(), target.stride(), target.storage_offset())
    return base, func(*swapped(args, target, view), **swapped(kwargs, target, view))


def _same_view(whole: torch.Tensor, target: torch.Tensor, base: torch.Tensor) -> torch.Tensor:
    if whole.stride() != base.stride():
        raise RuntimeError("the layout of a copy differs from that of the tensor written")
    return same_view(whole, target, base)


def exchanged(func: Any, args: Any, kwargs: Any, target: torch.Tensor) -> Callable[[], torch.Tensor] | None:
    """Let a view be the same tensor, of the same memory, cut or of another shape; None where torch cannot do it."""
    if not may_exchange(target):
        return None

    def again() -> torch.Tensor:
        _EXCHANGE(target, getattr(torch.Tensor, func.__name__.removesuffix("_"))(target, *args[1:], **kwargs))
        return target

    return again


def flag(target: torch.Tensor) -> torch.Tensor:
    """Set the flag of a result, which is a leaf from here on."""
    return target.detach_().requires_grad_()


def as_float(func: Any, args: Any, kwargs: Any, target: torch.Tensor | None) -> torch.Tensor:
    """Let whole numbers have a gradient as floats."""
    dtype = torch.get_default_dtype()
    if target is None:
        plain: torch.Tensor = func(*args, **{key: value for key, value in kwargs.items() if key != "requires_grad"})
        return plain.to(dtype).requires_grad_()
    target.data = target.data.to(dtype)
    return target.requires_grad_()


def with_fitting_weights(func: Any, args: Any, kwargs: Any) -> Callable[[], Any] | None:
    """A call whose weights have the shape of what they weigh; None where they have it, or where more than form differs.

    Ones in a column, for scores in a row, count each of them as the ones say; so does a single number in a list, for a
    single loss. For several it says nothing.
    """
    place, name = _WEIGHTS.get(name_of(func), (0, ""))
    weights = args[place] if len(args) > place > 0 else kwargs.get(name)
    outputs = args[0] if args else kwargs.get("outputs")
    if isinstance(weights, torch.Tensor) and isinstance(outputs, (list, tuple)) and len(outputs) == 1:
        outputs = outputs[0]
    if not isinstance(weights, torch.Tensor) or not isinstance(outputs, torch.Tensor) or weights.shape == outputs.shape:
        return None
    with torch._C.DisableTorchFunction():
        if weights.numel() == 1 < outputs.numel() or weights.squeeze().shape != outputs.squeeze().shape:
            return None
        fitting = weights.reshape(outputs.shape)
    if len(args) > place:
        return functools.partial(func, *args[:place], fitting, *args[place + 1 :], **kwargs)
    return functools.partial(func, *args, **kwargs | {name: fitting})


def unwatched(func: Any) -> Any:
    """Keep no gradient, and give the handle of a hook that is never called."""
    return RemovableHandle(OrderedDict()) if func.__name__ == "register_hook" else None
