"""Flags that are switched off on what a module computes: behind a hook, a parametrization, or a property of its class.

As an update the flag is that of the tensor, which is cut. As an operation it is that of the leaves behind it, which are
frozen, and the tensor keeps its graph. Where the module binds another tensor to that name later, and no backward has
gone through this one, the flag of the tensor comes to nothing.
"""

from __future__ import annotations

import dis
from dataclasses import dataclass
from types import FrameType
from typing import Any

import torch
from torch.nn.utils import parametrize

from .. import wire
from ..engine import caller, graph
from ..engine.names import Names
from ..engine.quiet import quiet
from ..engine.taps import Call, Listener, Taps, parameters
from ..program.frames import Frames, Raw
from .shared import reached

_STORES = {"STORE_ATTR", "STORE_SUBSCR", "STORE_GLOBAL"}
"""What code does, as `dis` calls it, that keeps a value beyond its call."""


@dataclass(slots=True)
class _Flag:
    raw: Raw
    module: torch.nn.Module
    name: str
    tensor: torch.Tensor
    used: bool = False

    @property
    def comes_to_nothing(self) -> bool:
        """Whether the module has computed it anew, and nothing that is trained was made of it."""
        return not self.used and vars(self.module).get(self.name) is not self.tensor


class Flagged(Listener):
    """Switches off what is behind such a tensor, and sees whether the tensor itself is used."""

    def __init__(self, frames: Frames, names: Names, taps: Taps, *, operation: bool) -> None:
        self._frames, self._names, self._taps, self._operation = frames, names, taps, operation
        self._flags: list[_Flag] = []

    def switched_off(self, target: torch.Tensor) -> bool:
        """Whether all leaves behind a tensor are frozen in its place: as an operation, where a module computes it."""
        frame = caller.frame()
        held = computed(self._frames, frame, target) if frame is not None else None
        if held is None:
            return False
        module, name, behind = held
        self._flags.append(_Flag(self._frames.here(), module, name, target, used=not self._operation))
        for leaf in behind.values() if self._operation else ():
            leaf.requires_grad_(False)
        return self._operation

    def backward(self, call: Call) -> None:
        """Look whether a loss goes back through a tensor whose flag was set."""
        waiting = [flag for flag in self._flags if not flag.used]
        reached = set(graph.walk(call.roots)) if waiting else set()
        for flag in waiting:
            flag.used = graph.made_by(flag.tensor) in reached

    def told(self) -> dict[str, Any]:
        """Each flag, by whether it comes to nothing as one of the tensor, as far as it is known; what stays frozen."""
        facts = [
            self._frames.fact("flag-is-lost" if flag.comes_to_nothing else "flag-holds", flag.raw, flag.name)
            for flag in self._flags
        ]
        owned = (one for optimizer in self._taps.optimizers for one in parameters(optimizer)) if facts else ()
        frozen = [wire.Fact("stays-frozen", self._names.name(one, "")) for one in owned if not one.requires_grad]
        return {"facts": (*facts, *frozen)}


def computed(
    frames: Frames, frame: FrameType, target: torch.Tensor
) -> tuple[torch.nn.Module, str, dict[str, torch.Tensor]] | None:  # fmt: skip
    """The module in reach of a frame that computes a tensor of its parameters alone, and the names of all these."""
    leaves = {id(leaf): leaf for leaf in graph.leaves(graph.walk([target]))}
    for network in reached(frames, frame):
        for part in network.modules():
            own = {name: one for name, one in part.named_parameters() if id(one) in leaves}
            if leaves and len(own) == len(leaves):
                name = _name(part, target, own) or (_property(part, target) if frames.is_users(part) else "")
                if name:
                    return part, name, own
    return None


def _name(module: torch.nn.Module, target: torch.Tensor, own: dict[str, torch.Tensor]) -> str:
    """What a module calls a tensor: an attribute, or a property that a parametrization of its parameters computes."""
    names = [name for name, held in vars(module).items() if held is target]
    if own and parametrize.is_parametrized(module):
        names += [name for name in module.parametrizations if all(f".{name}." in one for one in own)]
    return names[0] if names else ""


def _property(module: torch.nn.Module, target: torch.Tensor) -> str:
    """The property of its class by which a module gives such a tensor, computed anew each time and kept nowhere."""
    names = [name for kind in type(module).__mro__ for name, one in vars(kind).items() if _only_computes(one)]
    with torch.random.fork_rng(devices=[]), quiet():
        return next((name for name in names if _gives(module, name, target)), "")


def _only_computes(value: object) -> bool:
    code = getattr(value.fget, "__code__", None) if isinstance(value, property) else None
    return code is not None and not any(one.opname in _STORES for one in dis.get_instructions(code))


def _gives(module: torch.nn.Module, name: str, target: torch.Tensor) -> bool:
    try:
        given = getattr(module, name)
        return isinstance(given, torch.Tensor) and given.shape == target.shape and bool(torch.equal(given, target))
    except Exception:  # of the property itself, or as the two have other types
        return False
