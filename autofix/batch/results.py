"""Renders the journal for programs: summary.json, results.sarif and junit.xml."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree as ET

from autofix import __version__
from autofix.batch.records import Repository, Result
from autofix.core.model import Applicability, Outcome
from autofix.render.sarif import log
from autofix.render.sarif import run as run_of
from autofix.render.words import OUTCOMES, clean, valid

SCHEMA_VERSION = 1
GROUPS = ("fixed", "available", "unsafe", "unfixed", "clean", "idle", "not runnable")
FAILING = frozenset((Outcome.AVAILABLE, Outcome.UNFIXED))
"""Outcomes of a target that fails in autograd and still does."""
SETTLED = frozenset((Outcome.FIXED, Outcome.CLEAN))
RAN = SETTLED | {Outcome.NO_FAILURE_WITHIN_LIMIT}
"""Outcomes of a target that ran: to its end, or for as long as it was watched."""
RETRIED = tuple(str(o) for o in Outcome if o not in FAILING | SETTLED and o is not Outcome.OTHER_FAILURE)
"""Outcomes that another run may change: limits, crashes, missing environments."""


@dataclass(frozen=True, slots=True)
class Shown:
    """One repository as results tell of it. `patch` is the file that holds its fixes, below the output folder."""

    repository: Repository
    revision: str
    message: str
    problem: str
    results: tuple[Result, ...]
    patch: str = ""
    patched: frozenset[str] = frozenset()
    apart: dict[str, str] = field(default_factory=dict)
    branch: str = ""
    written: bool = False
    page: str = ""

    def outcome(self, result: Result) -> Outcome:
        """A target's outcome, now that fixes may have been written."""
        return Outcome.FIXED if self.written and result.command in self.patched else Outcome(result.outcome)

    def group(self, result: Result) -> str:
        """Where a target is counted: one of GROUPS."""
        return group(result, self.outcome(result))


def group(result: Result, outcome: Outcome) -> str:
    """The word that a person counts a target under: what ran to its end without a backward call was idle."""
    if outcome is Outcome.AVAILABLE:
        return "available" if result.applicability == Applicability.SAFE else "unsafe"
    if outcome is Outcome.CLEAN and not result.calls:
        return "idle"
    named = {Outcome.FIXED: "fixed", Outcome.UNFIXED: "unfixed"} | dict.fromkeys(RAN - {Outcome.FIXED}, "clean")
    return named.get(outcome, "not runnable")


def nothing_ran(shown: Sequence[Shown]) -> str:
    """Why none of what there was to run could be started; empty where something ran, or nothing was there."""
    reasons = [one.problem for one in shown if one.problem]
    for result in (result for one in shown for result in one.results):
        if result.outcome != Outcome.CANNOT_RUN:
            return ""
        reasons.append(result.message)
    return reasons[0] if reasons else ""


def counted(counts: Counter[str]) -> str:
    """The counts in words."""
    return ", ".join(f"{counts[name]} {name}" for name in GROUPS)


def trained(shown: Iterable[Shown]) -> int:
    """How many targets came to a backward call, or died on the way to it of what autograd refuses."""
    return sum(bool(result.calls or result.cause) for one in shown for result in one.results)


def totals(shown: Iterable[Shown]) -> Counter[str]:
    """How many targets are in each group."""
    return Counter(one.group(result) for one in shown for result in one.results)


def summary(shown: Sequence[Shown]) -> str:
    """Everything that a program may want to know, as one object."""
    document = {
        "schema_version": SCHEMA_VERSION,
        "autofix": __version__,
        "totals": {
            "repositories": len(shown),
            "targets": sum(len(one.results) for one in shown),
            "trained": trained(shown),
            **totals(shown),
        },
        "repositories": [_repository(one) for one in shown],
    }
    return json.dumps(document, indent=1) + "\n"


def _repository(one: Shown) -> dict[str, Any]:
    return {
        "path": valid(one.repository.name),
        "revision": one.revision,
        "message": valid(one.problem or one.message),
        "patch": one.patch or None,
        "branch": one.branch or None,
        "targets": [
            {
                "file": valid(result.file),
                "command": valid(result.command),
                "ran": valid(result.typed),
                "tried": [valid(line) for line in result.tried],
                "backward_calls": result.calls,
                "outcome": str(one.outcome(result)),
                "applicability": result.applicability or None,
                "effect": result.effect or None,
                "patch": one.patch if result.command in one.patched else None,
                "cause": result.cause or None,
                "rules": list(result.rules),
                "title": result.title,
                "message": one.apart.get(result.command) or result.message,
                "faults": [asdict(fault) for fault in result.faults],
                "isolation": result.isolation,
                "torch": result.torch,
                "seconds": result.seconds,
            }
            for result in one.results
        ],
    }


def sarif(shown: Iterable[Shown]) -> str:
    """A log with one run for each repository in which something fails."""
    return log([run for one in shown if (run := _run(one)) is not None] or [run_of([], [])], indent=1)


def _run(one: Shown) -> dict[str, Any] | None:
    rules: dict[str, dict[str, Any]] = {}
    results: list[dict[str, Any]] = []
    for result in one.results:
        if not result.sarif or one.outcome(result) is Outcome.FIXED:
            continue
        found = json.loads(result.sarif)
        rules |= {rule["id"]: rule for rule in found["rules"]}
        results += found["results"]
    if not results:
        return None
    places = {name: place for place, name in enumerate(rules)}
    root = one.repository.source if one.repository.remote else Path(one.repository.source).as_uri()
    told = [result | {"ruleIndex": places[result["ruleId"]]} for result in results]
    named = {"id": f"autofix/{quote(valid(one.repository.name))}/"}
    return run_of([*rules.values()], told, root, automationDetails=named)


def junit(shown: Iterable[Shown]) -> bytes:
    """One suite for each repository, one case for each target."""
    top = ET.Element("testsuites", name="autofix")
    for one in shown:
        outcomes = [one.outcome(result) for result in one.results]
        failed = sum(outcome in FAILING for outcome in outcomes)
        broken = sum(outcome not in FAILING | RAN for outcome in outcomes)
        suite = ET.SubElement(
            top, "testsuite", name=_xml(one.repository.name), tests=str(len(outcomes) or bool(one.problem)),
            failures=str(failed), errors=str(broken + bool(one.problem)),
            time=f"{sum(result.seconds for result in one.results):.3f}",
        )  # fmt: skip
        if one.problem:
            case = ET.SubElement(suite, "testcase", classname=_xml(one.repository.name), name="repository")
            ET.SubElement(case, "error", message=_xml(one.problem))
        for result, outcome in zip(one.results, outcomes, strict=True):
            _case(suite, one.repository.name, result, outcome)
    ET.indent(top)
    told: bytes = ET.tostring(top, "utf-8", xml_declaration=True)
    return told + b"\n"


def _case(suite: ET.Element, name: str, result: Result, outcome: Outcome) -> None:
    case = ET.SubElement(
        suite, "testcase", classname=_xml(name), name=_xml(result.command), time=f"{result.seconds:.3f}"
    )
    if outcome in RAN:
        return
    kind = "failure" if outcome in FAILING else "error"
    said = result.headline if outcome in FAILING else result.message or OUTCOMES[outcome]
    inner = ET.SubElement(case, kind, type=str(outcome), message=_xml(said))
    lines = [f"{result.title} ({result.applicability}; {result.summary})", result.diff] if result.title else result.left
    inner.text = _xml("\n".join(lines))


def _xml(words: str) -> str:
    """Text without what XML has no way to say."""
    allowed = clean(valid(words))
    return "".join(c for c in allowed if c not in "\ufffe\uffff")
