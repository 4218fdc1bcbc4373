"""SARIF 2.1.0, built here alone; a report in it: one result, its culprits related, its fixes as replacements."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import quote

from autofix import __version__
from autofix.core.edit import Edit
from autofix.core.model import Fix, Outcome, Report
from autofix.probe.wire import Frame
from autofix.render.snapshot import Place, Snapshot
from autofix.render.words import CAUSES, best, code, effect, headline, one_line, role, sentence, title, told

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_BASE = "SRCROOT"
_DID_ITS_WORK = {Outcome.FIXED, Outcome.AVAILABLE, Outcome.CLEAN, Outcome.UNFIXED, Outcome.SAFE, Outcome.UNSAFE,
                 Outcome.STILL_FAILING}  # fmt: skip


def log(runs: Iterable[dict[str, Any]], *, indent: int = 2) -> str:
    """A log of these runs."""
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [*runs]}, indent=indent) + "\n"


def run(rules: Sequence[Any], results: Sequence[Any], root: str = "", **further: Any) -> dict[str, Any]:
    """One run; `root` is the URI of the folder that paths are given from, `further` what else is known of it."""
    base = {"originalUriBaseIds": {_BASE: {"uri": f"{root.rstrip('/')}/"}}} if root else {}
    driver = {"name": "autofix", "version": __version__, "rules": rules}
    return {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", **base, **further, "results": results}


def uri(path: Path) -> str:
    """A path as the URI of a file."""
    return f"file://{_quoted(path)}"


def location(place: Place, root: Path) -> dict[str, Any]:
    """A place in a file, which is named from `root` where it lies below."""
    return {"physicalLocation": {"artifactLocation": _artifact(place.file, root), "region": _region(place)}}


def shown(frame: Frame, snapshot: Snapshot) -> dict[str, Any]:
    """Where a frame stands in the file on disk."""
    return location(snapshot.in_file(snapshot.place(frame)), snapshot.root)


def as_sarif(report: Report, snapshot: Snapshot) -> str:
    """A log with one run."""
    results = _results(report, snapshot)
    rules = _rules(report) if results else []
    more, found = _suspicions(report, snapshot, len(rules))
    return log([run([*rules, *more], [*results, *found], uri(snapshot.root), invocations=[_invocation(report)])])


def _suspicions(
    report: Report, snapshot: Snapshot, before: int
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:  # fmt: skip
    """Rules and results of the faults that crash nothing; `before` rules stand in the log before them."""
    names = {one.code: one.name for one in report.suspicions}
    codes = list(names)
    results = [
        {
            "ruleId": one.code, "ruleIndex": before + codes.index(one.code),
            "level": "warning" if one.sure else "note", "message": {"text": one_line(one.message)},
            "locations": [shown(one.frame, snapshot)],
            "relatedLocations": [{"id": n} | shown(frame, snapshot) for n, frame in enumerate(one.others, 1)],
        }
        for one in report.suspicions
    ]  # fmt: skip
    return [{"id": code, "name": name} for code, name in names.items()], results


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
        "locations": [shown(stack[0], snapshot)] if stack else [],
        "relatedLocations": [
            {"id": number, "message": {"text": role(culprit)}} | shown(culprit.frame, snapshot)
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
        changes.append({"artifactLocation": _artifact(path, snapshot.root), "replacements": replacements})
    if not changes:
        return None
    words = f"{title(fix)} ({fix.verdict.applicability}; {effect(fix)})"
    return {"description": {"text": one_line(words)}, "artifactChanges": changes}


def _replacement(edit: Edit, snapshot: Snapshot) -> dict[str, Any] | None:
    place = snapshot.edit_place(edit)
    if place is None:
        return None
    return {"deletedRegion": _region(place), "insertedContent": {"text": edit.text}}


def _region(place: Place) -> dict[str, int]:
    return {
        "startLine": place.line, "startColumn": place.column, "endLine": place.end_line, "endColumn": place.end_column
    }  # fmt: skip


def _artifact(path: Path, root: Path) -> dict[str, str]:
    if path.is_relative_to(root):
        return {"uri": _quoted(path.relative_to(root)), "uriBaseId": _BASE}
    return {"uri": uri(path)}


def _quoted(path: Path) -> str:
    return quote(path.as_posix().encode("utf-8", "surrogateescape"))
