"""The leaves that a refused result was made of, and how the user's code can write them where it was refused."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any

import torch

from .. import wire
from ..engine import graph
from ..program.frames import Frames

_DEPTH = 5
_ITEMS = 4000
_LEAVES = 8
"""A result of more leaves than this is a network's: naming them all helps nobody."""


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
