"""Where the boxes of a drawing stand and how its edges run: layers from what is made first down to the losses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from autofix.render.report.collapse import beside, connected

WIDTH, HEIGHT = 204, 66
ACROSS, DOWN = 14, 26
_MARGIN = 12
_PITCH, _THIN = 100.0, 0.3


class LayoutMissingError(Exception):
    """The library that lays graphs out is not installed; the message says how to get it."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Centres of boxes by number, the points that each edge runs through, and the size of it all."""

    centres: dict[int, tuple[float, float]]
    paths: dict[tuple[int, int], tuple[tuple[float, float], ...]]
    width: float
    height: float


def check() -> None:
    """Raise LayoutMissingError where graphs cannot be laid out."""
    try:
        import fast_sugiyama  # noqa: F401, PLC0415  optional
    except ImportError:
        raise LayoutMissingError("--report draws with fast-sugiyama: pip install 'autofix[report]'") from None


def lay_out(count: int, edges: Sequence[tuple[int, int]]) -> Layout:
    """A layered layout of `count` boxes; parts that do not hang together stand side by side."""
    import fast_sugiyama  # noqa: PLC0415  optional

    centres: dict[int, tuple[float, float]] = {}
    paths: dict[tuple[int, int], tuple[tuple[float, float], ...]] = {}
    right = 0.0
    linked = beside(edges)
    # The library numbers the bends of edges on from the boxes of the part that it lays out. Given several parts at
    # once, it gives a bend the number of another part's box.
    for part in connected(sorted(linked), linked):
        small = {number: at for at, number in enumerate(part)}
        wanted = sorted((small[a], small[b]) for a, b in edges if a in small)
        (laid,) = fast_sugiyama.from_edges(wanted, vertex_spacing=_PITCH, dummy_size=_THIN)
        positions, links = _numbers(laid)
        left, top = min(x for _, (x, _) in positions), max(y for _, (_, y) in positions)
        points = {
            node: (right + (x - left) / _PITCH * (WIDTH + ACROSS), (top - y) / _PITCH * (HEIGHT + DOWN))
            for node, (x, y) in positions
        }
        right = max(x for x, _ in points.values()) + WIDTH + 2 * ACROSS
        centres |= {number: points[at] for number, at in small.items()}
        for chain in _chains(len(part), links):
            ends = (part[chain[0]], part[chain[-1]])
            run = tuple(points[node] for node in chain)
            # An edge that closes a circle was turned around.
            turned = (chain[0], chain[-1]) not in wanted
            paths[ends[::-1] if turned else ends] = run[::-1] if turned else run
    for number in range(count):
        if number not in centres:
            centres[number] = (right, 0.0)
            right += WIDTH + ACROSS
    return _shifted(centres, paths)


def _numbers(part: Any) -> tuple[list[tuple[int, tuple[float, float]]], list[tuple[int, int]]]:
    """A part of the library's layout: where each number stands, and the links between them."""
    positions, _, _, links = part
    return list(positions), list(links or ())


def _chains(real: int, links: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Each edge with the bends between its two ends: those are numbered from `real` on."""
    onward: dict[int, int] = {a: b for a, b in links if a >= real}
    chains = []
    for first, second in links:
        if first < real:
            chain = [first, second]
            while chain[-1] >= real and chain[-1] in onward:
                chain.append(onward[chain[-1]])
            chains.append(chain)
    return chains


def _shifted(
    centres: dict[int, tuple[float, float]], paths: dict[tuple[int, int], tuple[tuple[float, float], ...]]
) -> Layout:  # fmt: skip
    points = [*centres.values(), *(point for path in paths.values() for point in path)]
    left = min((x for x, _ in points), default=0.0) - WIDTH / 2 - _MARGIN
    top = min((y for _, y in points), default=0.0) - HEIGHT / 2 - _MARGIN
    moved = {node: (x - left, y - top) for node, (x, y) in centres.items()}
    runs = {ends: tuple((x - left, y - top) for x, y in path) for ends, path in paths.items()}
    width = max((x for x, _ in moved.values()), default=0.0) + WIDTH / 2 + _MARGIN
    width = max([width, *(x + _MARGIN for path in runs.values() for x, _ in path)])
    height = max((y for _, y in moved.values()), default=0.0) + HEIGHT / 2 + _MARGIN
    return Layout(moved, runs, width, height)
