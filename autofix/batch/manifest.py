"""Turns what was typed into repositories: folders, globs, list files, addresses, and TOML manifests."""

from __future__ import annotations

import glob
import hashlib
import math
import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from autofix.batch.records import Repository, Terms
from autofix.core import config, limits
from autofix.target import interpreter

_MARKS = (".git", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt")
_TEXTS = ("path", "url", "revision", "setup", "python")


def _variables(value: Any) -> dict[str, str]:
    return {name: config.text(word) for name, word in value.items()}


_KINDS = {name: config.KINDS[name] for name in limits.NAMES} | dict.fromkeys(_TEXTS, (config.text, "a text")) | {
    "commands": (config.texts, "a list of texts"), "environment": (_variables, "a table of texts"),
    "pytest": (config.flag, "true or false"), "setup_limit": (config.seconds, "a number of seconds above 0"),
}  # fmt: skip


class ManifestError(ValueError):
    """A path, list or manifest that cannot be meant; the message is one line."""


def repositories(paths: Sequence[str], options: Terms) -> list[Repository]:
    """What the paths name, each once, in order."""
    found: dict[str, Repository] = {}
    scripts: dict[str, list[str]] = {}
    for path in paths:
        for one in _named(path, options):
            if Path(one.source).is_file():
                folder, name = os.path.split(one.source)
                scripts.setdefault(folder, []).append(name)
                script = _script(one, folder, scripts[folder])
                found[script.name] = script
            elif found.setdefault(one.name, one) != one:
                raise ManifestError(
                    f"{one.name}: it is named twice, and not in the same way; one revision is one entry"
                )
    return [*found.values()]


def chosen(all_of_them: Sequence[Repository], limit: int, sample: str) -> list[Repository]:
    """Those to take: a sample that stays the same from run to run, and no more than `limit` (0: all)."""
    taken = list(all_of_them)
    if sample:
        count = math.ceil(len(taken) * _share(sample))
        drawn = sorted(taken, key=lambda one: hashlib.sha256(os.fsencode(one.name)).digest())[:count]
        taken = [one for one in taken if one in drawn]
    return taken[:limit] if limit else taken


def _share(sample: str) -> float:
    number, percent, _ = sample.partition("%")
    try:
        share = float(number) / (100 if percent else 1)
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise ManifestError(f"--sample {sample}: write a share such as 5%")
    return share


def _script(one: Repository, folder: str, names: Sequence[str]) -> Repository:
    """Single scripts are targets of the folder that they lie in."""
    lines = tuple(map(shlex.quote, names))
    shown = str(Path(one.name).parent)
    return replace(one, name=shown, source=folder, options=replace(one.options, commands=lines))


def _named(path: str, options: Terms) -> Iterator[Repository]:
    if path == "-":
        yield from _listed(sys.stdin, Path.cwd(), options)
    elif "://" in path or path.startswith("git@"):
        yield Repository(path, path, options=options)
    elif path.endswith(".toml") and Path(path).is_file():
        yield from _manifest(Path(path), options)
    elif path.endswith(".txt") and Path(path).is_file():
        with Path(path).open(encoding="utf-8", errors="surrogateescape") as lines:
            yield from _listed(lines, Path(path).parent, options)
    elif Path(path).exists():
        yield from _existing(path, options)
    elif glob.has_magic(path):
        matches = sorted(glob.glob(path, recursive=True))  # noqa: PTH207 - it may begin at the root
        if not matches:
            raise ManifestError(f"{path}: nothing has such a name")
        for match in matches:
            if Path(match).is_dir() or match.endswith(".py"):
                yield Repository(os.path.normpath(match), str(Path(match).absolute()), options=options)
    else:
        raise ManifestError(f"{path}: there is no such folder, list or manifest")


def _existing(path: str, options: Terms) -> Iterator[Repository]:
    """A script, a repository, or a folder full of them: one with neither a project's mark nor a script in it."""
    folder = Path(path)
    if folder.is_file():
        if folder.suffix != ".py":
            raise ManifestError(f"{path}: this is no folder, script, .txt list or .toml manifest")
        yield Repository(os.path.normpath(path), str(folder.absolute()), options=options)
        return
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if not entry.name.startswith(".") and entry.is_dir())
        alone = any((folder / mark).exists() for mark in _MARKS) or any(folder.glob("*.py")) or not names
    except OSError as error:
        raise ManifestError(f"{path}: {error.strerror}") from None
    for inner in [folder] if alone else [folder / name for name in names]:
        yield Repository(os.path.normpath(str(inner)), str(inner.absolute()), options=options)


def _listed(lines: Iterable[str], base: Path, options: Terms) -> Iterator[Repository]:
    for line in lines:
        name = line.strip()
        if name and not name.startswith("#"):
            yield _placed(name, base, options)


def _placed(name: str, base: Path, options: Terms) -> Repository:
    """A repository by its address, or by its path seen from `base`."""
    if "://" in name or name.startswith("git@"):
        return Repository(name, name, options=options)
    path = base / Path(name).expanduser()
    return Repository(os.path.normpath(str(path)), str(path.absolute()), options=options)


def _manifest(path: Path, options: Terms) -> Iterator[Repository]:
    document = config.read(path)
    if unknown := document.keys() - {"defaults", "repository"}:
        raise ManifestError(f"{path}: no table {min(unknown)!r}; there are [defaults] and [[repository]]")
    defaults = config.table(document.get("defaults", {}), _KINDS, f"[defaults] of {path}")
    entries = document.get("repository", [])
    if not isinstance(entries, list) or not entries:
        raise ManifestError(f"{path}: write a [[repository]] for each")
    for number, entry in enumerate(entries, 1):
        where = f"[[repository]] {number} of {path}"
        table = defaults | config.table(entry, _KINDS, where)
        if ("path" in table) == ("url" in table):
            raise ManifestError(f"{where}: give it a path or a url")
        one = _placed(table.get("path") or table["url"], path.parent, _options(table, options))
        revision = table.get("revision", "")
        name = f"{one.name}@{revision}" if revision else one.name
        yield replace(one, name=name, revision=revision)


def _options(table: dict[str, Any], options: Terms) -> Terms:
    known = {field.name for field in fields(Terms)}
    given = {name: value for name, value in table.items() if name in known}
    if "python" in given:
        given["python"] = python(given["python"])
    return replace(options, **given)


def python(given: str) -> str:
    """An interpreter that a manifest names: a path that does not begin at the root lies in the repository's copy."""
    if "/" in given and not given.startswith(("/", "~")):
        return given
    return str(interpreter.find(given, Path.cwd()))
