"""Which interpreter runs a script, and which folder is its project."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from autofix.target import interpreter
from autofix.target.interpreter import InterpreterError, find, project_root


def environment(folder: Path, *, executable: bool = True) -> Path:
    python = folder / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\n")
    python.chmod(0o755 if executable else 0o644)
    return python


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    scripts = tmp_path / "project" / "scripts"
    scripts.mkdir(parents=True)
    (tmp_path / "project" / ".git").mkdir()
    return tmp_path / "project"


def test_an_option_may_be_a_path_a_folder_or_a_command(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = environment(project / "env")
    assert find(str(python), project) == python
    assert find(str(project / "env"), project) == python
    python.rename(python.with_name("python3.99"))
    monkeypatch.setenv("PATH", str(python.parent))
    assert find("python3.99", project) == find("3.99", project) == python.with_name("python3.99")


def test_an_option_is_not_resolved_since_a_link_makes_an_environment(project: Path) -> None:
    bin_folder = project / "env" / "bin"
    bin_folder.mkdir(parents=True)
    (bin_folder / "python").symlink_to(sys.executable)
    assert find(str(project / "env"), project) == bin_folder / "python"


@pytest.mark.parametrize("option", ["no-such-python", "./missing/python", "."])
def test_a_wrong_option_is_one_line_that_says_what_to_do(
    project: Path, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    monkeypatch.chdir(project)
    with pytest.raises(InterpreterError, match=r"^--python [^\n]*(give|name) [^\n]*$"):
        find(option, project)


def test_a_file_that_is_not_executable_is_refused(project: Path) -> None:
    python = environment(project / "env", executable=False)
    with pytest.raises(InterpreterError, match="is not executable"):
        find(str(python), project)


def test_the_active_environment_comes_before_the_projects(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment(project / ".venv")
    conda = environment(project.parent / "conda")
    monkeypatch.setenv("CONDA_PREFIX", str(conda.parent.parent))
    assert find("", project / "scripts") == conda
    active = environment(project.parent / "active")
    monkeypatch.setenv("VIRTUAL_ENV", str(active.parent.parent))
    assert find("", project / "scripts") == active


def test_an_active_environment_that_is_gone_is_told(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIRTUAL_ENV", str(project / "gone"))
    with pytest.raises(InterpreterError, match=r"VIRTUAL_ENV is .*gone, which has no python"):
        find("", project)


def test_the_projects_environment_is_looked_for_up_to_the_repository(project: Path) -> None:
    environment(project.parent / ".venv")
    assert find("", project / "scripts") == Path(sys.executable)
    near = environment(project / "venv")
    assert find("", project / "scripts") == near
    nearest = environment(project / "scripts" / ".venv")
    assert find("", project / "scripts") == nearest


def test_without_any_it_is_our_own(project: Path) -> None:
    assert find("", project) == Path(sys.executable)


def test_the_root_is_the_repository_else_the_package_else_here(tmp_path: Path, project: Path) -> None:
    assert project_root(project / "scripts" / "train.py", tmp_path) == project
    package = tmp_path / "package"
    (package / "inner").mkdir(parents=True)
    (package / "pyproject.toml").touch()
    assert project_root(package / "inner" / "train.py", tmp_path) == package
    bare = tmp_path / "bare" / "inner"
    bare.mkdir(parents=True)
    assert project_root(bare / "train.py", bare.parent) == bare.parent
    assert project_root(bare / "train.py", project) == bare


def test_a_folder_of_many_projects_is_no_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    (tmp_path / ".git").mkdir()  # somebody keeps their dotfiles there
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    assert project_root(scripts / "train.py", tmp_path) == scripts
    assert project_root(tmp_path / "train.py", Path(os.sep)) == tmp_path


def test_an_environment_is_where_its_python_is(tmp_path: Path) -> None:
    assert interpreter.inside(tmp_path) is None
