"""What the program compares with each other, and whether the two are ever different: new with new shows nothing."""

from __future__ import annotations

import bisect
import functools
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import torch

from .. import wire
from ..engine import graph
from ..engine.operators import Functions
from ..engine.quiet import quiet
from ..engine.taps import Call, Listener
from ..program.frames import Frames, Raw

DIFFERENCES = frozenset({
    torch.Tensor.sub, torch.sub, torch.Tensor.subtract, torch.subtract, torch.Tensor.dist, torch.dist,
    torch.nn.functional.mse_loss, torch.nn.functional.l1_loss, torch.nn.functional.smooth_l1_loss,
    torch.nn.functional.huber_loss, torch.nn.functional.pairwise_distance,
})  # fmt: skip
"""What is zero where both arguments are the same."""
_OF_LOG = torch.nn.functional.kl_div
"""What holds a logarithm against something, mostly not of a logarithm itself."""
_RATIOS = frozenset({torch.Tensor.div, torch.div, torch.Tensor.true_divide, torch.nn.functional.cosine_similarity})
_BOTH = 2
_OFTEN = 40
_LARGE = 1 << 20
_COPIES = graph.kinds("Clone", "View", "UnsafeView", "Alias", "Expand")
_ROUNDING = 1e-5
"""Part of the largest of some numbers by which rounding moves any of them, at most."""


class Comparisons(Functions, Listener):
    """Counts, for each place that takes a difference or a ratio, how often the two were the same and how often not."""

    def __init__(self, frames: Frames, older: Iterable[int] = (), *, rest: bool = False) -> None:
        """`older`: the ages of what passes take of earlier ones, in another run of the same operations.

        `rest`: parameters stay where they are. What then differs by rounding is the same, of batches of two sizes.
        """
        super().__init__()
        self._frames, self._rest = frames, rest
        self._older = frozenset(older)
        self._seen: dict[Raw, list[int]] = {}
        self._held: dict[Raw, set[int]] = {}
        """Of each place, what of that it holds against something newer; and how often the two were not the same."""
        self._apart: dict[Raw, int] = {}
        self._comparing: set[int] = set()
        """The ages of what was made by that."""
        self._elsewhere: set[int] = set()
        """What of it losses of later passes are made of by another way, too."""
        self._ended: dict[Raw, int] = {}
        """The age of the graph when a backward last ended at a place."""
        self._former = _Former()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        older = False
        if (func in DIFFERENCES or func in _RATIOS or func is _OF_LOG) and len(args) >= _BOTH:
            of_log = func is _OF_LOG and not (kwargs or {}).get("log_target")
            older = bool(self._look(*args[:_BOTH], of_log=of_log))
        result = func(*args, **(kwargs or {}))
        if older and (node := graph.made_by(result)) is not None:
            self._comparing.add(node._sequence_nr())
        return result

    def backward(self, call: Call) -> None:
        ends = self._older | self._comparing
        nodes = graph.walk(call.roots, lambda node: node._sequence_nr() not in ends) if self._older else ()
        before = self._ended.get(call.stack, -1)
        elsewhere = [node for node in nodes if before > node._sequence_nr() in self._older]
        self._elsewhere |= graph.ages(elsewhere)
        self._former.sent(call, elsewhere)

    def backward_done(self, call: Call) -> None:
        self._ended[call.stack] = graph.now()

    def step_done(self, _index: int, _optimizer: torch.optim.Optimizer) -> None:
        self._former.stepped.append(graph.now())

    def _look(self, one: Any, other: Any, *, of_log: bool) -> set[int]:
        """Count them; what one of them is made of alone that is older, where the other is newer.

        `of_log`: the first is the logarithm of what is held against the other.
        """
        if not (isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor)):
            return set()
        with quiet():
            if one.shape != other.shape or not one.is_floating_point() or not 0 < one.numel() <= _LARGE:
                return set()
            here = self._frames.here()
            counts = self._seen.setdefault(here, [0, 0])
            held = self._against_newer(one, other) if self._older else set[int]()
            if sum(counts) < _OFTEN and bool(one.any()):
                differs = not self._is_same(one.exp() if of_log else one, other.to(one.dtype))
                counts[differs] += 1
                self._apart[here] = self._apart.get(here, 0) + (differs and bool(held))
            self._held.setdefault(here, set()).update(held)
        return held

    def _is_same(self, one: torch.Tensor, other: torch.Tensor) -> bool:
        if not self._rest:
            return torch.equal(one, other)
        return bool((one - other).abs().max() <= _ROUNDING * one.abs().max())

    def _against_newer(self, one: torch.Tensor, other: torch.Tensor) -> set[int]:
        """What one of the two is made of alone that is older, where the other has a graph without it."""
        sides = [self._made_of(tensor) for tensor in (one, other)]
        for (ends, leaves), (others, new) in (sides, sides[::-1]):
            if ends and not leaves and new and ends.isdisjoint(others):
                self._former.held(ends)
                return graph.ages(graph.walk_nodes(ends)) & self._older
        return set()

    def _made_of(self, tensor: torch.Tensor) -> tuple[set[graph.Node], bool]:
        """What a graph comes to that is older, and whether it leads to a leaf beside that."""
        nodes = list(graph.walk([tensor], lambda node: node._sequence_nr() not in self._older))
        leaves = tensor.requires_grad and (not nodes or any(graph.leaf(node) is not None for node in nodes))
        return {node for node in nodes if node._sequence_nr() in self._older}, leaves

    def told(self) -> dict[str, Any]:
        """Each place, with its counts: several stacks may lead to one, as those of the passes of a generator."""
        found: dict[wire.Stack, wire.Compared] = {}
        along = self._former.along()
        for raw, (same, other) in self._seen.items():
            stack, held = self._frames.resolve(raw), self._held.get(raw, set())
            held = (held - self._elsewhere) | (along & self._older if held else set())
            had = found.get(stack, wire.Compared(self._frames.site(raw), stack, 0, 0))
            found[stack] = replace(
                had,
                same=had.same + same,
                other=had.other + other,
                older=(*had.older, *held),
                apart=had.apart + self._apart.get(raw, 0),
            )
        return {"compared": tuple(found.values())}


class _Former:
    """Former values of leaves that are held against something newer, and what was made along with them and weighs that.

    It was made between the same two steps and of these leaves alone, so of what is a former value by now; and it is
    sent no gradient while both sides are the same.
    """

    def __init__(self) -> None:
        self.stepped: list[int] = []
        """The age of the graph at each step."""
        self._copies: dict[tuple[int, int], torch.Tensor] = {}
        """The leaves that were copied, each by its id and the steps before that."""
        self._made_of: dict[int, set[tuple[int, int]]] = {}
        """Of what else was made before a pass that uses it, by its age, the copies that would have to be held."""
        self._behind: dict[int, set[int]] = {}
        """By its age, those of all that it was made of, and its own."""
        self._sent: set[int] = set()
        """What of that was sent a gradient."""

    def held(self, ends: Iterable[graph.Node]) -> None:
        """These nodes alone made what is held against something newer."""
        for end in ends:
            node = end
            while node.name() in _COPIES:
                (node,) = graph.children(node)
            if (leaf := graph.leaf(node)) is not None:
                self._copies[id(leaf), self._steps(end)] = leaf

    def sent(self, call: Call, older: Iterable[graph.Node]) -> None:
        """A backward is about to go through what was made before, and not by way of what is held."""
        for node in older:
            age, steps, nodes = node._sequence_nr(), self._steps(node), list(graph.walk_nodes([node]))
            self._made_of[age] = {(id(leaf), steps) for leaf in graph.leaves(nodes)}
            self._behind[age] = graph.ages(nodes)
            call.cleanups.append(node.register_prehook(functools.partial(self._arrived, age)).remove)

    def _arrived(self, age: int, gradients: tuple[torch.Tensor | None, ...]) -> None:
        with quiet():
            if any(one is not None and bool(one.any()) for one in gradients):
                self._sent.add(age)

    def along(self) -> set[int]:
        """The ages of these weights, and of what they are made of."""
        known = self._copies.keys()
        found = (age for age, made_of in self._made_of.items() if age not in self._sent and made_of <= known)
        return set().union(*map(self._behind.__getitem__, found))

    def _steps(self, node: graph.Node) -> int:
        return bisect.bisect(self.stepped, node._sequence_nr())
