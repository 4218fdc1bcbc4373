"""Runs the target as `python script.py`, `python -m module`, a console command, a pytest node or a notebook would."""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.metadata
import importlib.util
import os
import runpy
import sys
import types
from collections.abc import Callable
from typing import Any

from ..wire import Request
from .overlay import Overlay

Walk = Callable[[str, types.ModuleType], None]


def launch(request: Request, overlay: Overlay, walk: Walk | None = None) -> None:
    """Become the target: `__main__`, `sys.argv`, `sys.path[0]`, the directory. Raises what the target raises.

    `walk` executes the file of a script, where that is not to be done at once.
    """
    os.chdir(request.cwd)
    main = types.ModuleType("__main__")
    main.__builtins__ = __builtins__  # type: ignore[attr-defined]
    sys.modules["__main__"] = main
    match request.setup.entry:
        case "console":
            _console(request)
        case "pytest":
            _pytest(request)
        case _ if request.module is not None:
            sys.argv = [request.module, *request.argv]
            sys.path.insert(0, request.cwd)
            if walk is None:
                runpy._run_module_as_main(request.module, alter_argv=True)  # type: ignore[attr-defined]
            else:
                _module(request.module, main, walk)
        case _:
            _script(request, overlay, main, walk)


def _script(request: Request, overlay: Overlay, main: types.ModuleType, walk: Walk | None) -> None:
    path = os.path.realpath(request.script)
    sys.argv = [request.script, *request.argv]
    sys.path.insert(0, os.path.dirname(path))
    main.__file__ = request.script if os.path.isabs(request.script) else os.path.join(request.cwd, request.script)
    main.__loader__ = importlib.machinery.SourceFileLoader("__main__", path)
    main.__spec__ = None
    if request.setup.entry == "cells":
        from . import shell

        shell.furnish(main)
    if walk is not None:
        walk(path, main)
    else:
        exec(overlay.code(path, path), main.__dict__)


def _module(name: str, main: types.ModuleType, walk: Walk) -> None:
    """What `runpy` does with the name of a module, for its file to be walked; nothing where there is no source."""
    spec = importlib.util.find_spec(name)
    if spec is not None and spec.submodule_search_locations is not None:
        spec = importlib.util.find_spec(f"{name}.__main__")
    if spec is None or spec.origin is None or not isinstance(spec.loader, importlib.machinery.SourceFileLoader):
        return
    path = os.path.realpath(spec.origin)
    if path == spec.origin:  # else its code has another name than what is walked
        sys.argv[0] = main.__file__ = path
        main.__dict__.update(__cached__=spec.cached, __loader__=spec.loader, __package__=spec.parent, __spec__=spec)
        walk(path, main)


def _console(request: Request) -> None:
    """The function behind a command that a package installed, with the exit status that its result means."""
    name = os.path.basename(request.script)
    sys.argv = [name, *request.argv]
    found = [*importlib.metadata.entry_points(group="console_scripts", name=name)]
    if not found:
        raise SystemExit(f"no package of {sys.prefix} installs a command named {name}")
    sys.exit(found[0].load()())


class _Kept:
    """A pytest plugin that keeps the first exception of the run, which pytest itself only reports."""

    def __init__(self) -> None:
        self.error: BaseException | None = None

    def pytest_exception_interact(self, call: Any) -> None:
        self.error = self.error or call.excinfo.value


def _pytest(request: Request) -> None:
    """One node, in this process: its sources by the ordinary importer, its output not captured."""
    sys.path.insert(0, request.cwd)
    sys.argv = ["pytest", *request.argv]
    plain = ["--assert=plain", "--capture=no", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"]
    kept = _Kept()
    status = importlib.import_module("pytest").main([*plain, "-o", "addopts=", *request.argv], plugins=[kept])
    if kept.error is not None:
        raise kept.error
    sys.exit(int(status))
