"""The fixtures: each dies as it says, its lines are named, and every family is more than top-level lines."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from autofix.core.model import Target
from autofix.diagnosis.diagnose import diagnose
from autofix.experiments.requests import plain, tracing
from autofix.experiments.run import Probe, run
from autofix.syntax.sources import Sources

if TYPE_CHECKING:
    from collections.abc import Iterator

FIXTURES = Path(__file__).parent.parent / "fixtures"
FAMILIES = sorted(path for path in FIXTURES.iterdir() if path.is_dir() and path.name != "first")
CASES = [case for family in FAMILIES for case in sorted(family.iterdir())]


def facts(case: Path) -> dict[str, Any]:
    return tomllib.loads((case / "case.toml").read_text(encoding="utf-8"))


def script(case: Path) -> Path:
    return case / "broken" / "main.py" if (case / "broken").is_dir() else case / "broken.py"


def named(case: Path) -> Iterator[tuple[Path, int]]:
    """The lines that explain a case."""
    for culprit in facts(case).get("culprit", ()):
        yield script(case).parent / culprit["file"], culprit["line"]


def kinds(case: Path) -> set[str]:
    """Where its lines stand: in a class, in a method that is called after `__init__`, in an imported module."""
    found = set()
    for file, line in named(case):
        if file != script(case):
            found.add("imported module")
        for node in ast.walk(ast.parse(file.read_bytes())):
            if isinstance(node, ast.ClassDef) and node.lineno <= line <= (node.end_lineno or 0):
                methods = (part for part in node.body if isinstance(part, ast.FunctionDef) and part.name != "__init__")
                inside = any(part.lineno <= line <= (part.end_lineno or 0) for part in methods)
                found |= {"class", "method"} if inside else {"class"}
    return found


@pytest.mark.parametrize("family", FAMILIES, ids=lambda path: path.name)
def test_a_family_has_classes_methods_and_imported_modules(family: Path) -> None:
    cases = [kinds(case) for case in sorted(family.iterdir())]
    for kind in ("class", "method", "imported module"):
        assert any(kind in found for found in cases), kind


@pytest.mark.torch
@pytest.mark.parametrize("case", CASES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_a_case_dies_of_its_cause_and_its_lines_are_named(probe: Probe, case: Path) -> None:
    known = facts(case)
    target = Target(script(case), root=script(case).parent, argv=tuple(known.get("args", ())))
    failed = run(probe, plain(target))
    assert failed.failure is not None, failed.detail
    assert known["error"] in f"{failed.failure.type}: {failed.failure.message}"
    asked = tracing(target, failed)
    found = diagnose(failed, run(probe, asked), Sources(target.script.parent))
    if "cause" not in known:
        return
    assert found is not None
    assert found.cause == known["cause"]
    lines = {(Path(culprit.frame.file), culprit.frame.line) for culprit in found.culprits}
    assert any(abs(line - other) <= 1 and file == there for file, line in named(case) for there, other in lines)
