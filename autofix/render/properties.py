"""The page of the properties that make an edit unsafe, from their own docstrings and examples."""

from __future__ import annotations

import difflib
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from autofix.verdict.property import Example, Property

_HEAD = """\
# What makes an edit unsafe

An edit that runs past the failure and keeps the gradients is safe only if it has none of these properties. `former` is
the name of the version before, which the JSON output still tells.

| property | former | what it is |
|---|---|---|"""


def page(properties: Iterable[Property]) -> str:
    """All properties, as one page of Markdown."""
    properties = list(properties)
    rows = [f"| [{one.name}](#{one.name}) | {one.former or '–'} | {_docstring(one)[0]} |" for one in properties]
    return "\n".join([_HEAD, *rows, *(line for one in properties for line in _section(one))]) + "\n"


def _section(one: Property) -> Iterator[str]:
    title, body = _docstring(one)
    yield f"\n## {one.name}\n\n**{title}.**\n"
    yield body.strip().replace("## ", "### ")
    for verb, examples in (("It speaks", one.raises[:1]), ("It is silent", one.silent[:1])):
        for example in examples:
            yield f"\n{verb}:\n\n" + _example(example)


def _example(example: Example) -> str:
    before, after = example.script.strip("\n").splitlines(), example.edited.strip("\n").splitlines()
    changed = difflib.unified_diff(before, after, lineterm="", n=len(before) + len(after))
    return "\n".join(["```diff", *list(changed)[3:], "```"])


def _docstring(one: Property) -> tuple[str, str]:
    title, _, body = (sys.modules[type(one).__module__].__doc__ or one.name).strip().partition("\n")
    return title, body
