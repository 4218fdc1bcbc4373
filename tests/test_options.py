"""Every option is described once, where it is declared; the page about them, and completion, come from there."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from autofix import cli, options

if TYPE_CHECKING:
    from pathlib import Path


def test_the_page_about_options_is_current() -> None:
    assert options.FILE.read_text("utf-8") == options.page(), "run: python -m autofix.options"


def test_every_option_and_command_says_what_it_is() -> None:
    for name, command in cli.command().commands.items():
        assert command.help, name
        for param in command.params:
            assert param.param_type_name == "argument" or param.help, f"{name} {param.name}"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands_and_options(shell: str, tmp_path: Path) -> None:
    shown = _autofix(["--show-completion", shell], tmp_path)
    assert "_AUTOFIX_COMPLETE" in shown
    typed = {"bash": {"COMP_WORDS": "autofix fi", "COMP_CWORD": "1"}}.get(
        shell, {"_TYPER_COMPLETE_ARGS": "autofix fi", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    )
    assert "fix" in _autofix([], tmp_path, _AUTOFIX_COMPLETE=f"complete_{shell}", **typed)


def _autofix(words: list[str], folder: Path, **environment: str) -> str:
    return subprocess.run(
        [sys.executable, "-m", "autofix", *words], cwd=folder, capture_output=True, text=True, check=False,
        env=os.environ | {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"} | environment,
    ).stdout  # fmt: skip
