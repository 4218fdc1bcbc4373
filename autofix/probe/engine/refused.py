"""What torch refused: the kind of a refused call and the tensor it was about, read off the state of its arguments."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Iterable, Iterator
from types import BuiltinFunctionType, MethodDescriptorType, MethodWrapperType, WrapperDescriptorType
from typing import Any

import torch
from torch.overrides import resolve_name

from . import graph

DERIVATIVE = "torch.autograd.grad"
"""The function that gives derivatives, with a graph of their own only where it is asked for."""
GRADIENT = "torch.Tensor.grad.__get__"
_HEARD = ("data", "grad")
"""Attributes whose names torch does not find while somebody listens to them."""
WATCHES = (".register_hook", ".retain_grad")
"""What is done with the gradient of a tensor before there is one."""
_SETTERS = ("requires_grad.__set__", "requires_grad_")
_CUT = "detach_"
_EXCHANGES = (_CUT, "squeeze_", "unsqueeze_", "t_", "transpose_", "swapaxes_", "swapdims_", "as_strided_")
"""What makes the very tensor another view of its memory, or one without a graph, and writes no values."""
_CONVERSIONS = ("numpy", "__array__", "__deepcopy__")
_OF_C = (BuiltinFunctionType, MethodDescriptorType, MethodWrapperType, WrapperDescriptorType)
_NUMBERS = 2000
_ROUNDING = 1e-5
_NO_WRITE = ("requires_grad_", "retain_grad_")


@functools.lru_cache(maxsize=1024)
def name_of(func: Any) -> str:
    """The public name of a torch function, such as `torch.Tensor.add_`; torch itself takes long to find it."""
    for attribute, way in itertools.product(_HEARD, ("__get__", "__set__")):
        if func in [getattr(getattr(kind, attribute), way) for kind in (torch.Tensor, torch._C.TensorBase)]:
            return f"torch.Tensor.{attribute}.{way}"
    named = resolve_name(func)
    return named or f"{getattr(func, '__module__', '') or 'torch'}.{getattr(func, '__name__', '')}"


@functools.lru_cache(maxsize=1024)
def short_name(name: str) -> str:
    """The last part of such a name; of what gets an attribute, the attribute's."""
    return name.removesuffix(".__get__").rpartition(".")[2]


def refused(func: Any, args: Any, kwargs: Any) -> tuple[str, torch.Tensor | None]:
    """The kind of failure that a call which raised stands for, '' if none is seen, and the tensor it was about."""
    name = name_of(func)
    with torch._C.DisableTorchFunction():
        first = next(tensors((args, kwargs)), None)
        inference = next((t for t in tensors((args, kwargs)) if t.is_inference()), None)
        if inference is not None and _is_recorded(func, name, args, kwargs):
            return "inference_tensor", inference
        if name.endswith(_SETTERS) and first is not None:
            return _flag(first)
        if name.endswith(_CUT) and first is not None:
            return ("view_modified" if first._is_view() else ""), first
        if name.endswith(WATCHES) and first is not None:
            return ("" if first.requires_grad else "hook_refused"), first
        if name.rsplit(".", 1)[-1] in _CONVERSIONS and first is not None:
            return ("conversion" if first.requires_grad else ""), first
        if kwargs.get("requires_grad") and first is None:
            return "no_graph", None
        target = written(func, name, args, kwargs)
        if target is not None and torch.is_grad_enabled():
            kind = _written_kind(target)
            if kwargs.get("out") is not None and kind != "leaf_modified":
                kind = "out_refused" if any(t.requires_grad for t in tensors((args, kwargs))) else ""
            if kind:
                return kind, target
    return "", None


def exchanges(name: str) -> bool:
    """Whether a call of such a name makes its tensor another view of the same memory, and writes no values."""
    return short_name(name) in _EXCHANGES


def _is_recorded(func: Any, name: str, args: Any, kwargs: Any) -> bool:
    """Whether a call that has a tensor of inference mode would be in a graph, or writes to such a tensor."""
    if torch.is_inference_mode_enabled() or name.rsplit(".", 1)[-1] in _CONVERSIONS:
        return False
    target = written(func, name, args, kwargs)
    with_graph = torch.is_grad_enabled() and any(t.requires_grad for t in tensors((args, kwargs)))
    return with_graph or name.endswith(_SETTERS) or (target is not None and target.is_inference())


def _flag(tensor: torch.Tensor) -> tuple[str, torch.Tensor]:
    if not graph.is_leaf(tensor):
        return "nonleaf_gradient", tensor
    return ("" if can_have_gradient(tensor) else "no_graph"), tensor


def can_have_gradient(tensor: torch.Tensor) -> bool:
    """Whether the numbers of a tensor are of a kind that changes a little: no whole ones."""
    return tensor.is_floating_point() or tensor.is_complex()


def is_real(value: torch.Tensor) -> bool:
    """Whether a complex value has no imaginary part, but for rounding."""
    with torch.no_grad():
        return bool((value.imag.abs() <= _ROUNDING * value.abs()).all())


def _written_kind(target: torch.Tensor) -> str:
    base = target._base
    if graph.is_leaf(target) and target.requires_grad:
        return "leaf_modified"
    if base is None:
        return ""
    return "leaf_modified" if graph.is_leaf(base) and base.requires_grad else "view_modified"


def written(func: Any, name: str, args: Any, kwargs: Any) -> torch.Tensor | None:
    """The tensor that a call writes to: its receiver, its `out`, or its input where `inplace` is set."""
    last = name.rsplit(".", 1)[-1]
    found = list(tensors(kwargs.get("out")))
    if not found and (_named_as_write(last) or _inplace(func, args, kwargs)):
        found = list(tensors(args[:1])) or list(tensors(kwargs.get("input")))
    graded = [t for t in found if t.requires_grad or (t._base is not None and t._base.requires_grad)]
    return next(iter(graded or found), None)


@functools.lru_cache(maxsize=1024)
def is_write(func: Any) -> bool:
    """Whether a torch function writes to its first argument, as its name says."""
    return _named_as_write(getattr(func, "__name__", ""))


_SAYINGS = frozenset((bool, int, float, str, type(None), torch.Size, torch.dtype, torch.device, torch.layout))


def only_says(func: Any, result: Any) -> bool:
    """Whether a call only told something of what it was given: it gave no tensor, and its name says no write."""
    return type(result) in _SAYINGS and not (is_write(func) or is_setting(func))


def is_setting(func: Any) -> bool:
    """Whether a call sets an attribute of a tensor."""
    return getattr(func, "__name__", "") == "__set__"


@functools.lru_cache(maxsize=1024)
def may_write(func: Any) -> bool:
    """Whether a torch function may write to an argument: its name says so, or it is no function of C's."""
    return not isinstance(func, _OF_C) or is_setting(func) or is_write(func)


def _named_as_write(name: str) -> bool:
    """Whether a function of this name writes to its first argument, as torch's naming convention has it."""
    if name.startswith("__"):
        return name == "__setitem__" or (name.startswith("__i") and name not in ("__invert__", "__index__", "__int__"))
    return name.endswith("_") and name not in _NO_WRITE


def _inplace(func: Any, args: Any, kwargs: Any) -> bool:
    if "inplace" in kwargs:
        return bool(kwargs["inplace"])
    try:
        return bool(inspect.signature(func).bind(*args, **kwargs).arguments.get("inplace"))
    except (TypeError, ValueError):
        return False


def tensors(value: Any, depth: int = 0) -> Iterator[torch.Tensor]:
    """The tensors in an argument, lists and dicts opened."""
    if isinstance(value, torch.Tensor):
        yield value
        return
    if isinstance(value, dict):
        items: Iterable[Any] = value.values()
    elif isinstance(value, (tuple, list)) and depth < 6:  # noqa: PLR2004  deeper nesting is no argument of torch's
        items = value
    else:
        return
    for item in items:  # asked for each operation: a generator for each argument costs more than all else here
        if isinstance(item, torch.Tensor):
            yield item
        elif isinstance(item, (tuple, list, dict)):
            yield from tensors(item, depth + 1)


def listed(value: Any, kwargs: Any = None) -> list[torch.Tensor]:
    """The same as a list; of the arguments of a call, with those that it was given by name."""
    if isinstance(value, torch.Tensor):
        return [value]
    found = list(tensors(value))
    return found + list(tensors(kwargs)) if kwargs else found


def numbers(value: Any, depth: int = 0) -> Iterator[float]:
    """The numbers in what a call was given or gave, lists opened, as far as they may be data."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        yield float(value)
    elif isinstance(value, (list, tuple)) and depth < 4:  # noqa: PLR2004  deeper nesting is no data
        for item in value[:_NUMBERS]:
            yield from numbers(item, depth + 1)


def swapped(value: Any, old: torch.Tensor, new: torch.Tensor) -> Any:
    """An argument with one tensor in place of another."""
    if value is old:
        return new
    if isinstance(value, (tuple, list)):
        return type(value)(swapped(item, old, new) for item in value) if type(value) in (tuple, list) else value
    if isinstance(value, dict):
        return {key: swapped(item, old, new) for key, item in value.items()}
    return value


def same_view(whole: torch.Tensor, view: torch.Tensor, base: torch.Tensor) -> torch.Tensor:
    """What a view of a tensor shows, of something that lies in memory as the tensor does."""
    return whole.as_strided(view.size(), view.stride(), view.storage_offset() - base.storage_offset())


def filled(func: Any, args: Any, kwargs: Any, target: torch.Tensor, base: torch.Tensor) -> Iterator[torch.Tensor]:
    """What a write to a view of a tensor makes of it, were it full of zeros, and were it full of ones."""
    for start in (0, 1):
        whole = torch.full_like(base, start)
        part = same_view(whole, target, base)
        func(*swapped(args, target, part), **swapped(kwargs, target, part))
        yield whole
