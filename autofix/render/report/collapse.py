"""A graph as few boxes as a person can follow: the finest grouping that fits, and finer near the failure."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Any

from autofix.probe.wire import Frame, Graph, Node

FEW = 12
"""Nodes up to which each op is a box of its own."""
MOST = 12
"""Boxes that a drawing may have."""
DEEP = 10
"""Boxes one below the other that a drawing should not exceed."""
_LEVELS = 4
_NEAR = 2
_FINE = 60
_FAR = 1 << 30
_COUPLED = ("op", "leaf")


@dataclass(frozen=True, slots=True)
class Box:
    """Nodes that are drawn as one: their numbers in the graph; ops are one line of code's, or one module's."""

    members: tuple[int, ...]
    label: str = ""


@dataclass(frozen=True, slots=True)
class Drawn:
    """Boxes and the edges between them, as pairs of their numbers; `left_out` counts nodes too far from the failure."""

    boxes: tuple[Box, ...]
    edges: tuple[tuple[int, int], ...]
    left_out: int


def collapse(graph: Graph, focus: frozenset[int] = frozenset(), most: int = MOST) -> Drawn:
    """The graph in at most `most` boxes, in finer detail around what failed and around `focus`."""
    if len(graph.nodes) <= FEW:
        return _cut(graph, _grouped(graph, _Single(graph)), most)
    near = _near(graph, focus)
    fine = near if len(near) <= _FINE else frozenset()
    found: list[Box] = []
    for level in range(_LEVELS):
        found = _grouped(graph, _Keys(graph, level, fine))
        if len(found) <= most and _layers(graph, found) <= DEEP:
            break
    return _cut(graph, found, most)


class _Single:
    """Each node by itself, but what only feeds one op as a leaf of the same module."""

    def __init__(self, graph: Graph) -> None:
        self._users = _ends(graph.edges)
        self._graph = graph

    def __call__(self, number: int) -> tuple[Any, ...]:
        users = self._users[number]
        if self._graph.nodes[number].kind == "leaf" and len(users) == 1:
            return ("leaf", users[0])
        return (number,)

    def label(self, _key: tuple[Any, ...]) -> str:
        return ""


class _Keys:
    """What makes two nodes one box: the same state, line and module, the module cut the shorter the higher `level`."""

    def __init__(self, graph: Graph, level: int, fine: frozenset[int]) -> None:
        self._graph, self._level, self._fine = graph, level, fine
        self._users = _ends(graph.edges)

    def __call__(self, number: int) -> tuple[Any, ...]:
        node = self._graph.nodes[number]
        if node.kind not in _COUPLED or node.failed:
            return (number,)
        level = 0 if number in self._fine else self._level
        if node.kind == "leaf":
            users = [self._graph.nodes[one] for one in self._users[number] if self._graph.nodes[one].kind == "op"]
            if not users or (level == 0 and number in self._fine):
                return ("leaf", tuple(self._users[number]))
            places = {self._place(user, level) for user in users}
            # With its op, where that is one place; a leaf that many places share stays to be seen.
            return (*_state(users[0]), min(places)) if len(places) == 1 and level else ("leaf", tuple(sorted(places)))
        return (*_state(node), self._place(node, level))

    def _place(self, node: Node, level: int) -> tuple[str, ...]:
        """The module and line that stand for a node."""
        stack = self._graph.sites[node.site] if node.site >= 0 else ()
        if level == 0:
            return (node.module, *_line(stack[:1]))
        parts = node.module.split(".")
        if node.module:
            depth = {1: len(parts), 2: 3, 3: 2}[level]
            return (".".join(parts[:depth]),)
        return _line(stack[:1] if level == 1 else stack[-1:])

    def label(self, key: tuple[Any, ...]) -> str:
        place = key[-1]
        return str(place[0]) if len(place) == 1 else ""


def _line(stack: Iterable[Frame]) -> tuple[str, ...]:
    return tuple(part for frame in stack for part in (frame.file, f"{frame.line:09}"))


def _state(node: Node) -> tuple[Any, ...]:
    return (node.calls, node.now > node.version)


def _ends(edges: Iterable[tuple[int, ...]]) -> dict[int, list[int]]:
    """Where the edges end that begin at each number."""
    ends: dict[int, list[int]] = defaultdict(list)
    for first, last in edges:
        ends[first].append(last)
    return ends


def _layers(graph: Graph, boxes: list[Box]) -> int:
    """How many boxes the longest way through them has."""
    home = {number: at for at, box in enumerate(boxes) for number in box.members}
    made = _ends((after, before) for before, after in graph.edges)
    depth: dict[int, int] = defaultdict(lambda: 1)
    for number in _order(graph):
        for one in made[number]:
            step = home[one] != home[number]
            depth[home[number]] = max(depth[home[number]], depth[home[one]] + step)
    return max(depth.values(), default=0)


def _near(graph: Graph, focus: frozenset[int]) -> frozenset[int]:
    """What lies within a few edges of the failing node, or of what is to be in focus."""
    failed = {number for number, node in enumerate(graph.nodes) if node.failed and node.kind != "loss"}
    return frozenset(one for one, far in _distances(graph.edges, failed | focus).items() if far <= _NEAR)


def _grouped(graph: Graph, key: Any) -> list[Box]:
    """Nodes of one key in one box, as long as no path leads out of a box and into it again, and all hang together."""
    keys = {number: key(number) for number in range(len(graph.nodes))}
    instances = _convex(graph, keys)
    groups: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for number in range(len(graph.nodes)):
        groups[keys[number], instances[number]].append(number)
    linked = beside((a, b) for a, b in graph.edges if (keys[a], instances[a]) == (keys[b], instances[b]))
    boxes: list[Box] = []
    for (name, _), members in groups.items():
        whole = [members] if name[0] == "leaf" else connected(members, linked)
        boxes.extend(Box(tuple(part), key.label(name) if len(part) > 1 else "") for part in whole)
    return boxes


def _convex(graph: Graph, keys: dict[int, tuple[Any, ...]]) -> dict[int, int]:
    """For each node, which run of its key it belongs to: a path that leaves a run comes back into a later one."""
    made = _ends((after, before) for before, after in graph.edges)
    instance: dict[int, int] = {}
    left: dict[int, dict[tuple[Any, ...], int]] = {}
    for number in _order(graph):
        out: dict[tuple[Any, ...], int] = {}
        own = 0
        for one in made[number]:
            for key, least in left[one].items():
                out[key] = max(out.get(key, 0), least)
            if keys[one] == keys[number]:
                own = max(own, instance[one])
            else:
                out[keys[one]] = max(out.get(keys[one], 0), instance[one] + 1)
        instance[number] = max(own, out.get(keys[number], 0))
        left[number] = out
    for number, users in _ends(graph.edges).items():
        if not made[number] and len(users) == 1 and keys[users[0]] == keys[number]:
            instance[number] = instance[users[0]]  # a leaf goes where it is used
    return instance


def _order(graph: Graph) -> list[int]:
    """The nodes so that each comes after all that it is made from."""
    sorter = TopologicalSorter[int](dict.fromkeys(range(len(graph.nodes)), ()))
    for before, after in graph.edges:
        sorter.add(after, before)
    return [*sorter.static_order()]


def beside(pairs: Iterable[tuple[int, ...]]) -> dict[int, list[int]]:
    """What each number is joined to by one of the pairs."""
    found: dict[int, list[int]] = defaultdict(list)
    for a, b in pairs:
        found[a].append(b)
        found[b].append(a)
    return found


def connected(members: list[int], linked: dict[int, list[int]]) -> list[list[int]]:
    """The members in parts that hang together."""
    left = dict.fromkeys(members)
    parts = []
    while left:
        first = next(iter(left))
        del left[first]
        part, queue = [first], deque([first])
        while queue:
            for other in linked[queue.popleft()]:
                if other in left:
                    del left[other]
                    part.append(other)
                    queue.append(other)
        parts.append(sorted(part))
    return parts


def _cut(graph: Graph, boxes: list[Box], most: int) -> Drawn:
    """At most `most` boxes: what is far from the failure is folded together along its edges, as far as that goes."""
    boxes = _folded(graph, boxes, most)
    pairs = _pairs(graph, boxes)
    kept = _nearest(boxes, pairs, lambda at: _matters(graph, boxes[at]), most)
    new = {at: place for place, at in enumerate(kept)}
    missing = sum(len(box.members) for at, box in enumerate(boxes) if at not in new)
    edges = tuple((new[a], new[b]) for a, b in pairs if a in new and b in new)
    return Drawn(tuple(boxes[at] for at in kept), edges, graph.left_out + missing)


def _pairs(graph: Graph, boxes: Sequence[Box]) -> list[tuple[int, int]]:
    """The edges between boxes, each once."""
    home = {number: at for at, box in enumerate(boxes) for number in box.members}
    return list(dict.fromkeys((home[a], home[b]) for a, b in graph.edges if home[a] != home[b]))


def _folded(graph: Graph, boxes: list[Box], most: int) -> list[Box]:
    """Boxes of which two were made one, over and over, until there are few enough or none are left to be.

    Two that an edge joins may be one where it is the only one out of the first, or into the second: no circle comes of
    that. What matters stays alone; what is alike, and far from the failure, is folded first.
    """
    while len(boxes) > most:
        pairs = _pairs(graph, boxes)
        out, into = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
        far = _distances(pairs, [at for at, box in enumerate(boxes) if _matters(graph, box)])
        alone = {at for at, box in enumerate(boxes) if _matters(graph, box)}
        free = [(a, b) for a, b in pairs if (out[a] == 1 or into[b] == 1) and not {a, b} & alone]
        if not free:
            return boxes
        states = [{_state(graph.nodes[number]) for number in box.members} for box in boxes]
        first, second = max(free, key=lambda pair: (states[pair[0]] == states[pair[1]], min(far[one] for one in pair)))
        label = boxes[first].label if boxes[first].label == boxes[second].label else ""
        joined = Box(tuple(sorted((*boxes[first].members, *boxes[second].members))), label)
        boxes = [box for at, box in enumerate(boxes) if at not in (first, second)] + [joined]
    return boxes


def _distances(pairs: Iterable[tuple[int, ...]], starts: Iterable[int]) -> dict[int, int]:
    """How many edges each box lies from the nearest of `starts`; far away where no way leads."""
    linked = beside(pairs)
    found: dict[int, int] = defaultdict(lambda: _FAR, dict.fromkeys(starts, 0))
    queue = deque(found)
    while queue:
        one = queue.popleft()
        for other in linked[one]:
            if other not in found:
                found[other] = found[one] + 1
                queue.append(other)
    return found


def _matters(graph: Graph, box: Box) -> bool:
    return any(graph.nodes[n].failed or graph.nodes[n].kind not in _COUPLED for n in box.members)


def _nearest(
    boxes: list[Box], pairs: Iterable[tuple[int, int]], matters: Callable[[int], bool], most: int
) -> list[int]:  # fmt: skip
    if len(boxes) <= most:
        return list(range(len(boxes)))
    far = _distances(pairs, [at for at in range(len(boxes)) if matters(at)][:most])
    return sorted(sorted(range(len(boxes)), key=lambda at: far[at])[:most])
