"""What an audit showed, for a person, for a program, for a code host."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from rich.text import Text

from autofix.audit import told
from autofix.core.model import Outcome
from autofix.render import github, machine, sarif
from autofix.render.story import located, verbatim
from autofix.render.terminal import candidate, console, following, put
from autofix.render.words import clean, one_line, sentence

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO

    from autofix.core.model import Report, Suspicion
    from autofix.probe import wire
    from autofix.render.snapshot import Snapshot
    from autofix.render.terminal import Look

SCHEMA_VERSION = 1
_STYLES = {"broken": "bold red", "kept": "green", "silent": "dim"}


def show(report: Report, snapshot: Snapshot, look: Look, stream: TextIO) -> None:
    """Print an audit for a person: what is wrong, who trains what, and the laws; three lines where all is well."""
    put(console(look, stream), _lines(report, snapshot, look))


def _lines(report: Report, snapshot: Snapshot, look: Look) -> Iterator[Text]:
    for one in report.suspicions:
        yield from _suspicion(one, snapshot)
    if look.quiet or report.books is None:
        return
    broken = [one for one in report.suspicions if one.sure]
    if report.suspicions or look.verbose:
        yield from _table(report.books)
    yield Text(f"{snapshot.shown(report.target.script)}: {_summary(report.books, len(broken))}", "bold")
    laws = told.laws(report.books, report.suspicions)
    line = Text("Laws: ")
    for number, (law, state) in enumerate(laws.items()):
        line.append("; " * bool(number) + f"{law}: ").append(state, _STYLES[state])
    yield line
    yield Text(_looked_at(report), "dim")
    if report.message:
        yield Text(one_line(report.message), "yellow")
    for fix in report.fixes:
        yield Text()
        done = report.outcome is Outcome.FIXED
        yield from candidate(fix, snapshot, "Edit", qualified=False)
        yield from following(fix, look, "audit", len(report.target.argv), done=done)
    if look.verbose:
        for note in report.notes:
            yield Text(f"declined {one_line(note.rule)}: {one_line(note.reason)}", "dim")


def _suspicion(one: Suspicion, snapshot: Snapshot) -> Iterator[Text]:
    style = "bold red" if one.sure else "yellow"
    word = "" if one.sure else " (often meant)"
    yield located(snapshot, snapshot.place(one.frame), one.code, f"{one_line(one.message)}{word}", style)
    for frame in one.others:
        yield located(snapshot, snapshot.place(frame), "", "belongs to it", "dim")


def _summary(books: wire.Books, broken: int) -> str:
    if not books.trainers:
        return "nothing was trained by an optimizer"
    steps, calls = sum(one.steps for one in books.trainers), sum(loss.calls for loss in books.losses)
    seen = f"{calls} backward calls of {_count(len(books.losses), 'loss', 'losses')}, {steps} steps of " + _count(
        len(books.trainers), "optimizer"
    )
    return f"{_count(broken, 'fault')} in {seen}" if broken else f"no fault seen in {seen}"


def _looked_at(report: Report) -> str:
    books = report.books
    end = "to its end" if books is not None and books.finished else "for some seconds, not to its end"
    said = f"Watched {end} ({report.timings.get('script', 0.0):.1f} s); nothing it wrote was kept."
    if books is not None and books.incomplete:
        said += f" Not everything could be seen: {one_line(books.incomplete)}."
    return said


def _table(books: wire.Books) -> Iterator[Text]:
    rows: list[tuple[str, ...]] = [("network", "tensors", "trained by", "losses at", "gradient", "remarks")]
    rows += [_row(network, books) for network in books.networks]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for number, row in enumerate(rows):
        text = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        yield verbatim(f"  {text}", "bold" if not number else "")


def _row(network: wire.Network, books: wire.Books) -> tuple[str, ...]:
    owner = books.trainers[network.optimizer] if 0 <= network.optimizer < len(books.trainers) else None
    by = (
        f"{owner.kind}, line {owner.made[0].line}, {owner.steps} steps"
        if owner is not None and owner.made
        else "nobody"
    )
    places = [books.losses[n].stack for n in network.losses]
    lines = sorted({stack[0].line for stack in places if stack})
    remarks = []
    if network.frozen:
        remarks.append(f"{network.frozen} frozen")
    if network.unreached and network.unreached < network.tensors:
        remarks.append(f"{network.unreached} never reached")
    elif network.unreached:
        remarks.append("never reached")
    if network.training == "eval":
        remarks.append("eval mode")
    if network.written:
        remarks.append(f"written at line {network.written[0].line}")
    gradient = f"{network.gradient:.3g}" if network.gradient else "-"
    return (
        clean(network.name), str(network.tensors), by, ", ".join(map(str, lines)) or "-", gradient, ", ".join(remarks),
    )  # fmt: skip


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def as_json(report: Report, snapshot: Snapshot) -> str:
    """One object, in ASCII."""
    books = report.books
    document = {
        "schema_version": SCHEMA_VERSION,
        "outcome": str(report.outcome),
        "message": clean(report.message),
        "findings": [
            {"code": one.code, "name": one.name, "level": "broken" if one.sure else "noted",
             "message": clean(one.message), **machine.span(one.frame, snapshot),
             "others": [machine.span(frame, snapshot) for frame in one.others]}
            for one in report.suspicions
        ],
        "fixes": [machine.fix(one, snapshot) for one in report.fixes],
        "applied": report.applied,
        "laws": told.laws(books, report.suspicions),
        "finished": books is not None and books.finished,
        "incomplete": clean(books.incomplete) if books is not None else "",
        "losses": [
            {**machine.at(loss.stack, snapshot), "calls": loss.calls,
             "first": machine.number(loss.first), "last": machine.number(loss.last)}
            for loss in (books.losses if books is not None else ())
        ],
        "optimizers": [
            {**machine.at(one.made, snapshot), "kind": clean(one.kind), "steps": one.steps,
             "without_gradient": one.empty, "tensors": one.tensors}
            for one in (books.trainers if books is not None else ())
        ],
        "networks": [
            {"name": clean(one.name), "optimizer": one.optimizer, "losses": list(one.losses), "tensors": one.tensors,
             "numbers": one.numbers, "gradient": machine.number(one.gradient), "unreached": one.unreached,
             "frozen": one.frozen, "mode": one.training}
            for one in (books.networks if books is not None else ())
        ],
        "conditions": [clean(condition) for condition in report.conditions],
        "isolation": clean(report.isolation),
        "torch": clean(report.torch),
        "timings": {name: machine.number(seconds) for name, seconds in report.timings.items()},
    }  # fmt: skip
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def as_sarif(report: Report, snapshot: Snapshot) -> str:
    """A log with one run."""
    known = {one.code: one for one in told.known()}
    codes = list(dict.fromkeys(one.code for one in report.suspicions))
    rules = [{"id": code, "name": known[code].name} for code in codes]
    results = [
        {
            "ruleId": one.code, "ruleIndex": codes.index(one.code), "level": "warning" if one.sure else "note",
            "message": {"text": one_line(one.message)},
            "locations": [sarif.shown(one.frame, snapshot)],
            "relatedLocations": [
                {"id": number} | sarif.shown(frame, snapshot)
                for number, frame in enumerate(one.others, 1)
            ],
        }
        for one in report.suspicions
    ]  # fmt: skip
    invocation: dict[str, Any] = {"executionSuccessful": report.books is not None}
    if report.books is None:
        invocation["toolExecutionNotifications"] = [{"level": "error", "message": {"text": sentence(report)}}]
    return sarif.log([sarif.run(rules, results, sarif.uri(snapshot.root), invocations=[invocation])])


def as_github(report: Report, snapshot: Snapshot) -> str:
    """A warning for each fault, a notice for what is often meant."""
    return "".join(
        github.command(
            "warning" if one.sure else "notice", snapshot.in_file(snapshot.place(one.frame)), f"autofix {one.code}",
            one_line(one.message), snapshot.root,
        )
        for one in report.suspicions
    )  # fmt: skip
