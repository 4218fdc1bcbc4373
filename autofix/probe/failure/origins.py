"""Follows data without a graph back to the place where the graph was lost."""

from __future__ import annotations

import copy as copies
import itertools
import sys
import weakref
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from .. import wire
from ..engine import born, caller, functions, graph
from ..engine.cuts import Cuts
from ..engine.refused import DERIVATIVE, GRADIENT, can_have_gradient, name_of, numbers, short_name, tensors
from ..engine.remembered import Remembered
from ..engine.sketch import is_zero
from ..engine.taps import Call, Listener
from ..program.frames import Frames, Raw, outwards
from ..refused.derivatives.part_of import by_wholes
from .flags import Flags
from .gaps import Gaps, Record

DISCRETE = "discrete"
"""The kind of a result that can have no graph."""
INSIDE = "inside"
"""The kind of what is computed where torch itself has gradients off."""
_MOST = 8
_WRITES = ("torch.Tensor.data.__set__", "torch.Tensor.copy_")
_FLAG = "requires_grad.__set__"
_CUT = "detach_"
_KEPT = 400
_NUMBERS = ("item", "tolist", "__float__", "__int__")
_ARRAYS = ("numpy", "__array__")
_COPIES = "__deepcopy__"
_ALONG = "copied_along"
"""The kind of a copy that a function made which was not called for that."""
_FROZEN = ("frozen", "born")
_BEFORE = "_autofix_off"
_NO_DATA = ("grad", "shape", "dtype", "device", "requires_grad", "grad_fn", "is_leaf", "backward")
_SHAPED = ("new_zeros", "new_ones", "new_full", "new_empty")
"""These, as all that end in `_like`, take a shape from a tensor and nothing else."""


class Origins(TorchFunctionMode, Listener):
    """Watches torch calls: what goes in with a graph, or comes from such, and comes out without."""

    def __init__(self, frames: Frames, read: Callable[[str], bytes]) -> None:
        super().__init__()
        self._frames, self._read = frames, read
        self._lost = Remembered[tuple[Record, ...]]()
        self.gaps = Gaps(frames)
        self._copied = Remembered[Record]()
        """Of a leaf that is a copy by values of one that asks for a gradient, where it was copied."""
        self._made = Remembered["Raw"]()
        self._begun = Remembered["Raw"]()
        self._inferred: dict[int, Raw] = {}
        """Where memory of inference mode was filled: a parameter is made of it without a call."""
        self._alone = Remembered[tuple[Raw, ...]]()
        """Of what is made of single numbers alone, where these were made."""
        self._gradients = Remembered[Raw]()
        """Of what is made of gradients that have no graph, the backward that brought them."""
        self._brought: Raw = ()
        self._left: deque[tuple[Record, frozenset[float]]] = deque(maxlen=_KEPT)
        self._flags = Flags(frames)
        self._cuts = Cuts()
        self._into: dict[tuple[int, Raw], list[weakref.ref[torch.Tensor]]] = {}
        """By the leaf and the place of a write, the leaves behind what was written."""
        self._off: tuple[Raw, ...] = ()
        """Where gradients were switched off, the outermost place first."""
        self._decorated: dict[Raw, str] = {}
        """Of such a place that calls a decorated function, that function."""
        self._enabled: Raw = ()
        """Where gradients were switched on in inference mode, which records no graph all the same."""
        self._inference: tuple[Any, Any] = (None, None)
        self._deaf: Callable[[], None] = lambda: None

    def __enter__(self) -> Any:
        mode = torch.inference_mode
        self._inference = enter, leave = mode.__enter__, mode.__exit__

        def entered(context: Any) -> None:
            vars(context)[_BEFORE] = self._off, self._enabled
            self._off, self._enabled = (self._frames.here(),) if context.mode else (), ()
            enter(context)

        def left(context: Any, *error: Any) -> None:
            leave(context, *error)
            self._off, self._enabled = vars(context).pop(_BEFORE, ((), ()))

        mode.__enter__, mode.__exit__ = entered, left
        self._deaf = born.listen(self._flags.born, self._wrap)
        return super().__enter__()

    def __exit__(self, *error: object) -> None:
        torch.inference_mode.__enter__, torch.inference_mode.__exit__ = self._inference
        self._deaf()
        super().__exit__(*error)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = name_of(func)
        if name.endswith("_set_grad_enabled"):
            self._switch(on=bool(args and args[0]))
            return func(*args, **kwargs)
        flag = name.endswith((_FLAG, "requires_grad_"))
        with torch._C.DisableTorchFunction():
            was = flag and args[0].requires_grad
            cut = self._cut_in_place(args[0]) if name.endswith(_CUT) else ()
        result = func(*args, **kwargs)
        with torch._C.DisableTorchFunction():
            if name in _WRITES and len(args) > 1 and isinstance(args[1], torch.Tensor):
                self._wrote(*args[:2])
            self._cuts.heard(name, args, result)
            self._begin(args[0] if name.endswith(_FLAG) else result)
            if cut:
                self._keep(result, cut)
            elif flag:
                self._flags.heard(args, kwargs, was=was)
            elif name == GRADIENT:
                self.gaps.read(args[0], result)
                self._come(args[0], result)
            elif name.endswith(_COPIES) and result.requires_grad:
                self._copy(args[0], result)
            else:
                self._note(name, args, kwargs, result)
        return result

    def _switch(self, *, on: bool) -> None:
        """Gradients are switched; what a context switched is as it was before, once it is left."""
        mode, leaves = caller.mode()
        if torch.is_inference_mode_enabled():
            self._enabled = self._frames.here() if on else ()
            if on:
                self._decorated[self._enabled] = caller.decorated()
            return
        if leaves and _BEFORE in mode:
            self._off = mode.pop(_BEFORE)
            return
        entered = _BEFORE in mode  # `set_grad_enabled` switches when it is made, and once more when it is entered
        before = mode.setdefault(_BEFORE, self._off)
        if on or not (entered and self._off):
            here = self._frames.here()
            self._off = () if on else tuple(dict.fromkeys((*before, here)))
            self._decorated[here] = caller.decorated()

    def _note(self, name: str, args: Any, kwargs: Any, result: Any) -> None:
        last, derivative = short_name(name), name == DERIVATIVE
        if not derivative and last in _NO_DATA:
            return
        results = list(tensors(result))
        out = [t for t in results if not t.requires_grad]
        given = list(tensors((args, kwargs)))
        if derivative:
            self.gaps.gave(args, result)
        elif len(out) < len(results):
            lost = [(t, one) for t in given for one in self._lost.of(t) or () if one.kind != DISCRETE]
            lost += [(t, one) for t in given if (one := self._copied.of(t)) is not None]
            of_leaves = (one for t, one in lost if t.requires_grad and one.kind != _ALONG)
            self.gaps.flows((one for _, one in lost), of_leaves, given, results)
        if not out and last not in _NUMBERS and last not in _ARRAYS:
            return
        if derivative and kwargs.get("create_graph"):
            return  # what has no graph even so is a constant: nothing was lost
        # A derivative is by what a graph begins at: what was cut before that is not why there is none behind it.
        cut = [t for t in given if not (derivative and t.requires_grad)]
        known, new = self._records(cut), self._new("derivative" if derivative else last, given, out, len(results))
        self.gaps.cut(new, given, known)
        records = known + new
        if records and not any(map(can_have_gradient, out)) and any(map(can_have_gradient, given)):
            records = [Record(DISCRETE, self._frames.here())]  # no graph before it would lead through it
        if not records and not given:
            records = self._returned(args)
        if last in _NUMBERS or last in _ARRAYS:
            self._leave(last, given, records, result)
        alone = self._numbers_in(given)
        self._bring(given, out)
        for tensor in out:
            self._keep(tensor, _places_first(records))
            self._alone.keep(tensor, alone if given or tensor.numel() == 1 else ())

    def _cut_in_place(self, tensor: torch.Tensor) -> tuple[Record, ...]:
        """A result is about to lose its graph for all who hold it."""
        if graph.is_leaf(tensor):
            return ()
        record = Record("detach", self._frames.here())
        self.gaps.cut([record], [tensor], ())
        return (record,)

    def _copy(self, leaf: torch.Tensor, copy: torch.Tensor) -> None:
        """A leaf is copied by its values: what is made of the copy leads to the copy."""
        called = list(itertools.takewhile(lambda one: not self._frames.owns(one.f_code), outwards(sys._getframe())))
        asked = called[-1].f_code.co_filename in (copies.__file__, torch._tensor.__file__)
        record = Record("copied" if asked else _ALONG, self._frames.here())
        self._copied.keep(copy, record)
        self.gaps.cut([record], [leaf], ())

    def _wrap(self, made: torch.Tensor, data: torch.Tensor) -> torch.Tensor:
        """A parameter is made of what has a graph, or is a leaf: what is made of the parameter leads to it alone."""
        record = Record("wrapped", self._frames.here())
        self._copied.keep(made, record)
        self.gaps.cut([record], [data], ())
        return made

    def backward_done(self, call: Call) -> None:
        """Gradients have come to their tensors."""
        if call.accumulate:
            self._brought = call.stack

    def _come(self, tensor: torch.Tensor, gradient: torch.Tensor | None) -> None:
        """A gradient is read: its numbers were brought by the latest backward, and what made them is forgotten."""
        if gradient is not None and not gradient.requires_grad and graph.is_leaf(tensor) and self._brought:
            self._gradients.keep(gradient, self._brought)

    def _bring(self, given: list[torch.Tensor], out: list[torch.Tensor]) -> None:
        """Something is made of gradients."""
        for raw in itertools.islice(filter(None, map(self._gradients.of, given)), 1):
            for tensor in out:
                self._gradients.keep(tensor, raw)

    # What is remembered ---------------------------------------------------------------------------------------------

    def _begin(self, result: Any) -> None:
        """Keep where a tensor became a leaf whose gradient is asked for."""
        for tensor in tensors(result):
            if tensor.requires_grad and graph.is_leaf(tensor) and tensor not in self._begun:
                self._begun.keep(tensor, self._frames.here())

    def _keep(self, tensor: torch.Tensor, records: tuple[Record, ...]) -> None:
        if records:
            self._lost.keep(tensor, records)
        if tensor.is_floating_point() and tensor not in self._made:
            self._made.keep(tensor, self._frames.here())
        if tensor.is_inference():
            self._inferred[tensor.untyped_storage().data_ptr()] = self._frames.here()

    def _numbers_in(self, given: list[torch.Tensor]) -> tuple[Raw, ...]:
        """Where the numbers were made that a result of these is made of; () where it is made of something else, too."""
        if not given:
            return (self._frames.here(),)
        found = [self._alone.of(tensor) or () for tensor in given]
        return tuple(dict.fromkeys(itertools.chain(*found)))[:_MOST] if all(found) else ()

    def _wrote(self, target: torch.Tensor, value: torch.Tensor) -> None:
        """Values were written: into which leaf, and of which leaves they are made."""
        leaf, source = self._cuts.before(target), self._cuts.before(value)
        place = id(leaf), self._frames.here()
        if graph.is_leaf(leaf) and leaf.requires_grad and not graph.is_leaf(source) and place not in self._into:
            behind = graph.leaves(graph.walk([source]))
            self._into[place] = [weakref.ref(one) for one in behind if one is not leaf]

    def _records(self, given: list[torch.Tensor]) -> list[Record]:
        """How the graph behind the arguments was lost already."""
        found: list[Record] = []
        for tensor in given:
            if known := self._lost.of(tensor):
                found.extend(known)
            elif not tensor.requires_grad and (used := self._flags.uses(tensor)) is not None:
                found.append(Record(self._frozen(tensor, used[0]), *used))
        return found

    def _frozen(self, tensor: torch.Tensor, off: Raw) -> str:
        """How a tensor is frozen: `born` is a table that was so from the start, and nobody has asked for it."""
        place = self._frames.resolve(off[:1])
        itself = self._flags.is_of_table(tensor) and place and born.unasked(self._read(place[0].file), place[0])
        return "born" if itself else "frozen"

    def _new(self, name: str, given: list[torch.Tensor], out: list[torch.Tensor], results: int) -> list[Record]:
        """How this call loses the graph of its arguments, if it does; `out` are those of its results without one."""
        if not out or not any(t.requires_grad for t in given) or name.endswith("_like") or name in _SHAPED:
            return []
        if torch.is_inference_mode_enabled() and torch.is_grad_enabled():
            return [Record("inference", raw) for raw in self._off] + [Record("enabled", self._enabled)]
        if not torch.is_grad_enabled() and name not in ("detach", "data", "derivative"):
            inside = () if self._off else functions.inside(self._frames)
            return [Record(INSIDE, inside)] if inside else [Record("no_grad", raw) for raw in self._off]
        if name in ("detach", "data", "derivative"):
            kind = name
        elif not any(map(can_have_gradient, out)):
            kind = DISCRETE
        else:
            kind = "rebuilt" if name in ("tensor", "as_tensor", "new_tensor") else "undifferentiable"
            if len(out) < results:  # each of several is made of its own argument: broadcast_tensors, meshgrid
                return []
        return [Record(kind, self._frames.here())]

    def _leave(self, name: str, given: list[torch.Tensor], records: list[Record], result: Any) -> None:
        """Numbers and arrays that leave torch take the graph's end with them; they may come back."""
        if not any(t.requires_grad for t in given) and not records:
            return
        kind = "numpy" if name in _ARRAYS else "item"
        values = frozenset(numbers(result)) if kind == "item" else frozenset()
        for record in [Record(kind, self._frames.here()), *records][: 1 if kind == "item" else _MOST]:
            self._left.append((record, values))

    def _returned(self, args: Any) -> list[Record]:
        """The calls that made the numbers of which a tensor is made anew."""
        values = frozenset(numbers(args))
        return [record for record, had in self._left if had and had & values]

    # What is asked --------------------------------------------------------------------------------------------------

    def of(self, roots: Iterable[torch.Tensor]) -> tuple[wire.Origin, ...]:
        """Where the graph of tensors was lost, the earliest place first.

        Of what is discrete, as a choice is, only where nothing else was lost: it never had a graph to lose. Beside what
        is frozen alone, which may be meant to be, also of the arrays of which its input may be made.
        """
        roots = list(roots)
        records = dict.fromkeys(self._records([t for t in roots if graph.is_leaf(t)]))
        records = {one: None for one in records if one.kind != DISCRETE} or records
        if not records and all(map(is_zero, roots)) and (made := self.numbers(roots)):
            return made  # no number that was taken out of a graph comes to be zero
        if not records:
            records = dict.fromkeys(record for record, _ in list(self._left)[-_MOST:])
        elif all(one.kind in _FROZEN for one in records):
            records |= dict.fromkeys(record for record, _ in list(self._left)[-_MOST:] if record.kind == "numpy")
        return self._told(records)

    def gradients(self, roots: Iterable[torch.Tensor]) -> tuple[wire.Origin, ...]:
        """The backwards that brought the gradients of which tensors are made, where each of them is."""
        found = [self._gradients.of(root) for root in roots]
        places = dict.fromkeys(raw for raw in found if raw) if all(found) else ()
        return tuple(wire.Origin("derivative", self._frames.resolve(raw), "the gradient") for raw in places)

    def numbers(self, roots: Iterable[torch.Tensor]) -> tuple[wire.Origin, ...]:
        """Where the numbers were made that tensors are made of, and of nothing else."""
        found = (raw for root in roots for raw in self._alone.of(root) or () if raw)
        return tuple(wire.Origin("constant", self._frames.resolve(raw)) for raw in dict.fromkeys(found))

    def number(self, value: float) -> tuple[wire.Origin, ...]:
        """The calls that took a number out of torch, or the latest where none gave this one; () of a 0, as of a sum."""
        if not value:
            return ()
        latest = list(self._left)[-_MOST:]
        known = [record for record, had in latest if bool(had) is bool(latest[-1][1])]  # of numbers, the last alone
        records = self._returned([value]) or (known[-1:] if latest and latest[-1][1] else known)
        return self._told(records)

    def _told(self, records: Iterable[Record]) -> tuple[wire.Origin, ...]:
        again = ((one, self._flags.again(one.raw, one.used)) for one in records)
        return tuple(dict.fromkeys(self._origin(one, on) for one, on in again))

    def _origin(self, one: Record, again: Raw) -> wire.Origin:
        switched = one.kind in ("no_grad", "enabled")
        resolve, node = self._frames.resolve, self._decorated.get(one.raw, "") if switched else ""
        return wire.Origin(one.kind, resolve(one.raw), "", node, resolve(one.used if again else ()), resolve(again))

    def gap(self, stack: wire.Stack) -> tuple[wire.Origin, ...]:
        """The latest derivative at a place that gave None, and why it did."""
        found, inputs = self.gaps.latest(stack)
        return (*found, *(origin for one in inputs for origin in self.written(one)))

    def unused(self, inputs: list[torch.Tensor], outputs: Iterable[Any]) -> tuple[wire.Origin, ...]:
        """Where inputs were made that have no graph; of others, where the graph was lost that led to them.

        Nothing was lost where an input is put together of what is known.
        """
        if made := tuple(one for each in inputs for one in self.made(each)):
            return made
        roots = list(outputs)
        wholes = by_wholes([None] * len(inputs), roots, inputs)
        return self.gaps.lost([one for one, whole in zip(inputs, wholes, strict=True) if whole is None], roots)

    def unreached(self, leaf: torch.Tensor, roots: Iterable[torch.Tensor]) -> tuple[wire.Origin, ...]:
        """Where the graph was lost by which what goes backward is made of a leaf; what is frozen may be meant to be."""
        return tuple(one for one in self.gaps.lost([leaf], roots) if one.kind not in _FROZEN)

    def written(self, tensor: torch.Tensor) -> tuple[wire.Origin, ...]:
        """Where values that are made of a leaf were written into others."""
        places = (raw for (_, raw), behind in self._into.items() if any(one() is tensor for one in behind))
        return tuple(wire.Origin("written", self._frames.resolve(raw)) for raw in dict.fromkeys(places))

    def made(self, tensor: torch.Tensor) -> tuple[wire.Origin, ...]:
        """Where a tensor without a graph was made."""
        raw = self._made.of(tensor)
        return () if raw is None else (wire.Origin("made", self._frames.resolve(raw)),)

    def inferred(self, tensor: torch.Tensor) -> tuple[wire.Origin, ...]:
        """Where the memory of a tensor was filled in inference mode."""
        raw = self._inferred.get(tensor.untyped_storage().data_ptr())
        return () if raw is None else (wire.Origin("made", self._frames.resolve(raw)),)

    def begun(self, leaf: torch.Tensor) -> tuple[wire.Origin, ...]:
        """Where a leaf was made, or was given the flag that asks for its gradient."""
        raw = self._begun.of(leaf)
        return () if raw is None else (wire.Origin("begun", self._frames.resolve(raw)),)


def _places_first(records: Iterable[Record]) -> tuple[Record, ...]:
    """The most that are remembered: of each place one, and only then where else what was lost there was used."""
    first: dict[tuple[str, Raw], Record] = {}
    for one in records:
        first.setdefault((one.kind, one.raw), one)
    return tuple(dict.fromkeys((*first.values(), *records)))[:_MOST]
