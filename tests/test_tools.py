"""The benchmark that any tool can be held against."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CASE = ROOT / "fixtures/first/leaf_plus_equals"


@pytest.mark.apart("long")
def test_one_table_says_what_each_tool_made_of_a_case() -> None:
    tools = {
        "good": f"cp {CASE}/fixed/2_no_grad.py {{file}}",
        "tempted": f"cp {CASE}/wrong/not_moved.py {{file}}",
        "hasty": f"cp {CASE}/wrong/graph_lost_crash.py {{file}}",
        "idle": "true {file}",
    }
    told = [word for name, command in tools.items() for word in ("--tool", f"{name}={command}")]
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks/tools.py", CASE, *told], capture_output=True, text=True, check=True
    )
    rows = dict(line.strip("| ").split(" | ", 1) for line in done.stdout.splitlines() if line.startswith("| "))
    assert rows == {
        "1 cases": "right | wrong | crash | declined",
        "good": "1 | 0 | 0 | 0",
        "tempted": "0 | 1 | 0 | 0",
        "hasty": "0 | 0 | 1 | 0",
        "idle": "0 | 0 | 0 | 1",
    }


@pytest.mark.parametrize("command", ["my-tool --fix", "mine=my-tool --fix"])
def test_a_command_says_where_the_file_goes(command: str) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks/tools.py", "--tool", command], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "{file}" in done.stderr.splitlines()[-1]
