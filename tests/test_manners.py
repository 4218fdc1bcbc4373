"""Terminal manners, of real processes: broken, full and closed outputs, Ctrl-C, narrow terminals, real completion."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pexpect
import pytest
from reports import report

from autofix.core import write
from autofix.core.model import Report, Target
from autofix.experiments.client import Probe
from autofix.experiments.requests import plain
from autofix.render import Look, Snapshot, show

PROGRAM = [sys.executable, "-m", "autofix"]
SUSPICIOUS = "import torch\n\nw = torch.ones(3, requires_grad=True)\nw += 1\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "train.py").write_text(SUSPICIOUS)
    return tmp_path


def autofix(*words: str, cwd: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    options = {"stdout": subprocess.PIPE, **options}
    return subprocess.run([*PROGRAM, *words], cwd=cwd, stderr=subprocess.PIPE, text=True, check=False, **options)


@pytest.mark.parametrize("words", ["rules", "explain AG201", "check -q .", "--help", "--version", "ide vscode --print"])
def test_output_that_nobody_reads_ends_it_as_a_shell_expects(words: str, project: Path) -> None:
    end, pipe = os.pipe()
    os.close(end)
    try:
        done = autofix(*words.split(), cwd=project, stdout=pipe)
    finally:
        os.close(pipe)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, "")


@pytest.mark.parametrize("words", ["rules", "check -q .", "check -q --output-format sarif .", "--version"])
def test_a_full_disk_is_one_line(words: str, project: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = autofix(*words.split(), cwd=project, stdout=full)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "No space left" in done.stderr


@pytest.mark.parametrize(("closed", "status"), [("<&-", 1), (">&-", 1), ("2>&-", 1), ("<&- >&- 2>&-", 1)])
def test_closed_streams_change_no_status(closed: str, status: int, project: Path) -> None:
    done = subprocess.run(["sh", "-c", f'"$@" {closed}', "sh", *PROGRAM, "check", "."], cwd=project, check=False)  # noqa: S607
    assert done.returncode == status


def heed() -> None:
    """What a shell starts in the background ignores Ctrl-C, and so would all that the tests start there."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


SLOW = """\
import runpy, sys, time

class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == "typer":
            print("here", flush=True)
            time.sleep(600)

sys.meta_path.insert(0, Slow())
runpy.run_module("autofix", run_name="__main__", alter_sys=True)
"""


def test_ctrl_c_while_modules_are_imported_is_one_line(project: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, "rules"], cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=heed,  # noqa: PLW1509
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "here\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert (process.returncode, err) == (130, "autofix: interrupted\n")


@pytest.fixture
def importing(project: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Probe]:
    """A probe whose import of torch takes long and does not hear that we have gone; to wait for it is interrupted."""
    (project / "torch.py").write_text("import time\ntime.sleep(600)\n")
    monkeypatch.setenv("PYTHONPATH", str(project))
    probe = Probe(Path(sys.executable))
    patient = probe._process.wait

    def interrupted(timeout: float | None = None) -> int:
        if timeout is not None:
            raise KeyboardInterrupt
        return patient()

    monkeypatch.setattr(probe._process, "wait", interrupted)
    yield probe
    if probe._process.stdout is not None:
        probe._process.stdout.close()


def test_a_second_ctrl_c_leaves_no_server_behind(importing: Probe, project: Path) -> None:
    importing.submit(plain(Target(project / "train.py", root=project)))
    with pytest.raises(KeyboardInterrupt):
        importing.close()
    assert importing._process.returncode == -signal.SIGKILL


def test_a_server_that_was_asked_for_nothing_is_not_waited_for(importing: Probe) -> None:
    importing.close()
    assert importing._process.returncode == -signal.SIGKILL


@pytest.mark.torch
def test_a_program_that_a_signal_ends_has_the_status_of_a_shell(project: Path) -> None:
    (project / "train.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n")
    assert autofix("run", "train.py", cwd=project).returncode == 128 + signal.SIGTERM


def test_a_folder_that_may_not_be_written_is_named(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_target: Path, temporary: Path, _content: bytes) -> None:
        raise PermissionError(13, "Permission denied", str(temporary))

    (project / "lib").mkdir()
    (project / "lib" / "model.py").write_bytes(b"a = 1\n")
    monkeypatch.setattr(write, "_prepare", refuse)
    with pytest.raises(write.WriteRefused, match=r"/lib: Permission denied$"):
        write.write({project / "lib" / "model.py": (b"a = 1\n", b"a = 2\n")}, project)


# --- narrow terminals --------------------------------------------------------------------------


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Report:
    monkeypatch.chdir(tmp_path)
    return report(tmp_path)


@pytest.mark.parametrize("width", [40, 60, 100])
def test_sentences_are_folded_between_words_and_excerpts_fit(
    made: Report, width: int, capsys: pytest.CaptureFixture[str]
) -> None:
    look = Look(terminal=True, command=("train.py",))
    show(made, Snapshot(made), look, sys.stdout)
    whole = capsys.readouterr().out
    show(made, Snapshot(made), replace(look, width=width), sys.stdout)
    folded = capsys.readouterr().out
    assert folded.split("│")[0].split() == whole.split("│")[0].split()  # no word is broken
    assert any(" │ " in line for line in folded.splitlines())
    verbatim = ("+", "-", "@@", "To apply")
    assert [line for line in folded.splitlines() if len(line) > width and not line.startswith(verbatim)] == []
    diff = [line for line in whole.splitlines() if line.startswith(("+", "-", "@@"))]
    assert [line for line in folded.splitlines() if line in diff] == diff  # what is to be copied stays whole


# --- completion in real shells -----------------------------------------------------------------


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_a_real_shell_completes(shell: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")
    commands = tmp_path / "bin"
    commands.mkdir()
    (commands / "autofix").write_text(f'#!/bin/sh\nexec {sys.executable} -m autofix "$@"\n')
    (commands / "autofix").chmod(0o755)
    environment = {
        "HOME": str(tmp_path), "ZDOTDIR": str(tmp_path), "PATH": f"{commands}:{os.environ['PATH']}",
        "TERM": "dumb", "PS1": "", "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1",
    }  # fmt: skip
    shown = [str(commands / "autofix"), "--show-completion", shell]
    script = subprocess.run(shown, env=environment, capture_output=True, text=True, check=True).stdout
    first = {"bash": "", "zsh": "autoload -Uz compinit && compinit -u\n"}[shell]
    (tmp_path / "completion").write_text(first + script)
    words = {"bash": ["--norc", "--noprofile", "-i"], "zsh": ["-f", "-i"]}[shell]
    child = pexpect.spawn(shell, words, env=environment, encoding="utf-8", timeout=120, cwd=str(tmp_path))
    child.sendline("source ./completion && echo re''ady")
    child.expect("ready")
    child.send("autofix expl\t")
    child.expect("ain")
    child.send("AG2\x15")
    child.send("autofix check --exit\t")
    child.expect("-zero")
    child.close(force=True)
