"""Stands in for files: folders of images that are missing, and places that a run may not write to."""

from __future__ import annotations

import errno
import glob
import os
import pathlib
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch

from ..program.frames import outwards

_EXTENSIONS = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".tif", ".tiff")
_FILES = 64
_REFUSED = {errno.EROFS, errno.EACCES, errno.EPERM}


def install(note: Callable[[str], None], owned: Callable[[str], bool]) -> None:
    """Answer from now on for what is missing or out of reach; `note` is told of each thing that is done otherwise."""
    _folders(note)
    _made(note, owned)
    _saved(note)


def _folders(note: Callable[[str], None]) -> None:
    """A folder of images that is missing has some; opened, each is a random image."""
    space: Any = glob
    found, listed = glob.glob, os.listdir

    def names(pattern: str) -> list[str]:
        extension = next((e for e in _EXTENSIONS if pattern.lower().endswith(e)), "")
        return [pattern[: -len(extension)].replace("*", f"{n:03}") + extension for n in range(_FILES)]

    def globbed(pathname: Any, *args: Any, **kwargs: Any) -> Any:
        answer = found(pathname, *args, **kwargs)
        text = os.fspath(pathname)
        folder = os.path.dirname(text.partition("*")[0])
        if not answer and "*" in text and not os.path.exists(folder):
            if text.endswith("*") and "." not in os.path.basename(text):
                text += ".png"
            note(f"the folder {folder} is missing: it is taken to hold {_FILES} images of random data")
            return names(text.replace("*.*", "*.png"))
        return answer

    def listing(path: Any = ".") -> Any:
        # Python lists the folders that it imports from, and one of them may well be missing.
        if isinstance(path, (str, os.PathLike)) and not os.path.exists(path) and os.fspath(path) not in sys.path:
            note(f"the folder {os.fspath(path)} is missing: it is taken to hold {_FILES} images of random data")
            return [f"{n:03}.png" for n in range(_FILES)]
        return listed(path)

    space.glob = globbed
    os.listdir = listing


def _made(note: Callable[[str], None], owned: Callable[[str], bool]) -> None:
    """A folder that the user's code cannot make here is not made; libraries have ways of their own then."""
    space: Any = os
    for name in ("makedirs", "mkdir"):
        setattr(space, name, _making(getattr(os, name), note, owned))


def _making(make: Callable[..., None], note: Callable[[str], None], owned: Callable[[str], bool]) -> Any:
    left: set[str] = set()

    def made(path: Any, *args: Any, **kwargs: Any) -> None:
        try:
            make(path, *args, **kwargs)
        except OSError as error:
            refused = error.errno in _REFUSED or os.path.dirname(os.path.abspath(path)) in left
            if not refused or not owned(_asker(sys._getframe(1))):
                raise
            left.add(os.path.abspath(path))
            note(f"the folder {os.fspath(path)} cannot be made here: it is left out")

    return made


def _asker(frame: FrameType | None) -> str:
    """The file that asks, behind the standard library's own."""
    files = (one.f_code.co_filename for one in outwards(frame))
    return next((file for file in files if file not in (os.__file__, pathlib.__file__, __file__)), "")


def _saved(note: Callable[[str], None]) -> None:
    """A file of `torch.save` whose folder is not there is not written; a run reads none of what it leaves."""
    space: Any = torch
    save = torch.save

    def saved(obj: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        folder = os.path.dirname(os.fspath(f)) if isinstance(f, (str, os.PathLike)) else ""
        if folder and not os.path.isdir(folder):
            note(f"the folder {folder} is missing: nothing is saved there")
            return
        save(obj, f, *args, **kwargs)

    space.save = saved
