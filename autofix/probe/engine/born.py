"""What becomes of parameters from where they are made: those born frozen, and those that nothing can reach."""

from __future__ import annotations

import ast
import functools
import gc
from collections.abc import Callable
from typing import Any

import torch

from ..program.expressions import is_at, parsed
from ..program.frames import Frames, Raw
from ..wire import Frame
from . import caller, graph
from .names import Names
from .remembered import Remembered
from .taps import Call, Listener, Taps

_ASKED = ("freeze", "requires_grad", None)
"""Keywords by which a call says whether a parameter is to train; None stands for `**options`."""


def listen(
    heard: Callable[[torch.Tensor], None],
    instead: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] = lambda made, _data: made,
) -> Callable[[], None]:
    """Tell of each parameter that is made; the result ends that.

    `instead` is told of those that are made leaves of what has a gradient itself, and says what is made.
    """
    kind = torch.nn.Parameter
    new = kind.__new__

    @functools.wraps(new)
    def made(cls: Any, *given: Any, **options: Any) -> Any:
        found = new(cls, *given, **options)
        if isinstance(found, torch.Tensor):
            heard(found)
            data = given[0] if given else options.get("data")
            if found.requires_grad and isinstance(data, torch.Tensor) and data.requires_grad:
                return instead(found, data)
        return found

    setattr(kind, "__new__", staticmethod(made))  # noqa: B010  mypy does not let a method be replaced
    return functools.partial(setattr, kind, "__new__", staticmethod(new))


class Unreachable(Listener):
    """Parameters that were made before training began, get gradients, and that nothing of the program's holds.

    So are those of a later phase, which more than one backward reaches. No variable, module or optimizer has them, only
    the graph of what was computed from them. So it is with those that get no gradient because a deep copy took the
    place of what was computed from them.
    """

    def __init__(self, frames: Frames, taps: Taps, names: Names) -> None:
        self._frames, self._taps, self._names = frames, taps, names
        self._made = Remembered[Raw]()
        self._late = Remembered[Raw]()
        """Those that were made since, until a second backward reaches them."""
        self._reached = Remembered[int]()
        self._copied: list[torch.Tensor] = []
        listen(self._keep)

    def told(self) -> dict[str, Any]:
        """Each of them, by the place where it was made."""
        owned = set().union(*self._taps.owned)
        behind = set(map(id, self._copied))
        lone = [one for one in self._made if (one.grad is not None or id(one) in behind) and id(one) not in owned]
        lone = [one for one in lone if not self._names.name(one, "")]
        if lone:
            modules = (one for one in gc.get_objects() if issubclass(type(one), torch.nn.Module))
            held = self._names.of_files() | {id(one) for module in modules for one in module._parameters.values()}
            lone = [one for one in lone if id(one) not in held]
        found = ((one, self._made.of(one)) for one in lone)
        return {"facts": tuple(self._frames.fact("unreachable", raw) for _, raw in found if raw)}

    def backward(self, call: Call) -> None:
        for one in graph.leaves(graph.walk(call.roots)) if len(self._late) else ():
            if one in self._late and self._reached.of(one) not in (None, call.index):
                self._made.keep(one, self._late.of(one) or ())
            elif one in self._late:
                self._reached.keep(one, call.index)

    def copied(self, result: torch.Tensor) -> None:
        """A deep copy takes the place of a result: the parameters that were made for this are kept to be told of."""
        if not len(self._made):
            return
        self._copied += [one for one in graph.leaves(graph.walk([result])) if one in self._made]

    def _keep(self, parameter: torch.Tensor) -> None:
        """Those that the program makes by its own hand: a layer that is let go of may have been a fixed projection."""
        by = caller.frame()
        if by is not None and self._frames.owns(by.f_code):
            (self._late if self._taps.calls else self._made).keep(parameter, self._frames.here())


def unasked(text: bytes, place: Frame) -> bool:
    """Whether the call at a place leaves it to torch whether what it makes is frozen."""
    tree = parsed(text)
    calls = (one for one in ast.walk(tree) if isinstance(one, ast.Call)) if tree is not None else ()
    found = next((one for one in calls if is_at(one, place)), None)
    if found is None or not (isinstance(found.func, ast.Attribute) and found.func.attr == "from_pretrained"):
        return False
    starred = any(isinstance(one, ast.Starred) for one in found.args)
    return len(found.args) <= 1 and not starred and all(word.arg not in _ASKED for word in found.keywords)
