"""Sketches: a tensor of any size as its norm and a few fixed random projections, in constant memory."""

from __future__ import annotations

import math
from typing import TypeGuard

import torch

WIDTH = 1 << 16
PROJECTIONS = 3
_BLOCK = 1 << 12
_SEED = 20_11


class Sketcher:
    """Makes sketches. The projections are the same in every process: fixed seeds make them, as far as needed."""

    def __init__(self) -> None:
        self._drawn = torch.empty(PROJECTIONS, 0)
        self._rows: dict[tuple[int, torch.dtype], torch.Tensor] = {}
        self._weights = torch.empty(0)

    def _project(self, flat: torch.Tensor) -> torch.Tensor:
        return self._first(flat.numel(), flat.dtype) @ flat if flat.numel() <= WIDTH else self._fold(flat)

    def _first(self, count: int, dtype: torch.dtype) -> torch.Tensor:
        """The projections of `count` numbers, a row each: a product with columns would take ten times as long."""
        rows = self._rows.get((count, dtype))
        if rows is None:
            while self._drawn.shape[1] < count:
                generator = torch.Generator().manual_seed(_SEED + self._drawn.shape[1])
                self._drawn = torch.cat([self._drawn, torch.randn(PROJECTIONS, _BLOCK, generator=generator)], 1)
            rows = self._rows[count, dtype] = self._drawn[:, :count].to(dtype)
        return rows

    def _fold(self, flat: torch.Tensor) -> torch.Tensor:
        """The projection of what is longer than the rows: of its pieces, each with a weight of its own."""
        rows = self._first(WIDTH, flat.dtype)
        if not self._weights.numel():
            self._weights = torch.randn(_BLOCK, generator=torch.Generator().manual_seed(_SEED - 1))
        weights = self._weights.to(flat.dtype)
        whole = flat.numel() // WIDTH
        total = rows[:, : flat.numel() - whole * WIDTH] @ flat[whole * WIDTH :]
        for first in range(0, whole, weights.numel()):
            part = flat[first * WIDTH : min(whole, first + weights.numel()) * WIDTH].view(-1, WIDTH)
            total = total * 0.7 + rows @ (part.t() @ weights[: part.shape[0]])
        return total

    def norms(self, tensors: list[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        """The norm of each tensor, as in its sketch: whether it is as it was, at a tenth of the price."""
        return torch._foreach_norm([_flat(tensor) for tensor in tensors]) if tensors else ()

    def sketches(self, tensors: list[torch.Tensor | None]) -> tuple[tuple[float, ...], ...]:
        """[norm, projections...] of each tensor, linear in it but for the norm; () where there are no numbers."""
        with torch.no_grad(), torch._C._DisableAutocast():  # a program may look where it computes in half precision
            flats = [_flat(t) for t in tensors if _has_numbers(t)]
            if not flats:
                return tuple(() for _ in tensors)
            norms = torch.stack(torch._foreach_norm(flats)).double().tolist()
            projections = torch.stack([self._project(flat) for flat in flats]).double().tolist()
        made = iter(zip(norms, projections, strict=True))
        found: list[tuple[float, ...]] = []
        for tensor in tensors:
            if not _has_numbers(tensor):
                found.append(())
            else:
                norm, projection = next(made)
                found.append((norm, *projection))
        return tuple(found)

    def of_states(self, tensors: list[torch.Tensor]) -> tuple[tuple[float, ...], ...]:
        """The same of tensors that may hold what is no number, as a mask of minus infinity does on purpose."""
        found = zip(tensors, self.sketches(list(tensors)), strict=True)
        return tuple(
            sketch if not sketch or math.isfinite(sketch[0]) else self.sketches([_finite(tensor)])[0]
            for tensor, sketch in found
        )


def _has_numbers(tensor: torch.Tensor | None) -> TypeGuard[torch.Tensor]:
    """Not where a tensor is empty, or a shape alone, as on `meta`."""
    return tensor is not None and tensor.numel() > 0 and not tensor.is_meta


def is_zero(tensor: torch.Tensor) -> bool:
    """Whether it holds nothing but zeros. Of most others the first few numbers tell."""
    strided = tensor.layout is torch.strided and tensor.is_contiguous()
    if strided and tensor.numel() > _BLOCK and bool(tensor.view(-1)[:_BLOCK].any()):
        return False
    return not bool(tensor.any())


def _finite(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor with numbers for what is none, each kind another beyond all that it holds."""
    flat = _flat(tensor)
    numbers = flat[flat.isfinite()]
    most = float(numbers.abs().max()) if numbers.numel() else 0.0
    return flat.nan_to_num(3 * (most or 1.0), 2 * (most or 1.0), -2 * (most or 1.0))


def _flat(tensor: torch.Tensor) -> torch.Tensor:
    """All numbers of a tensor in a row, real, in single or double precision, on the CPU."""
    flat = tensor.detach() if not tensor.is_meta else torch.zeros(1)
    flat = (flat.to_dense() if flat.layout != torch.strided else flat).reshape(-1)
    if flat.is_complex():
        flat = torch.view_as_real(flat).reshape(-1)
    if flat.dtype not in (torch.float32, torch.float64):
        flat = flat.to(torch.float32)
    return flat.cpu()
