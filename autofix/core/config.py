"""What a person may set: every option of `fix`, from the command line, else [tool.autofix], else its default."""

from __future__ import annotations

import dataclasses
import math
import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from autofix.core.limits import RunOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

CHOICES = {
    "isolation": ("auto", "overlay", "landlock", "copy", "none"),
    "output_format": ("text", "json", "sarif", "github"),
    "color": ("auto", "always", "never"),
    "device": ("auto", "cpu", "asis"),
}
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
        name: checked(name, value, _option(name))
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


def nearest(name: str, start: Path) -> Path | None:
    """The closest `name` in `start` or a folder above it."""
    return next((folder / name for folder in (start, *start.parents) if (folder / name).exists()), None)


def _defaults(start: Path) -> dict[str, Any]:
    """What [tool.autofix] of the nearest pyproject.toml says."""
    path = nearest("pyproject.toml", start)
    if path is None:
        return {}
    try:
        table = tomllib.loads(path.read_text("utf-8")).get("tool", {}).get("autofix", {})
    except (OSError, ValueError, AttributeError) as error:
        raise ConfigError(f"{path}: {_reason(error)}") from None
    where = f"[tool.autofix] of {path}"
    if not isinstance(table, dict):
        raise ConfigError(f"{where}: it must be a table")
    found = {}
    for key, value in table.items():
        if isinstance(value, dict):
            continue  # a table for another command
        name = str(key).replace("-", "_")
        if name not in NAMES:
            raise ConfigError(f"{where}: no option {key!r}; there are {', '.join(map(_dashed, NAMES))}")
        found[name] = checked(name, value, f"{where}, {key}")
    if "/" in (python := found.get("python", "")):
        found["python"] = str(path.parent / python)
    return found


def checked(name: str, value: Any, where: str) -> Any:
    """A value as its setting wants it."""
    if name in CHOICES:
        if value not in CHOICES[name]:
            raise ConfigError(f"{where}: {value!r} is not one of {', '.join(CHOICES[name])}")
        return value
    kind, words = _KINDS[name]
    try:
        return kind(value)
    except (TypeError, ValueError, OverflowError):
        raise ConfigError(f"{where}: {value!r} is not {words}") from None


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _codes(value: Any) -> tuple[str, ...]:
    texts = [value] if isinstance(value, str) else list(value)
    return tuple(code.strip() for text in texts for code in text.split(",") if code.strip())


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _count(value: Any) -> int:
    if isinstance(value, bool) or int(value) != float(value) or int(value) < 1:
        raise ValueError
    return int(value)


def _seconds(value: Any) -> float:
    if isinstance(value, bool) or not math.isfinite(float(value)) or float(value) <= 0:
        raise ValueError
    return float(value)


def _allowance(value: Any) -> float:
    return 0.0 if value == 0 and not isinstance(value, bool) else _seconds(value)


def _bytes(value: Any) -> int:
    if isinstance(value, bool):
        raise TypeError
    return size(str(value))


_FLAG = (_flag, "true or false")
_CODES = (_codes, "a list of rule codes, such as AG101,AG201")
_SIZES = (_bytes, "a size; write 4G, 512M or a number of bytes")
_KINDS: dict[str, tuple[Callable[[Any], Any], str]] = {
    **dict.fromkeys(("write", "diff", "unsafe_fixes", "network", "quiet", "verbose", "full_paths", "stand_in"), _FLAG),
    **dict.fromkeys(("select", "ignore"), _CODES),
    **dict.fromkeys(("memory_limit", "output_limit"), _SIZES),
    "python": (_text, "a path, a command or an environment's folder"),
    "run": (_text, "a command line, such as python train.py --debug"),
    "skip_to": (str, "a line, or FILE:LINE"),
    "reading": (_text, "the name of an answer that a report tells"),
    "shorten": (_count, "a whole number from 1 on"),
    **dict.fromkeys(("passes", "process_limit"), (_count, "a whole number from 1 on")),
    "budget": (_allowance, "a number of seconds; 0 is what the failing run suggests"),
    "time_limit": (_seconds, "a number of seconds above 0"),
}


def _dashed(name: str) -> str:
    return name.replace("_", "-")


def _option(name: str) -> str:
    return f"--{_dashed(name)}"


def _reason(error: BaseException) -> str:
    return " ".join(str(getattr(error, "strerror", None) or error).split())
