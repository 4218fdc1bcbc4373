"""The runs that a report draws: the graph around the failure, and the same part of it once the fix is in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from autofix.core.model import Fix, Report, RunOutcome
from autofix.experiments.client import Probe, run
from autofix.experiments.requests import drawing, drawing_past, line_map
from autofix.probe import wire


@dataclass(frozen=True, slots=True)
class Pictures:
    """What two more runs saw: the unedited script to its failure, and the one with `files` in place past it.

    `focus` are the nodes of `after` that the line made whose node failed.
    """

    before: wire.Graph | None = None
    after: wire.Graph | None = None
    files: Mapping[Path, bytes] = field(default_factory=dict)
    focus: frozenset[int] = frozenset()


def taken(probe: Probe, report: Report, progress: Callable[[str], None]) -> Pictures:
    """The graphs of a report's failure and of its best fix; raises run.ProbeError where the probe ends."""
    diagnosis, target = report.diagnosis, report.target
    if diagnosis is None:
        return Pictures()
    progress("drawing the graph of the failure")
    before = run(probe, drawing(target, in_backward=diagnosis.failure.in_backward))
    fix = _shown(report)
    if before.graph is None or fix is None:
        return Pictures(before.graph)
    files = fix.candidate.files
    progress("drawing the graph with the fix")
    after = run(probe, drawing_past(target, before, files))
    if after.graph is None or not after.ended_well:
        return Pictures(before.graph)
    maps = {str(path): line_map(path, target.read(path), data) for path, data in files.items()}
    matched = matching(before.graph, after.graph, maps)
    return Pictures(before.graph, matched, files, _same_line(before.graph, matched, maps))


def _shown(report: Report) -> Fix | None:
    passed = (RunOutcome.PASSED, RunOutcome.FINISHED)
    fixes = report.fixes if report.applied is None else report.fixes[report.applied : report.applied + 1]
    return next((fix for fix in fixes if fix.verdict.run in passed), None)


def _same_line(before: wire.Graph, after: wire.Graph, maps: Mapping[str, tuple[int, ...]]) -> frozenset[int]:
    failed = next((number for number, node in enumerate(before.nodes) if node.failed and node.kind == "op"), None)
    if failed is None:
        return frozenset()
    site = _site(before, failed, {})
    ops = (number for number, node in enumerate(after.nodes) if node.kind == "op")
    return frozenset(number for number in ops if _site(after, number, maps) == site)


def matching(before: wire.Graph, after: wire.Graph, maps: Mapping[str, tuple[int, ...]]) -> wire.Graph:
    """Of `after`, what belongs to the latest backward calls that were made where those of `before` were."""
    wanted = [_site(before, number, {}) for number, node in enumerate(before.nodes) if node.kind == "loss"]
    losses = [number for number, node in enumerate(after.nodes) if node.kind == "loss"]
    chosen: list[int] = []
    for site in reversed(wanted):
        found = (one for one in reversed(losses) if one not in chosen and _site(after, one, maps) == site)
        chosen.extend(one for one in [next(found, None)] if one is not None)
    chosen = chosen or losses[-max(len(wanted), 1) :]
    return kept(after, {n for n, node in enumerate(after.nodes) if n in chosen or set(node.calls) & set(chosen)})


def kept(graph: wire.Graph, numbers: Iterable[int]) -> wire.Graph:
    """A graph with only some of its nodes, under new numbers."""
    order = sorted(numbers)
    new = {old: at for at, old in enumerate(order)}
    nodes = [graph.nodes[old] for old in order]
    renumbered = (
        replace(node, calls=tuple(new[c] for c in node.calls if c in new), freed_by=new.get(node.freed_by, -1))
        for node in nodes
    )
    edges = tuple((new[a], new[b]) for a, b in graph.edges if a in new and b in new)
    return replace(graph, nodes=tuple(renumbered), edges=edges)


def _site(graph: wire.Graph, number: int, maps: Mapping[str, tuple[int, ...]]) -> tuple[str, int]:
    """The file and line of a node as the unedited files count them; 0 for a new line."""
    site = graph.nodes[number].site
    if site < 0 or not graph.sites[site]:
        return "", 0
    frame = graph.sites[site][0]
    lines = maps.get(frame.file)
    return frame.file, lines[frame.line - 1] if lines and frame.line <= len(lines) else frame.line
