"""What a notebook's code expects to find around it, for a run without a notebook."""

from __future__ import annotations

import builtins
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
from typing import Any


class Shell:
    """Answers to `get_ipython()`: every magic, system call or setting does nothing."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self.user_ns = namespace

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: None


def furnish(main: types.ModuleType) -> None:
    """Give the notebook's namespace `get_ipython` and `display`, also where IPython is imported by name."""
    shell = Shell(main.__dict__)
    namespace: Any = builtins
    namespace.get_ipython = lambda: shell
    namespace.display = _display
    if not _installed("IPython"):
        sys.meta_path.append(_WithoutIPython())
    if not _installed("ipywidgets"):
        sys.meta_path.insert(0, _PlainBars())


def _display(*values: Any, **_: Any) -> None:
    for value in values:
        sys.stdout.write(f"{value!r}\n")


class _WithoutIPython(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Stands in for IPython where the interpreter has none, since it would only show things."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        return (
            importlib.machinery.ModuleSpec(name, self, is_package=True) if name.partition(".")[0] == "IPython" else None
        )

    def create_module(self, spec: Any) -> types.ModuleType:
        module: Any = types.ModuleType(spec.name)
        module.display = _display if spec.name == "IPython" else None
        module.get_ipython = vars(builtins)["get_ipython"]
        module.__path__ = []
        module.__getattr__ = _nothing
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        pass


class _PlainBars(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives `tqdm.notebook` the bars of `tqdm`, where its own have no widgets to be drawn with."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        return importlib.machinery.ModuleSpec(name, self) if name == "tqdm.notebook" else None

    def create_module(self, spec: Any) -> types.ModuleType:
        module: Any = types.ModuleType(spec.name)
        plain: Any = importlib.import_module("tqdm.std")
        module.tqdm = module.tqdm_notebook = plain.tqdm
        module.trange = module.tnrange = plain.trange
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        pass


def _installed(name: str) -> bool:
    return name in sys.modules or importlib.util.find_spec(name) is not None


def _nothing(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return _display if name == "display" else lambda *args, **kwargs: None
