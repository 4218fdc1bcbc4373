"""What makes runs of several kinds differ: where a run's own instruments would begin to act, its beginning ends."""

from __future__ import annotations

import gc
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from ..child import Run
from ..engine import graph
from ..engine.operators import storage_key
from ..engine.quiet import quiet
from ..engine.refused import name_of
from ..engine.taps import Call, parameters
from ..reference.perturb import Perturb
from ..reference.replaced import REPLACED
from .exchange import Differs

_ALONE = 2
"""How often a storage is held that belongs to one tensor: by the tensor, and by who asks."""


class Watch(Perturb):
    """Moves parameters where they are first used, as most runs do, and sees where runs of several kinds differ."""

    def __init__(self, over: Callable[[], None]) -> None:
        super().__init__(early=1)
        self._over = over
        self._optimizers: list[torch.optim.Optimizer] = []
        self._made: list[tuple[str, int]] = []
        """The optimizers that were made and that grew, in order."""
        self._nodes = graph.now()
        self.moved = False
        """Whether only runs that move parameters, too, would have come here."""

    def _perturb(self, parameter: torch.Tensor, moved: int = 0) -> None:
        self.moved = True
        super()._perturb(parameter, moved)

    def _early_leaf(self, _leaf: torch.Tensor) -> None:
        """Nobody knows yet whether the script makes an optimizer at all."""
        self._over()

    def holds_graph(self) -> bool:
        """Whether something is there that has a graph: a run of its own would have watched how that was made."""
        if (now := graph.now()) == self._nodes:
            return False
        with quiet():
            if any(issubclass(type(one), torch.Tensor) and not graph.is_leaf(one) for one in gc.get_objects()):
                return True
        self._nodes, self.moved = now, True
        return False

    def shares(self) -> bool:
        """Whether something else lies in the storage of a parameter now that an optimizer has: there since when?"""
        return any(map(_shared, self._optimizers))

    def optimizer_made(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self._note("made", index, optimizer)

    def optimizer_grew(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self._note("grew", index, optimizer)

    def _note(self, what: str, index: int, optimizer: torch.optim.Optimizer) -> None:
        if _shared(optimizer):
            self._over()
        self._optimizers.append(optimizer)
        self._made.append((what, index))
        for parameter in parameters(optimizer):
            self.meet(parameter)

    def replay(self, run: Run) -> None:
        """Tell a run's instruments what they would have heard."""
        if run.perturb is not None:
            run.perturb.take_over(self)
        for what, index in self._made:
            optimizer = run.taps.optimizers[index]
            for listener in run.taps.listeners:
                (listener.optimizer_made if what == "made" else listener.optimizer_grew)(index, optimizer)

    def backward(self, call: Call) -> None:
        self._over()

    def step(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self._over()


def _shared(optimizer: torch.optim.Optimizer) -> bool:
    keys = [storage_key(p) for p in parameters(optimizer)]
    return any(key is None or torch._C._storage_Use_Count(key) > _ALONE for key in keys)


class Errors(TorchFunctionMode):
    """Sees a call that torch refuses: a reference may perform it."""

    def __init__(self, over: Callable[[], None]) -> None:
        super().__init__()
        self._over = over

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        try:
            return func(*args, **(kwargs or {}))
        except RuntimeError:
            self._over()
            raise


class Replaceable:
    """Who holds the functions of torch that a reference replaces: what was imported by name would keep the old ones."""

    def __init__(self) -> None:
        name_of(torch.add)  # where it is first asked for a name, torch lists all its functions
        self._had = [getattr(owner, name) for owner, name in REPLACED]
        self._lists = {id(one) for had in self._had for one in gc.get_referrers(had) if isinstance(one, list)}
        """Torch's own lists of them."""
        self._holders: list[tuple[dict[Any, Any], int]] = []

    def find(self) -> None:
        """Look for those who took one from torch since then; raises Differs where they cannot be given another."""
        if any(getattr(owner, name) is not had for (owner, name), had in zip(REPLACED, self._had, strict=True)):
            raise Differs("the script has replaced functions of torch itself")
        for place in range(len(self._had)):  # pairs made by `enumerate` would be holders, too
            had = self._had[place]
            for holder in gc.get_referrers(had):
                if holder is self._had or id(holder) in self._lists or isinstance(holder, FrameType):
                    continue
                if not isinstance(holder, dict):
                    raise Differs(f"{had.__name__} is held by a {type(holder).__name__}")
                self._holders.append((holder, place))

    def replace(self) -> None:
        """Give them what is now in torch."""
        for holder, place in self._holders:
            owner, name = REPLACED[place]
            had = self._had[place]
            holder.update({key: getattr(owner, name) for key, value in holder.items() if value is had})
