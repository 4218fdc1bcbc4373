"""Findings of a check, for a person, for a program, for a code host."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from autofix.check.finder import Finder
from autofix.check.finding import Checked, Finding, Note
from autofix.core.kinds import described
from autofix.render import github, sarif
from autofix.render.snapshot import Place
from autofix.render.words import masked, one_line, valid

SCHEMA_VERSION = 1


def as_text(checked: Checked) -> str:
    """One line for each finding, and one for each other line that explains it."""
    return "".join(line for found in checked.findings for line in _lines(found))


def _lines(found: Finding) -> Iterable[str]:
    yield f"{masked(found.path)}:{found.line}:{found.column}: {found.code} {_message(found)}\n"
    for note in found.notes:
        yield f"{masked(note.path)}:{note.line}:{note.column}: note {one_line(note.message)}\n"


def proof(found: Finding) -> str:
    """The command that runs the script that led to a finding, and repairs it."""
    return shlex.join(["autofix", "fix", one_line(valid(found.script or found.path))])


def as_json(checked: Checked) -> str:
    """One object, in ASCII."""
    document = {
        "schema_version": SCHEMA_VERSION,
        "files": checked.files,
        "findings": [_row(found) for found in checked.findings],
        "problems": [{"file": valid(path), "reason": one_line(reason)} for path, reason in checked.problems],
    }
    return json.dumps(document, indent=2) + "\n"


def as_github(checked: Checked) -> str:
    """One warning for each finding, as workflow commands."""
    return "".join(
        github.command("warning", _place(found), f"autofix {found.code}", _message(found), Path.cwd())
        for found in checked.findings
    )


def as_sarif(checked: Checked, finders: Sequence[Finder], root: Path) -> str:
    """A log with one run."""
    places = {finder.code: number for number, finder in enumerate(finders)}
    results = [_result(found, places[found.code], root) for found in checked.findings]
    invocations = [{"executionSuccessful": True, "toolExecutionNotifications": [*_notifications(checked)]}]
    return sarif.log([sarif.run([*map(_rule, finders)], results, sarif.uri(root), invocations=invocations)])


def _row(found: Finding) -> dict[str, Any]:
    return {
        "code": found.code,
        "name": found.name,
        "message": one_line(found.message),
        "verified": False,
        "file": valid(found.path),
        "line": found.line,
        "column": found.column,
        "end_line": found.end_line,
        "end_column": found.end_column,
        "notes": [
            {"file": valid(note.path), "line": note.line, "column": note.column, "message": one_line(note.message)}
            for note in found.notes
        ],
        "proof": proof(found),
    }


def _message(found: Finding) -> str:
    """The message, that nothing was run, and what to type to have a cure proved."""
    return f"{one_line(found.message)} (unverified; to prove a cure: {proof(found)})"


def _place(found: Finding) -> Place:
    return Place(Path(found.path).resolve(), found.line, found.column, found.end_line, found.end_column)


def _rule(finder: Finder) -> dict[str, Any]:
    text = described(finder)
    return {
        "id": finder.code,
        "name": finder.name,
        "shortDescription": {"text": finder.title},
        "fullDescription": {"text": text.partition("\n")[0]},
        "help": {"text": text},
        "defaultConfiguration": {"level": "warning"},
    }


def _notifications(checked: Checked) -> Iterable[dict[str, Any]]:
    for path, reason in checked.problems:
        yield {"level": "note", "message": {"text": f"{valid(path)}: {one_line(reason)}"}}


def _related(note: Note, root: Path) -> dict[str, Any]:
    place = Place(Path(note.path).resolve(), note.line, note.column, note.line, note.column + 1)
    return sarif.location(place, root) | {"message": {"text": one_line(note.message)}}


def _result(found: Finding, place: int, root: Path) -> dict[str, Any]:
    where = sarif.location(_place(found), root)
    file = where["physicalLocation"]["artifactLocation"]["uri"]
    known_by = hashlib.sha256(f"{file}\0{found.code}\0{found.text}".encode()).hexdigest()[:32]
    return {
        "ruleId": found.code,
        "ruleIndex": place,
        "level": "warning",
        "message": {"text": _message(found)},
        "locations": [where],
        "relatedLocations": [_related(note, root) for note in found.notes],
        "partialFingerprints": {"autofixLine/v1": known_by},
    }
