"""Which storages may be written through `.data`, which shares no version counter with the tensor it was read from.

And who is given other memory by it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from .operators import storage_key

_DATA: Any = torch._C.TensorBase.data
_HOLDERS: Any = getattr(torch._C, "_storage_Use_Count", lambda _: 0)
_OWN, _REFERENCES = 2, 3
"""A tensor holds its storage, and so does the object that stands for that; the object is held by who asks."""
_MANY = 1000
"""Storages that are known before it is asked which of them are gone."""


def data(tensor: torch.Tensor) -> torch.Tensor:
    """What `tensor.data` gives, for the probe's own writes: nobody hears of it."""
    plain: torch.Tensor = _DATA.__get__(tensor)
    return plain


def set_data(tensor: torch.Tensor, value: torch.Tensor) -> None:
    """`tensor.data = value`, unheard."""
    _DATA.__set__(tensor, value)


class Aliased:
    """Hears of every `.data` from now on, and answers for tensors. `first` is told of a storage's first, beforehand."""

    def __init__(self, first: Callable[[torch.Tensor], None]) -> None:
        self._first = first
        # Weakly: what is only referred to frees its values, but no other storage gets its place in memory.
        self._storages: dict[int | None, StorageWeakRef] = {}
        self._alone = set[int | None]()
        """Those that nothing but one tensor had left when that was last looked at, and `.data` gave none since."""
        self._most = _MANY
        self.moved: Callable[[torch.Tensor], None] = lambda _tensor: None
        """Who hears of a tensor that was given other memory."""
        torch.Tensor.data = property(self._read, self._set)

    def _set(self, tensor: torch.Tensor, value: torch.Tensor) -> None:
        set_data(tensor, value)
        self.moved(tensor)

    def _read(self, tensor: torch.Tensor) -> torch.Tensor:
        plain = data(tensor)
        self._alone.discard(key := storage_key(plain))
        if key not in self._storages:
            self._first(tensor)
            if key is not None:
                self._storages[key] = StorageWeakRef(plain.untyped_storage())
                self._prune()
        return plain

    def _prune(self) -> None:
        """Forget what is gone, whenever twice as many are known as were left the last time."""
        if len(self._storages) > self._most:
            self._storages = {key: one for key, one in self._storages.items() if not one.expired()}
            self._alone &= self._storages.keys()
            self._most = max(_MANY, 2 * len(self._storages))

    def hand_on(self, other: Aliased | None) -> None:
        """Have another, where there is one, know what was read until now; hear of nothing any more."""
        if other is not None:
            other._storages |= self._storages
            other._alone |= self._alone
        else:
            del torch.Tensor.data

    def __contains__(self, tensor: torch.Tensor) -> bool:
        return bool(self._storages) and storage_key(tensor) in self._storages

    def may_differ(self, tensor: torch.Tensor) -> bool:
        """Whether it may hold something else than when `looked` was last told of it, without a trace."""
        return tensor in self and storage_key(tensor) not in self._alone

    def looked(self, tensor: torch.Tensor) -> None:
        """What a tensor holds is known: as long as nothing else has its memory, that stays so until `.data` is read.

        A copied module has read it of each parameter, and a soft update at each step.
        """
        if tensor in self and _is_alone(tensor.untyped_storage()):
            self._alone.add(storage_key(tensor))


def _is_alone(storage: torch.UntypedStorage) -> bool:
    """Whether one tensor alone has this memory, beside the object that we ask with, which nobody else has either."""
    return _HOLDERS(storage._cdata) == _OWN and sys.getrefcount(storage) <= _REFERENCES
