"""What a script computes with gradients off, where a reference leaves them on so that a backward in there has a graph.

Either all of it has gradients, or only what the backward calls in there need: then what leaves the region is a constant
as the script has it, and a loss in there leaves no gradient for steps outside.

The same of parameters that it switches off for a while.
"""

from __future__ import annotations

import bisect
import functools
from collections import Counter, deque
from collections.abc import Callable, Iterable
from typing import Any

import torch

from .. import wire
from ..engine import caller, graph
from ..engine.sums import SCALES, addends
from ..engine.taps import Call, Listener, Taps
from ..instruments.aimed import measures
from ..program.frames import Frames, Raw

_BEFORE = "_autofix_before"
_KEPT = 8
_TWO = 2


class SwitchedOff(Listener):
    """Follows the mode that the script has set; `cut`: what leaves a region without gradients is a constant.

    Told are the backward calls and steps in such a region, the backward calls outside that go on into it, and those of
    them that need it: a term of their loss has no graph but that of the region. For these what leaves it is never cut.
    Of the others, which are weighed alone by what leaves it, which train more by it than without, and which take what
    those take that need it.
    """

    def __init__(self, frames: Frames, taps: Taps, *, cut: bool) -> None:
        self._frames, self._taps, self._cut = frames, taps, cut
        self.off = False
        """Whether the script has gradients off."""
        self._began: list[int] = []
        self._ended: list[int] = []
        """The ages of the graph where each region began and ended."""
        self._seen: Counter[tuple[str, Raw]] = Counter()
        self._steps: dict[int, None] = {}
        self._latest = deque[tuple[Raw, bool, set[int]]](maxlen=_KEPT)
        """Of calls that go on into a region: whether they need it, and what they take of it; of one that does, all."""

    def told(self) -> dict[str, Any]:
        """All that was seen, with how often it was seen at each place; the optimizers that step in there."""
        steps = [wire.Fact("step-while-off", str(index)) for index in self._steps]
        calls = [self._frames.fact(name, raw, str(n)) for (name, raw), n in self._seen.items()]
        return {"facts": (*calls, *steps)}

    def switch(self, on: bool, kept_on: bool) -> None:
        """The script sets its mode; `kept_on`: the reference does not follow."""
        mode, leaves = caller.mode()
        if leaves and _BEFORE in mode:
            now = mode.pop(_BEFORE)
        else:  # `set_grad_enabled` switches when it is made, and once more when it is entered
            mode.setdefault(_BEFORE, self.off)
            now = kept_on or (self.off and not on)
        if now is not self.off:
            (self._began if now else self._ended).append(graph.now())
            self.off = now

    def backward(self, call: Call) -> None:
        if self.off:
            self._seen["backward-while-off", call.stack] += 1
        if self.off or not self._began:
            return
        outermost = [node for node in graph.walk(call.roots, self._is_outside) if not self._is_outside(node)]
        owned = set[int]().union(*self._taps.owned)
        if not _train(outermost, owned):
            return
        self._seen["goes-into-off", call.stack] += 1
        needs = self._needs(call, owned)
        self._note_shared(call.stack, needs, outermost)
        if needs:
            self._seen["needs-what-is-off", call.stack] += 1
            return
        if all(self._is_weighed(term, owned) for term in addends(call.roots)):
            self._seen["weighed-by-off", call.stack] += 1
        without = graph.starts(call.roots)
        if not _trained(outermost, owned) <= _trained(without, owned, self._is_outside):
            self._seen["trains-more-by-off", call.stack] += 1
        if self._cut:
            call.cleanups.extend([node.register_prehook(graph.zeros).remove for node in outermost])

    def step(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        if self.off:
            self._steps[index] = None

    def made(self, tensor: torch.Tensor) -> bool:
        """Whether a tensor has a graph for the reference alone: the script has gradients off where it makes it."""
        node = graph.made_by(tensor) if self._began else None
        if node is None:
            return False
        return node._sequence_nr() >= self._began[-1] if self.off else not self._is_outside(node)

    def holds(self, age: int) -> bool:
        """Whether a node of that age was made in a region that has ended."""
        at = bisect.bisect_right(self._began, age) - 1
        return at >= 0 and at < len(self._ended) and age < self._ended[at]

    def _is_outside(self, node: graph.Node) -> bool:
        return not self.holds(node._sequence_nr())

    def _note_shared(self, raw: Raw, needs: bool, outermost: list[graph.Node]) -> None:
        taken = graph.ages(graph.walk_nodes(outermost) if needs else outermost)
        for other, needed, its in self._latest:
            if needs is not needed and not taken.isdisjoint(its):
                self._seen["shares-what-is-off", other if needs else raw] += 1
        self._latest.append((raw, needs, taken))

    def _is_weighed(self, term: graph.Node, owned: set[int]) -> bool:
        """Whether a term takes nothing of a region, or is that alone times an error or a logarithm, made without it."""

        def inside(node: graph.Node) -> bool:
            return not all(map(self._is_outside, graph.walk_nodes([node], self._is_outside)))

        def only(node: graph.Node) -> bool:
            return inside(node) and not _train([node], owned, self._is_outside)

        sides = graph.children(term)
        if not inside(term):
            return True
        if term.name() not in SCALES or len(sides) != _TWO:
            return False
        both = (sides, sides[::-1])
        return any(only(one) and measures(other) and not inside(other) for one, other in both)

    def _needs(self, call: Call, owned: set[int]) -> bool:
        """Whether a term of the loss, or what it is derived by, has no graph but that of the region."""
        if not call.accumulate:
            without = set(filter(self._is_outside, graph.walk(call.roots, self._is_outside)))
            reached = {*without, *(id(leaf) for leaf in graph.leaves(without))}
            return any((graph.made_by(one) or id(one)) not in reached for one in call.inputs)
        alone = ([term] for term in addends(call.roots))
        return any(_train(term, owned) and not _train(term, owned, self._is_outside) for term in alone)


class Asleep(Listener):
    """Parameters that are off and record their graph: no backward leaves a gradient in them until they are on again."""

    def __init__(self) -> None:
        self._tensors: dict[int, torch.Tensor] = {}

    def switched_off(self, tensor: torch.Tensor) -> None:
        self._tensors[id(tensor)] = tensor

    def switched_on(self, tensor: torch.Tensor) -> None:
        self._tensors.pop(id(tensor), None)

    def backward(self, call: Call) -> None:
        if call.accumulate and not call.inputs:
            mine = tuple(self._tensors.values())
            _flag(mine, on=False)
            call.cleanups.append(functools.partial(_flag, mine, on=True))


def _flag(tensors: Iterable[torch.Tensor], *, on: bool) -> None:
    with torch._C.DisableTorchFunction():
        for tensor in tensors:
            tensor.requires_grad_(on)


def _train(
    starts: Iterable[graph.Node], owned: set[int], enter: Callable[[graph.Node], bool] = lambda _node: True
) -> bool:
    """Whether nodes lead to a parameter that an optimizer owns, or, without optimizers, to any leaf."""
    return bool(_trained(starts, owned, enter))


def _trained(
    starts: Iterable[graph.Node], owned: set[int], enter: Callable[[graph.Node], bool] = lambda _node: True
) -> set[int]:
    leaves = set(map(id, graph.leaves(graph.walk_nodes(filter(enter, starts), enter))))
    return leaves & owned if owned else leaves
