"""What hooks of the program's own are given, and kept gradients: what an edit takes of it need not show elsewhere."""

from __future__ import annotations

import functools
import itertools
import sys
import weakref
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import torch

from .. import HERE, wire
from ..engine import graph
from ..engine.names import Names
from ..engine.remembered import Remembered
from ..engine.taps import Call, Listener, Taps
from ..program.frames import Frames, Raw
from .witness import Witness

_DUE = ("_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks")
_KEEPS = "retain_grad"
_GRADIENT: Any = torch._C.TensorBase.grad
_LATEST = 1_000
"""Calls of modules before the first backward that are remembered."""
_SKETCHED = 12
"""Steps from the first backward of a place on within which the gradients that it sends are looked at."""


@dataclass(slots=True)
class _Due:
    """How often one was due before each step, and the sum of the gradients that it was given there, as a sketch."""

    calls: list[int] = field(default_factory=list)
    sums: list[tuple[float, ...]] = field(default_factory=list)


@dataclass(slots=True)
class _Called:
    """How often a module was called before each step with gradients on, in both modes, and where it last was."""

    asks: bool
    training: list[int] = field(default_factory=list)
    evaluating: list[int] = field(default_factory=list)
    stack: Raw = ()


@dataclass(slots=True)
class _Early:
    """A call of a module before the first backward: its mode, its place, and how old what it made may be."""

    called: _Called
    trains: bool
    stack: Raw
    newest: int = -1


class _Modes(dict[type[Any], bool]):
    """Whether modules of a class ask if they train."""

    def __missing__(self, kind: type[Any]) -> bool:
        return self.setdefault(kind, _asks_for_mode(kind))


class Hooks(Listener):
    """Counts, between steps, the calls of modules that have hooks, and sums up what hooks of tensors are given.

    Hooks of one function are counted together: an edit may make them at another place. All gradients that are kept,
    of results (`retain_grad`) and of leaves that nobody steps, are summed up as far as they had come when they were
    read: an edit may make one of the other, keep more of them, or send them more behind that.
    """

    def __init__(self, frames: Frames, taps: Taps, names: Names, witness: Witness) -> None:
        self._frames, self._taps, self._names, self._witness = frames, taps, names, witness
        self._steps = 0
        self._begun: dict[Raw, int] = {}
        """How many steps there had been when each place first went backward."""
        self._looks = False
        self._due: dict[tuple[CodeType, bool], _Due] = {}
        self._counting = False
        self._keeper: CodeType | None = None
        """The function that has a gradient kept first."""
        self._plain = torch.Tensor.register_hook
        self._inputs = Remembered[int]()
        """The leaves that no optimizer owns and that are looked at."""
        self._of_inputs: Raw = ()
        self._unread = Remembered[_Due]()
        """What came to each gradient that is kept since it was read, by `.grad`."""
        self._read: list[list[tuple[float, ...]]] = []
        """What had come to one when it was read."""
        self._taken = _Due()
        """The derivatives that the program asked for, of what no optimizer owns."""
        self.cut_before: Callable[[], int] = lambda: -1
        """The age before which this run sends no gradient on: what is older has none that its hooks might get."""
        self._evaluated = weakref.WeakKeyDictionary[torch.nn.Module, tuple[Raw, list[int]]]()
        """Where each module that was called in evaluation mode first was, and how often it is before each step."""
        self._modes = _Modes()
        self._outermost = weakref.WeakKeyDictionary[torch.nn.Module, _Called]()
        """The modules that no other one calls."""
        self._early: deque[_Early] | None = deque(maxlen=_LATEST)
        """Their latest calls until the first backward: which of them it is about is known then."""
        self._open: _Early | None = None
        """The one that goes on."""
        self._depth = 0
        torch.nn.modules.module.register_module_forward_pre_hook(self._called)
        torch.nn.modules.module.register_module_forward_hook(self._left, always_call=True)
        self._watch_hooks()
        self._watch_kept()

    def _watch_hooks(self) -> None:
        @functools.wraps(self._plain)
        def register_hook(tensor: torch.Tensor, hook: Callable[..., Any]) -> Any:
            code = _code(hook)
            if self._counting or code is None or not self._frames.owns(code):
                return self._plain(tensor, hook)
            age, key = _age(tensor), (code, True)
            return self._hooked(tensor, lambda sent: hook(sent) if self._given(key, age, sent) else None)

        torch.Tensor.register_hook = register_hook

    def _watch_kept(self) -> None:
        plain = torch.Tensor.retain_grad

        @functools.wraps(plain)
        def retain_grad(tensor: torch.Tensor) -> None:
            code, known = sys._getframe(1).f_code, graph.is_leaf(tensor) or tensor.retains_grad
            plain(tensor)
            if self._counting or known or not tensor.requires_grad:
                return
            if self._frames.owns(code):
                self._keeper = self._keeper or code
                self.made(tensor)
            if tensor in self._unread:
                self._keeps(tensor, _age(tensor))

        torch.Tensor.retain_grad = retain_grad

    def _keeps(self, tensor: torch.Tensor, age: int) -> None:
        held = weakref.ref(tensor)

        def sent(gradient: torch.Tensor) -> None:
            if (one := held()) is not None and not self._is_cut(age):
                self._comes_to(one, gradient)

        self._hooked(tensor, sent)

    def made(self, tensor: torch.Tensor) -> None:
        """A tensor keeps a gradient of its own now, which counts if the program reads it."""
        if tensor not in self._unread:
            self._unread.keep(tensor, _Due())
        if not isinstance(torch.Tensor.grad, property):
            torch.Tensor.grad = property(self._asked, _GRADIENT.__set__, _GRADIENT.__delete__)

    def _asked(self, tensor: torch.Tensor) -> torch.Tensor | None:
        if not sys._getframe(1).f_code.co_filename.startswith(HERE) and (due := self._unread.of(tensor)) is not None:
            self._read.append(due.sums)
            self._unread.keep(tensor, _Due())
        found: torch.Tensor | None = _GRADIENT.__get__(tensor)
        return found

    def _comes_to(self, tensor: torch.Tensor, gradient: torch.Tensor) -> None:
        if (due := self._unread.of(tensor)) is not None:
            self._add_up(due, gradient)

    def backward(self, call: Call) -> None:
        if self._early is not None:
            oldest = min(graph.ages(graph.walk(call.roots)), default=0)
            early, self._early = self._early, None
            for one in early:  # what came before belongs to a beginning that runs may share, and says nothing
                if one.newest > oldest:
                    self._calls(one)
        self._looks = self._steps < self._begun.setdefault(call.stack, self._steps) + _SKETCHED
        if not call.accumulate or not self._sketches:
            return
        owned = set().union(*self._taps.owned)
        for leaf in graph.leaves(graph.walk(call.roots)):
            if not (leaf in self._inputs or id(leaf) in owned or isinstance(leaf, torch.nn.Parameter)):
                self._inputs.keep(leaf, self._steps)
                self._look_at(leaf)

    def backward_done(self, call: Call) -> None:
        if not call.given or not self._sketches:
            return
        owned = set().union(*self._taps.owned)
        for one, derivative in zip(call.inputs, call.given, strict=False):
            if derivative is not None and id(one) not in owned and not isinstance(one, torch.nn.Parameter):
                self._add_up(self._taken, derivative)

    def _look_at(self, leaf: torch.Tensor) -> None:
        """Sum up what an input gets before the next step: what lasts longer may be stepped by hand."""
        since, held = self._steps, weakref.ref(leaf)
        self.made(leaf)

        def called(gradient: torch.Tensor) -> None:
            call, one = self._taps.current, held()
            if call is not None and call.accumulate and self._steps == since and one is not None:
                self._of_inputs = self._of_inputs or call.stack
                self._comes_to(one, gradient)

        self._hooked(leaf, called)

    def _hooked(self, tensor: torch.Tensor, hook: Callable[[torch.Tensor], Any]) -> Any:
        """Give a tensor a hook, past those of the program."""
        self._counting = True  # where a mode hears of it, it comes here once more
        try:
            return self._plain(tensor, hook)
        finally:
            self._counting = False

    def step_done(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self._steps += 1

    def told(self) -> dict[str, Any]:
        """Each of them, how often it was due before each step, and with which gradients."""
        hooks = [
            wire.Hook(code.co_qualname, self._frames.resolve(((code, 0),)), tensor, tuple(due.calls), tuple(due.sums))
            for (code, tensor), due in self._due.items()
        ]
        place, name = (((self._keeper, 0),), _KEEPS) if self._keeper is not None else (self._of_inputs, "")
        sums = tuple(_together(self._read))
        taken = tuple(self._taken.sums)
        hooks.append(wire.Hook(name, self._frames.resolve(place), True, (), sums, kept=True, taken=taken))
        evaluated = (
            wire.Evaluated(self._named(module), self._frames.resolve(raw), tuple(calls))
            for module, (raw, calls) in self._evaluated.items()
        )
        modes = (
            wire.Mode(self._named(module), self._frames.resolve(one.stack), *map(tuple, (one.training, one.evaluating)))
            for module, one in self._outermost.items()
            if one.training or one.evaluating
        )
        return {"hooks": tuple(hooks), "evaluated": tuple(evaluated), "modes": tuple(modes)}

    def _left(self, *_: object) -> None:
        self._depth -= 1
        if self._open is not None and not self._depth:
            self._open.newest, self._open = graph.now(), None

    def _count_mode(self, module: torch.nn.Module) -> None:
        if (one := self._outermost.get(module)) is None:
            one = self._outermost[module] = _Called(any(self._modes[type(part)] for part in module.modules()))
        if one.asks:
            found = _Early(one, module.training, self._frames.here())
            if self._early is None:
                self._calls(found)
            else:
                self._open = found
                self._early.append(found)

    def _calls(self, one: _Early) -> None:
        one.called.stack = one.stack
        self._add(one.called.training if one.trains else one.called.evaluating)

    def _called(self, module: torch.nn.Module, args: Any) -> None:
        if not self._depth and torch.is_grad_enabled():
            self._count_mode(module)
        self._depth += 1
        if not module.training and self._modes[type(module)]:
            if module not in self._evaluated:
                self._evaluated[module] = self._frames.here(), []
            self._add(self._evaluated[module][1])
        for kind in _DUE:
            for hook in getattr(module, kind, {}).values():
                code = _code(hook)
                if code is not None and self._frames.owns(code):
                    self._count((code, False))

    def _given(self, key: tuple[CodeType, bool], age: int, gradient: torch.Tensor) -> bool:
        """Count what a tensor's hook is given; False where this run sends it nothing."""
        if self._is_cut(age):
            return False
        self._add_up(self._count(key), gradient)
        return True

    def _is_cut(self, age: int) -> bool:
        return 0 <= age < self.cut_before()

    @property
    def _sketches(self) -> bool:
        """Whether gradients are looked at: there are steps to compare them by, and few since this phase began."""
        return bool(self._taps.optimizers) and self._looks

    def _add_up(self, due: _Due, gradient: torch.Tensor) -> None:
        if self._sketches and gradient.is_floating_point():
            due.sums += [()] * (self._steps + 1 - len(due.sums))
            due.sums[-1] = _added([due.sums[-1], self._witness.sketch_all([gradient.detach()])[0]])

    def _count(self, key: tuple[CodeType, bool]) -> _Due:
        due = self._due.setdefault(key, _Due())
        self._add(due.calls)
        return due

    def _add(self, calls: list[int]) -> None:
        calls += [0] * (self._steps + 1 - len(calls))
        calls[-1] += 1

    def _named(self, module: torch.nn.Module) -> str:
        """What two runs call a module: by its first tensor, or its kind."""
        first = next(itertools.chain(module.parameters(), module.buffers()), None)
        kind = type(module).__qualname__
        return kind if first is None else self._names.name(first, kind)


def _together(all_sums: list[list[tuple[float, ...]]]) -> list[tuple[float, ...]]:
    """What several were given before each step, as if they were one."""
    return [_added(here) for here in itertools.zip_longest(*all_sums, fillvalue=())]


def _added(sketches: Iterable[tuple[float, ...]]) -> tuple[float, ...]:
    """The sum of sketches; those of nothing are empty."""
    return tuple(map(sum, zip(*filter(None, sketches), strict=True)))


def _age(tensor: torch.Tensor) -> int:
    node = graph.made_by(tensor)
    return -1 if node is None else node._sequence_nr()


def _asks_for_mode(kind: type[Any]) -> bool:
    """Whether a module's own functions ask if it trains, as the forward of a dropout does."""
    own = itertools.takewhile(lambda one: one is not torch.nn.Module, kind.__mro__)
    codes = (getattr(value, "__code__", None) for one in own for value in vars(one).values())
    return any(code is not None and "training" in code.co_names for code in codes)


def _code(hook: Any) -> CodeType | None:
    """The code of a function of Python's that is behind a hook."""
    while isinstance(hook, functools.partial):
        hook = hook.func
    found = getattr(hook, "__code__", None) or getattr(type(hook).__call__, "__code__", None)
    return found if isinstance(found, CodeType) else None
