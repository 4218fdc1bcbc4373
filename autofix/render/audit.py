"""What `audit` prints for a person, and for a program; a code host is told as of any other report."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TextIO

from rich.text import Text

from autofix.core.model import Outcome, Report
from autofix.render import machine
from autofix.render.account import Account, account
from autofix.render.snapshot import Snapshot
from autofix.render.terminal import Look, accounted, candidate, console, following, put
from autofix.render.words import clean, one_line

SCHEMA_VERSION = 1


def show(report: Report, snapshot: Snapshot, look: Look, stream: TextIO) -> None:
    """Print an audit for a person: what is wrong, who trains what, and the laws; three lines where all is well."""
    put(console(look, stream), _lines(report, snapshot, look))


def _lines(report: Report, snapshot: Snapshot, look: Look) -> Iterator[Text]:
    shown = account(report, snapshot)
    yield from accounted(Account(shown.findings) if look.quiet else shown, snapshot, whole=look.verbose)
    if look.quiet:
        return
    if report.message:
        yield Text(one_line(report.message), "yellow")
    for fix in report.fixes:
        yield Text()
        done = report.outcome is Outcome.FIXED
        yield from candidate(fix, snapshot, "Edit", conditions=())
        yield from following(fix, look, "audit", report, done=done)
    if look.verbose:
        for note in report.notes:
            yield Text(f"declined {one_line(note.rule)}: {one_line(note.reason)}", "dim")


def as_json(report: Report, snapshot: Snapshot) -> str:
    """One object, in ASCII."""
    document: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        **machine.picked(report, "outcome message"),
        "findings": [
            {"code": one.code, "name": one.name, "level": "broken" if one.sure else "noted",
             "message": clean(one.message), **machine.span(one.frame, snapshot),
             "others": machine.spans(one.others, snapshot)}
            for one in report.suspicions
        ],
        "fixes": [machine.fix(one, snapshot) for one in report.fixes],
        "applied": report.applied,
        **machine.audit(report, snapshot),
        **machine.picked(report, "conditions isolation torch"),
        "timings": {name: machine.number(seconds) for name, seconds in report.timings.items()},
    }  # fmt: skip
    return json.dumps(document, indent=2, allow_nan=False) + "\n"
