"""Flags that a script sets on modules: `layer.requires_grad = True`, of which torch makes an attribute and no more.

It says which part is to train, or not. A reference may let it hold for all parameters of the module. An attribute that
a class of the user's defines is its own, and so is one that a module sets on itself, or that the program reads.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import torch

from .. import wire
from ..engine.names import Names
from ..engine.taps import Listener, Taps, parameters
from ..program.frames import Frames, Raw

FLAG = "requires_grad"


class ModuleFlags(Listener):
    """Stands in for that attribute of all modules; `holds`: what is set there is set on the parameters, too."""

    def __init__(self, frames: Frames, taps: Taps, names: Names, *, holds: bool) -> None:
        self._frames, self._taps, self._names, self._holds = frames, taps, names, holds
        self._set: dict[tuple[Raw, bool], None] = {}
        self._is_read = False

    def install(self) -> None:
        """Hear of it from now on."""
        setattr(torch.nn.Module, FLAG, self)

    def __get__(self, module: torch.nn.Module | None, _owner: Any = None) -> Any:
        if module is None or FLAG not in vars(module):
            raise AttributeError(FLAG)
        self._is_read = self._is_read or next(self._frames.running(sys._getframe(1)), None) is not None
        return vars(module)[FLAG]

    def __set__(self, module: torch.nn.Module, value: Any) -> None:
        vars(module)[FLAG] = value
        setter = next(self._frames.running(sys._getframe(1)), None)
        if setter is None or type(value) is not bool or _is_own(setter, module):
            return
        self._set[self._frames.here(), value] = None
        if self._holds:
            module.requires_grad_(value)

    def __delete__(self, module: torch.nn.Module) -> None:
        del vars(module)[FLAG]

    def told(self) -> dict[str, Any]:
        """Where each was set, and to what; whether any is read; where it holds, what is owned and stays off."""
        facts = [self._frames.fact("module-flag-on" if value else "module-flag-off", raw) for raw, value in self._set]
        facts += [wire.Fact("module-flag-is-read", "")] * self._is_read
        owned = (one for optimizer in self._taps.optimizers for one in parameters(optimizer)) if self._holds else ()
        frozen = [wire.Fact("stays-frozen", self._names.name(one, "")) for one in owned if not one.requires_grad]
        return {"facts": (*facts, *frozen)}


def _is_own(frame: FrameType, module: torch.nn.Module) -> bool:
    """Whether a frame is one of a method of a module, called on that module."""
    code = frame.f_code
    itself = any(frame.f_locals.get(name) is module for name in code.co_varnames[: min(code.co_argcount, 1)])
    return itself and hasattr(type(module), code.co_name)
