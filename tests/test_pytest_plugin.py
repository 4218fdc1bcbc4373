"""The pytest plugin, as a user's pytest runs it: in processes of their own, found by its entry point."""

from __future__ import annotations

import json
from importlib.metadata import entry_points
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

MODEL = """
def loss(w):
    square = w * w
    square.sum().backward()
    square.sum().backward()
    return w.grad
"""
TEST = """
import pytest
import torch
from model import loss


@pytest.fixture
def weight():
    return torch.ones(3, requires_grad=True)


@pytest.mark.parametrize("scale", [1, 2])
def test_loss(weight, scale):
    print("captured", scale)
    assert loss(weight).sum() == 12


def test_of_values():
    assert torch.ones(1).item() == 2


def test_elsewhere():
    raise RuntimeError("no graph is in this")


def test_good():
    pass
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # to import those of these tests takes two seconds a run
    pytester.makepyfile(model=MODEL, test_model=TEST)
    pytester.makeini("[pytest]\npythonpath = .\n")
    return pytester.path


def test_it_is_found_by_its_entry_point() -> None:
    (found,) = entry_points(group="pytest11", name="autofix")
    assert found.value == "autofix.pytest_plugin"


@pytest.mark.apart("long")
def test_without_the_option_nothing_of_autofix_is_imported(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        "import json, sys\n"
        "def test_modules():\n"
        "    print(json.dumps([name for name in sys.modules if name.split('.')[0] == 'autofix']))\n"
    )
    done = pytester.runpytest_subprocess("-s", "-p", "no:randomly")
    done.assert_outcomes(passed=1)
    loaded = next(json.loads(line[line.index("[") :]) for line in done.outlines if '["autofix"' in line)
    assert sorted(loaded) == ["autofix", "autofix.pytest_plugin"]


@pytest.mark.apart("long")
@pytest.mark.torch
@pytest.mark.slow
def test_the_proved_edit_stands_under_the_traceback(pytester: pytest.Pytester, project: Path) -> None:
    done = pytester.runpytest_subprocess("-p", "autofix", "--autofix", "--show-capture=no")
    done.assert_outcomes(passed=1, failed=4)
    done.stdout.fnmatch_lines([
        "*_ test_loss[[]1] _*", "E *RuntimeError: Trying to backward through the graph a second time*",
        "*- autofix -*", "Fix: AG201 Keep the graph with retain_graph=True (safe)", "--- a/model.py",
        "-    square.sum().backward()", "+    square.sum().backward(retain_graph=True)", "Effect: *",
        "To apply it: autofix fix --write *--pytest *test_model.py::test_loss[[]1]*",
        "*_ test_loss[[]2] _*", "The same line failed in test_model.py::test_loss[[]1]: see there.",
    ])  # fmt: skip
    text = done.stdout.str()
    values = text[text.index("_ test_of_values _") : text.index("_ test_elsewhere _")]
    assert "autofix" not in values
    assert "it fails for a reason that is not autograd's" in text[text.index("_ test_elsewhere _") :]
    assert (project / "model.py").read_text("utf-8").strip() == MODEL.strip()


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.apart("long")
def test_it_works_beside_xdist_and_asked_for_in_the_environment(
    pytester: pytest.Pytester, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "--autofix")
    done = pytester.runpytest_subprocess("-p", "autofix", "-p", "xdist", "-n", "1", "-k", "test_loss and 1")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*- autofix -*", "Fix: AG201 *"])
    assert (project / "model.py").read_text("utf-8").strip() == MODEL.strip()
