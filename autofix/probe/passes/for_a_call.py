"""Buffers that a module writes for each of its calls alone: nothing reads what an earlier call has left in them."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import dataclass
from types import FrameType
from typing import Any

import torch

from .. import wire
from ..engine import caller, graph
from ..engine.names import Names
from ..engine.operators import storage_key
from ..engine.quiet import quiet
from ..engine.refused import filled, is_write, name_of, same_view, short_name, tensors
from ..engine.taps import Listener
from ..program.frames import Frames, outwards

_SETS = frozenset({"__setitem__", "copy_", "fill_", "zero_", "masked_fill_", "index_fill_", "index_copy_"})
"""Writes that set entries whatever they were."""
_ABOUT = frozenset({"size", "dim", "numel", "stride", "__len__", "is_floating_point", "is_contiguous", "element_size"})
"""What asks a tensor for something else than its values."""
_MOST = 1 << 22
_CALLS = 2


@dataclass(slots=True)
class _Buffer:
    """A buffer, and which of its entries were set: ever, and by the latest call that set some."""

    tensor: torch.Tensor
    ever: torch.Tensor
    in_call: torch.Tensor
    call: FrameType | None = None
    """The frame that set them; it is held so that no other frame is mistaken for it."""
    calls: int = 0
    used: bool = True
    """Whether the latest call has read what it set."""


class ForACall(Listener):
    """Follows buffers from the first write to them in a call of their module on.

    A call is one of the function that writes. Only there may what was set be read, and each call must do so, after it
    has set anew all that it reads of what was ever set. Then a call may as well write to a copy.
    """

    def __init__(self, frames: Frames, names: Names) -> None:
        self._frames, self._names = frames, names
        self._buffers: dict[int | None, _Buffer] = {}
        """By their memory."""
        self._others: set[int | None] = set()
        """The memory of buffers that are used otherwise, too."""

    def heard(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        """A torch function was called."""
        target = args[0] if is_write(func) and args and isinstance(args[0], torch.Tensor) else None
        if target is None and not self._buffers:
            return
        name = name_of(func)
        with quiet(), contextlib.suppress(RuntimeError, NotImplementedError):
            if self._buffers and short_name(name) not in _ABOUT:
                self._read(name, [one for one in tensors((args, kwargs)) if one is not target], result)
            if target is not None:
                self._write(func, args, kwargs, target)

    def _read(self, name: str, given: list[torch.Tensor], result: Any) -> None:
        shown = {storage_key(one) for one in tensors(result)}
        if name.endswith(".__get__") and not shown:
            return
        for key, one in ((storage_key(one), one) for one in given):
            known = self._buffers.get(key)
            if known is None or key in shown:  # a view reads nothing by itself
                continue
            inside = any(frame is known.call for frame in outwards(sys._getframe(1)))
            stale = known.ever & ~known.in_call if inside else known.ever
            if same_view(stale, one, known.tensor).any():
                self._leave(key)
            else:
                known.used = known.used or bool(same_view(known.in_call, one, known.tensor).any())

    def _write(self, func: Any, args: Any, kwargs: Any, target: torch.Tensor) -> None:
        buffer = graph.base(target)
        key = storage_key(buffer)
        known = self._buffers.get(key)
        if key in self._others or (known is None and not _is_buffer(buffer)):
            return
        entries = _set(func, args, kwargs, target, buffer) if caller.computing() else None
        call = next(self._frames.running(sys._getframe(1)), None)
        if entries is None or call is None or (known is not None and known.tensor is not buffer):
            self._leave(key)
            return
        if known is None:
            none = torch.zeros_like(entries)
            known = self._buffers[key] = _Buffer(buffer, none, none)
        if call is not known.call:
            if not known.used:
                self._leave(key)
                return
            known.call, known.in_call, known.used = call, torch.zeros_like(entries), False
            known.calls += 1
        known.ever, known.in_call = known.ever | entries, known.in_call | entries

    def _leave(self, key: int | None) -> None:
        self._others.add(key)
        self._buffers.pop(key, None)

    def told(self) -> dict[str, Any]:
        """These buffers, as facts."""
        found = [one.tensor for one in self._buffers.values() if one.used and one.calls >= _CALLS]
        names = filter(None, (self._names.name(one, "") for one in found))
        return {"facts": [wire.Fact("set-for-a-call", name) for name in names]}


def _is_buffer(tensor: torch.Tensor) -> bool:
    """Whether a module that is being called has this as a buffer; not too large a one."""
    own = (one for module in caller.modules() for one in module._buffers.values())
    return tensor.numel() <= _MOST and tensor.is_contiguous() and any(one is tensor for one in own)


def _set(func: Any, args: Any, kwargs: Any, target: torch.Tensor, buffer: torch.Tensor) -> torch.Tensor | None:
    """The entries that a write sets, whatever they were; None where it does something else, too."""
    if short_name(name_of(func)) not in _SETS:
        return None
    first, second = filled(func, args, kwargs, target, buffer)
    return (first == second) | first.isnan()
