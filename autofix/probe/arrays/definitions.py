"""What numpy's functions do, as tables: which move elements, which treat each by itself, how others are defined."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

MOVES = frozenset({
    "T", "append", "array", "array_split", "asanyarray", "asarray", "ascontiguousarray", "atleast_1d", "atleast_2d",
    "atleast_3d", "broadcast_arrays", "broadcast_to", "column_stack", "compress", "concat", "concatenate", "copy",
    "delete", "diag", "diagonal", "dstack", "expand_dims", "extract", "flatten", "flip", "fliplr", "flipud", "getitem",
    "hsplit", "hstack", "insert", "moveaxis", "mT", "pad", "permute_dims", "ravel", "repeat", "reshape", "resize",
    "roll", "rollaxis", "rot90", "split", "squeeze", "stack", "swapaxes", "take", "take_along_axis", "tile",
    "transpose", "tril", "triu", "unstack", "vsplit", "vstack",
})  # fmt: skip
"""Functions and methods that put elements elsewhere, or leave some out, and compute nothing."""
EACH = frozenset({
    "where", "clip", "nan_to_num", "real", "real_if_close", "sinc", "i0", "fix", "round", "around", "angle",
})  # fmt: skip
"""Functions that treat each element by itself although they are no ufuncs."""
LINEAR = {
    "add": torch.add, "sub": torch.sub, "subtract": torch.sub, "mul": torch.mul, "multiply": torch.mul,
    "truediv": torch.div, "divide": torch.div, "true_divide": torch.div, "neg": torch.neg, "negative": torch.neg,
}  # fmt: skip
"""The four rules of arithmetic, whose graph tells the terms of a loss apart as any other does."""
CASTS = ("float", "float16", "float32", "float64", "half", "single", "double", "longdouble", "float_")


def _sum(tensor: torch.Tensor, axis: Any = None, *, keepdims: bool = False) -> torch.Tensor:
    axis = tuple(range(tensor.dim())) if axis is None else axis
    return tensor.sum(axis, keepdim=bool(keepdims)) if tensor.dim() else tensor


def _mean(tensor: torch.Tensor, axis: Any = None, *, keepdims: bool = False) -> torch.Tensor:
    found = _sum(tensor, axis, keepdims=keepdims)
    return found / (tensor.numel() / max(1, found.numel()))


def _var(tensor: torch.Tensor, axis: Any = None, *, ddof: int = 0, keepdims: bool = False) -> torch.Tensor:
    found = _sum((tensor - _mean(tensor, axis, keepdims=True)) ** 2, axis, keepdims=keepdims)
    return found / (tensor.numel() / max(1, found.numel()) - ddof)


def _std(tensor: torch.Tensor, axis: Any = None, *, ddof: int = 0, keepdims: bool = False) -> torch.Tensor:
    return _var(tensor, axis, ddof=ddof, keepdims=keepdims) ** 0.5


def _norm(tensor: torch.Tensor, ord: Any = None, axis: Any = None, *, keepdims: bool = False) -> torch.Tensor:  # noqa: A002
    if ord is not None and (ord != 2 or (tensor.dim() > 1 and axis is None)):  # noqa: PLR2004  the length
        raise ValueError("another norm")
    return _sum(tensor**2, axis, keepdims=keepdims) ** 0.5


DEFINED: dict[str, Callable[..., torch.Tensor]] = {
    "sum": _sum, "mean": _mean, "var": _var, "std": _std, "norm": _norm, "dot": torch.matmul, "matmul": torch.matmul,
}  # fmt: skip
"""Functions by their definition in sums and products: they are called on arrays that are large."""
_TRANSFORMS = ("fft", "ifft", "rfft", "irfft", "fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn",
               "fftshift", "ifftshift")  # fmt: skip
COMPLEX: dict[str, Callable[..., torch.Tensor]] = {
    **{name: getattr(torch.fft, name) for name in _TRANSFORMS}, **LINEAR, "abs": torch.abs, "absolute": torch.abs,
    "real": torch.real, "imag": torch.imag, "conj": torch.conj, "conjugate": torch.conj, "angle": torch.angle,
    "square": torch.square, "pow": torch.pow, "power": torch.pow, "getitem": lambda tensor, index: tensor[index],
}  # fmt: skip
"""Functions whose argument or result may be complex, as torch has them: a slope along one line does not tell theirs."""
DERIVATIVES = frozenset({"gradient"})
"""Functions that differentiate what they are given: nobody takes the derivative of a network for a constant."""
PRODUCTS = ("dot", "matmul")
"""Those of them whose further argument is an array, too."""
