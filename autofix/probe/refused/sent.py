"""What is sent to another process: values alone, unless it arrives where it was sent, and a reading keeps its graph."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from multiprocessing.reduction import ForkingPickler
from types import FrameType
from typing import Any

import torch
from torch.multiprocessing import reductions

from ..engine import graph

REFUSES: Any = reductions.reduce_tensor
"""What refuses a result that has a graph."""
_PACKS: Any = ForkingPickler.dumps
_PICKLER: Any = ForkingPickler
_DEPTH = 4
_kept: list[torch.Tensor] = []
"""What was sent with its graph."""


def perform(sends: Callable[[torch.Tensor], torch.Tensor]) -> None:
    """Let such a result be sent as what `sends` makes of it; its graph, if it has one, stays in this process."""

    def reduce(tensor: torch.Tensor) -> Any:
        sent = sends(tensor) if _has_graph(tensor) else tensor
        if not _has_graph(sent):
            return REFUSES(sent)
        _kept.append(sent)
        return _arrive, (os.getpid(), len(_kept) - 1, REFUSES(sent.detach()))

    for kind, made in _PICKLER._extra_reducers.items():
        if made is REFUSES:
            _PICKLER._extra_reducers[kind] = reduce


def _arrive(sender: int, place: int, values: tuple[Any, Any]) -> Any:
    make, given = values
    return _kept[place] if os.getpid() == sender else make(*given)


def refused(frames: list[FrameType]) -> list[tuple[str, torch.Tensor]]:
    """What has a graph in what was to be sent, each with its place in there, as an index is written.

    `frames` are those of the error, the innermost last; [] where it is another's.
    """
    if not frames or frames[-1].f_code is not REFUSES.__code__:
        return []
    packs = next((one for one in frames if one.f_code is _PACKS.__func__.__code__), None)
    found = list(_within(packs.f_locals["obj"], "", 0)) if packs is not None else []
    return found or [("", frames[-1].f_locals["tensor"])]


def _within(value: Any, path: str, depth: int) -> Iterator[tuple[str, torch.Tensor]]:
    if isinstance(value, torch.Tensor):
        yield from [(path, value)] if _has_graph(value) else []
    elif depth < _DEPTH and type(value) in (dict, list, tuple):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _within(item, f"{path}[{key!r}]", depth + 1)


def _has_graph(tensor: torch.Tensor) -> bool:
    return tensor.requires_grad and not graph.is_leaf(tensor)
