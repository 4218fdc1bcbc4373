"""Findings of a check, for a person, for a program, for a code host; and the page about one finder."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from autofix import __version__
from autofix.render.words import masked, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from autofix.check.finder import Finder
    from autofix.check.finding import Checked, Finding

SCHEMA_VERSION = 1
UNVERIFIED = "unverified: run autofix fix"
_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"
_BASE = "SRCROOT"


def as_text(checked: Checked) -> str:
    """One line for each finding."""
    return "".join(
        f"{masked(found.path)}:{found.line}:{found.column}: {found.code} {one_line(found.message)} ({UNVERIFIED})\n"
        for found in checked.findings
    )


def as_json(checked: Checked) -> str:
    """One object, in ASCII."""
    document = {
        "schema_version": SCHEMA_VERSION,
        "files": checked.files,
        "findings": [_row(found) for found in checked.findings],
        "problems": [{"file": _text(path), "reason": one_line(reason)} for path, reason in checked.problems],
    }
    return json.dumps(document, indent=2) + "\n"


def as_github(checked: Checked) -> str:
    """One warning for each finding, as workflow commands."""
    return "".join(_command(found) for found in checked.findings)


def as_sarif(checked: Checked, finders: Sequence[Finder], root: Path) -> str:
    """A log with one run."""
    places = {finder.code: number for number, finder in enumerate(finders)}
    run = {
        "tool": {"driver": {"name": "autofix", "version": __version__, "rules": [_rule(one) for one in finders]}},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_BASE: {"uri": f"file://{_quoted(root).rstrip('/')}/"}},
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": [*_notifications(checked)]}],
        "results": [_result(found, places[found.code], root) for found in checked.findings],
    }
    return json.dumps({"$schema": _SARIF, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def page(finder: Finder) -> str:
    """Everything about one finder, as Markdown."""
    heading, _, body = docstring(finder).partition("\n")
    blocks = [
        f"# {finder.code} {finder.name}: {heading}\n",
        f"{finder.title}. Found by `autofix check`, without a run.",
    ]
    blocks.append(body.rstrip())
    for name, examples in (("Found", finder.finds), ("Not found", finder.passes)):
        blocks += [f"\n## {name}\n\n```python\n{example.strip()}\n```" for example in examples]
    return "\n".join(blocks) + "\n"


def docstring(finder: Finder) -> str:
    return (sys.modules[type(finder).__module__].__doc__ or finder.title).strip()


def _row(found: Finding) -> dict[str, Any]:
    return {
        "code": found.code,
        "name": found.name,
        "message": one_line(found.message),
        "verified": False,
        "file": _text(found.path),
        "line": found.line,
        "column": found.column,
        "end_line": found.end_line,
        "end_column": found.end_column,
    }


def _command(found: Finding) -> str:
    path = _from_workspace(found.path)
    properties = {"file": path, "line": str(found.line), "col": str(found.column)}
    if found.end_line == found.line:  # the runner takes end columns only within one line
        properties["endColumn"] = str(found.end_column)
    properties |= {"endLine": str(found.end_line), "title": f"autofix {found.code}"}
    listed = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::warning {listed}::{_data(f'{one_line(found.message)} ({UNVERIFIED})')}\n"


def _from_workspace(path: str) -> str:
    whole = Path(path).resolve()
    folder = Path(os.environ.get("GITHUB_WORKSPACE") or Path.cwd())
    return whole.relative_to(folder).as_posix() if whole.is_relative_to(folder) else path


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _rule(finder: Finder) -> dict[str, Any]:
    text = docstring(finder)
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
        yield {"level": "note", "message": {"text": f"{_text(path)}: {one_line(reason)}"}}


def _result(found: Finding, place: int, root: Path) -> dict[str, Any]:
    path = Path(found.path).resolve()
    inside = path.is_relative_to(root)
    artifact = (
        {"uri": _quoted(path.relative_to(root)), "uriBaseId": _BASE} if inside else {"uri": f"file://{_quoted(path)}"}
    )
    region = {
        "startLine": found.line,
        "startColumn": found.column,
        "endLine": found.end_line,
        "endColumn": found.end_column,
    }
    known_by = hashlib.sha256("\0".join((artifact["uri"], found.code, found.text)).encode()).hexdigest()[:32]
    return {
        "ruleId": found.code,
        "ruleIndex": place,
        "level": "warning",
        "message": {"text": f"{one_line(found.message)} ({UNVERIFIED})"},
        "locations": [{"physicalLocation": {"artifactLocation": artifact, "region": region}}],
        "partialFingerprints": {"autofixLine/v1": known_by},
    }


def _quoted(path: Path) -> str:
    return quote(path.as_posix().encode("utf-8", "surrogateescape"))


def _text(word: str) -> str:
    """A path as valid Unicode."""
    return word.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
