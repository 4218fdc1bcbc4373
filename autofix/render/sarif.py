"""The report as SARIF 2.1.0: one result for the failure, its culprits related, its fixes as replacements."""

from __future__ import annotations

import json
from itertools import groupby
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from autofix import __version__
from autofix.core.model import Outcome
from autofix.render.words import CAUSES, best, code, effect, headline, one_line, role, sentence, title, told

if TYPE_CHECKING:
    from pathlib import Path

    from autofix.core.edit import Edit
    from autofix.core.model import Fix, Report
    from autofix.render.snapshot import Place, Snapshot

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_BASE = "SRCROOT"
_DID_ITS_WORK = {Outcome.FIXED, Outcome.AVAILABLE, Outcome.CLEAN, Outcome.UNFIXED, Outcome.SAFE, Outcome.UNSAFE,
                 Outcome.STILL_FAILING}  # fmt: skip


def as_sarif(report: Report, snapshot: Snapshot) -> str:
    """A log with one run."""
    results = _results(report, snapshot)
    run = {
        "tool": {"driver": {"name": "autofix", "version": __version__, "rules": _rules(report) if results else []}},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_BASE: {"uri": f"file://{_quoted(snapshot.root).rstrip('/')}/"}},
        "invocations": [_invocation(report)],
        "results": results,
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _invocation(report: Report) -> dict[str, Any]:
    worked = report.outcome in _DID_ITS_WORK
    found: dict[str, Any] = {"executionSuccessful": worked}
    if not worked:
        found["toolExecutionNotifications"] = [{"level": "error", "message": {"text": sentence(report)}}]
    return found


def _rules(report: Report) -> list[dict[str, Any]]:
    fix = best(report)
    if fix is not None and fix.candidate.rules:
        words = title(fix)
    else:
        words = CAUSES[report.diagnosis.cause] if report.diagnosis is not None else "failure"
    return [{"id": code(report), "shortDescription": {"text": words}}]


def _results(report: Report, snapshot: Snapshot) -> list[dict[str, Any]]:
    if report.diagnosis is None or report.outcome is Outcome.FIXED:
        return []
    stack = report.diagnosis.failure.stack
    fixes = [found for fix in report.fixes if (found := _fix(fix, snapshot)) is not None]
    result: dict[str, Any] = {
        "ruleId": code(report),
        "ruleIndex": 0,
        "level": "error",
        "message": {"text": f"{headline(report)} ({CAUSES[report.diagnosis.cause]})"},
        "locations": [{"physicalLocation": _location(snapshot.place(stack[0]), snapshot)}] if stack else [],
        "relatedLocations": [
            {
                "id": number,
                "message": {"text": role(culprit)},
                "physicalLocation": _location(snapshot.place(culprit.frame), snapshot),
            }
            for number, culprit in enumerate(told(report))
        ],
    }
    return [result | ({"fixes": fixes} if fixes else {})]


def _fix(fix: Fix, snapshot: Snapshot) -> dict[str, Any] | None:
    """A fix as replacements; None where a file could not be read to say what they replace."""
    changes = []
    for path, edits in groupby(fix.candidate.edits, key=lambda edit: edit.path):
        replacements = [_replacement(edit, snapshot) for edit in edits]
        if None in replacements:
            return None
        changes.append({"artifactLocation": _artifact(path, snapshot), "replacements": replacements})
    if not changes:
        return None
    words = f"{title(fix)} ({fix.verdict.applicability}; {effect(fix)})"
    return {"description": {"text": one_line(words)}, "artifactChanges": changes}


def _replacement(edit: Edit, snapshot: Snapshot) -> dict[str, Any] | None:
    place = snapshot.edit_place(edit)
    if place is None:
        return None
    return {"deletedRegion": _region(place), "insertedContent": {"text": edit.text}}


def _location(place: Place, snapshot: Snapshot) -> dict[str, Any]:
    return {"artifactLocation": _artifact(place.file, snapshot), "region": _region(place)}


def _region(place: Place) -> dict[str, int]:
    return {
        "startLine": place.line,
        "startColumn": place.column,
        "endLine": place.end_line,
        "endColumn": place.end_column,
    }


def _artifact(path: Path, snapshot: Snapshot) -> dict[str, str]:
    if path.is_relative_to(snapshot.root):
        return {"uri": _quoted(path.relative_to(snapshot.root)), "uriBaseId": _BASE}
    return {"uri": f"file://{_quoted(path)}"}


def _quoted(path: Path) -> str:
    return quote(path.as_posix().encode("utf-8", "surrogateescape"))
