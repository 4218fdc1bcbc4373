"""A graph as what the page draws: boxes with their words and edges with their curves."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

from autofix.probe.wire import Graph, Node
from autofix.render.report.code import Code
from autofix.render.report.collapse import Drawn, collapse
from autofix.render.report.layout import HEIGHT, WIDTH, Layout, lay_out
from autofix.render.words import cut, one_line

_TITLE, _LINE, _NOTE = 23, 25, 30
WIDEST = 660
"""Pixels that a drawing may be wide, so that two stand side by side: with fewer boxes where it is not."""
_FEWER = (10, 8, 6)
_TOLD = 24
_OPERATOR = re.compile(r"^aten::(\w+)(?:\.\w+)?$")
_PATH = re.compile(r"\w+\.\w+\.")
_VALUES = ("op", "freed", "spoiled", "failed")
_RANKS = ("failed", "refused", "spoiled", "freed", "write", "cut", "loss", "leaf", "op")


@dataclass(frozen=True, slots=True)
class Shape:
    """A box on the page: its top left corner, its kind (a class of the style), three lines, and what is behind it."""

    x: float
    y: float
    kind: str
    title: str
    code: str
    note: str
    told: tuple[str, ...]
    stacked: bool


@dataclass(frozen=True, slots=True)
class Line:
    """An edge on the page, as the path of an SVG."""

    path: str
    kind: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """Everything that a template needs to draw one graph."""

    width: float
    height: float
    shapes: tuple[Shape, ...]
    lines: tuple[Line, ...]
    total: int
    left_out: int
    words: str
    kinds: tuple[str, ...]


def drawing(graph: Graph, code: Code, focus: frozenset[int] = frozenset()) -> Drawing:
    """The graph as a drawing, in finer detail around where it failed and around `focus`."""
    drawn, layout = _fitting(graph, focus)
    teller = _Teller(graph, code)
    shapes = []
    for number, box in enumerate(drawn.boxes):
        x, y = layout.centres[number]
        shapes.append(teller.shape(x - WIDTH / 2, y - HEIGHT / 2, box.members, box.label))
    lines = []
    for ends, points in layout.paths.items():
        kind = "spoils" if shapes[ends[0]].kind == "write" else "lost" if shapes[ends[0]].kind == "cut" else ""
        lines.append(Line(_curve(points), kind))
    kinds = tuple(kind for kind in _RANKS if any(shape.kind == kind for shape in shapes))
    return Drawing(
        layout.width, layout.height, tuple(shapes), tuple(lines), len(graph.nodes) + graph.left_out, drawn.left_out,
        teller.words(), kinds,
    )  # fmt: skip


def _fitting(graph: Graph, focus: frozenset[int]) -> tuple[Drawn, Layout]:
    """The graph in as many boxes as leave its drawing no wider than WIDEST."""
    drawn = collapse(graph, focus)
    layout = lay_out(len(drawn.boxes), drawn.edges)
    for most in _FEWER:
        if layout.width <= WIDEST:
            break
        drawn = collapse(graph, focus, most)
        layout = lay_out(len(drawn.boxes), drawn.edges)
    return drawn, layout


class _Teller:
    """Finds the words for nodes of one graph."""

    def __init__(self, graph: Graph, code: Code) -> None:
        self._graph, self._code = graph, code
        self._losses = {
            n: at + 1 for at, n in enumerate(n for n, node in enumerate(graph.nodes) if node.kind == "loss")
        }
        failed = next((node for node in graph.nodes if node.failed), None)
        self._failed = failed
        self._failing = max(failed.calls, default=-1) if failed is not None else -1

    def shape(self, x: float, y: float, members: Sequence[int], label: str) -> Shape:
        """One box for some nodes."""
        nodes = [self._graph.nodes[number] for number in members]
        ops = [node for node in nodes if node.kind != "leaf"]
        kind = min((self._kind(node) for node in ops or nodes), key=_RANKS.index)
        stacks = [self._graph.sites[node.site] for node in nodes if node.site >= 0]
        told = [self._told(number) for number in members[:_TOLD]]
        if len(members) > _TOLD:
            told.append(f"and {len(members) - _TOLD} more")
        if len(set(stacks)) == 1:
            told.extend(self._code.full(stacks[0]))
        title = self._title(members[0]) if len(nodes) == 1 else self._together(nodes, label)
        code, note = self._code.places(stacks), self._note(members, kind)
        if kind in _VALUES and (name := self._code.assigned(stacks)):
            title = name
        if not note and len(ops) > 1 and not title.endswith(" ops"):
            note = f"{len(ops)} operations"
        return Shape(
            round(x, 1), round(y, 1), kind, _fitted(title, _TITLE),
            cut(code, _LINE) if code else _fitted(note, _LINE), cut(note if code else "", _NOTE),
            tuple(told), len(nodes) > 1,
        )  # fmt: skip

    def words(self) -> str:
        """What the drawing shows, for those who cannot see it."""
        count = len(self._graph.nodes)
        return f"A graph of {count} nodes with {len(self._losses)} backward calls" + (
            f"; it fails at {one_line(self._failed.name)}" if self._failed is not None else ""
        )

    def _freed_early(self, node: Node) -> bool:
        return node.saves and node.freed_by >= 0 and self._failing in node.calls and node.freed_by != self._failing

    def _kind(self, node: Node) -> str:
        if node.kind == "refused" or node.failed:
            return "failed"
        if node.kind == "op" and node.now > node.version:
            return "spoiled"
        return "freed" if self._freed_early(node) else node.kind

    def _title(self, number: int) -> str:
        node = self._graph.nodes[number]
        name = one_line(node.name)
        if node.kind == "loss":
            return f"{_circled(self._losses[number])} {name}()"
        if node.kind == "write":
            return f"step of optimizer {node.optimizer + 1}" if node.optimizer >= 0 else f"{_operator(name)} in place"
        if node.kind == "cut":
            return f"the graph ends: {name}"
        if node.kind == "op":
            return _plain(name).removeprefix("torch::autograd::")
        return name.removeprefix("torch.").removeprefix("torch::autograd::") or "a leaf"

    def _together(self, nodes: Sequence[Node], label: str) -> str:
        leaves = [node for node in nodes if node.kind == "leaf"]
        if len(leaves) == len(nodes):
            joined = _names(nodes)
            return joined if joined and len(joined) <= _TITLE else f"{len(nodes)} leaves"
        count = len(nodes) - len(leaves)
        owner = one_line(label) or _common([node.module for node in nodes if node.module])
        if owner:
            return owner
        names = list(dict.fromkeys(_plain(node.name) for node in nodes if node.kind != "leaf"))
        return ", ".join(names) if len(names) <= 2 else f"{count} ops"  # noqa: PLR2004  as many as fit

    def _note(self, members: Sequence[int], kind: str) -> str:
        nodes = [self._graph.nodes[number] for number in members]
        number = next(one for one in members if self._kind(self._graph.nodes[one]) == kind)
        worst = self._graph.nodes[number]
        if worst.failed and self._freed_early(worst):
            return f"fails here: freed by {self._by(worst)}"
        if worst.kind == "write":
            return f"version {worst.version} → {worst.now}"
        if worst.now > worst.version:
            return f"{'fails: ' if worst.failed else ''}saved version {worst.version}, now {worst.now}"
        if worst.failed:
            return self._failed_note(number)
        if kind == "freed":
            return f"freed by {self._by(worst)}"
        if worst.kind == "loss":
            return self._role(number)
        if kind == "leaf" and len(nodes) > 1:
            joined = _names(nodes)
            return joined if len(joined) > _TITLE else ""
        return str(worst.shape).replace(",)", ")") if len(nodes) == 1 and worst.shape else ""

    def _failed_note(self, number: int) -> str:
        node = self._graph.nodes[number]
        if node.kind == "refused":  # named by the call, or, where none was seen, by the exception
            return "fails here" if node.name.endswith("Error") else "torch refuses this"
        behind = any(self._graph.nodes[made].kind != "cut" for made, used in self._graph.edges if used == number)
        return "this call fails" if behind else "fails: no graph behind it"

    def _role(self, number: int) -> str:
        """What a backward call has to do with the failure."""
        if number == self._failing:
            return "this call fails"
        freed = any(self._freed_early(node) and node.freed_by == number for node in self._graph.nodes)
        return "frees what a later call needs" if freed else ""

    def _by(self, node: Node) -> str:
        return _circled(self._losses[node.freed_by]) if node.freed_by in self._losses else "an earlier call"

    def _told(self, number: int) -> str:
        node = self._graph.nodes[number]
        shape = f" {node.shape}" if node.shape else ""
        module = f" in {one_line(node.module)}" if node.module else ""
        return f"{self._title(number)}{shape}{module}"


def _names(leaves: Sequence[Node]) -> str:
    """The names of leaves; what they have in common is said once."""
    names = [one_line(node.name) for node in leaves if node.name]
    owners = {name.rpartition(".")[0] for name in names}
    if len(names) > 1 and len(owners) == 1 and (owner := owners.pop()):
        return f"{owner}: {', '.join(name.rpartition('.')[2] for name in names)}"
    return ", ".join(names)


def _curve(points: Sequence[tuple[float, float]]) -> str:
    """A path from the foot of one box to the head of another, smooth where it bends."""
    (x, y), *rest = points
    y += HEIGHT / 2
    parts = [f"M{x:.1f} {y:.1f}"]
    for place, (to_x, to_y) in enumerate(rest):
        end = to_y - HEIGHT / 2
        middle = (y + end) / 2
        parts.append(f"C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {end:.1f}")
        x, y = to_x, to_y + HEIGHT / 2
        if place < len(rest) - 1:  # straight on between the boxes of a layer
            parts.append(f"L{x:.1f} {y:.1f}")
    return "".join(parts)


def _circled(number: int) -> str:
    return chr(0x2460 + number - 1) if number <= 20 else f"({number})"  # noqa: PLR2004  as many as there are


def _operator(name: str) -> str:
    found = _OPERATOR.match(name)
    return found[1] if found is not None else name


def _plain(name: str) -> str:
    return re.sub(r"Backward\d*$", "", one_line(name))


def _common(paths: Sequence[str]) -> str:
    """The module that all of these are, or are in."""
    return one_line(".".join(os.path.commonprefix([path.split(".") for path in paths])))  # noqa: RUF071  of lists


def _fitted(text: str, longest: int) -> str:
    """A name, short enough; of a path through modules its end is kept, which tells it from its neighbours."""
    return "…" + text[1 - longest :] if len(text) > longest and _PATH.match(text) else cut(text, longest)
