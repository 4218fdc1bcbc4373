"""What an optimizer was to be given, and refused."""

from __future__ import annotations

import copy
from types import FrameType

import torch

from ..engine import graph
from ..instruments.state import State
from ..program.frames import frames_of
from .leaves import behind


def refused_parameters(error: BaseException, run: State) -> list[torch.Tensor]:
    """The tensors, no leaves, that an optimizer was to be given: as parameters, or as attributes of a module."""
    caller: FrameType | None = None
    for frame in frames_of(error):
        if isinstance(frame.f_locals.get("self"), torch.optim.Optimizer):
            group = frame.f_locals.get("param_group")
            params = list(copy.copy(group.get("params", ())) or ()) if isinstance(group, dict) else []
            given = [p for p in params if isinstance(p, torch.Tensor)]
            if any(not graph.is_leaf(p) for p in given):
                first = len(frame.f_locals["self"].param_groups)
                groups = {first: given, **_following(frame, first)}
                if caller is not None:
                    run.behind = tuple(one for at in groups for one in behind(groups[at], at, caller, run.frames))
                return [p for p in {id(p): p for one in groups.values() for p in one}.values() if not graph.is_leaf(p)]
            if frame.f_locals.get("param_groups") == [] and caller is not None:
                return _attributes(caller, run)
        elif run.frames.owns(frame.f_code):
            caller = frame
    return []


def _following(frame: FrameType, first: int) -> dict[int, list[torch.Tensor]]:
    """What the groups behind a refused one hold, by their numbers, as far as the optimizer's frame has them."""
    groups = frame.f_locals.get("param_groups")
    found: dict[int, list[torch.Tensor]] = {}
    for number, group in enumerate(groups if isinstance(groups, list) else ()):
        params = group.get("params", ()) if number > first and isinstance(group, dict) else ()
        several = params if isinstance(params, (list, tuple)) else [params]
        found[number] = [one for one in several if isinstance(one, torch.Tensor)]
    return {number: given for number, given in found.items() if given}


def _attributes(frame: FrameType, run: State) -> list[torch.Tensor]:
    """The tensors that modules in scope keep as plain attributes although they are results of operations."""
    modules = [v for v in {**frame.f_globals, **run.frames.variables(frame)}.values() if isinstance(v, torch.nn.Module)]
    attributes = (value for module in modules for part in module.modules() for value in vars(part).values())
    return [v for v in attributes if isinstance(v, torch.Tensor) and not graph.is_leaf(v)]
