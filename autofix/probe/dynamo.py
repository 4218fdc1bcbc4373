"""Stands in for `torch._dynamo`, a second and 80 MB that optimizers load only to say that they are not compiled."""

from __future__ import annotations

import functools
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

NAME = "torch._dynamo"


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
        if name.startswith("__") and name != "__path__":  # what looks through all modules wants nothing of this one
            raise AttributeError(name)
        return getattr(real(), name)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Sees to it that the import of a part of the package loads all of it first, and that part no second time."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if not name.startswith(f"{NAME}.") or loaded():
            return None
        real()
        return importlib.util.spec_from_loader(name, self) if name in sys.modules else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        self._own = sys.modules[spec.name].__spec__
        return sys.modules[spec.name]

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._own


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
    """Whether the real module is there, or on its way."""
    return not isinstance(sys.modules.get(NAME), Lazy)


def real() -> ModuleType:
    """The real module, loaded now if it was not."""
    if not loaded():
        del sys.modules[NAME]
    return importlib.import_module(NAME)
