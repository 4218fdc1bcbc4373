"""What an optimizer was to be given, and refused."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import torch

from ..program.frames import frames_of
from .leaves import behind

if TYPE_CHECKING:
    from types import FrameType

    from ..instruments.state import State


def refused_parameters(error: BaseException, run: State) -> list[torch.Tensor]:
    """The tensors, no leaves, that an optimizer was to be given: as parameters, or as attributes of a module."""
    caller: FrameType | None = None
    for frame in frames_of(error):
        if isinstance(frame.f_locals.get("self"), torch.optim.Optimizer):
            group = frame.f_locals.get("param_group")
            params = list(copy.copy(group.get("params", ())) or ()) if isinstance(group, dict) else []
            given = [p for p in params if isinstance(p, torch.Tensor)]
            if any(not p.is_leaf for p in given):
                if caller is not None:
                    run.behind = behind(given, len(frame.f_locals["self"].param_groups), caller, run.frames)
                return [p for p in _every(frame, given) if not p.is_leaf]
            if frame.f_locals.get("param_groups") == [] and caller is not None:
                return _attributes(caller, run)
        elif run.frames.owns(frame.f_code):
            caller = frame
    return []


def _every(frame: FrameType, given: list[torch.Tensor]) -> list[torch.Tensor]:
    """All tensors that an optimizer is made with, as far as its frame has the groups that follow this one."""
    groups = frame.f_locals.get("param_groups")
    found = {id(one): one for one in given}
    for group in groups if isinstance(groups, list) else ():
        params = group.get("params", ()) if isinstance(group, dict) else ()
        several = params if isinstance(params, (list, tuple)) else [params]
        found |= {id(one): one for one in several if isinstance(one, torch.Tensor)}
    return list(found.values())


def _attributes(frame: FrameType, run: State) -> list[torch.Tensor]:
    """The tensors that modules in scope keep as plain attributes although they are results of operations."""
    modules = [v for v in {**frame.f_globals, **run.frames.variables(frame)}.values() if isinstance(v, torch.nn.Module)]
    attributes = (value for module in modules for part in module.modules() for value in vars(part).values())
    return [v for v in attributes if isinstance(v, torch.Tensor) and not v.is_leaf]
