"""The guards: faults that a run can have although it ends well: stale graphs, cross-talk, growth."""

from __future__ import annotations

import math
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from .. import wire
from ..engine import graph
from ..engine.names import Names
from ..engine.quiet import quiet
from ..engine.resent import Resent
from ..engine.shapes import Shapes
from ..engine.sketch import Sketcher, is_zero
from ..engine.taps import Call, Listener, Taps, parameters
from ..program.frames import Frames, Raw
from .mixed import MixedLosses
from .terms import sums_of

_QUEUE = 16
"""Backward calls of one site that are remembered, as losses may wait for each other."""
_Sums = tuple[set[tuple[int, int]], set[tuple[int, int]], torch.Tensor | None]
_PHASE = 2
"""Steps of an optimizer without it after which gradient that was left over once is taken for that of a phase before."""
_SEVERAL = 2
"""So many leaves of one shape, each of another pass and without a name, tell that passes make one anew."""
_WALKED = 1 << 20
_ROUNDING = 1e-5
_LATEST = 8
"""Backward calls that are held against each other."""


@dataclass(slots=True)
class _Site:
    """What is known of one backward site.

    `grows` says how many older nodes it reaches, ever more between two steps; `ends`: after a step it began anew;
    `near`: the ages of the nodes beside leaves that its latest pass went through, once it grows; `loss`: the age of
    what its latest pass started from; `calls`: when the latest began; `waited`: how many of these began between.
    """

    mark: int = -1
    reached: int = 0
    growths: int = 0
    segment: int = -1
    grows: str = ""
    ends: bool = False
    near: set[int] = field(default_factory=set)
    loss: int = -1
    calls: deque[int] = field(default_factory=lambda: deque(maxlen=_QUEUE))
    waited: int = 0


@dataclass(slots=True)
class _Given:
    """The graph that `create_graph=True` gave the latest derivative of one site, and whether a backward went there."""

    begin: int
    end: int = 0
    used: bool = False


@dataclass(slots=True)
class _Left:
    """Gradient of one backward site that steps of another optimizer used: in how many, the latest, and its segment."""

    name: str
    times: int = 0
    latest: int = 0
    segment: int = 0


@dataclass(slots=True)
class _Sent:
    """Gradient that lies in one leaf: the segments whose backwards sent it, each with its call's stack.

    `held` is the id of the tensor in which the latest of them left it.
    """

    leaf: torch.Tensor
    held: int = 0
    segments: dict[int, Raw] = field(default_factory=dict)
    calls: set[int] = field(default_factory=set)


class Guards(Listener):
    """Watches backwards and steps; `found` holds each fault once.

    A *segment* is the backwards up to the steps that follow them.
    """

    inner = True

    def __init__(self, frames: Frames, names: Names, taps: Taps, *, shapes: int, growing: int) -> None:
        self._shapes = Shapes(taps, shapes) if shapes else None
        self._growing = growing
        self._frames, self._names, self._taps = frames, names, taps
        self._calls: dict[int, tuple[Raw, set[int]]] = {}
        self._sites: dict[Any, _Site] = {}
        self._updated: dict[int, int] = {}
        self._sent: dict[int, _Sent] = {}
        self._reached: dict[Raw, Counter[int]] = {}
        """Of each site, how many of its calls reached a leaf."""
        self._segment = 0
        self._given: dict[Raw, _Given] = {}
        self._started: deque[tuple[int, set[tuple[int, int]], set[tuple[int, int]]]] = deque(maxlen=_LATEST)
        """The latest calls that give losses all their weight: where each starts from, and all that it sums up."""
        self._again: list[tuple[str, int, int]] = []
        """Pairs of calls that send the same, and how: one starts from the loss of the other, or from a sum in which
        that is a term; or from where the other has left the gradient that it sends."""
        self._resent = Resent()
        self._mixed = MixedLosses(names, taps)
        self._derivatives: dict[Raw, None] = {}
        self._stepped: dict[int, set[int]] = {}
        self._steps: Counter[int] = Counter()
        self._left: dict[tuple[Raw, int], _Left] = {}
        self._sketcher = Sketcher()
        self._derived: dict[int, tuple[float, ...]] = {}
        """What the latest derivative by each owned leaf gave, as a sketch, where there is more than one optimizer."""
        self._owned: set[int] = set()
        self._in_backwards = True
        self._call_segments: list[int] = []
        self.found: dict[tuple[str, Raw], wire.Fact] = {}
        self.leaves: list[torch.Tensor] = []
        """Those that the graph of the latest backward begins at."""
        self._newest = self._stepped_on = -1
        """The age of the newest loss that went backward, and of the newest that a step has used."""
        self._outdated: set[int] = set()
        """The calls whose graph applies a parameter that was stepped since, where there is more than one optimizer."""
        self.walked: set[int] = set()
        """The ages of the nodes of all backwards, as long as they are not too many."""

    def told(self) -> dict[str, Any]:
        """The faults; for each backward call, the optimizers that stepped in its segment; derivatives, and reaches."""
        return {
            "facts": (*self.found.values(), *self._left_over(), *self._undecided_faults(), *self._wasted()),
            "segments": tuple(tuple(sorted(self._stepped.get(one, ()))) for one in self._call_segments),
            "with_graph": len(self._given), "reaches": self._reaches(),
            "derivatives": tuple(map(self._frames.resolve, self._derivatives)),
        }  # fmt: skip

    def optimizer_grew(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self._owned |= set(map(id, parameters(optimizer)))

    def _reaches(self) -> tuple[wire.Reach, ...]:
        """For each backward site, the parameters that its loss reached."""
        return tuple(
            wire.Reach(
                self._frames.site(stack), self._frames.resolve(stack),
                self._named(calls),
            )
            for stack, calls in self._reached.items()
        )  # fmt: skip

    def _named(self, calls: Counter[int]) -> tuple[str, ...]:
        """The names of leaves; that of one comes twice whose like passes make anew, each for itself.

        What has no variable of its own, but is found in a container or an object, may be kept there.
        """
        names = {key: self._names.name(self._sent[key].leaf, "") for key in calls}
        alike = Counter(self._sent[key].leaf.shape for key, many in calls.items() if many == 1 and not names[key])
        anew = (
            name
            for key, name in names.items()
            if calls[key] == 1 and name.isidentifier() and alike[self._sent[key].leaf.shape] >= _SEVERAL
        )
        return tuple(name for name in (*names.values(), *anew) if name)

    def backward(self, call: Call) -> None:
        if call.outer is not None:  # what it leaves in parameters is what the call around it sends them
            self._receive_all(call, call.outer)
            return
        self._check_thread(call)
        self._derivatives |= {} if call.accumulate or call.create else {call.stack: None}
        if not self._in_backwards:
            self._segment += 1
            self._in_backwards = True
        self._call_segments.append(self._segment)
        if self._shapes is not None:
            self._shapes.backward(call)
        self._forget_cleared(call)
        site = self._sites.setdefault(call.stack, _Site())
        waiting = [given for given in self._given.values() if not given.used]
        only = {id(tensor) for tensor in call.inputs} if call.inputs else None
        self._calls[call.index] = (call.stack, set())
        old, ages = 0, set[int]()
        reached: dict[int, torch.Tensor] = {}
        self.leaves = []
        with quiet():
            sums = _sums(call)
            # It starts from a loss that went backward before: its graph holds what was stepped since as it was.
            again = any(starts & held for starts, _, _ in sums for _, held, _ in self._started)
            before = math.inf if again else site.mark
            passes = _goes_through(call)
            for node in graph.walk(call.roots):
                variable = graph.leaf(node)
                if variable is not None:
                    self.leaves.append(variable)
                    if call.accumulate and (only is None or id(variable) in only):
                        self._receive(variable, call)
                    continue
                age = node._sequence_nr()
                ages.add(age)
                for given in waiting:
                    given.used |= given.begin <= age < given.end
                old += age < site.mark
                if passes(node):
                    reached |= self._check_old(node, age, before, call)
            self._check_replaced([*reached.values()], call)
            self._look_again(call, ages, sums)
        self.walked |= ages if len(self.walked) < _WALKED else set()
        self._check_growth(site, old, call)
        self._check_order(site, call)
        if call.create and not call.accumulate:
            known = self._given.get(call.stack)
            self._given[call.stack] = _Given(graph.now(), used=known is not None and known.used)

    def _wasted(self) -> Iterator[wire.Fact]:
        """Derivatives that were given a graph through which no backward ever goes, whoever asked for them."""
        used = {stack[:1] for stack, given in self._given.items() if given.used}
        for stack in self._given:
            if stack[:1] not in used:
                yield self._frames.fact("wasted", stack)

    def _left_over(self) -> Iterator[wire.Fact]:
        """Losses that leave gradient for the steps of another optimizer, pass for pass.

        What one phase leaves behind is used once, by the first step of the next, and that loss goes backward no more.
        """
        for (stack, index), left in self._left.items():
            goes_on = left.times > 1 or self._sites[stack].segment >= left.segment
            if goes_on or self._steps[index] - left.latest < _PHASE:
                yield self._frames.fact("cross-talk", stack, left.name)

    def _receive_all(self, call: Call, sender: Call) -> None:
        with quiet():
            for variable in graph.leaves(graph.walk(call.roots)) if call.accumulate else ():
                self._receive(variable, sender)

    def _forget_cleared(self, call: Call) -> None:
        """Leaves that hold nothing when a derivative is asked for: what is made of it by hand begins anew there."""
        for sent in () if call.accumulate else self._sent.values():
            if sent.segments and sent.leaf.grad is None:
                sent.segments.clear()
                sent.calls.clear()

    def _receive(self, variable: torch.Tensor, call: Call) -> None:
        sent = self._sent.get(id(variable))
        if sent is None:
            sent = self._sent[id(variable)] = _Sent(variable)
        gradient = variable.grad
        if gradient is None or (sent.segments and is_zero(gradient)):
            sent.segments.clear()
            sent.calls.clear()
        sent.segments.setdefault(self._segment, call.stack)
        sent.calls.add(call.index)
        self._calls[call.index][1].add(id(variable))
        self._reached.setdefault(call.stack, Counter())[id(variable)] += 1

    def _check_thread(self, call: Call) -> None:
        if threading.current_thread() is not threading.main_thread():
            self._report("trained-in-thread", call.stack, "")

    def _check_old(self, node: Any, age: int, before: float, call: Call) -> dict[int, torch.Tensor]:
        """What a node that a call goes through applies, stepped since; the leaves of which others may be made."""
        self._check_turn(node, age, call)
        if age >= before or ("stale", call.stack) in self.found:
            return {}
        for variable in self._stepped_since(node, age):
            self._report("stale", call.stack, self._names.name(variable, "a parameter"))
        return {id(one): one for one in self._reached_before(node, call)}

    def _check_replaced(self, leaves: list[torch.Tensor], call: Call) -> None:
        """Of leaves that an earlier backward reached, those whose names others took since are as they were before."""
        for variable in self._names.given_up(leaves):
            self._report("stale", call.stack, self._names.name(variable, "a parameter"))

    def _reached_before(self, node: Any, call: Call) -> list[torch.Tensor]:
        """Without optimizers: the leaves that a node applies, of which an earlier backward may have made others."""
        leaves = graph.leaves(graph.children(node)) if not self._taps.optimizers else ()
        sent = ((one, self._sent.get(id(one))) for one in leaves)
        return [one for one, known in sent if known is not None and min(known.calls, default=call.index) < call.index]

    def _check_turn(self, node: Any, age: int, call: Call) -> None:
        several = len(self._taps.optimizers) > 1
        if several and call.index not in self._outdated and next(self._stepped_since(node, age), None) is not None:
            self._outdated.add(call.index)

    def _stepped_since(self, node: Any, age: int) -> Iterator[torch.Tensor]:
        """The parameters that a node of this age applies, and that were stepped since."""
        return (one for one in graph.leaves(graph.children(node)) if self._updated.get(id(one), -1) > age)

    def _check_order(self, site: _Site, call: Call) -> None:
        """A loss that was there before another one was made, on which a step has been taken meanwhile.

        Or each loss of a site waits, while others are made, until as many as before it have gone backward there.
        """
        made = max(graph.ages(graph.starts(call.roots)), default=-1) if call.accumulate else -1
        if site.loss < made < self._stepped_on:
            self._report("computed-first", call.stack, "")
        waited = sum(made < one for one in site.calls) if made >= 0 else 0
        if 0 < waited == site.waited and any(self._updated.get(id(one), -1) > made for one in self.leaves):
            self._report("put-off", call.stack, "")
        site.waited = waited
        site.calls.append(graph.now())
        site.loss, self._newest = max(site.loss, made), max(self._newest, made)

    def _check_growth(self, site: _Site, old: int, call: Call) -> None:
        """A graph that grows over several backwards and ends with the step that uses them has a bound.

        Unless each goes through all of the one before: then it is a loss that grows, as a running total does. A
        derivative that is asked for is no loss: an inner loop that is differentiated goes through all of its past.
        """
        after_step, site.segment = site.segment not in (-1, self._segment), self._segment
        if after_step:
            if site.grows and old:
                self._report("growth", call.stack, site.grows)
            site.ends, site.grows = not old, ""
        near = _beside_leaves(call) if site.growths else set()
        total = call.accumulate and not after_step and bool(site.near) and site.near <= near
        site.growths = site.growths + 1 if old > site.reached else 0
        site.reached, site.near = old, near
        if site.growths >= self._growing:
            site.grows = str(old)
            if after_step or total:
                self._report("growth", call.stack, site.grows)

    def backward_done(self, call: Call) -> None:
        if len(self._taps.optimizers) > 1:  # one alone uses no gradient that is left for another
            pairs = zip(call.inputs, call.given, strict=False)
            by_leaves = [(leaf, given) for leaf, given in pairs if graph.is_leaf(leaf) and id(leaf) in self._owned]
            with quiet():
                sketches = self._sketcher.sketches([given for _, given in by_leaves])
            self._derived |= {id(leaf): sketch for (leaf, _), sketch in zip(by_leaves, sketches, strict=True)}
        if call.outer is None:
            for sent in map(self._sent.__getitem__, self._calls[call.index][1]):
                sent.held = id(sent.leaf.grad)
            self._sites[call.stack].mark = graph.now()
            if call.create and not call.accumulate:
                self._given[call.stack].end = graph.now()

    def step(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self._stepped.setdefault(self._segment, set()).add(index)
        self._in_backwards = False
        self._stepped_on = self._newest
        self._check_twice(optimizer)
        self._check_mixed(index, optimizer)
        self._outdate(optimizer)  # already now: a closure may be evaluated again before the step is done
        self._steps[index] += 1
        for parameter in parameters(optimizer):
            sent = self._sent.get(id(parameter))
            if parameter.grad is None or sent is None:
                continue
            before = [
                stack
                for segment, stack in sent.segments.items()
                if segment < self._segment and index not in self._stepped.get(segment, ())
            ]
            if before and not self._is_put_in_place(sent):
                for stack in before:
                    name = self._names.name(parameter, "a parameter")
                    left = self._left.setdefault((stack, index), _Left(name))
                    left.times += left.latest < self._steps[index]
                    left.latest, left.segment = self._steps[index], self._segment

    def _is_put_in_place(self, sent: _Sent) -> bool:
        """Whether what lies in a leaf has nothing of what backwards left there: a derivative, times a number."""
        gradient, derived = sent.leaf.grad, self._derived.get(id(sent.leaf))
        if gradient is None or not derived or id(gradient) == sent.held:
            return False
        with quiet():
            (found,) = self._sketcher.sketches([gradient])
        return _is_multiple(found, derived, single=gradient.numel() == 1)

    def _look_again(self, call: Call, ages: set[int], sums: list[_Sums]) -> None:
        if (before := self._resent.of(call, ages)) is not None:
            self._again.append(("gradient-sent-twice", before, call.index))
        for starts, summed, gradient in sums:
            if gradient is None or bool((gradient == 1).all()):
                self._again += [
                    ("same-loss-twice", index, call.index)
                    for index, started, held in self._started
                    if index != call.index and (starts & held or started & summed)
                ]
                self._started.append((call.index, starts, summed))

    def _check_twice(self, optimizer: torch.optim.Optimizer) -> None:
        """Two calls sent the same, and what both left in a parameter is used."""
        for parameter in parameters(optimizer) if self._again else ():
            sent = self._sent.get(id(parameter))
            if sent is None or parameter.grad is None:
                continue
            for name, first, second in self._again:
                if {first, second} <= sent.calls:
                    stack = self._calls[second][0]
                    self._report(name, stack, self._names.name(parameter, "a parameter"))

    def _used(self, optimizer: torch.optim.Optimizer) -> set[int]:
        """The calls that sent the gradients which lie in an optimizer's parameters."""
        mine = [self._sent[id(p)] for p in parameters(optimizer) if p.grad is not None and id(p) in self._sent]
        return {n for sent in mine for n in sent.calls}

    def shape(self, index: int, optimizer: torch.optim.Optimizer) -> str:
        """What the graphs behind the gradients that lie in this optimizer's parameters are made of, where asked for."""
        return self._shapes.of(index, self._used(optimizer)) if self._shapes is not None else ""

    def is_outdated(self, optimizer: torch.optim.Optimizer) -> bool:
        """Whether a gradient that lies in this optimizer's parameters came of what was applied before a step of it."""
        return not self._used(optimizer).isdisjoint(self._outdated)

    def _check_mixed(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        calls = self._used(optimizer)
        segment = {n for n in calls if self._call_segments[n] == self._segment}
        self._mixed.step(index, calls, segment, self._calls)
        for fact, stack, name in self._mixed.sure():
            self._report(fact, stack, name)

    def _undecided_faults(self) -> Iterator[wire.Fact]:
        """Graphs that grow, if no step has shown that they end with it, and doubts about losses for another network.

        Of these no step has shown whether it throws their gradient away.
        """
        for stack, site in self._sites.items():
            if site.grows and not site.ends and ("growth", stack) not in self.found:
                yield self._frames.fact("growth", stack, site.grows)
        for fact, stack, name in self._mixed.doubted():
            if (fact, stack) not in self.found:
                yield self._frames.fact(fact, stack, name)

    def step_done(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self._outdate(optimizer)

    def _outdate(self, optimizer: torch.optim.Optimizer) -> None:
        age = graph.now()
        for parameter in parameters(optimizer):
            self._updated[id(parameter)] = age

    def _report(self, name: str, stack: Raw, subject: str) -> None:
        if (name, stack) not in self.found:
            self.found[name, stack] = self._frames.fact(name, stack, subject)


class Reached(Guards):
    """Knows the leaves that each backward reaches, and looks for no faults: where a run only goes on."""

    def __init__(self, frames: Frames, names: Names, taps: Taps, cut_before: Callable[[], int]) -> None:
        """`cut_before`: the age of what the backward that goes on is cut off from."""
        super().__init__(frames, names, taps, shapes=0, growing=0)
        self._cut_before = cut_before

    def backward(self, call: Call) -> None:
        if call.outer is None:
            self.leaves = [*graph.leaves(graph.walk(call.roots, graph.since(self._cut_before())))]

    def backward_done(self, call: Call) -> None:
        pass

    def step(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        pass

    def step_done(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        pass


def _is_multiple(one: tuple[float, ...], other: tuple[float, ...], *, single: bool) -> bool:
    """Whether, by its sketch, a tensor is another times a number; a single one, whether it is that or its opposite."""
    if not one or not one[0] or not other[0] or (single and one[0] != other[0]):
        return False
    times = math.copysign(one[0] / other[0], one[1] * other[1])
    return all(abs(a - times * b) <= _ROUNDING * one[0] for a, b in zip(one[1:], other[1:], strict=True))


def _sums(call: Call) -> list[_Sums]:
    """Of each loss that sends gradients to leaves: where it starts from, all that it sums up, and its own gradient."""
    pairs = zip(call.roots, call.gradients, strict=False) if call.accumulate else ()
    return [(*sums_of(root), gradient) for root, gradient in pairs if not graph.is_leaf(root)]


def _goes_through(call: Call) -> Callable[[Any], bool]:
    """Whether a call goes through a node: all that is reached, or what leads to the inputs that it names."""
    if not call.inputs:
        return lambda _: True
    only = set(map(id, call.inputs))
    nodes = [*graph.walk(call.roots)]
    ends = {node for node in nodes if id(graph.leaf(node)) in only}
    return graph.leading(nodes, ends.union(filter(None, map(graph.made_by, call.inputs)))).__contains__


def _beside_leaves(call: Call) -> set[int]:
    """The ages of the nodes of a call's graph that lead straight to leaves."""
    return {
        node._sequence_nr() for node in graph.walk(call.roots) if any(True for _ in graph.leaves(graph.children(node)))
    }
