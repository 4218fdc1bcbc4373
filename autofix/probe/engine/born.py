"""Parameters that require no gradient from the moment they are made: what `from_pretrained` of a table gives."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from typing import Any

import torch

from ..program.expressions import is_at, parsed
from ..wire import Frame

_ASKED = ("freeze", "requires_grad", None)
"""Keywords by which a call says whether a parameter is to train; None stands for `**options`."""


def listen(heard: Callable[[torch.Tensor], None]) -> Callable[[], None]:
    """Tell of each parameter that is made without its flag; the result ends that."""
    kind = torch.nn.Parameter
    new = kind.__new__

    @functools.wraps(new)
    def made(cls: Any, *given: Any, **options: Any) -> Any:
        found = new(cls, *given, **options)
        if isinstance(found, torch.Tensor) and not found.requires_grad:
            heard(found)
        return found

    setattr(kind, "__new__", staticmethod(made))  # noqa: B010  mypy does not let a method be replaced
    return functools.partial(setattr, kind, "__new__", staticmethod(new))


def unasked(text: bytes, place: Frame) -> bool:
    """Whether the call at a place leaves it to torch whether what it makes is frozen."""
    tree = parsed(text)
    calls = (one for one in ast.walk(tree) if isinstance(one, ast.Call)) if tree is not None else ()
    found = next((one for one in calls if is_at(one, place)), None)
    if found is None or not (isinstance(found.func, ast.Attribute) and found.func.attr == "from_pretrained"):
        return False
    starred = any(isinstance(one, ast.Starred) for one in found.args)
    return len(found.args) <= 1 and not starred and all(word.arg not in _ASKED for word in found.keywords)
