"""Stands in for `torch._dynamo`, a second and 80 MB that optimizers load only to say that they are not compiled."""

from __future__ import annotations

import functools
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import threading
from collections.abc import Callable, Sequence
from types import FunctionType, ModuleType
from typing import Any

NAME = "torch._dynamo"
_OF_PACKAGES = ("__path__", "__all__")
"""What an import asks a package for, when it wants a part of it, or everything."""
_swap = threading.Lock()


class Lazy(ModuleType):
    """The two functions that an optimizer asks for; asked for anything else, it is the real module from then on.

    The first counts only where something is compiled, and what compiles asks for more; the second hands on to the real
    one as soon as that is there.
    """

    def __init__(self, spec: importlib.machinery.ModuleSpec) -> None:
        super().__init__(NAME)
        self.__file__ = spec.origin
        self.__spec__ = spec

    def graph_break(self, msg: str = "") -> None:
        """Nothing, as long as nothing is compiled."""

    def disable(self, fn: Any = None, *args: Any, **options: Any) -> Any:
        """A function that is not to be compiled: itself."""
        if not isinstance(fn, FunctionType):
            return real().disable(fn, *args, **options)
        known: list[Callable[..., Any]] = []

        @functools.wraps(fn)
        def plain(*values: Any, **named: Any) -> Any:
            if not loaded():
                return fn(*values, **named)
            if not known:
                known.append(real().disable(fn, *args, **options))
            return known[0](*values, **named)

        return plain

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in _OF_PACKAGES:  # what looks through all modules wants nothing of it
            raise AttributeError(name)
        return getattr(real(), name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("__"):
            super().__setattr__(name, value)
        else:
            setattr(real(), name, value)


class _Finder(importlib.abc.MetaPathFinder):
    """Sees to it that no part of the package is executed twice: once with all of it, and once for who asked for it.

    An import of a part asks the package for its path, which loads it all, when it has already seen that the part is not
    there. Here nothing may be loaded: who looks for a module holds the lock of all imports.
    """

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        part = sys.modules.get(name) if name.startswith(f"{NAME}.") and target is None else None
        if part is None or part.__spec__ is None:
            return None
        part.__spec__.loader = _Done(part.__spec__.loader)  # the import goes by this one, whatever is returned
        return part.__spec__


class _Done(importlib.abc.Loader):
    """Gives back a module that is there, in place of its own loader, which is put back."""

    def __init__(self, own: Any) -> None:
        self._own = own

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return sys.modules[spec.name]

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._own


def stand_in() -> None:
    """Put the stand-in where the module would be, unless that is there or does not exist. Needs torch."""
    if NAME in sys.modules:
        return
    spec = importlib.util.find_spec(NAME)
    if spec is not None:
        sys.modules[NAME] = Lazy(spec)
        setattr(sys.modules["torch"], "_dynamo", sys.modules[NAME])  # noqa: B010 -- as the import of a part would
        sys.meta_path.insert(0, _Finder())


def loaded() -> bool:
    """Whether the real module is there, or on its way; not where that failed."""
    module = sys.modules.get(NAME)
    return module is not None and not isinstance(module, Lazy)


def real() -> ModuleType:
    """The real module, loaded now if it was not."""
    with _swap:  # two threads may ask at once
        if isinstance(sys.modules.get(NAME), Lazy):
            del sys.modules[NAME]
    return importlib.import_module(NAME)
