"""Puts the page together, and writes it where that harms nothing."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import re
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from autofix import __version__
from autofix.core.model import Fix, Report
from autofix.core.write import put
from autofix.experiments.pictures import Pictures
from autofix.render import words
from autofix.render.account import account
from autofix.render.report import layout, plots
from autofix.render.report.code import Code
from autofix.render.report.drawing import Drawing, drawing
from autofix.render.snapshot import Snapshot

_MARK = '<meta name="generator" content="autofix'
_HEAD = 2000
_NAME = re.compile("`([^`]+)`")
_BETWEEN = 90
"""Pixels that stand beside and between two drawings."""
_WHOLE = 1344
"""Pixels that the page is wide at most: two drawings that need more stand one below the other."""
_LEGEND = {
    "op": "an operation", "leaf": "a leaf: a parameter or an input", "loss": "a backward call, where it starts",
    "freed": "freed before a later call needs it", "spoiled": "what it saved was written since",
    "write": "a write in place", "cut": "where the graph ends", "failed": "where it fails",
}  # fmt: skip


class PageError(Exception):
    """The page cannot be written there; the message is one line and says what to do."""


def check(path: Path) -> None:
    """Raise PageError or LayoutMissingError before any work is done, where a page could not be written to `path`."""
    layout.check()
    if path.suffix.lower() not in {".html", ".htm"}:
        raise PageError(f"--report {path}: the page is HTML; give a name that ends in .html")
    if not path.parent.is_dir():
        raise PageError(f"--report {path}: there is no folder {path.parent}; make it first")
    if path.is_dir():
        raise PageError(f"--report {path}: this is a folder; name a file in it")
    with contextlib.suppress(FileNotFoundError):
        try:
            head = path.read_bytes()[:_HEAD].decode("utf-8", "replace")
        except FileNotFoundError:
            raise
        except OSError as error:
            raise PageError(f"--report {path}: {error.strerror}") from None
        if head and _MARK not in head:
            raise PageError(f"--report {path}: this file is not a report of autofix; give another name, or remove it")


def save(path: Path, page: str) -> None:
    """Write a page in place of an older one, whole or not at all; raises PageError where that cannot be."""
    try:
        put(path, page.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise PageError(f"--report {path}: {error.strerror}") from None


def _named(text: str) -> Markup:
    """A sentence in which what stands between backticks is code."""
    return Markup(_NAME.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704  escaped


def as_html(report: Report, snapshot: Snapshot, pictures: Pictures) -> str:
    """The whole page. Everything that comes from the script is text in it, never markup."""
    environment = Environment(
        loader=PackageLoader("autofix.render.report"), autoescape=True, trim_blocks=True, lstrip_blocks=True,
        undefined=StrictUndefined,
    )  # fmt: skip
    environment.filters |= {"line": words.one_line, "named": _named}
    environment.globals.update(boxes=(layout.WIDTH, layout.HEIGHT), plot=(plots.WIDTH, plots.HEIGHT))
    style = environment.loader.get_source(environment, "style.css")[0] if environment.loader is not None else ""
    before, after = (_drawn(report, snapshot, pictures, fixed=fixed) for fixed in (False, True))
    style += _least_widths({"before": before, "after": after})
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    judged = report.outcome in words.JUDGED
    looked = account(report, snapshot)
    best = words.best(report) or (next(iter(report.rejected), None) if judged else None)
    return environment.get_template("page.html").render(
        version=__version__, style=style, policy=f"default-src 'none'; style-src 'sha256-{digest}'",
        report=report, conditioned=words.conditioned(report.conditions), outcome=words.judged(report),
        name=_name(report, snapshot),
        headline=words.headline(report), cause=words.CAUSES[report.diagnosis.cause] if report.diagnosis else "",
        lines=_lines(report, snapshot), before=before, after=after, legend=_LEGEND,
        hints=[(snapshot.where(snapshot.place(hint.frame)), words.one_line(hint.sentence)) for hint in report.hints],
        fix=_fix(best, snapshot) if best is not None else None, judged=judged, question=_question(report, snapshot),
        others=[_fix(fix, snapshot) for fix in report.fixes if fix is not best],
        rejected=[_rejected(fix, snapshot) for fix in report.rejected if fix is not best],
        curves=plots.curves(best.verdict) if best is not None else [], shown=plots.SHOWN,
        fresher=best is not None and best.verdict.effect.refreshes,
        open_fence=words.OPEN.get(report.isolation, ""), audit=looked,
        found=[
            (one, snapshot.where(one.place), list(map(snapshot.where, one.others)), snapshot.excerpt(one.place)[0])
            for one in looked.findings
        ],
    )  # fmt: skip


def _least_widths(drawings: dict[str, Drawing | None]) -> str:
    """Rules by which a drawing scrolls rather than become too small to read, and two stand side by side."""
    drawn = ((name, drawing) for name, drawing in drawings.items() if drawing is not None)
    sizes = {name: drawing.width for name, drawing in drawn}
    least = "".join(f"#{name} .scroll svg {{ min-width: {width:.0f}px; }}\n" for name, width in sizes.items())
    together = sum(sizes.values()) + _BETWEEN
    if together > _WHOLE:
        return least
    columns = " ".join(f"{width:.0f}fr" for width in sizes.values())
    return f"{least}@media (min-width: {together:.0f}px) {{ .pair {{ grid-template-columns: {columns}; }} }}\n"


def _name(report: Report, snapshot: Snapshot) -> str:
    return words.one_line(report.target.module or snapshot.shown(report.target.script))


def _drawn(report: Report, snapshot: Snapshot, pictures: Pictures, *, fixed: bool) -> Drawing | None:
    graph = pictures.after if fixed else pictures.before
    if graph is None or not graph.nodes:
        return None
    focus = pictures.focus if fixed else frozenset()
    return drawing(graph, Code(snapshot, report.target.script, pictures.files if fixed else None), focus)


def _lines(report: Report, snapshot: Snapshot) -> list[dict[str, Any]]:
    """The lines of code that explain the failure, with the part that each played."""
    found = []
    for culprit in words.told(report):
        place = snapshot.place(culprit.frame)
        text, marks = snapshot.excerpt(place)
        start = len(marks) - len(marks.lstrip())
        found.append(
            {
                "role": words.role(culprit), "where": snapshot.where(place), "before": text[:start],
                "marked": text[start : len(marks)], "after": text[len(marks) :], "failed": culprit.role == "failed",
            }
        )  # fmt: skip
    return found


def _question(report: Report, snapshot: Snapshot) -> dict[str, Any] | None:
    """What the code leaves open, what each answer trains, and the edit that follows it; or how it was answered."""
    asked = report.question
    if asked is None:
        return None
    return {
        "text": words.one_line(asked.text), "chosen": asked.chosen, "outdated": words.one_line(asked.outdated),
        "where": snapshot.where(snapshot.place(asked.place[0])) if asked.place else "",
        "answers": [
            (one.name, words.one_line(one.clause), words.followed(report, one)) for one in asked.answers
        ],
    }  # fmt: skip


def _fix(fix: Fix, snapshot: Snapshot) -> dict[str, Any]:
    return {
        "rules": fix.candidate.codes, "title": words.title(fix), "trust": str(fix.verdict.applicability),
        "trusted": words.trust(fix),
        "warning": words.warning(fix), "effect": words.effect(fix, listed=True),
        "why": words.one_line(fix.candidate.why),
        "guards": snapshot.reasons(fix),
        "later": snapshot.later(fix), "diff": words.diff_lines(snapshot.people(fix)),
    }  # fmt: skip


def _rejected(fix: Fix, snapshot: Snapshot) -> dict[str, Any]:
    """An edit that did not get past the failure: what was seen of it in one line, and its diff."""
    said = f"{'+'.join(fix.candidate.rules)} {words.title(fix)}: {words.RUNS[fix.verdict.run]}".strip()
    said = f"{said}: {words.shortened(fix.verdict.summary)}" if fix.verdict.summary else said
    return {"said": said, "diff": words.diff_lines(snapshot.people(fix))}
