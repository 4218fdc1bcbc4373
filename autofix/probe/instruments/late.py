"""Puts instruments in place late: after so many backward calls that what came before them need not be known."""

from __future__ import annotations

import threading
from collections.abc import Callable

import torch
from torch.overrides import _get_current_function_mode_stack
from torch.utils._python_dispatch import _get_current_dispatch_mode

from .. import OURS
from ..engine import graph
from ..engine.taps import Call, Listener
from ..wire import Request

_SETTLED = 20
"""Backward calls after which the pass that was under way at first is over: until then they may use what it made."""


class Late(Listener):
    """Enters the modes of a run after `watch_from` backward calls, or as soon after them as that is sound."""

    def __init__(self, request: Request, enter: Callable[[], object]) -> None:
        self._since = request.watch_from
        self._enter = enter
        self._thread = threading.get_ident()
        self._began = -1
        self._after = 0
        self._older: list[int] = []
        if not hasattr(torch._C._autograd, "_top_saved_tensors_default_hooks"):  # nobody can tell when it is sound
            self._began = 0
            enter()

    def backward(self, call: Call) -> None:
        watched = self._began >= 0 and call.outer is None
        if watched and min(graph.ages(graph.walk(call.roots)), default=self._began) < self._began:
            self._older.append(call.index)

    def backward_done(self, call: Call) -> None:
        if self._began < 0 and call.outer is None and call.index + 1 >= self._since and self._sound():
            self._began, self._after = graph.now(), call.index
            self._enter()

    def missed(self, calls: int) -> bool:
        """Whether, of the `calls` that were made, the last, or one that no early pass explains, used older nodes.

        Or came before the modes were entered, where that was sound only later.
        """
        first = min(self._since + _SETTLED, calls - 1)
        return self._began < 0 or self._after >= first or any(index >= first for index in self._older)

    def _sound(self) -> bool:
        """Whether nothing of the script's own would be left before this is: modes and hooks are stacks of a thread."""
        autograd = torch._C._autograd
        return (
            threading.get_ident() == self._thread
            and _get_current_dispatch_mode() is None
            and all(type(mode).__module__.startswith(OURS) for mode in _get_current_function_mode_stack())
            and autograd._saved_tensors_hooks_is_enabled()
            and autograd._top_saved_tensors_default_hooks(False) is None
        )
