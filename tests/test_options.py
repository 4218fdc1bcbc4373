"""Every option is described once, where it is declared; the page about them, and completion, come from there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from autofix import api, cli, docs
from autofix.batch import manifest
from autofix.batch.records import Terms
from autofix.core import config, limits
from autofix.core.limits import RunOptions
from autofix.core.model import Target
from autofix.target import targets

OTHER = RunOptions(
    select=("AG201",), ignore=("AG102",), passes=4, budget=9.0, time_limit=7.0, memory_limit=1 << 30,
    process_limit=9,
    output_limit=1 << 10, network=True, isolation="copy", device="cpu", stand_in=True, shorten=5, skip_to="1",
    reading="apart",
)  # fmt: skip
"""Options of which none is the usual one."""


def test_the_page_about_options_is_current() -> None:
    assert docs.OPTIONS.read_text("utf-8") == docs.options_page(), "run: make docs"


def test_the_page_about_options_has_no_backslashes() -> None:
    assert "\\" not in docs.options_page()


def test_every_option_and_command_says_what_it_is() -> None:
    for name, command in cli.command().commands.items():
        assert command.help, name
        for param in command.params:
            assert param.param_type_name == "argument" or param.help, f"{name} {param.name}"


def test_every_way_in_takes_every_option_of_a_run(tmp_path: Path) -> None:
    commands = cli.command().commands
    taken = {name: {param.name for param in commands[name].params} for name in ("fix", "run", "batch", "verify")}
    ruled = {"select", "ignore"}  # an edit that somebody made is judged without rules
    assert {name: {*limits.NAMES} - had for name, had in taken.items()} == {
        "fix": set(), "run": set(), "batch": set(), "verify": ruled,
    }  # fmt: skip
    assert {*limits.NAMES} <= {*config.NAMES}  # [tool.autofix], and initialization options of an editor
    assert {*limits.NAMES} <= {*api.Options.__annotations__}
    for name in {*limits.NAMES} - {"python"}:
        value = getattr(OTHER, name)
        line = f"{name.replace('_', '-')} = {json.dumps(value)}"
        (tmp_path / "all.toml").write_text(f'[[repository]]\npath = "x"\n{line}\n')
        (one,) = manifest.repositories([str(tmp_path / "all.toml")], Terms())
        assert getattr(one.options, name) == value


def test_a_target_is_under_every_option(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("x = 1\n")
    plain = Target(tmp_path / "train.py", root=tmp_path, cwd=tmp_path)
    usual = targets.under(plain, RunOptions())
    for name in {*limits.NAMES} - {"python", "select", "ignore"}:
        assert targets.under(plain, replace(RunOptions(), **{name: getattr(OTHER, name)})) != usual, name


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands_and_options(shell: str, tmp_path: Path) -> None:
    shown = _autofix(["--show-completion", shell], tmp_path)
    assert "_AUTOFIX_COMPLETE" in shown
    typed = {"bash": {"COMP_WORDS": "autofix fi", "COMP_CWORD": "1"}}.get(
        shell, {"_TYPER_COMPLETE_ARGS": "autofix fi", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    )
    assert "fix" in _autofix([], tmp_path, _AUTOFIX_COMPLETE=f"complete_{shell}", **typed)


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("explain AG10", ["AG101", "AG102", "AG103", "AG104", "AG105", "AG106", "AG107", "AG108", "AG109"]),
        ("explain missing", ["missing-zero-grad"]),
        ("explain left-", ["left-out-of-graph"]),
        ("explain freed", ["freed-graph"]),
        ("ide ", ["pycharm", "vscode"]),
        ("fix --device ", ["auto", "cpu", "asis"]),
        ("fix --ignore AG101,AG51", ["AG101,AG510", "AG101,AG511"]),
        ("rules --output-format ", ["text", "json"]),
        ("batch --engine ", ["local", "ray"]),
    ],
)
def test_a_shell_completes_values(typed: str, shown: list[str], tmp_path: Path) -> None:
    environment = {"COMP_WORDS": f"autofix {typed}", "COMP_CWORD": str(len(typed.split(" ")))}
    assert _autofix([], tmp_path, _AUTOFIX_COMPLETE="complete_bash", **environment).splitlines() == shown


def _autofix(words: list[str], folder: Path, **environment: str) -> str:
    return subprocess.run(
        [sys.executable, "-m", "autofix", *words], cwd=folder, capture_output=True, text=True, check=False,
        env=os.environ | {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"} | environment,
    ).stdout  # fmt: skip
