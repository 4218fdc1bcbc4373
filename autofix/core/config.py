"""What a person may set: every option of `fix`, from the command line, else [tool.autofix], else its default."""

from __future__ import annotations

import dataclasses
import math
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autofix.core.limits import RunOptions

CHOICES = {
    "isolation": ("auto", "overlay", "landlock", "copy", "none"),
    "output_format": ("text", "json", "sarif", "github"),
    "color": ("auto", "always", "never"),
    "device": ("auto", "cpu", "asis"),
}
Kind = tuple["Callable[[Any], Any]", str]
"""What reads a value, and what it has to be in words."""
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", re.IGNORECASE)
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


class ConfigError(ValueError):
    """A setting that cannot be meant; the message is one line and says what to write instead."""


@dataclass(frozen=True, slots=True)
class Settings(RunOptions):
    """One value for every option of `fix`: how programs are run, and what the command then writes and shows."""

    write: bool = False
    diff: bool = False
    unsafe_fixes: bool = False
    output_format: str = "text"
    quiet: bool = False
    verbose: bool = False
    full_paths: bool = False
    color: str = "auto"
    run: str = ""
    loosened: tuple[str, ...] = ()
    """The project's own settings that open its fence, in words: whoever runs it should know."""


NAMES = tuple(field.name for field in dataclasses.fields(Settings) if field.name != "loosened")


def settings(given: Mapping[str, Any], start: Path) -> Settings:
    """The settings for a script in `start`; what is None in `given` was not given."""
    chosen = {
        name: checked(name, value, f"--{_dashed(name)}")
        for name, value in given.items()
        if name in NAMES and value is not None and value != []
    }
    defaults = _defaults(start)
    loosened = tuple(
        f"{_dashed(name)} = {value!r}"
        for name, value in defaults.items()
        if name not in chosen and (name, value) in {("network", True), ("isolation", "none")}
    )
    return Settings(**{**defaults, **chosen}, loosened=loosened)


def size(text: str) -> int:
    """Bytes from `4G`, `512M`, `1.5 GiB` or a bare number; ValueError otherwise."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ValueError(text)
    return int(float(match[1]) * _UNITS[match[2].lower()])


def nearest(start: Path) -> Path | None:
    """The closest pyproject.toml, in `start` or a folder above it, but none above the repository that it is in."""
    for folder in (start, *start.parents):
        if (path := folder / "pyproject.toml").exists():
            return path
        if (folder / ".git").exists():
            break
    return None


def _defaults(start: Path) -> dict[str, Any]:
    """What [tool.autofix] of the nearest pyproject.toml says."""
    path, found = configured("", {name: KINDS[name] for name in NAMES}, start)
    if "/" in (python := found.get("python", "")):
        found["python"] = str(path.parent / python)
    return found


def configured(command: str, kinds: Mapping[str, Kind], start: Path) -> tuple[Path, dict[str, Any]]:
    """The pyproject.toml nearest to `start`, and what its table for a command says ('': the table for all of them)."""
    path = nearest(start)
    if path is None:
        return start, {}
    found: Any = read(path)
    for name in filter(None, ("tool", "autofix", command)):
        found = found.get(name, {}) if isinstance(found, dict) else found
    if not command and isinstance(found, dict):  # a table in it is another command's
        found = {key: value for key, value in found.items() if not isinstance(value, dict)}
    return path, table(found, kinds, f"[tool.autofix{'.' * bool(command)}{command}] of {path}")


def read(path: Path) -> dict[str, Any]:
    """A TOML file."""
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: {_reason(error)}") from None


def table(found: Any, kinds: Mapping[str, Kind], where: str) -> dict[str, Any]:
    """The values of a table by our options' names, each as its kind wants it; `where` is how a person finds it."""
    if not isinstance(found, dict):
        raise ConfigError(f"{where}: it must be a table")
    named = {str(key).replace("-", "_"): (key, value) for key, value in found.items()}
    for name, (key, _) in named.items():
        if name not in kinds:
            raise ConfigError(f"{where}: no option {key!r}; there are {', '.join(map(_dashed, kinds))}")
    return {name: checked(name, value, f"{where}, {key}", kinds) for name, (key, value) in named.items()}


def checked(name: str, value: Any, where: str, kinds: Mapping[str, Kind] | None = None) -> Any:
    """A value as its option wants it."""
    kind, words = (KINDS if kinds is None else kinds)[name]
    try:
        return kind(value)
    except (AttributeError, TypeError, ValueError, OverflowError):
        raise ConfigError(f"{where}: {value!r} is not {words}") from None


def texts(value: Any) -> tuple[str, ...]:
    """A list of texts as it is; TypeError for anything else."""
    if not isinstance(value, list):
        raise TypeError
    return tuple(map(text, value))


def text(value: Any) -> str:
    """A text as it is; TypeError for anything else."""
    if not isinstance(value, str):
        raise TypeError
    return value


def _among(choices: Sequence[str]) -> Kind:
    return (lambda value: choices[choices.index(value)]), f"one of {', '.join(choices)}"


def flag(value: Any) -> bool:
    """True or False as it is; TypeError for anything else."""
    if not isinstance(value, bool):
        raise TypeError
    return value


def codes(value: Any) -> tuple[str, ...]:
    """The words of one text or several, each a list with commas."""
    given = [value] if isinstance(value, str) else list(value)
    return tuple(code.strip() for one in given for code in one.split(",") if code.strip())


def _count(value: Any) -> int:
    if isinstance(value, bool) or int(value) != float(value) or int(value) < 1:
        raise ValueError
    return int(value)


def seconds(value: Any) -> float:
    """A number above 0; ValueError for anything else."""
    if isinstance(value, bool) or not math.isfinite(float(value)) or float(value) <= 0:
        raise ValueError
    return float(value)


def _allowance(value: Any) -> float:
    return 0.0 if value == 0 and not isinstance(value, bool) else seconds(value)


def _bytes(value: Any) -> int:
    if isinstance(value, bool):
        raise TypeError
    return size(str(value))


_FLAG = (flag, "true or false")
_CODES = (codes, "a list of rule codes, such as AG101,AG201")
_SIZES = (_bytes, "a size; write 4G, 512M or a number of bytes")
KINDS: dict[str, Kind] = {
    **{name: _among(choices) for name, choices in CHOICES.items()},
    **dict.fromkeys(("write", "diff", "unsafe_fixes", "network", "quiet", "verbose", "full_paths", "stand_in"), _FLAG),
    **dict.fromkeys(("select", "ignore"), _CODES),
    **dict.fromkeys(("memory_limit", "output_limit"), _SIZES),
    "python": (text, "a path, a command or an environment's folder"),
    "run": (text, "a command line, such as python train.py --debug"),
    "skip_to": (str, "a line, or FILE:LINE"),
    "reading": (text, "the name of an answer that a report tells"),
    "shorten": (_count, "a whole number from 1 on"),
    **dict.fromkeys(("passes", "process_limit"), (_count, "a whole number from 1 on")),
    "budget": (_allowance, "a number of seconds; 0 is what the failing run suggests"),
    "time_limit": (seconds, "a number of seconds above 0"),
}


def _dashed(name: str) -> str:
    return name.replace("_", "-")


def _reason(error: BaseException) -> str:
    return " ".join(str(getattr(error, "strerror", None) or error).split())
