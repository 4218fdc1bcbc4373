"""Whether passes make a term of nothing but what they share: as a constant, that would train nothing that steps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import torch

from ..engine import graph
from ..engine.operators import storage_key
from ..engine.sums import addends
from ..engine.taps import Call, parameters

Keys = set[int | None]
"""The storages of leaves."""


class _Pass(NamedTuple):
    """The leaves of each term that a pass made of what it shares with others, and of what it shares."""

    terms: list[Keys]
    shared: Keys


class BareTerms:
    """Looks, in the passes that take what several share, for a term of the loss that is such a one.

    The pass made the term, as a number that it adds to others. The term leads to what the optimizers behind it own
    through what is shared, and in no other way. It may lead to what is not stepped there: a generator's critic.
    """

    def __init__(self) -> None:
        self._passes: list[_Pass] = []
        """Those since the last step."""
        self._stepped: Keys = set()
        """What the optimizers own that stepped since."""
        self._bare = self._others = 0

    def told(self) -> bool:
        """Whether each of these passes has one."""
        self.begin()
        return self._bare > 0 and not self._others

    def begin(self) -> None:
        """A backward is about to begin: the steps behind those before it are done."""
        if self._stepped:
            for one in self._passes:
                bare = not self._stepped.isdisjoint(one.shared) and any(map(self._stepped.isdisjoint, one.terms))
                self._bare, self._others = self._bare + bare, self._others + (not bare)
            self._passes, self._stepped = [], set()

    def watch(self, call: Call, shared: Iterable[graph.Node], mark: int) -> None:
        """It goes to what passes share; what it made itself is younger than `mark`."""
        recent, older, terms = graph.since(mark), set(shared), list[Keys]()
        for term in addends(call.roots, lambda node: recent(node) and graph.is_number(node)):
            nodes = set(graph.walk_nodes([term], recent))
            if term not in older and not nodes.isdisjoint(older):
                terms.append(set(map(storage_key, graph.leaves(nodes))))
        self._passes.append(_Pass(terms, set(map(storage_key, graph.leaves(graph.walk_nodes(older))))))

    def step(self, optimizer: torch.optim.Optimizer) -> None:
        """An optimizer has stepped."""
        self._stepped |= set(map(storage_key, parameters(optimizer)))
