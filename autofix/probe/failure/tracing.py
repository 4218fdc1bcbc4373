"""The tracing run: who made, saved, freed and wrote what, for the failure that a first run has shown."""

from __future__ import annotations

import bisect
import weakref
from collections import deque
from collections.abc import Iterator
from typing import Any

import torch

from .. import wire
from ..engine import graph, transforms
from ..engine.operators import Dispatch
from ..engine.quiet import quiet
from ..engine.resent import is_given
from ..engine.taps import Call, Listener, Taps
from ..instruments.aimed import Aim, Graph, spoiled_aims, targets, weights
from ..instruments.aims import Aims
from ..program.frames import Frames, Raw
from .carriers import KEPT, Carriers
from .writes import Handle, Writes

_WRITTEN = "CopySlices"
_KEPT_CALLS = 40
_KEPT_EDGES = 400_000
_KEPT_HANDLES = 20_000
_SHOWN = 40
_SHORT = 2
"""Operations between a value and what scales it: its distance from something is scaled, too."""


class _Pass:
    """One backward call and the part of the graph it went through."""

    __slots__ = ("call", "edges", "nodes")

    def __init__(self, call: Call) -> None:
        self.call = call
        self.edges: list[tuple[int, int]] = []
        self.nodes: set[int] = set()


class Tracer(Dispatch, Listener):
    """Logs node creations and writes, checks versions itself (hooks switch torch's check off), follows backwards."""

    inner = True

    def __init__(self, frames: Frames, taps: Taps, aims: Aims, failing: int) -> None:
        """`failing`: the backward calls that a run makes until it fails; those who hold tensors are told at its end."""
        super().__init__()
        self._aims, self._frames, self._taps = aims, frames, taps
        self._look_from = failing - 2 * KEPT
        self._entered = False
        self._hooks = torch.autograd.graph.saved_tensors_hooks(self._pack, self._unpack)
        self._ages: list[int] = []
        self._stacks: list[Raw] = []
        self._behind: set[int] = set()
        """The nodes that autograd makes behind an op, for what it wrote through a view."""
        self.writes = Writes(frames, taps)
        self._passes: deque[_Pass] = deque(maxlen=_KEPT_CALLS)
        self._freed: dict[int, Call] = {}
        self._carriers = Carriers(frames)
        self._steps: dict[Raw, int] = {}
        self._stepped = -1
        """The number of the backward call that came before the latest step."""
        self._ends: dict[int, int] = {}
        self._kept_gradient: list[wire.Fact] = []
        """Where the results were made that the latest backward starts from, and that keep a gradient already."""
        self.violation: Handle | None = None
        self._handles: deque[weakref.ref[Handle]] = deque(maxlen=_KEPT_HANDLES)

    def __enter__(self) -> Any:
        self._entered = True
        transforms.allow_hooks()
        self._hooks.__enter__()
        return super().__enter__()

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self._hooks.__exit__(*error)

    # Operations -----------------------------------------------------------------------------------------------------

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        age = graph.now()
        raw: Raw | None = None
        if not self._ages or age != self._ages[-1]:
            # Autograd makes an op's node before it hands the op down here: the nodes since the last op are this one's.
            raw = self._frames.here()
            self._ages.append(age)
            self._stacks.append(raw)
        self.writes.before(func, args, kwargs or {}, raw)
        result = func(*args, **(kwargs or {}))
        self.writes.after(func, args, result)
        return result

    def _pack(self, tensor: torch.Tensor) -> Handle:
        handle = Handle(tensor, self._frames.here())
        self._handles.append(weakref.ref(handle))
        self.writes.watch(handle)
        return handle

    def _unpack(self, handle: Handle) -> torch.Tensor:
        if handle.alias._version != handle.version:
            self.violation = handle
            raise RuntimeError("a saved tensor was modified by an in-place operation")
        return handle.given

    # Backwards and steps --------------------------------------------------------------------------------------------

    def backward(self, call: Call) -> None:
        if not self._entered:
            return
        current = _Pass(call)
        self._kept_gradient = [
            wire.Fact("starts-at-kept-gradient", "", self.made(root))
            for root, gradient in zip(call.roots, call.gradients, strict=False)
            if is_given(root, gradient)
        ]
        for node in graph.operations(graph.walk(call.roots)):
            age = node._sequence_nr()
            current.nodes.add(age)
            self._note(node)
            if len(current.edges) < _KEPT_EDGES:
                ends = graph.operations(graph.children(node))
                current.edges.extend((age, child._sequence_nr()) for child in ends)
        self._passes.append(current)

    def backward_done(self, call: Call) -> None:
        if self._passes and self._passes[-1].call is call:
            self._ends[call.index] = graph.now()
            if not call.keep:
                for age in self._passes[-1].nodes:
                    self._freed.setdefault(age, call)
            if call.index >= self._look_from:
                with quiet():
                    self._carriers.look()

    def step(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self._steps[self._frames.here()] = index
        self._stepped = self._passes[-1].call.index if self._passes else -1

    # What it all came to --------------------------------------------------------------------------------------------

    def _note(self, node: graph.Node) -> None:
        if node.name().endswith(_WRITTEN):
            self._behind.add(node._sequence_nr())

    def _stack(self, age: int) -> Raw:
        at = bisect.bisect_right(self._ages, age) - (age in self._behind)
        return self._stacks[at] if at < len(self._stacks) else ()

    def made(self, tensor: torch.Tensor) -> wire.Stack:
        """Where the result of an operation was made."""
        node = graph.made_by(tensor)
        return self.made_by(node) if node is not None else ()

    def made_by(self, node: graph.Node) -> wire.Stack:
        """Where an operation was made."""
        self._note(node)
        return self._frames.resolve(self._stack(node._sequence_nr()))

    def never_reached(self, leaf: torch.Tensor) -> bool:
        """Whether there were backward calls, and no graph of those seen leads to a leaf."""
        return bool(self.roots) and not any(one is leaf for one in graph.leaves(graph.walk(self.roots)))

    @property
    def roots(self) -> list[torch.Tensor]:
        """What went backward, as far as it was seen."""
        return [root for done in self._passes for root in done.call.roots]

    def _step_sites(self) -> tuple[wire.Write, ...]:
        """Where each optimizer was stepped."""
        return tuple(wire.Write("step", self._frames.resolve(raw), index) for raw, index in self._steps.items())

    def _gone_before(self) -> Iterator[wire.Fact]:
        """The call before the failing one that started from the very same loss, if no step lies between."""
        if not self._passes or not (last := self._passes[-1].call).accumulate:
            return
        starts = graph.ages(graph.starts(last.roots))
        for call in (done.call for done in [*self._passes][:-1]):
            same = starts and starts == graph.ages(graph.starts(call.roots))
            if same and call.accumulate and call.index > self._stepped:
                yield wire.Fact("went-before", "", self._frames.resolve(call.stack))

    def _earlier(self) -> tuple[wire.Backward, ...]:
        """The backward calls seen, one record per site, the latest first."""
        seen: dict[Raw, Call] = {}
        for done in reversed(self._passes):
            seen.setdefault(done.call.stack, done.call)
        resolve = self._frames.resolve
        return tuple(wire.Backward(resolve(raw), not one.accumulate, one.create) for raw, one in seen.items())

    def told(self) -> dict[str, Any]:
        """All that is asked of it."""
        return {
            "saved": self._modified() or self.freed(), "also": self._also(), "crossings": self._crossings(),
            "remade": self._remade(), "earlier": self._earlier(), "step_sites": self._step_sites(),
            "facts": (*self._scaled(), *self._aimed(), *self._kept_gradient, *self._gone_before()),
        }  # fmt: skip

    def _modified(self) -> tuple[wire.Saved, ...]:
        """The saved tensor that backward found modified, with the writes since it was saved."""
        return (self._saved(self.violation),) if self.violation is not None else ()

    def _also(self) -> tuple[wire.Saved, ...]:
        """What else backward would find modified of graphs that are still held, once for each place and memory."""
        if self.violation is None:
            return ()
        held = (handle for ref in self._handles if (handle := ref()) is not None and handle is not self.violation)
        spoiled = {(one.raw, one.key): one for one in held if one.raw and one.alias._version > one.version}
        return tuple(self._saved(one) for one in list(spoiled.values())[:_SHOWN])

    def _saved(self, handle: Handle) -> wire.Saved:
        resolve = self._frames.resolve
        # What a pass makes before another loss goes backward is its own all the same.
        began = self._mark(self._passes[-1], set()) if self._passes else -1
        # Of what has no graph, a batch of data or a buffer is there before the pass makes anything of it.
        first = min((age for age in self._passes[-1].nodes if age > began), default=began) if self._passes else began
        unique = dict.fromkeys(
            (
                one.op,
                one.raw,
                one.optimizer,
                one.made >= first if one.plain else one.made > began,
                self._is_named_view(one.view),
                one.alias,
            )
            for one in self.writes.spoiling(handle)
        )
        shown = tuple(
            wire.Write(op, resolve(raw), optimizer, whole, view, resolve(alias))
            for op, raw, optimizer, whole, view, alias in list(unique)[:_SHOWN]
        )
        handed = tuple(map(resolve, self._handed(handle)))
        return wire.Saved(resolve(handle.raw), tuple(handle.alias.shape), shown, handed=handed)

    def _is_named_view(self, ages: tuple[int, ...]) -> bool:
        """Whether a view may have been made elsewhere than what it shows, which then has a name of its own."""
        places = set(map(self._stack, ages))
        return len(places) > 1 or () in places

    def _handed(self, handle: Handle) -> list[Raw]:
        """Where a saved tensor was written before by a function that it was handed to: not by one that it came from."""
        age, places = self.writes.before_saved(handle)
        within = {code for code, _ in self._stack(age)}
        return [raw for raw in places if raw and within and raw[0][0] not in within]

    def _scaled(self) -> Iterator[wire.Fact]:
        """Where a constant was saved, and written since, that scales a value that is used elsewhere, too."""
        if self.violation is None or not self._passes or not self.violation.constant:
            return
        failing, place = self._passes[-1], self.violation.raw
        users: dict[int, set[int]] = {}
        made_of: dict[int, set[int]] = {}
        for user, made in failing.edges:
            users.setdefault(made, set()).add(user)
            made_of.setdefault(user, set()).add(made)
        scaled = {age for age in failing.nodes if self._stack(age) == place}
        for _ in range(_SHORT):
            scaled = set().union(*(made_of.get(age, ()) for age in scaled))
            if any(len(users[age]) > 1 for age in scaled):
                yield self._frames.fact("scales-what-is-shared", place)
                return

    def _aimed(self) -> Iterator[wire.Fact]:
        """Where a target or a weight leads to what was freed or written, here or where it was freed.

        What the forward itself wrote says nothing of these, unless all that it spoiled of that memory lies in there.
        """
        if not self._failed:
            return
        failing, handle = self._passes[-1], self.violation
        if handle is None:
            spoiled = {age for age in failing.nodes if age in self._freed}
        else:
            spoiled = {age for age in failing.nodes if self._stack(age) == handle.raw}
        also = [one for ref in self._handles if (one := ref()) is not None and one.alias._version > one.version]
        places = {one.raw for one in also if handle is not None}
        written = {age for age in failing.nodes if self._stack(age) in places}
        calls = {id(self._freed[age]) for age in spoiled if handle is None}
        forward = handle is not None and any(one.optimizer < 0 for one in self.writes.spoiling(handle))
        same = {one.raw for one in also if handle is not None and one.key == handle.key}
        alone = spoiled | {age for age in failing.nodes if self._stack(age) in same} if forward else set[int]()
        found: dict[wire.Fact, None] = {}
        for done in self._passes if spoiled else ():
            if done is failing or id(done.call) in calls:
                whole = Graph.of(done.call.roots, self._taps.owned)
                for name, raw, aim in self._aims_of(whole, spoiled | written):
                    if any(spoiled_aims(whole, [aim], spoiled, alone)):
                        found[self._frames.fact(name, raw, aim.argument)] = None
        yield from found

    def _aims_of(self, whole: Graph, spoiled: set[int]) -> Iterator[tuple[str, Raw, Aim]]:
        """The targets of losses, and the weights of log-probabilities, that a backward goes through, and where."""
        for raw, held in self._aims.placed(whole.edges):
            yield from (("loss-trains-target", raw, aim) for aim in targets(whole, held, spoiled))
        yield from (("weight-has-graph", self._stack(aim.age), aim) for aim in weights(whole))

    @property
    def _failed(self) -> bool:
        """Whether a backward failed; not of one inside a transform."""
        return bool(self._passes) and self._taps.current is not None

    def freed(self) -> tuple[wire.Saved, ...]:
        """The nodes of the failing backward that an earlier one had freed, one per place that made them."""
        if not self._failed:
            return ()
        places: dict[Raw, wire.Saved] = {}
        resolve = self._frames.resolve
        for age in sorted(self._passes[-1].nodes, reverse=True):
            call = self._freed.get(age)
            raw = self._stack(age)
            if call is not None and raw not in places:
                places[raw] = wire.Saved(resolve(raw), freed_by=resolve(call.stack))
        return tuple(list(places.values())[:_SHOWN])

    def _crossings(self) -> tuple[wire.Crossing, ...]:
        """The tensors that lead out of a shared part of the graph, out of an earlier pass, or past a spoiling write."""
        if not self._failed:
            return ()
        failing = self._passes[-1]
        with quiet():
            self._carriers.look()
        shared = {age for age in failing.nodes if age in self._freed}
        calls = {id(self._freed[age]) for age in shared}
        mark = self._mark(failing, shared)
        found: dict[tuple[int, Raw, str], None] = {}
        for user, made in failing.edges:
            if made < mark <= user:
                found.setdefault((made, self._stack(user), "failing"))
        writes = self.writes.spoiling(self.violation) if self.violation else []
        spoiled = writes[0].age if writes else mark
        for user, made in failing.edges:
            if mark <= made < spoiled <= user:
                found.setdefault((made, self._stack(user), "stale"))
        for done in self._passes:
            by = "failing" if done is failing else "earlier"
            if done is not failing and id(done.call) not in calls:
                continue
            for user, made in done.edges:
                if made in shared and user not in shared:
                    found.setdefault((made, self._stack(user), by))
        return tuple(self._crossing(made, used, by) for made, used, by in list(found)[:_SHOWN])

    def _remade(self) -> bool:
        """Whether a place that made what the failing backward goes back to made something for it again since.

        So does one that hands on a state; what was made once, for several passes, is only gone back to.
        """
        if not self._passes:
            return True
        failing = self._passes[-1]
        stacks = {done.call.stack for done in self._passes if done is not failing}
        mark = self._mark(failing, {age for age in failing.nodes if age in self._freed})
        old = {self._stack(age) for age in failing.nodes if age < mark}
        if failing.call.stack not in stacks or not old or () in old:
            return True
        return any(self._stack(age) in old for age in failing.nodes if age >= mark)

    def _mark(self, failing: _Pass, shared: set[int]) -> int:
        """The age at which the pass before the failing one had ended: what is older was carried over."""
        freeing = {self._freed[age].index for age in shared}
        same = {
            done.call.index for done in self._passes if done is not failing and done.call.stack == failing.call.stack
        }
        return max((self._ends[index] for index in freeing or same if index in self._ends), default=-1)

    def _crossing(self, made: int, used: Raw, by: str) -> wire.Crossing:
        resolve = self._frames.resolve
        return wire.Crossing(resolve(self._stack(made)), resolve(used), by, self._carriers.of(made))
