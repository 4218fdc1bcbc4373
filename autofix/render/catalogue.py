"""The rules, finders, faults and properties, as lists and as pages, from their own docstrings and examples."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from autofix.audit.fault import Fault
from autofix.check.finder import Finder
from autofix.core.kinds import described
from autofix.core.model import Applicability, Cause
from autofix.render.words import CAUSES, aligned, kind
from autofix.search import registry
from autofix.search.rule import Example, Rule
from autofix.verdict.property import Property, properties


def listed(rules: Iterable[Rule], finders: Iterable[Finder]) -> str:
    """One line for each: code, name, how far an edit may be trusted, and what it does; of finders, what they find."""
    rows = [(rule.code, rule.name, str(rule.applicability), rule.title) for rule in rules]
    rows += [(finder.code, finder.name, "no edit", finder.title) for finder in finders]
    return "".join(f"{line}\n" for line in aligned(rows))


def listed_json(rules: Iterable[Rule], finders: Iterable[Finder]) -> str:
    """The same as a list of objects; what is only found has no `applicability` and no causes."""
    patterns: list[Rule | Finder] = [*rules, *finders]
    rows = [
        {
            "code": one.code, "name": one.name, "title": one.title,
            "causes": sorted(one.causes) if isinstance(one, Rule) else [],
            "applicability": str(one.applicability) if isinstance(one, Rule) else None,
            "explanation": described(one),
        }
        for one in patterns
    ]  # fmt: skip
    return json.dumps(rows, indent=2) + "\n"


def everything() -> Iterator[tuple[str, str, str, Callable[[], str]]]:
    """All that has a page: its code, where it has one, its name, its title, and what makes the page."""
    for one in registry.everything():
        yield one.code, one.name, one.title, partial(page, one)
    for doubt in properties():
        title = described(doubt).partition("\n")[0]
        yield "", doubt.name, f"Unsafe: {title[0].lower()}{title[1:]}", partial(section, doubt)
    for cause in list(CAUSES)[:-1]:
        yield "", kind(cause), f"Failure: {CAUSES[cause]}", partial(_failure, cause)


def names() -> str:
    """One line for each page."""
    return "".join(f"{line}\n" for line in aligned([(code or "-", *said) for code, *said, _ in everything()]))


def explained(word: str) -> str:
    """The page that has this code or name; ValueError where nothing is called so."""
    for code, name, _, text in everything():
        if word.upper() == code or word.lower() == name:
            return text()
    raise ValueError(f"nothing is called {word}; `autofix explain` lists every code and name")


def page(pattern: Rule | Finder | Fault) -> str:
    """Everything about a rule, a finder or a fault, as Markdown."""
    heading, _, body = described(pattern).partition("\n")
    lines = [f"# {pattern.code} {pattern.name}: {heading}\n", f"{pattern.title}. {_found(pattern)}\n", body.strip()]
    match pattern:
        case Rule():
            lines += _of_rule(pattern)
        case Fault():
            lines += _of_fault(pattern)
        case _:
            lines += _scripts("Found", pattern.finds)
            lines += _scripts("Not found", pattern.passes)
    return "\n".join(lines) + "\n"


def section(one: Property) -> str:
    """Everything about a property, as Markdown: a section of the page about all."""
    title, _, body = described(one).partition("\n")
    parts = [f"## {one.name}\n\n**{title}.**\n", body.strip().replace("## ", "### ")]
    for verb, examples in (("Unsafe for this reason", one.raises[:1]), ("Not for this reason", one.silent[:1])):
        parts += [f"\n{verb}:\n\n{_diff(example.script, example.edited)}" for example in examples]
    return "\n".join(parts) + "\n"


def _failure(cause: Cause) -> str:
    rules = "".join(f"- {rule.code} {rule.name}: {rule.title}\n" for rule in registry.rules() if cause in rule.causes)
    return f"# {kind(cause)}: {CAUSES[cause]}\n\nA kind of failure. Rules that repair it:\n\n{rules or 'none'}\n"


def _found(pattern: Rule | Finder | Fault) -> str:
    """How a pattern is found, and what its edits are worth."""
    if isinstance(pattern, Fault):
        return "Found by `autofix audit`, in a run."
    if not isinstance(pattern, Rule):
        return "Found by `autofix check`, without a run."
    trust = "Safe where a run proves it" if pattern.applicability is Applicability.SAFE else "Never safe by itself"
    causes = (f"- {CAUSES[cause]}" for cause in sorted(pattern.causes))
    return "\n".join([f"{trust}. For scripts that die because:\n", *causes])


def _of_rule(rule: Rule) -> Iterator[str]:
    for number, example in enumerate(rule.examples, start=1):
        yield f"\n## Example {number}\n"
        for note in example.notes:
            yield f"{note[0].upper()}{note[1:]}.\n"
        if example.after is None:
            yield f"Declined:\n\n{_fenced('python', example.before)}"
        else:
            yield _diff(example.before, example.after)


def _of_fault(fault: Fault) -> Iterator[str]:
    for text in fault.finds:
        example = Example(text)
        if example.after is None:
            yield from _scripts("Found", [text])
        else:
            # The other lines move to stand below those that change.
            lines = (line if line.startswith(("-", "+")) else f" {line}".rstrip() for line in text.splitlines())
            yield f"\n## Found and mended\n\n{_fenced('diff', chr(10).join(lines))}"
    yield from _scripts("Not found", fault.passes)
    yield f"\n## Saying no\n\n`# autofix: {fault.code} meant` at the end of one of its lines silences it there."


def _scripts(name: str, examples: Iterable[str]) -> Iterator[str]:
    return (f"\n## {name}\n\n{_fenced('python', example)}" for example in examples)


def _diff(before: str, after: str) -> str:
    """Two scripts as one diff that leaves no line out."""
    old, new = before.strip("\n").splitlines(), after.strip("\n").splitlines()
    changed = difflib.unified_diff(old, new, lineterm="", n=len(old) + len(new))
    return _fenced("diff", "\n".join([*changed][3:]))


def _fenced(kind: str, text: str) -> str:
    return "\n".join([f"```{kind}", text.strip("\n"), "```"])
