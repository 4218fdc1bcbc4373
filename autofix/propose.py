"""Turns a diagnosis into candidates: each rule's edits, applied to the sources as they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autofix.aligned import opcodes
from autofix.edit import Declined, Edit, EditConflict
from autofix.model import Candidate, Note
from autofix.rewrite.apply import BrokenRewrite, apply
from autofix.source import encoding

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from autofix.model import Diagnosis, Proposal
    from autofix.rule import Rule, Sources

_MOST = 40


def propose(
    diagnosis: Diagnosis, sources: Sources, rules: Iterable[Rule], base: Candidate | None = None
) -> tuple[list[Candidate], list[Note]]:
    """Candidates for `diagnosis`, best idiom first, each once; and what was declined. `base` is what they build on."""
    found: dict[tuple[tuple[str, bytes], ...], Candidate] = {}
    notes: list[Note] = []
    for rule in rules:
        if diagnosis.cause not in rule.causes:
            continue
        proposals = rule.proposals(diagnosis, sources)
        while True:
            try:
                proposal = next(proposals)
                candidate = _candidate(rule, proposal, sources, base)
            except StopIteration:
                break
            except (Declined, EditConflict, BrokenRewrite) as error:
                notes.append(Note(rule.code, str(error)))
                continue
            key = tuple(sorted((str(path), data) for path, data in candidate.files.items()))
            known = found.get(key)
            if known is None or candidate.rank < known.rank:
                found[key] = candidate
    ordered = sorted(found.values(), key=lambda c: (c.rank, sum(len(e.text) + e.end - e.start for e in c.edits)))
    return ordered[:_MOST], notes


def _candidate(rule: Rule, proposal: Proposal, sources: Sources, base: Candidate | None) -> Candidate:
    files: dict[Path, bytes] = dict(base.files) if base is not None else {}
    paths = dict.fromkeys(edit.path for edit in proposal.edits)
    for path in paths:
        source = sources.source(str(path))
        if source is None:
            raise Declined(f"{path} is not a file that may be edited")
        files[path] = apply(source, [edit for edit in proposal.edits if edit.path == path])
    before = base or Candidate((), (), (), (), {})
    return Candidate(
        (*before.rules, rule.code), (*before.titles, proposal.title), (*before.whys, proposal.why),
        (*before.rank, proposal.rank), files, tuple(proposal.edits), before.applicability.lowered(rule.applicability),
    )  # fmt: skip


def edits_between(path: Path, old: bytes, new: bytes) -> tuple[Edit, ...]:
    """The edits that turn `old` into `new`, by line: what a chain of rules came to, against the file on disk."""
    codec = encoding(new)
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    starts = [0]
    for line in before:
        starts.append(starts[-1] + len(line))
    return tuple(
        Edit(path, starts[a], starts[b], b"".join(after[c:d]).decode(codec))
        for tag, a, b, c, d in opcodes(before, after)
        if tag != "equal"
    )
