"""What `audit` does once its words are read: settings, a run that is watched, what it showed, status."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from autofix import pipeline, render
from autofix.audit import told
from autofix.check.known import among, named
from autofix.commands import ending, showing
from autofix.commands.opening import Opening
from autofix.commands.showing import Page
from autofix.core import config
from autofix.core.model import Outcome, Report
from autofix.render import audit as shown
from autofix.render.progress import complain, progress

KEPT, BROKEN, CANNOT = 0, 1, 2
_FORMATS = render.FORMATS | {"json": shown.as_json}


def audit(given: Mapping[str, Any], typed: Sequence[str], opening: Opening) -> int:
    """`autofix audit`: run the script for some seconds, say who trains what, what goes wrong, and what mends it."""
    settings = opening.settings
    start = opening.target.script.parent if opening.target is not None else Path.cwd()
    page = Page(given.get("report"))
    chosen = _codes(given.get("select"), start, "select"), _codes(given.get("ignore"), start, "ignore")
    report = _report(opening, (*settings.ignore, *_left_out(*chosen)))
    # As the files stand before anything is applied.
    ending.tell(page.write(report, render.Snapshot(report, full=settings.full_paths)), settings)
    if settings.write and report.fixes:
        report = showing.applied(report, settings)
    snapshot = render.Snapshot(report, full=settings.full_paths)
    able = report.outcome in (Outcome.CLEAN, Outcome.FIXED)
    if settings.diff:
        showing.print_diff(report, settings, "no edit is proved to mend what was found")
    elif write := _FORMATS.get(settings.output_format):
        sys.stdout.write(write(report, snapshot))
    elif able:
        shown.show(report, snapshot, showing.look(settings, typed), sys.stdout)
    if not able:
        said = ending.about(report.target, snapshot.shown(report.target.script), render.sentence(report))
        complain(ending.why_nothing(report, snapshot) if report.outcome is Outcome.INSTRUMENT_FAILED else said)
        return CANNOT
    return BROKEN if any(one.sure for one in report.suspicions) else KEPT


def _report(opening: Opening, ignored: Sequence[str]) -> Report:
    target = opening.target
    if target is None or opening.refused:
        return opening.cannot_run()
    settings = opening.settings
    with progress(quiet=settings.quiet, verbose=settings.verbose) as tell:
        return ending.sound(
            target, lambda: pipeline.audit(target, ignored=ignored, mend=True, probe=opening.probe, progress=tell)
        )


def _codes(given: Sequence[str] | None, start: Path, name: str) -> tuple[str, ...]:
    """Codes, starts of codes or names: as typed, else from [tool.autofix.audit] of the nearest pyproject.toml."""
    kinds = dict.fromkeys(("select", "ignore"), (config.texts, "a list of texts"))
    chosen = config.codes(given) if given else config.configured("audit", kinds, start.resolve())[1].get(name, ())
    for word in chosen:
        if not any(named(one, word) for one in told.known()):
            raise config.ConfigError(
                f"--{name} {word}: no finding of an audit has this name; `autofix explain AG501` explains one"
            )
    return tuple(chosen)


def _left_out(select: tuple[str, ...], ignore: tuple[str, ...]) -> tuple[str, ...]:
    """The codes that are not to be told."""
    kept = among(told.known(), select, ignore)
    return tuple(one.code for one in told.known() if one not in kept)
