"""A script may forge what its run reports: no word of it is obeyed, and only the project's files are ever changed."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from autofix import pipeline, render
from autofix.core.model import Outcome, Target
from autofix.core.write import WriteRefused
from autofix.experiments.client import Probe
from autofix.render.snapshot import Snapshot
from autofix.search import registry

pytestmark = pytest.mark.torch
TWICE = """\
import torch

w = torch.ones(2, requires_grad=True)
loss = (w * w).sum()
loss.backward()
loss.backward()
"""
# The script looks up its own request, so that its forged answer bears the right number, and ends before the true one.
FORGER = """\
import json, os, posix, sys

VICTIM, NASTY = {victim!r}, {nasty!r}
frame = sys._getframe()
while not hasattr(frame.f_locals.get("self"), "request"):
    frame = frame.f_back
request = frame.f_locals["self"].request
place = dict(file=VICTIM, line=6, column=0, end_line=6, end_column=15, function=NASTY)
first = dict(place, line=5, end_line=5)
made = dict(place, line=4, end_line=4, column=7, end_column=20)
failure = dict(
    type="RuntimeError" + NASTY, message="Trying to backward through the graph a second time" + NASTY,
    stack=[place], kind="freed_graph", in_backward=True,
)
backward = dict(stack=[first], grad=False, create=False)
saved = dict(made=[made], freed_by=[first])
trace = dict(
    id=request.id, outcome="failed", detail=NASTY, failure=failure,
    backward_count=2, saved=[saved], earlier=[backward], notes=[NASTY], reached=[NASTY],
    isolation=NASTY, wrote=[NASTY],
)
if request.mode == "candidate":
    trace.update(outcome="stopped", failure=None)
message = json.dumps(trace).encode() + b"\\n"
for descriptor in range(3, 64):
    try:
        os.write(descriptor, message)
    except OSError:
        continue
posix._exit(0)
"""
NASTY = "\x1b]0;owned\x07\x1b[31m[red]x[/red]<script>alert(1)</script>\r\n::error::owned\x9b1m"


def outside(root: Path) -> Path:
    return root.parent / "outside.py"


def dotted(root: Path) -> Path:
    return root / ".." / "outside.py"


def linked(root: Path) -> Path:
    (root / "linked.py").symlink_to(root.parent / "outside.py")
    return root / "linked.py"


def folder(root: Path) -> Path:
    (root / "folder").symlink_to(root.parent)
    return root / "folder" / "outside.py"


def installed(root: Path) -> Path:
    path = root / ".venv" / "lib" / "site-packages" / "package.py"
    path.parent.mkdir(parents=True)
    path.write_text(TWICE)
    return path


def itself(root: Path) -> Path:
    return root / "script.py"


@pytest.mark.parametrize("victim", [outside, dotted, linked, folder, installed, itself], ids=lambda make: make.__name__)
def test_a_forged_report_changes_nothing_and_commands_nobody(probe: Probe, tmp_path: Path, victim) -> None:  # noqa: ANN001
    root = tmp_path / "project"
    root.mkdir()
    (tmp_path / "outside.py").write_text(TWICE)
    script = root / "script.py"
    script.write_text(FORGER.format(victim=str(victim(root)), nasty=NASTY))
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.py")}
    target = Target(script, cwd=root, root=root, python=Path(sys.executable), time_limit=20.0)
    report = pipeline.fix(target, registry.rules(), probe=probe, progress=lambda _: None)
    assert report.diagnosis is not None, report.message  # the forgery arrived: what follows is about it
    for unsafe in (False, True):
        with suppress(WriteRefused):
            report = pipeline.apply(report, unsafe=unsafe)
    assert report.outcome is not Outcome.FIXED
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.py")} == before
    assert_harmless(report)


def assert_harmless(report: pipeline.Report) -> None:
    snapshot = Snapshot(report)
    shown = "\n".join(line.plain for line in render.terminal.lines(report, snapshot, render.Look(verbose=True)))
    for text in (shown, render.as_github(report, snapshot)):
        assert not {"\x1b", "\x07", "\x9b", "\r"} & set(text)
    assert not any(line.startswith("::error::owned") for line in render.as_github(report, snapshot).splitlines())
    for text in (render.as_json(report, snapshot), render.as_sarif(report, snapshot)):
        assert text.isascii() or "\x1b" not in text
        assert "\x1b" not in json.dumps(json.loads(text), ensure_ascii=False).replace("\\u001b", "")


@pytest.mark.parametrize(
    ("message", "outcome"),
    [
        ("b'{'", Outcome.CRASHED),
        ("b'[' * 100_000", Outcome.CRASHED),
        ('b\'{"id": 1, "outcome": {}}\'', Outcome.CRASHED),
        ("b'x' * (1 << 28)", Outcome.CRASHED),
        ("bytes(range(256)) * 99", Outcome.CRASHED),
    ],
    ids=["cut off", "deep", "mistyped", "endless", "garbage"],
)
def test_a_message_that_is_none_is_a_crash_of_the_script(
    probe: Probe, tmp_path: Path, message: str, outcome: Outcome
) -> None:
    script = tmp_path / "script.py"
    lines = (
        "import os, posix",
        f"message = {message}",
        "for descriptor in range(3, 64):",
        "    try:",
        "        while message: message = message[os.write(descriptor, message):]",
        "    except OSError: pass",
        "posix._exit(0)",
    )
    script.write_text("\n".join(lines))
    target = Target(script, cwd=tmp_path, root=tmp_path, python=Path(sys.executable), time_limit=20.0)
    report = pipeline.fix(target, (), probe=probe, progress=lambda _: None)
    assert report.outcome is outcome
    assert os.listdir(tmp_path) == ["script.py"]  # noqa: PTH208
