"""What refused: the torch call that raised, with its tensor, a checkpoint, TorchScript, the reducer of a copy."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from .. import OURS
from ..engine import graph
from ..engine.refused import name_of, refused
from ..program.frames import Frames, frames_of

_DISTRIBUTED = "torch.nn.parallel.distributed"
_INTERPRETER = "The following operation failed in the TorchScript interpreter"
"""What its interpreter puts before the words of whatever fails: there is no frame of it to be known by."""


class Refusals(TorchFunctionMode):
    """Remembers the torch call that raised: its name, which kind of refusal it was, and the tensor it was about."""

    def __init__(self) -> None:
        super().__init__()
        self.function = ""
        self.error: BaseException | None = None
        self.kind = ""
        self.target: torch.Tensor | None = None

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        try:
            return func(*args, **(kwargs or {}))
        except Exception as error:
            if self.error is not error:
                self.error = error
                self.function = name_of(func)
                self.kind, self.target = refused(func, args, kwargs or {})
            raise


def by_checkpoint(error: BaseException) -> bool:
    """Whether a reentrant checkpoint itself refused to go backward, as against something that it computed again."""
    module: Any = sys.modules.get("torch.utils.checkpoint")
    backward = getattr(getattr(module, "CheckpointFunction", None), "backward", None)
    return backward is not None and frames_of(error)[-1].f_code is backward.__code__


def by_recomputation(error: BaseException) -> bool:
    """Whether a checkpoint without reentrance refused what it computed anew: no frame but its own raised that."""
    return _module(frames_of(error)[-1]) == "torch.utils.checkpoint"


def by_script(error: BaseException, frames: Frames, *, backward: bool) -> bool:
    """Whether TorchScript ran what failed, or may have made what a backward went through: nothing sees into that.

    It keeps lists of the functions and of the modules that it compiled; those of the program are meant.
    """
    if _INTERPRETER in str(error):
        return True
    if not backward:
        return False
    space: Any = torch.jit
    functions = (getattr(one, "__code__", None) for one in space._state._jit_caching_layer)
    modules = (sys.modules.get(kind.__module__) for kind in space._recursive.concrete_type_store.type_store)
    return any(code is not None and frames.owns(code) for code in functions) or any(
        frames.owned(getattr(module, "__file__", None) or "") for module in modules
    )


def by_reducer(error: BaseException, roots: tuple[Any, ...] | None) -> bool:
    """Whether what averages gradients over processes refused to go on: in a forward, or in the backward from `roots`.

    It is told how each pass uses the parameters. Neither autograd nor the program itself raises where it does: in C++,
    below the forward of a distributed module, or below the engine while that has parameters of such a module to fill.
    """
    # Without a group of processes there is no such module, and none has to be looked for among all objects.
    distributed = _DISTRIBUTED in sys.modules and torch.distributed.is_available()
    if type(error) is not RuntimeError or not (distributed and torch.distributed.is_initialized()):
        return False
    frames = frames_of(error)
    if roots is None:
        return _module(frames[-1]) == _DISTRIBUTED and any(frame.f_code.co_name == "forward" for frame in frames)
    if not _module(frames[-1]).startswith(("torch.autograd", OURS)):
        return False
    filled = {id(parameter) for module in _distributed() for parameter in module.parameters()}
    return bool(filled) and any(id(leaf) in filled for leaf in graph.leaves(graph.walk(roots)))


def _distributed() -> Iterator[torch.nn.Module]:
    kind: type[torch.nn.Module] = torch.nn.parallel.DistributedDataParallel
    kinds = {kind, *_derived(kind)}  # `issubclass` of each object takes a second where there are many
    return (one for one in gc.get_objects() if type(one) in kinds)


def _derived(kind: type[torch.nn.Module]) -> Iterator[type[torch.nn.Module]]:
    for one in kind.__subclasses__():
        yield from (one, *_derived(one))


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))
