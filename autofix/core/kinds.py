"""What lies one in a file and is found by its place: rules, finders, properties, laws and faults."""

from __future__ import annotations

import importlib
import pkgutil
from typing import TypeVar

K = TypeVar("K")


def kinds(package: str, base: type[K]) -> list[K]:
    """One object of each subclass of `base` that a module of `package` defines; nothing is registered anywhere."""
    folder = importlib.import_module(package)
    modules = [importlib.import_module(f"{package}.{one.name}") for one in pkgutil.iter_modules(folder.__path__)]
    return [
        kind()
        for module in modules
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, base) and kind.__module__ == module.__name__
    ]
