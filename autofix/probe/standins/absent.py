"""Which missing package nothing may stand in for: one that the user's code cannot do without, and is not its own."""

from __future__ import annotations

import ast
import linecache
import os
import sys
from collections.abc import Callable
from types import FrameType

from .. import wire
from ..program.frames import outwards

_HERE = os.path.dirname(__file__)
_LOADS = "_find_and_load_unlocked"


def importing(owned: Callable[[str], bool]) -> FrameType | None:
    """The frame of the user's that imports now, behind the import system's own; None where a library does."""
    for frame in outwards(sys._getframe(2)):
        file = frame.f_code.co_filename
        if "importlib" not in file and not file.startswith(_HERE):
            return frame if owned(file) else None
    return None


def indispensable(top: str, root: str, owned: Callable[[str], bool]) -> bool:
    """Whether a missing package is imported, not only looked for, and nothing goes on without it.

    A module that lies somewhere below `root` is not missing: it is looked for in the wrong place.
    """
    if top in wire.PYTHON_2 or top in sys.stdlib_module_names or top.startswith("_") or importing(owned) is None:
        return False
    asking = [*outwards(sys._getframe())]
    loads = any(frame.f_code.co_name == _LOADS for frame in asking)
    return loads and not any(owned(f.f_code.co_filename) and _tries(f) for f in asking) and not _lies(root, top)


def _tries(frame: FrameType) -> bool:
    """Whether the line that a frame is at stands in a `try` that goes on without an import."""
    try:
        tree = ast.parse("".join(linecache.getlines(frame.f_code.co_filename)))
    except (SyntaxError, ValueError):
        return False
    tries = (node for node in ast.walk(tree) if isinstance(node, ast.Try) and node.handlers)
    return any(_within(node.body, frame.f_lineno) and any(map(_takes, node.handlers)) for node in tries)


def _within(body: list[ast.stmt], line: int) -> bool:
    return body[0].lineno <= line <= (body[-1].end_lineno or line)


def _takes(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    names = {node.id for node in ast.walk(handler.type) if isinstance(node, ast.Name)}
    return not names.isdisjoint(("ImportError", "ModuleNotFoundError", "Exception", "BaseException"))


def _lies(root: str, top: str) -> bool:
    for _, folders, files in os.walk(root):
        if top in folders or f"{top}.py" in files:
            return True
        folders[:] = [name for name in folders if not name.startswith(".")]
    return False
