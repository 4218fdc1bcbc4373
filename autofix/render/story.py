"""The lines that explain a failure, in the order in which things happened: source, a mark under it, and what it did."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from rich.text import Text

from autofix.core.model import Culprit, Report
from autofix.render import words
from autofix.render.snapshot import WIDEST, Place, Snapshot, width

_MARGIN = len("  │ ")
_NARROWEST = 20


def story(report: Report, snapshot: Snapshot, *, width: int, links: bool, asides: bool) -> Iterator[Text]:
    """The lines of a story, numbered; `width` columns, 0 for any.

    With `links`, each place also has a line `path:line:column: note …`, which editors turn into a link.
    """
    alike = groupby(words.told(report, asides=asides), lambda one: (words.role(one), one.frame.file))
    shown = [(said, [(one, snapshot.place(one.frame)) for one in several]) for (said, _), several in alike]
    stack = report.diagnosis.failure.stack if report.diagnosis is not None else ()
    before = snapshot.file(snapshot.place(stack[0])) if stack else ""
    gutter = max((len(str(snapshot.line(several[0][1]))) for _, several in shown), default=0)
    for number, (said, ((culprit, place), *others)) in enumerate(shown, start=1):
        also = f" (also at {_lines(snapshot, place, [other for _, other in others])})" if others else ""
        one = _Part(culprit, place, f"{number}. {said}{also}")
        file = snapshot.file(place)
        if links:
            yield located(snapshot, place, "note", one.said, one.color)
        elif file != before:
            yield Text(f"{' ' * (gutter + 2)}┌ {file}", "dim")
        before = file
        yield from one.marked(snapshot, gutter, width, bare=links)


@dataclass(frozen=True, slots=True)
class _Part:
    """One place of a story, and the words that stand by it."""

    culprit: Culprit
    place: Place
    said: str

    @property
    def color(self) -> str:
        return "red" if self.culprit.role == "failed" else "yellow"

    def marked(self, snapshot: Snapshot, gutter: int, columns: int, *, bare: bool) -> Iterator[Text]:
        """A line of source and the mark under it; unless `bare`, the words beside the mark, or below it if too long."""
        line, mark = snapshot.excerpt(self.place, columns - gutter - _MARGIN if columns else WIDEST)
        number, bar = f"{snapshot.line(self.place):>{gutter + 1}} │ ", f"{' ' * (gutter + 1)} │ "
        said = "" if bare else self.said
        if not line:
            yield Text(f"{bar}{self.said}", self.color)
            return
        yield verbatim().append(number, "dim").append(line)
        beside = not columns or len(bar) + width(mark) + 1 + len(said) <= columns
        marked = verbatim().append(bar, "dim").append(mark, f"bold {self.color}")
        yield marked.append(f" {said}", self.color) if said and beside else marked
        if said and not beside:
            room = max(columns - len(bar), _NARROWEST)
            indent = max(min(len(mark) - len(mark.lstrip()), room - len(said)), 0)
            for part in textwrap.wrap(said, room - indent):
                yield verbatim().append(bar, "dim").append(f"{' ' * indent}{part}", self.color)


def _lines(snapshot: Snapshot, beside: Place, others: Sequence[Place]) -> str:
    """The lines of other places in one file, with the cell of a notebook where it is not that of `beside`."""
    told = []
    for cell, places in groupby(others, snapshot.file):
        lines = [str(snapshot.line(one)) for one in places]
        where = "" if cell == snapshot.file(beside) else f" of {cell.rpartition(':')[2]}"
        told.append(f"line{'s' * (len(lines) > 1)} {', '.join(lines)}{where}")
    return " and ".join(told)


def located(snapshot: Snapshot, place: Place | None, code: str, message: str, style: str) -> Text:
    """`path:line:col: CODE message`, which editors turn into a link."""
    text = Text()
    if place is not None:
        text.append(f"{snapshot.where(place)}: ", "bold")
    if code:
        text.append(f"{code} ", "dim")
    return text.append(message, style)


def verbatim(text: str = "", style: str = "") -> Text:
    """A line that stays one line, whatever the terminal's width."""
    return Text(text, style, no_wrap=True, overflow="ignore")
