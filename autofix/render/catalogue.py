"""The rules, as a list and as pages, from their own docstrings and examples."""

from __future__ import annotations

import difflib
import json
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from autofix.search.rule import Example, Rule


def listed(rules: Iterable[Rule]) -> str:
    """One line for each rule: code, name, how far it may be trusted, what it does."""
    rows = [(rule.code, rule.name, str(rule.applicability), rule.title) for rule in rules]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1] if rows else []
    return "".join(
        "  ".join([*(cell.ljust(wide) for cell, wide in zip(row, widths, strict=False)), row[-1]]) + "\n"
        for row in rows
    )


def listed_json(rules: Iterable[Rule]) -> str:
    rows = [
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
    return json.dumps(rows, indent=2) + "\n"


def page(rule: Rule) -> str:
    """Everything about one rule, as Markdown."""
    return "\n".join(_page(rule))


def _page(rule: Rule) -> Iterator[str]:
    heading, _, body = _docstring(rule).partition("\n")
    yield f"# {rule.code} {rule.name}: {heading}\n"
    yield f"{rule.title}. At best {rule.applicability}; for {', '.join(sorted(rule.causes))}."
    yield body.rstrip()
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
