"""What is known of tensors, each for as long as it lives: afterwards its number may be another's."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    import torch

Fact = TypeVar("Fact")


class Remembered(Generic[Fact]):
    """A table by identity that holds no tensor; torch's own calls many functions where instruments hear of each op."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[weakref.ref[torch.Tensor], Fact]] = {}

    def __len__(self) -> int:
        return len(self._known)

    def __iter__(self) -> Iterator[torch.Tensor]:
        return (tensor for reference, _ in list(self._known.values()) if (tensor := reference()) is not None)

    def __contains__(self, tensor: Any) -> bool:
        known = self._known.get(id(tensor))
        return known is not None and known[0]() is tensor

    def of(self, tensor: Any) -> Fact | None:
        """What is known of a tensor; None where nothing is, or where it is no tensor."""
        known = self._known.get(id(tensor))
        return known[1] if known is not None and known[0]() is tensor else None

    def keep(self, tensor: torch.Tensor, fact: Fact) -> None:
        """Remember this of a tensor, in place of what was known of it."""
        key = id(tensor)
        self._known[key] = weakref.ref(tensor, functools.partial(self._gone, key)), fact

    def forget(self, tensor: torch.Tensor) -> None:
        """Know nothing of a tensor any more."""
        self._known.pop(id(tensor), None)

    def clear(self) -> None:
        """Know nothing of any tensor; in time: what replaces a table leaves it to the collector of garbage."""
        self._known.clear()

    def _gone(self, key: int, reference: object) -> None:
        if (known := self._known.get(key)) is not None and known[0] is reference:
            del self._known[key]
