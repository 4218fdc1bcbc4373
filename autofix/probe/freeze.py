"""Frozen runs: from a perturbed start each step is put back, and random draws repeat with their inputs."""

from __future__ import annotations

import functools
import hashlib
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from .perturb import Perturb
from .quiet import quiet
from .reference import Known, storage_key, tensors_at, written_arguments
from .taps import parameters

if TYPE_CHECKING:
    from .frames import Frames


class Freeze(Perturb):
    """Undoes each step, and drifts: moves all parameters after each round.

    Undoing steps makes an edit that only recomputes after an update equal to the original. Without the drift nothing
    would ever depart from its first value, and a term that pulls towards an old copy, or a copy that is no longer kept
    up, would be invisible. A round ends when every optimizer has stepped once more, in any order.
    """

    def __init__(self, *, drift: bool) -> None:
        super().__init__()
        self._drift = drift
        self._counts: list[int] = []
        self._round = 0
        self._pointers: dict[int, int] = {}
        self._dirty: set[int | None] = set()
        self._before: dict[int, list[torch.Tensor]] = {}
        self._written = Known(written_arguments)

    def optimizer_made(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self._counts.append(0)
        super().optimizer_made(index, optimizer)

    def _perturb(self, parameter: torch.Tensor, moved: int = 0) -> None:
        super()._perturb(parameter, moved)
        self._pointers[id(parameter)] = parameter.data_ptr()
        self._dirty.discard(storage_key(parameter))

    def watch(self, func: Any, args: Any, kwargs: Any) -> None:
        """Perturb also parameters used without a module, or written through an alias that shares no version counter."""
        if not self._starting:
            return
        places = self._written.of(func)
        if places:
            self._dirty.update(storage_key(tensor) for tensor in tensors_at(places, args, kwargs))
        elif torch.is_grad_enabled() and not _makes_view(func):  # else it may still be initialising
            for tensor in args:
                key = id(tensor)
                if key in self._starting and (
                    storage_key(tensor) in self._dirty or self._pointers.get(key) != tensor.data_ptr()
                ):
                    self._perturb(tensor)

    def step(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        super().step(index, optimizer)
        if index not in self._before:
            with quiet():
                self._before[index] = [p.detach().clone() for p in parameters(optimizer)]

    def step_done(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        with quiet():
            for parameter, old in zip(parameters(optimizer), self._before.pop(index, []), strict=False):
                parameter.data.copy_(old)
        self._counts[index] += 1
        if self._drift and min(self._counts) > self._round:
            self._round += 1
            for parameter, _ in self._known.values():
                self._perturb(parameter, self._round)


@functools.cache
def _makes_view(func: Any) -> bool:
    """Whether an operator gives views of its arguments, which may be there only to be written to."""
    return any(result.alias_info is not None for result in func._schema.returns)


class KeyedRandom(TorchDispatchMode):
    """Seeds each random draw by its call site and how often that site drew, or, in dropout, by the input it drops.

    Without this an edit that runs a forward twice would move every later draw, and would look like a change.
    """

    _SEEDED = torch.Tag.nondeterministic_seeded

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Not to be wrapped against compilation: nothing is compiled here, and the wrapper costs at each op."""
        return False

    def __init__(self, frames: Frames, freeze: Freeze) -> None:
        super().__init__()
        self._frames = frames
        self._freeze = freeze
        self._drawn: dict[str, int] = {}
        self._seeded = Known(lambda func: self._SEEDED in func.tags)
        self._content: str = ""
        self.used = False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self._freeze.watch(func, args, kwargs or {})
        if self._seeded.of(func):
            self.used = True
            if not (kwargs or {}).get("generator"):
                torch.default_generator.manual_seed(self._key(func))
        return func(*args, **(kwargs or {}))

    def _key(self, func: Any) -> int:
        if self._content:
            text = self._content
        else:
            site = self._frames.site(self._frames.here())
            self._drawn[site] = self._drawn.get(site, 0) + 1
            text = f"{site}#{self._drawn[site]}"
        return int.from_bytes(hashlib.blake2b(f"{func}{text}".encode(), digest_size=7).digest())

    def patch_dropout(self) -> None:
        """Give every functional dropout the key of its input's content."""
        functional = torch.nn.functional
        for name in ("dropout", "alpha_dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout"):
            setattr(functional, name, self._keyed(getattr(functional, name)))

    def _keyed(self, function: Any) -> Any:
        def dropout(input: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:  # noqa: A002  as torch names it
            with quiet():
                flat = input.detach().double()
                # Rounded: the same input computed twice may differ in the last bits.
                self._content = f"{tuple(input.shape)}{float(flat.sum()):.4e}{float(flat.norm()):.4e}"
            try:
                return function(input, *args, **kwargs)
            finally:
                self._content = ""

        return dropout
