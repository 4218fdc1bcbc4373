"""Makes the small record that the journal keeps out of a report, with the copy's paths taken out of its words."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from autofix.batch.records import Change, Entry, Fault, Replacement, Result
from autofix.core.model import Fix, Report
from autofix.render import Snapshot, as_sarif, sentence
from autofix.render.account import account, plain
from autofix.render.words import RUNS, clean, cut, effect, headline, one_line, title

_LONGEST = 2000
_MOST_LEFT = 12


def result(entry: Entry, report: Report, copy: Path) -> Result:
    """A report in short."""
    shown = Snapshot(report)
    words = Words(copy)
    facts = Result(
        entry.command, entry.key, str(report.outcome), file=_relative(report.target.script, copy),
        message=words(report.message or sentence(report)), isolation=report.isolation, torch=report.torch,
        seconds=round(report.timings.get("total", 0.0), 3), calls=report.calls, **_training(report, shown, words),
    )  # fmt: skip
    if report.diagnosis is None:
        if report.failure is None or not report.failure.stack:
            return facts
        place = shown.place(report.failure.stack[0])
        said = words(f"{place.file}:{place.line}:{place.column}: {report.message}")
        return replace(facts, message=said, line=place.line, column=place.column)
    fields: dict[str, object] = {"cause": str(report.diagnosis.cause), "headline": words(headline(report))}
    if report.diagnosis.failure.stack:
        place = shown.place(report.diagnosis.failure.stack[0])
        fields |= {"line": place.line, "column": place.column}
    fields["left"] = _left(report, words)
    if report.fixes:
        fields |= _fix(report.fixes[0], shown, copy, words)
    return replace(facts, **fields)  # type: ignore[arg-type]


def _training(report: Report, shown: Snapshot, words: Words) -> dict[str, Any]:
    """What an audit would say, and all that a code host is told."""
    found = account(report, shown)
    told = report.diagnosis is not None or bool(found.findings)
    return {
        "faults": tuple(
            Fault(
                one.code, words(one.message), one.sure, words(shown.where(one.place)),
                tuple(words(shown.where(place)) for place in one.others),
            )
            for one in found.findings
        ),
        "audit": words(plain(found)),
        "sarif": json.dumps(_findings(as_sarif(report, shown))) if told else "",
    }  # fmt: skip


class Words:
    """Cleans words, shortens them, and lets the copy's path go: it says nothing to anybody."""

    def __init__(self, copy: Path) -> None:
        self._copy = str(copy)

    def __call__(self, text: str) -> str:
        return cut(clean(text).replace(f"{self._copy}/", "").replace(self._copy, "."), _LONGEST)


def _fix(fix: Fix, shown: Snapshot, copy: Path, words: Words) -> dict[str, object]:
    verdict = fix.verdict
    return {
        "rules": fix.candidate.rules, "title": words(title(fix)), "why": words(fix.candidate.why),
        "applicability": str(verdict.applicability), "effect": str(verdict.effect), "summary": words(effect(fix)),
        "doubts": tuple(words(one_line(f"{one.property}: {one.sentence}")) for one in verdict.findings),
        "diff": shown.diff(fix),
        "changes": tuple(
            Change(
                _relative(path, copy), fix.originals[path].decode("latin-1"), data.decode("latin-1"),
                tuple(Replacement(e.start, e.end, e.text) for e in fix.candidate.edits if e.path == path),
            )
            for path, data in fix.candidate.files.items()
        ),
    }  # fmt: skip


def _left(report: Report, words: Words) -> tuple[str, ...]:
    """Why what was tried, or not tried, is no fix."""
    lines = [words(f"{note.rule}: {one_line(note.reason)}") for note in report.notes]
    lines += [words(f"{_named(fix)}: {RUNS[fix.verdict.run]}") for fix in report.rejected]
    lines += [words(f"{_named(fix)}: {fix.verdict.applicability}, {effect(fix)}") for fix in report.fixes[1:]]
    if report.diagnosis is not None and report.diagnosis.declined:
        lines.append(words(one_line(report.diagnosis.declined)))
    return tuple(dict.fromkeys(lines))[:_MOST_LEFT]


def _named(fix: Fix) -> str:
    return f"{'+'.join(fix.candidate.rules)} {title(fix)}"


def _findings(log: str) -> dict[str, object]:
    """The results of a log with one run, and the rules that they name."""
    run = json.loads(log)["runs"][0]
    return {"rules": run["tool"]["driver"]["rules"], "results": run["results"]}


def _relative(path: Path, copy: Path) -> str:
    return path.relative_to(copy).as_posix() if path.is_relative_to(copy) else str(path)
