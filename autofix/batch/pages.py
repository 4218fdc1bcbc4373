"""The report as static pages: an index with totals, and a page for each repository. Nothing is loaded from anywhere."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined

from autofix import __version__
from autofix.batch.records import Result
from autofix.batch.results import GROUPS, Shown, totals, trained
from autofix.core.model import Outcome
from autofix.render.words import CAUSES, OUTCOMES, clean, diff_lines, effect_name, masked

_ATTENTION = ("unsafe", "unfixed", "available", "fixed", "not runnable", "idle", "clean")


class _Line(NamedTuple):
    """A repository in the index."""

    name: str
    page: str
    counts: list[tuple[str, int]]
    message: str


def pages(shown: Sequence[Shown]) -> Iterator[tuple[str, str]]:
    """Each page's place below the output folder, and its text."""
    environment = Environment(
        loader=PackageLoader("autofix.batch"), autoescape=True, trim_blocks=True, lstrip_blocks=True,
        undefined=StrictUndefined,
    )  # fmt: skip
    environment.filters |= {"clean": clean, "masked": masked, "diff": diff_lines}
    style, script = (_source(environment, name) for name in ("style.css", "filter.js"))
    common: dict[str, Any] = {
        "version": __version__, "groups": GROUPS, "style": style, "script": script, "outcomes": OUTCOMES,
        "causes": CAUSES, "policy": f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}",
    }  # fmt: skip
    lines = sorted((_line(one) for one in shown), key=_urgency)
    counts = totals(shown)
    yield "index.html", environment.get_template("index.html").render(
        common, lines=lines, counts=counts, repositories=len(shown), targets=sum(counts.values()),
        trained=trained(shown),
        effects=Counter(
            effect_name(r.effect) for one in shown for r in one.results if one.group(r) in {"available", "fixed"}
        ),
        faults=Counter(fault.code for one in shown for r in one.results for fault in r.faults if fault.sure),
        reasons=Counter(_reason(one, r) for one in shown for r in one.results if one.group(r) == "not runnable"),
    )  # fmt: skip
    template = environment.get_template("repository.html")
    for one in shown:
        if one.page:
            yield (one.page, template.render(common, one=one, results=sorted(one.results, key=lambda r: _rank(one, r))))


def _source(environment: Environment, name: str) -> str:
    if environment.loader is None:
        return ""
    return environment.loader.get_source(environment, name)[0]


def _hash(text: str) -> str:
    """What lets a browser take our own style and script, and nobody else's."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _line(one: Shown) -> _Line:
    counts = Counter(one.group(result) for result in one.results)
    return _Line(one.repository.name, one.page, [(name, counts[name]) for name in GROUPS], one.problem or one.message)


def _urgency(line: _Line) -> tuple[object, ...]:
    counts = dict(line.counts)
    return (*(not counts[name] for name in _ATTENTION), line.name)


def _rank(one: Shown, result: Result) -> int:
    return _ATTENTION.index(one.group(result))


def _reason(one: Shown, result: Result) -> str:
    return OUTCOMES[Outcome(one.outcome(result))].partition(";")[0]
