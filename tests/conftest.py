"""What every test stands on: the same terminal, the same environment, wherever it runs."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from hypothesis import settings
from scripts import Scripts
from training import Repairs, repair, written

from autofix.core.model import Report
from autofix.experiments.client import Probe

# Set here and not in a fixture: rich and typer read some of these when they are imported.
_TERMINAL = {"COLUMNS": "100", "LINES": "40", "TERM": "dumb"}
_AMBIENT = ("CI", "CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR", "GITHUB_ACTIONS", "NO_COLOR", "PY_COLORS")
# The interpreter for a target is looked up: without these it is the one that runs the tests.
_INTERPRETER = ("CONDA_PREFIX", "VIRTUAL_ENV")

os.environ.update(_TERMINAL)
for _name in (*_AMBIENT, *_INTERPRETER):
    os.environ.pop(_name, None)

# Machines differ in speed, not in what is right: no deadline, and no example database between runs. `make test` tries
# the same examples every time, so that it only fails for what was changed; `make fuzz` looks for new ones, for longer.
settings.register_profile("autofix", deadline=None, database=None, derandomize=True, max_examples=25)
settings.register_profile("fuzz", deadline=None, database=None, max_examples=2000, print_blob=True)
settings.load_profile("autofix")


_APART = {
    "long": "it takes long: `make long` runs it",
    "release": "it builds and installs what is released: `make dist` runs it",
    "vscode": "it needs VS Code and a browser: `make vscode` runs it",
}
"""Why a test is set apart, by the name of the mark."""
_RUNNING = {"probe", "script", "repaired", "world", "editor", "python"}
"""The fixtures of tests that start real runs, which is what takes the time."""
_SHARES = {8: 2, 24: 3}
"""Tests of one file that start runs: of more than eight each second is run, of more than 24 each third.

All that `make test` does takes nine minutes on two cores; a machine that is slow that day may take twelve.
"""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--python", default=sys.executable, help="the interpreter that runs the scripts under test")
    parser.addoption(
        "--with", action="append", default=[], help="also run the tests that are set apart under this name"
    )


@pytest.hookimpl(tryfirst=True)  # before they are shuffled
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Each tenth value of a test that starts real runs is tried in every run, from the first on.

    Where a file has many such tests all the same, a share of them.
    """
    values: dict[str, list[pytest.Item]] = {}
    for item in filter(_runs, items):
        values.setdefault(item.nodeid.partition("[")[0], []).append(item)
    _leave([one for each in values.values() for at, one in enumerate(each) if at % 10])
    tests: dict[Path, list[pytest.Item]] = {}
    for item in filter(_runs, items):
        tests.setdefault(item.path, []).append(item)
    for each in tests.values():
        share = max((share for many, share in _SHARES.items() if len(each) > many), default=1)
        _leave([one for at, one in enumerate(each) if at % share])


def _runs(item: pytest.Item) -> bool:
    running = isinstance(item, pytest.Function) and not _RUNNING.isdisjoint(item.fixturenames)
    return running and not any(item.iter_markers("apart"))


def _leave(items: list[pytest.Item]) -> None:
    for item in items:
        item.add_marker(pytest.mark.apart("long"))


def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("apart"):
        if mark.args[0] not in item.config.getoption("--with"):
            pytest.skip(_APART[mark.args[0]])


@pytest.fixture(scope="session")
def python(pytestconfig: pytest.Config) -> Path:
    """The interpreter whose torch is tested; the tests themselves stay in this one."""
    return Path(pytestconfig.getoption("--python")).absolute()


@pytest.fixture(scope="session")
def probe(python: Path) -> Iterator[Probe]:
    """One warm probe for all tests of a worker."""
    from autofix.experiments.client import Probe  # noqa: PLC0415  most tests need no probe

    with Probe(python) as running:
        yield running


@pytest.fixture
def script(probe: Probe, tmp_path: Path) -> Scripts:
    """Writes a script, which the warm probe then repairs or judges."""
    from scripts import written  # noqa: PLC0415  most tests need no judge

    return functools.partial(written, probe, tmp_path)


@pytest.fixture
def warm(probe: Probe, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands called in this process take the probe that is there, and import no torch."""
    monkeypatch.setattr("autofix.commands.opening.start", lambda _target: contextlib.nullcontext(probe))


@pytest.fixture
def typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., CompletedProcess[str]]:
    """What `autofix WORDS` prints in the test's folder, and its status; in this process, which saves a second."""
    from autofix import cli  # noqa: PLC0415  most tests type no command

    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> CompletedProcess[str]:
        capfd.readouterr()
        status = cli.main(words)
        return CompletedProcess(words, status, *capfd.readouterr())

    return run


@pytest.fixture
def repaired(probe: Probe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repairs:
    """What `autofix fix` makes of the text of `train.py` in the current folder, with the options that are given."""
    monkeypatch.chdir(tmp_path)

    def fix(text: str, **given: object) -> Report:
        written(tmp_path, {"train.py": text})
        return repair(probe, "train.py", **given)  # type: ignore[arg-type]

    return fix
