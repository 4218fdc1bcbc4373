"""How often hooks of the program's own are due: what an edit no longer calls need not show in any gradient."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import CodeType
from typing import Any

import torch

from .. import wire
from ..engine.taps import Listener
from ..program.frames import Frames

_DUE = ("_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks")


class Hooks(Listener):
    """Counts, between steps, the calls of modules that have hooks, and the gradients that hooks of tensors are given.

    Hooks of one function are counted together: an edit may make them at another place.
    """

    def __init__(self, frames: Frames) -> None:
        self._frames = frames
        self._steps = 0
        self._due: dict[tuple[CodeType, bool], list[int]] = {}
        torch.nn.modules.module.register_module_forward_pre_hook(self._called)
        plain = torch.Tensor.register_hook
        counting = False

        @functools.wraps(plain)
        def register_hook(tensor: torch.Tensor, hook: Callable[..., Any]) -> Any:
            nonlocal counting
            handle = plain(tensor, hook)
            if not counting and (code := _code(hook)) is not None and frames.owns(code):
                counting = True  # where a mode hears of it, it comes here once more
                try:
                    plain(tensor, lambda _: self._count(code, tensor=True))
                finally:
                    counting = False
            return handle

        torch.Tensor.register_hook = register_hook

    def step_done(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self._steps += 1

    def told(self) -> dict[str, Any]:
        """Each of them, and how often it was due before each step."""
        hooks = (
            wire.Hook(code.co_qualname, self._frames.resolve(((code, 0),)), tensor, tuple(due))
            for (code, tensor), due in self._due.items()
        )
        return {"hooks": tuple(hooks)}

    def _called(self, module: torch.nn.Module, args: Any) -> None:
        for kind in _DUE:
            for hook in getattr(module, kind, {}).values():
                code = _code(hook)
                if code is not None and self._frames.owns(code):
                    self._count(code, tensor=False)

    def _count(self, code: CodeType, *, tensor: bool) -> None:
        due = self._due.setdefault((code, tensor), [])
        due += [0] * (self._steps + 1 - len(due))
        due[-1] += 1


def _code(hook: Any) -> CodeType | None:
    """The code of a function of Python's that is behind a hook."""
    while isinstance(hook, functools.partial):
        hook = hook.func
    found = getattr(hook, "__code__", None) or getattr(type(hook).__call__, "__code__", None)
    return found if isinstance(found, CodeType) else None
