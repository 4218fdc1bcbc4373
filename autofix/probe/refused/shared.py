"""Modules in reach that share parameters although neither is a part of the other: a student of its teacher's layers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from types import FrameType

import torch

from ..program.frames import Frames


def is_shared(frames: Frames, frame: FrameType | None, tensors: set[int]) -> bool:
    """Whether two such modules share one of some tensors, told by their ids."""
    modules = {id(one): one for one in reached(frames, frame)}
    holding = {key: {id(p) for p in one.parameters()} & tensors for key, one in modules.items()}
    inside = {key: set(map(id, one.modules())) for key, one in modules.items()}
    pairs = itertools.combinations((key for key, held in holding.items() if held), 2)
    return any(holding[a] & holding[b] and a not in inside[b] and b not in inside[a] for a, b in pairs)


def reached(frames: Frames, frame: FrameType | None) -> Iterator[torch.nn.Module]:
    """The modules that variables of the user's frames hold, or attributes of objects that these hold."""
    for one in frames.running(frame):
        for value in {**one.f_globals, **frames.variables(one)}.values():
            if isinstance(value, torch.nn.Module):
                yield value
            elif frames.is_users(value):
                yield from (held for held in vars(value).values() if isinstance(held, torch.nn.Module))
