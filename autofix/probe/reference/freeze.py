"""Frozen runs: from a perturbed start each step is put back, and random draws repeat with their inputs."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import takewhile
from typing import Any

import torch

from .. import HERE, wire
from ..engine import graph
from ..engine.aliased import data, set_data
from ..engine.operators import Dispatch, Known, storage_key
from ..engine.plain import Plainly
from ..engine.quiet import quiet
from ..engine.refused import tensors
from ..engine.sketch import is_zero
from ..engine.taps import Call, Taps, copies, parameters
from ..engine.transforms import outside
from ..instruments.courses import Courses
from ..program.frames import Frames, Raw, outwards
from ..wire import Request
from .making import Making, leave
from .perturb import Perturb
from .switched_off import SwitchedOff

_DROPS = 100
"""Dropouts of which a run tells what they dropped."""
_DROPPING = (
    "dropout", "alpha_dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout",
    "scaled_dot_product_attention",
)  # fmt: skip
"""What drops something in `torch.nn.functional`."""
_RECURRENT = ("lstm", "gru", "rnn_tanh", "rnn_relu")
"""What drops something between layers, in torch's own functions."""
_NUMBERS, _THEN_EACH = 64, 16
"""Numbers that one place takes of tensors of which a run tells, and of how many later ones it tells of one."""
_TORCH = torch.__file__.removesuffix("__init__.py")
_TAKES = torch.ops.aten._local_scalar_dense.default, torch.ops.aten.item.default
"""What takes a number; in inference mode it is not yet made of the first."""


class Freeze(Perturb):
    """Undoes each step, and drifts: moves all parameters after each round.

    Undoing steps makes an edit that only recomputes after an update equal to the original. Without the drift nothing
    would ever depart from its first value, and a term that pulls towards an old copy, or a copy that is no longer kept
    up, would be invisible. A round ends when every optimizer has stepped once more, in any order: where some step more
    often than others, behind the steps that the reference had made then.

    Without the drift each parameter moves once, where a graph first uses it: what was kept of it before then differs.

    A step made by hand is a write to a leaf that a backward has reached, and, if there are optimizers, that one owns or
    whose gradient was asked for before an earlier step: an input that a pass makes and writes is no parameter. It is
    undone where the leaf is next used, when its value has been looked at; the first of them, between a forward
    and the first backward, then too. Without optimizers, a round ends when all of them were written once more, and a
    leaf made of another, of its shape, is that one stepped: `w = (w - rate * w.grad).detach().requires_grad_()`.
    """

    def __init__(
        self, taps: Taps, courses: Courses, leaves: Callable[[], list[torch.Tensor]], asked: Request
    ) -> None:  # fmt: skip
        super().__init__(farther=asked.farther, early=asked.early)
        self._taps = taps
        self._making: Making | None = None
        self._plainly: contextlib.AbstractContextManager[Any] = contextlib.nullcontext()
        if not (asked.sites or asked.follow or asked.reading == "operation"):  # what does otherwise than it is called
            plainly = self._plainly = Plainly(self._looks_for, self.watch, self._follows)
            taps.within = plainly.backward
        self._late = asked.late
        """The round from which on they move where a forward next uses them: what comes after a step sees none of it."""
        self._about = asked.about
        self._due: list[torch.Tensor] = []
        """The parameters that are still to move behind a round."""
        self._courses = courses
        if asked.by_hand:
            courses.by_hand, courses.aliased.moved = self._by_hand, self._given_memory
        self.undone = 0
        """How many leaves a round steps by hand, at most, without optimizers; each of these steps was undone."""
        self._leaves = leaves
        self._drift = not asked.still
        self._idle, self._ends = asked.idle, asked.rounds
        self._round = 0
        self._before: dict[int, list[torch.Tensor]] = {}
        self._spare: dict[int, list[torch.Tensor]] = {}
        self._trained: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        """Each leaf that a backward has reached, and what it is put back to."""
        self._starts: dict[int, torch.Tensor] = {}
        """What each leaf held where it was first used, until a backward reaches it."""
        self._reached: dict[int | None, dict[int, torch.Tensor]] = {}
        """The leaves that a backward has reached, of each storage by their place: data may be asked for in parts."""
        self._removed: dict[int | None, torch.Tensor] = {}
        """Those that the program gave other memory, by `.data = ...`: that is a write by hand, too."""
        self._followed: dict[int | None, tuple[torch.Tensor, torch.Tensor]] = {}
        """Without optimizers: what was made of leaves since the latest backward, each result with the leaf."""
        self._firsts: dict[int, int] = {}
        """Of each leaf that is another one stepped: which was the first of them."""
        self._written: set[int] = set()
        self._spared: Counter[int] | None = Counter() if asked.spares else None
        """How many steps of each optimizer used no gradient, or zeros."""
        self._rounds: set[int] = set()
        """The leaves that are written by hand in each round, once that is known."""
        self._asked: dict[int, int] = {}
        """How many steps had been made when the gradient of each leaf was first asked for."""
        self._resting: set[int] = set()
        """Without a drift: the parameters that have moved, and stay where they are from then on."""

    def told(self) -> dict[str, Any]:
        """The same, and how many steps a round makes by hand."""
        return {**super().told(), "undone": self.undone}

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Hear of leaves that are made, until there is an optimizer: of what uses them a mode of ops tells."""
        with self._plainly:
            if self._early:
                self._making = Making(self.made)
                self._making.__enter__()
            try:
                yield
            finally:
                self._owned()

    def _owned(self) -> None:
        super()._owned()
        if self._making is not None and leave(self._making):
            self._making = None

    @property
    def _hears_all(self) -> bool:
        return True

    def watch(self, func: Any, args: Any) -> None:
        super().watch(func, args)
        if not self._uses.of(func):
            return
        if not self._drift and self._starting and torch.is_grad_enabled():
            self._rest(self._by_storage().get(storage_key(one)) for one in tensors(args) if one.requires_grad)
        for leaf in filter(self._is_early, tensors(args)) if self._followed else ():
            self._succeed(leaf)
        if self._reached:
            removed = self._used_of(self._removed, args) if self._removed else []
            if found := [*removed, *(leaf for one in tensors(args) for leaf in self._reached_in(one))]:
                if self._due and torch.is_grad_enabled():
                    self._move_due()
                self._courses.look(found)

    def _reached_in(self, tensor: torch.Tensor) -> list[torch.Tensor]:
        """The leaves that a tensor shows, or is a part of."""
        leaves = self._reached.get(storage_key(tensor), {}).values()
        return [leaf for leaf in leaves if len(leaves) == 1 or _within(leaf, tensor) or _within(tensor, leaf)]

    def _reach(self, leaf: torch.Tensor) -> None:
        self._reached.setdefault(storage_key(leaf), {})[_start(leaf)] = leaf

    def follow(self, args: Any, result: Any) -> None:
        """Hear what an op made: of a leaf, what has its shape may be this leaf, stepped."""
        if not self._follows() or not isinstance(result, torch.Tensor):
            return
        for tensor in tensors(args):
            key = storage_key(tensor)
            leaf = next(iter(self._reached_in(tensor)), self._followed.get(key, (None, None))[1])
            if leaf is None or leaf.grad is None or leaf.shape != result.shape:
                continue  # without a gradient of its own it is data, of which a call gives the derivative
            if key != storage_key(result):
                self._followed[storage_key(result)] = result, leaf
                return

    def _follows(self) -> bool:
        return bool(self._reached) and not self._taps.optimizers

    def _succeed(self, leaf: torch.Tensor) -> None:
        """Take a leaf for the one that it was made of, stepped."""
        _, other = self._followed.get(storage_key(leaf), (None, None))
        if other is None or leaf.shape != other.shape or id(leaf) in self._trained:
            return
        for known in self._tables()[:2]:
            if id(other) in known:
                known[id(leaf)] = known[id(other)]
        self._firsts[id(leaf)] = self._firsts.get(id(other), id(other))
        self._trained[id(leaf)] = leaf, self._trained[id(other)][1].clone()
        self._reach(leaf)
        self._courses.succeed(other, leaf)

    def _looks_for(self, given: list[torch.Tensor]) -> bool:
        storages = self._by_storage() if self._starting else {}
        keys = map(storage_key, given)
        early = self._early and any(map(self._is_early, given))
        return early or any(
            any(key in known for known in (storages, self._reached, self._removed, self._followed)) for key in keys
        )

    def saved(self, tensor: torch.Tensor) -> None:
        super().saved(tensor)
        if not self._drift and self._starting:
            self._rest([self._by_storage().get(storage_key(tensor))])
        if leaves := self._reached_in(tensor):
            self._courses.look(leaves)

    # Steps by hand --------------------------------------------------------------------------------------------------

    def backward(self, call: Call) -> None:
        if not call.accumulate:
            for leaf in call.inputs:
                self._asked.setdefault(id(leaf), sum(self._taps.counts))
        written = []
        self._followed.clear()
        with quiet():
            inputs = (t for t in call.inputs if isinstance(t, torch.Tensor) and graph.is_leaf(t))
            for leaf in (*self._leaves(), *inputs):
                if id(leaf) not in self._trained and leaf.requires_grad and leaf.layout is torch.strided:
                    start = self._starts.pop(id(leaf), None)
                    if start is None:
                        start = leaf.detach().clone()
                    elif start.shape == leaf.shape and not torch.equal(start, leaf):
                        written.append(leaf)
                    self._trained[id(leaf)] = leaf, start
                    self._reach(leaf)
        if written and self._courses.by_hand is not None:
            self._by_hand(written)

    def _perturb(self, parameter: torch.Tensor, moved: int = 0) -> None:
        super()._perturb(parameter, moved)
        if not moved:
            with quiet(), outside():
                self._starts[id(parameter)] = parameter.detach().clone()

    def _tables(self) -> tuple[dict[int, Any], ...]:
        return *super()._tables(), self._starts

    def _by_hand(self, written: list[torch.Tensor]) -> None:
        made = sum(self._taps.counts)
        owned = {key for key, before in self._asked.items() if before < made}.union(*self._taps.owned)
        mine = [t for t in written if id(t) in self._trained and (id(t) in owned or not self._taps.optimizers)]
        with quiet(), outside():
            for leaf in mine:
                self._put_back(leaf)
        self._courses.taken_back(mine)
        if self._drift and not self._stepping():
            self._count_by_hand(mine)

    def _count_by_hand(self, mine: list[torch.Tensor]) -> None:
        """Without an optimizer that steps: which leaves a round writes shows where one of them is written again."""
        keys = {self._firsts.get(id(leaf), id(leaf)) for leaf in mine}
        if keys & self._written and not self._rounds:
            self._rounds, self._written = set(self._written), set()
        self._written |= keys
        self.undone = max(self.undone, len(self._written))
        if self._rounds and self._written >= self._rounds:
            self._rounds |= self._written
            self._written = set()
            self._round += 1
            self._move([leaf for leaf, _ in self._trained.values()])

    def _given_memory(self, leaf: torch.Tensor) -> None:
        if id(leaf) in self._trained:
            self._removed[storage_key(leaf)] = leaf

    def _put_back(self, leaf: torch.Tensor) -> None:
        old = self._trained[id(leaf)][1]
        self._removed.pop(storage_key(leaf), None)
        if self._reached.get(storage_key(leaf), {}).get(_start(leaf)) is leaf:
            data(leaf).copy_(old)
        else:  # it was given other memory, which may be somebody else's, too
            set_data(leaf, old.clone())
            self._reach(leaf)

    # Steps of optimizers --------------------------------------------------------------------------------------------

    def step(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        super().step(index, optimizer)
        if index not in self._before:
            with quiet():
                self._before[index] = copies(parameters(optimizer), self._spare.pop(index, []))
                sent = (one.grad for one in parameters(optimizer) if one.grad is not None)
                if self._spared is not None and all(map(is_zero, sent)):
                    self._spared[index] += 1

    def evaluate(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        mine = [parameter for parameter in parameters(optimizer) if id(parameter) in self._trained]
        with quiet(), outside():
            for parameter in mine:
                self._put_back(parameter)
        self._courses.stepped(mine)

    def step_done(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self._spare[index] = self._before.pop(index, [])
        with quiet():
            for parameter, old in zip(parameters(optimizer), self._spare[index], strict=False):
                data(parameter).copy_(old)
        self._courses.stepped(parameters(optimizer))
        if self._drift and self._round_is_over():
            self._end_round()

    @property
    def in_step(self) -> bool:
        """Whether an optimizer is at work, and not what it asks its closure for."""
        return bool(self._before) and not torch.is_grad_enabled()

    @property
    def rounds(self) -> int:
        """How many are over."""
        return self._round

    def _round_is_over(self) -> bool:
        number, made = self.rounds, min(self._stepping(), default=0)
        ends = self._ends[number] if number < len(self._ends) else ()
        same = all(have >= want for have, want in zip(self._taps.counts, ends, strict=False))
        return made > number and (same or made > number + 1)

    def _end_round(self) -> None:
        late = 0 <= self._late <= self._round
        moved = [parameter for key, parameter in self._known.items() if key in self._seeds]
        owned = enumerate(map(parameters, self._taps.optimizers))
        mine = {id(one) for index, own in owned for place, one in enumerate(own) if (index, place) in self._about}
        self._due = [one for one in moved if late and (not mine or id(one) in mine)]
        self._round += 1
        self._move([one for one in moved if not late or (mine and id(one) not in mine)])

    def _move_due(self) -> None:
        due, self._due = self._due, []
        self._move(due)

    def _called(self, module: torch.nn.Module, inputs: object) -> None:
        if self._due and torch.is_grad_enabled():
            self._move_due()
        super()._called(module, inputs)
        if not self._drift and torch.is_grad_enabled():
            self._rest(module._parameters.values())

    def _rest(self, used: Iterable[torch.Tensor | None]) -> None:
        """Move those for the last time that have started, and that no backward has reached yet."""
        for parameter in list(used):
            if id(parameter) in self._starts.keys() - self._resting and parameter is not None:
                self._resting.add(id(parameter))
                self._perturb(parameter, 1)
                with quiet():
                    self._starts[id(parameter)] = parameter.detach().clone()

    def _stepping(self) -> list[int]:
        """How often each optimizer has stepped, but for those that never do, such as one that only wraps others."""
        spared = self._spared or Counter()
        return [count - spared[index] for index, count in enumerate(self._taps.counts) if index not in self._idle]

    def _move(self, moved: list[torch.Tensor]) -> None:
        self._courses.look(moved)  # what was written by hand meanwhile
        with quiet():
            for parameter in moved:
                self._perturb(parameter, self._round)
                if id(parameter) in self._trained:
                    self._trained[id(parameter)] = parameter, parameter.detach().clone()
                elif id(parameter) in self._starts:
                    self._starts[id(parameter)] = parameter.detach().clone()
        self._courses.stepped(moved)


class KeyedRandom(Dispatch):
    """Seeds each random draw by its call site and how often that site drew, or, in dropout, by the input it drops.

    Without this an edit that runs a forward twice would move every later draw, and would look like a change. One that
    moves a draw to another place, or drops something else, would, too: `ordered` tells all draws apart by what is drawn
    and how often instead.
    """

    _SEEDED = torch.Tag.nondeterministic_seeded

    def __init__(
        self, frames: Frames, freeze: Freeze | None, off: SwitchedOff | None, *, ordered: bool
    ) -> None:  # fmt: skip
        super().__init__()
        self._off = off
        self._frames, self._freeze, self._ordered = frames, freeze, ordered
        self._seeded = Known(lambda func: self._SEEDED in func.tags)
        self._content: str = ""
        self._dropping = False
        self.places: Counter[str] = Counter()
        """How often each call site drew."""
        self.dropped: dict[str, None] = {}
        """The call sites of dropouts, which draw by what they drop."""
        self.drops: list[str] = []
        """What the first of them dropped: its shape, and how much it is."""
        self._kinds: Counter[str] = Counter()
        self._takes = Counter[Raw]()
        """How often each place took one, kept or not."""
        self._taken: dict[Raw, list[tuple[float, bool, int]]] = {}
        """The numbers that are taken at each place, whether gradients are off there, and behind how many rounds."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if self._freeze is not None:
            self._freeze.watch(func, args)
        if self._seeded.of(func):
            seed = self._key(func, args)
            if not (kwargs or {}).get("generator"):
                torch.default_generator.manual_seed(seed)
        result = func(*args, **kwargs) if kwargs else func(*args)
        if self._freeze is not None:
            self._freeze.follow(args, result)
        if func in _TAKES and isinstance(result, (bool, int, float)) and self._is_plain(args[0]) and not _is_ours():
            self._take(result)
        return result

    def _is_plain(self, tensor: torch.Tensor) -> bool:
        """Whether a tensor has no graph in the script."""
        return not tensor.requires_grad or (self._off is not None and self._off.made(tensor))

    def _take(self, *numbers: float) -> None:
        if self._freeze is not None and self._freeze.in_step:
            return
        here = self._frames.here()
        values, self._takes[here] = self._taken.setdefault(here, []), self._takes[here] + 1
        if len(values) < _NUMBERS or self._takes[here] % _THEN_EACH == 0:
            rounds = self._freeze.rounds if self._freeze is not None else 0
            values += [(float(number), not torch.is_grad_enabled(), rounds) for number in numbers]

    def patch_arrays(self) -> None:
        """Hear of what the program takes as an array or a list, shows or saves, too: by its size and sums."""
        for name in ("numpy", "tolist", "__array__", "__repr__", "__format__"):
            setattr(torch.Tensor, name, self._given(getattr(torch.Tensor, name)))
        torch.save = self._given(torch.save)

    def _given(self, plain: Any) -> Any:
        @functools.wraps(plain)
        def given(value: Any, *args: Any, **kwargs: Any) -> Any:
            result = plain(value, *args, **kwargs)
            if not sys._getframe(1).f_code.co_filename.startswith((HERE, _TORCH)):
                for tensor in tensors(value):
                    if tensor.layout is torch.strided and not tensor.is_complex() and tensor.numel():
                        with quiet():
                            self._take(*_sums(tensor))
            return result

        return given

    def taken(self) -> tuple[wire.Taken, ...]:
        """What each place takes of tensors: scores, choices, what a script shows."""
        found, calls = list[wire.Taken](), Counter[str]()
        for raw, taken in ((raw, taken) for raw, taken in self._taken.items() if taken):
            site = self._frames.site(raw)
            values, off, rounds = zip(*taken, strict=True)
            found.append(wire.Taken(site, calls[site], values, all(off), rounds))
            calls[site] += 1
        return tuple(found)

    def _key(self, func: Any, args: Any) -> int:
        if self._content:
            text = self._content
        else:
            kind, site = f"{func}{_kinds(args)}", self._frames.site(self._frames.here())
            self._kinds[kind] += 1
            self.places[site] += 1
            text = f"{kind}#{self._kinds[kind]}" if self._ordered else f"{site}#{self.places[site]}"
        return int.from_bytes(hashlib.blake2b(f"{func}{text}".encode(), digest_size=7).digest())

    def patch_dropout(self) -> None:
        """Give every function that drops, alone or beside what else it does, the key of its first input's content."""
        for owner, names in ((torch.nn.functional, _DROPPING), (torch._VF, _RECURRENT)):
            for name in names:
                setattr(owner, name, self._keyed(getattr(owner, name)))

    def _keyed(self, function: Any) -> Any:
        def dropout(input: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:  # noqa: A002  as torch names it
            if self._dropping:  # a mode of functions has it called once more
                return function(input, *args, **kwargs)
            self._dropping = True
            with quiet():
                self.dropped[self._frames.site(self._frames.here())] = None
                content = _content(input)
                self._content = "" if self._ordered else content
                if len(self.drops) < _DROPS:
                    self.drops.append(content)
            try:
                return function(input, *args, **kwargs)
            finally:
                self._dropping, self._content = False, ""

        return dropout


def _is_ours() -> bool:
    """Whether what runs now was called by an instrument of the probe, and not handed on by its modes alone."""
    ours = takewhile(lambda one: one.f_code.co_filename.startswith(HERE), outwards(sys._getframe(1)))
    return not [*ours][-1].f_code.co_name.startswith("__torch_")


def _start(leaf: torch.Tensor) -> int:
    """Where the memory of a leaf begins; 0 where it has no single one (sparse)."""
    return 0 if storage_key(leaf) is None else leaf.data_ptr()


def _within(part: torch.Tensor, whole: torch.Tensor) -> bool:
    """Whether a tensor's memory lies within that of another one, from its first value to its last."""
    (first, last), (begin, end) = ((one.data_ptr(), one.data_ptr() + _span(one)) for one in (part, whole))
    return begin <= first and last <= end


def _span(tensor: torch.Tensor) -> int:
    last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return (last + 1) * tensor.element_size()


def _content(tensor: torch.Tensor) -> str:
    """A tensor's shape and values, rounded: the same computed twice may differ in the last bits, also of what cancels.

    The sums of all and of every second value are told beside the norm, to hundredths of it.
    """
    size, *parts = _sums(tensor)
    sums = [round(100 * part / size) if 0 < size < math.inf else 0 for part in parts]
    return f"{tuple(tensor.shape)}|{size:.2e} {sums}"


def _sums(tensor: torch.Tensor) -> list[float]:
    """The norm of a tensor, and the sums of all and of every second of its values."""
    flat = tensor.detach().reshape(-1).double()
    return [float(flat.norm()), *(float(part.sum()) for part in (flat, flat[::2]))]


def _kinds(value: Any) -> Any:
    """What a draw is asked for: numbers as they are, tensors by their shapes."""
    if isinstance(value, (list, tuple)):
        return tuple(map(_kinds, value))
    return tuple(value.shape) if isinstance(value, torch.Tensor) else value
