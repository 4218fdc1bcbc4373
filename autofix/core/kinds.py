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
_TRAINS = re.compile(r"^([-+]? *)train(?:\[([\w.]+)\])?: (.+)\n", re.MULTILINE)


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


def name_of(kind: object) -> str:
    """The name of one that has no other: that of its file."""
    return type(kind).__module__.rpartition(".")[2].replace("_", "-")


def described(kind: object) -> str:
    """What is written about a rule, a finder or the like: the docstring of its file."""
    return (sys.modules[type(kind).__module__].__doc__ or "").strip()


def in_full(text: str, optimizer: str = "opt") -> str:
    """The script of an example, whose lines `train: loss` stand for a whole update; `train[other]: loss` for another's.

    Gradients are cleared, the loss goes backward, and the optimizer steps. What marks such a line marks the update.
    """

    def update(line: re.Match[str]) -> str:
        indent, name, loss = line[1], line[2] or optimizer, line[3]
        return "".join(f"{indent}{one}\n" for one in (f"{name}.zero_grad()", f"{loss}.backward()", f"{name}.step()"))

    return _TRAINS.sub(update, text)


def examples(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The scripts of a text: those with a marked line, and those without, on which nothing is found.

    Each begins behind a line `!`, and with what stands before the first of these lines.
    """
    beginning, *scripts = re.split(r"^!\n", in_full(text), flags=re.MULTILINE)
    whole = [beginning + script for script in scripts]
    return tuple(one for one in whole if MARK in one), tuple(one for one in whole if MARK not in one)
