"""The report for a person: as lines that editors can follow, or with excerpts and colour on a terminal."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TextIO

from rich.console import Console
from rich.text import Text

from autofix.core.model import Applicability, Fix, Outcome, Report
from autofix.experiments.compare import norms
from autofix.render import words
from autofix.render.account import Account, account
from autofix.render.snapshot import Snapshot
from autofix.render.story import located, story, verbatim
from autofix.render.words import EFFECTS

_ALTERNATIVES = 3
_CHANGES = 5
_LAWS = {"broken": "bold red", "kept": "green", "not judged": "dim"}
_NEXT = "Next: change the edit, or see what `autofix fix` offers for this script"
_ANSWER = "Next: answer the question; if the answer rules the edit out, change it, or see what `autofix fix` offers"
_REJECTED = 8
_TRIED = 20
_DIFF = {"file": "bold", "place": "cyan", "added": "green", "removed": "red"}
_TRUST = {Applicability.SAFE: "bold green", Applicability.UNSAFE: "bold yellow", Applicability.DISPLAY_ONLY: "bold red"}


@dataclass(frozen=True, slots=True)
class Look:
    """How a person wants it: with excerpts (a terminal) or line by line, how much, and what they typed."""

    terminal: bool = False
    color: bool = False
    verbose: bool = False
    quiet: bool = False
    command: tuple[str, ...] | None = ()
    """The words after `autofix fix`, to say what to type next; None where nothing is to be typed."""
    width: int = 0
    """The columns that sentences are folded to, between words; 0 leaves every line whole."""


def show(report: Report, snapshot: Snapshot, look: Look, stream: TextIO) -> None:
    """Print a report for a person."""
    put(console(look, stream), lines(report, snapshot, look))


def put(printer: Console, shown: Iterable[Text]) -> None:
    """Print lines, folded between words where the look says so; what is to be copied is not."""
    for line in shown:
        # Said again, for printing forgets what a Text says.
        printer.print(line, no_wrap=line.no_wrap, overflow=line.overflow, crop=False)


def console(look: Look, stream: TextIO) -> Console:
    """What prints in a look."""
    return Console(
        file=stream,
        color_system="standard" if look.color else None,
        force_terminal=look.color,
        no_color=not look.color,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=not look.width,
        width=look.width or None,
    )


def lines(report: Report, snapshot: Snapshot, look: Look) -> Iterator[Text]:
    """A report's lines, first what failed and where, last what to type next."""
    if report.diagnosis is None:
        if not look.quiet or report.outcome is not Outcome.CLEAN:
            yield Text(f"{snapshot.shown(report.target.script)}: {words.sentence(report)}")
        if (report.suspicions and not look.quiet) or look.verbose:
            yield from accounted(account(report, snapshot), snapshot, whole=look.verbose)
        if look.verbose:
            yield from _fence(report)
        return
    yield from failure(report, snapshot, look)
    if look.quiet:
        return
    if report.outcome in words.JUDGED:
        yield from _judged(report, snapshot, look)
    elif report.fixes:
        yield from _fixes(report, snapshot, look)
    else:
        yield from _unfixed(report, snapshot, whole=look.verbose)
    yield from _beside(report, snapshot)
    if look.verbose:
        yield from _background(report)
    elif report.target.isolation == "auto" and report.isolation in words.OPEN:
        yield Text(f"Isolation {report.isolation}: {words.OPEN[report.isolation]}", "dim")


def failure(report: Report, snapshot: Snapshot, look: Look) -> Iterator[Text]:
    """What failed, where, and the lines that explain it."""
    if report.diagnosis is None:
        return
    stack = report.diagnosis.failure.stack
    place = snapshot.place(stack[0]) if stack else None
    code = words.code(report) if not look.terminal else ""
    yield located(snapshot, place, code, words.headline(report), "bold")
    if look.quiet:
        return
    cause = report.diagnosis.declined or words.CAUSES[report.diagnosis.cause]
    yield Text("  ").append(words.one_line(cause))
    yield from story(report, snapshot, width=look.width, links=not look.terminal, asides=look.verbose)
    for condition in report.conditions:
        yield Text("  ").append(f"changed for this run: {words.one_line(condition)}", "yellow")
    yield Text()


def _fixes(report: Report, snapshot: Snapshot, look: Look) -> Iterator[Text]:
    fix = words.best(report)
    if fix is None:
        return
    done = report.outcome is Outcome.FIXED
    yield from candidate(fix, snapshot, "Fixed" if done else "Fix", conditions=report.conditions)
    others = [other for other in report.fixes if other is not fix]
    yield from _alternatives(others, report, snapshot, look)
    if report.untried:
        yield Text()
        yield Text(report.untried, "yellow")
    yield from question(report, snapshot)
    yield from following(fix, look, "fix", report, done=done)


def candidate(fix: Fix, snapshot: Snapshot, label: str, *, conditions: Sequence[str]) -> Iterator[Text]:
    """One fix: what it does, its diff, its effect, and why it works. `conditions`: what was changed for its runs."""
    yield _head(fix, label, conditions)
    yield from _diff(fix, snapshot)
    yield from _effect(fix, snapshot)
    if why := words.one_line(fix.candidate.why):
        safe = fix.verdict.applicability is Applicability.SAFE
        yield Text("Why it works: " if safe else "Why it gets past the failure: ").append(why)


def _head(fix: Fix, label: str, conditions: Sequence[str]) -> Text:
    trust = fix.verdict.applicability
    more = f"; {words.conditioned(conditions)}" if conditions and trust is Applicability.SAFE else ""
    said = f"({words.trust(fix)}{more})"
    return Text().append(f"{label}: ", "bold").append(f"{_named(fix)} ").append(said, _TRUST[trust])


def _named(fix: Fix) -> str:
    return " ".join(filter(None, (fix.candidate.codes, words.title(fix))))


def _diff(fix: Fix, snapshot: Snapshot) -> Iterator[Text]:
    yield Text()
    yield from (verbatim(line, _DIFF.get(kind, "")) for kind, line in words.diff_lines(snapshot.people(fix)))
    yield Text()


def _effect(fix: Fix, snapshot: Snapshot) -> Iterator[Text]:
    trust = fix.verdict.applicability
    yield Text("Effect: ").append(words.effect(fix, listed=True), _TRUST[trust])
    for name, sentence in snapshot.reasons(fix):
        yield Text().append(f"  {name}: ", "yellow").append(sentence)
    if later := snapshot.later(fix):
        yield Text(f"  {later}", "yellow")
    if warning := words.warning(fix):
        yield Text("To decide: ", "yellow").append(warning)


def _alternatives(others: list[Fix], report: Report, snapshot: Snapshot, look: Look) -> Iterator[Text]:
    if not others:
        return
    yield Text()
    yield Text("Other edits that get past the failure:", "bold")
    shown = others if look.verbose else others[:_ALTERNATIVES]
    told = dict.fromkeys(snapshot.reasons(report.fixes[0]), 1)
    for fix in shown:
        trust = fix.verdict.applicability
        line = Text(f"  {report.fixes.index(fix) + 1}. {_named(fix)} ").append(f"({words.trust(fix)})", _TRUST[trust])
        said = words.effect(fix)
        if said == words.effect(report.fixes[0]):
            said = "same effect as fix 1"
        elif not look.verbose:
            kept = EFFECTS[fix.verdict.effect] + ", but" * bool(words.reasons(fix))
            said = kept if fix.verdict.effect.keeps_gradients else said.partition(". ")[0]
        yield line.append(f" {said}", "dim")
        for name, sentence in snapshot.reasons(fix)[: None if look.verbose else 1]:
            number = told.setdefault((name, sentence), report.fixes.index(fix) + 1)
            again = number != report.fixes.index(fix) + 1
            yield Text(f"     {name}: {f'see fix {number}' if again else sentence}", "yellow")
        if look.verbose:
            yield from _diff(fix, snapshot)
    if left := len(others) - len(shown):
        yield Text(f"  and {left} more; -v shows all")


def question(report: Report, snapshot: Snapshot) -> Iterator[Text]:
    """What the code leaves open, and how to answer it; or how it was answered."""
    asked = report.question
    if asked is None:
        return
    yield Text()
    where = f"{snapshot.where(snapshot.place(asked.place[0]))}: " if asked.place else ""
    if asked.answer is not None:
        yield Text(f"As was answered ({asked.chosen}): ").append(words.one_line(asked.answer.clause))
        return
    yield Text(f"Question: {where}{words.one_line(asked.text)}", "bold")
    if asked.outdated:
        yield Text(f"  {words.one_line(asked.outdated)}", "yellow")
    yield Text("  No run can tell. Answer by running it again with one of these options:")
    for one in asked.answers:
        yield Text(f"  --reading {one.name}: ").append(words.one_line(f"{one.clause} ({words.followed(report, one)})"))


def following(fix: Fix, look: Look, command: str, report: Report, *, done: bool) -> Iterator[Text]:
    """What to type to apply a fix; the last of the words that were typed are the script's own."""
    safe = fix.verdict.applicability is Applicability.SAFE
    yield Text()
    if done:
        yield Text("The fix was written.", "bold green")
        return
    if look.command is None:
        return
    ours = look.command[: len(look.command) - len(report.target.argv)]
    extra = () if safe else ("--unsafe-fixes",)
    kept = (word for word in ours if word not in ("--write", "--unsafe-fixes"))
    typed = shlex.join(["autofix", command, "--write", *extra, *kept, *look.command[len(ours) :]])
    asked = report.question is not None and report.question.answer is None
    none = (
        "No fix is safe before this is answered. To apply fix 1" if asked else "No fix is proved safe. To apply fix 1"
    )
    reason = "To apply it" if safe else f"{none} all the same"
    yield verbatim(f"{reason}: ").append(words.masked(typed), "bold")


def accounted(shown: Account, snapshot: Snapshot, *, whole: bool) -> Iterator[Text]:
    """What a run showed of its training, with the table where something was found, or where the `whole` is wanted."""
    for one in shown.findings:
        yield located(snapshot, one.place, one.code, one.message, "bold red" if one.sure else "yellow")
        for place in one.others:
            yield located(snapshot, place, "", "belongs to it", "dim")
    if not shown.table:
        return
    if shown.findings or whole:
        for number, line in enumerate(words.aligned(shown.table)):
            yield verbatim(f"  {line}", "bold" if not number else "")
    yield Text(shown.summary, "bold")
    laws = Text("Laws: ")
    for number, (law, state) in enumerate(shown.laws):
        laws.append("; " * bool(number) + f"{law}: ").append(state, _LAWS[state])
    yield laws
    yield Text(shown.watched, "dim")


def _beside(report: Report, snapshot: Snapshot) -> Iterator[Text]:
    """What the failing run showed of its training besides the failure."""
    if report.suspicions:
        yield Text()
        yield Text("Also found, though not why it fails:")
    yield from accounted(account(report, snapshot), snapshot, whole=False)


def _unfixed(report: Report, snapshot: Snapshot, *, whole: bool) -> Iterator[Text]:
    yield Text(f"No fix: {words.sentence(report)}.", "bold")
    rejected = report.rejected if whole else _distinct(report.rejected)[:_REJECTED]
    for fix in rejected:
        yield Text(f"  tried {_named(fix)}: ").append(_failed(fix, snapshot), "dim")
    if len(report.rejected) > len(rejected):
        yield Text(f"  tried {len(report.rejected) - len(rejected)} more; -v shows all", "dim")
    if report.untried:
        yield Text(f"  {report.untried}", "yellow")
    for note in report.notes:
        yield Text(f"  declined {words.one_line(note.rule)}: ").append(words.one_line(note.reason), "dim")
    if report.hints:
        yield Text("What is usually done:")
    for hint in report.hints:
        yield located(snapshot, snapshot.place(hint.frame), hint.rule, words.one_line(hint.sentence), "bold")
    yield Text("Next: edit by hand at the lines above; `autofix verify --fixed EDITED SCRIPT` judges the edit")


def _distinct(rejected: Iterable[Fix]) -> list[Fix]:
    """Edits that each say something new: of those with the same words one, and those of fewer rules first."""
    distinct: dict[str, Fix] = {}
    for fix in rejected:
        distinct.setdefault(_named(fix), fix)
    return sorted(distinct.values(), key=lambda fix: len(fix.candidate.rules))


def _failed(fix: Fix, snapshot: Snapshot) -> str:
    """Why a candidate was no good, with the place where it failed in turn."""
    verdict = fix.verdict
    said = words.RUNS[verdict.run]
    if verdict.failure is None:
        return f"{said}{': ' + words.shortened(verdict.summary) if verdict.summary else ''}"
    stack = verdict.failure.stack
    at = ""
    if stack:
        place = snapshot.place(stack[0])
        at = f" at {snapshot.where(place, column=False)}"
    return f"{said}{at}: {words.shortened(verdict.failure.message)}"


def _judged(report: Report, snapshot: Snapshot, look: Look) -> Iterator[Text]:
    """The verdict on an edit that somebody else made."""
    judged = next(iter((*report.fixes, *report.rejected)), None)
    if judged is None:
        yield Text(words.sentence(report), "bold")
        return
    yield Text(words.judged(report).capitalize(), _TRUST[judged.verdict.applicability])
    if report.outcome is Outcome.STILL_FAILING:
        yield Text(f"  {_failed(judged, snapshot)}")
        yield Text(_NEXT)
        return
    if look.verbose:
        yield from _diff(judged, snapshot)
    yield from _effect(judged, snapshot)
    changes = judged.verdict.changes
    firsts = [one for one in changes if one is next(each for each in changes if each.parameter == one.parameter)]
    # The sentence of the effect has told of the first one.
    for change in changes if look.verbose else firsts[1 : _CHANGES + 1]:
        where = f"{words.one_line(change.parameter)}, step {change.step + 1}: " if change.parameter else ""
        yield Text(f"  {where}{words.one_line(change.note or norms(change))}")
    yield from question(report, snapshot)
    if report.outcome is Outcome.UNSAFE:
        yield Text(_NEXT if report.question is None or report.question.chosen else _ANSWER)


def _background(report: Report) -> Iterator[Text]:
    """What was declined, and how the runs were made."""
    yield Text()
    if report.fixes:
        for fix in report.rejected:
            yield Text(f"tried {_named(fix)}: {words.RUNS[fix.verdict.run]}", "dim")
        for note in report.notes:
            yield Text(f"declined {words.one_line(note.rule)}: {words.one_line(note.reason)}", "dim")
    yield from _fence(report)
    times = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in report.timings.items())
    ran = f"torch {words.one_line(report.torch)}, isolation {words.one_line(report.isolation)}, python "
    yield Text(f"{ran}{report.target.python}; {times}", "dim")


def _fence(report: Report) -> Iterator[Text]:
    """What the script tried to write and to reach, and what its fence could not keep from it."""
    for what, tried in (("write", report.wrote), ("reach", report.reached)):
        for one in tried[:_TRIED]:
            yield Text(f"tried to {what}: {words.one_line(one)}", "dim")
        if len(tried) > _TRIED:
            yield Text(f"tried to {what} {len(tried) - _TRIED} more", "dim")
    if report.isolation in words.OPEN:
        yield Text(f"isolation {report.isolation}: {words.OPEN[report.isolation]}", "dim")
