"""How a command speaks and acts on its report: its look, complaints, the fix that it prints as a patch or writes."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace

from autofix import pipeline, render
from autofix.core.config import Settings
from autofix.core.model import Applicability, Fix, Outcome, Report
from autofix.core.write import WriteRefused
from autofix.render.progress import complain


def look(settings: Settings, typed: Sequence[str]) -> render.Look:
    """How a person wants it."""
    terminal = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    wanted = not os.environ.get("NO_COLOR") and (terminal or bool(os.environ.get("FORCE_COLOR")))
    color = settings.color == "always" or (settings.color == "auto" and wanted)
    width = shutil.get_terminal_size().columns if terminal else 0
    return render.Look(terminal, color, settings.verbose, settings.quiet, tuple(typed), width)


def chosen(report: Report, settings: Settings) -> Fix | None:
    """The fix that --write would take."""
    safe = Applicability.SAFE
    return next((fix for fix in report.fixes if settings.unsafe_fixes or fix.verdict.applicability is safe), None)


def applied(report: Report, settings: Settings) -> Report:
    """Write the fix that may be written; complains where there is none."""
    try:
        done = pipeline.apply(report, unsafe=settings.unsafe_fixes)
    except WriteRefused as error:
        complain(f"nothing was written: {error}")
        return replace(report, message=str(error))
    if done.outcome is not Outcome.FIXED:
        complain("nothing was written: no fix is safe; --unsafe-fixes allows the others")
    return done


def print_diff(report: Report, settings: Settings, without: str) -> None:
    """Print the patch alone; `without` is the complaint where there is no fix at all."""
    fix = chosen(report, settings)
    if fix is not None:
        sys.stdout.flush()
        sys.stdout.buffer.write(fix.diff)
        sys.stdout.buffer.flush()
    else:
        complain("no fix is safe; --unsafe-fixes prints the others too" if report.fixes else without)
