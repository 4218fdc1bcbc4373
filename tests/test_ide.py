"""Editors' external tools: their configuration as they read it, its patterns on what autofix really prints."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pexpect
import pytest
from commands import autofix

from autofix.commands import ide

NODE = shutil.which("node") or ""
BROKEN = """import torch

w = torch.ones(3, requires_grad=True)
loss = (w * w).sum()  # 两次
loss.backward()
loss.backward()
"""
MATCH = """
const [file, output] = process.argv.slice(1);
const task = JSON.parse(require("fs").readFileSync(file)).tasks[0];
const rows = require("fs").readFileSync(output, "utf8").split("\\n").flatMap((line) =>
  task.problemMatcher.flatMap(({severity, pattern: p, background: b}) => {
    const found = new RegExp(p.regexp).exec(line);
    const mark = new RegExp(b.beginsPattern).test(line) ? "begin" : new RegExp(b.endsPattern).test(line) ? "end" : null;
    return found ? [[severity, found[p.file], found[p.line], found[p.column], p.code ? found[p.code] : null]]
      : mark ? [[severity, mark]] : [];
  }));
console.log(JSON.stringify(rows));
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "a project"
    folder.mkdir()
    (folder / "pyproject.toml").touch()
    (folder / "train.py").write_text(BROKEN, "utf-8")
    return folder


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.skipif(not NODE, reason="there is no JavaScript here")
def test_a_task_of_vscode_finds_the_problems_it_prints(project: Path) -> None:
    assert autofix("ide", "vscode", cwd=project).stdout == ".vscode/tasks.json: written\n"
    tasks = json.loads((project / ".vscode" / "tasks.json").read_text("utf-8"))
    task = tasks["tasks"][0]
    words = [word.replace("${file}", str(project / "train.py")) for word in [task["command"], *task["args"]]]
    # VS Code runs a task in a terminal, so that is what autofix must see.
    words = [sys.executable, "-m", "autofix", *words[words.index("fix") :]]
    environment = os.environ | task["options"]["env"]
    output, status = pexpect.run(
        " ".join(f"'{word}'" for word in words), cwd=str(project), env=environment, withexitstatus=True,
        timeout=120, encoding="utf-8",
    )  # fmt: skip
    assert status == 1
    assert "\x1b" not in output
    (project / "output").write_text(output.replace("\r\n", "\n"), "utf-8")
    files = [str(project / ".vscode" / "tasks.json"), str(project / "output")]
    done = subprocess.run([NODE, "-e", MATCH, *files], capture_output=True, text=True, check=True)
    rows = json.loads(done.stdout)
    problems = [row for row in rows if row[0] == "error" and len(row) > 2]
    assert [row[1:] for row in problems] == [["train.py", "6", "1", "AG201"]]
    assert [row for row in rows if len(row) == 2] == [
        ["error", "begin"], ["info", "begin"], ["error", "end"], ["info", "end"],
    ]  # fmt: skip


def test_the_patterns_tell_problems_from_notes_and_code_from_words() -> None:
    line, note = re.compile(ide.LINE), re.compile(ide.NOTE)
    for text, groups in {
        "a b/x.py:3:14: AG201+AG102 RuntimeError: again": ("a b/x.py", "3", "14", "AG201+AG102", "RuntimeError: again"),
        "x.py:3:1: freed-graph RuntimeError: again": ("x.py", "3", "1", "freed-graph", "RuntimeError: again"),
        "C:\\x.py:3:1: RuntimeError: again": ("C:\\x.py", "3", "1", None, "RuntimeError: again"),
    }.items():
        found = line.match(text)
        assert found is not None
        assert found.groups() == groups
        assert note.match(text) is None
    assert line.match("x.py:3:1: note this backward freed the graph") is None
    assert note.match("x.py:3:1: note this backward freed the graph") is not None
    for text in ("+    x = 1", "@@ -1 +1 @@", "Effect: identical", "autofix: 1 file read, nothing found"):
        assert line.match(text) is None


def test_other_tasks_stay_and_ours_are_replaced(project: Path) -> None:
    other = {"label": "build", "type": "shell", "command": "make"}
    before = {"version": "2.0.0", "tasks": [other, {"label": "autofix: old"}], "inputs": [{"id": "x"}]}
    once = ide.vscode(json.dumps(before))
    assert ide.vscode(once) == once
    document = json.loads(once)
    assert document["tasks"][0] == other
    assert all(task["label"] != "autofix: old" for task in document["tasks"])
    assert [one["id"] for one in document["inputs"]] == ["x", "autofixEdited"]
    (project / ".vscode").mkdir()
    (project / ".vscode" / "tasks.json").write_text("{ // mine\n}")
    done = autofix("ide", "vscode", cwd=project)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "--print" in done.stderr


# What PyCharm puts for its macros in a filter.
MACROS = {
    "$FILE_PATH$": r"((?:\w\:)?[0-9 a-z_A-Z\-\\./]+)",
    "$LINE$": "([0-9]+)",
    "$COLUMN$": "([0-9]+)",
}


@pytest.mark.torch
@pytest.mark.slow
def test_a_tool_of_pycharm_links_what_it_prints(project: Path, tmp_path: Path) -> None:
    settings = tmp_path / ".config" / "JetBrains" / "PyCharm2026.2"
    settings.mkdir(parents=True)
    done = autofix("ide", "pycharm", cwd=project, XDG_CONFIG_HOME=str(tmp_path / ".config"))
    assert done.stdout == f"{settings / 'tools' / 'autofix.xml'}: written\n"
    tools = ET.parse(settings / "tools" / "autofix.xml").getroot()  # noqa: S314  ours
    assert [tool.get("name") for tool in tools] == ["Show a fix", "Fix and apply", "Verify an edited copy", "Check"]
    options = {option.get("name"): option.get("value") or "" for option in tools[0].iter("option")}
    assert Path(options["COMMAND"]).is_absolute()
    words = options["PARAMETERS"].replace('"$FilePath$"', str(project / "train.py"))
    words = words[words.index("fix --") :].split(" ", 2)
    shown = autofix(*words, cwd=project)
    pattern = options["REGEXP"]
    for macro, meant in MACROS.items():
        pattern = pattern.replace(macro, meant)
    found = re.search(pattern, shown.stdout)
    assert found is not None
    assert found.groups() == (str(project / "train.py"), "6", "1")


def test_what_cannot_be_set_up_is_one_line(tmp_path: Path) -> None:
    (tmp_path / ".vscode").touch()
    cases: list[tuple[list[str], dict[str, Any]]] = [
        (["emacs"], {}), (["pycharm"], {"XDG_CONFIG_HOME": str(tmp_path)}), (["vscode"], {}),
    ]  # fmt: skip
    for words, environment in cases:
        done = autofix("ide", *words, cwd=tmp_path, **environment)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), words


def test_the_version_says_what_is_around(tmp_path: Path) -> None:
    lines = autofix("--version", cwd=tmp_path).stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["autofix", "torch", "isolation"]
    assert lines[1].endswith(f" in {sys.executable}")
    without = autofix("--version", cwd=tmp_path, VIRTUAL_ENV=str(tmp_path)).stdout.splitlines()
    assert "VIRTUAL_ENV" in without[1]
