"""The scripts after public threads in `benchmarks/threads`: that each is complete, and what its files say. No torch."""

import ast
import json
from pathlib import Path

import pytest
from sampled import one_in

THREADS = Path(__file__).resolve().parent.parent / "benchmarks/threads"
CASES = sorted(path.parent for path in THREADS.glob("*/meta.json"))
READINGS = {
    "letter", "cut-stored", "cut-used", "anew", "old-value", "no-grad-here", "separated", "question"
}  # fmt: skip
KEYS = {
    "id", "family", "error", "source", "source_fit", "summary", "silent_risk", "bug_line", "bug_file",
    "expected_codemod", "topic", "reading", "half",
}  # fmt: skip


def meta(case: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((case / "meta.json").read_text(encoding="utf-8"))
    return found


def files(version: Path) -> list[Path]:
    """The scripts of a version, and the configuration that they read."""
    return sorted((*version.rglob("*.py"), *version.rglob("*.json"))) if version.is_dir() else [version]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_case_says_all_that_its_data_card_lists(case: Path) -> None:
    said = meta(case)
    assert set(said) == KEYS
    assert said["id"] == case.name
    assert said["reading"] in READINGS
    assert said["family"] in set("ABCDE")
    assert said["half"] in {"open", "aside"}
    assert str(said["source"]).startswith("https://")
    lines = (case / str(said["bug_file"])).read_text(encoding="utf-8").splitlines()
    assert lines[int(str(said["bug_line"])) - 1].strip()


@pytest.mark.parametrize("case", one_in(4, CASES), ids=lambda case: case.name)
def test_every_version_of_a_case_parses_and_differs_from_the_failing_one(case: Path) -> None:
    broken = case / "broken" if (case / "broken").is_dir() else case / "broken.py"
    texts = {"".join(path.read_text(encoding="utf-8") for path in files(broken))}
    accepted, wrong = sorted((case / "accepted").iterdir()), sorted((case / "wrong").iterdir())
    assert accepted
    assert wrong
    assert [path.name[0] for path in accepted] == [str(n) for n in range(1, len(accepted) + 1)]
    for version in (*accepted, *wrong):
        for path in files(version):
            if path.suffix == ".py":
                ast.parse(path.read_text(encoding="utf-8"))
        text = "".join(path.read_text(encoding="utf-8") for path in files(version))
        assert text not in texts
        texts.add(text)


def test_every_healthy_look_alike_is_described_beside_cases_that_exist() -> None:
    text = (THREADS / "healthy/README.md").read_text(encoding="utf-8")
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| `")
    ]
    described = {row[0].strip("`") for row in rows}
    assert described == {path.stem for path in (THREADS / "healthy").glob("*.py")}
    named = {name.strip(" `") for row in rows for name in row[1].split(",")}
    assert named <= {case.name for case in CASES}
