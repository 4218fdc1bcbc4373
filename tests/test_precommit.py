"""Continuous integration: the hooks under a real pre-commit, and the action's own steps under a real shell."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from schemas import ACTION, WORKFLOW, schema

ROOT = Path(__file__).resolve().parent.parent
GIT = shutil.which("git") or "git"
SUSPICIOUS = "import torch\n\nw = torch.ones(3, requires_grad=True)\nw += 1\n"
CLEAN = "import torch\n\nprint(torch.ones(3).sum())\n"
BROKEN = """
import torch

w = torch.ones(3, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
for step in range(3):
    square = w * w
    first, second = square.sum(), (2 * square).sum()
    optimizer.zero_grad()
    first.backward()
    second.backward()
    optimizer.step()
"""
KEPT = BROKEN.replace("first.backward()", "first.backward(retain_graph=True)")


def git(folder: Path, *words: str) -> str:
    named = ["-c", "user.name=somebody", "-c", "user.email=somebody@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run([GIT, *named, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def hooks(tmp_path: Path) -> tuple[str, str]:
    """A repository that offers our hooks, and its revision."""
    folder = tmp_path / "hooks"
    folder.mkdir()
    shutil.copy(ROOT / ".pre-commit-hooks.yaml", folder)
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "hooks")
    return str(folder), git(folder, "rev-parse", "HEAD")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "train.py").write_text(BROKEN)
    git(folder, "init", "--quiet")
    return folder


def commit_hook(project: Path, hooks: tuple[str, str], hook: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    # `unsupported` is pre-commit's word for a program that is already installed: no index is asked.
    config = {"repos": [{"repo": hooks[0], "rev": hooks[1], "hooks": [hook | {"language": "unsupported"}]}]}
    (project / ".pre-commit-config.yaml").write_text(json.dumps(config))
    git(project, "add", ".")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PRE_COMMIT_HOME": str(project.parent / "cache"), "PATH": path}
    return subprocess.run(
        [sys.executable, "-m", "pre_commit", "run", "--all-files"], cwd=project, capture_output=True, text=True,
        check=False, env=environment,
    )  # fmt: skip


def test_pre_commit_reads_the_hooks_that_are_offered() -> None:
    words = [sys.executable, "-m", "pre_commit", "validate-manifest", str(ROOT / ".pre-commit-hooks.yaml")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_check_hook_fails_on_what_is_suspicious(project: Path, hooks: tuple[str, str]) -> None:
    (project / "train.py").write_text(SUSPICIOUS)
    (project / "notes.md").write_text("w += 1\n")
    found = commit_hook(project, hooks, {"id": "autofix-check"})
    assert found.returncode == 1, found.stderr
    assert "train.py:4:1: AG301" in found.stdout
    (project / "train.py").write_text(CLEAN)
    assert commit_hook(project, hooks, {"id": "autofix-check"}).returncode == 0


@pytest.mark.apart("long")
@pytest.mark.torch
@pytest.mark.slow
def test_the_fix_hook_repairs_the_script_it_is_given(project: Path, hooks: tuple[str, str]) -> None:
    hook = {"id": "autofix-fix", "args": ["--python", sys.executable, "train.py"]}
    found = commit_hook(project, hooks, hook)
    assert found.returncode == 1, found.stdout + found.stderr
    assert "files were modified by this hook" in found.stdout
    assert (project / "train.py").read_text() == KEPT
    again = commit_hook(project, hooks, hook)
    assert again.returncode == 0, again.stdout


# --- the action -------------------------------------------------------------------------------


def test_the_action_and_the_workflow_that_the_page_shows_are_what_github_reads() -> None:
    jsonschema.Draft7Validator(schema(ACTION)).validate(yaml.safe_load((ROOT / "action.yml").read_text("utf-8")))
    page = (ROOT / "docs" / "ci.md").read_text("utf-8")
    shown = re.search(r"## GitHub\n.*?```yaml\n(.*?)```", page, re.DOTALL)
    assert shown is not None
    workflow = {"on": "push"} | yaml.safe_load(shown[1])
    jsonschema.Draft7Validator(schema(WORKFLOW)).validate(workflow)
    (used,) = [one["with"] for one in workflow["jobs"]["autograd"]["steps"] if "/autofix@" in one.get("uses", "")]
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    assert used.keys() <= action["inputs"].keys()
    assert [name for name in action["inputs"] if f"| `{name}` |" not in page] == []


def step(name: str, folder: Path, inputs: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run one step of the action as the runner would: its shell, its variables, its files."""
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    given = {key: str(value["default"]) for key, value in action["inputs"].items()} | inputs
    (wanted,) = (one for one in action["runs"]["steps"] if one["name"] == name)
    environment = dict(os.environ)
    for key, value in wanted["env"].items():
        environment[key] = given[value.removeprefix("${{ inputs.").removesuffix(" }}")]
    binaries = folder.parent / "temp" / "autofix" / "bin"
    binaries.mkdir(parents=True, exist_ok=True)
    (binaries / "autofix").write_text(f'#!/bin/sh\nexec {sys.executable} -m autofix "$@"\n')
    (binaries / "autofix").chmod(0o755)
    environment |= {
        "RUNNER_TEMP": str(folder.parent / "temp"), "GITHUB_OUTPUT": str(folder.parent / "output"),
        "GITHUB_STEP_SUMMARY": str(folder.parent / "summary"), "GITHUB_WORKSPACE": str(folder),
    }  # fmt: skip
    bash = [shutil.which("bash") or "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", wanted["run"]]
    return subprocess.run(bash, cwd=folder, capture_output=True, text=True, check=False, env=environment)


@pytest.mark.apart("long")
def test_the_action_annotates_and_summarises(project: Path) -> None:
    (project / "train.py").write_text(SUSPICIOUS)
    done = step("Check", project, {})
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("::warning file=train.py,line=4,col=1")
    sarif = (project.parent / "output").read_text().strip().removeprefix("sarif=")
    (result,) = json.loads(Path(sarif).read_text())["runs"][0]["results"]
    assert result["ruleId"] == "AG301"
    assert "train.py:4:1: AG301" in (project.parent / "summary").read_text()
    assert step("Check", project, {"fail-on-findings": "false"}).returncode == 0
    (project / "train.py").write_text(CLEAN)
    assert step("Check", project, {}).returncode == 0
    assert step("Check", project, {"paths": "no such"}).returncode == 2


@pytest.mark.apart("long")
@pytest.mark.torch
@pytest.mark.slow
def test_the_action_runs_scripts_and_proposes(project: Path) -> None:
    (project / "fine.py").write_text(CLEAN)
    done = step("Run and repair", project, {"scripts": "fine.py\n\ntrain.py --epochs 1\n", "python": sys.executable})
    assert done.returncode == 1, done.stderr
    assert "::error file=train.py,line=11" in done.stdout
    assert "+    first.backward(retain_graph=True)" in (project.parent / "summary").read_text()
    assert (project / "train.py").read_text() == BROKEN
