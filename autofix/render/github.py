"""GitHub workflow commands, built here alone, which its runner turns into annotations; a report as such."""

from __future__ import annotations

import os
from pathlib import Path

from autofix.core.model import Outcome, Report
from autofix.render.snapshot import Place, Snapshot
from autofix.render.words import best, code, effect, headline, one_line, role, sentence, title, told


def as_github(report: Report, snapshot: Snapshot) -> str:
    """One error for the failure with its best fix, one notice for each other culprit; else what crashes nothing."""
    if report.diagnosis is None:
        able = report.outcome in (Outcome.CLEAN, Outcome.FIXED)
        said = "" if able else command("error", None, "autofix", sentence(report), snapshot.root)
        return said + _suspicions(report, snapshot)
    fixed = report.outcome is Outcome.FIXED
    stack = report.diagnosis.failure.stack
    place = snapshot.in_file(snapshot.place(stack[0])) if stack else None
    words = [headline(report)]
    if (fix := best(report)) is not None:
        done = "fixed" if fixed else f"{fix.verdict.applicability} fix"
        words += [f"{done}: {title(fix)}", effect(fix), snapshot.diff(fix)]
    else:
        words.append(sentence(report))
    level = "notice" if fixed or report.outcome is Outcome.SAFE else "error"
    lines = [command(level, place, f"autofix {code(report)}", "\n".join(words), snapshot.root)]
    for culprit in told(report):
        if culprit.role != "failed":
            at = snapshot.in_file(snapshot.place(culprit.frame))
            lines.append(command("notice", at, f"autofix {code(report)}", role(culprit), snapshot.root))
    return "".join(lines)


def _suspicions(report: Report, snapshot: Snapshot) -> str:
    """A warning for each fault that crashes nothing, a notice for what is often meant."""
    return "".join(
        command(
            "warning" if one.sure else "notice", snapshot.in_file(snapshot.place(one.frame)), f"autofix {one.code}",
            one_line(one.message), snapshot.root,
        )
        for one in report.suspicions
    )  # fmt: skip


def command(level: str, place: Place | None, name: str, message: str, root: Path) -> str:
    """One annotation; the file is named from the workspace, else from `root`."""
    properties = {"title": name}
    if place is not None:
        properties = {"file": _file(place.file, root), "line": str(place.line), "col": str(place.column)}
        # The runner takes end columns only within one line.
        if place.end_line == place.line:
            properties["endColumn"] = str(place.end_column)
        properties |= {"endLine": str(place.end_line), "title": name}
    listed = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{level} {listed}::{_data(message)}\n"


def _file(path: Path, root: Path) -> str:
    for folder in (os.environ.get("GITHUB_WORKSPACE"), root):
        if folder and path.is_relative_to(folder):
            return path.relative_to(Path(folder)).as_posix()
    return path.as_posix()


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
