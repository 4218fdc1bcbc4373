"""Results whose flag a script switches off, and may switch on again: constants in between, as a reference has them.

`fake.requires_grad = False` is refused, for `fake` is a result. In a reference it has no graph from then on, whoever
takes it. If the script switches its flag on again, torch's functions, and functions of the user's own, take what has
the graph that it had.
"""

from __future__ import annotations

from typing import Any

import torch

from ..engine.refused import name_of, swapped
from ..engine.remembered import Remembered

_FLAGS = ("requires_grad.__set__", "requires_grad_")


class Resting:
    """The results whose flag was switched off, each with what has its graph."""

    def __init__(self) -> None:
        self._graphs = Remembered[torch.Tensor]()
        self._awake = Remembered[torch.Tensor]()
        self.is_bypassed = False
        """Whether something took a result that is on again as it is: then its gradient goes nowhere."""

    def switch_off(self, target: torch.Tensor) -> torch.Tensor:
        """Switch off the flag of a result."""
        with torch.enable_grad():
            self._graphs.keep(target, target.clone())
        return target.detach_()

    def look(self) -> None:
        """See where the gradients of a backward went."""
        self.is_bypassed = self.is_bypassed or any(tensor.grad is not None for tensor in self._awake)

    def given(self, func: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """What a call is given: with its graph what is on again. A call that sets a flag is heard."""
        if not len(self._graphs):
            return args, kwargs
        if name_of(func).endswith(_FLAGS) and (known := self._graphs.of(args[0])) is not None:
            if args[1] if len(args) > 1 else kwargs.get("requires_grad", True):
                self._awake.keep(args[0], known)
            else:
                self._awake.forget(args[0])
            return args, kwargs
        return self.with_graphs(args), self.with_graphs(kwargs)

    def with_graphs(self, given: Any) -> Any:
        """Arguments with what has the graph in the place of a result that is on again."""
        for tensor in list(self._awake):
            given = swapped(given, tensor, self._awake.of(tensor))
        return given
