"""What each pass takes of earlier ones: a state that each hands to the next, or what was made once for several."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from typing import Any

import torch

from ..engine import graph
from ..engine.names import Names
from ..engine.operators import storage_key
from ..engine.quiet import quiet
from ..engine.remembered import Remembered
from ..engine.sources import DataSources
from ..engine.sums import addends
from ..engine.taps import Call, Listener, parameters
from ..program.frames import Frames, Raw
from .averages import Averages
from .bare_terms import BareTerms
from .evaluated import Evaluated
from .late_terms import LateTerms
from .lent import Lent
from .makings import Makings
from .own_output import OwnOutput
from .records import Records
from .replayed import Replayed
from .scaled import Scaled
from .states import States
from .targets import Targets

_LATEST = 8
"""Backward calls that are remembered, to tell what came through them."""


class Carried(Listener):
    """Notes whether a backward reaches past the pass before it at its site, and cuts it there if asked to.

    A pass is what a site does from one step to the next: one line may run backward for several losses, and each of them
    ends where the pass began. A state that another site's backward went through, before a step, came from an earlier
    pass, too, if it was made as what follows is: a recurrence goes on across the phases of a loop. A pass also begins
    behind an evaluation that keeps its graph. `reused` holds the sites with a pass that reached only nodes older than
    the pass before: not a state that each pass hands to the next, but something made once, for several passes. `alone`
    says that these passes had no leaf but in there, `added` that it was an addend of all their losses, `anew` that each
    of them applies its parameters anew, in the same way; `left_over` that it was such an addend, and that more passes
    made their own, for themselves alone, or that it was replaced so (`lent`); `shared` are the ages of its outermost
    nodes. `again` says that it was made more than once, each time between other steps; where the data are known, not of
    the same data one after the other. `renewed` says that it is a memory which is filled on and on (`makings`).
    As far as somebody watches for `sources`, `fed` says that data went into it, `drawn` that some pass uses what was
    drawn from it, or that it evaluates, and `collected` that it is data itself: it is applied anew, and all these
    passes use such draws, or it was made by modules that evaluate, which train in these passes. `once` says that all
    which passes take of earlier ones was made so: two passes that share something look like two that hand it on.
    `kept_up` says that it is a record that rounds keep up (`records`), to which no data went as far as one watches;
    `recurs` that all which passes take of earlier ones are states of a recurrence.
    """

    def __init__(
        self, frames: Frames, names: Names, cut: bool, sources: DataSources | None = None, *, once: bool
    ) -> None:  # fmt: skip
        self._frames, self._names = frames, names
        self._once = once and sources is not None
        self._older: set[int] = set()
        self._cut = cut
        self.cut_before = -1
        """The age before which the backward that goes on is cut off."""
        self.shared: set[int] = set()
        self._sources = sources
        self.alone = self.added = True
        self.fed = False
        self._own_alone = 0
        """How many passes took nothing of an earlier one, and nothing was taken of them."""
        self._anew = True
        self._drawn = False
        self._makings, self._lent = Makings(), Lent(names)
        self._passes: Counter[Raw] = Counter()
        self._begun: dict[Raw, tuple[int, set[int]]] = {}
        """Of each site, the last pass that took nothing of an earlier one, and what of it no other has shared yet."""
        self._collected = sources is not None
        self._unshared: dict[int, int] = {}
        """The ages of older nodes that a pass reached and that are not known to be shared, with its number of steps."""
        self._leaves: set[int | None] = set()
        self._lies = Remembered[int | None]()
        """The storage in which each leaf was seen last."""
        self._ended: dict[Raw, tuple[int, int]] = {}
        """How many steps there had been when a site last ran, and the age of the graph at its end."""
        self._latest: Raw = ()
        self._began: dict[Raw, list[int]] = {}
        """The age of the graph from which on each pass of a site but the first may have made its nodes."""
        self.steps = 0
        self._trained: set[int] = set()
        """The ages of the losses that went backward."""
        self._calls: deque[tuple[Raw, int, int, set[int]]] = deque(maxlen=_LATEST)
        """The latest calls: where, after how many steps, the age of the graph, and the ages of what they reached."""
        self.carried = False
        self.reused: dict[Raw, None] = {}
        self._inside: dict[int, torch.Tensor] = {}
        """The leaves of what is reused, and in `_beside` the storages of those that the passes that do apply else."""
        self._beside: set[int | None] = set()
        self._targets, self._averages, self._late = Targets(frames, names), Averages(), LateTerms(frames)
        self._bare, self._records, self._scaled = BareTerms(), Records(), Scaled(frames)
        self._states = States()
        self.evaluated = Evaluated(frames)
        self._own = OwnOutput(frames, sources) if sources is not None else None
        self._replayed = Replayed(frames, sources) if sources is not None else None

    def told(self) -> dict[str, Any]:
        """Whether a graph is carried over, and of what is made once, for several passes, all that is known."""
        inside = (one for one in self._inside.values() if storage_key(one) not in self._beside)
        return {
            "carried": self.carried, "reused": tuple(map(self._frames.resolve, self.reused)), "alone": self.alone,
            "fed": self.fed, "collected": self.collected, "anew": self._anew, "added": self.added,
            "again": self._makings.again(), "renewed": self._makings.renewed(), "drawn": self._drawn,
            "inside": tuple(self._names.name(one, "") for one in inside),
            "begun": self._passes_since_begun(), "left_over": self._is_left_over(),
            "bare": self._bare.told(), "kept_up": self._records.all and not any(map(any, self._makings.of)),
            "shared": tuple(sorted(self.shared)), "recurs": self._states.told(),
            "facts": (
                *self._targets.told(), *self._late.told(), *self._scaled.told(),
                *(self._own.told() if self._own is not None else ()),
                *(self._replayed.told() if self._replayed is not None else ()),
            ),
            "older": tuple(sorted(self._older)),
            **self._averages.told(),
        }  # fmt: skip

    def backward(self, call: Call) -> None:
        self._bare.begin()
        began = self._began.setdefault(call.stack, [])
        steps, age = self._ended.get(call.stack, (self.steps, 0))
        if steps < self.steps:
            began.append(age)
        mark = self.evaluated.end(call, self._crossed(call, began[-1] if began else -1))
        new, old = graph.parted(call.roots, mark)
        fresh, leaves = list(graph.operations(new)), self._meet(graph.leaves(new))
        if call.accumulate and not call.create:
            reached = {node._sequence_nr() for node in (*old, *fresh)}
            self._trained |= graph.ages(graph.starts(call.roots))
            self._calls.append((call.stack, self.steps, graph.now(), reached))
            self._records.made(fresh)
        self._averages.watch(call, mark, set(leaves), old)
        self._late.watch(call, graph.since(mark))
        self._scaled.watch(call, old, graph.since(mark))
        if self._own is not None:
            self._own.watch(call, old, fresh)
        self._passes[call.stack] += 1
        own = graph.ages(fresh)
        self._makings.used(call.stack, own)
        if not old:
            self._use_own(call.stack, own)
            return
        self.carried = True
        # A recurrence leads on from all that is older: it was kept for later, as in a pool.
        recurs = graph.applied_again([*new, *old], old, alike=True) == set(old)
        self._states.watch(old, recurs=recurs)
        if self._replayed is not None and began:
            self._replayed.watch(call, [*new, *old], old, began[0])
        ages = {node._sequence_nr() for node in old}
        self._older |= ages
        self._unshared |= dict.fromkeys(ages - self.shared - self._unshared.keys(), self.steps)
        before = len(began) > 1 and all(node._sequence_nr() < began[-2] for node in old)
        if self._once or (before and not recurs):
            self._share(call.stack, old, leaves)
            self._lent.take(call.stack, ages)
            self.shared.update(ages)
            self._begun = {site: one for site, one in self._begun.items() if ages.isdisjoint(one[1])}
            self._unshared = {age: steps for age, steps in self._unshared.items() if age not in ages}
            self._makings.shared(call.stack, ages)
            self.alone = self.alone and not leaves
            self.added = self.added and set(old) <= set(addends(call.roots, graph.since(mark)))
            self._bare.watch(call, old, mark)
            shared = list(graph.walk_nodes(old)) if self._anew or self._sources is not None else []
            self._anew = self._anew and set(graph.applied(shared)) <= set(graph.applied(fresh))
            if self._sources is not None:
                self._look_at_data(self._sources, mark, shared, fresh)
        if self._cut:
            self._send_nothing(call, old, mark)
        else:
            self._targets.watch(call, old, fresh)

    def _use_own(self, stack: Raw, ages: set[int]) -> None:
        """A pass takes nothing of an earlier one."""
        self._own_alone += stack in self._begun
        self._lent.take_nothing(stack)
        self._begun[stack] = self._passes[stack], ages

    def _look_at_data(
        self, sources: DataSources, mark: int, shared: list[graph.Node], fresh: list[graph.Node]
    ) -> None:  # fmt: skip
        self.fed = self.fed or sources.fed(shared)
        self._makings.of.append(frozenset(one.data for one in sources.taken(shared).values()))
        evaluated = sources.evaluated(shared, fresh)
        self._drawn = self._drawn or evaluated or sources.drawn_before(mark, shared, fresh)
        self._collected = self._collected and self._anew and (evaluated or sources.drawn(shared, fresh))

    def _share(self, stack: Raw, old: list[graph.Node], leaves: list[int | None]) -> None:
        if stack not in self.reused:
            self._inside |= {id(leaf): leaf for leaf in graph.leaves(graph.walk_nodes(old))}
        self._beside.update(leaves)
        self._records.shared(graph.operations(old), self._makings.ages)
        self.reused[stack] = None

    def _meet(self, leaves: Iterable[torch.Tensor]) -> list[int | None]:
        """Know where leaves lie, and answer with that."""
        found = [(leaf, storage_key(leaf)) for leaf in leaves]
        for leaf, key in found:
            self._leaves.add(key)
            self._lies.keep(leaf, key)
        return [key for _, key in found]

    def _send_nothing(self, call: Call, old: list[graph.Node], mark: int) -> None:
        def done() -> None:
            self.cut_before = -1

        self.cut_before = mark
        call.cleanups.extend(node.register_prehook(graph.zeros).remove for node in old)
        call.cleanups.append(done)

    def _crossed(self, call: Call, mark: int) -> int:
        """Where a recurrence came through another site's backward and a step after the pass began; else `mark`."""
        for stack, steps, age, reached in reversed(self._calls):
            if stack == call.stack or steps == self.steps or age <= mark:
                continue
            nodes = list(graph.walk(call.roots, graph.since(age)))
            older = [node for node in nodes if node._sequence_nr() < age]
            if older and (self._recurs(nodes, older, reached, mark) or self._is_made_of_done(call, nodes, age)):
                return age
        return mark

    def _recurs(self, nodes: list[graph.Node], older: list[graph.Node], reached: set[int], mark: int) -> bool:
        """Whether parameters that lead to what a call reached went into that, too: a cell is applied once more."""
        if not all(node._sequence_nr() in reached for node in older):
            return False
        before = set(graph.applied(graph.walk_nodes(older, graph.since(mark))))
        return not before.isdisjoint(graph.applied(graph.leading(nodes, older)))

    def _is_made_of_done(self, call: Call, nodes: list[graph.Node], age: int) -> bool:
        """Whether what is older than `age` comes by a value that was made since of nothing but what is done.

        So is a number that follows the losses of all phases, and weighs one of them in the next round. All that it is
        made of went backward before a step, and each part of it is such a loss, or this site's own latest call went
        through it. The site is the first of a round: what it takes of another one is of the round before.
        """
        own = next((reached for stack, _, _, reached in reversed(self._calls) if stack == call.stack), set())
        done = set().union(*(reached for _, steps, _, reached in self._calls if steps < self.steps))
        sites = list(dict.fromkeys(stack for stack in self._ended if stack in {one for one, *_ in self._calls}))
        if not own or not sites or sites[0] != call.stack:
            return False
        made: dict[graph.Node, bool] = {}
        """Of each node that is older, or was made since of that alone, whether any of it was handed on."""
        for node in sorted(nodes, key=lambda node: node._sequence_nr()):  # children are older
            below, number = graph.children(node), node._sequence_nr()
            if graph.leaf(node) is not None:
                continue
            if number < age:
                if number not in done:
                    return False
                made[node] = number in own or number in self._trained
            elif below and all(one in made for one in below):
                made[node] = any(made[one] for one in below)
        tops = {one for node in nodes if node not in made for one in graph.children(node) if one in made}
        return not any(root in made for root in graph.starts(call.roots)) and all(made[one] for one in tops)

    def _passes_since_begun(self) -> int:
        """How many passes of a site that shares something began with one of which nobody knows what others share.

        Where these are most of all, only the last one is meant: all but the first few would say nothing.
        """
        known = ((self._passes[site], self._begun[site][0]) for site in self.reused if site in self._begun)
        found = [(count, count - number + 1) for count, number in known]
        return max((since if 2 * since <= count else int(since == 1) for count, since in found), default=0)

    def _is_left_over(self) -> bool:
        """Whether what is shared is a term that a pass leaves to the next where that does not make its own."""
        makings = set(self._makings.newest())  # none where nothing was shared: then nothing was an addend either
        replaced = self._anew and self._lent.is_replaced
        return replaced or (self.added and 0 < len(makings) < self._own_alone)

    @property
    def collected(self) -> bool:
        """Whether all that passes took from earlier ones is data; of what only the last pass took, nobody knows yet."""
        last = max((steps for steps, _ in self._ended.values()), default=0)
        known = all(steps == last for steps in self._unshared.values())
        return self._collected and bool(self.reused) and known

    def backward_done(self, call: Call) -> None:
        self._ended[call.stack] = self.steps, graph.now()
        self._latest = call.stack
        self.evaluated.backward_done(call)

    def step(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        if self._cut:
            with quiet():
                _drop_zeros(optimizer)

    def step_done(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self.steps += 1
        self._makings.ages.append(graph.now())
        self._bare.step(optimizer)

    def wrote(self, key: int) -> None:
        """A storage was written: where it is a leaf's, this is a step made by hand."""
        self.steps += key in self._leaves

    def put(self, leaf: torch.Tensor) -> None:
        """A leaf is given other values: where a step came before, the pass ends here, with what was made of the old.

        Other memory in place of its own is itself a step made by hand.
        """
        key = storage_key(leaf)
        if leaf in self._lies and self._lies.of(leaf) != key:
            self._meet([leaf])
            self.steps += 1
        steps, _ = self._ended.get(self._latest, (self.steps, 0))
        if steps < self.steps and key in self._leaves:
            self._ended[self._latest] = steps, graph.now()


def _drop_zeros(optimizer: torch.optim.Optimizer) -> None:
    """Leave the rows of zeros out of sparse gradients: a step may move each row that is listed, whatever it is sent."""
    for parameter in parameters(optimizer):
        if parameter.grad is not None and parameter.grad.layout is torch.sparse_coo:
            listed = parameter.grad.coalesce()
            rows = listed.values().flatten(1).any(1) if listed.values().dim() > 1 else listed.values() != 0
            kept = listed.indices()[:, rows], listed.values()[rows]
            parameter.grad = torch.sparse_coo_tensor(*kept, listed.shape, is_coalesced=True)
