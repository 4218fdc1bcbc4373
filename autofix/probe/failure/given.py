"""What an optimizer was to be given, and refused; and how the user's code can write the leaves that it was made of."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any

import torch

from .. import wire
from ..engine import graph
from ..instruments.state import State
from ..program.frames import Frames, frames_of

_DEPTH = 5
_ITEMS = 4000
_LEAVES = 8
"""A result of more leaves than this is a network's: naming them all helps nobody."""


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


def behind(given: Sequence[torch.Tensor], group: int, caller: FrameType, frames: Frames) -> tuple[wire.Behind, ...]:
    """For each tensor that an optimizer was given, the leaves that it was made of; of a leaf, itself."""
    own = {id(tensor) for tensor in given if graph.is_leaf(tensor)}
    found: dict[int, list[int]] = {}
    for place, tensor in enumerate(given):
        leaves = set(map(id, [tensor] if graph.is_leaf(tensor) else graph.leaves(graph.walk([tensor]))))
        if leaves and len(leaves) <= _LEAVES:
            found[place] = [key for key in leaves if graph.is_leaf(tensor) or key not in own]
    paths = _paths(caller, {key for keys in found.values() for key in keys}, frames)
    return tuple(
        wire.Behind(group, place, len(given), tuple(paths[key] for key in keys), leaf=graph.is_leaf(given[place]))
        for place, keys in found.items()
        if all(key in paths for key in keys)
    )


def _paths(caller: FrameType, wanted: set[int], frames: Frames) -> dict[int, str]:
    """An expression that is valid in a frame for each of some tensors, the shortest there is."""
    scope = {**caller.f_globals, **frames.variables(caller)}
    queue = deque((name, value, 0) for name, value in scope.items() if not name.startswith("__"))
    found: dict[int, str] = {}
    seen: set[int] = set()
    while queue and len(found) < len(wanted) and len(seen) < _ITEMS:
        path, value, depth = queue.popleft()
        if id(value) in wanted:
            found.setdefault(id(value), path)
        if id(value) in seen or isinstance(value, torch.Tensor) or depth >= _DEPTH:
            continue
        seen.add(id(value))
        queue.extend((inner, item, depth + 1) for inner, item in _inside(path, value, frames))
    return found


def _inside(path: str, value: Any, frames: Frames) -> Iterator[tuple[str, Any]]:
    """What an object holds, each under the expression that gets it."""
    if isinstance(value, torch.nn.Module):
        if isinstance(value, (torch.nn.Sequential, torch.nn.ModuleList, torch.nn.ParameterList)):
            yield from ((f"{path}[{index}]", item) for index, item in enumerate(value))
        named = (*value._parameters.items(), *value._modules.items(), *vars(value).items())
        yield from ((f"{path}.{name}", item) for name, item in named if _is_plain(name))
    elif isinstance(value, dict):
        items = list(value.items())[:200]
        yield from ((f"{path}[{key!r}]", item) for key, item in items if isinstance(key, (str, int)))
    elif isinstance(value, (list, tuple)):
        yield from ((f"{path}[{index}]", item) for index, item in enumerate(value[:200]))
    elif frames.is_users(value):
        yield from ((f"{path}.{name}", item) for name, item in vars(value).items() if _is_plain(name))


def _is_plain(name: str) -> bool:
    """Whether a name can stand behind a dot, and means the same outside its class."""
    return name.isidentifier() and not name.startswith("__") and name not in ("_parameters", "_modules", "_buffers")
