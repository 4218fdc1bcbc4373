"""What `audit` does once its words are read: settings, a run that is watched, what it showed, status."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from autofix import pipeline, render
from autofix.audit import told
from autofix.check.known import among, named
from autofix.commands import showing
from autofix.commands.opening import Opening
from autofix.commands.paged import Page
from autofix.core import config
from autofix.core.model import Outcome, Report
from autofix.experiments.runner import unanswered
from autofix.probe.codec import WireError
from autofix.render import audit as shown
from autofix.render.progress import progress

KEPT, BROKEN, CANNOT = 0, 1, 2


def audit(given: Mapping[str, Any], typed: Sequence[str], opening: Opening) -> int:
    """`autofix audit`: run the script for some seconds, say who trains what, what goes wrong, and what mends it."""
    settings = opening.settings
    start = opening.target.script.parent if opening.target is not None else Path.cwd()
    page = Page(given.get("report"))
    chosen = _codes(given.get("select"), start, "select"), _codes(given.get("ignore"), start, "ignore")
    report = _report(opening, (*settings.ignore, *_left_out(*chosen)))
    told_of = page.write(report, render.Snapshot(report, full=settings.full_paths))  # as the files stand now
    if told_of and not settings.quiet:
        showing.complain(told_of)
    if settings.write and report.fixes:
        report = showing.applied(report, settings)
    snapshot = render.Snapshot(report, full=settings.full_paths)
    able = report.outcome in (Outcome.CLEAN, Outcome.FIXED)
    if settings.diff:
        showing.print_diff(report, settings, "no edit is proved to mend what was found")
    elif settings.output_format == "json":
        sys.stdout.write(shown.as_json(report, snapshot))
    elif settings.output_format in render.FORMATS:
        sys.stdout.write(render.FORMATS[settings.output_format](report, snapshot))
    elif able:
        shown.show(report, snapshot, showing.look(settings, typed), sys.stdout)
    if not able:
        sys.stderr.write(f"autofix: {snapshot.shown(report.target.script)}: {render.sentence(report)}\n")
        return CANNOT
    return BROKEN if any(one.sure for one in report.suspicions) else KEPT


def _report(opening: Opening, ignored: Sequence[str]) -> Report:
    target = opening.target
    if target is None or opening.refused:
        return opening.cannot_run()
    settings = opening.settings
    with progress(quiet=settings.quiet, verbose=settings.verbose) as tell:
        try:
            return pipeline.audit(target, ignored=ignored, mend=True, probe=opening.probe, progress=tell)
        except WireError as error:
            return unanswered(target, error)


def _codes(given: Sequence[str] | None, start: Path, name: str) -> tuple[str, ...]:
    """Codes, starts of codes or names: as typed, else from [tool.autofix.audit] of the nearest pyproject.toml."""
    chosen = config.codes(given) if given else _configured(start, name)
    for word in chosen:
        if not any(named(one, word) for one in told.known()):
            raise config.ConfigError(
                f"--{name} {word}: no finding of an audit has this name; `autofix explain AG501` explains one"
            )
    return tuple(chosen)


def _configured(start: Path, name: str) -> Sequence[str]:
    path = config.nearest("pyproject.toml", start.resolve())
    if path is None:
        return ()
    tool = config.read(path).get("tool", {}).get("autofix", {}).get("audit", {})
    kinds = dict.fromkeys(("select", "ignore"), (config.texts, "a list of texts"))
    found: Sequence[str] = config.table(tool, kinds, f"[tool.autofix.audit] of {path}").get(name, ())
    return found


def _left_out(select: tuple[str, ...], ignore: tuple[str, ...]) -> tuple[str, ...]:
    """The codes that are not to be told."""
    kept = among(told.known(), select, ignore)
    return tuple(one.code for one in told.known() if one not in kept)
