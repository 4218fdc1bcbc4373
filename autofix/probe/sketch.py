"""Sketches: a tensor of any size as its norm and a few fixed random projections, in constant memory."""

from __future__ import annotations

import torch

WIDTH = 1 << 16
PROJECTIONS = 3


class Sketcher:
    """Makes sketches. The projections are the same in every process: a fixed seed makes them."""

    def __init__(self) -> None:
        generator = torch.Generator().manual_seed(20_11)
        self._rows = torch.randn(WIDTH, PROJECTIONS, generator=generator)
        self._chunks = torch.randn(1 << 12, generator=generator)

    def sketch(self, tensor: torch.Tensor) -> torch.Tensor:
        """[norm, projections...] of `tensor`, as float64 on the CPU; linear in the tensor but for the norm."""
        flat = tensor.detach()
        flat = (flat.to_dense() if flat.layout != torch.strided else flat).reshape(-1)
        if flat.is_complex():
            flat = torch.view_as_real(flat).reshape(-1)
        if flat.dtype not in (torch.float32, torch.float64):
            flat = flat.to(torch.float32)
        flat = flat.cpu()
        rows = self._rows.to(flat.dtype)
        projected = flat @ rows[: flat.numel()] if flat.numel() <= WIDTH else self._fold(flat, rows)
        return torch.cat([torch.linalg.vector_norm(flat).reshape(1), projected]).double()

    def _fold(self, flat: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        whole = flat.numel() // WIDTH
        weights = self._chunks.to(flat.dtype)
        total = flat[whole * WIDTH :] @ rows[: flat.numel() - whole * WIDTH]
        for first in range(0, whole, weights.numel()):
            part = flat[first * WIDTH : min(whole, first + weights.numel()) * WIDTH].view(-1, WIDTH) @ rows
            total = total * 0.7 + weights[: part.shape[0]] @ part
        return total

    def sketches(self, tensors: list[torch.Tensor | None]) -> tuple[tuple[float, ...], ...]:
        """The sketch of each tensor; () for None and for an empty tensor."""
        present = [t for t in tensors if t is not None and t.numel()]
        if not present:
            return tuple(() for _ in tensors)
        with torch.no_grad():
            rows = iter(torch.stack([self.sketch(t) for t in present]).tolist())
        return tuple(tuple(next(rows)) if t is not None and t.numel() else () for t in tensors)
