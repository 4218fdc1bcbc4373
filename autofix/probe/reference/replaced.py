"""What a reference runs in place of torch's own: single views, plain checkpoints and attention, one loss's backward."""

from __future__ import annotations

from typing import Any

import torch
import torch.utils.checkpoint as checkpoints

REPLACED: tuple[tuple[Any, str], ...] = (
    (torch, "unbind"), (torch, "chunk"), (torch, "split"),
    (checkpoints, "checkpoint"), (checkpoints, "checkpoint_sequential"), (torch.autograd, "backward"),
)  # fmt: skip
"""What functions below replace, and a script may hold under a name of its own. Methods are looked up anew."""


def single_views() -> None:
    """Let split, chunk and unbind give views that may be written to: torch refuses writes to the ones it makes."""
    split, tensor_split = torch.split, torch.Tensor.split

    def unbind(tensor: torch.Tensor, dim: int = 0) -> tuple[torch.Tensor, ...]:
        return tuple(tensor.select(dim, index) for index in range(tensor.size(dim)))

    def pieces(tensor: torch.Tensor, sizes: int | list[int], dim: int = 0) -> tuple[torch.Tensor, ...]:
        total = tensor.size(dim)
        if isinstance(sizes, int):
            if sizes <= 0:
                return tensor_split(tensor, sizes, dim)
            sizes = [min(sizes, total - at) for at in range(0, total, sizes)] or [0]
        if sum(sizes) != total:
            return split(tensor, sizes, dim)
        starts = [sum(sizes[:index]) for index in range(len(sizes))]
        return tuple(tensor.narrow(dim, start, size) for start, size in zip(starts, sizes, strict=True))

    def chunk(tensor: torch.Tensor, chunks: int, dim: int = 0) -> tuple[torch.Tensor, ...]:
        return pieces(tensor, max(1, -(-tensor.size(dim) // chunks)), dim)

    def method_split(tensor: torch.Tensor, split_size: Any, dim: int = 0) -> tuple[torch.Tensor, ...]:
        return pieces(tensor, split_size, dim)

    def function_split(tensor: torch.Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[torch.Tensor, ...]:
        return pieces(tensor, split_size_or_sections, dim)

    torch.unbind = torch.Tensor.unbind = unbind
    torch.chunk = torch.Tensor.chunk = chunk
    torch.split = function_split
    torch.Tensor.split = method_split


def backwards_of_one() -> None:
    """Let `torch.autograd.backward` of one loss with several values be the method, of which a reference hears."""
    of_several = torch.autograd.backward

    def backward(tensors: Any, grad_tensors: Any = None, *args: Any, **kwargs: Any) -> None:
        given = [*tensors] if isinstance(tensors, (list, tuple)) else [tensors]
        one = given[0] if len(given) == 1 and grad_tensors is None and not args else None
        if isinstance(one, torch.Tensor) and one.numel() > 1 and "grad_variables" not in kwargs:
            one.backward(**kwargs)
        else:
            of_several(tensors, grad_tensors, *args, **kwargs)

    torch.autograd.backward = backward


def no_inference_mode() -> None:
    """Have inference mode switch gradients off and no more: later operations may save what is made in it."""

    def enter(mode: Any) -> None:
        mode.prev = torch.is_grad_enabled()
        torch.set_grad_enabled(not mode.mode)

    def leave(mode: Any, *_: object) -> None:
        torch.set_grad_enabled(mode.prev)

    torch.inference_mode.__enter__, torch.inference_mode.__exit__ = enter, leave


def plain_attention() -> None:
    """Have attention made of operations that can be differentiated twice, unless the script chooses others."""
    for name in ("flash", "mem_efficient", "cudnn"):
        if switch := getattr(torch.backends.cuda, f"enable_{name}_sdp", None):
            switch(False)


def plain_checkpoints() -> None:
    """Run `torch.utils.checkpoint` as plain calls: it would recompute with weights that a step has changed."""
    own = ("use_reentrant", "context_fn", "determinism_check", "debug", "early_stop", "preserve_rng_state")

    def checkpoint(function: Any, *args: Any, **kwargs: Any) -> Any:
        return function(*args, **{key: value for key, value in kwargs.items() if key not in own})

    def checkpoint_sequential(functions: Any, segments: int, value: Any, **_: Any) -> Any:
        for function in list(functions.children()) if isinstance(functions, torch.nn.Sequential) else functions:
            value = function(value)
        return value

    class Plain:
        """For who held the function before: what it runs its part with where that is reentrant."""

        @staticmethod
        def apply(function: Any, _preserve: bool, *args: Any) -> Any:
            return function(*args)

    checkpoints.CheckpointFunction = Plain
    checkpoints.checkpoint = checkpoint
    checkpoints.checkpoint_sequential = checkpoint_sequential


def plain_reducers() -> None:
    """Let modules that are distributed over this one process average nothing: then what they are told is no matter."""
    if not torch.distributed.is_available():
        return
    kind: Any = torch.nn.parallel.DistributedDataParallel
    forward = kind.forward

    def alone(self: Any, *args: Any, **kwargs: Any) -> Any:
        if torch.distributed.get_world_size() > 1:
            return forward(self, *args, **kwargs)
        if self.static_graph:  # it counts what is not averaged, too
            return self.module(*args, **kwargs)
        with self.no_sync():
            return forward(self, *args, **kwargs)

    kind.forward = alone
