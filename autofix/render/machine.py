"""The report as one JSON object; its shape is promised in docs/schema.json, and tested against it.

Lines and columns count from 1, in characters; the offsets of edits count bytes of the file as it was.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from autofix.audit import told
from autofix.core.model import Cause, Change, Finding, Fix, Report
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
        "outcome": str(report.outcome),
        "message": clean(report.message),
        "advice": advice(report, snapshot),
        "script": valid(str(target.script)),
        "module": valid(target.module) if target.module is not None else None,
        "args": [valid(word) for word in target.argv],
        "failure": _failure(report, snapshot),
        "culprits": [
            {
                "role": clean(culprit.role),
                "note": clean(culprit.note),
                "message": words.role(culprit),
                "aside": culprit.aside,
                **span(culprit.frame, snapshot),
            }
            for culprit in culprits
        ],
        "fixes": [fix(one, snapshot) for one in report.fixes],
        "rejected": [fix(one, snapshot) for one in report.rejected],
        "notes": [{"rule": clean(note.rule), "reason": clean(note.reason)} for note in report.notes],
        "hints": [
            {"rule": hint.rule, "message": clean(hint.sentence), **span(hint.frame, snapshot)} for hint in report.hints
        ],
        "suspicions": [
            {
                "code": one.code,
                "name": one.name,
                "message": clean(one.message),
                "sure": one.sure,
                **span(one.frame, snapshot),
                "others": [span(frame, snapshot) for frame in one.others],
            }
            for one in report.suspicions
        ],
        "audit": audit(report, snapshot) if report.books is not None else None,
        "question": _question(report, snapshot),
        "conditions": [clean(condition) for condition in report.conditions],
        "applied": report.applied,
        "isolation": clean(report.isolation),
        "wrote": [clean(what) for what in report.wrote],
        "reached": [clean(host) for host in report.reached],
        "calls": report.calls,
        "torch": clean(report.torch),
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
            {**at(loss.stack, snapshot), "calls": loss.calls, "first": number(loss.first), "last": number(loss.last)}
            for loss in (books.losses if books is not None else ())
        ],
        "optimizers": [
            {**at(one.made, snapshot), "kind": clean(one.kind), "steps": one.steps, "without_gradient": one.empty,
             "tensors": one.tensors}
            for one in (books.trainers if books is not None else ())
        ],
        "networks": [
            {"name": clean(one.name), "optimizer": one.optimizer, "losses": list(one.losses), "tensors": one.tensors,
             "numbers": one.numbers, "gradient": number(one.gradient), "unreached": one.unreached,
             "frozen": one.frozen, "mode": one.training}
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
        "type": clean(failure.type),
        "message": clean(failure.message),
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
        "title": "; then ".join(candidate.titles),
        "why": " ".join(candidate.whys),
        "applicability": str(verdict.applicability),
        "run": str(verdict.run),
        "effect": str(verdict.effect),
        "summary": clean(verdict.summary),
        "detail": clean(verdict.detail),
        "reading": str(verdict.reading or ""),
        "guards": [_finding(finding, snapshot) for finding in verdict.findings],
        "later": _later(fix, snapshot),
        "changed": [_change(change) for change in verdict.changes],
        "edits": [
            {"file": valid(str(edit.path)), "start": edit.start, "end": edit.end, "text": edit.text}
            for edit in candidate.edits
        ],
        "diff": snapshot.diff(fix),
        "seconds": number(verdict.seconds),
        "peak_bytes": verdict.peak_bytes,
    }


def _later(fix: Fix, snapshot: Snapshot) -> dict[str, Any] | None:
    """What ends the repaired script, as it ends the one that stands, for another reason."""
    failure = fix.verdict.failure
    words = snapshot.later(fix)
    if failure is None or not words:
        return None
    return {
        "type": clean(failure.type), "message": clean(failure.message), "words": words,
        **at(failure.stack, snapshot),
    }  # fmt: skip


def _finding(finding: Finding, snapshot: Snapshot) -> dict[str, Any]:
    return {
        "name": finding.property, "former": finding.former, "detail": clean(finding.sentence),
        **at(finding.place, snapshot),
    }  # fmt: skip


def _change(change: Change) -> dict[str, Any]:
    return {
        "parameter": clean(change.parameter),
        "step": change.step,
        "reference": number(change.reference),
        "candidate": number(change.candidate),
        "note": clean(change.note),
        "relative": number(change.relative),
    }


def at(stack: Sequence[Frame], snapshot: Snapshot) -> dict[str, Any]:
    """Where the innermost frame of a stack stands; a null for each field where there is none."""
    return span(stack[0], snapshot) if stack else dict.fromkeys(_PLACE)


def span(frame: Frame, snapshot: Snapshot) -> dict[str, Any]:
    """Where a frame stands, with the cell where its file has cells."""
    place = snapshot.place(frame)
    cell = snapshot.cell(place)
    return {
        "file": valid(str(place.file)),
        "line": place.line,
        "column": place.column,
        "end_line": place.end_line,
        "end_column": place.end_column,
        "cell": {"number": cell[0], "line": cell[1]} if cell is not None else None,
    }


def number(value: float) -> float | None:
    """JSON has neither infinities nor NaN; a gradient may."""
    return value if math.isfinite(value) else None
