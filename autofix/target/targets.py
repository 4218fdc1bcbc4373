"""Builds the target from what was asked for: which file, in which project, with which interpreter, set up how."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path

from autofix.core.config import nearest
from autofix.core.limits import Bounds, RunOptions
from autofix.core.model import Report, Target
from autofix.probe.wire import Setup
from autofix.target import entries, interpreter, notebook
from autofix.target.cells import Cell, CellError
from autofix.target.entries import Entry

_ENVIRONMENT = {"MPLBACKEND": "Agg", "HYDRA_FULL_ERROR": "1", "WANDB_MODE": "disabled"}
"""So that plots do not wait for a window, hydra does not swallow the failure, and nothing is logged elsewhere."""
ARRANGED = ("MPLBACKEND", "WANDB_MODE", "HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE")
"""Of what is set for a repair's runs: what a real run shall not have."""
_OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
_LINE = re.compile(r"(?:(.+):)?(\d+)")


class TargetError(ValueError):
    """There is nothing to run under this name; the message is one line and says what to do."""


def folder(words: Sequence[str], module: str | None, cwd: Path | None = None) -> Path:
    """Where configuration is looked for: beside the script, or where a module is run from."""
    here = cwd or Path.cwd()
    if module is not None or not words or entries.is_command(words[0]):
        return here
    path = (here / words[0]).resolve()
    return path if path.is_dir() else path.parent


def target(  # noqa: PLR0913  each of the last four is one more way to say what runs, and where
    words: Sequence[str],
    module: str | None,
    options: RunOptions,
    *,
    configured: str = "",
    console: str | None = None,
    node: str | None = None,
    cwd: Path | None = None,
) -> Target:
    """The target of `SCRIPT [ARGS]...`, `-m MODULE`, `--console NAME`, `--pytest NODE` or the `configured` line.

    It runs in `cwd`, else in the current folder.
    """
    if sum(choice is not None for choice in (module, console, node)) > 1:
        raise TargetError("-m, --console and --pytest each name what to run: give one of them")
    entry = _entry(words, module, configured, console, node)
    cwd = (entry.folder or cwd or Path.cwd()).resolve()
    found, python = _script(entry, cwd, options.python)
    kind = entry.kind if entry.kind in {"console", "pytest"} else ""
    made = Target(
        found,
        argv=(entry.name, *entry.argv) if entry.kind == "pytest" else entry.argv,
        module=entry.name if entry.kind == "module" else None,
        cwd=cwd,
        root=interpreter.project_root(cwd / "any" if entry.kind == "console" else found, cwd),
        python=python,
        setup=Setup(entry=kind, environment=entry.environment),
    )
    return under(in_cells(made), options)


def under(target: Target, options: RunOptions) -> Target:
    """The target as these options have it run; which interpreter and which rules is not its own affair.

    Raises TargetError where `skip_to` names no line of its project.
    """
    setup = replace(
        target.setup,
        environment=_environment(network=options.network) | target.setup.environment,
        stand_in=options.stand_in,
        shorten=options.shorten,
    )
    bounds = {one.name: getattr(options, one.name) for one in fields(Bounds)}
    return _skipping(replace(target, **bounds, setup=setup), options.skip_to)


def in_cells(target: Target) -> Target:
    """A notebook's target: its code stands in for the file, in the notebook's folder; any other as it is."""
    if (book := _book(target)) is None:
        return target
    buffers = {**target.buffers, target.script: book.text}
    entry = replace(target.setup, entry="cells")
    cwd = target.script.parent if target.script.suffix == notebook.SUFFIX else target.cwd
    return replace(target, buffers=buffers, setup=entry, cwd=cwd)


def offered_in_cells(target: Target, files: dict[Path, bytes]) -> dict[Path, bytes]:
    """Files that somebody offers, those in cells as what of them would be run."""
    if target.setup.entry != "cells" or target.script not in files:
        return files
    book = _parsed(target.script, files[target.script])
    return files if book is None else {**files, target.script: book.text}


def in_file(report: Report) -> Report:
    """The report of a notebook with its fixes as edits of the file; any other as it is."""
    target = report.target
    if target.setup.entry != "cells" or not (report.fixes or report.rejected):
        return report
    book = _book(target)
    if book is None or book.text != target.buffers.get(target.script):
        raise TargetError(f"{target.script.name}: it was changed while it ran; run again")
    return notebook.written(report, book)


def with_cells(report: Report, cells: list[Cell]) -> Report:
    """The report of cells that are no file, with each fix shown cell by cell."""
    book = notebook.Notebook(report.target.script, b"", cells)
    shown = [replace(fix, shown=book.shown(fix.candidate.files[book.path])) for fix in report.fixes]
    return replace(report, fixes=tuple(shown))


def _book(target: Target) -> notebook.Notebook | None:
    """The notebook, or the script with magics, that a target runs; raises TargetError where it cannot be read."""
    if target.module is not None or target.setup.entry in {"console", "pytest"}:
        return None
    try:
        return _parsed(target.script, target.script.read_bytes())
    except OSError as error:
        raise TargetError(f"{target.script}: {error.strerror}") from None


def _parsed(path: Path, data: bytes) -> notebook.Notebook | None:
    try:
        return notebook.parse(path, data) if path.suffix == notebook.SUFFIX else notebook.script(path, data)
    except CellError as error:
        raise TargetError(str(error)) from None


def _entry(
    words: Sequence[str], module: str | None, configured: str, console: str | None, node: str | None
) -> Entry:  # fmt: skip
    if module is not None:
        return Entry("module", module, tuple(words))
    if console is not None:
        return Entry("console", console, tuple(words))
    if node is not None:
        return Entry("pytest", node, tuple(words))
    if words and not entries.is_command(words[0]):
        return Entry("script", words[0], tuple(words[1:]))
    if not words and not configured:
        raise TargetError("name a script, or a module with -m; --help shows how")
    try:
        if words:
            return entries.parse(words)
        project = nearest(Path.cwd())
        return replace(entries.parse(shlex.split(configured)), folder=project.parent if project else None)
    except ValueError as error:
        said = shlex.join(words) if words else f"run = {configured!r} in [tool.autofix]"
        raise TargetError(f"{said}: {error}") from None


def _environment(*, network: bool) -> dict[str, str]:
    wanted = _ENVIRONMENT if network else {**_ENVIRONMENT, **_OFFLINE}
    return {name: value for name, value in wanted.items() if name not in os.environ}


def _script(entry: Entry, cwd: Path, python_option: str) -> tuple[Path, Path]:
    """The file that is run, and with which interpreter."""
    if entry.kind == "console":
        python = interpreter.find(python_option, cwd)
        if not (found := python.parent / entry.name).is_file():
            raise TargetError(f"{entry.name}: no package of {python.parent.parent} installs a command of that name")
        return found, python
    if entry.kind == "module":
        found = _module_file(entry.name, cwd)
    elif entry.kind == "pytest":
        found = cwd / _existing(entry.name.partition("::")[0], cwd)
    else:
        found = _file(entry.name, cwd)
    return found, interpreter.find(python_option, found.parent)


def _existing(name: str, cwd: Path) -> str:
    if not (cwd / name).is_file():
        raise TargetError(f"--pytest {name}: there is no such file; name a test as tests/test_train.py::test_step")
    return name


def _file(name: str, cwd: Path) -> Path:
    path = cwd / name
    if path.is_dir():
        raise TargetError(f"{name}: this is a folder; name the script in it, or run it with -m")
    if not path.exists():
        module = _module_file(name, cwd) if _is_module(name) else path
        hint = f"; it is a module: -m {name}" if module.is_file() else ""
        raise TargetError(f"{name}: there is no such file{hint}")
    if not path.is_file():
        raise TargetError(f"{name}: this is not a file that can be run; save the script first")
    if not os.access(path, os.R_OK):
        raise TargetError(f"{name}: it may not be read")
    return path.resolve()


def _is_module(name: str) -> bool:
    return all(part.isidentifier() for part in name.split("."))


def _module_file(module: str, cwd: Path) -> Path:
    """The file of a module below the current folder; for one installed elsewhere, where it would be."""
    if not _is_module(module):
        raise TargetError(f"-m {module}: this is not a module's name; write it with dots, as for `python -m`")
    stem = Path(*module.split("."))
    names = stem.with_suffix(".py"), stem / "__main__.py"
    found = [base / name for base in (cwd, cwd / "src") for name in names]
    return next((path for path in found if path.is_file()), found[0]).resolve()


def _skipping(target: Target, place: str) -> Target:
    """The target with the line before which loops are hurried through: LINE of the script, or FILE:LINE."""
    if not place:
        return target
    match = _LINE.fullmatch(place)
    if match is None:
        raise TargetError(f"--skip-to {place}: give a line of the script, or FILE:LINE")
    path = (target.cwd or Path.cwd()) / match[1] if match[1] else target.script
    root = target.project
    if not (path in target.buffers or path.is_file()) or not path.resolve().is_relative_to(root):
        raise TargetError(f"--skip-to {place}: there is no such file in {root}")
    name = path.resolve().relative_to(root).as_posix()
    return replace(target, setup=replace(target.setup, skip_file=name, skip_line=int(match[2])))
