"""Which variables hold no tensor: the modules, optimizers and other objects that the frames of a failure know."""

from __future__ import annotations

from types import FrameType, TracebackType
from typing import Any

import torch

from .. import wire
from ..program.frames import Frames

_MAY_BE_TENSORS = (bool, int, float, complex, type(None))
"""What a variable may hold for a while that holds a tensor at other times."""


def plain(traceback: TracebackType | None, frames: Frames) -> tuple[wire.Carrier, ...]:
    """The names, and their attributes, that the user's frames use for what has no `detach` and no items."""
    found: dict[wire.Carrier, None] = {}
    for frame in (one.tb_frame for one in frames.own(traceback)):
        for path, value in _used(frame, frames):
            kind = type(value)
            if not (hasattr(kind, "detach") or hasattr(kind, "__iter__") or isinstance(value, _MAY_BE_TENSORS)):
                found[wire.Carrier(frame.f_code.co_filename, frame.f_code.co_qualname, path, "other")] = None
    return tuple(found)


def _used(frame: FrameType, frames: Frames) -> list[tuple[str, Any]]:
    code, used = frames.code(frame), frames.names(frame)
    names = (*code.co_varnames, *code.co_freevars, *code.co_cellvars, *used)
    known = {**frame.f_globals, **frames.variables(frame)}
    found = [(name, known[name]) for name in dict.fromkeys(names) if name in known]
    for name, value in list(found):
        if isinstance(value, torch.Tensor) or not hasattr(value, "__dict__"):
            continue
        kept = vars(value)
        if isinstance(value, torch.nn.Module):
            kept = {**kept, **value._modules}
        found += [(f"{name}.{inner}", kept[inner]) for inner in dict.fromkeys(used) if inner in kept]
    return found
