"""Each property speaks on the edits that have it, and is silent on those that are easily mistaken for them."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest
from scripts import Scripts

from autofix.core.model import Applicability, Verdict
from autofix.verdict.property import Example, properties

# What a machine without an accelerator, or a compiler, cannot show; their tests are in test_conditions and
# test_frameworks.
ELSEWHERE = {"depends-on-stand-in", "fails-when-compiled"}
PROPERTIES = {one.name: one for one in properties()}
RAISING = [
    pytest.param(name, at, marks=[pytest.mark.apart("long")] if at else [])
    for name, one in PROPERTIES.items()
    for at in range(len(one.raises))
]
SILENT = [
    pytest.param(name, at, marks=[pytest.mark.apart("long")] if at or number % 6 else [])
    for number, (name, one) in enumerate(PROPERTIES.items())
    for at in range(len(one.silent))
]


def judged(script: Scripts, example: Example) -> Verdict:
    """What is said of the edit of an example."""
    return script(example.script).verdict((example.script, example.edited))


@pytest.mark.torch
@pytest.mark.parametrize(("name", "at"), RAISING)
def test_a_property_is_found_where_it_holds(script: Scripts, name: str, at: int) -> None:
    verdict = judged(script, PROPERTIES[name].raises[at])
    assert name in [one.property for one in verdict.findings]
    assert verdict.applicability is Applicability.UNSAFE


@pytest.mark.torch
@pytest.mark.parametrize(("name", "at"), SILENT)
def test_a_property_is_silent_where_it_is_easily_mistaken(script: Scripts, name: str, at: int) -> None:
    verdict = judged(script, PROPERTIES[name].silent[at])
    assert name not in [one.property for one in verdict.findings]


@pytest.mark.parametrize("name", PROPERTIES)
def test_a_property_has_at_least_as_many_silent_examples(name: str) -> None:
    one = PROPERTIES[name]
    assert name in ELSEWHERE or 1 <= len(one.raises) <= len(one.silent)


@pytest.mark.parametrize("name", PROPERTIES)
def test_a_property_never_asks_for_the_cause(name: str) -> None:
    text = Path(inspect.getfile(type(PROPERTIES[name]))).read_text("utf-8")
    read = {node.attr for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Attribute)}
    assert not {"cause", "diagnosis"} & read
    assert "Cause" not in text
