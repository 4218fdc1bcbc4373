"""What is sent of a picture: nodes with their numbers, edges from what makes to what uses, sites once each."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

import torch

from .. import wire
from ..engine import graph
from ..engine.quiet import quiet
from .picture import Key, Picture, Shot, key_of
from .refusals import Refusals
from .writes import Handle

LIMIT = 4000
"""Nodes that are sent: those nearest to the failure."""
_WRITES = 12
_MADE = ("made", "begun", "nonleaf", "miscounted", "misshapen")


def drawn(
    picture: Picture, failure: wire.Failure | None, refusals: Refusals | None, origins: tuple[wire.Origin, ...]
) -> wire.Graph:  # fmt: skip
    """The graph around a failure, or, where there was none, behind the latest backward calls."""
    with quiet():
        return GraphSent(picture, failure, refusals, origins).graph()


class GraphSent:
    """Puts together what is sent: nodes with their numbers, edges from what makes to what uses, sites once each."""

    def __init__(
        self, picture: Picture, failure: wire.Failure | None, refusals: Refusals | None,
        origins: tuple[wire.Origin, ...],
    ) -> None:  # fmt: skip
        self._picture, self._failure, self._refusals, self._origins = picture, failure, refusals, origins
        self._nodes: dict[Key, wire.Node] = {}
        self._through: dict[Key, list[Key]] = {}
        self._edges: dict[tuple[Key, Key], None] = {}
        self._sites: dict[wire.Stack, int] = {}
        self._important: list[Key] = []

    def graph(self) -> wire.Graph:
        target = self._refusals.target if self._refusals is not None else self._picture.started_from()
        shots, failing = self._picture.chosen(self._failure, target)
        for shot in shots:
            self._add(shot)
        if failing is not None:
            self._fail(failing)
        elif self._failure is not None:
            self._refuse(target)
        for origin in self._origins:
            if origin.kind not in _MADE:
                cut = ("cut", origin.kind, *((frame.file, frame.line) for frame in origin.stack[:1]))
                self._put(cut, wire.Node("cut", origin.kind, self._site(origin.stack)), important=True)
                self._edges.update(dict.fromkeys((cut, end) for end in self._ends(failing)))
        return self._sent()

    def _ends(self, failing: Shot | None) -> list[Key]:
        if failing is not None and failing.call is not None:
            return [("loss", failing.call.index)]
        return [key for key in self._nodes if key[0] == "refused"]

    def _add(self, shot: Shot) -> None:
        for key, (node, children) in shot.nodes.items():
            raw, module, name = self._picture.placed(key)
            site = self._site(self._picture._frames.resolve(raw))
            self._nodes.setdefault(key, replace(node, name=name or node.name, site=site, module=module))
            self._edges.update(dict.fromkeys((child, key) for child in children))
        if shot.call is None:
            return
        loss = ("loss", shot.call.index)
        name = "backward" if shot.call.accumulate else "grad"
        self._put(loss, wire.Node("loss", name, self._site(self._picture._frames.resolve(shot.call.stack))))
        self._important.append(loss)
        self._edges.update(dict.fromkeys((root, loss) for root in shot.roots))
        for key in shot.nodes:
            self._through.setdefault(key, []).append(loss)

    def _fail(self, failing: Shot) -> None:
        """Which nodes an earlier call has freed, or a write has spoiled; backward fails at the first it comes to."""
        assert failing.call is not None  # noqa: S101  chosen by its call
        spoiled: dict[Key, list[Handle]] = {}
        for key, node in failing.live.items():
            stale = [handle for handle in self._picture.handles(node) if handle.alias._version > handle.version]
            if stale:
                spoiled[key] = stale
        freed = [key for key in failing.nodes if self._nodes[key].saves and self._picture.freed_by(key) is not None]
        # Backward takes the youngest node first, so that the youngest of these is where it fell.
        fell = max(freed or spoiled, default=("loss", failing.call.index))
        self._mark(fell, failed=True)
        self._important.append(fell)
        for key, handles in {} if freed else spoiled.items():
            self._mark(key, version=handles[0].version, now=handles[0].alias._version)
            self._write(key, handles)

    def _write(self, spoiled: Key, handles: list[Handle]) -> None:
        for handle in handles:
            for place, (op, raw, index) in enumerate(self._picture.spoiling(handle)):
                key = ("write", op, raw, index)
                if key not in self._nodes:
                    if sum(known[0] == "write" for known in self._nodes) >= _WRITES:
                        continue
                    site = self._site(self._picture._frames.resolve(raw))
                    before = handle.version + place
                    made = wire.Node("write", op, site, version=before, now=before + 1, optimizer=index)
                    self._put(key, made, important=True)
                self._edges[key, spoiled] = None

    def _refuse(self, target: torch.Tensor | None) -> None:
        assert self._failure is not None  # noqa: S101
        name = self._failure.function or ("backward" if self._failure.in_backward else self._failure.type)
        self._put(
            ("refused",), wire.Node("refused", name, self._site(self._failure.stack), failed=True), important=True
        )
        if target is None:
            return
        for node in graph.starts([target]):
            self._edges[key_of(node), ("refused",)] = None
        if graph.is_leaf(target) and target.requires_grad:
            self._picture.look_at_names()
            leaf = ("leaf", id(target))
            name = self._picture._names.name(target, "")
            self._put(leaf, wire.Node("leaf", name, shape=tuple(target.shape)), important=True)
            self._edges[leaf, ("refused",)] = None

    # Numbers --------------------------------------------------------------------------------------------------------

    def _put(self, key: Key, node: wire.Node, *, important: bool = False) -> None:
        self._nodes.setdefault(key, node)
        if important:
            self._important.append(key)

    def _mark(self, key: Key, *, failed: bool = False, version: int = 0, now: int = 0) -> None:
        node = self._nodes[key]
        self._nodes[key] = replace(
            node, failed=failed or node.failed, version=version or node.version, now=now or node.now
        )

    def _site(self, stack: wire.Stack) -> int:
        return self._sites.setdefault(stack, len(self._sites)) if stack else -1

    def _sent(self) -> wire.Graph:
        kept = self._nearest()
        number = {key: at for at, key in enumerate(kept)}
        nodes = []
        for key in kept:
            node = self._nodes[key]
            call = self._picture.freed_by(key) if node.saves else None
            freed = number.get(("loss", call.index), -1) if call is not None else -1
            calls = tuple(number[one] for one in self._through.get(key, ()) if one in number)
            nodes.append(replace(node, calls=calls, freed_by=freed))
        edges = tuple((number[a], number[b]) for a, b in self._edges if a in number and b in number)
        return wire.Graph(tuple(nodes), edges, tuple(self._sites), len(self._nodes) - len(kept))

    def _nearest(self) -> list[Key]:
        """At most LIMIT nodes, in breadth from those that matter."""
        if len(self._nodes) <= LIMIT:
            return list(self._nodes)
        beside: dict[Key, list[Key]] = {}
        for a, b in self._edges:
            beside.setdefault(a, []).append(b)
            beside.setdefault(b, []).append(a)
        seen = dict.fromkeys(reversed(self._important))
        queue = deque(seen)
        while queue and len(seen) < LIMIT:
            for key in beside.get(queue.popleft(), ()):
                if key not in seen and key in self._nodes:
                    seen[key] = None
                    queue.append(key)
        return [key for key in self._nodes if key in seen]
