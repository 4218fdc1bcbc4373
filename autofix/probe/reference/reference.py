"""The reference mode: runs a script as if autograd's bookkeeping were free, so that nothing freed or overwritten fails.

Every backward keeps its graph, and a saved tensor is cloned just before its storage is written. The clones are found by
storage: torch's own `allow_mutation_on_saved_tensors` looks tensors up by data pointer and version, and so misses a
write through a view at another offset.
"""

from __future__ import annotations

import functools
import resource
import threading
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any

import torch
import torch.utils.checkpoint as checkpoints
from torch.utils._python_dispatch import _get_current_dispatch_mode

from .. import OURS
from ..engine import graph, transforms
from ..engine.operators import Dispatch, Known, storage_key, tensors_at, written_arguments
from ..engine.quiet import quiet
from ..engine.sketch import is_zero
from ..engine.taps import Call, Listener
from ..instruments.terms import addends, is_sum
from .averages import Averages
from .late_terms import LateTerms
from .targets import Targets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..engine.names import Names
    from ..engine.sources import DataSources
    from ..instruments.uses import Uses
    from ..program.frames import Frames, Raw

_LATEST = 8
"""Backward calls that are remembered, to tell what came through them."""
_SWEEP = 4096
_DEAR = 1 << 18
"""Bytes of a saved tensor, on average, from which on to copy each costs more than to watch for writes."""
_MUCH = 1 << 30
"""Bytes by which a run may grow while it copies."""


class _Saved:
    """A saved tensor: an alias of the original until somebody writes to its storage, a copy afterwards."""

    __slots__ = ("__weakref__", "tensor")

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor


class MutationSafe(Dispatch, Listener):
    """Keeps what saved tensors were, whoever writes to their storage.

    `at_once`: each is copied when it is saved. Then nobody need watch for writes, which makes every operation several
    times as dear as small ones are; an environment's steps without gradients cost what they cost. Where the copies come
    to cost more than that, tensors are cloned only before a write from the next step or backward on.
    """

    def __init__(self, wrote: Callable[[int], None], uses: Uses, *, at_once: bool) -> None:
        super().__init__()
        self._wrote = wrote
        self._uses = uses
        self._at_once = at_once
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
                return _Saved(tensor.detach().clone())
        with torch._C._DisableTorchDispatch():
            handle = _Saved(tensor.detach())
        key = storage_key(tensor)
        if key is not None:
            self._saved.setdefault(key, []).append(weakref.ref(handle))
            self._packs += 1
            if self._packs % _SWEEP == 0:
                self._sweep()
        return handle

    @staticmethod
    def _unpack(handle: _Saved) -> torch.Tensor:
        return handle.tensor

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


class Truncate(Listener):
    """Notes whether a backward reaches past the pass before it at its site, and cuts it there if asked to.

    A pass is what a site does from one step to the next: one line may run backward for several losses, and each of them
    ends where the pass began. A state that another site's backward went through, before a step, came from an earlier
    pass, too, if it was made as what follows is: a recurrence goes on across the phases of a loop. `reused` holds the
    sites with a pass that reached only nodes older than the pass before: not a state that each pass hands to the next,
    but something made once, for several passes. `alone` says that these passes had no leaf but in there, `added` that
    it was an addend of all their losses, `anew` that each of them applies its parameters anew, in the same way;
    `shared` are the ages of its outermost nodes. As far as somebody watches for `sources`, `fed` says that data went
    into it, and `collected` that it is data itself: it is applied anew, and something was drawn from it that all these
    passes use. `once` says that all which passes take of earlier ones was made so: two passes that share something look
    like two that hand it on.
    """

    def __init__(
        self, frames: Frames, names: Names, cut: bool, sources: DataSources | None = None, *, once: bool
    ) -> None:  # fmt: skip
        self._frames = frames
        self._once = once and sources is not None
        self._older: set[int] = set()
        self._cut = cut
        self.shared: set[int] = set()
        self._sources = sources
        self.alone = self.added = True
        self.fed = False
        self._anew = True
        self._begun: dict[Raw, bool] = {}
        """Of each site, whether its last pass took nothing of an earlier one."""
        self._collected = sources is not None
        self._unshared: dict[int, int] = {}
        """The ages of older nodes that a pass reached and that are not known to be shared, with its number of steps."""
        self._leaves: set[int | None] = set()
        self._ended: dict[Raw, tuple[int, int]] = {}
        """How many steps there had been when a site last ran, and the age of the graph at its end."""
        self._latest: Raw = ()
        self._began: dict[Raw, list[int]] = {}
        """The age of the graph from which on each pass of a site but the first may have made its nodes."""
        self.steps = 0
        self._calls: deque[tuple[Raw, int, int, set[int]]] = deque(maxlen=_LATEST)
        """The latest calls: where, after how many steps, the age of the graph, and the ages of what they reached."""
        self.carried = False
        self.reused: dict[Raw, None] = {}
        self._targets, self._averages, self._late = Targets(frames, names), Averages(), LateTerms(frames)

    def told(self) -> dict[str, Any]:
        """Whether a graph is carried over, and of what is made once, for several passes, all that is known."""
        return {
            "carried": self.carried, "reused": tuple(map(self._frames.resolve, self.reused)), "alone": self.alone,
            "fed": self.fed, "collected": self.collected, "anew": self._anew, "added": self.added,
            "begun": any(self._begun.get(site) for site in self.reused),
            "shared": tuple(sorted(self.shared)),
            "facts": (*self._targets.told(), *self._late.told()),
            "older": tuple(sorted(self._older)),
            **self._averages.told(),
        }  # fmt: skip

    def backward(self, call: Call) -> None:
        began = self._began.setdefault(call.stack, [])
        steps, age = self._ended.get(call.stack, (self.steps, 0))
        if steps < self.steps:
            began.append(age)
        mark = self._crossed(call, began[-1] if began else -1)

        def recent(node: Any) -> bool:
            return bool(node._sequence_nr() >= mark)

        walked = list(graph.walk(call.roots, recent))
        old = [node for node in walked if not recent(node)]
        fresh = [node for node in walked if recent(node) and graph.leaf(node) is None]
        leaves = [storage_key(leaf) for node in walked if recent(node) and (leaf := graph.leaf(node)) is not None]
        if call.accumulate and not call.create:
            reached = {node._sequence_nr() for node in (*old, *fresh)}
            self._calls.append((call.stack, self.steps, graph.now(), reached))
        self._leaves.update(leaves)
        self._averages.watch(call, mark, set(leaves), old)
        self._late.watch(call, recent)
        self._begun[call.stack] = not old
        if not old:
            return
        self.carried = True
        ages = {node._sequence_nr() for node in old}
        self._older |= ages
        self._unshared |= dict.fromkeys(ages - self.shared - self._unshared.keys(), self.steps)
        if self._once or (len(began) > 1 and all(node._sequence_nr() < began[-2] for node in old)):
            self.reused[call.stack] = None
            self.shared.update(ages)
            self._unshared = {age: steps for age, steps in self._unshared.items() if age not in ages}
            self.alone = self.alone and not leaves
            self.added = self.added and set(old) <= set(addends(call.roots, recent))
            shared = list(graph.walk_nodes(old)) if self._anew or self._sources is not None else []
            self._anew = self._anew and set(graph.applied(shared)) <= set(graph.applied(fresh))
            if self._sources is not None:
                self.fed = self.fed or self._sources.fed(shared)
                self._collected = self._collected and self._anew and self._sources.drawn(shared, fresh)
        if self._cut:
            call.cleanups.extend(node.register_prehook(graph.zeros).remove for node in old)
        else:
            self._targets.watch(call, old, fresh)

    def _crossed(self, call: Call, mark: int) -> int:
        """Where a recurrence came through another site's backward and a step after the pass began; else `mark`."""
        for stack, steps, age, reached in reversed(self._calls):
            if stack == call.stack or steps == self.steps or age <= mark:
                continue
            nodes = list(graph.walk(call.roots, _since(age)))
            older = [node for node in nodes if node._sequence_nr() < age]
            if older and all(node._sequence_nr() in reached for node in older):
                before = set(graph.applied(graph.walk_nodes(older, _since(mark))))
                if not before.isdisjoint(graph.applied(_leading(nodes, older))):
                    return age
        return mark

    @property
    def collected(self) -> bool:
        """Whether all that passes took from earlier ones is data; of what only the last pass took, nobody knows yet."""
        last = max((steps for steps, _ in self._ended.values()), default=0)
        known = all(steps == last for steps in self._unshared.values())
        return self._collected and bool(self.reused) and known

    def backward_done(self, call: Call) -> None:
        self._ended[call.stack] = self.steps, graph.now()
        self._latest = call.stack

    def step_done(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self.steps += 1

    def wrote(self, key: int) -> None:
        """A storage was written: where it is a leaf's, this is a step made by hand."""
        self.steps += key in self._leaves

    def put(self, leaf: torch.Tensor) -> None:
        """A leaf is given other values: where a step came before, the pass ends here, with what was made of the old."""
        steps, _ = self._ended.get(self._latest, (self.steps, 0))
        if steps < self.steps and storage_key(leaf) in self._leaves:
            self._ended[self._latest] = steps, graph.now()


class Constants(Listener):
    """Lets no gradient through some nodes, given by their ages in another run of the same operations."""

    def __init__(self, ages: tuple[int, ...]) -> None:
        self._ages = frozenset(ages)

    def backward(self, call: Call) -> None:
        nodes = (node for node in graph.walk(call.roots, self._is_other) if not self._is_other(node))
        call.cleanups.extend([node.register_prehook(graph.zeros).remove for node in nodes])

    def _is_other(self, node: Any) -> bool:
        return node._sequence_nr() not in self._ages


class GivesGraph(Listener):
    """Gives what the derivative at one place computes its graph."""

    def __init__(self, here: Callable[[Call], bool]) -> None:
        self._here = here

    def backward(self, call: Call) -> None:
        call.create = call.create or self._here(call)


class Addends(Listener):
    """Trains each addend of a loss once between two steps, by the first backward call at its place that has it.

    What a sum sends to an addend is told from what else reaches it: a gate's result is an addend of a balance loss, and
    a factor of the output. `summed` counts how often an addend was left out later. It is -1 where that could not be
    meant: the gradients that earlier calls left are gone by then, or an addend has another weight than before.
    """

    def __init__(self) -> None:
        self.summed = 0
        self._sent: dict[tuple[Raw, graph.Node], torch.Tensor | None] = {}
        """The gradient that each addend had from the first backward call since the latest step."""
        self._again: dict[tuple[Raw, graph.Node], torch.Tensor | None] = {}
        """What the call that is under way would send to addends that had it before."""
        self._trained: list[torch.Tensor] = []
        """The leaves in which the latest call left a gradient."""

    def told(self) -> dict[str, Any]:
        """How often an addend was left out."""
        return {"summed": self.summed}

    def backward(self, call: Call) -> None:
        if not call.accumulate:
            return
        with quiet():
            gone = any(leaf.grad is None or is_zero(leaf.grad) for leaf in self._trained)
        known = set(self._sent)
        self._again = dict.fromkeys(key for node in addends(call.roots) if (key := (call.stack, node)) in known)
        if self._again and gone:
            self.summed = -1
        for node in graph.starts(call.roots):
            if not is_sum(node) and graph.leaf(node) is None:
                hook = functools.partial(self._start, (call.stack, node))
                call.cleanups.append(node.register_prehook(hook).remove)
        for node in graph.walk(call.roots, is_sum):
            if is_sum(node) and (ends := self._ends(call.stack, node)):
                call.cleanups.append(node.register_hook(functools.partial(self._edges, ends)).remove)

    @staticmethod
    def _ends(stack: Raw, node: graph.Node) -> dict[int, tuple[Raw, graph.Node]]:
        """The addends that a sum leads to, by which of its inputs each is."""
        ends = {at: child for at, (child, _) in enumerate(node.next_functions) if child is not None}
        return {
            at: (stack, child) for at, child in ends.items() if not is_sum(child) and graph.leaf(child) is None
        }  # fmt: skip

    def _start(self, key: tuple[Raw, graph.Node], gradients: tuple[torch.Tensor | None, ...]) -> Any:
        again = [self._again_sent(key, one) for one in gradients]
        return graph.zeros(gradients) if any(again) else None

    def _edges(
        self, ends: dict[int, tuple[Raw, graph.Node]], gradients: tuple[torch.Tensor | None, ...], _: Any
    ) -> Any:  # fmt: skip
        again = {at for at, key in ends.items() if self._again_sent(key, gradients[at])}
        if not again:
            return None
        zeros = graph.zeros(gradients)
        return tuple(zeros[at] if at in again else one for at, one in enumerate(gradients))

    def _again_sent(self, key: tuple[Raw, graph.Node], gradient: torch.Tensor | None) -> bool:
        """Add up what an addend is sent; whether an earlier call has sent it."""
        again = key in self._again
        into = self._again if again else self._sent
        if gradient is not None:
            had = into.get(key)
            into[key] = gradient.detach().clone() if had is None else had + gradient
        return again

    def backward_done(self, call: Call) -> None:
        for key, now in self._again.items():
            before = self._sent[key]
            if before is None or now is None or not torch.equal(before, now):
                self.summed = -1
            elif self.summed >= 0:
                self.summed += 1
        self._again = {}
        leaves = graph.leaves(graph.walk(call.roots))
        with quiet():
            self._trained = [leaf for leaf in leaves if leaf.grad is not None and not is_zero(leaf.grad)]

    def step_done(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self._sent.clear()


def _since(age: int) -> Callable[[graph.Node], bool]:
    return lambda node: node._sequence_nr() >= age


def _leading(nodes: Iterable[graph.Node], to: Iterable[graph.Node]) -> set[graph.Node]:
    """Those nodes from which backward goes on to some others, with what they take in beside: a transposed weight."""
    found, beside = set(to), set[graph.Node]()
    for node in sorted(nodes, key=lambda node: node._sequence_nr()):  # children are older
        below = set(graph.children(node))
        if below & found:
            found.add(node)
            beside |= below
    return (found | beside).difference(to)


REPLACED: tuple[tuple[Any, str], ...] = (
    (torch, "unbind"), (torch, "chunk"), (torch, "split"),
    (checkpoints, "checkpoint"), (checkpoints, "checkpoint_sequential"),
)  # fmt: skip
"""What the two functions below replace, and a script may hold under a name of its own. Methods are looked up anew."""


def single_views() -> None:
    """Let split, chunk and unbind give views that may be written to: torch refuses writes to the ones it makes."""
    split, tensor_split = torch.split, torch.Tensor.split

    def unbind(tensor: torch.Tensor, dim: int = 0) -> tuple[torch.Tensor, ...]:
        return tuple(tensor.select(dim, index) for index in range(tensor.size(dim)))

    def pieces(tensor: torch.Tensor, sizes: int | list[int], dim: int = 0) -> tuple[torch.Tensor, ...]:
        total = tensor.size(dim)
        if isinstance(sizes, int):
            if sizes <= 0:
                return tensor_split(tensor, sizes, dim)
            sizes = [min(sizes, total - at) for at in range(0, total, sizes)] or [0]
        if sum(sizes) != total:
            return split(tensor, sizes, dim)
        starts = [sum(sizes[:index]) for index in range(len(sizes))]
        return tuple(tensor.narrow(dim, start, size) for start, size in zip(starts, sizes, strict=True))

    def chunk(tensor: torch.Tensor, chunks: int, dim: int = 0) -> tuple[torch.Tensor, ...]:
        return pieces(tensor, max(1, -(-tensor.size(dim) // chunks)), dim)

    def method_split(tensor: torch.Tensor, split_size: Any, dim: int = 0) -> tuple[torch.Tensor, ...]:
        return pieces(tensor, split_size, dim)

    def function_split(tensor: torch.Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[torch.Tensor, ...]:
        return pieces(tensor, split_size_or_sections, dim)

    torch.unbind = torch.Tensor.unbind = unbind
    torch.chunk = torch.Tensor.chunk = chunk
    torch.split = function_split
    torch.Tensor.split = method_split


def plain_checkpoints() -> None:
    """Run `torch.utils.checkpoint` as plain calls: it would recompute with weights that a step has changed."""
    own = ("use_reentrant", "context_fn", "determinism_check", "debug", "early_stop", "preserve_rng_state")

    def checkpoint(function: Any, *args: Any, **kwargs: Any) -> Any:
        return function(*args, **{key: value for key, value in kwargs.items() if key not in own})

    def checkpoint_sequential(functions: Any, segments: int, value: Any, **_: Any) -> Any:
        for function in list(functions.children()) if isinstance(functions, torch.nn.Sequential) else functions:
            value = function(value)
        return value

    class Plain:
        """For who held the function before: what it runs its part with where that is reentrant."""

        @staticmethod
        def apply(function: Any, _preserve: bool, *args: Any) -> Any:
            return function(*args)

    checkpoints.CheckpointFunction = Plain
    checkpoints.checkpoint = checkpoint
    checkpoints.checkpoint_sequential = checkpoint_sequential


def plain_reducers() -> None:
    """Let modules that are distributed over this one process average nothing: then what they are told is no matter."""
    if not torch.distributed.is_available():
        return
    kind: Any = torch.nn.parallel.DistributedDataParallel
    forward = kind.forward

    def alone(self: Any, *args: Any, **kwargs: Any) -> Any:
        if torch.distributed.get_world_size() > 1:
            return forward(self, *args, **kwargs)
        if self.static_graph:  # it counts what is not averaged, too
            return self.module(*args, **kwargs)
        with self.no_sync():
            return forward(self, *args, **kwargs)

    kind.forward = alone
