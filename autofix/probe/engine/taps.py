"""The two places where every training step passes: the autograd engine and the optimizers' step."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.optim import optimizer as optim

from ..program.frames import Frames, Raw
from . import graph
from .transforms import batched, wrapped

NUDGE = 1.01


@dataclass(slots=True)
class Call:
    """One backward call. A listener may set `keep` and `create` before the engine runs."""

    index: int
    stack: Raw
    roots: tuple[torch.Tensor, ...]
    inputs: tuple[torch.Tensor, ...]
    """The tensors that it is asked for; not the edges of a graph, which nothing else knows."""
    keep: bool
    create: bool
    accumulate: bool
    gradients: tuple[torch.Tensor | None, ...]
    """What each root's gradient is taken to be: ones for a scalar, unless the caller gives another."""
    outer: Call | None = None
    """The call inside which this one runs: a checkpoint computes again, or an implicit layer solves."""
    cleanups: list[Callable[[], None]] = field(default_factory=list)
    given: tuple[torch.Tensor | None, ...] = ()
    """The derivatives that it gives, while listeners hear that it is done."""


class Listener:
    """What an instrument may hear. A method that is not overridden does nothing."""

    inner = False
    """Whether it hears of a backward inside another, too, which is no pass of the training by itself."""

    def optimizer_made(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        """`optimizer` was constructed as the `index`-th of the run."""
        self.optimizer_grew(index, optimizer)

    def optimizer_grew(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        """`optimizer` was given its parameters, or further ones."""

    def backward(self, call: Call) -> None:
        """A backward call is about to run."""

    def backward_done(self, call: Call) -> None:
        """It ran to its end."""

    def backward_failed(self, call: Call, error: Exception) -> None:
        """It raised; whether the script goes on is not known yet."""

    def step(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        """A step, or one evaluation of its closure, is about to use gradients."""

    def evaluate(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        """A step is about to evaluate its closure, at parameters that it may have moved already."""

    def step_done(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        """A step has changed its parameters."""

    def told(self) -> dict[str, Any]:
        """What it has seen, as fields of the trace; `facts` of several are put together."""
        return {}


def parameters(optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
    """The parameters of all groups, in order."""
    return [p for group in optimizer.param_groups for p in group["params"]]


def copies(tensors: list[torch.Tensor], spare: list[torch.Tensor]) -> list[torch.Tensor]:
    """What tensors hold, in the memory of copies of them that nobody needs any more: a step has the same parameters."""
    kinds = [[(t.shape, t.dtype, t.device, t.layout) for t in several] for several in (spare, tensors)]
    if kinds[0] != kinds[1]:
        return [one.detach().clone() for one in tensors]
    for old, one in zip(spare, tensors, strict=True):
        old.copy_(one.detach())
    return spare


class _Ours:
    """Around what instruments do: what they look at is nothing that the script does, nor is what they raise."""

    __slots__ = ("_broke", "_function")

    def __init__(self, broke: Callable[[Exception], None]) -> None:
        self._broke = broke
        self._function: Any = torch._C.DisableTorchFunction()

    def __enter__(self) -> None:
        self._function.__enter__()

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        self._function.__exit__(None, None, None)
        if isinstance(error, Exception):
            self._broke(error)


class Taps:
    """Tells its listeners of each backward call and optimizer step, in the order given."""

    def __init__(
        self, frames: Frames, listeners: list[Listener], *, nudged: bool = False, doubled: int = -1, placed: bool = True
    ) -> None:
        self.frames = frames
        self.broke: Callable[[Exception], None] = lambda _error: None
        """Who ends the run where an instrument raises: a script that caught it would go on half watched."""
        self.placed = placed
        """Whether somebody asks where a call stands: to walk over the stack is dear beside the rest of a tap."""
        self.nudged, self.doubled, self.listeners = nudged, doubled, listeners
        self.optimizers: list[torch.optim.Optimizer] = []
        self._indices: dict[int, int] = {}
        """The place of each optimizer among them, by its id: a tap is passed a thousand times a second."""
        self.counts: list[int] = []
        self.calls = 0
        self.first = 0.0
        """When the first of them began, on the monotonic clock."""
        self.ends: list[int] = []
        """The age of the graph at the end of each call that is no part of another: what is older was made before."""
        self.stepping = -1
        self.current: Call | None = None
        self._running: Call | None = None
        self.before_writes: list[Callable[[torch.Tensor], None]] | None = None
        """Who must hear what a step of torch's own optimizers will write; where set, no mode sees such a step's ops."""
        self.within: Callable[[Call], contextlib.AbstractContextManager[Any]] = lambda _call: contextlib.nullcontext()
        """What each backward call runs in."""
        self._hushed: contextlib.ExitStack | None = None
        self._installed = False

    @property
    def owned(self) -> list[set[int]]:
        """For each optimizer, the ids of its parameters."""
        return [{id(parameter) for parameter in parameters(optimizer)} for optimizer in self.optimizers]

    def take_over(self, other: Taps) -> None:
        """Be asked for what the other would be, which is not installed: nobody has listened until now."""
        self.frames, self.placed, self.nudged, self.doubled = other.frames, other.placed, other.nudged, other.doubled
        self.listeners = []

    def install(self) -> None:
        """Hook the engine object that every spelling of backward ends in, and the optimizers' global step hooks."""
        if self._installed:
            return
        self._installed = True
        variable = torch.autograd.variable.Variable
        variable._execution_engine = _Engine(variable._execution_engine, self)
        made = optim.Optimizer.__init__

        def init(optimizer: torch.optim.Optimizer, *args: Any, **kwargs: Any) -> None:
            made(optimizer, *args, **kwargs)
            self._index(optimizer)

        added = optim.Optimizer.add_param_group

        def add(optimizer: torch.optim.Optimizer, group: Any) -> None:
            added(optimizer, group)
            if (index := self._indices.get(id(optimizer))) is not None:
                self._tell("optimizer_grew", index, optimizer)

        optim.Optimizer.__init__ = init
        optim.Optimizer.add_param_group = add
        optim.register_optimizer_step_pre_hook(self._before)
        optim.register_optimizer_step_post_hook(self._after)

    def _index(self, optimizer: torch.optim.Optimizer) -> int:
        known = self._indices.get(id(optimizer))
        if known is not None:
            return known
        index = self._indices[id(optimizer)] = len(self.optimizers)
        self.optimizers.append(optimizer)
        self.counts.append(0)
        self._tell("optimizer_made", index, optimizer)
        return index

    def _tell(self, what: str, index: int, optimizer: torch.optim.Optimizer) -> None:
        with _Ours(self.broke):
            for listener in self.listeners:
                getattr(listener, what)(index, optimizer)

    def _before(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> tuple[Any, Any] | None:
        index = self._index(optimizer)
        self.stepping = index
        rest = args[1:] if args and args[0] is optimizer else args
        closure = kwargs.get("closure", rest[0] if rest else None)
        if not callable(closure):
            self._tell("step", index, optimizer)
            if self.before_writes is not None:
                self._hush(optimizer, self.before_writes)
            return None

        def witnessed() -> Any:
            self._tell("evaluate", index, optimizer)
            self.stepping = -1
            loss = closure()
            self.stepping = index
            self._tell("step", index, optimizer)
            return loss

        if "closure" in kwargs:
            return args, {**kwargs, "closure": witnessed}
        return (*args[: len(args) - len(rest)], witnessed, *rest[1:]), kwargs

    def _hush(self, optimizer: torch.optim.Optimizer, before_writes: list[Callable[[torch.Tensor], None]]) -> None:
        """Keep the ops of a step from the modes, which would only let them through: most of a small script's ops."""
        own = type(optimizer).__module__.startswith("torch.optim")
        hooked = optimizer._optimizer_step_pre_hooks or optimizer._optimizer_step_post_hooks
        if not own or hooked or optimizer.defaults.get("differentiable"):
            return
        if self._hushed is not None:
            self._speak(self._hushed)
        self._hushed = contextlib.ExitStack()
        # Not `quiet`: should the step raise, the script's own grad mode must not stay off until the next one.
        self._hushed.enter_context(torch._C._DisableTorchDispatch())
        self._hushed.enter_context(torch._C.DisableTorchFunction())
        written = [t for p in parameters(optimizer) for t in (p, p.grad) if t is not None]
        states = (value for state in optimizer.state.values() for value in state.values())
        for hear in before_writes:
            for tensor in (*written, *(value for value in states if isinstance(value, torch.Tensor))):
                hear(tensor)

    def _speak(self, hushed: contextlib.ExitStack) -> None:
        hushed.close()
        self._hushed = None

    def _after(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        if self._hushed is not None:
            self._speak(self._hushed)
        index = self._index(optimizer)
        self.counts[index] += 1
        self._tell("step_done", index, optimizer)
        self.stepping = -1

    def run(self, engine: Any, roots: Any, rest: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """One backward call, from whatever spelling, on its way into the engine."""
        if any(map(wrapped, roots)) or any(
            map(batched, rest[0] or ())
        ):  # a transform's inner pass, no step of training
            return engine.run_backward(roots, *rest, **kwargs)
        if self._hushed is not None:
            self._speak(self._hushed)
        gradients, keep, create, inputs, *more = rest
        outer = self._running
        call = Call(
            self.calls if outer is None else outer.index, self.frames.here() if self.placed else (), tuple(roots),
            tuple(one for one in inputs or () if isinstance(one, torch.Tensor)),
            bool(keep), bool(create), bool(kwargs.get("accumulate_grad", more[1] if len(more) > 1 else False)),
            tuple(gradients or ()), outer,
        )  # fmt: skip
        listeners = self.listeners if outer is None else [one for one in self.listeners if one.inner]
        self.first = self.first or time.monotonic()
        self.calls += outer is None
        self.current = self._running = call
        with _Ours(self.broke), graph.kept():
            for listener in listeners:
                listener.backward(call)
        if call.accumulate and not call.create and 0 <= self.doubled <= sum(self.counts):
            # Twice as much, to the last bit: what is made of a gradient's direction or sign alone stays the same.
            gradients = tuple(None if gradient is None else gradient * 2 for gradient in gradients)
        try:
            with self._told_of(listeners, call), self.within(call):
                result = engine.run_backward(roots, gradients, call.keep, call.create, inputs, *more, **kwargs)
        finally:
            self._running = outer
            with _Ours(self.broke):
                for cleanup in call.cleanups:
                    cleanup()
        self.current = outer
        if outer is None:
            self.ends.append(graph.now())
        if not call.accumulate:
            pairs = zip(inputs, result, strict=False)
            call.given = tuple(gradient for one, gradient in pairs if isinstance(one, torch.Tensor))
        with _Ours(self.broke):
            for listener in listeners:
                listener.backward_done(call)
        call.given = ()
        if self.nudged and not call.accumulate and not call.create:
            return tuple(None if gradient is None else _nudge(gradient) for gradient in result)
        return result

    @contextlib.contextmanager
    def _told_of(self, listeners: list[Listener], call: Call) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            with _Ours(self.broke):
                for listener in listeners:
                    listener.backward_failed(call, error)
            raise


def _nudge(gradient: torch.Tensor) -> torch.Tensor:
    """A gradient that is otherwise, also where it is so small that a loss in single precision would not show it."""
    larger = gradient * NUDGE
    return larger + 1 if larger.layout is torch.strided and larger.is_floating_point() else larger


class _Engine:
    """Stands before torch's engine object and hands everything through."""

    def __init__(self, engine: Any, taps: Taps) -> None:
        self._engine, self._taps = engine, taps

    def run_backward(self, roots: Any, *rest: Any, **kwargs: Any) -> Any:
        return self._taps.run(self._engine, roots, rest, kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)
