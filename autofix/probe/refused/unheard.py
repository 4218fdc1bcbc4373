"""Lets those that listen to torch's functions hear of `Tensor.set_`, the one write that torch does not tell them of."""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch.overrides import handle_torch_function, has_torch_function

from ..engine.refused import listed


def install() -> None:
    """Hear of it from now on."""
    write: Any = torch.Tensor.set_

    @functools.wraps(write)
    def set_(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        given = (self, *listed(args, kwargs))
        if has_torch_function(given):
            return handle_torch_function(set_, given, self, *args, **kwargs)  # the next who listens hears of it, too
        return write(self, *args, **kwargs)

    set_.__module__ = "torch"
    torch.Tensor.set_ = set_
