"""The fault table promises nothing that no test holds."""

from __future__ import annotations

import ast
import re
from dataclasses import fields
from pathlib import Path

import pytest

from autofix.core.config import Settings
from autofix.core.model import Outcome

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "reliability.md").read_text("utf-8")
ROWS = [line for line in PAGE.split("## Faults")[1].split("\n## ")[0].splitlines() if line.startswith("| ")][1:]
LIMITS = [line for line in PAGE.split("## Limits")[1].splitlines() if line.startswith("| ")][1:]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split("|")[1].strip()[:40])
def test_each_fault_names_a_test_that_exists(row: str) -> None:
    named = re.findall(r"`(tests/\w+\.py)::(\w+)`", row)
    assert named
    for file, name in named:
        tree = ast.parse((ROOT / file).read_bytes())
        assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("row", LIMITS, ids=lambda row: row.split("|")[1].strip())
def test_each_limit_has_an_option_and_an_outcome(row: str) -> None:
    *_, option, outcome, _ = (cell.strip().strip("`") for cell in row.split("|"))
    assert option.removeprefix("--").replace("-", "_") in {one.name for one in fields(Settings)}
    assert outcome in set(Outcome)
