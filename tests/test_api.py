"""The Python API: what it answers, what it writes, what it costs to import, how it is stopped."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from dataclasses import fields
from pathlib import Path

import pytest

import autofix
from autofix import api
from autofix.core import config
from autofix.core.model import Change
from autofix.render import advice, answers

ROOT = Path(__file__).resolve().parent.parent
SCHEMA = json.loads((ROOT / "docs" / "schema.json").read_text("utf-8"))
BROKEN = (ROOT / "fixtures" / "first" / "gan_two_step" / "broken.py").read_text("utf-8")
STARVED = BROKEN.replace("lossD.backward()", "lossD.backward(retain_graph=True)").replace("(g + d)", "(g + d.detach())")
SHOWN = {"write", "diff", "unsafe_fixes", "output_format", "quiet", "verbose", "full_paths", "color", "run"}
CALLS = {"module", "console", "pytest", "cwd", "root", "progress", "stop"}


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)  # noqa: S607


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "project" / "train.py"
    path.parent.mkdir()
    path.write_text(BROKEN, "utf-8")
    git(path.parent, "init", "-q")
    git(path.parent, "add", "train.py")
    git(path.parent, "commit", "-qm", "first")
    return path


@pytest.fixture(scope="module")
def session() -> api.Session:
    with autofix.Session() as running:
        yield running


def test_importing_it_costs_nothing(tmp_path: Path) -> None:
    code = (
        "import sys, autofix; assert 'autofix.api' not in sys.modules; autofix.fix, autofix.Stop; "
        "assert 'autofix.api' in sys.modules; print([n for n in ('torch', 'numpy', 'mcp') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "[]\n", done.stderr


def test_everything_that_is_promised_is_there() -> None:
    assert all(getattr(autofix, name) is getattr(api, name) for name in autofix.__all__)
    assert {*autofix.__all__, "check"} == {*api.__all__}
    with pytest.raises(AttributeError, match="nothing_like_it"):
        _ = autofix.nothing_like_it


def test_the_options_are_those_of_the_command_line() -> None:
    assert {*config.NAMES} - SHOWN == api.Options.__annotations__.keys() - CALLS


@pytest.mark.parametrize(
    ("record", "described"),
    [
        (answers.Answer, SCHEMA), (answers.Failure, SCHEMA["$defs"]["failure"]), (answers.Fix, SCHEMA["$defs"]["fix"]),
        (answers.Culprit, SCHEMA["$defs"]["culprit"]), (answers.Change, SCHEMA["$defs"]["change"]),
        (answers.Doubt, SCHEMA["$defs"]["guard"]), (answers.Suspicion, SCHEMA["$defs"]["suspicion"]),
    ],
)  # fmt: skip
def test_a_record_has_names_that_the_schema_describes(record: type, described: dict[str, dict[str, object]]) -> None:
    assert {field.name for field in fields(record)} <= described["properties"].keys()


@pytest.mark.torch
@pytest.mark.slow
def test_a_fix_is_answered_and_written_when_asked(session: api.Session, script: Path) -> None:
    told: list[str] = []
    answer = session.fix(script, progress=told.append)
    assert (answer.outcome, answer.safe, answer.fixes[0].applicability) == ("available", True, "safe")
    assert answer.failure is not None
    assert (answer.failure.cause, Path(answer.failure.file or "")) == ("freed_graph", script)
    assert {"freed", "failed"} <= {culprit.role for culprit in answer.culprits}
    assert "running the script" in told
    assert script.read_text("utf-8") == BROKEN
    written = session.fix("train.py", write=True, cwd=script.parent)
    assert (written.outcome, written.applied) == ("fixed", 0)
    assert script.read_text("utf-8") != BROKEN
    assert session.fix(script).outcome == "clean"


@pytest.mark.torch
@pytest.mark.slow
def test_an_edit_made_in_place_is_judged_against_what_git_had(session: api.Session, script: Path) -> None:
    script.write_text(STARVED, "utf-8")
    answer = session.verify(script, against="HEAD")
    assert (answer.outcome, answer.safe) == ("unsafe", False)
    assert {"G.weight", "G.bias"} <= {change.parameter for change in answer.fixes[0].changed}
    (weight,) = [
        said for said in answer.advice if said.startswith("changed: the edit cuts the graph at `d.detach()` (line ")
    ]
    assert "G.weight gets a gradient of norm" in weight
    assert "step 1" in weight
    assert any("train.py:20 this backward frees the graph" in said for said in answer.advice)
    assert script.read_text("utf-8") == STARVED


@pytest.mark.torch
@pytest.mark.slow
def test_a_patch_that_keeps_the_gradients_is_safe(session: api.Session, script: Path) -> None:
    patch = session.fix(script).fixes[0].diff
    answer = session.verify(script, patch=patch)
    assert (answer.outcome, answer.safe, answer.fixes[0].rules) == ("safe", True, [])
    idle = session.verify(script, files={script: BROKEN + "\n"})
    assert idle.outcome == "still_failing"
    assert any(said.startswith("With the edit there is the same failure at train.py:25") for said in idle.advice)


@pytest.mark.torch
@pytest.mark.slow
def test_nothing_outside_of_the_root_is_edited(session: api.Session, script: Path) -> None:
    inner = script.parent / "inner"
    inner.mkdir()
    (script.parent / "helper.py").write_text(
        "def total(square):\n    square.sum().backward()\n    square.sum().backward()\n", "utf-8"
    )
    (inner / "run.py").write_text(
        "import sys\nsys.path.insert(0, '..')\nimport torch\nfrom helper import total\n"
        "w = torch.ones(3, requires_grad=True)\ntotal(w * w)\n",
        "utf-8",
    )
    assert session.fix(inner / "run.py", cwd=inner).outcome == "available"
    bound = session.fix(inner / "run.py", cwd=inner, root=inner)
    assert all("helper.py" not in fix.diff for fix in bound.fixes)


@pytest.mark.torch
def test_a_call_can_be_stopped_from_another_thread(tmp_path: Path) -> None:
    path = tmp_path / "endless.py"
    path.write_text("import time\nimport torch\ntime.sleep(600)\n", "utf-8")
    stop = autofix.Stop()
    told: list[str] = []

    def heard(text: str) -> None:
        told.append(text)
        if text == "running the script":
            threading.Timer(0.5, stop.set).start()

    with pytest.raises(autofix.Stopped):
        autofix.fix(path, stop=stop, progress=heard)
    assert "running the script" in told
    with pytest.raises(autofix.Stopped):
        autofix.fix(path, stop=stop)


def test_what_cannot_be_meant_is_said_in_one_line(script: Path, tmp_path: Path) -> None:
    (tmp_path / "other.py").touch()
    with pytest.raises(ValueError, match="there is no such file"):
        autofix.fix(tmp_path / "absent.py")
    with pytest.raises(ValueError, match="there is no option pases"):
        autofix.fix(script, pases=2)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="passes: 0 is not"):
        autofix.fix(script, passes=0)
    with pytest.raises(ValueError, match="in one way: files, patch or against"):
        autofix.verify(script)
    with pytest.raises(ValueError, match="there is no revision v9"):
        autofix.verify(script, against="v9")
    with pytest.raises(ValueError, match="no edit to judge"):
        autofix.verify(script, against="HEAD")
    with pytest.raises(ValueError, match="outside the project"):
        autofix.verify(script, files={tmp_path / "other.py": "x = 1\n"})
    with pytest.raises(ValueError, match="AG999"):
        autofix.explain("AG999")


def test_files_are_checked_and_rules_explained(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("import torch\nw = torch.zeros(3, requires_grad=True)\nw += 1\n", "utf-8")
    found = api.check(tmp_path)
    assert [(Path(one.file).name, one.line, one.code) for one in found.findings] == [("bad.py", 3, "AG301")]
    assert (found.files, found.problems) == (1, [])
    assert autofix.explain("write-to-leaf") == autofix.explain("ag301")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (Change("w", 0, 2.0, 0.0), "w gets no gradient instead of one of norm 2 at step 1: look for a detach"),
        (Change("w", 1, 0.0, 2.0), "w gets a gradient of norm 2 instead of none at step 2: look for"),
        (Change("w", 0, 2.0, 1.0), "w gets a gradient of norm 1 instead of 2 at step 1"),
        (Change("w", 0, 1.0, 2.0), "w gets a gradient of norm 2 instead of 1 at step 1"),
        (
            Change("w", 0, 2.0, 2.0, relative=1.0),
            "w gets a gradient of another direction, of the same norm (2) at step 1",
        ),
        (Change("w", 0, 2.0, float("nan")), "w gets a gradient of norm nan instead of 2 at step 1"),
        (Change("w", 2, 1.0, 2.0, note="the step moves it differently"), "w, step 3: the step moves it differently"),
        (Change("", 0, 1, 2, note="the edited script makes 2 optimizers"), "the edited script makes 2 optimizers"),
    ],
)
def test_a_change_is_put_into_words_that_can_be_acted_on(change: Change, said: str) -> None:
    (sentence,) = advice._parameters([change])
    assert sentence.startswith(said)


def test_many_changes_are_a_sentence_for_each_parameter_and_a_count() -> None:
    changes = [Change(f"w{number:02}", step, 2.0, 1.0) for number in range(11) for step in range(3)]
    sentences = [*advice._parameters(changes)]
    assert len(sentences) == 9
    assert sentences[0].endswith("(and at 2 later steps)")
    assert sentences[-1] == "3 more parameters differ"
