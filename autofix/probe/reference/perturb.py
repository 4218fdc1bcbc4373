"""Perturbed starts: each parameter begins a little beside where the script puts it, by an amount that repeats."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import math
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import torch
from torch.nn.parameter import is_lazy

from ..engine.aliased import data
from ..engine.operators import Dispatch, Known, entries, storage_key, written_arguments
from ..engine.quiet import quiet
from ..engine.refused import is_setting, may_write, tensors
from ..engine.remembered import Remembered
from ..engine.taps import Call, Listener, parameters
from ..engine.transforms import outside
from ..wire import Fact
from .making import Making, Order, leave

SCALE = 0.02
"""Perturbation, relative to a parameter's mean magnitude (absolute where that is zero)."""
_FAR, _LOOKED_AT = 1000.0, 4096
"""What makes the mean so many times what a quarter of these numbers stays below is no weight: a mask is filled in."""
_FARTHER = 1.001
_CAST = torch.ops.aten._to_copy.default
"""Before there is an optimizer, what is cast to another type may be a step on the way to what is trained."""
_DRAWN = 1_000_003
"""Numbers of noise that are drawn for one parameter, at most."""
_PIECE = 1 << 18


class Perturb(Listener):
    """Perturbs each parameter where it is first used, and again if the script writes it before it is trained.

    That is until it gets a gradient. What no optimizer owns, such as a target network, is trained by writes: until a
    step is made. Each such write would move it anew otherwise, and far, where rounding alone makes it another.

    The perturbation makes gradients visible that a zero-initialised layer would hide. It follows from what the
    parameter holds where it is used, not from how it came to hold that, nor from when an optimizer was given it. Two
    that hold the same, as a network and its copy, are told apart by which was made first: which is used first is no
    matter.
    """

    def __init__(self, *, farther: bool = False, early: int = 0, elsewhere: Collection[int] = ()) -> None:
        """`early`: so many optimizers will be made, and may be given what a graph uses before that.

        `elsewhere`: what starts elsewhere than in other runs, each by its `seed` in them.
        """
        self._elsewhere = elsewhere
        self._scale = SCALE * (_FARTHER if farther else 1.0)
        self._early = early
        self._known: dict[int, torch.Tensor] = {}
        self._starting: dict[int, torch.Tensor] = {}
        self._seeds: dict[int, int] = {}
        self._order = Order()
        self._held = Remembered[tuple[float, float]]()
        """What parameters held before they were moved."""
        self._left: dict[int, tuple[float, float]] = {}
        self._sure: dict[int, int] = {}
        """The storages of parameters that were looked at, until an op is seen to write anything."""
        self._all_sure = False
        self._storages: dict[int | None, torch.Tensor] = {}
        self._given: dict[int | None, torch.Tensor] = {}
        """Of these, what is not trained: a script may give it other memory in each forward, and no op tells of that."""
        self._checked: set[int] = set()
        self._of_modules: set[int] = set()
        self._of_optimizers: set[int] = set()
        self.standing: Collection[int] = ()
        """Those that stand for results, where a reference has such."""
        self._uses, self._writes = Known(_uses), Known(written_arguments)
        self._mode: Starting | None = None
        self._unwatched = False
        """Whether only modules tell any more of what is used: of later leaves, some runs would hear, and some not."""
        self.intact = True
        """Whether each parameter of an optimizer met its first step as it was perturbed: no write was overlooked."""
        modules = torch.nn.modules.module
        self._hooks = (
            modules.register_module_parameter_registration_hook(self._register),
            modules.register_module_forward_pre_hook(self._called),
        )

    def told(self) -> dict[str, Any]:
        """Whether no write was overlooked."""
        return {"intact": self.intact}

    def seed(self, parameter: torch.Tensor) -> int | None:
        """By what a parameter that was perturbed is known in other runs."""
        return self._seeds.get(id(parameter))

    def take_over(self, other: Perturb) -> None:
        """Go on from what another has moved, and knows."""
        for name in ("_known", "_starting", "_seeds", "_order", "_held", "_left", "_of_modules", "_of_optimizers"):
            setattr(self, name, getattr(other, name))
        self._changed()

    def retire(self) -> None:
        """Hear of modules no more."""
        for hook in self._hooks:
            hook.remove()

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Watch calls until the first step of what no module has: it may be used without one."""
        self._mode = Starting(self)
        self._mode.__enter__()
        try:
            yield
        finally:
            self._unwatch()

    @property
    def _hears_all(self) -> bool:
        """Whether a mode tells of each op that may write."""
        return self._mode is not None

    def _unwatch(self) -> None:
        self._unwatched = self._unwatched or self._mode is not None
        if self._mode is not None and leave(self._mode):
            self._mode = None

    # Which ones, and where they are used ----------------------------------------------------------------------------

    def _register(self, _module: torch.nn.Module, _name: str, parameter: torch.Tensor | None) -> None:
        if parameter is not None and parameter.requires_grad:
            self._of_modules.add(id(parameter))
            self.meet(parameter, "registered")

    def optimizer_grew(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        if index + 1 >= self._early:
            self._owned()
        for parameter in parameters(optimizer):
            self._of_optimizers.add(id(parameter))
            self.meet(parameter)

    def _owned(self) -> None:
        """All optimizers are there, or a gradient: what a graph uses from now on is a parameter by its owner alone."""
        self._early = 0

    def made(self, made: Any) -> None:
        """Hear what a call made, or turned into a leaf: such a leaf may be used before its owner is made."""
        if self._early and isinstance(made, torch.Tensor):
            with torch._C.DisableTorchFunction():
                if self._is_early(made):
                    self._order.add(made, "made")

    def meet(self, parameter: torch.Tensor, how: str = "met") -> None:
        """Know a parameter, which has not started yet. One made of another's memory takes its place."""
        if id(parameter) in self._known:
            return
        with torch._C.DisableTorchFunction():  # or each question to each of them would be heard as a call of the script
            if not parameter.is_floating_point():
                return
            mine = _memory(parameter)
            for other in [one for one in self._known.values() if mine is not None and _memory(one) == mine]:
                self._replace(other, parameter)
            self._order.add(parameter, how)
        self._known[id(parameter)] = self._starting[id(parameter)] = parameter
        self._changed()

    def _replace(self, other: torch.Tensor, parameter: torch.Tensor) -> None:
        """Know of a parameter what was known of another, which may be gone now: its number may be the next one's."""
        self._order.inherit(parameter, other)
        if (held := self._held.of(other)) is not None:
            self._held.keep(parameter, held)
        self._of_modules.discard(id(other))
        for known in (self._known, self._starting, self._sure):
            known.pop(id(other), None)
        for known in self._tables():
            if id(other) in known:
                known[id(parameter)] = known.pop(id(other))

    def _tables(self) -> tuple[dict[int, Any], ...]:
        """What is known of parameters that have started, by their numbers."""
        return self._seeds, self._left

    def _meet_early(self, used: Iterable[torch.Tensor]) -> None:
        """Know leaves that a graph uses before any optimizer is made, such as those of a value made once.

        What a backward gives its own ops looks like leaves, and is what the forward saved.
        """
        if torch._C._current_graph_task_id() < 0:
            for tensor in filter(self._is_early, used):
                self._early_leaf(tensor)

    def _is_early(self, tensor: torch.Tensor) -> bool:
        try:
            return tensor.requires_grad and tensor.is_leaf and id(tensor) not in self._known
        except RuntimeError:  # a view made without gradient, whose base was written since: torch refuses to say
            return False

    def _early_leaf(self, leaf: torch.Tensor) -> None:
        self.meet(leaf)

    def _called(self, module: torch.nn.Module, _inputs: object) -> None:
        if self._starting and module._parameters:
            with torch._C.DisableTorchFunction():  # or each question to each of them would be heard as a call
                self._use(module._parameters.values())

    def concerns(self, func: Any, args: Any, kwargs: Any) -> bool:
        """Whether a call may use what has not started, or write what has: its ops are to be watched then."""
        if self._unwatched or not (self._starting or self._early):
            return False
        if self._early:
            with torch._C.DisableTorchFunction():
                if any(map(self._is_early, tensors((args, kwargs)))):
                    return True
        writes = may_write(func) or "out" in kwargs
        if self._all_sure and not writes:
            return False
        with torch._C.DisableTorchFunction():
            storages = self._by_storage()
            for tensor in tensors((args, kwargs) if kwargs else args):
                key = storage_key(tensor)
                if key is None or (key in storages and (writes or id(storages[key]) not in self._sure)):
                    return True
        return False

    def watch(self, func: Any, args: Any) -> None:
        """Hear of one op: what reads a parameter's values uses it, whether or not a graph is recorded.

        A write or a view may still be part of initialising.
        """
        if self._early and self._uses.of(func) and func is not _CAST:
            self._meet_early(tensors(args))
        if not self._starting or self._unwatched:
            return
        if self._uses.of(func):
            self._use(self._used_of(self._by_storage(), args))
        elif self._sure and self._writes.of(func):
            self.forget()

    def forget(self) -> None:
        """Look again at what parameters hold, and where."""
        self._sure.clear()
        self._changed()

    def saved(self, tensor: torch.Tensor) -> None:
        """Hear of a tensor that an operation is about to use and saves for its backward."""
        if self._early:
            self._meet_early([tensor])
        if self._starting and not (self._unwatched or (self._all_sure and self._hears_all)):
            self._use([self._by_storage().get(storage_key(tensor))])

    def begin(self, parameter: torch.Tensor) -> None:
        """A parameter is about to be written as part of the forward: an edit that makes a new tensor uses it so.

        What an optimizer owns may be written so until it is trained.
        """
        with torch._C.DisableTorchFunction():
            if self._of_optimizers and id(parameter) not in self._of_optimizers:
                self._use([parameter])
                self._settle([id(parameter)] if id(parameter) in self._starting else [])

    def _by_storage(self) -> dict[int | None, torch.Tensor]:
        if self._given and any(storage_key(one) != key for key, one in self._given.items()):
            self._storages.clear()
        if not self._storages:
            self._storages = {storage_key(p): p for p in self._starting.values() if _has_values(p)}
            self._given = {key: one for key, one in self._storages.items() if not one.requires_grad}
        return self._storages

    @staticmethod
    def _used_of(storages: dict[int | None, torch.Tensor], args: Any) -> list[torch.Tensor]:
        """Which parameters an op uses, of those with these storages."""
        return [storages[key] for tensor in tensors(args) if (key := storage_key(tensor)) in storages]

    def _use(self, used: Iterable[torch.Tensor | None]) -> None:
        for parameter in list(used):
            if parameter is None or id(parameter) not in self._starting:
                continue
            # From a mode that hears of each op, numpy alone can hide a write; `intact` tells of one.
            sure = self._sure.get(id(parameter)) if self._hears_all else None
            if (sure is not None and storage_key(parameter) == sure) or not _has_values(parameter):
                continue
            written = self._of_optimizers and id(parameter) not in self._of_optimizers and _is_part(parameter)
            if written or id(parameter) in self.standing:
                continue  # its values are computed, and are no start
            with quiet():
                if id(parameter) not in self._left or self._left[id(parameter)] != _content(parameter):
                    self._perturb(parameter)
            if self._hears_all and (place := storage_key(parameter)) is not None:
                self._sure[id(parameter)] = place
                self._all_sure = self._starting.keys() <= self._sure.keys()

    def _perturb(self, parameter: torch.Tensor, moved: int = 0) -> None:
        with quiet(), outside():
            total, size = _content(parameter)
            if id(parameter) not in self._seeds or not moved:
                twins = sum(self._holds(one, parameter, (total, size)) for one in self._order.earlier(parameter))
                text = f"{tuple(parameter.shape)}{total:.3e}{size:.3e}#{twins + 1}"
                self._held.keep(parameter, (total, size))
                self._seeds[id(parameter)] = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=6).digest())
            moved = moved or int(self._seeds[id(parameter)] in self._elsewhere)
            mean = _magnitude(parameter, size)
            if math.isfinite(mean):  # memory that was not initialised yet may hold anything
                generator = torch.Generator().manual_seed(self._seeds[id(parameter)] + 7_919 * moved)
                _add_noise(entries(data(parameter)), generator, self._scale * mean)
            self._left[id(parameter)] = _content(parameter)
        self._storages.clear()

    def _holds(self, other: torch.Tensor, parameter: torch.Tensor, content: tuple[float, float]) -> bool:
        """Whether another began with what a parameter holds, or will, as the network of which it is a copy."""
        if (held := self._held.of(other)) is not None:
            return held == content
        return _has_values(other) and _first(other) == _first(parameter) and _content(other) == content

    def _changed(self) -> None:
        """Others have yet to start than before."""
        self._storages.clear()
        self._all_sure = False

    # Until they are trained -----------------------------------------------------------------------------------------

    def backward_done(self, call: Call) -> None:
        """What has a gradient is trained: a later write is an update, not an initialisation.

        A reference cuts a graph by zeros, which reach also what gets nothing where an edit cuts it.
        """
        self._owned()
        asked = {id(tensor) for tensor in call.inputs}
        with quiet():
            self._settle([key for key, one in self._starting.items() if key in asked or self._is_trained(one)])

    def _is_trained(self, parameter: torch.Tensor) -> bool:
        gradient = parameter.grad
        if gradient is None or gradient.layout is not torch.strided:
            return gradient is not None
        return id(parameter) in self._of_optimizers or bool(gradient.count_nonzero())

    def step(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        if self._starting:  # what was used, and no optimizer owns, is written as a part of training from now on
            self._settle([*self._starting.keys() & self._left.keys() - self._of_optimizers])
        if index in self._checked:
            return
        self._checked.add(index)
        mine = parameters(optimizer)
        with quiet():
            # What was never perturbed (no floating point, or used before anybody owned it) has nothing to compare with.
            self.intact = self.intact and all(
                p.grad is None or (id(p) in self._left and self._left[id(p)] == _content(p)) for p in mine
            )
        self._settle([id(p) for p in mine])
        if self._of_modules >= self._starting.keys():  # a module tells when its own are used
            self._unwatch()

    def _settle(self, keys: list[int]) -> None:
        for key in keys:
            self._starting.pop(key, None)
        self._storages.clear()
        self._all_sure = self._starting.keys() <= self._sure.keys()


class Stirred(Listener):
    """Tells which parameters started somewhere and never had a gradient; on request, adds noise to them at each step.

    What is used once, before all steps, shows only in a run in which it starts elsewhere.
    """

    def __init__(self, perturb: Perturb, *, moves: bool) -> None:
        self._perturb, self._moves = perturb, moves
        self._generator = torch.Generator().manual_seed(0)
        self._known: dict[int, torch.Tensor] = {}
        self._taught: set[int] = set()
        self._idle: list[torch.Tensor] = []

    def told(self) -> dict[str, Any]:
        """By what they are known to a run in which they start elsewhere."""
        seeds = (self._perturb.seed(one) for key, one in self._known.items() if key not in self._taught)
        return {"facts": tuple(Fact("starts-idle", str(seed)) for seed in seeds if seed is not None)}

    def step(self, _index: int, optimizer: torch.optim.Optimizer) -> None:
        mine = parameters(optimizer)
        self._known |= {id(one): one for one in mine}
        self._taught.update(id(one) for one in mine if one.grad is not None)
        self._idle = [one for one in mine if one.grad is None and one.is_floating_point()]

    def step_done(self, _index: int, _optimizer: torch.optim.Optimizer) -> None:
        if not self._moves:
            return
        with quiet(), outside():
            for one in self._idle:
                values = data(one)
                _add_noise(entries(values), self._generator, SCALE * _magnitude(values, _content(values)[1]))


class Resting(Listener):
    """Undoes what steps make of some parameters: what is made of these anew is then what it was before."""

    def __init__(self, about: Collection[tuple[int, int]]) -> None:
        """`about`: each an optimizer and its place there."""
        self._about = about
        self._before: dict[int, list[tuple[torch.Tensor, torch.Tensor]]] = {}

    def step(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        if index not in self._before:
            mine = (one for place, one in enumerate(parameters(optimizer)) if (index, place) in self._about)
            with quiet():
                self._before[index] = [(one, one.detach().clone()) for one in mine]

    def step_done(self, index: int, _optimizer: torch.optim.Optimizer) -> None:
        with quiet(), outside():
            for one, old in self._before.pop(index, ()):
                data(one).copy_(old)


class Starting(Making):
    """Tells of ops until parameters have started: of those of calls that concern them.

    To hear of every op would make each three times as dear. Of a learner a hundred thousand come before its first step.
    """

    def __init__(self, perturb: Perturb) -> None:
        super().__init__(perturb.made)
        self._perturb = perturb
        self._ops = _Ops(perturb)

    def _call(self, func: Any, args: Any, kwargs: Any) -> Any:
        if not self._perturb.concerns(func, args, kwargs):
            return func(*args, **kwargs)
        with self._ops:
            result = func(*args, **kwargs)
        if is_setting(func):  # no op tells of other memory
            self._perturb.forget()
        return result


class _Ops(Dispatch):
    """Tells of every op."""

    def __init__(self, perturb: Perturb) -> None:
        super().__init__()
        self._perturb = perturb

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self._perturb.watch(func, args)
        return func(*args, **kwargs) if kwargs else func(*args)


@functools.cache
def _uses(func: Any) -> bool:
    """Whether an operator reads its arguments for their values, and neither writes them nor gives a view of them."""
    return not written_arguments(func) and all(result.alias_info is None for result in func._schema.returns)


def _memory(tensor: torch.Tensor) -> tuple[int, int] | None:
    """Where a tensor lies, and how much of it there is; None where that is not known."""
    if is_lazy(tensor) or tensor.layout is not torch.strided:
        return None
    return (place, tensor.numel()) if (place := tensor.data_ptr()) and tensor.numel() else None


def _first(parameter: torch.Tensor) -> float | None:
    """Its first value, which tells most apart at once."""
    values = data(parameter)
    return values[(0,) * values.ndim].item() if values.numel() and values.layout is torch.strided else None


def _is_part(parameter: torch.Tensor) -> bool:
    """Whether a parameter's values are part of a larger tensor's, as `vector_to_parameters` leaves them."""
    return storage_key(parameter) is not None and parameter.untyped_storage().nbytes() > parameter.nbytes


def _has_values(parameter: torch.Tensor) -> bool:
    """Whether a parameter has values already: a lazy one gets a shape later, and one on `meta` is a shape alone."""
    return not is_lazy(parameter) and not parameter.is_meta


def _content(tensor: torch.Tensor) -> tuple[float, float]:
    """What tells the values of a tensor from others: their sum, and that of their magnitudes.

    Of a large one piece by piece, so that each comes from memory once.
    """
    plain = entries(tensor.detach())
    wide = torch.promote_types(plain.dtype, torch.float32)
    if plain.numel() <= _PIECE or not plain.is_contiguous():
        return float(plain.sum(dtype=wide)), float(torch.linalg.vector_norm(plain, 1, dtype=wide))
    total = size = 0.0
    for piece in plain.view(-1).split(_PIECE):
        total, size = total + float(piece.sum(dtype=wide)), size + float(piece.abs().sum(dtype=wide))
    return total, size


def _magnitude(tensor: torch.Tensor, size: float) -> float:
    """How large the numbers of a tensor are whose magnitudes have this sum."""
    plain = entries(tensor.detach())
    mean = size / max(1, plain.numel()) or 1.0
    some = plain.reshape(-1)[:: plain.numel() // _LOOKED_AT + 1].abs()
    some = some[some > 0].sort().values
    least = float(some[len(some) // 4]) if len(some) else mean
    return least if mean > _FAR * least else mean


def _add_noise(tensor: torch.Tensor, generator: torch.Generator, scale: float) -> None:
    """Add noise of this standard deviation. A large tensor gets the same again and again, each time weighted anew.

    To draw it takes longer than all else. How many numbers are drawn is a prime: no two rows of a matrix get the same.
    """
    noise = torch.randn(min(tensor.numel(), _DRAWN), generator=generator).to(tensor)
    flat = tensor.reshape(-1)
    pieces = flat.split(_DRAWN)
    weights = torch.rand(len(pieces), generator=generator).sub_(0.5).tolist()
    for number, (piece, weight) in enumerate(zip(pieces, weights, strict=True)):
        factor = weight + math.copysign(1.0, weight) if number else 1.0
        piece.add_(noise[: piece.numel()], alpha=scale * factor)
    if flat.data_ptr() != tensor.data_ptr():  # a copy, for its numbers do not lie in a row
        tensor.copy_(flat.view(tensor.shape))
