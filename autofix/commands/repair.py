"""What `fix` and `run` do once their words are read: settings, target, pipeline, report, status."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from autofix import pipeline, render
from autofix.check.known import named
from autofix.commands import ending, interactive
from autofix.commands.opening import Opening
from autofix.commands.pinned import Pin
from autofix.commands.showing import Page, applied, look, print_diff
from autofix.core import config
from autofix.core.config import Settings
from autofix.core.model import Fix, Outcome, Report, Target
from autofix.core.write import WriteRefused
from autofix.experiments import crashed
from autofix.experiments.client import Probe
from autofix.render.progress import Tell, complain, progress
from autofix.render.words import title
from autofix.search import registry
from autofix.search.rule import Rule
from autofix.target import targets


def fix(given: Mapping[str, Any], typed: Sequence[str], opening: Opening) -> int:
    """`autofix fix`: find a fix, apply it where that was asked for, show the report."""
    settings = ending.settings_of(opening)
    if settings.diff and settings.write:
        raise config.ConfigError("--diff shows the patch and --write applies it: give one of them")
    if settings.diff and given.get("output_format") not in {None, "text"}:
        raise config.ConfigError("--diff prints the patch alone: leave --output-format out")
    if given.get("interactive"):
        _check_interactive(given, settings)
    rules = chosen_rules(settings.select, settings.ignore)
    if opening.target is None or opening.refused:
        return ending.refused(opening)
    report = _repaired(opening.target, rules, given, opening)
    return _concluded(report, typed, given, settings)


def run(given: Mapping[str, Any], typed: Sequence[str]) -> int:
    """`autofix run`: run the program for real, and go on to a repair only where it dies of what may be autograd."""
    opening = Opening(given)
    settings = ending.settings_of(opening)
    Page(given.get("report"))  # refused before a long run, not after it
    rules = chosen_rules(settings.select, settings.ignore)
    if opening.target is None:
        return ending.refused(opening)
    target = opening.target
    status, crash = crashed.run_for_real(target, targets.ARRANGED)
    if crash is None or not crash.may_be_autograd:
        return status
    complain(f"it died of {crash.type} after {crash.seconds:.1f} s; finding out whether that is autograd's")
    report = _repaired(replace(target, crash=crash), rules, given, opening)
    if report.diagnosis is None:  # what it died of is not autograd's, and has been seen
        report = replace(report, traceback="")
        return ending.finish(report, render.Snapshot(report), settings, typed, status=status)
    return _concluded(report, typed, given, settings)


def _repaired(target: Target, rules: Sequence[Rule], given: Mapping[str, Any], opening: Opening) -> Report:
    """The report on a target, with its page where one was asked for; nothing else is written or shown."""
    settings, begun = opening.settings, opening.probe
    page = Page(given.get("report"))
    Pin(given.get("pin"))  # refused before a long run, not after it
    quiet = settings.quiet or settings.diff
    with progress(quiet=quiet, verbose=settings.verbose) as tell:

        def work(probe: Probe | None) -> Report:
            return pipeline.fix(target, rules, probe=probe, progress=tell, found=_shown(tell))

        report = targets.in_file(ending.sound(target, lambda: page.worked(target, work, tell, begun)))
    left = [one for one in report.suspicions if not any(named(one, key) for key in settings.ignore)]
    report = replace(report, suspicions=tuple(left))
    ending.keep_answer(report, settings)
    # As the files stand before anything is applied.
    ending.tell(page.write(report, render.Snapshot(report, full=settings.full_paths)), settings)
    return report


def _concluded(report: Report, typed: Sequence[str], given: Mapping[str, Any], settings: Settings) -> int:
    """Ask, write and show as was asked for; returns the exit status."""
    snapshot = render.Snapshot(report, full=settings.full_paths)
    if given.get("interactive") and report.outcome is Outcome.AVAILABLE:
        report = _asked(report, snapshot, settings)
        snapshot = render.Snapshot(report, full=settings.full_paths)
        return _reviewed(report, snapshot, settings)
    if settings.write and report.outcome is Outcome.AVAILABLE:
        report = applied(report, settings)
    fix = report.fixes[report.applied or 0] if report.fixes else None
    ending.tell(Pin(given.get("pin")).write(report, fix), settings)
    if settings.diff:
        print_diff(report, settings, ending.why_nothing(report, snapshot))
        return ending.STATUS.get(report.outcome, ending.CANNOT)
    status = ending.finish(report, snapshot, settings, typed)
    if report.outcome is Outcome.AVAILABLE:
        sys.stdout.flush()
        ending.tell(ending.misplaced(report.target), settings)
    return status


def _shown(tell: Tell) -> Callable[[Fix], None]:
    """Shows the first safe edit as soon as it is known, where somebody watches: the search goes on for better ones."""

    def found(fix: Fix) -> None:
        place = fix.candidate.edits[0].path.name if fix.candidate.edits else ""
        changed = [line for line in fix.diff.decode("utf-8", "replace").splitlines() if line[:1] in {"+", "-"}]
        tell.keep(f"safe: {title(fix)} ({place})", *(line for line in changed if line[:3] not in {"+++", "---"}))

    return found


def _asked(report: Report, snapshot: render.Snapshot, settings: Settings) -> Report:
    """Let a person answer what the code leaves open, and look for fixes by that; the same report where they do not."""
    question = report.question
    if question is None or question.answer is not None:
        return report
    name = interactive.answer(question, report, snapshot, look(settings, ()))
    if not name:
        return report
    target, rules = replace(report.target, reading=name), chosen_rules(settings.select, settings.ignore)
    with progress(quiet=settings.quiet, verbose=settings.verbose) as tell:
        answered = targets.in_file(ending.sound(target, lambda: pipeline.fix(target, rules, progress=tell)))
    ending.keep_answer(answered, replace(settings, reading=name))
    return answered


def _check_interactive(given: Mapping[str, Any], settings: Settings) -> None:
    if settings.diff or settings.write or given.get("output_format") not in {None, "text"}:
        raise config.ConfigError("--interactive asks what to write: leave --write, --diff and --output-format out")
    interactive.check()


def _reviewed(report: Report, snapshot: render.Snapshot, settings: Settings) -> int:
    """Let a person choose, and write what was chosen; returns the exit status."""
    target = report.target

    def judge(files: dict[Path, bytes]) -> Report:
        with progress(quiet=settings.quiet, verbose=settings.verbose) as tell:
            offer = targets.offered_in_cells(target, files)
            return targets.in_file(ending.sound(target, lambda: pipeline.verify(target, offer, progress=tell)))

    choice = interactive.review(report, snapshot, look(settings, ()), judge)
    if choice is None:
        return ending.STATUS[Outcome.AVAILABLE]
    try:
        pipeline.apply(choice.report, unsafe=True, index=choice.number)
    except WriteRefused as error:
        complain(f"nothing was written: {error}")
        return ending.CANNOT
    sys.stdout.write("The fix was written.\n")
    return ending.STATUS[Outcome.FIXED]


def chosen_rules(select: tuple[str, ...], ignore: tuple[str, ...]) -> tuple[Rule, ...]:
    """The rules that may be used."""
    try:
        return registry.select(select, ignore)
    except ValueError as error:
        raise config.ConfigError(str(error)) from None
