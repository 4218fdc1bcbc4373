"""Random samples by their number: the same sample for the same number, in every run and worker process."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import torch

listeners: list[Callable[[str], None]] = []
doubters: list[Callable[[str], None]] = []


def note(text: str) -> None:
    """Tell of a stand-in."""
    for listener in listeners:
        listener(text)


def doubt(text: str) -> None:
    """Tell of a stand-in that the author's results depend on."""
    for doubter in doubters:
        doubter(text)


def generator(*key: Any) -> torch.Generator:
    """A source of random numbers that depends on nothing but `key`."""
    return torch.Generator().manual_seed(zlib.crc32(repr(key).encode()))


def image(shape: tuple[int, ...], *key: Any) -> torch.Tensor:
    """An image in [0, 1]: smooth patches and noise, so that filters and batch norms have something to see."""
    source = generator("image", *key)
    rough = torch.rand((1, shape[0], 4, 4), generator=source)
    smooth = torch.nn.functional.interpolate(rough, shape[1:], mode="bilinear", align_corners=False)[0]
    return (0.7 * smooth + 0.3 * torch.rand(shape, generator=source)).clamp(0, 1)


def label(classes: int, *key: Any) -> int:
    """A class."""
    return int(torch.randint(classes, (), generator=generator("label", *key)))


class Samples(torch.utils.data.Dataset[Any]):
    """A data set that makes its samples as they are asked for."""

    def __init__(self, size: int, make: Callable[[int], Any]) -> None:
        self._size, self._make = size, make

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, index: Any) -> Any:
        at = int(index)
        if not -self._size <= at < self._size:
            raise IndexError(index)
        return self._make(at % self._size)
