"""What lies one in a file and is found by its place: rules, finders, properties, laws and faults; their examples."""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
from typing import TypeVar

K = TypeVar("K")
MARK = "# found"
"""Ends each line of an example on which something is found."""


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


def described(kind: object) -> str:
    """What is written about a rule, a finder or the like: the docstring of its file."""
    return (sys.modules[type(kind).__module__].__doc__ or "").strip()


def examples(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The scripts of a text: those with a marked line, and those without, on which nothing is found.

    Each begins behind a line `!`, and with what stands before the first of these lines.
    """
    beginning, *scripts = re.split(r"^!\n", text, flags=re.MULTILINE)
    whole = [beginning + script for script in scripts]
    return tuple(one for one in whole if MARK in one), tuple(one for one in whole if MARK not in one)
