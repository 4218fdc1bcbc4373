"""Which tensors the script has switched off (`requires_grad`): where, what used them then, where they are on again."""

from __future__ import annotations

import sys
import weakref
from typing import Any

import torch

from ..engine import caller
from ..engine.refused import tensors
from ..engine.remembered import Remembered
from ..program.frames import Frames, Raw

_TABLES = torch.nn.modules.sparse.__file__


class Flags:
    """Follows the flags that the script sets."""

    def __init__(self, frames: Frames) -> None:
        self._frames = frames
        self._off = Remembered[Raw]()
        self._on = Remembered[Raw]()
        """Where those were switched on that had been off."""
        self._used: dict[tuple[Raw, Raw], weakref.ref[torch.Tensor]] = {}
        """By where it was switched off and used, the first such tensor."""
        self._first: dict[Raw, Raw] = {}
        self._tables = Remembered[Raw]()

    def born(self, tensor: torch.Tensor) -> None:
        """A parameter is made, which may be without its flag."""
        if not tensor.requires_grad:
            self._switched_off(tensor)

    def is_of_table(self, tensor: torch.Tensor) -> bool:
        """Whether torch itself has switched off a tensor, when it made a table of given values."""
        return tensor in self._tables and tensor in self._off

    def _switched_off(self, tensor: torch.Tensor) -> None:
        here, by = self._frames.here(), caller.frame()
        self._off.keep(tensor, here)
        self._on.forget(tensor)
        self._tables.forget(tensor)
        if by is not None and by.f_code.co_filename == _TABLES:
            self._tables.keep(tensor, here)

    def heard(self, args: Any, kwargs: Any, *, was: bool) -> None:
        """A flag is set; not on the way out of what failed, for that says nothing of the failing call.

        `was`: what it was before. To switch off plain data that never were on changes nothing, as `torch.load` does.
        """
        if sys.exc_info()[0] is not None:
            return
        flag = args[1] if len(args) > 1 else kwargs.get("requires_grad", True)
        for tensor in tensors(args[:1]):
            if not flag and (was or isinstance(tensor, torch.nn.Parameter)):
                self._switched_off(tensor)
            elif flag and tensor in self._off:
                self._off.forget(tensor)
                self._on.keep(tensor, self._frames.here())

    def uses(self, tensor: torch.Tensor) -> tuple[Raw, Raw] | None:
        """Where a tensor that is used now was switched off, and that use; None where nothing makes it require one."""
        off = self._off.of(tensor)
        if off is None and not isinstance(tensor, torch.nn.Parameter):
            return None
        if not off:
            return (), ()
        use = self._in_function_of(off)
        self._used.setdefault((off, use), weakref.ref(tensor))
        return off, use

    def _in_function_of(self, off: Raw) -> Raw:
        """The use that goes on now, as a function sees it that also switched off, or called what did."""
        here, codes = self._frames.here(), {code for code, _ in off}
        near = next((place for place, (code, _) in enumerate(here) if code in codes), None)
        return self._first.setdefault(off, here) if near is None else here[near:]

    def again(self, off: Raw, use: Raw) -> Raw:
        """Where what was so used was switched on again; () where it is off still."""
        held = self._used.get((off, use))
        tensor = held() if held is not None else None
        return self._on.of(tensor) or ()
