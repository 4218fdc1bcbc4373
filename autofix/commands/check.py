"""What `check` does once its words are read: settings, files, findings, baseline, output, status."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from autofix.check import baseline, check, walk
from autofix.check.finder import Finder
from autofix.check.finding import Checked
from autofix.core import config
from autofix.render import findings
from autofix.render.progress import complain

NONE, FOUND, CANNOT = 0, 1, 2
FORMATS: dict[str, Callable[[Checked, Sequence[Finder]], str]] = {
    "text": lambda checked, _: findings.as_text(checked), "json": lambda checked, _: findings.as_json(checked),
    "sarif": lambda checked, chosen: findings.as_sarif(checked, chosen, Path.cwd()),
    "github": lambda checked, _: findings.as_github(checked),
}  # fmt: skip
"""What writes findings, by the name of the format."""
_LISTS = ("select", "ignore", "exclude")
_KINDS = dict.fromkeys(_LISTS, (config.texts, "a list of texts")) | {"baseline": (config.text, "a path")}


class CheckSettings(NamedTuple):
    """The options of `check` that may also stand in [tool.autofix.check]."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    baseline: Path | None = None


def run(given: Mapping[str, Any]) -> int:
    """`autofix check`: read, find, print; nothing is run and nothing but a baseline is written."""
    output = given["output_format"]
    if output not in FORMATS:
        raise config.ConfigError(f"--output-format: {output!r} is not one of {', '.join(FORMATS)}")
    paths = given["paths"] or ["."]
    settings = _settings(given, Path(paths[0]))
    chosen = _chosen(settings)
    checked = _read(paths, settings, chosen, given["jobs"])
    failed = _tell_problems(checked, frozenset(map(Path, paths)), quiet=given["quiet"])
    if given["write_baseline"]:
        return _accept(checked, settings, failed=failed)
    if settings.baseline is not None:
        checked = checked._replace(findings=baseline.without_accepted(settings.baseline, checked.findings))
    sys.stdout.write(FORMATS[output](checked, chosen))
    if not given["quiet"]:
        complain(_summary(checked))
    if failed:
        return CANNOT
    return FOUND if checked.findings and not given["exit_zero"] else NONE


def found(paths: Sequence[str], given: Mapping[str, Any]) -> Checked:
    """What is found in some paths with the project's settings; raises ConfigError for settings that cannot be meant."""
    settings = _settings(given, Path(paths[0]))
    checked = _read(paths, settings, _chosen(settings), 1)
    if settings.baseline is not None:
        checked = checked._replace(findings=tuple(baseline.without_accepted(settings.baseline, checked.findings)))
    return checked


def in_editor(file: Path) -> tuple[tuple[Finder, ...], Path | None]:
    """What the project of a file looks for, and its baseline; raises ConfigError for settings that cannot be meant."""
    settings = _settings(dict.fromkeys((*_LISTS, "baseline")), file.parent)
    return _chosen(settings), settings.baseline


def _read(paths: Sequence[str], settings: CheckSettings, chosen: Sequence[Finder], jobs: int) -> Checked:
    return check.check(walk.python_files(paths, settings.exclude), chosen, jobs, frozenset(map(Path, paths)))


def _settings(given: Mapping[str, Any], start: Path) -> CheckSettings:
    """What was typed, over what the nearest pyproject.toml says."""
    path, found = config.configured("check", _KINDS, start.resolve())
    if "baseline" in found:
        found["baseline"] = path.parent / found["baseline"]
    found |= {name: config.codes(given[name]) for name in _LISTS if given[name]}
    return CheckSettings(**found | ({"baseline": Path(given["baseline"])} if given["baseline"] else {}))


def _chosen(settings: CheckSettings) -> tuple[Finder, ...]:
    try:
        return check.select(settings.select, settings.ignore)
    except ValueError as error:
        raise config.ConfigError(f"{error}; `autofix rules` says which rules need a run") from None


def _tell_problems(checked: Checked, named: frozenset[Path], *, quiet: bool) -> bool:
    """Say which files could not be read; whether one of them was named itself."""
    failed = False
    for path, reason in checked.problems:
        failed = failed or Path(path) in named
        if Path(path) in named or not quiet:
            complain(f"{path}: {reason}")
    return failed


def _accept(checked: Checked, settings: CheckSettings, *, failed: bool) -> int:
    if settings.baseline is None:
        raise config.ConfigError("--write-baseline: name the file with --baseline FILE")
    baseline.write(settings.baseline, checked.findings)
    complain(f"{settings.baseline}: {len(checked.findings)} accepted")
    return CANNOT if failed else NONE


def _summary(checked: Checked) -> str:
    read = f"{checked.files} file{'' if checked.files == 1 else 's'} read"
    if not checked.findings:
        return f"{read}, nothing found"
    return f"{read}, {len(checked.findings)} found in {len({found.path for found in checked.findings})}"
