"""What an object that could not be copied holds with a graph."""

from __future__ import annotations

import copy

from .. import wire
from ..program.frames import Frames, frames_of
from .carriers import Carriers


def held(error: BaseException, frames: Frames) -> tuple[wire.Carrier, ...]:
    """What holds the tensors of the object that the user's call copies; () where the error is of no copy."""
    called = list(frames_of(error))
    last = max((at for at, frame in enumerate(called) if frames.owned(frame.f_code.co_filename)), default=-1)
    copies = (frame for frame in called[last + 1 :] if frame.f_code is copy.deepcopy.__code__)
    first = next(copies, None)
    return Carriers(frames).below(first.f_locals["x"]) if first is not None else ()
