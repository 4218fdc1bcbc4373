"""Finds what the user would run a script with: their interpreter, and the project that the script belongs to."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

_MARKS = ("pyproject.toml", "setup.py", "setup.cfg")
_ENVIRONMENTS = (".venv", "venv")
_ACTIVE = ("VIRTUAL_ENV", "CONDA_PREFIX")
_VERSION = re.compile(r"3(\.\d+)?")


class InterpreterError(ValueError):
    """There is no interpreter where one was named; the message is one line and says what to do."""


def find(option: str, script_dir: Path) -> Path:
    """The interpreter that was named, else the active environment's, else the project's, else our own or `python`."""
    if option:
        return _named(option)
    for variable in _ACTIVE:
        if active := os.environ.get(variable):
            python = inside(Path(active))
            if python is None:
                raise InterpreterError(
                    f"{variable} is {active}, which has no python; activate another environment or give --python"
                )
            return _checked(python, variable)
    for folder in _folders(script_dir.resolve()):
        for name in _ENVIRONMENTS:
            if (python := inside(folder / name)) is not None:
                return _checked(python, str(folder / name))
    return _ours()


def inside(environment: Path) -> Path | None:
    """The interpreter of a virtual or conda environment; never resolved, for a link is what makes it one."""
    names = ("Scripts/python.exe", "python.exe") if os.name == "nt" else ("bin/python", "bin/python3")
    return next((environment.absolute() / name for name in names if (environment / name).exists()), None)


def project_root(script: Path, cwd: Path) -> Path:
    """The folder whose files may be edited and run: the repository, else the package, else where one stands."""
    folder = script.resolve().parent
    shared = _shared()
    above = [at for at in (folder, *folder.parents) if at not in shared]
    for marks in ((".git",), _MARKS):
        for at in above:
            if any((at / mark).exists() for mark in marks):
                return at
    here = cwd.resolve()
    return here if here in above else folder


def _ours() -> Path:
    """Our own if it has torch; a tool installed by itself has none, and then it is what `python` means in a shell."""
    commands = () if importlib.util.find_spec("torch") else ("python", "python3")
    found = next((path for name in commands if (path := shutil.which(name))), sys.executable)
    return Path(found).absolute()


def _named(option: str) -> Path:
    path = Path(option).expanduser()
    if path.is_dir():
        python = inside(path)
        if python is None:
            raise InterpreterError(f"--python {option}: this folder has no bin/python; name an environment's folder")
        return _checked(python, f"--python {option}")
    if path.exists() or os.sep in option:
        return _checked(path.absolute(), f"--python {option}")
    found = shutil.which(f"python{option}" if _VERSION.fullmatch(option) else option)
    if found is None:
        raise InterpreterError(
            f"--python {option}: there is no such interpreter; give a path, a command or an environment's folder"
        )
    return Path(found).absolute()


def _checked(python: Path, where: str) -> Path:
    if not python.is_file():
        raise InterpreterError(f"{where}: there is no such interpreter; give --python another path")
    if not os.access(python, os.X_OK):
        raise InterpreterError(f"{where}: {python} is not executable; give --python another path")
    return python


def _folders(start: Path) -> list[Path]:
    """From the script's folder up to the repository's, where there is one; else up to the project's."""
    root = project_root(start / "script", start)
    above = [start, *start.parents]
    return above[: above.index(root) + 1] if root in above else [start]


def _shared() -> set[Path]:
    """Folders that hold more than one project, whatever lies in them."""
    home = Path.home().resolve()
    return {home, *home.parents, Path(tempfile.gettempdir()).resolve(), Path(Path.cwd().anchor)}
