"""What README and quick start show in their consoles is what a person who types it sees."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CASE = ROOT / "fixtures" / "first" / "gan_two_step"
COMMAND = re.compile(
    r"^\$ autofix (fix train\.py|verify [^\n]*tutorial\.py[^\n]*)\n(.*?)(?=^\$ |\Z)", re.MULTILINE | re.DOTALL
)


def words(text: str) -> str:
    """Text without what may differ: where lines are folded, and the last digits of numbers."""
    return " ".join(re.sub(r"\d+\.\d+", "#", text).split())


@pytest.mark.torch
@pytest.mark.slow
def test_every_console_of_the_first_pages_shows_what_is_printed(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    shutil.copy(CASE / "broken.py", tmp_path / "train.py")
    shutil.copy(CASE / "wrong" / "detach_d.py", tmp_path / "tutorial.py")
    printed: dict[str, str] = {}
    seen = 0
    for page in ("README.md", "docs/quickstart.md"):
        text = (ROOT / page).read_text("utf-8")
        for console in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
            for typed, shown in COMMAND.findall(console):
                if not shown.strip():
                    continue
                command = [sys.executable, "-m", "autofix", *typed.split()]
                if typed not in printed:
                    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
                    printed[typed] = words(done.stdout)
                for part in re.split(r"^\.\.\.$", shown, flags=re.MULTILINE):
                    assert words(part) in printed[typed], f"{page}: autofix {typed}"
                seen += 1
    assert seen == 4
