"""Which module made which node: marks in the count of nodes, set where a module's forward begins and ends."""

from __future__ import annotations

import bisect
from typing import Any

from torch.nn.modules import module as modules

from ..engine import graph


class Modules:
    """Follows the modules that run, and tells afterwards which of them made a node."""

    def __init__(self) -> None:
        self._stack: list[tuple[str, str]] = []
        self._root: Any = None
        self._inside: dict[int, str] = {}
        self._ages: list[int] = []
        self._paths: list[tuple[str, str]] = []
        self.roots: dict[str, Any] = {}
        self._hooks = (
            modules.register_module_forward_pre_hook(self._enter),
            modules.register_module_forward_hook(self._leave, always_call=True),
        )

    def of(self, age: int) -> tuple[str, str]:
        """The outermost module, as a key of `roots`, and the path below it."""
        at = bisect.bisect_right(self._ages, age) - 1
        return self._paths[at] if at >= 0 else ("", "")

    def _enter(self, module: Any, _args: Any) -> None:
        if not self._stack and self._root is not module:
            self._root = module
            self._inside = {id(one): name for name, one in module.named_modules()}
        root = f"{type(self._root).__name__}:{id(self._root)}"
        self.roots[root] = self._root
        outer = self._stack[-1][1] if self._stack else ""
        own = self._inside.get(id(module), f"{outer}.{type(module).__name__}".lstrip("."))
        self._stack.append((root, own))
        self._mark()

    def _leave(self, _module: Any, _args: Any, _result: Any) -> None:
        if self._stack:
            self._stack.pop()
        self._mark()

    def _mark(self) -> None:
        path = self._stack[-1] if self._stack else ("", "")
        age = graph.now()
        if self._ages and self._ages[-1] == age:
            self._paths[-1] = path
        else:
            self._ages.append(age)
            self._paths.append(path)
