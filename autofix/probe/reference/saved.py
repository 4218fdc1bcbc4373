"""Runs a script as if autograd's bookkeeping were free, so that nothing freed or overwritten fails.

Every backward keeps its graph, and a saved tensor is cloned just before its storage is written. The clones are found by
storage: torch's own `allow_mutation_on_saved_tensors` looks tensors up by data pointer and version, and so misses a
write through a view at another offset.
"""

from __future__ import annotations

import resource
import threading
import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import _get_current_dispatch_mode

from .. import OURS
from ..engine import transforms
from ..engine.operators import Dispatch, Known, storage_key, tensors_at, written_arguments
from ..engine.taps import Call, Listener
from ..instruments.uses import Uses

_SWEEP = 4096
_DEAR = 1 << 18
"""Bytes of a saved tensor, on average, from which on to copy each costs more than to watch for writes."""
_MUCH = 1 << 30
"""Bytes by which a run may grow while it copies."""


class _Saved:
    """A saved tensor: an alias of the original until somebody writes to its storage, a copy afterwards.

    Torch keeps a leaf itself. One that is given other memory, by `u.data = ...`, is by torch's account not written: its
    backward uses what it then holds. So it does here where the leaf is not trained, as the vectors of a spectral norm.
    """

    __slots__ = ("__weakref__", "_leaf", "_memory", "_version", "tensor")

    def __init__(self, tensor: torch.Tensor, leaf: torch.Tensor | None = None) -> None:
        self.tensor = tensor
        self._leaf = None
        if leaf is not None and not leaf.requires_grad and storage_key(leaf) is not None:
            self._leaf, self._memory, self._version = weakref.ref(leaf), leaf.untyped_storage(), leaf._version

    def value(self) -> torch.Tensor:
        """What the backward uses."""
        leaf = self._leaf() if self._leaf is not None else None
        if leaf is None or leaf._version != self._version or storage_key(leaf) == self._memory._cdata:
            return self.tensor
        return leaf.detach()


class MutationSafe(Dispatch, Listener):
    """Keeps what saved tensors were, whoever writes to their storage.

    `at_once`: each is copied when it is saved. Then nobody need watch for writes, which makes every operation several
    times as dear as small ones are; an environment's steps without gradients cost what they cost. Where the copies come
    to cost more than that, tensors are cloned only before a write from the next step or backward on.
    """

    def __init__(self, wrote: Callable[[int], None], uses: Uses, *, at_once: bool) -> None:
        super().__init__()
        self._wrote, self._uses, self._at_once = wrote, uses, at_once
        self._entered = self._stepped = False
        self.missed = False
        """Whether it could not watch when it ought to."""
        self._copied = 0
        self._held = _peak()
        self._thread = threading.get_ident()
        self._saved: dict[int, list[weakref.ref[_Saved]]] = {}
        self._written = Known(written_arguments)
        self._packs = 0
        self._hooks = torch.autograd.graph.saved_tensors_hooks(self._pack, self._unpack)
        self.before_copy: Callable[[torch.Tensor], None] | None = None
        """Who moves parameters where they are used: torch saves them before it tells a mode of the operation."""

    def __enter__(self) -> Any:
        transforms.allow_hooks()
        self._hooks.__enter__()
        self._entered = True
        return self if self._at_once else super().__enter__()

    def __exit__(self, *error: object) -> None:
        if not self._at_once:
            super().__exit__(*error)
        self._hooks.__exit__(*error)

    def optimizer_grew(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self._turn()

    def backward_done(self, call: Call) -> None:
        self.missed |= self._at_once and call.index > 0 and not self._stepped  # its steps may be made by hand
        self._turn()

    def step_done(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self._stepped = True
        self._turn()

    def _turn(self) -> None:
        """Watch operations from here on, where copies have become dear, or somebody asks what reads and computes.

        Not where the script has a mode of its own.
        """
        if not (self._at_once and self._entered):
            return
        if self._copied <= _DEAR * self._packs and _peak() - self._held <= _MUCH and not self._uses.follows:
            return
        mode = _get_current_dispatch_mode()
        if threading.get_ident() == self._thread and (mode is None or type(mode).__module__.startswith(OURS)):
            self._at_once = False
            super().__enter__()
        else:
            self.missed = True

    def _pack(self, tensor: torch.Tensor) -> _Saved:
        if transforms.wrapped(tensor):  # a write goes to the tensor that it stands for: too late to copy this one
            return _Saved(transforms.copied(tensor))
        if self._at_once:
            self._packs += 1
            self._copied += tensor.element_size() * tensor.numel()  # nbytes refuses what is sparse
            if self.before_copy is not None:
                self.before_copy(tensor)
            with torch._C._DisableTorchDispatch():
                return _Saved(tensor.detach().clone(), tensor)
        with torch._C._DisableTorchDispatch():
            handle = _Saved(tensor.detach(), tensor)
        key = storage_key(tensor)
        if key is not None:
            self._saved.setdefault(key, []).append(weakref.ref(handle))
            self._packs += 1
            if self._packs % _SWEEP == 0:
                self._sweep()
        return handle

    @staticmethod
    def _unpack(handle: _Saved) -> torch.Tensor:
        return handle.value()

    def _sweep(self) -> None:
        alive = {key: [ref for ref in refs if ref() is not None] for key, refs in self._saved.items()}
        self._saved = {key: refs for key, refs in alive.items() if refs}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        places = self._written.of(func)
        if places:
            for tensor in tensors_at(places, args, kwargs or {}):
                self.spare(tensor)
        result = func(*args, **(kwargs or {}))
        self._uses.watch(func, args, kwargs or {}, result)
        return result

    def spare(self, tensor: torch.Tensor) -> None:
        """Copy what was saved of a tensor that is about to be written."""
        key = storage_key(tensor)
        if key is None:
            return
        self._wrote(key)
        refs = self._saved.pop(key, None)
        for ref in refs or ():
            handle = ref()
            if handle is not None:
                handle.tensor = handle.tensor.clone()


def _peak() -> int:
    """The most memory, in bytes, that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


class KeepGraphs(Listener):
    """Makes every backward keep its graph."""

    inner = True

    def backward(self, call: Call) -> None:
        call.keep = True
