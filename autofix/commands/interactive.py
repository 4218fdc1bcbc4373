"""The review at a terminal: each fix with its diff and effect, one key for each decision, nothing written unasked."""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import sys
import tempfile
import termios
import tty
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from rich.text import Text

from autofix import render
from autofix.core.model import Applicability, Fix, Outcome, Question, Report
from autofix.render import Look, terminal, words

_KEYS = "[y]es  [n]o  [a]lternative  [e]dit  [q]uit  [?]"
_HELP = """\
y  write this fix to disk, and end
n  put this fix away, and show the next
a  show the next fix, and keep this one for later
e  change this fix in your editor ($VISUAL, $EDITOR or vi); the result is run and judged, then shown
q  end, and write nothing
?  this list
"""
_STOP = ("q", "\x03", "\x04", "\x1b")


class ReviewError(ValueError):
    """A review cannot be held here; the message is one line and says what to do."""


class Choice(NamedTuple):
    """The fix that a person took: the number, from 0, among its report's fixes."""

    report: Report
    number: int


def check() -> None:
    """Raise ReviewError unless a person sits at both ends."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise ReviewError("--interactive needs a terminal to ask at; without one, --write applies the best safe fix")


def review(
    report: Report, snapshot: render.Snapshot, look: Look, judge: Callable[[dict[Path, bytes]], Report]
) -> Choice | None:  # fmt: skip
    """Show the fixes of a report until one is taken; None where none is. `judge` verifies what a person edited."""
    return _Review(look, judge).hold(report, snapshot)


def answer(question: Question, report: Report, snapshot: render.Snapshot, look: Look) -> str:
    """The name of the answer that a person gives to what the code leaves open; '' where they give none."""
    asking = _Review(look, lambda _: report)
    asking.say(terminal.question(report, snapshot))
    names = [one.name for one in question.answers]
    keys = "".join(str(number) for number, _ in enumerate(names, 1))
    shown = "  ".join(f"[{key}] {name}" for key, name in zip(keys, names, strict=True))
    key = asking.key(f"{shown}  [n]either", keys + "n")
    return "" if key == "n" else names[int(key) - 1]


class _Review:
    def __init__(self, look: Look, judge: Callable[[dict[Path, bytes]], Report]) -> None:
        self._look, self._judge = look, judge
        self._console = terminal.console(look, sys.stdout)

    def hold(self, report: Report, snapshot: render.Snapshot) -> Choice | None:
        self.say(terminal.failure(report, snapshot, self._look))
        shown = [(Choice(report, index), snapshot) for index in range(len(report.fixes))]
        at = 0
        while shown:
            at %= len(shown)
            choice, view = shown[at]
            self._show(choice, view, f"{choice.number + 1} of {len(report.fixes)}")
            key = self.key(_KEYS, "ynaeq")
            if key == "q":
                break
            if key == "y" and self._sure(choice):
                return choice
            if key == "n":
                del shown[at]
            elif key == "a":
                at += 1
            elif key == "e" and (edited := self._edited(_fix(choice))) is not None:
                shown.insert(at, (Choice(edited, 0), render.Snapshot(edited)))
        self._console.print("Nothing was written.")
        return None

    def _show(self, choice: Choice, snapshot: render.Snapshot, count: str) -> None:
        label = "Your edit" if choice.report.outcome in (Outcome.SAFE, Outcome.UNSAFE) else f"Fix {count}"
        self.say(terminal.candidate(_fix(choice), snapshot, label, conditions=choice.report.conditions))
        self._console.print()

    def _sure(self, choice: Choice) -> bool:
        if _fix(choice).verdict.applicability is Applicability.SAFE:
            return True
        self._console.print("It is not shown to keep the gradients that the code describes.", style="bold yellow")
        return self.key("Write it all the same? [y]es  [n]o", "yn") == "y"

    def key(self, prompt: str, keys: str) -> str:
        """The next key of those that mean something."""
        while True:
            self._console.print(f"{prompt} ", end="", style="bold")
            key = _read_key()
            self._console.print(key if key.isprintable() else "")
            if key.lower() in keys:
                return key.lower()
            if not key or key in _STOP:
                return "q" if "q" in keys else "n"
            if "q" in keys:
                self._console.print(_HELP, end="")

    def _edited(self, fix: Fix) -> Report | None:
        """The report about a fix as a person changed it; None where there is nothing new to show."""
        try:
            files = _in_editor(fix.candidate.files)
        except OSError as error:
            self._console.print(f"The editor did not start: {error.strerror}; set EDITOR.")
            return None
        if files == fix.candidate.files:
            self._console.print("Nothing was changed.")
            return None
        report = self._judge(files)
        if report.fixes:
            return report
        if report.rejected:
            verdict = report.rejected[0].verdict
            detail = f": {words.shortened(verdict.failure.message)}" if verdict.failure is not None else ""
            self._console.print(f"With your edit, {words.RUNS[verdict.run]}{detail}", style="bold")
        else:
            self._console.print(f"It was not judged: {words.sentence(report)}", style="bold")
        return None

    def say(self, lines: Iterable[Text]) -> None:
        terminal.put(self._console, lines)


def _fix(choice: Choice) -> Fix:
    return choice.report.fixes[choice.number]


def _in_editor(files: dict[Path, bytes]) -> dict[Path, bytes]:
    """Files as a person leaves them in their editor; raises OSError where there is none."""
    command = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    with tempfile.TemporaryDirectory(prefix="autofix-") as folder:
        copies = {path: Path(folder, str(number), path.name) for number, path in enumerate(files)}
        for path, copy in copies.items():
            copy.parent.mkdir()
            copy.write_bytes(files[path])
        subprocess.run([*command, *map(str, copies.values())], check=False)
        return {path: copy.read_bytes() for path, copy in copies.items()}


def _read_key() -> str:
    """One key, without waiting for the end of a line; empty at the end of input."""
    sys.stdout.flush()
    with _key_by_key(sys.stdin.fileno()) as descriptor:
        data = os.read(descriptor, 64)
    return "\x1b" if data.startswith(b"\x1b") else data[:1].decode("ascii", "replace")


@contextlib.contextmanager
def _key_by_key(descriptor: int) -> Iterator[int]:
    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor)
        yield descriptor
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
