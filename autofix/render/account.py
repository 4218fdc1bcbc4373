"""What an audited run showed, in words: its findings, who trains what, and the laws. Every output shows this record."""

from __future__ import annotations

from dataclasses import dataclass

from autofix.audit import told
from autofix.core.model import Report, Suspicion
from autofix.probe import wire
from autofix.render.snapshot import Place, Snapshot
from autofix.render.words import aligned, clean, one_line

_STATES = {"silent": "not judged"}
_COLUMNS = ("network", "tensors", "trained by", "losses at", "gradient", "remarks")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was found: its words, where it is, and the further lines that belong to it."""

    code: str
    message: str
    sure: bool
    place: Place
    others: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Account:
    """What a run showed of its training; without `table` it was not looked at as a whole.

    The first row of `table` names its columns. `laws` says of each whether it is broken, kept, or not judged.
    """

    findings: tuple[Finding, ...]
    table: tuple[tuple[str, ...], ...] = ()
    laws: tuple[tuple[str, str], ...] = ()
    summary: str = ""
    watched: str = ""


def account(report: Report, snapshot: Snapshot) -> Account:
    """The account of a report; of one that has no books the findings alone."""
    findings = tuple(_finding(one, snapshot) for one in report.suspicions)
    books = report.books
    if books is None:
        return Account(findings)
    summary = _summary(books, sum(one.sure for one in findings))
    return Account(
        findings, (_COLUMNS, *(_row(network, books) for network in books.networks)),
        tuple((law, _STATES.get(state, state)) for law, state in told.laws(books, report.suspicions).items()),
        f"{snapshot.shown(report.target.script)}: {summary}", _watched(books, report.timings.get("script", 0.0)),
    )  # fmt: skip


def _finding(one: Suspicion, snapshot: Snapshot) -> Finding:
    words = one_line(one.message) if one.sure else f"{one_line(one.message)} (often meant)"
    return Finding(one.code, words, one.sure, snapshot.place(one.frame), tuple(map(snapshot.place, one.others)))


def plain(shown: Account) -> str:
    """All but the findings as lines of text, for outputs that show text alone; '' where nothing was looked at."""
    laws = "; ".join(f"{law}: {state}" for law, state in shown.laws)
    return "\n".join([*aligned(shown.table), shown.summary, f"Laws: {laws}", shown.watched]) if shown.table else ""


def _summary(books: wire.Books, broken: int) -> str:
    if not books.trainers:
        return "nothing was trained by an optimizer"
    steps, calls = sum(one.steps for one in books.trainers), sum(loss.calls for loss in books.losses)
    seen = f"{calls} backward calls of {_count(len(books.losses), 'loss', 'losses')}, {steps} steps of " + _count(
        len(books.trainers), "optimizer"
    )
    return f"{_count(broken, 'fault')} in {seen}" if broken else f"no fault seen in {seen}"


def _watched(books: wire.Books, seconds: float) -> str:
    end = "to its end" if books.finished else "for some seconds, not to its end"
    said = f"Watched {end} ({seconds:.1f} s); nothing it wrote was kept."
    return f"{said} Not everything could be seen: {one_line(books.incomplete)}." if books.incomplete else said


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
