"""Performs what torch refuses, so that a reference run can go on: each refused call once, in one of its readings.

A write to a leaf, or to a view of one, has two readings. As an *update* it changes the values and leaves no trace in
the graph. As an *operation* it is part of the forward: what stood there goes into the graph, and so does the value
written; where something else that an optimizer owns learns by that, the leaf stands for it in this pass alone. A result
that an optimizer is given is a leaf of its own, or stands for the leaves that it is made of. Where the flag of what a
module computes is switched off, it is cut, or what is behind it is frozen (`flagged`). The values that a backward
starts from are summed up, or their mean is taken; those of which each depends on an example of its own, by which a
derivative is asked for, are summed up. A conversion, a flag on another result or an unused input has one reading each,
and so has a gradient that is to be kept, or to meet a hook, where gradients are off: none comes. So has a view that is
to be cut, or to have another shape: it is so from then on, for all who hold that very tensor. A result whose flag is
switched off is a constant until it is on again (`resting`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from .. import wire
from ..arrays.beside import beside
from ..arrays.follow import NOTHING as UNFOLLOWED
from ..arrays.follow import Follow
from ..engine import caller, graph
from ..engine.operators import Functions
from ..engine.quiet import quiet
from ..engine.refused import DERIVATIVE, exchanges, is_real, is_write, listed, name_of, refused, swapped
from ..engine.remembered import Remembered
from ..engine.taps import Call, Listener
from ..instruments.aims import holds_two
from ..passes.for_a_call import ForACall
from ..passes.left_out import LeftOut
from ..program.frames import Frames, Raw
from ..refused import walked, ways
from ..refused.converted import Copies
from ..refused.derivatives.unused import Unused, by_name
from ..refused.flagged import Flagged
from ..refused.for_a_pass import ForAPass
from ..refused.one_loss import OneLoss
from ..refused.resting import Resting
from ..refused.updates import Updates
from ..refused.walked import Walked
from .one_memory import OneMemory
from .sites import NOTHING, Sites
from .standing import Standing

_MEANS = {torch.mean, torch.Tensor.mean}


class Perform(Functions, Listener):
    """Lets every call through; one that torch refuses is performed in the reading asked for and noted."""

    def __init__(
        self, frames: Frames, asked: wire.Request, updates: Updates, memory: OneMemory, flagged: Flagged
    ) -> None:  # fmt: skip
        super().__init__()
        self.for_a_pass: ForAPass | None = None
        """Who keeps what leaves stand for in a pass, where writes are operations."""
        self.for_a_call: ForACall | None = None
        """Who follows buffers that each call sets for itself."""
        self.walked: Walked | None = None
        """Who finds the containers whose leaves a loop writes, where writes are operations."""
        self.sites: Sites | None = None
        self.standing: Standing | None = None
        self.left_out: LeftOut | None = None
        self.follow: Follow | None = None
        self.by_hand: Callable[[torch.Tensor], None] = lambda _written: None
        """Who hears of writes that leave no trace in the graph and are no step of an optimizer."""
        self.looked: Callable[[Any, Any], None] = lambda _func, _args: None
        """Who hears of what is looked at."""
        self.leaves_torch: Callable[[torch.Tensor], None] = lambda _tensor: None
        """Who hears of results that are turned into arrays or numbers."""
        self.copies: Callable[[torch.Tensor], None] = lambda _tensor: None
        """Who hears of results of which a deep copy is made."""
        self.begins: Callable[[torch.Tensor], None] = lambda _leaf: None
        """Who hears of a leaf before a write that is part of the forward."""
        self._in_step = False
        self._frames, self._updates, self._memory, self._flagged = frames, updates, memory, flagged
        self._operation = asked.reading == "operation"
        self._kind = "conversion" if self._operation else "no_graph"
        self._nudged = asked.nudged
        self._converted = Remembered[None]()
        """What was refused to be an array: of a list of numbers numpy then asks for each as a float."""
        self._performed: dict[Raw, str] = {}
        self._pending: dict[int, Raw] = {}
        self._unreached: set[Raw] = set()
        self._differentiated: set[int] = set()
        """The ids of tensors by which derivatives with a graph were asked for."""
        self._by_example: dict[Raw, bool] = {}
        """Where a derivative of several values is asked for: whether each depends on an example of its own."""
        self.unused = Unused()
        self.one_loss = OneLoss(frames)
        self.resting = Resting()
        self._copies = Copies()
        self._copies_deeply = False
        self._aimed = False
        """Whether a loss or a difference held against each other what both has a graph."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        args, kwargs = self.resting.given(func, args, kwargs or {})
        if self.for_a_pass is not None:
            args, kwargs = self.for_a_pass.given(func, args, kwargs)
            if self.for_a_pass.again(func, args):
                return self._for_this_pass(func, args, kwargs, args[0])
        if self.standing is not None:
            args, kwargs = self.standing.given(func, args, kwargs)
        self._aimed = self._aimed or holds_two(func, args, kwargs)
        self._memory.before(func, args)
        standing = self.standing
        result = self._done(func, args, kwargs) if standing is None else standing.done(func, args, kwargs, self._done)
        if self._nudged and func.__name__ == "__float__" and args[0] in self._converted:
            result = beside(result)
        result = self._copies.given(func, args, result) if self._operation else result
        self._memory.after(func, args, result)
        if self.for_a_call is not None:
            self.for_a_call.heard(func, args, kwargs, result)
        self._updates.heard(func, args, kwargs, result)
        self.looked(func, args)
        with torch._C.DisableTorchFunction():
            self.unused.slopes.heard(func, args, result)
            if name_of(func) == DERIVATIVE:
                self._derived(by_name(args, kwargs), result)
        written = is_write(func) or name_of(func) == "torch.Tensor.data.__set__"
        if written and not self._in_step and args and isinstance(args[0], torch.Tensor):
            with torch._C.DisableTorchFunction():
                if self._copies.has(args[0]):
                    self.note("leaf_modified")
                    self._follow(graph.base(args[0]))
                if not (self._operation and args[0].requires_grad and torch.is_grad_enabled()):
                    self.by_hand(args[0])
        return result

    def _derived(self, given: Any, result: Any) -> None:
        """A derivative was given."""
        if given.get("create_graph"):
            self.unused.slopes.derived(given["outputs"], given["inputs"], result)
        if self.left_out is not None:
            self.left_out.derived(listed(given["outputs"]), listed(given["inputs"]))

    def _done(self, func: Any, args: Any, kwargs: Any) -> Any:
        if self.follow is not None:
            followed = self.follow.before(func, args, kwargs)
            if followed is not UNFOLLOWED:
                return followed
        if (number := self.one_loss.read(func, args)) is not None:
            return number
        if func in _MEANS:
            self.one_loss.took_mean(args, kwargs)
        try:
            if self.sites is None:
                return func(*args, **kwargs)
            early = self.sites.before(func, args, kwargs)
            return self.sites.after(func(*args, **kwargs)) if early is NOTHING else early
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
            kind = "view_exchanged" if target._is_view() and exchanges(name_of(func)) else kind
            self._memory.wrote(target)
            again = self._write(kind, func, args, kwargs, target)
        elif kind == "out_refused":
            again = functools.partial(ways.into, func, args, kwargs)
        elif kind in ("conversion", "inference_tensor") and target is not None:
            again = functools.partial(self._convert, func, args, kwargs, target)
        elif kind == "nonleaf_gradient" and target is not None and not target._is_view():
            flag = args[1] if len(args) > 1 else kwargs.get("requires_grad", True)
            again = functools.partial(self._flag, target, on=bool(flag))
        elif (weighed := self._weighed(func, args, kwargs)) is not None:
            kind, again = weighed
        elif kind == "hook_refused" and (
            not torch.is_grad_enabled() or (self.sites is not None and self.sites.unwatched)
        ):
            again = functools.partial(ways.unwatched, func)
        elif kind == "no_graph":
            again = functools.partial(ways.as_float, func, args, kwargs, target)
        elif name_of(func) == DERIVATIVE and not kwargs.get("allow_unused"):
            kind, again = "unused_input", functools.partial(self._with_zeros, func, args, kwargs)
        else:
            return None
        if again is not None:
            self.note(kind)
        return again

    def _write(
        self, kind: str, func: Any, args: Any, kwargs: Any, target: torch.Tensor
    ) -> Callable[[], Any] | None:  # fmt: skip
        if kind == "view_exchanged":
            return ways.exchanged(func, args, kwargs, target)
        if kind == "view_modified" and isinstance(graph.made_by(target), torch.autograd.function.BackwardCFunction):
            # Written in place, or through its base, it would lose the backward that its function has of its own.
            apart = ways.apart if caller.discards(func) else ways.out_of_place
            may = "out" not in kwargs and (apart is ways.out_of_place or ways.may_exchange(target))
            return (lambda: apart(func, args, kwargs, target)[1]) if may else None
        if self.for_a_pass is not None and "out" not in kwargs and self.for_a_pass.takes_all(target):
            return functools.partial(self._for_this_pass, func, args, kwargs, target)
        if not self._operation:
            self._updates.wrote(func, args, kwargs, target)
            return functools.partial(ways.update, func, args, kwargs)
        if "out" in kwargs:
            return None
        self.begins(graph.base(target))
        values = [one for one in (*args, *kwargs.values()) if isinstance(one, torch.Tensor) and one is not target]
        taken = kind == "leaf_modified" and self.for_a_pass is not None and self.for_a_pass.takes(target, values)
        if taken and not caller.binds(func):
            return functools.partial(self._for_this_pass, func, args, kwargs, target)
        holding = self.walked.holding(func, target) if self.walked is not None and kind == "leaf_modified" else []
        bound = (
            ways.in_place
            if caller.discards(func) and not holding and not self._is_own_past(func, target, values)
            else ways.out_of_place
        )
        perform = ways.on_fresh_view if kind == "view_modified" else bound

        def again() -> Any:
            changed, result = perform(func, args, kwargs, target)
            self._follow(changed)
            walked.put(holding, target, changed)
            return result

        return again

    def _flag(self, target: torch.Tensor, *, on: bool) -> torch.Tensor:
        with torch._C.DisableTorchFunction():
            if on:
                return ways.flag(target)
            return target if self._flagged.switched_off(target) else self.resting.switch_off(target)

    def _is_own_past(self, func: Any, target: torch.Tensor, values: list[torch.Tensor]) -> bool:
        """Whether an attribute takes what is made of its leaf by a derivative with a graph: an inner step.

        That graph needs the leaf as it is, so that the result can only be another tensor.
        """
        own = caller.stores(func) and id(target) in self._differentiated
        return own and any(leaf is target for leaf in graph.leaves(graph.walk(values)))

    def _for_this_pass(self, func: Any, args: Any, kwargs: Any, target: torch.Tensor) -> Any:
        """Let a leaf stand for the result of a write while modules compute."""
        assert self.for_a_pass is not None  # noqa: S101  it was asked before
        dropped = caller.discards(func)
        changed, result = self.for_a_pass.write(func, args, kwargs, target)
        self._follow(changed)
        return target if dropped else result

    def _convert(self, func: Any, args: Any, kwargs: Any, target: torch.Tensor) -> Any:
        if target.is_inference():
            plain = target.clone()
        elif func.__name__ == "__deepcopy__":
            self._copies_deeply = True
            self.copies(target)
            args[1][id(target)] = plain = self._deep_copy(target)
            return plain
        else:
            plain = target.detach()
        self._converted.keep(target, None)
        self.leaves_torch(target)
        given = func(*swapped(args, target, plain), **swapped(kwargs, target, plain))
        self._memory.converted(plain, given)
        return _other(given, nudged=self._nudged)

    def _deep_copy(self, tensor: torch.Tensor) -> torch.Tensor:
        if not self._operation:
            copy = tensor.detach().clone()
            return beside(copy) if self._nudged else copy
        with torch.enable_grad():
            whole = tensor.clone()
        self._follow(whole)
        return whole

    def _weighed(self, func: Any, args: Any, kwargs: Any) -> tuple[str, Callable[[], Any]] | None:
        """A call that goes backward from several values, with what each counts; None if it does not fail by that."""
        if (fitting := ways.with_fitting_weights(func, args, kwargs)) is not None:
            return "weights_fitted", fitting
        if name_of(func) == DERIVATIVE:
            return self._weighed_derivative(func, args, kwargs)
        weights = self._weights(args, kwargs) if name_of(func) == "torch.Tensor.backward" else None
        return weights and (weights[0], functools.partial(func, *args[:1], **kwargs | {"gradient": weights[1]}))

    def _weighed_derivative(self, func: Any, args: Any, kwargs: Any) -> tuple[str, Callable[[], Any]] | None:
        """A derivative of several values: each counts one where it is that of an example, and is to have a graph.

        Their mean would be the derivative of an example divided by the number of the others. By what all of them share,
        or what is trained, it may be meant all the same; so may it be of several values of one example.
        """
        given = by_name(args, kwargs)
        outputs, inputs = (listed((given.get(name),)) for name in ("outputs", "inputs"))
        with torch._C.DisableTorchFunction():
            if given.get("grad_outputs") is not None or all(one.numel() == 1 for one in outputs):
                return None
            here = self._frames.here()
            if here not in self._by_example:
                asked = bool(given.get("create_graph"))
                self._by_example[here] = asked and all(_is_by_example(one, inputs) for one in outputs)
            own = self._by_example[here]
            mean = self._operation and not own
            weights = [torch.full_like(one, 1 / one.numel() if mean else 1.0) for one in outputs]
        kind = "nonscalar_derivative" if own else "nonscalar_backward"
        return kind, functools.partial(func, **given | {"grad_outputs": weights})

    def _weights(self, args: Any, kwargs: Any) -> tuple[str, torch.Tensor] | None:
        """Why backward does not start at a loss, and what each of its values counts; None if the caller says that.

        Of a complex number the real part counts, or its magnitude; where both are the same, there is no choice.
        """
        loss = args[0]
        if len(args) > 1 or kwargs.get("gradient") is not None or not (loss.is_complex() or loss.numel() != 1):
            return None
        with torch._C.DisableTorchFunction():
            if loss.numel() != 1:
                weights = torch.full_like(loss, 1 / loss.numel() if self._operation else 1.0)
                if not loss.is_complex():
                    self.one_loss.began(self._frames.here(), loss, weights)
                return "nonscalar_backward", weights
            if is_real(loss):
                return "real_loss", torch.ones_like(loss)
            self._performed[self._frames.here()] = "complex_loss"  # also where it was real before
            return "complex_loss", torch.sgn(loss.detach()) if self._operation else torch.ones_like(loss)

    def backward_done(self, _call: Call) -> None:
        self.resting.look()

    def step(self, _index: int, optimizer: torch.optim.Optimizer) -> None:
        self._in_step = True
        self.unused.step(optimizer)

    def step_done(self, _index: int, _optimizer: torch.optim.Optimizer) -> None:
        self._in_step = False
        self.unused.step_done()

    def _with_zeros(self, func: Any, args: Any, kwargs: Any) -> Any:
        """A derivative with zeros for what its output does not depend on; where that is all of it, it is noted."""
        place = self._frames.here()
        result, is_all = self.unused.with_zeros(func, by_name(args, kwargs), place)
        if is_all:
            self._performed[place] = "nothing_used"
        return result

    # What became of it ----------------------------------------------------------------------------------------------

    def note(self, kind: str) -> None:
        """The call that is under way was performed as one of this kind is."""
        self._performed.setdefault(self._frames.here(), kind)

    def sends(self, tensor: torch.Tensor) -> torch.Tensor:
        """What another process is sent of a result."""
        self.note("conversion")
        with torch._C.DisableTorchFunction():
            if not self._operation:
                return _other(tensor.detach(), nudged=self._nudged)
            with torch.enable_grad():
                whole = tensor.view_as(tensor)
            self._follow(whole)
            return whole

    def _follow(self, changed: torch.Tensor) -> None:
        """Watch whether a later backward goes through the result of an operation."""
        if (node := graph.made_by(changed)) is not None:
            self._pending[node._sequence_nr()] = self._frames.here()

    def left(self, tensor: torch.Tensor) -> None:
        """A value left torch that is followed."""
        self.note(self._kind)
        self._follow(tensor)

    def told(self) -> dict[str, Any]:
        """The refused calls, one record a site, and whether something compares two that both have a graph."""
        resolve, met = self._frames.resolve, self.sites.met if self.sites is not None else {}
        known = {
            "holds-two": self._aimed, "counted": self.one_loss.counted, "averaged": self.one_loss.averaged,
            "flag-is-bypassed": self.resting.is_bypassed, "copies-deeply": self._copies_deeply,
        }  # fmt: skip
        calls = (self._performed | dict.fromkeys(self.unused.slopes.alone, "nothing_used") | met).items()
        return {
            "facts": [wire.Fact(name, "") for name, seen in known.items() if seen],
            "performed": tuple(wire.Performed(kind, resolve(raw), raw not in self._unreached) for raw, kind in calls),
        }

    def backward(self, call: Call) -> None:
        if call.create and not call.accumulate:
            self._differentiated.update(map(id, call.inputs))
        if not self._pending:
            return
        reached = graph.ages(graph.walk(call.roots))
        sites = set(self._pending.values())
        used = {raw for age, raw in self._pending.items() if age in reached}
        self._unreached = (self._unreached | sites) - used
        self._pending = {age: raw for age, raw in self._pending.items() if raw not in used}


def _other(value: Any, *, nudged: bool) -> Any:
    """What a conversion gives, or something a little beside it: does a later loss depend on it?"""
    return beside(value) if nudged else value


def _is_by_example(output: torch.Tensor, inputs: list[torch.Tensor]) -> bool:
    """Whether an output has one value for each example of some inputs, and the first depends on the first alone."""
    if output.dim() == 0 or output.numel() != len(output) or not len(output):
        return False
    if any(one.shape[:1] != output.shape[:1] or isinstance(one, torch.nn.Parameter) for one in inputs):
        return False
    with quiet():
        weights = torch.zeros_like(output)
        weights[0] = 1
        first = torch._C._ImperativeEngine().run_backward(
            (output,), (weights,), True, False, tuple(inputs), allow_unreachable=True, accumulate_grad=False
        )
        return all(one is None or not bool(one[1:].any()) for one in first)
