"""The mode that lets every torch call of the first passes through, and has each looked at by whom it concerns."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from ..engine import graph
from ..engine.refused import name_of
from ..program.frames import Frames
from .arithmetic import ARITHMETIC, Arithmetic
from .averages import Averages
from .batch import RECURRENT, Batch
from .calls import Calls
from .draws import DRAWS, LAYERS, Draws
from .evaluations import MODED, Evaluations
from .hand import Hand
from .ledger import Ledger
from .notes import Notes
from .paths import Paths, tensors_in
from .scores import LOSSES, Scores

ENOUGH = 5_000
"""Calls of torch after which none is looked at any more, once some steps were made: a tenth of a second or two."""
MOST = 150_000
"""Calls after which none is looked at in any case."""
_FAILURES = 20
_TORCH = str(torch.__path__[0])
_GROUPS = {
    "loss": LOSSES, "activation": {"softmax", "sigmoid", "log_softmax"}, "layer": LAYERS, "arithmetic": ARITHMETIC,
    "normalise": {"normalize", "cosine_similarity"},
    "leave": {"item", "tolist", "numpy", "__array__", "__float__", "__int__"},
    "enter": {"tensor", "as_tensor", "from_numpy"}, "alias": {"detach"},
    "shape": {"unsqueeze", "__getitem__", "view", "reshape"}, "recurrent": RECURRENT, "draw": DRAWS, "moded": MODED,
}  # fmt: skip
_NOTHING = (".__set__", ".__len__", ".size", ".dim", ".numel", ".backward", ".is_floating_point", ".stride")
_NO_WRITES = frozenset({"requires_grad_", "retain_grad_", "detach_", "__index__", "__invert__", "__init__", "__int__"})


class Values(TorchFunctionMode):
    """Lets every call through; looks at what went in and what came out."""

    def __init__(self, frames: Frames, ledger: Ledger, calls: Calls, notes: Notes) -> None:
        super().__init__()
        self._frames, self._ledger, self._calls = frames, ledger, calls
        self.paths = Paths(frames, ledger)
        self.batch = Batch(frames, ledger, notes)
        self.scores = Scores(frames, ledger, notes, self.batch)
        self.averages = Averages(frames, ledger, calls, notes)
        self._draws = Draws(frames, calls, notes)
        self._evaluations = Evaluations(frames, notes)
        self.hand = Hand(frames, ledger, notes)
        self._arithmetic = Arithmetic(frames, ledger, calls, notes, self.paths)
        self.count = 0
        self.limit = MOST
        self.failed = ""
        self._failures = 0
        self._kinds: dict[Any, tuple[str, str]] = {}
        self._looks: dict[str, Callable[..., None]] = {
            "loss": lambda name, _, *call: self.scores.loss(name, *call), "activation": self._activated,
            "normalise": lambda name, _, *call: self.batch.normalised(name, *call), "layer": self._entered,
            "recurrent": lambda _name, _given, args, *_: self.batch.recurred(args),
            "draw": lambda name, *call: self._draws.drawn(name, call[-1]), "arithmetic": self._computed,
            "moded": lambda name, _, args, kwargs, _result: self._evaluations.called(name, args, kwargs),
            "shape": self._shaped, "alias": self._aliased,
            "share": lambda _, given, *_call: self._calls.shared(given, self._frames.here()),
        }  # fmt: skip

    def __enter__(self) -> Any:
        entering = torch.from_numpy

        def entered(array: Any) -> torch.Tensor:  # which no mode sees
            result = entering(array)
            if self.count <= self.limit:
                self._try(self.paths.flow, "enter", "from_numpy", [], (array,), result)
            return result

        torch.from_numpy = entered
        return super().__enter__()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        known = self._kinds.get(func)
        if known is None:
            known = self._kinds[func] = _kind(func)
        kind, name = known
        if kind == "pass" or self.count > self.limit:
            return func(*args, **kwargs)
        if kind == "gradient":
            if not sys._getframe(1).f_code.co_filename.startswith(_TORCH):
                self._calls.read()
            return func(*args, **kwargs)
        self.count += 1
        if kind == "mode":
            self.paths.switched(on=bool(args and args[0]))
            return func(*args, **kwargs)
        if kind == "write":
            self._try(self.averages.write, name, args)
            self._try(self.hand.written, args)
        result = func(*args, **kwargs)
        self._try(self._look, known, args, kwargs, result)
        return result

    def _try(self, look: Any, *given: Any) -> None:
        """Look, and rather see nothing any more than disturb a run."""
        try:
            with torch._C.DisableTorchFunction():
                look(*given)
        except Exception as error:  # of what a script does oddly, such as a view that may not be asked
            self._failures += 1
            if self._failures > _FAILURES:
                self.failed = f"{type(error).__name__}: {error}"
                self.count = self.limit + 1

    def _look(self, known: tuple[str, str], args: Any, kwargs: Any, result: Any) -> None:
        kind, name = known
        given = list(tensors_in(args, kwargs))
        look = self._looks.get(kind)
        if look is not None:
            look(name, given, args, kwargs, result)
        self.paths.flow(kind, name, given, args, result)
        if kind == "moded":
            self._evaluations.measured(name, args, kwargs, self.paths.behind([result]))

    def _activated(self, name: str, given: list[torch.Tensor], args: Any, kwargs: Any, result: Any) -> None:
        self.scores.activated(given[0], result)
        self.batch.normalised(name, args, kwargs, result)

    def _entered(self, _name: str, given: list[torch.Tensor], *_: Any) -> None:
        self._draws.fed(given)
        if given and not given[0].requires_grad:
            self.batch.fed(given[0])

    def _computed(self, name: str, given: list[torch.Tensor], args: Any, _kwargs: Any, result: Any) -> None:
        if isinstance(result, torch.Tensor) and not result.requires_grad:
            self.hand.computed(name, given, result)
            if self._ledger.step_number:
                self.averages.average(name, given, result)
        self._arithmetic.of(name, given, args, result)

    def _shaped(self, name: str, _given: Any, args: Any, _kwargs: Any, result: Any) -> None:
        if isinstance(result, torch.Tensor):
            self._arithmetic.shaped(name, args, result)
            self._draws.chosen(name, args, result)
            if name in ("view", "reshape"):
                self.batch.viewed(args[0], result)

    def _aliased(self, _name: str, given: list[torch.Tensor], _args: Any, _kwargs: Any, result: Any) -> None:
        if isinstance(result, torch.Tensor) and given and graph.is_leaf(given[0]):
            self._calls.keep(result, self._frames.here())

    def finish(self) -> None:
        """Note what only several passes together can tell."""
        self.averages.finish()
        self._draws.finish()
        self._evaluations.finish()
        self.hand.finish()


def _kind(func: Any) -> tuple[str, str]:
    """What a torch function is to us, and its name."""
    name = name_of(func)
    last = name.rsplit(".", 1)[-1]
    if name.endswith(".__get__"):
        return {"data": ("alias", "data"), "grad": ("gradient", "")}.get(name.split(".")[-2], ("pass", ""))
    if name.endswith(".data.__set__"):
        return "share", "data"
    if last.endswith("set_grad_enabled"):
        return "mode", last
    if name.endswith(_NOTHING):
        return "pass", last
    for kind, names in _GROUPS.items():
        if last in names:
            return kind, last
    writes = (last.endswith("_") and not last.startswith("_")) or last.startswith("__i")
    return "write" if writes and last not in _NO_WRITES else "plain", last
