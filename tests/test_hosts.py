"""The tool under one Python and the script's torch under another, as after `pipx install` or `uv tool install`."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest
from sampled import one_in
from training import CURE, SCRIPT, written

ROOT = Path(__file__).parent.parent
VERSIONS = ("3.13", "3.11", "3.12", "3.14")
START = "import sys; sys.path[:0] = sys.argv[1:3]; del sys.argv[1:3]; import autofix.__main__ as a; sys.exit(a.main())"


@pytest.fixture(scope="module")
def tool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as it is installed, alone in a folder."""
    folder = tmp_path_factory.mktemp("tool")
    for name, place in (("autofix", "autofix"), ("rules", "autofix/rules")):
        shutil.copytree(ROOT / name, folder / place, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def requirements(version: str, config: pytest.Config) -> Path:
    """What the tool requires, as this Python would have it installed: fetched once, kept beside pytest's notes."""
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    digest = hashlib.blake2b(repr(wanted).encode(), digest_size=4).hexdigest()
    kept = config.cache.mkdir("hosts") / f"{version}-{digest}"  # type: ignore[union-attr]
    if not kept.exists():
        with tempfile.TemporaryDirectory(dir=kept.parent) as made:
            words = ["--target", f"{made}/it", "--python-version", version, "--only-binary=:all:", "--quiet"]
            subprocess.run([sys.executable, "-m", "pip", "install", *words, *wanted], check=True)
            with contextlib.suppress(OSError):  # another worker was quicker
                Path(made, "it").rename(kept)
    return kept


def interpreter(version: str) -> str:
    """The command of a Python of this version; skips where there is none."""
    if sys.version.startswith(f"{version}."):
        return sys.executable
    kept = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    found = str(kept[-1]) if kept else shutil.which(f"python{version}")
    if found is None:
        pytest.skip(f"Python {version} is not installed here")
    return found


def autofix(host: str, packages: Sequence[Path], *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """The tool under `host`, which sees no packages but those, in the current folder."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COVERAGE"))}
    return subprocess.run(
        [host, "-s", "-P", "-S", "-c", START, *map(str, packages), *words],
        env=clean | variables, capture_output=True, text=True, check=False,
    )  # fmt: skip


def environment(folder: Path, python: Path) -> Path:
    """A folder with `bin/python` as environments have it, in which `python` runs."""
    (folder / "bin").mkdir(parents=True)
    program = folder / "bin" / "python"
    program.write_text(f'#!/bin/sh\nexec "{python}" "$@"\n')
    program.chmod(0o755)
    return folder


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    written(tmp_path, {"train.py": SCRIPT})
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.parametrize("version", one_in(4, VERSIONS))
def test_the_tool_runs_under_this_python_and_repairs_in_the_projects_environment(
    tool: Path, project: Path, python: Path, version: str, pytestconfig: pytest.Config
) -> None:
    host, installed = interpreter(version), (tool, requirements(version, pytestconfig))
    environment(project / ".venv", python)
    told = autofix(host, installed, "--version")
    assert f"(Python {version}." in told.stdout, told.stderr
    done = autofix(host, installed, "fix", "--write", "train.py")
    assert done.returncode == 0, done.stderr
    assert CURE in (project / "train.py").read_text("utf-8")


@pytest.mark.torch
@pytest.mark.parametrize("how", one_in(3, ["command", "conda", "path"]))
def test_the_scripts_python_is_found_in_each_way_that_people_have_one(
    tool: Path, project: Path, python: Path, how: str, pytestconfig: pytest.Config
) -> None:
    installed = tool, requirements(f"{sys.version_info[0]}.{sys.version_info[1]}", pytestconfig)
    there = environment(project / "elsewhere", python)
    ways = {
        "conda": {"CONDA_PREFIX": str(there)},
        "command": {"PATH": f"{there / 'bin'}{os.pathsep}{os.environ['PATH']}"},
        "path": {},
    }
    words = ["--python", str(there / "bin" / "python")] if how == "path" else []
    done = autofix(sys.executable, installed, "fix", "--diff", *words, "train.py", **ways[how])
    assert f"+    {CURE}" in done.stdout, done.stderr
