"""What torch's operators say of themselves: which arguments one writes, and the storage that a tensor lies in."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

Fact = TypeVar("Fact")


class Dispatch(TorchDispatchMode):
    """A mode that sees each operator called."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Not to be wrapped against compilation: nothing is compiled here, and the wrapper costs at each op."""
        return False


class Functions(TorchFunctionMode):
    """A mode that sees each torch function called. A run may end in one, where torch has taken the mode off already."""

    def __exit__(self, *error: object) -> None:
        with contextlib.suppress(RuntimeError):
            super().__exit__(*error)


def written_arguments(func: Any) -> tuple[tuple[int, str], ...]:
    """Positions and names of the arguments that an operator writes to."""
    return tuple(
        (index, argument.name)
        for index, argument in enumerate(func._schema.arguments)
        if argument.alias_info is not None and argument.alias_info.is_write
    )


class Known(Generic[Fact]):
    """A fact of operators, found out once for each: torch keeps its operators, but takes long to hash one."""

    def __init__(self, find: Callable[[Any], Fact]) -> None:
        self._find = find
        self._facts: dict[int, tuple[Any, Fact]] = {}

    def of(self, func: Any) -> Fact:
        """What is known of an operator."""
        known = self._facts.get(id(func))
        if known is None:
            known = self._facts[id(func)] = (func, self._find(func))
        return known[1]


def tensors_at(places: tuple[tuple[int, str], ...], args: Any, kwargs: Any) -> list[torch.Tensor]:
    """The tensors that stand at `places` in a call."""
    found: list[torch.Tensor] = []
    for index, name in places:
        value = args[index] if index < len(args) else kwargs.get(name)
        found.extend(
            t for t in (value if isinstance(value, (list, tuple)) else (value,)) if isinstance(t, torch.Tensor)
        )
    return found


def entries(tensor: torch.Tensor) -> torch.Tensor:
    """The numbers that a tensor holds, in its own memory: of a sparse one those that it lists."""
    if tensor.layout is torch.strided:
        return tensor
    return tensor.detach()._values() if tensor.layout is torch.sparse_coo else tensor.detach().values()


def storage_key(tensor: torch.Tensor) -> int | None:
    """A number that is the same for all tensors of one storage; None where there is no single storage (sparse)."""
    try:
        return tensor.untyped_storage()._cdata
    except (NotImplementedError, RuntimeError):
        return None
