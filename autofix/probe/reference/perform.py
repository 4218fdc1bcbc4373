"""Performs what torch refuses, so that a reference run can go on: each refused call once, in one of its readings.

A write to a leaf, or to a view of one, has two readings. As an *update* it changes the values and leaves no trace in
the graph. As an *operation* it is part of the forward: what stood there goes into the graph, and so does the value
written; where something else that an optimizer owns learns by that, the leaf stands for it in this pass alone. A result
that an optimizer is given is a leaf of its own, or stands for the leaves that it is made of. The values that a backward
starts from are summed up, or their mean is taken. A conversion, a flag on a non-leaf or an unused input has one reading
each.
"""

from __future__ import annotations

import contextlib
import dis
import functools
import sys
from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import TorchFunctionMode

from .. import HERE, wire
from ..engine import graph
from ..engine.refused import DERIVATIVE, is_write, name_of, refused, swapped
from ..engine.taps import Call, Listener, parameters
from ..instruments.aims import holds_two
from ..refused.drifting import Drifting
from ..refused.moved_again import MovedAgain
from ..refused.overwritten import Overwritten
from ..refused.part_of import by_wholes
from ..refused.steps_by_hand import StepsByHand
from .beside import beside
from .follow import NOTHING as UNFOLLOWED
from .sites import NOTHING, Sites

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType

    from ..engine.names import Names
    from ..program.frames import Frames, Raw
    from ..refused.for_a_pass import ForAPass
    from .follow import Follow
    from .one_memory import OneMemory

_OVERRIDES = torch.overrides.__file__
_CALLED = torch.nn.Module._call_impl.__code__
_BINDS = ("STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF", "RETURN_VALUE")
_UNUSED = {"allow_unused": True, "materialize_grads": True}


class Perform(TorchFunctionMode, Listener):
    """Lets every call through; one that torch refuses is performed in the reading asked for and noted."""

    def __init__(
        self, frames: Frames, names: Names, asked: wire.Request, follow: Follow | None, memory: OneMemory
    ) -> None:  # fmt: skip
        super().__init__()
        self.for_a_pass: ForAPass | None = None
        """Who keeps what leaves stand for in a pass, where writes are operations."""
        self.by_hand: Callable[[torch.Tensor], None] = lambda _written: None
        """Who hears of writes that leave no trace in the graph and are no step of an optimizer."""
        self._in_step = False
        self._memory = memory
        self._frames, self._names = frames, names
        self._operation = asked.reading == "operation"
        self._kind = "conversion" if self._operation else "no_graph"
        self._nudged = asked.nudged
        self._performed: dict[Raw, str] = {}
        self._pending: dict[int, Raw] = {}
        self._unreached: set[Raw] = set()
        self._stepped: set[int] = set()
        """The ids of the parameters that an optimizer has moved."""
        self._written_of: dict[int, torch.Tensor] = {}
        """The leaves that values were made of which an update wrote to a leaf, so without their gradient."""
        self._owned: set[int] = set()
        self._in_forward = False
        """Whether a module wrote to what an optimizer owns what was made of something else that one owns."""
        self._aimed = False
        """Whether a loss or a difference held against each other what both has a graph."""
        self._overwritten = Overwritten(frames, names)
        self._steps_by_hand = StepsByHand(frames, names)
        self._drifting = Drifting(frames, names)
        self._moved_again = MovedAgain(frames, names)
        self._follow_values = follow
        if follow is not None:
            follow.entered = self._leaves
        self._sites = Sites(frames, asked.sites, operation=self._operation) if asked.sites else None

    def __exit__(self, *error: object) -> None:
        # A run may end inside a torch function, where torch has taken the mode off already.
        with contextlib.suppress(RuntimeError):
            super().__exit__(*error)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if self.for_a_pass is not None:
            args, kwargs = self.for_a_pass.given(func, args, kwargs)
            if self.for_a_pass.again(func, args):
                return self._for_this_pass(func, args, kwargs, args[0])
        self._aimed = self._aimed or holds_two(func, args, kwargs)
        self._memory.before(func, args)
        result = self._done(func, args, kwargs)
        self._memory.after(func, args, result)
        self._overwritten.heard(func, args, kwargs, result)
        self._steps_by_hand.heard(func, args, kwargs, result)
        if is_write(func) and not self._in_step and args and isinstance(args[0], torch.Tensor):
            with torch._C.DisableTorchFunction():
                if not (self._operation and args[0].requires_grad and torch.is_grad_enabled()):
                    self.by_hand(args[0])
        return result

    def _done(self, func: Any, args: Any, kwargs: Any) -> Any:
        if self._follow_values is not None:
            followed = self._follow_values.before(func, args, kwargs)
            if followed is not UNFOLLOWED:
                return followed
        try:
            if self._sites is None:
                return func(*args, **kwargs)
            early = self._sites.before(func, args, kwargs)
            return self._sites.after(func(*args, **kwargs)) if early is NOTHING else early
        except RuntimeError:
            again = self._again(func, args, kwargs)
            if again is None:
                raise
        return again()

    # One refused call -----------------------------------------------------------------------------------------------

    def _again(self, func: Any, args: Any, kwargs: Any) -> Callable[[], Any] | None:
        """How to perform a call that was refused; None where there is no way, or where it failed for another reason."""
        kind, target = refused(func, args, kwargs)
        if kind in ("leaf_modified", "view_modified") and target is not None:
            self._memory.wrote(target)
            again = self._write(kind, func, args, kwargs, target)
        elif kind == "out_refused":
            again = functools.partial(_into, func, args, kwargs)
        elif kind == "conversion" and target is not None:
            again = functools.partial(self._convert, func, args, kwargs, target)
        elif kind == "nonleaf_gradient" and target is not None and not target._is_view():
            flag = args[1] if len(args) > 1 else kwargs.get("requires_grad", True)
            again = functools.partial(_flag, target, bool(flag))
        elif name_of(func) == "torch.Tensor.backward" and (weights := self._weights(args, kwargs)) is not None:
            kind, again = "nonscalar_backward", functools.partial(func, *args[:1], **kwargs | {"gradient": weights})
        elif kind == "no_graph":
            again = functools.partial(_as_float, func, args, kwargs, target)
        elif name_of(func) == DERIVATIVE and not kwargs.get("allow_unused"):
            kind, again = "unused_input", functools.partial(self._with_zeros, func, args, kwargs)
        else:
            return None
        if again is not None:
            self._performed.setdefault(self._frames.here(), kind)
        return again

    def _write(
        self, kind: str, func: Any, args: Any, kwargs: Any, target: torch.Tensor
    ) -> Callable[[], Any] | None:  # fmt: skip
        if kind == "view_modified" and isinstance(graph.made_by(target), torch.autograd.function.BackwardCFunction):
            # Written in place, or through its base, it would lose the backward that its function has of its own.
            kept = not _discarded(func) and "out" not in kwargs
            return (lambda: _out_of_place(func, args, kwargs, target)[1]) if kept else None
        if not self._operation:
            self._overwritten.wrote(func, args, target)
            self._steps_by_hand.wrote(args, kwargs, target)
            self._moved_again.wrote(func, args, target)
            self._drifting.wrote(func, args, target, named=_next(func) in _BINDS)
            values = [one for one in (*args, *kwargs.values()) if isinstance(one, torch.Tensor) and one is not target]
            made_of = {id(leaf): leaf for leaf in graph.leaves(graph.walk(values)) if leaf is not target}
            self._written_of |= made_of
            owned = id(target) in self._owned and not self._owned.isdisjoint(made_of)
            self._in_forward = self._in_forward or (owned and _computing())
            return functools.partial(_update, func, args, kwargs)
        if "out" in kwargs:
            return None
        values = [one for one in (*args, *kwargs.values()) if isinstance(one, torch.Tensor) and one is not target]
        taken = kind == "leaf_modified" and self.for_a_pass is not None and self.for_a_pass.takes(target, values)
        if taken and _next(func) not in _BINDS:
            return functools.partial(self._for_this_pass, func, args, kwargs, target)
        bound = _out_of_place if not _discarded(func) else _in_place
        perform = _on_fresh_view if kind == "view_modified" else bound

        def again() -> Any:
            changed, result = perform(func, args, kwargs, target)
            self._follow(changed)
            return result

        return again

    def _for_this_pass(self, func: Any, args: Any, kwargs: Any, target: torch.Tensor) -> Any:
        """Let a leaf stand for the result of a write while modules compute."""
        assert self.for_a_pass is not None  # noqa: S101  it was asked before
        dropped = _discarded(func)
        changed, result = self.for_a_pass.write(func, args, kwargs, target)
        self._follow(changed)
        return target if dropped else result

    def _convert(self, func: Any, args: Any, kwargs: Any, target: torch.Tensor) -> Any:
        if target.is_inference():
            plain = target.clone()
        elif func.__name__ == "__deepcopy__":
            plain = _other(target.detach().clone(), nudged=self._nudged)
            args[1][id(target)] = plain
            return plain
        else:
            plain = target.detach()
        given = func(*swapped(args, target, plain), **swapped(kwargs, target, plain))
        self._memory.converted(plain, given)
        return _other(given, nudged=self._nudged)

    def _weights(self, args: Any, kwargs: Any) -> torch.Tensor | None:
        """What each value counts that a backward starts from; None where there is one, or the caller says it."""
        loss = args[0]
        if len(args) > 1 or kwargs.get("gradient") is not None or loss.numel() == 1:
            return None
        with torch._C.DisableTorchFunction():
            return torch.full_like(loss, 1 / loss.numel() if self._operation else 1.0)

    def hear_modes(self, switched: Callable[[bool, bool], None]) -> None:
        """Tell of each mode that the script sets: whether gradients are on then, and whether they only stay on here."""
        if self._sites is not None:
            self._sites.switched = switched

    def take_leaves(self) -> None:
        """Let optimizers that are given results take the leaves that these are made of, where they are operations."""
        kind = torch.optim.Optimizer
        added = kind.add_param_group

        def add(optimizer: torch.optim.Optimizer, group: Any) -> None:
            given = group.get("params")
            if self._operation and not isinstance(given, (torch.Tensor, set, type(None))):
                given = list(given)
                group = {**group, "params": self._leaves_of(optimizer, given)}
            added(optimizer, group)

        kind.add_param_group = add

    def take_assignments(self) -> None:
        """Let a tensor that is assigned to the name of a parameter become the value of that parameter.

        One with a graph may be meant as the value for one pass, too: not if it is made of the parameter alone, and
        assigned after that had its gradient, where no module computes.
        """
        kind = torch.nn.Module
        assign = kind.__setattr__

        def assigned(module: torch.nn.Module, name: str, value: Any) -> None:
            parameter = vars(module).get("_parameters", {}).get(name)
            plain = isinstance(value, torch.Tensor) and not isinstance(value, torch.nn.Parameter)
            if not isinstance(parameter, torch.Tensor) or not plain or not self._updates(parameter, value):
                assign(module, name, value)
                return
            self._performed.setdefault(self._frames.here(), "parameter_assigned")
            with torch.no_grad():
                if parameter.shape == value.shape:
                    parameter.copy_(value)
                else:
                    parameter.data = value.clone()

        setattr(kind, "__setattr__", assigned)  # noqa: B010  mypy does not let a method be replaced

    def _updates(self, parameter: torch.Tensor, value: torch.Tensor) -> bool:
        """Whether a value that is assigned to the name of a parameter can only be meant as an update of it."""
        if not value.requires_grad:
            return True
        trained = parameter.grad is not None or id(parameter) in self._stepped
        alone = trained and all(leaf is parameter for leaf in graph.leaves(graph.walk([value])))
        return alone and not _computing()

    def step(self, _index: int, optimizer: torch.optim.Optimizer) -> None:
        self._in_step = True
        self._overwritten.step(optimizer)
        self._moved_again.step(optimizer)
        self._drifting.step()
        self._stepped.update(id(one) for one in parameters(optimizer) if one.grad is not None)

    def step_done(self, _index: int, _optimizer: torch.optim.Optimizer) -> None:
        self._in_step = False

    def _leaves_of(self, optimizer: torch.optim.Optimizer, given: list[Any]) -> list[Any]:
        if not any(isinstance(one, torch.Tensor) and not graph.is_leaf(one) for one in given):
            return given
        self._performed.setdefault(self._frames.here(), "nonleaf_gradient")
        taken = {id(t): t for t in given if not isinstance(t, torch.Tensor) or graph.is_leaf(t)}
        known, found = {*taken, *map(id, parameters(optimizer))}, dict[int, Any]()
        for one in given:
            if id(one) in taken:
                found[id(one)] = one
                continue
            behind = graph.leaves(graph.walk([one]))
            found |= {id(leaf): leaf for leaf in behind if id(leaf) not in known}
        return list(found.values())

    def _with_zeros(self, func: Any, args: Any, kwargs: Any) -> Any:
        """A derivative with zeros for what its output does not depend on; where that is all of it, it is noted."""
        given, part_of = by_wholes(func, args, kwargs)
        found = func(*given[0], **given[1] | {"allow_unused": True, "materialize_grads": False})
        if all(one is None for one in found):
            self._performed[self._frames.here()] = "nothing_used"
        zeros = func(*given[0], **given[1] | _UNUSED)
        return tuple(part(one) for part, one in zip(part_of, zeros, strict=True))

    # What became of it ----------------------------------------------------------------------------------------------

    def _follow(self, changed: torch.Tensor) -> None:
        """Watch whether a later backward goes through the result of an operation."""
        if (node := graph.made_by(changed)) is not None:
            self._pending[node._sequence_nr()] = self._frames.here()

    def _leaves(self, tensor: torch.Tensor) -> None:
        """A value left torch that is followed."""
        self._performed.setdefault(self._frames.here(), self._kind)
        self._follow(tensor)

    def told(self) -> dict[str, Any]:
        """The refused calls, one record a site; leaves that lose what comes after a leaf that was made of them; facts.

        These are of values that were followed through arrays, and of results whose gradients add up.
        """
        resolve, facts = self._frames.resolve, self._follow_values.facts() if self._follow_values is not None else []
        added = self._sites.added if self._sites is not None else {}
        facts += [wire.Fact("gradient-adds-up", "", resolve(raw)) for raw in added]
        limited = self._sites.limited() if self._sites is not None else []
        facts += [wire.Fact("range-is-left", "", resolve(raw)) for raw in limited]
        facts += [wire.Fact("written-of", self._names.name(leaf, "a leaf")) for leaf in self._written_of.values()]
        facts += [wire.Fact("written-in-forward", "")] * self._in_forward
        facts += [wire.Fact("holds-two", "")] * self._aimed
        facts += self._overwritten.facts() + self._steps_by_hand.facts(self._owned)
        facts += self._drifting.facts(self._owned) + self._moved_again.facts()
        calls = (self._performed | (self._sites.met if self._sites is not None else {})).items()
        left_out = self._sites.left_out() if self._sites is not None else []
        return {
            "facts": facts, "left_out": tuple(self._names.name(leaf, "a leaf") for leaf in left_out),
            "performed": tuple(wire.Performed(kind, resolve(raw), raw not in self._unreached) for raw, kind in calls),
        }  # fmt: skip

    def optimizer_grew(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self._owned |= set(map(id, parameters(optimizer)))

    def optimizer_made(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        super().optimizer_made(index, optimizer)
        if self._sites is not None:
            self._sites.unfreeze(parameters(optimizer))

    def backward(self, call: Call) -> None:
        if self._sites is not None:
            self._sites.look()
        if self._follow_values is not None:
            self._follow_values.backward(call)
        if not self._pending:
            return
        reached = graph.ages(graph.walk(call.roots))
        sites = set(self._pending.values())
        used = {raw for age, raw in self._pending.items() if age in reached}
        self._unreached = (self._unreached | sites) - used
        self._pending = {age: raw for age, raw in self._pending.items() if raw not in used}


# The readings of a write --------------------------------------------------------------------------------------------


def _update(func: Any, args: Any, kwargs: Any) -> Any:
    with torch.no_grad():
        return func(*args, **kwargs)


def _into(func: Any, args: Any, kwargs: Any) -> Any:
    """Put results where the caller wants them; nothing is left of what stood there, nor of its graph."""
    result = func(*args, **{key: value for key, value in kwargs.items() if key != "out"})
    several = isinstance(result, (tuple, list))
    for out, value in zip(kwargs["out"], result, strict=True) if several else [(kwargs["out"], result)]:
        if not out._is_view():
            out.detach_()
        if out.shape != value.shape:
            out.resize_(value.shape)
        out.copy_(value)
    return kwargs["out"]


def _out_of_place(func: Any, args: Any, kwargs: Any, target: torch.Tensor) -> tuple[torch.Tensor, Any]:
    """Write to a copy that is bound in place of the target; the leaf itself stays as it is."""
    copy = target.clone()
    result = func(*swapped(args, target, copy), **swapped(kwargs, target, copy))
    return copy, result


def _in_place(func: Any, args: Any, kwargs: Any, target: torch.Tensor) -> tuple[torch.Tensor, Any]:
    """Make the user's own tensor go on as the result: all who hold it see the write, and it is a leaf no more."""
    base = target if graph.is_leaf(target) else graph.base(target)
    whole = base.detach().clone().requires_grad_().clone()
    written = whole if base is target else _same_view(whole, target, base)
    result = func(*swapped(args, target, written), **swapped(kwargs, target, written))
    base.requires_grad_(False)
    base.copy_(whole)
    return base, target if result is written else result


def _on_fresh_view(func: Any, args: Any, kwargs: Any, target: torch.Tensor) -> tuple[torch.Tensor, Any]:
    """Write through a view of the same place that autograd knows."""
    base = graph.base(target)
    view = base.as_strided(target.size(), target.stride(), target.storage_offset())
    return base, func(*swapped(args, target, view), **swapped(kwargs, target, view))


def _same_view(whole: torch.Tensor, target: torch.Tensor, base: torch.Tensor) -> torch.Tensor:
    if whole.stride() != base.stride():
        raise RuntimeError("the layout of a copy differs from that of the tensor written")
    return whole.as_strided(target.size(), target.stride(), target.storage_offset() - base.storage_offset())


def _computing() -> bool:
    """Whether a module is being called."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code is not _CALLED:
        frame = frame.f_back
    return frame is not None


def _discarded(func: Any) -> bool:
    """Whether the caller of a torch function drops its result, or puts it back as an attribute.

    `self.p += v` stores what it wrote to where it was: the object that all others hold goes on.
    """
    return _next(func) in ("POP_TOP", "STORE_ATTR")


def _next(func: Any) -> str:
    """What the caller of a torch function does with its result, as the name of an instruction."""
    if getattr(func, "__name__", "") == "__setitem__":
        return "POP_TOP"
    own = getattr(func, "__code__", None)
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code is not own and code.co_filename != _OVERRIDES and not code.co_filename.startswith(HERE):
            return _after(code, frame.f_lasti)
        frame = frame.f_back
    return ""


@functools.cache
def _after(code: CodeType, lasti: int) -> str:
    """The name of the instruction after the one at `lasti`."""
    found = False
    for instruction in dis.get_instructions(code):
        if found and instruction.opname not in ("SWAP", "CACHE"):
            return instruction.opname
        found = found or instruction.offset == lasti
    return ""


# Everything else has one reading ------------------------------------------------------------------------------------


def _other(value: Any, *, nudged: bool) -> Any:
    """What a conversion gives, or something a little beside it: does a later loss depend on it?"""
    return beside(value) if nudged else value


def _flag(target: torch.Tensor, flag: bool) -> torch.Tensor:
    target.detach_()
    return target.requires_grad_(flag)


def _as_float(func: Any, args: Any, kwargs: Any, target: torch.Tensor | None) -> torch.Tensor:
    dtype = torch.get_default_dtype()
    if target is None:
        plain: torch.Tensor = func(*args, **{key: value for key, value in kwargs.items() if key != "requires_grad"})
        return plain.to(dtype).requires_grad_()
    target.data = target.data.to(dtype)
    return target.requires_grad_()
