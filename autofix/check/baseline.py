"""The findings that a project has accepted: a JSON file of rows, which moves with the code and not with its lines."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from autofix.check.finding import Finding

VERSION = 1
Row = tuple[str, str, str]
"""Path from the baseline's folder, code, and the text of the line."""


class BaselineError(ValueError):
    """A baseline that cannot be used; the message is one line."""


def write(file: Path, findings: Iterable[Finding]) -> None:
    """Accept these findings."""
    counted = Counter(_row(file, finding) for finding in findings)
    rows = [{"path": row[0], "code": row[1], "line": row[2], "count": counted[row]} for row in sorted(counted)]
    try:
        file.write_text(json.dumps({"version": VERSION, "findings": rows}, indent=2) + "\n", "utf-8")
    except OSError as error:
        raise BaselineError(f"{file}: {error.strerror or error}") from None


def without_accepted(file: Path, findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings that are not in the baseline, or more often than there."""
    left = _read(file)
    new = []
    for finding in findings:
        row = _row(file, finding)
        if left[row] > 0:
            left[row] -= 1
        else:
            new.append(finding)
    return tuple(new)


def _read(file: Path) -> Counter[Row]:
    try:
        document = json.loads(file.read_text("utf-8"))
        if document["version"] != VERSION:
            raise BaselineError(f"{file}: version {document['version']} is not {VERSION}; write it anew")
        return Counter({(row["path"], row["code"], row["line"]): int(row["count"]) for row in document["findings"]})
    except OSError as error:
        raise BaselineError(f"{file}: {error.strerror or error}") from None
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        if isinstance(error, BaselineError):
            raise
        raise BaselineError(f"{file}: this is no baseline of autofix check") from None


def _row(file: Path, finding: Finding) -> Row:
    return Path(os.path.relpath(finding.path, file.parent)).as_posix(), finding.code, finding.text
