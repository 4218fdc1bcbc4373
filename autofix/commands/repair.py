"""What `fix` and `verify` do once their words are read: settings, target, pipeline, report, status."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from autofix import pipeline, render
from autofix.check.known import named
from autofix.commands import interactive
from autofix.commands.opening import Opening
from autofix.commands.paged import Page
from autofix.commands.pinned import Pin
from autofix.commands.showing import applied, complain, look, print_diff
from autofix.core import config, kept
from autofix.core.config import Settings
from autofix.core.model import Fix, Outcome, Report, Target
from autofix.core.write import WriteRefused
from autofix.experiments import crashed
from autofix.experiments.run import Probe
from autofix.experiments.runner import unanswered
from autofix.probe.codec import WireError
from autofix.render.progress import Tell, progress
from autofix.render.words import title
from autofix.search import registry
from autofix.search.rule import Rule
from autofix.target import targets
from autofix.target.offered import OfferError, offered

CANNOT = 2
STATUS = {
    Outcome.FIXED: 0, Outcome.CLEAN: 0, Outcome.AVAILABLE: 1, Outcome.UNFIXED: 3,
    Outcome.SAFE: 0, Outcome.UNSAFE: 1, Outcome.STILL_FAILING: 3,
}  # fmt: skip
"""Exit statuses; every other outcome means that the work could not be done."""
_OURS = {f"--{name.replace('_', '-')}" for name in config.NAMES}


def fix(given: Mapping[str, Any], typed: Sequence[str], opening: Opening) -> int:
    """`autofix fix`: find a fix, apply it where that was asked for, show the report."""
    settings = _settings(opening)
    if settings.diff and settings.write:
        raise config.ConfigError("--diff shows the patch and --write applies it: give one of them")
    if settings.diff and given.get("output_format") not in {None, "text"}:
        raise config.ConfigError("--diff prints the patch alone: leave --output-format out")
    if given.get("interactive"):
        _check_interactive(given, settings)
    rules = chosen_rules(settings.select, settings.ignore)
    if opening.target is None or opening.refused:
        return _refused(opening)
    report = _repaired(opening.target, rules, given, opening)
    return _concluded(report, typed, given, settings)


def run(given: Mapping[str, Any], typed: Sequence[str]) -> int:
    """`autofix run`: run the program for real, and go on to a repair only where it dies of what may be autograd."""
    opening = Opening(given)
    settings = _settings(opening)
    Page(given.get("report"))  # refused before a long run, not after it
    rules = chosen_rules(settings.select, settings.ignore)
    if opening.target is None:
        return _refused(opening)
    target = opening.target
    status, crash = crashed.run_for_real(target, targets.ARRANGED)
    if crash is None or not crash.may_be_autograd:
        return status
    complain(f"it died of {crash.type} after {crash.seconds:.1f} s; looking for a cure")
    report = _repaired(replace(target, crash=crash), rules, given, opening)
    if report.diagnosis is None:  # what it died of is not autograd's, and has been seen
        report = replace(report, traceback="")
        return _finish(report, render.Snapshot(report), settings, typed, status=status)
    return _concluded(report, typed, given, settings)


def _repaired(target: Target, rules: Sequence[Rule], given: Mapping[str, Any], opening: Opening) -> Report:
    """The report on a target, with its page where one was asked for; nothing else is written or shown."""
    settings, begun = opening.settings, opening.probe
    page = Page(given.get("report"))
    Pin(given.get("pin"))  # refused before a long run, not after it
    quiet = settings.quiet or settings.diff
    with progress(quiet=quiet, verbose=settings.verbose, patient=target.crash is not None) as tell:

        def work(probe: Probe | None) -> Report:
            return pipeline.fix(target, rules, probe=probe, progress=tell, found=_shown(tell))

        report = targets.in_file(_sound(target, lambda: page.worked(target, work, tell, begun)))
    left = [one for one in report.suspicions if not any(named(one, key) for key in settings.ignore)]
    report = replace(report, suspicions=tuple(left))
    _answer(report, settings)
    _tell_of(page, report, render.Snapshot(report, full=settings.full_paths), settings)
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
    _tell(Pin(given.get("pin")).write(report, fix), settings)
    if settings.diff:
        print_diff(report, settings, _line(report, snapshot))
        return STATUS.get(report.outcome, CANNOT)
    status = _finish(report, snapshot, settings, typed)
    if report.outcome is Outcome.AVAILABLE:
        sys.stdout.flush()
        _tell(_misplaced(report.target), settings)
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
        answered = targets.in_file(_sound(target, lambda: pipeline.fix(target, rules, progress=tell)))
    _answer(answered, replace(settings, reading=name))
    return answered


def _answer(report: Report, settings: Settings) -> None:
    """Keep an answer that was typed, where it answers what the code leaves open; else say what there is to answer."""
    name, question = settings.reading, report.question
    if not name or report.diagnosis is None:
        return
    if question is None or question.chosen != name:
        names = " or ".join(one.name for one in question.answers) if question is not None else ""
        complain(
            f"--reading {name} answers nothing here; {f'the answer may be {names}' if names else 'nothing is open'}"
        )
        return
    try:
        path = kept.keep(report.target, question.key, name)
    except (WriteRefused, OSError, config.ConfigError) as error:
        complain(f"the answer was used and is not kept: {error}")
        return
    if not settings.quiet:
        complain(f"the answer is kept in {path}")


def _tell_of(page: Page, report: Report, snapshot: render.Snapshot, settings: Settings) -> None:
    """Write the page that was asked for, as the files stand before anything is applied."""
    _tell(page.write(report, snapshot), settings)


def _tell(said: str, settings: Settings) -> None:
    if said and not settings.quiet:
        complain(said)


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
            return targets.in_file(_sound(target, lambda: pipeline.verify(target, offer, progress=tell)))

    choice = interactive.review(report, snapshot, look(settings, ()), judge)
    if choice is None:
        return STATUS[Outcome.AVAILABLE]
    try:
        pipeline.apply(choice.report, unsafe=True, index=choice.number)
    except WriteRefused as error:
        complain(f"nothing was written: {error}")
        return CANNOT
    sys.stdout.write("The fix was written.\n")
    return STATUS[Outcome.FIXED]


def verify(given: Mapping[str, Any], typed: Sequence[str], opening: Opening) -> int:
    """`autofix verify`: judge an edit that somebody else made."""
    settings = _settings(opening)
    page = Page(given.get("report"))
    if opening.target is None or opening.refused:
        return _refused(opening)
    pin = Pin(given.get("pin"))
    target = opening.target
    if steps := given.get("steps"):
        target = replace(target, passes=steps, budget=target.time_limit)
    try:
        files = offered(target, given["fixed"] or (), given["patch"] or ())
        files = targets.offered_in_cells(target, files)
    except (targets.TargetError, OfferError) as error:
        return _refused(opening, str(error))
    with progress(quiet=settings.quiet, verbose=settings.verbose) as tell:

        def work(probe: Probe | None) -> Report:
            return pipeline.verify(target, files, probe=probe, progress=tell)

        report = targets.in_file(_sound(target, lambda: page.worked(target, work, tell, opening.probe)))
    _answer(report, settings)
    _tell_of(page, report, render.Snapshot(report), settings)
    if report.outcome is Outcome.CLEAN:
        # The original does not fail: there is nothing that the edit could have repaired.
        message = report.message or "the original runs without a failure, so there is nothing to verify"
        report = replace(report, message=message)
        return _finish(report, render.Snapshot(report), settings, typed, status=CANNOT)
    _tell(pin.write(report, next(iter(report.fixes), None)), settings)
    return _finish(report, render.Snapshot(report, full=settings.full_paths), settings, typed)


def chosen_rules(select: tuple[str, ...], ignore: tuple[str, ...]) -> tuple[Rule, ...]:
    """The rules that may be used."""
    try:
        return registry.select(select, ignore)
    except ValueError as error:
        raise config.ConfigError(str(error)) from None


def _settings(opening: Opening) -> Settings:
    found = opening.settings
    if found.loosened and not found.quiet:
        complain(f"note: [tool.autofix] of this project sets {', '.join(found.loosened)}")
    return found


def _refused(opening: Opening, reason: str = "") -> int:
    report = opening.cannot_run(reason)
    return _finish(report, render.Snapshot(report), opening.settings, ())


def _sound(target: Target, work: Callable[[], Report]) -> Report:
    """The report of some work, also where what was started is no Python at all and answers something else."""
    try:
        return work()
    except WireError as error:
        return unanswered(target, error)


def _finish(
    report: Report, snapshot: render.Snapshot, settings: Settings, typed: Sequence[str], status: int | None = None
) -> int:
    """Show a report as asked for; returns the exit status."""
    usual = STATUS.get(report.outcome, CANNOT)
    status = usual if status is None else status
    unable = CANNOT in (usual, status)
    if unable:
        if report.outcome is Outcome.OTHER_FAILURE and not settings.quiet:
            sys.stderr.write(render.clean(report.traceback))
        complain(_line(report, snapshot))
    if settings.output_format in render.FORMATS:
        sys.stdout.write(render.FORMATS[settings.output_format](report, snapshot))
    elif not unable:
        render.show(report, snapshot, look(settings, typed), sys.stdout)
    return status


def _line(report: Report, snapshot: render.Snapshot) -> str:
    """Why there is nothing to show, and what may be done about it."""
    name = report.target.module or str(report.target.script)
    with contextlib.suppress(ValueError):
        name = str(report.target.script.relative_to(Path.cwd())) if report.target.module is None else name
    if report.outcome is Outcome.OTHER_FAILURE and report.failure is not None and report.failure.stack:
        name = snapshot.where(snapshot.place(report.failure.stack[0]))
    said = render.sentence(report)
    if said != render.OUTCOMES[report.outcome] and report.outcome is not Outcome.CANNOT_RUN:
        said = f"{render.OUTCOMES[report.outcome]}: {said}"
    if (misplaced := _misplaced(report.target)) and report.outcome is Outcome.OTHER_FAILURE:
        said = f"{said} ({misplaced})"
    elif report.target.argv[:1] == ("--",) and report.outcome is Outcome.OTHER_FAILURE:
        said = f"{said} (what follows the script is the script's, and so is this --: leave it out)"
    return said if said.startswith(name) else f"{name}: {said}"


def _misplaced(target: Target) -> str:
    """What became of an option of ours behind a script that does not know it; '' where there is none."""
    text = b""
    with contextlib.suppress(OSError):
        text = target.read(target.script)
    words = (word for word in target.argv if word.partition("=")[0] in _OURS)
    lost = next((word for word in words if word.partition("=")[0].encode() not in text), "")
    return f"{lost} stands behind the script and is the script's; ours stand before it" if lost else ""
