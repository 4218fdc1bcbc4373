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
from collections.abc import Callable, Iterator
from typing import Any

import torch

from .. import wire
from . import absent, standin_data, standin_files, standin_gym, standin_text, standin_vision

_NO_BOARD = "tensorboard is not installed: what it does is left out"


def install(
    note: Callable[[str], None], doubt: Callable[[str], None], owned: Callable[[str], bool], root: str
) -> None:  # fmt: skip
    """Answer from now on for what is missing; `note` is told of each thing that is stood in for.

    `doubt` is told of what the author's results depend on: with it, no edit can be called safe. Only imports by `owned`
    files, which lie below `root`, are answered: a library that does without a package shall go on doing so.
    """
    standin_data.listeners.append(note)
    standin_data.doubters.append(doubt)
    builders: dict[str, Callable[[str], types.ModuleType]] = {
        "torchvision": standin_vision.module,
        "datasets": standin_text.module,
        "gym": standin_gym.module,
        "gymnasium": standin_gym.module,
        "tqdm": _tqdm,
    }
    sys.meta_path.append(_Finder(builders, note, doubt, owned, root))
    _board(note)
    _checkpoints(doubt)
    standin_files.install(note, owned)
    standin_vision.wrap_installed()


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """The last finder to be asked: answers for packages that the interpreter does not have."""

    def __init__(
        self, builders: dict[str, Callable[[str], types.ModuleType]], note: Callable[[str], None],
        doubt: Callable[[str], None], owned: Callable[[str], bool], root: str,
    ) -> None:  # fmt: skip
        self._owned, self._root, self._builders, self._note, self._doubt = owned, root, builders, note, doubt

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        top = name.partition(".")[0]
        if _reached(top) and (top in sys.modules or self._asked(top)):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def _asked(self, top: str) -> bool:
        """Whether a file of the user's imports a package that we know, or cannot do without another one."""
        if top in wire.SHOWING or top in wire.GIVING:
            return absent.importing(self._owned) is not None
        return absent.indispensable(top, self._root, self._owned)

    def create_module(self, spec: Any) -> types.ModuleType:
        top = spec.name.partition(".")[0]
        if spec.name == top:
            # What a package that we do not know does may matter to what is learnt.
            tell = self._note if top in wire.SHOWING or top in wire.GIVING else self._doubt
            kind = "random data stands in" if top in wire.GIVING else wire.LEFT_OUT
            tell(f"{top} is not installed: {kind}")
        module = self._builders.get(top, _Inert)(spec.name)
        module.__path__ = []
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        pass


def _reached(top: str) -> bool:
    """Whether a package is ours to answer for: not one of which only a part is missing."""
    module = sys.modules.get(top)
    if module is None:
        return True
    spec = module.__spec__
    return top in wire.SHOWING + wire.GIVING if spec is None else isinstance(spec.loader, _Finder)


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


class _Empty(type):
    """The kind of a class that can be asked anything, before it has objects."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Nothing()


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
        return _Empty(name, (_Nothing,), {}) if name[:1].isupper() else _Nothing()


def _board(note: Callable[[str], None]) -> None:
    """Torch's own door to TensorBoard, which refuses to open where that is not installed."""
    if importlib.util.find_spec("tensorboard") is None:
        board: Any = _Inert("torch.utils.tensorboard")
        board.SummaryWriter = type(
            "SummaryWriter", (_Nothing,), {"__init__": lambda this, *a, **k: note(_NO_BOARD), "log_dir": "."}
        )
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
