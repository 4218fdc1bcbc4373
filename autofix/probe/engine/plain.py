"""Calls of torch, and whole backwards, whose ops no mode need hear of: to hear of one makes it three times as dear."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from types import BuiltinFunctionType, MethodDescriptorType
from typing import Any, NamedTuple

import torch

from .. import OURS
from . import graph
from .operators import Functions, written_arguments
from .refused import WATCHES, may_write, name_of, tensors
from .taps import Call
from .transforms import inside

_SAYS = frozenset(("size", "dim", "numel", "stride", "is_complex", "is_floating_point", "numpy", "as_tensor"))
"""What computes nothing."""
_TURNS = dict.fromkeys(("float", "double", "long", "int", "bool"), "_to_copy")
"""What has another name than its operator."""
_TAKE = frozenset(("item", "__bool__", "__float__", "__int__"))
"""What takes a number of a tensor: a mode hears of each."""
_ONE = frozenset(("linear", "matmul"))
"""What uses all that it is given for its values, though it is made of several operators."""
_OF_PYTHON = frozenset(("relu", "softmax", "log_softmax", "pow", "broadcast_tensors"))
"""Functions written in Python that call the operator of their name, and nothing else that computes."""
_KINDS = (torch.Tensor, torch.nn.Parameter)
_WRITING = {"out", "inplace"}
_HOOKS = (*WATCHES, ".register_post_accumulate_grad_hook")
_dispatches: Any = torch._C._dispatch_has_kernel
_Disabled: Any = torch._C._DisableTorchDispatch


class _Known(NamedTuple):
    """What a function calls that draws nothing and writes nothing; `alone`: this operator, and no others beside it."""

    operator: Any
    alone: bool


@functools.lru_cache(maxsize=1024)
def known(func: Any) -> _Known | None:
    """What is known of a function that no more need be heard of than what it is given; None of any other."""
    name = getattr(func, "__name__", "")
    of_c = isinstance(func, (BuiltinFunctionType, MethodDescriptorType)) and not may_write(func)
    if name in _SAYS and of_c:
        return _Known(None, True)
    packets = (getattr(torch.ops.aten, one, None) for one in (_TURNS.get(name, name), name.strip("_")))
    packet = next((one for one in packets if isinstance(one, torch._ops.OpOverloadPacket)), None)
    if packet is None or name in _TAKE or not (of_c or name in _OF_PYTHON):
        return None
    # Some are torch script's, for numbers, and have no kernels.
    several = [one for each in packet.overloads() if _dispatches((one := getattr(packet, each)).name())]
    if any(torch.Tag.nondeterministic_seeded in one.tags for one in several):
        return None
    plain = [one for one in several if not written_arguments(one)]
    alone = of_c and (name in _ONE or not (name in _TURNS or any(map(_is_composite, plain))))
    return _Known(plain[0], alone) if plain else None


def _is_composite(operator: Any) -> bool:
    """Whether an operator is made of others."""
    return bool(torch._C._dispatch_has_kernel_for_dispatch_key(operator.name(), "CompositeImplicitAutograd"))


class Plainly(Functions):
    """Tells of calls, and has their ops pass by the one mode of ops that would hear of them, where no more is in them.

    Where there are other modes of ops, transforms, or tensors of a class of its own, all is left as it is.
    """

    def __init__(
        self, concerns: Callable[[list[torch.Tensor]], bool], watch: Callable[[Any, Any], None],
        follows: Callable[[], bool] = lambda: False,
    ) -> None:  # fmt: skip
        """`concerns`: whether some tensors are any that the mode looks for; `watch`: who hears of an operator then.

        `follows`: whether the mode needs what is made of them, too.
        """
        super().__init__()
        self._concerns, self._watch, self._follows = concerns, watch, follows
        self._hooked = False
        """Whether somebody may run code of Python's within a backward."""
        push = torch._C._autograd._push_saved_tensors_default_hooks

        def pushed(pack: Any, unpack: Any) -> None:
            module = getattr(unpack, "__module__", None) or ""
            self._hooked = self._hooked or not module.startswith(OURS)
            push(pack, unpack)

        torch._C._autograd._push_saved_tensors_default_hooks = pushed

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        called = known(func)
        if called is None:
            self._hooked = self._hooked or name_of(func).endswith(_HOOKS)
        elif _alone() and not kwargs.keys() & _WRITING:
            given = (*args, *kwargs.values()) if kwargs else args
            with torch._C.DisableTorchFunction():
                plain = self._is_plain(called, given)
            if plain:
                with _Disabled():
                    return func(*args, **kwargs)
        return func(*args, **kwargs)

    def _is_plain(self, called: _Known, given: Any) -> bool:
        """Whether it is enough to have heard of this call, of which the mode is told here what it looks for."""
        taken = list(tensors(given))
        if not all(type(one) in _KINDS for one in taken):
            return False
        if called.operator is not None and self._concerns(taken):
            if not called.alone or self._follows():
                return False
            self._watch(called.operator, given)
        return True

    def backward(self, call: Call) -> contextlib.AbstractContextManager[Any]:
        """What a backward is to run in: its nodes use no leaf but by what they have saved, and draw nothing."""
        of_python: Any = torch.autograd.function.BackwardCFunction
        alone = _alone() and not (call.create or self._hooked)
        if not alone or any(isinstance(node, of_python) for node in graph.walk(call.roots)):
            return contextlib.nullcontext()
        return _Disabled()


def _alone() -> bool:
    """Whether there is one mode of ops, and no transform: its tensors stand for others, whose storages they hide."""
    return bool(torch._C._len_torch_dispatch_stack() == 1) and not inside()
