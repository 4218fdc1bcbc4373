"""The report as one JSON object; its shape is promised in docs/schema.json, and tested against it.

Lines and columns count from 1, in characters; the offsets of edits count bytes of the file as it was.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

from autofix.audit import told
from autofix.core.model import Cause, Finding, Fix, Report
from autofix.probe.wire import Frame
from autofix.render import words
from autofix.render.advice import advice
from autofix.render.snapshot import Snapshot
from autofix.render.words import clean, valid

SCHEMA_VERSION = 1
_PLACE = ("file", "line", "column", "end_line", "end_column", "cell")


def as_json(report: Report, snapshot: Snapshot) -> str:
    """One object, in ASCII, so that no terminal or pipe can spoil it."""
    return json.dumps(document(report, snapshot), indent=2, allow_nan=False) + "\n"


def document(report: Report, snapshot: Snapshot) -> dict[str, Any]:
    target = report.target
    culprits = report.diagnosis.culprits if report.diagnosis is not None else ()
    return {
        "schema_version": SCHEMA_VERSION,
        **picked(report, "outcome message"),
        "advice": advice(report, snapshot),
        "script": valid(str(target.script)),
        "module": valid(target.module) if target.module is not None else None,
        "args": [valid(word) for word in target.argv],
        "failure": _failure(report, snapshot),
        "culprits": [
            {**picked(one, "role note"), "message": words.role(one), "aside": one.aside, **span(one.frame, snapshot)}
            for one in culprits
        ],
        "fixes": [fix(one, snapshot) for one in report.fixes],
        "rejected": [fix(one, snapshot) for one in report.rejected],
        "notes": [picked(note, "rule reason") for note in report.notes],
        "hints": [
            {"rule": hint.rule, "message": clean(hint.sentence), **span(hint.frame, snapshot)} for hint in report.hints
        ],
        "suspicions": [
            {
                **picked(one, "code name message sure"),
                **span(one.frame, snapshot),
                "others": spans(one.others, snapshot),
            }
            for one in report.suspicions
        ],
        "audit": audit(report, snapshot) if report.books is not None else None,
        "question": _question(report, snapshot),
        **picked(report, "conditions untried applied isolation wrote reached calls torch"),
        "python": valid(str(target.python)) if target.python is not None else None,
        "timings": {name: number(seconds) for name, seconds in report.timings.items()},
    }


def audit(report: Report, snapshot: Snapshot) -> dict[str, Any]:
    """The books of an audited run, and its laws."""
    books = report.books
    return {
        "laws": told.laws(books, report.suspicions),
        "finished": books is not None and books.finished,
        "incomplete": clean(books.incomplete) if books is not None else "",
        "losses": [
            {**at(loss.stack, snapshot), **picked(loss, "calls first last")}
            for loss in (books.losses if books is not None else ())
        ],
        "optimizers": [
            {**at(one.made, snapshot), **picked(one, "kind steps tensors"), "without_gradient": one.empty}
            for one in (books.trainers if books is not None else ())
        ],
        "networks": [
            picked(one, "name optimizer losses tensors numbers gradient unreached frozen") | {"mode": one.training}
            for one in (books.networks if books is not None else ())
        ],
    }  # fmt: skip


def _question(report: Report, snapshot: Snapshot) -> dict[str, Any] | None:
    """What the code leaves open, with the answers to it; `chosen` is the one that was given, '' where none was."""
    question = report.question
    if question is None:
        return None
    return {
        "about": question.about,
        "text": clean(question.text),
        "answers": [{"name": one.name, "means": clean(one.clause), "fix": one.offer} for one in question.answers],
        "chosen": question.chosen,
        "outdated": clean(question.outdated),
        **at(question.place, snapshot),
    }


def _failure(report: Report, snapshot: Snapshot) -> dict[str, Any] | None:
    failure = words.failure(report)
    if failure is None:
        return None
    return {
        "cause": str(report.diagnosis.cause if report.diagnosis is not None else Cause.OTHER),
        **picked(failure, "type message"),
        **at(failure.stack, snapshot),
        "declined": clean(report.diagnosis.declined) if report.diagnosis is not None else "",
        "traceback": clean(report.traceback),
    }


def fix(fix: Fix, snapshot: Snapshot) -> dict[str, Any]:
    """One fix, as an object."""
    candidate, verdict = fix.candidate, fix.verdict
    return {
        "rule": candidate.rules[0] if candidate.rules else None,
        "rules": list(candidate.rules),
        "title": candidate.title,
        "why": candidate.why,
        **picked(verdict, "applicability run effect"),
        "summary": ". ".join(filter(None, (words.warning(fix), verdict.summary))),
        **picked(verdict, "detail"),
        "reading": str(verdict.reading or ""),
        "guards": [_finding(finding, snapshot) for finding in verdict.findings],
        "later": _later(fix, snapshot),
        "changed": [picked(one, "parameter step reference candidate note relative") for one in verdict.changes],
        "edits": [
            {"file": valid(str(edit.path)), "start": edit.start, "end": edit.end, "text": edit.text}
            for edit in candidate.edits
        ],
        "diff": snapshot.diff(fix),
        **picked(verdict, "seconds peak_bytes"),
    }


def _later(fix: Fix, snapshot: Snapshot) -> dict[str, Any] | None:
    """What ends the repaired script, as it ends the one that stands, for another reason."""
    failure = fix.verdict.failure
    words = snapshot.later(fix)
    if failure is None or not words:
        return None
    return {**picked(failure, "type message"), "words": words, **at(failure.stack, snapshot)}


def _finding(finding: Finding, snapshot: Snapshot) -> dict[str, Any]:
    # Readers of this schema_version expect the `former` name: no property has been renamed since the last version.
    where = at(finding.place, snapshot)
    return {"name": finding.property, "former": "", "detail": clean(finding.sentence), **where}


def picked(record: Any, names: str) -> dict[str, Any]:
    """Some fields of a record by their names: texts without what a terminal would obey, numbers that JSON has."""
    return {name: _plain(getattr(record, name)) for name in names.split()}


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, float):
        return number(value)
    return [_plain(one) for one in value] if isinstance(value, tuple) else value


def at(stack: Sequence[Frame], snapshot: Snapshot) -> dict[str, Any]:
    """Where the innermost frame of a stack stands; a null for each field where there is none."""
    return span(stack[0], snapshot) if stack else dict.fromkeys(_PLACE)


def spans(frames: Iterable[Frame], snapshot: Snapshot) -> list[dict[str, Any]]:
    """Where some frames stand."""
    return [span(frame, snapshot) for frame in frames]


def span(frame: Frame, snapshot: Snapshot) -> dict[str, Any]:
    """Where a frame stands, with the cell where its file has cells."""
    place = snapshot.place(frame)
    cell = snapshot.cell(place)
    return {
        "file": valid(str(place.file)),
        **picked(place, "line column end_line end_column"),
        "cell": {"number": cell[0], "line": cell[1]} if cell is not None else None,
    }


def number(value: float) -> float | None:
    """JSON has neither infinities nor NaN; a gradient may."""
    return value if math.isfinite(value) else None
