"""A graph to be drawn."""

from __future__ import annotations

from dataclasses import dataclass

from .places import Stack


@dataclass(frozen=True, slots=True)
class Node:
    """A part of a drawn graph.

    A leaf, an op, a loss (a backward call and where it was made), a write that spoiled a saved tensor, a call that
    torch refused, or a cut where a graph was lost. `version` is that of the tensor it saved and `now` what a write made
    of it; of a write, that before and after it. `calls` are the losses whose backward went through it, `freed_by` the
    first of them that freed what it saved: numbers of nodes.
    """

    kind: str  # leaf | op | loss | write | refused | cut
    name: str
    site: int = -1  # an index into the sites; -1: not in the user's code
    module: str = ""
    shape: tuple[int, ...] = ()
    saves: bool = False
    failed: bool = False
    version: int = 0
    now: int = 0
    optimizer: int = -1
    calls: tuple[int, ...] = ()
    freed_by: int = -1


@dataclass(frozen=True, slots=True)
class Graph:
    """The graph around a failure; edges go from what makes a tensor to what uses it. `left_out`: nodes farther away."""

    nodes: tuple[Node, ...]
    edges: tuple[tuple[int, ...], ...]
    sites: tuple[Stack, ...]
    left_out: int = 0
