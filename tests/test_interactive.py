"""The review, held through a pseudo-terminal by pexpect, its screen read by pyte; and once more inside tmux."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pexpect
import pyte
import pytest

FIXTURES = Path(__file__).parent.parent / "fixtures" / "first"
PATIENCE = 120
ASKS = r"\[\?\]"
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


SUMMED = """
import torch

torch.manual_seed(0)
net = torch.nn.Linear(2, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(4):
    loss = net(torch.randn(5, 2)).pow(2).mean(1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").touch()
    path = tmp_path / "train.py"
    path.write_text(BROKEN)
    return path


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "autofix", "fix", "--interactive", *words]


def begin(script: Path, asks: str = ASKS, **environment: str) -> tuple[pexpect.spawn, io.StringIO]:
    program, *words = command("train.py")
    child = pexpect.spawn(
        program, words, cwd=str(script.parent), timeout=PATIENCE, dimensions=(60, 100), encoding="utf-8",
        env=os.environ | {"TERM": "xterm-256color"} | environment,
    )  # fmt: skip
    seen = io.StringIO()
    child.logfile_read = seen
    child.expect(asks)
    return child, seen


def end(child: pexpect.spawn) -> int:
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus is not None
    return int(child.exitstatus)


def screen(seen: io.StringIO) -> str:
    """What a person sees once all that was printed has been obeyed."""
    shown = pyte.HistoryScreen(100, 200, history=1000)
    pyte.Stream(shown).feed(seen.getvalue())
    return "\n".join(line.rstrip() for line in shown.display).strip()


@pytest.mark.torch
@pytest.mark.slow
def test_a_fix_is_shown_explained_and_taken(script: Path) -> None:
    child, seen = begin(script)
    shown = screen(seen)
    assert "│ second.backward()" in shown  # the culprits with their excerpts
    assert "this backward frees the graph" in shown
    assert "Fix 1 of 1: AG201 Keep the graph with retain_graph=True (safe)" in shown
    assert "+    first.backward(retain_graph=True)" in shown
    assert "Effect: gradients of w (1 tensor) at 3 steps are identical" in shown
    child.send("?")
    child.expect("end, and write nothing")
    child.expect(ASKS)
    assert script.read_text() == BROKEN
    child.send("y")
    assert end(child) == 0
    assert screen(seen).endswith("The fix was written.")
    assert script.read_text() == KEPT


@pytest.mark.apart("long")
@pytest.mark.torch
@pytest.mark.slow
def test_an_edit_is_judged_before_it_is_written(script: Path) -> None:
    editor = script.with_name("editor.py")
    editor.write_text(
        "import pathlib, sys\n"
        "path = pathlib.Path(sys.argv[1])\n"
        "text = path.read_text()\n"
        "print('EDITING', path.name)\n"
        "path.write_text(text.replace('square.sum(), (2 * square)', 'square.detach().sum(), (2 * square)'))\n"
    )
    child, _ = begin(script, EDITOR=f"{sys.executable} {editor}")
    child.send("e")
    child.expect("EDITING train.py")
    child.expect("With your edit, .*element 0 of tensors does not require grad")
    child.expect(ASKS)
    editor.write_text(
        "import pathlib, sys\n"
        "path = pathlib.Path(sys.argv[1])\n"
        "path.write_text(path.read_text().replace('second.backward()', '(0 * second).backward()'))\n"
    )
    child.send("e")
    child.expect("Your edit: ")
    child.expect(r"\(unsafe\)")
    child.expect(ASKS)
    child.send("y")
    child.expect("not shown to keep the gradients")
    child.send("n")
    child.expect(ASKS)
    child.send("n")  # put the edit away: the first fix is there again
    child.expect("Fix 1 of 1")
    child.expect(ASKS)
    child.send("q")
    assert end(child) == 1
    assert script.read_text() == BROKEN


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux")
def test_it_is_held_inside_tmux(script: Path) -> None:
    tmux = ["tmux", "-L", f"autofix-{os.getpid()}", "-f", os.devnull]
    shell = " ".join([*command("train.py"), "; echo status $?; sleep 600"])

    def asked(*words: str) -> str:
        return subprocess.run([*tmux, *words], check=True, capture_output=True, text=True).stdout

    def until(text: str) -> str:
        waited = time.monotonic() + PATIENCE
        while text not in (shown := asked("capture-pane", "-p", "-S", "-100")) and time.monotonic() < waited:
            time.sleep(0.1)
        return shown

    subprocess.run([*tmux, "new-session", "-d", "-x", "100", "-y", "40", shell], check=True, cwd=script.parent)
    try:
        assert "Fix 1 of 1: AG201" in until("[?]")
        asked("send-keys", "n")
        assert "status 1" in until("status")
    finally:
        asked("kill-server")
    assert script.read_text() == BROKEN


@pytest.mark.parametrize("words", [["train.py"], ["--write", "train.py"], ["--output-format", "json", "train.py"]])
def test_it_never_asks_where_nobody_sits(script: Path, words: list[str]) -> None:
    done = subprocess.run(command(*words), cwd=script.parent, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "--interactive" in done.stderr


@pytest.mark.apart("long")
@pytest.mark.torch
@pytest.mark.slow
def test_what_the_code_leaves_open_is_asked_first(script: Path) -> None:
    script.write_text(SUMMED)
    child, seen = begin(script, r"either")
    assert "Is the sum of these values the loss, or their mean?" in screen(seen)
    child.send("2")
    child.expect(ASKS)
    child.send("y")
    assert end(child) == 0
    assert "loss.mean().backward()" in script.read_text()
    assert (script.parent / "pyproject.toml").read_text() == (
        '[tool.autofix.readings]\n"train.py <module>: loss.backward()" = "mean"\n'
    )
