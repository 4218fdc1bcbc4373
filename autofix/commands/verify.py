"""What `verify` does once its words are read: settings, target, the edit of somebody else, report, status."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from autofix import pipeline, render
from autofix.commands import ending
from autofix.commands.opening import Opening
from autofix.commands.pinned import Pin
from autofix.commands.showing import Page
from autofix.core.model import Outcome, Report
from autofix.experiments.client import Probe
from autofix.render.progress import progress
from autofix.target import targets
from autofix.target.offered import OfferError, offered


def verify(given: Mapping[str, Any], typed: Sequence[str], opening: Opening) -> int:
    """`autofix verify`: judge an edit that somebody else made."""
    settings = ending.settings_of(opening)
    page = Page(given.get("report"))
    if opening.target is None or opening.refused:
        return ending.refused(opening)
    pin = Pin(given.get("pin"))
    target = opening.target
    if steps := given.get("steps"):
        target = replace(target, passes=steps, budget=target.time_limit)
    try:
        files = offered(target, given["fixed"] or (), given["patch"] or ())
        files = targets.offered_in_cells(target, files)
    except (targets.TargetError, OfferError) as error:
        return ending.refused(opening, str(error))
    with progress(quiet=settings.quiet, verbose=settings.verbose) as tell:

        def work(probe: Probe | None) -> Report:
            return pipeline.verify(target, files, probe=probe, progress=tell)

        report = targets.in_file(ending.sound(target, lambda: page.worked(target, work, tell, opening.probe)))
    ending.keep_answer(report, settings)
    ending.tell(page.write(report, render.Snapshot(report)), settings)
    if report.outcome is Outcome.CLEAN:
        # The original does not fail: there is nothing that the edit could have repaired.
        message = report.message or "the original runs without a failure, so there is nothing to verify"
        report = replace(report, message=message)
        return ending.finish(report, render.Snapshot(report), settings, typed, status=ending.CANNOT)
    ending.tell(pin.write(report, next(iter(report.fixes), None)), settings)
    return ending.finish(report, render.Snapshot(report, full=settings.full_paths), settings, typed)
