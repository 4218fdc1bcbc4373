"""What parameters and buffers held where they were used, if no step had written it; and what other state held."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from .. import wire
from ..engine import graph
from ..engine.aliased import Aliased
from ..engine.names import Names
from ..engine.taps import Call, Listener, Taps, parameters
from ..engine.transforms import wrapped
from .guards import Guards
from .witness import Witness

_LONGEST = 400
_NUMBERS = 1 << 25
"""Of one tensor, as many numbers are looked at in all: 32 values of a million weights."""
_MOST = 1 << 27
"""Numbers of other state that are looked at in all: enough for a large model over some passes."""


@dataclass(slots=True)
class _Course:
    """The values of one tensor."""

    tensor: weakref.ref[torch.Tensor]
    left: tuple[int, int]
    """Its version and place in memory when it was last looked at, or stepped."""
    now: tuple[float, ...]
    values: list[tuple[float, ...]] = field(default_factory=list)
    after: list[int] = field(default_factory=list)
    """How many steps had been made when each was seen, or backward calls that left gradients, where nothing steps."""
    back: list[int] = field(default_factory=list)
    """The places of those that the latest step had left, and a write by hand brought back."""
    late: list[int] = field(default_factory=list)
    """The places of those that nothing had used before a step, which is to move them on."""
    stepped: tuple[float, ...] | torch.Tensor | None = None
    """What the latest step left: a sketch of it where writes by hand are known, else its norm; None without a step."""
    watched: bool = False
    """Whether something else than a step wrote it."""
    kept: bool = False
    """Whether a module has it, an optimizer owns it, or it is updated by hand: else its name may pass to another."""
    outlived: bool = False
    """Whether it is a leaf that was there before the latest step, or the backward before."""
    apart: bool = False
    """Whether it holds something else than what the latest step left."""
    idle: bool = False
    """Whether something else than a step wrote what it held already."""

    @property
    def full(self) -> bool:
        tensor = self.tensor()
        size = tensor.numel() if tensor is not None else 0
        return len(self.values) >= max(4, min(_LONGEST, _NUMBERS // max(1, size)))

    def note(self, sketch: tuple[float, ...], after: int) -> bool:
        """Note what a look found; whether it is another value than before."""
        back = self.is_stepped(sketch)
        moved = self.apart if back else sketch != self.now
        if moved:
            self.back += [len(self.values)] * back
            self.values.append(sketch)
            self.after.append(after)
            self.apart = not back
        if back:
            self.stepped = sketch
        # A norm does not tell a small write: what is written by hand is sketched from now on, also where nothing moved.
        self.now, self.watched = sketch, True
        return moved

    def is_stepped(self, sketch: tuple[float, ...]) -> bool:
        """Whether this is what the latest step left."""
        if isinstance(self.stepped, torch.Tensor):
            return bool(sketch) and sketch[0] == float(self.stepped)
        return self.stepped is not None and sketch == self.stepped


class Courses(Listener):
    """Looks where a module is called, where a backward reaches a leaf, and where a step reads its parameters.

    A look costs two comparisons, unless the tensor was written since the last one, or may have been through `.data`.
    """

    def __init__(self, taps: Taps, names: Names, witness: Witness, guards: Guards) -> None:
        self._taps, self._names, self._witness, self._guards = taps, names, witness, guards
        self.aliased = Aliased(self._watch)
        self._courses: dict[int, _Course] = {}
        self.by_hand: Callable[[list[torch.Tensor]], None] | None = None
        """Who may take back what writes by hand did, once they were looked at."""
        self._is_late = False

    def install(self) -> Callable[[], None]:
        """Look at what modules use, behind those hooked in before; returns what ends that."""
        return torch.nn.modules.module.register_module_forward_pre_hook(self._called).remove

    def hand_on(self, other: Courses | None) -> None:
        """Have another, where there is one, know all that was seen; hear of nothing any more."""
        if other is not None:
            other._courses = self._courses
        self.aliased.hand_on(other.aliased if other is not None else None)

    def _watch(self, tensor: torch.Tensor) -> None:
        """A tensor may be written from now on without a trace: remember what it holds."""
        course = self._course(tensor)
        if course is not None and not course.watched:
            course.watched = True
            (course.now,) = self._witness.sketch_all([tensor])
            course.stepped = course.now if course.is_stepped(course.now) else course.stepped

    def _called(self, module: torch.nn.Module, _inputs: object) -> None:
        # Its fast path for evaluation (torch._transformer_encoder_layer_fwd) reads what is inside it and calls none.
        inside = [*module.modules()] if isinstance(module, torch.nn.TransformerEncoderLayer) else [module]
        if held := [tensor for one in inside for held in (one._parameters, one._buffers) for tensor in held.values()]:
            with torch._C.DisableTorchFunction():
                self.look(held, kept=True)

    def backward(self, call: Call) -> None:
        self.look([*self._guards.leaves, *call.inputs])

    def step(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self._is_late = True
        self.look(parameters(optimizer), kept=True)
        self._is_late = False

    def stepped(self, tensors: list[torch.Tensor]) -> None:
        """A step, and what else belongs to it, is over: what it wrote is no write by hand."""
        mine = [(t, course) for t in tensors if (course := self._course(t)) is not None]
        known = [(t, course) for t, course in mine if course.watched]
        rest = [(t, course) for t, course in mine if not course.watched]
        for (_, course), sketch in zip(known, self._witness.sketch_all([t for t, _ in known]), strict=True):
            course.now = course.stepped = sketch
        for (_, course), norm in zip(rest, self._witness.norms([t for t, _ in rest]), strict=True):
            course.stepped = norm
        for tensor, course in mine:
            course.left, course.apart = _mark(tensor), False

    def taken_back(self, tensors: list[torch.Tensor]) -> None:
        """What was written by hand is undone: nothing that the program brings back later."""
        for tensor, sketch in zip(tensors, self._witness.sketch_all(tensors), strict=True):
            course = self._courses[id(tensor)]
            course.left, course.now, course.apart, course.kept = _mark(tensor), sketch, False, True

    def succeed(self, other: torch.Tensor, leaf: torch.Tensor) -> None:
        """A leaf is another one, stepped by hand: it goes on with what was seen of that one."""
        if (course := self._course(other)) is not None:
            seen = {name: [*getattr(course, name)] for name in ("values", "after", "back", "late")}
            self._courses[id(leaf)] = replace(course, tensor=weakref.ref(leaf), **seen)  # type: ignore[arg-type]

    def look(self, tensors: Iterable[torch.Tensor | None], *, kept: bool = False) -> None:
        """Note the values of those that something else than a step has written since the last look."""
        fresh, written = [], []
        for tensor in tensors:
            if not isinstance(tensor, torch.Tensor):
                continue
            course = self._course(tensor)
            if course is None:
                if _is_state(tensor):
                    fresh.append(tensor)
                continue
            course.kept = course.kept or kept
            course.outlived = course.outlived or (tensor.requires_grad and course.after[0] < self._witness.made)
            if course.left != _mark(tensor) or self.aliased.may_differ(tensor):
                written.append((tensor, course))
        if fresh or written:
            self._note(fresh, written, kept=kept)

    def _note(self, fresh: list[torch.Tensor], written: list[tuple[torch.Tensor, _Course]], *, kept: bool) -> None:
        written = [(tensor, course) for tensor, course in written if not course.full]
        after = self._witness.made
        sketches = iter(self._witness.sketch_all([*fresh, *(tensor for tensor, _ in written)]))
        for tensor, sketch in zip(fresh, sketches, strict=False):
            watched = tensor in self.aliased
            course = _Course(weakref.ref(tensor), _mark(tensor), sketch, [sketch], [after], watched=watched, kept=kept)
            self._courses[id(tensor)] = course
            self.aliased.looked(tensor)
        moved = []
        for (tensor, course), sketch in zip(written, sketches, strict=True):
            mark = _mark(tensor)
            if course.note(sketch, after):
                moved.append(tensor)
                course.late += [len(course.values) - 1] * self._is_late
            elif course.left != mark:
                course.idle = True
            course.left = mark
            self.aliased.looked(tensor)
        if moved and self.by_hand is not None:
            self.by_hand(moved)

    def _course(self, tensor: torch.Tensor) -> _Course | None:
        course = self._courses.get(id(tensor))
        return course if course is not None and course.tensor() is tensor else None

    def told(self) -> dict[str, Any]:
        """The values of each tensor that an optimizer owns, by its place there, or that is kept and has a name."""
        places = {
            id(parameter): f"{index} {place}"
            for index, optimizer in enumerate(self._taps.optimizers)
            for place, parameter in enumerate(parameters(optimizer))
        }
        found: dict[str, wire.Held] = {}
        # Of leaves that succeed each other, the last has seen most.
        for key, course in sorted(self._courses.items(), key=lambda pair: (not pair[1].kept, -len(pair[1].values))):
            tensor = course.tensor()
            lasts = tensor is not None and (course.kept or course.outlived)
            name = self._names.name(tensor, "") if tensor is not None and lasts else ""
            if name := places.get(key, name) if tensor is not None else "":
                unused, hidden = self._unused(tensor, course), tensor in self.aliased
                told = wire.Held(
                    name, tuple(course.values), tuple(course.after), tuple(course.back), not course.kept, unused,
                    course.idle, hidden, tuple(course.late),
                )  # fmt: skip
                found.setdefault(name, told)
        return {"courses": tuple(found.values())}

    def _unused(self, tensor: torch.Tensor, course: _Course) -> tuple[float, ...]:
        if course.left == _mark(tensor) and tensor not in self.aliased:
            return ()
        left = course.now
        if isinstance(course.stepped, torch.Tensor) and not course.watched:
            left = (float(course.stepped),)
        (ended,) = self._witness.sketch_all([tensor])
        written = tuple(b - a for a, b in zip(left, ended, strict=False))
        return written if any(written) else ()


class Stepped(Listener):
    """Tells that a step is over, where it is not undone; what it moves between two evaluations is its own, too."""

    def __init__(self, courses: Courses) -> None:
        self._given = courses

    def evaluate(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self._given.stepped(parameters(optimizer))

    def step_done(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self._given.stepped(parameters(optimizer))


class HeldStates(Listener):
    """Looks at each step at what the user's variables hold; keeps what differs from the value before, as sketches.

    A write that is taken back shows nowhere else.
    """

    def __init__(self, taps: Taps, names: Names, witness: Witness) -> None:
        self._taps, self._names, self._witness = taps, names, witness
        self._left = _MOST
        self._states: dict[str, list[tuple[float, ...]]] = {}

    def step(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        kept = self._names.kept(set().union(*self._taps.owned))
        states = {name: tensor for name, tensor in kept.items() if graph.is_leaf(tensor)}
        self._left -= sum(tensor.numel() for tensor in states.values())
        if self._left <= 0:
            return
        for name, sketch in zip(states, self._witness.sketch_all(list(states.values())), strict=True):
            values = self._states.setdefault(name, [])
            if len(values) < _LONGEST and (not values or values[-1] != sketch):
                values.append(sketch)

    def told(self) -> dict[str, Any]:
        """The values of each tensor, by its name."""
        return {"held": tuple(wire.Held(name, tuple(values)) for name, values in self._states.items())}


def _mark(tensor: torch.Tensor) -> tuple[int, int]:
    return tensor._version, tensor.data_ptr()


def _is_state(tensor: torch.Tensor) -> bool:
    """Whether a tensor is one that lasts and has numbers in memory: no result of an operation, not of unknown shape."""
    return (
        type(tensor) in (torch.Tensor, torch.nn.Parameter)
        and graph.is_leaf(tensor)
        and tensor.is_floating_point()
        and tensor.layout is torch.strided
        and not tensor.is_inference()
        and not wrapped(tensor)
    )
