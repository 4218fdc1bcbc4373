"""Our own processes: what a user's PYTHONPATH holds is the script's, and a batch that can run nothing says so."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from commands import autofix

pytestmark = pytest.mark.torch
SCRIPT = """\
import mine
import torch

w = torch.ones(3, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
for _ in range(3):
    square = w * w
    optimizer.zero_grad()
    square.sum().backward()
    square.sum().backward()
    optimizer.step()
"""
SPOILED = ("psutil", "typer", "rich", "jinja2", "pygls")
"""What we import, and a folder of the user may have another of."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose script needs PYTHONPATH, which also holds what we import under the same names."""
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "train.py").write_text(SCRIPT)
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "mine.py").touch()
    for name in SPOILED:
        (tmp_path / "lib" / f"{name}.py").write_text("raise RuntimeError('this is the user's')\n")
    return tmp_path


def test_pythonpath_belongs_to_the_script(project: Path) -> None:
    found = autofix("fix", "--output-format", "json", "project/train.py", cwd=project, PYTHONPATH=str(project / "lib"))
    assert json.loads(found.stdout)["outcome"] == "available", found.stderr


def test_a_module_beside_the_user_is_not_ours(project: Path) -> None:
    found = autofix("fix", "--output-format", "json", str(project / "project/train.py"), cwd=project / "lib")
    assert "No module named 'mine'" in json.loads(found.stdout)["message"], found.stderr


def test_pythonpath_belongs_to_the_scripts_of_a_batch(project: Path) -> None:
    python = project / "environment"
    python.symlink_to(sys.prefix)
    words = ("batch", "--jobs", "1", "--python", "environment/bin/python", "project")
    done = autofix(*words, cwd=project, PYTHONPATH=str(project / "lib"))
    assert (done.returncode, "1 available" in done.stdout) == (1, True), done.stderr


def test_a_batch_that_can_run_nothing_says_why(project: Path) -> None:
    (project / "list.toml").write_text('[[repository]]\npath = "project"\npython = ".venv/bin/python"\n')
    for _ in range(2):  # what is done before is no success either
        done = autofix("batch", "--jobs", "1", "list.toml", cwd=project)
        assert done.returncode == 2
        assert "nothing ran: " in done.stderr
        assert "--python" in done.stderr.splitlines()[-1]
    named = autofix("batch", "--python", "nowhere/bin/python", "project", cwd=project)
    assert (named.returncode, named.stdout, named.stderr.count("\n")) == (2, "", 1)
    assert "--python nowhere/bin/python: there is no such interpreter" in named.stderr
