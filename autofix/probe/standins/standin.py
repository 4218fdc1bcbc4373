"""Random data where data is missing, asked for and each time told: packages, data sets, folders, checkpoints.

What stands in has the shape and type of what is missing, never its values, and is the same in every run.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import types
from typing import TYPE_CHECKING, Any

import torch

from .. import wire
from . import standin_data, standin_gym, standin_text, standin_vision

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

_NO_BOARD = "tensorboard is not installed: what it does is left out"
_EXTENSIONS = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".tif", ".tiff")
_FILES = 64


def install(
    note: Callable[[str], None], doubt: Callable[[str], None], owned: Callable[[str], bool]
) -> None:  # fmt: skip
    """Answer from now on for what is missing; `note` is told of each thing that is stood in for.

    `doubt` is told of what the author's results depend on: with it, no edit can be called safe. Only imports by `owned`
    files are answered: a library that does without a package shall go on doing so.
    """
    standin_data.listeners.append(note)
    builders: dict[str, Callable[[str], types.ModuleType]] = {
        "torchvision": standin_vision.module,
        "datasets": standin_text.module,
        "gym": standin_gym.module,
        "gymnasium": standin_gym.module,
        "tqdm": _tqdm,
    }
    sys.meta_path.append(_Finder(builders, note, owned))
    _board(note)
    _checkpoints(doubt)
    _folders(note)
    standin_vision.wrap_installed(note)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """The last finder to be asked: answers for packages that the interpreter does not have."""

    def __init__(
        self, builders: dict[str, Callable[[str], types.ModuleType]], note: Callable[[str], None],
        owned: Callable[[str], bool],
    ) -> None:  # fmt: skip
        self._owned = owned
        self._builders = builders
        self._note = note

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        top = name.partition(".")[0]
        known = top in wire.SHOWING or top in wire.GIVING
        if known and _reached(top) and (top in sys.modules or self._asked()):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def _asked(self) -> bool:
        """Whether it is a file of the user's that imports, behind the import system's own frames."""
        frame: FrameType | None = sys._getframe(2)
        while frame is not None and ("importlib" in frame.f_code.co_filename or frame.f_globals is globals()):
            frame = frame.f_back
        return frame is not None and self._owned(frame.f_code.co_filename)

    def create_module(self, spec: Any) -> types.ModuleType:
        top = spec.name.partition(".")[0]
        if spec.name == top:
            kind = "what it does is left out" if top in wire.SHOWING else "random data stands in"
            self._note(f"{top} is not installed: {kind}")
        build = self._builders.get(top, _Inert)
        module = build(spec.name)
        module.__path__ = []
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        pass


def _reached(top: str) -> bool:
    """Whether a package is ours to answer for: not one of which only a part is missing."""
    known = sys.modules.get(top)
    return known is None or known.__spec__ is None or isinstance(known.__spec__.loader, _Finder)


class _Nothing:
    """An object that can be asked anything and does nothing; it has no number or tensor to give."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _Nothing()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Nothing()

    def __getitem__(self, key: Any) -> Any:
        return _Nothing()

    def __setitem__(self, key: Any, value: Any) -> None:
        pass

    def __iter__(self) -> Iterator[Any]:
        return iter((_Nothing(), _Nothing()))

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class _Inert(types.ModuleType):
    """A package of such objects; what it has in capitals can be derived from."""

    __version__ = "99.0"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if (self.__name__, name) == ("PIL", "Image"):
            return importlib.import_module("PIL.Image")
        if self.__name__ == "PIL.Image" and name in {"open", "fromarray"}:
            return standin_vision.opened if name == "open" else standin_vision.from_array
        return type(name, (_Nothing,), {}) if name[:1].isupper() else _Nothing()


def _board(note: Callable[[str], None]) -> None:
    """Torch's own door to TensorBoard, which refuses to open where that is not installed."""
    if importlib.util.find_spec("tensorboard") is None:
        board: Any = _Inert("torch.utils.tensorboard")
        board.SummaryWriter = type("SummaryWriter", (_Nothing,), {"__init__": lambda this, *a, **k: note(_NO_BOARD)})
        sys.modules["torch.utils.tensorboard"] = board


def _tqdm(name: str) -> types.ModuleType:
    module: Any = types.ModuleType(name)

    class Bar(_Nothing):
        def __init__(self, iterable: Any = (), *args: Any, **kwargs: Any) -> None:
            self.iterable = iterable

        def __iter__(self) -> Iterator[Any]:
            return iter(self.iterable)

        def __len__(self) -> int:
            return len(self.iterable)

        @staticmethod
        def write(text: str, *args: Any, **kwargs: Any) -> None:
            sys.stdout.write(f"{text}\n")

    module.tqdm = module.tqdm_notebook = Bar
    module.trange = lambda *args, **kwargs: Bar(range(*args))
    return module


# Checkpoints --------------------------------------------------------------------------------------------------------


class Checkpoint(dict[str, Any]):
    """What a missing file of `torch.load` is taken to hold: counters at zero, and states that change nothing."""

    def __missing__(self, key: str) -> Any:
        if any(word in key.lower() for word in ("epoch", "step", "iter", "best", "loss", "acc")):
            return 0
        return Checkpoint()

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if default is None else default

    def __contains__(self, key: object) -> bool:
        return True


def _checkpoints(doubt: Callable[[str], None]) -> None:
    space: Any = torch
    load = torch.load

    def loaded(f: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(f, (str, os.PathLike)) and not os.path.exists(f):
            doubt(f"the checkpoint {os.fspath(f)} is missing: what loads it keeps its fresh values")
            return Checkpoint()
        return load(f, *args, **kwargs)

    space.load = loaded
    for owner in (torch.nn.Module, torch.optim.Optimizer):
        _tolerant(owner)


def _tolerant(owner: Any) -> None:
    load = owner.load_state_dict

    def load_state_dict(this: Any, state: Any, *args: Any, **kwargs: Any) -> Any:
        return None if isinstance(state, Checkpoint) else load(this, state, *args, **kwargs)

    owner.load_state_dict = load_state_dict


# Folders ------------------------------------------------------------------------------------------------------------


def _folders(note: Callable[[str], None]) -> None:
    """A folder of images that is missing has some; opened, each is a random image."""
    import glob

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
