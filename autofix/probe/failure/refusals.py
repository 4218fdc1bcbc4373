"""The torch call that raised: which kind of refusal it was, and the tensor it was about."""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from ..engine.refused import name_of, refused


class Refusals(TorchFunctionMode):
    """Remembers the torch call that raised: its name, which kind of refusal it was, and the tensor it was about."""

    def __init__(self) -> None:
        super().__init__()
        self.function = ""
        self.error: BaseException | None = None
        self.kind = ""
        self.target: torch.Tensor | None = None

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        try:
            return func(*args, **(kwargs or {}))
        except Exception as error:
            if self.error is not error:
                self.error = error
                self.function = name_of(func)
                self.kind, self.target = refused(func, args, kwargs or {})
            raise
