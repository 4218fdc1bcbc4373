"""The rules, as a list and as pages, from their own docstrings and examples."""

from __future__ import annotations

import difflib
import json
import sys
from typing import TYPE_CHECKING

from autofix.audit.fault import faults
from autofix.core.model import Applicability
from autofix.render import findings
from autofix.render.words import CAUSES
from autofix.search import registry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from autofix.check.finder import Finder
    from autofix.search.rule import Example, Rule


def listed(rules: Iterable[Rule], finders: Iterable[Finder]) -> str:
    """One line for each: code, name, how far an edit may be trusted, and what it does; of finders, what they find."""
    rows = [(rule.code, rule.name, str(rule.applicability), rule.title) for rule in rules]
    rows += [(finder.code, finder.name, "no edit", finder.title) for finder in finders]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1] if rows else []
    return "".join(
        "  ".join([*(cell.ljust(wide) for cell, wide in zip(row, widths, strict=False)), row[-1]]) + "\n"
        for row in rows
    )


def listed_json(rules: Iterable[Rule], finders: Iterable[Finder]) -> str:
    """The same as a list of objects; what is only found has no `applicability` and no causes."""
    rows: list[dict[str, object]] = [
        {
            "code": rule.code,
            "name": rule.name,
            "title": rule.title,
            "causes": sorted(rule.causes),
            "applicability": str(rule.applicability),
            "explanation": _docstring(rule),
        }
        for rule in rules
    ]
    rows += [
        {
            "code": finder.code,
            "name": finder.name,
            "title": finder.title,
            "causes": [],
            "applicability": None,
            "explanation": findings.docstring(finder),
        }
        for finder in finders
    ]
    return json.dumps(rows, indent=2) + "\n"


def explained(code: str) -> str:
    """The page about a rule or a finder, by code or name; ValueError where nothing is called so."""
    for rule in registry.rules():
        if code.upper() == rule.code or code.lower() == rule.name:
            return page(rule)
    for finder in registry.found_only():
        if code.upper() == finder.code or code.lower() == finder.name:
            return findings.page(finder)
    for fault in faults():
        if code.upper() == fault.code or code.lower() == fault.name:
            return findings.fault_page(fault)
    raise ValueError(f"nothing is called {code}; `autofix rules` lists every code and name")


def page(rule: Rule) -> str:
    """Everything about one rule, as Markdown."""
    return "\n".join(_page(rule))


def _page(rule: Rule) -> Iterator[str]:
    heading, _, body = _docstring(rule).partition("\n")
    yield f"# {rule.code} {rule.name}: {heading}\n"
    trust = "Safe where a run proves it" if rule.applicability is Applicability.SAFE else "Never safe"
    yield f"{rule.title}. {trust}. For scripts that die because:\n"
    yield "\n".join(f"- {CAUSES[cause]}" for cause in sorted(rule.causes))
    yield ""
    yield body.strip()
    for number, example in enumerate(rule.examples, start=1):
        yield f"\n## Example {number}\n"
        for note in example.notes:
            yield f"{note[0].upper()}{note[1:]}.\n"
        yield from _example(example)
    yield ""


def _example(example: Example) -> Iterator[str]:
    before = example.before.strip("\n").splitlines()
    if example.after is None:
        yield "Declined:\n"
        yield "\n".join(["```python", *before, "```"])
        return
    after = example.after.strip("\n").splitlines()
    changed = difflib.unified_diff(before, after, lineterm="", n=len(before) + len(after))
    yield "\n".join(["```diff", *list(changed)[3:], "```"])


def _docstring(rule: Rule) -> str:
    return (sys.modules[type(rule).__module__].__doc__ or rule.title).strip()
