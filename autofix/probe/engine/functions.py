"""Functions with a backward of the user's own: what it gave, and what it was to give."""

from __future__ import annotations

import functools
import inspect
import itertools
import sys
import weakref
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

import torch

from ..program.frames import Frames, Raw, outwards
from . import graph
from .quiet import quiet
from .refused import tensors

_FUNCTION: Any = torch.autograd.Function
_KIND: Any = torch.autograd.function.BackwardCFunction
_CONTEXT: Any = torch.autograd.function.FunctionCtx
_CALLS = (_FUNCTION.apply.__func__.__code__, _KIND.apply.__code__)
"""What calls a forward, and a backward, of the user's own; torch has switched gradients off then."""


def listen(hear: Callable[[Any, tuple[Any, ...]], tuple[Any, ...]]) -> None:
    """Have every such backward ask `hear`, with its node and its gradients, what it gives."""
    run = _KIND.apply

    def apply(node: Any, *gradients: Any) -> Any:
        given = run(node, *gradients)
        return hear(node, _listed(given))

    _KIND.apply = apply


def inside(frames: Frames, frame: FrameType | None = None) -> Raw:
    """Where the user's own forward or backward stands that runs, or ran around a frame: gradients are off in there."""
    last: Raw = ()
    for one in outwards(frame or sys._getframe(1)):
        if one.f_code in _CALLS:
            return last
        if frames.owns(one.f_code):
            last = ((one.f_code, one.f_lasti),)
    return ()


def record(is_meant: Callable[[CodeType], bool]) -> None:
    """Have gradients on in those forwards and backwards that are meant; what they give has no graph but torch's."""
    apply, done = _FUNCTION.apply.__func__, set[Any]()

    def recorded(kind: Any, *inputs: Any, **named: Any) -> Any:
        for method in (kind.forward, kind.backward) if kind not in done else ():
            code = getattr(inspect.unwrap(method), "__code__", None)
            if code is not None and is_meant(code):
                setattr(kind, method.__name__, staticmethod(_recording(method)))
        done.add(kind)
        return apply(kind, *inputs, **named)

    _FUNCTION.apply = classmethod(recorded)


def _recording(method: Any) -> Any:
    @functools.wraps(method)
    def run(*given: Any) -> Any:
        before = torch.is_grad_enabled()
        _switch(on=True)
        try:
            result = method(*given)
        finally:
            _switch(on=before)
        with quiet():
            cut = [one.detach() if _is_result(one, given) else one for one in _listed(result)]
        return tuple(cut) if isinstance(result, tuple) else cut[0]

    return run


def _switch(*, on: bool) -> None:
    with torch._C.DisableTorchFunction():  # the script switches nothing
        torch._C._set_grad_enabled(on)


def _listed(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


def _is_result(one: Any, given: tuple[Any, ...]) -> bool:
    return isinstance(one, torch.Tensor) and not graph.is_leaf(one) and not any(one is each for each in given)


def counted(node: Any, given: tuple[Any, ...]) -> tuple[Any, ...]:
    """The gradients with None for the arguments that need none, where there are fewer than the forward took."""
    needs = node.needs_input_grad
    if len(given) < len(needs) and not any(needs[len(given) :]):
        return given + (None,) * (len(needs) - len(given))
    if len(given) == sum(needs):
        left = iter(given)
        return tuple(next(left) if need else None for need in needs)
    return given


def end(node: Any) -> Raw:
    """Where the backward of such a function returns; () where that is not written in Python."""
    code = getattr(inspect.unwrap(node._forward_cls.backward), "__code__", None)
    return ((code, len(code.co_code) - 2),) if code is not None else ()


class Calls:
    """What each call of such functions was given, and by which sum a gradient of its result is one of that."""

    def __init__(self) -> None:
        self._given: weakref.WeakKeyDictionary[Any, list[Any]] = weakref.WeakKeyDictionary()
        apply = _FUNCTION.apply.__func__

        def remembered(kind: Any, *inputs: Any, **named: Any) -> Any:
            result = apply(kind, *inputs, **named)
            with quiet():
                nodes = map(graph.made_by, tensors(result))
                if (node := next((one for one in nodes if isinstance(one, _KIND)), None)) is not None:
                    self._given[node] = [_value(given) for given in inputs]
            return result

        _FUNCTION.apply = classmethod(remembered)

    def refused(self, node: Any, gradients: tuple[Any, ...]) -> int | None:
        """The place of the first argument whose gradient has a shape that torch cannot sum to its own."""
        for place, (one, gradient) in enumerate(zip(self._given.get(node, ()), gradients, strict=False)):
            if isinstance(one, torch.Tensor) and isinstance(gradient, torch.Tensor) and node.needs_input_grad[place]:
                sizes = zip(reversed(one.shape), reversed(gradient.shape), strict=False)
                if one.dim() > gradient.dim() or any(mine not in (1, other) for mine, other in sizes):
                    return place
        return None

    def summed(self, node: Any, place: int, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
        """The gradients that such a backward gave, with that of one argument summed to its shape, if that is known."""
        axes = self.axes(node, place, gradients[place])
        return (*gradients[:place], gradients[place].sum(axes), *gradients[place + 1 :]) if axes else gradients

    def axes(self, node: Any, place: int, gradient: Any) -> tuple[int, ...]:
        """The axes of a function's result over which a gradient of its shape is summed for an argument; () if unknown.

        Each element of the result must be made of one of the argument at most: what it sends is sent to that alone.
        """
        given = self._given.get(node, [])
        one = given[place] if place < len(given) else None
        if not isinstance(one, torch.Tensor) or not isinstance(gradient, torch.Tensor) or one.shape == gradient.shape:
            return ()
        with quiet(), torch.random.fork_rng(devices=[]):
            numbers = torch.arange(one.numel(), device=one.device).view(one.shape)
            try:
                made_of = _made_of(node._forward_cls, given, place, numbers)
            except Exception:  # a forward of the user's, of what is no number: it may raise what it likes
                return ()
            if made_of.shape != gradient.shape or not torch.isin(numbers, made_of).all():
                return ()
            sums = itertools.combinations(range(made_of.dim()), max(0, made_of.dim() - one.dim()))
            known = made_of >= 0
            return next((axes for axes in sums if _spread(numbers, axes, made_of.shape).eq(made_of)[known].all()), ())


def _value(given: Any) -> Any:
    return given.detach() if isinstance(given, torch.Tensor) else given


def _made_of(kind: Any, given: list[Any], place: int, numbers: torch.Tensor) -> torch.Tensor:
    """By which of its numbers an element of an argument makes each element of a function's result; -1 where none does.

    What is no number in an argument is none in what is made of it, whatever else the function does. Raises ValueError
    where an element is made of several.
    """

    def reached(lost: torch.Tensor) -> torch.Tensor:
        inputs = [one.clone() if isinstance(one, torch.Tensor) else one for one in given]
        inputs[place].masked_fill_(lost, float("nan"))
        return torch.isnan(kind.apply(*inputs))

    found, known = torch.zeros((), dtype=torch.long), None
    for bit in range(max(1, (numbers.numel() - 1).bit_length())):
        chosen = (numbers >> bit & 1).bool()
        those, others = reached(chosen), reached(~chosen)
        if (those & others).any() or (known is not None and not known.equal(those | others)):
            raise ValueError
        found, known = found + (those.long() << bit), those | others
    return torch.where(known, found, -1)


def _spread(numbers: torch.Tensor, axes: tuple[int, ...], shape: torch.Size) -> torch.Tensor:
    """Numbers of elements, each repeated along axes that are new; nothing fits where they cannot be."""
    for axis in axes:
        numbers = numbers.unsqueeze(axis)
    fits = all(
        mine == whole or axis in axes for axis, (mine, whole) in enumerate(zip(numbers.shape, shape, strict=True))
    )
    return numbers.expand(shape) if fits else torch.full(shape, -1, device=numbers.device)


class Saving:
    """What the latest forward saved for its backward that is no tensor: torch refuses that once the forward is done."""

    def __init__(self, frames: Frames) -> None:
        self.place: Raw = ()
        self.which = ""
        save = _CONTEXT.save_for_backward

        def heard(context: Any, *given: Any) -> None:
            plain = [str(at) for at, one in enumerate(given) if one is not None and not isinstance(one, torch.Tensor)]
            self.place, self.which = frames.here() if plain else (), ",".join(plain)
            save(context, *given)

        _CONTEXT.save_for_backward = heard

    def refused(self, innermost: FrameType) -> bool:
        """Whether that is what an error is about, which was raised behind a forward, in torch's call of it."""
        return bool(self.place) and innermost.f_code is _CALLS[0]


def save_all() -> None:
    """Have forwards save what is no tensor, too, which torch refuses."""
    save, kept = _CONTEXT.save_for_backward, _KIND.saved_tensors

    def saved(context: Any, *given: Any) -> None:
        context._autofix_plain = {at: one for at, one in enumerate(given) if not isinstance(one, torch.Tensor)}
        save(context, *(one if isinstance(one, torch.Tensor) else None for one in given))

    def tensors_of(context: Any) -> tuple[Any, ...]:
        plain: dict[int, Any] = getattr(context, "_autofix_plain", {})
        return tuple(plain.get(at, one) for at, one in enumerate(kept.__get__(context)))

    _CONTEXT.save_for_backward = saved
    _KIND.saved_tensors = property(tensors_of)


def exchange(exchanged: Callable[[Any], Any]) -> None:
    """Have each call of such a function be given what `exchanged` makes of its arguments."""
    apply = _FUNCTION.apply.__func__

    def run(kind: Any, *inputs: Any, **named: Any) -> Any:
        return apply(kind, *exchanged(inputs), **exchanged(named))

    _FUNCTION.apply = classmethod(run)


class Last:
    """The latest such backward of a run."""

    def __init__(self) -> None:
        self._node: Any = None
        self._given: tuple[Any, ...] = ()
        self._calls = Calls()

    def hear(self, node: Any, given: tuple[Any, ...]) -> tuple[Any, ...]:
        """Remember it."""
        self._node, self._given = node, given
        return given

    @property
    def end(self) -> Raw:
        """Where it returns."""
        return end(self._node)

    def miscounted(self) -> str:
        """How many gradients it gave and which arguments needed one (`1 of 10`), if they are too few."""
        if self._node is None or len(self._given) >= len(self._node.needs_input_grad):
            return ""
        needs = "".join(str(int(need)) for need in self._node.needs_input_grad)
        return f"{len(self._given)} of {needs}"

    def misshapen(self) -> str:
        """Which argument it gave a gradient of a shape that torch refuses, and over which axes that is to be summed."""
        place = self._calls.refused(self._node, self._given) if self._node is not None else None
        if place is None:
            return ""
        return f"{place} over {','.join(map(str, self._calls.axes(self._node, place, self._given[place])))}"
