"""Answers that last: what a project's `[tool.autofix.readings]` says of what its code leaves open.

Each is kept by its place: the file, the function, and the text of the line. Where the line is changed the answer is
not used any more, and that is told.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

from autofix.core.config import ConfigError, nearest
from autofix.core.model import Target
from autofix.core.write import put, write
from autofix.probe import wire

_TABLE = "[tool.autofix.readings]"
_HEADER = re.compile(rb"^[ \t]*\[tool\.autofix\.readings\][ \t]*(#[^\n]*)?\r?\n?", re.MULTILINE)


def key(target: Target, place: wire.Stack) -> str:
    """The name of a place: `train.py update: loss.backward()`."""
    if not place:
        return ""
    frame, path = place[0], Path(place[0].file)
    try:
        lines = target.read(path).decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    line = lines[frame.line - 1].strip() if frame.line <= len(lines) else ""
    return f"{_relative(target, path)} {frame.function}: {line}"


def answers(target: Target) -> dict[str, str]:
    """The answers that the nearest pyproject.toml keeps, by their places."""
    path = nearest(target.script.parent)
    if path is None:
        return {}
    try:
        table = tomllib.loads(path.read_text("utf-8")).get("tool", {}).get("autofix", {}).get("readings", {})
    except (OSError, ValueError, AttributeError):
        return {}  # told where settings are read
    return {place: name for place, name in table.items() if isinstance(name, str)} if isinstance(table, dict) else {}


def outdated(target: Target, place: str) -> str:
    """Which answer was kept for the same function and belongs to a line that is no longer there; '' if none was."""
    function, _, _ = place.partition(": ")
    for known, name in answers(target).items():
        before, _, line = known.partition(": ")
        if known != place and before == function and not _stands(target, before, line):
            return f"the answer {name!r} was given for `{line}`, and the code there has changed"
    return ""


def keep(target: Target, place: str, name: str) -> Path:
    """Write an answer into the nearest pyproject.toml, else into a new one in the project's root; returns which.

    Raises write.WriteRefused where that cannot be done, and ConfigError where the file cannot be read.
    """
    root = target.project
    path = nearest(target.script.parent) or root / "pyproject.toml"
    old = path.read_bytes() if path.exists() else b""
    if answers(target).get(place) == name:
        return path
    entry = f"{json.dumps(place, ensure_ascii=False)} = {json.dumps(name)}\n".encode()
    quoted = re.escape(json.dumps(place, ensure_ascii=False).encode())
    kept = re.sub(rb"^" + quoted + rb"[ \t]*=[^\n]*\n?", b"", old, flags=re.MULTILINE)
    if found := _HEADER.search(kept):
        new = kept[: found.end()] + entry + kept[found.end() :]
    else:
        gap = b"" if not kept else b"\n" if kept.endswith(b"\n") else b"\n\n"
        new = kept + gap + _TABLE.encode() + b"\n" + entry
    try:
        tomllib.loads(new.decode("utf-8"))
    except ValueError as error:
        raise ConfigError(f"{path}: the answer cannot be kept: {error}") from None
    if not path.exists():
        put(path, new)
    else:
        write({path: (old, new)}, path.parent)
    return path


def _stands(target: Target, function: str, line: str) -> bool:
    file = function.rpartition(" ")[0]
    try:
        text = target.read(target.project / file).decode("utf-8", "replace")
    except OSError:
        return False
    return line in map(str.strip, text.splitlines())


def _relative(target: Target, path: Path) -> str:
    root = target.project
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
