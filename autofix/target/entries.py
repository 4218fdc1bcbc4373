"""What the words behind our options run: a script, a module, a console command or a pytest node, and how."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

_PYTHON = re.compile(r"python(\d(\.\d+)*)?(\.exe)?")
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_RUNNERS = (("uv", "run"), ("poetry", "run"), ("pipenv", "run"), ("hatch", "run"), ("pdm", "run"), ("time",), ("env",))
_LAUNCHERS = (("torchrun",), ("accelerate", "launch"), ("lightning", "run"), ("deepspeed",))
_DISTRIBUTED = ("torch.distributed.run", "torch.distributed.launch", "accelerate.commands.launch")
_TWO_WORDS = {"-W", "-X"}
ONE_PROCESS = {
    "RANK": "0", "LOCAL_RANK": "0", "GROUP_RANK": "0", "WORLD_SIZE": "1", "LOCAL_WORLD_SIZE": "1",
    "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0", "TORCHELASTIC_RUN_ID": "none",
}  # fmt: skip
"""What a launcher tells the only process of its world. Port 0: whichever is free."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One way into a program. `kind` is script, module, console or pytest; `folder` where it is to be started."""

    kind: str
    name: str
    argv: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    folder: Path | None = None


class EntryError(ValueError):
    """The words do not say what to run; the message is one line and says what to write."""


def parse(words: Sequence[str]) -> Entry:
    """The entry that a command line means, as a shell would read it: `python train.py`, `torchrun train.py`, ..."""
    rest = list(words)
    environment: dict[str, str] = {}
    while rest:
        if match := _ASSIGNED.fullmatch(rest[0]):
            environment[match[1]] = match[2]
            rest = rest[1:]
        elif runner := next((known for known in _RUNNERS if tuple(rest[: len(known)]) == known), None):
            rest = rest[len(runner) :]
        else:
            break
    if not rest:
        raise EntryError("there is no program in it")
    entry = _program(rest)
    return replace(entry, environment={**entry.environment, **environment})


def is_command(word: str) -> bool:
    """Whether a first word begins a command line, as a program that starts another, and no script is called so here."""
    known = {first for first, *_ in (*_RUNNERS, *_LAUNCHERS)} | {"pytest", "py.test"}
    begins = _PYTHON.fullmatch(word) or _ASSIGNED.fullmatch(word) or word in known
    return bool(begins) and not Path(word).exists()


def _program(words: list[str]) -> Entry:
    first, *rest = words
    for launcher in _LAUNCHERS:
        if tuple(words[: len(launcher)]) == launcher:
            return _launched(words[len(launcher) :])
    if _PYTHON.fullmatch(Path(first).name):
        return _python(rest)
    if first in {"pytest", "py.test"}:
        return _pytest(rest)
    if first.endswith((".py", ".ipynb")):
        return Entry("script", first, tuple(rest))
    return Entry("console", first, tuple(rest))


def _python(words: list[str]) -> Entry:
    place = 0
    while place < len(words) and words[place].startswith("-"):
        if words[place] == "-m" and place + 1 < len(words):
            name, rest = words[place + 1], words[place + 2 :]
            if name in _DISTRIBUTED:
                return _launched(rest)
            return _pytest(rest) if name == "pytest" else Entry("module", name, tuple(rest))
        if words[place] in {"-c", "-"}:
            raise EntryError("code on the command line has no file to repair; put it into a script")
        place += 2 if words[place] in _TWO_WORDS else 1
    if place >= len(words):
        raise EntryError("python is given no script")
    return Entry("script", words[place], tuple(words[place + 1 :]))


def _launched(words: list[str]) -> Entry:
    """Behind a launcher's own options: the first word that is a script, or the module behind -m."""
    for place, word in enumerate(words):
        if word in {"-m", "--module"} and place + 1 < len(words):
            return Entry("module", words[place + 1], tuple(words[place + 2 :]), dict(ONE_PROCESS))
        if word.endswith(".py"):
            return Entry("script", word, tuple(words[place + 1 :]), dict(ONE_PROCESS))
    raise EntryError("the launcher is given no script that ends in .py")


def _pytest(words: list[str]) -> Entry:
    node = next((word for word in words if not word.startswith("-")), None)
    if node is None:
        raise EntryError("pytest is given no test; name one as tests/test_train.py::test_step")
    return Entry("pytest", node, tuple(word for word in words if word is not node))
