"""How a command that repairs or judges ends: what is kept of an answer, what is shown, and the exit status."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from autofix import render
from autofix.commands.opening import Opening
from autofix.commands.showing import look
from autofix.core import config, kept
from autofix.core.config import Settings
from autofix.core.model import Outcome, Report, Target
from autofix.core.write import WriteRefused
from autofix.experiments.runner import unanswered
from autofix.probe.codec import WireError
from autofix.render.progress import complain

CANNOT = 2
STATUS = {
    Outcome.FIXED: 0, Outcome.CLEAN: 0, Outcome.AVAILABLE: 1, Outcome.UNFIXED: 3,
    Outcome.SAFE: 0, Outcome.UNSAFE: 1, Outcome.STILL_FAILING: 3,
}  # fmt: skip
"""Exit statuses; every other outcome means that the work could not be done."""
_OURS = {f"--{name.replace('_', '-')}" for name in config.NAMES}


def settings_of(opening: Opening) -> Settings:
    found = opening.settings
    if found.loosened and not found.quiet:
        complain(f"note: [tool.autofix] of this project sets {', '.join(found.loosened)}")
    return found


def refused(opening: Opening, reason: str = "") -> int:
    report = opening.cannot_run(reason)
    return finish(report, render.Snapshot(report), opening.settings, ())


def sound(target: Target, work: Callable[[], Report]) -> Report:
    """The report of some work, also where what was started is no Python at all and answers something else."""
    try:
        return work()
    except WireError as error:
        return unanswered(target, error)


def keep_answer(report: Report, settings: Settings) -> None:
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


def tell(said: str, settings: Settings) -> None:
    if said and not settings.quiet:
        complain(said)


def finish(
    report: Report, snapshot: render.Snapshot, settings: Settings, typed: Sequence[str], status: int | None = None
) -> int:
    """Show a report as asked for; returns the exit status."""
    usual = STATUS.get(report.outcome, CANNOT)
    status = usual if status is None else status
    unable = CANNOT in (usual, status)
    if unable:
        if report.outcome is Outcome.OTHER_FAILURE and not settings.quiet:
            sys.stderr.write(render.clean(report.traceback))
        complain(why_nothing(report, snapshot))
    if settings.output_format in render.FORMATS:
        sys.stdout.write(render.FORMATS[settings.output_format](report, snapshot))
    elif not unable:
        render.show(report, snapshot, look(settings, typed), sys.stdout)
    return status


def why_nothing(report: Report, snapshot: render.Snapshot) -> str:
    """Why there is nothing to show, and what may be done about it."""
    name = report.target.module or str(report.target.script)
    with contextlib.suppress(ValueError):
        name = str(report.target.script.relative_to(Path.cwd())) if report.target.module is None else name
    if report.outcome is Outcome.OTHER_FAILURE and report.failure is not None and report.failure.stack:
        name = snapshot.where(snapshot.place(report.failure.stack[0]))
    said = render.sentence(report)
    if said != render.OUTCOMES[report.outcome] and report.outcome is not Outcome.CANNOT_RUN:
        said = f"{render.OUTCOMES[report.outcome]}: {said}"
    if (lost := misplaced(report.target)) and report.outcome is Outcome.OTHER_FAILURE:
        said = f"{said} ({lost})"
    elif report.target.argv[:1] == ("--",) and report.outcome is Outcome.OTHER_FAILURE:
        said = f"{said} (what follows the script is the script's, and so is this --: leave it out)"
    return about(report.target, name, said)


def about(target: Target, name: str, said: str) -> str:
    """What is said of a target, behind its name; of one that nobody has named it is said alone."""
    return said if target.script == Path() or said.startswith(name) else f"{name}: {said}"


def misplaced(target: Target) -> str:
    """What became of an option of ours behind a script that does not know it; '' where there is none."""
    text = b""
    with contextlib.suppress(OSError):
        text = target.read(target.script)
    words = (word for word in target.argv if word.partition("=")[0] in _OURS)
    lost = next((word for word in words if word.partition("=")[0].encode() not in text), "")
    return f"{lost} stands behind the script and is the script's; ours stand before it" if lost else ""
