"""Who calls a torch function, and what becomes of its result there: dropped, put where it was, or given a name."""

from __future__ import annotations

import dis
import functools
import itertools
import sys
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any

import torch

from .. import HERE
from ..program.frames import outwards

_OVERRIDES = torch.overrides.__file__
_MODULE = torch.nn.Module._call_impl.__code__
_MODES = torch.autograd.grad_mode.__file__
_DECORATES = torch.utils._contextlib.__file__
_LEAVES = ("__exit__", "__call__")
_DEEP = 16
"""Frames between a mode of torch's and who is asked about its call."""
_STORES = "STORE_FAST"
_BINDS = (_STORES, "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF", "RETURN_VALUE")


def frame(func: Any = None) -> FrameType | None:
    """The frame from which a torch function, or `func`, is called: none of the probe's or of torch's overrides."""
    own = getattr(func, "__code__", None)
    for found in outwards(sys._getframe(1)):
        code = found.f_code
        if code is not own and code.co_filename != _OVERRIDES and not code.co_filename.startswith(HERE):
            return found
    return None


def computing() -> bool:
    """Whether a module is being called."""
    return any(found.f_code is _MODULE for found in outwards(sys._getframe(1)))


def modules() -> Iterator[torch.nn.Module]:
    """The modules that are being called, the innermost first."""
    return (found.f_locals["self"] for found in outwards(sys._getframe(1)) if found.f_code is _MODULE)


def mode() -> tuple[dict[str, Any], bool]:
    """What the mode of torch's holds that is being entered or left, {} without one; and whether it is left."""
    near = itertools.islice(outwards(sys._getframe(1)), _DEEP)
    within = itertools.dropwhile(lambda one: one.f_code.co_filename != _MODES, near)
    found = list(itertools.takewhile(lambda one: one.f_code.co_filename == _MODES, within))[-1:]
    # `no_grad` is entered and left by making another mode.
    return (vars(found[0].f_locals["self"]), found[0].f_code.co_name in _LEAVES) if found else ({}, False)


def decorated() -> str:
    """Where the function stands that a mode of torch's decorates, if that is why it is entered: `file:line`."""
    near = itertools.islice(outwards(sys._getframe(1)), _DEEP)
    within = itertools.dropwhile(lambda one: one.f_code.co_filename != _MODES, near)
    enters = next((one for one in within if one.f_code.co_filename != _MODES), None)
    if enters is None or enters.f_code.co_filename != _DECORATES:
        return ""
    code = getattr(enters.f_locals.get("func"), "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code is not None else ""


def discards(func: Any) -> bool:
    """Whether the caller of a torch function drops its result, or puts it back as an attribute.

    `self.p += v` stores what it wrote to where it was: the object that all others hold goes on.
    """
    return _next(func) in ("POP_TOP", "STORE_ATTR")


def stores(func: Any) -> bool:
    """Whether the caller of a torch function puts its result into an attribute."""
    return _next(func) == "STORE_ATTR"


def binds(func: Any) -> bool:
    """Whether the caller of a torch function gives its result a name, or returns it."""
    return _next(func) in _BINDS


def renews(func: Any) -> CodeType | None:
    """The code of the function that calls `func`, where the result takes the name of an argument that it writes to."""
    found = frame(func)
    if found is None:
        return None
    code = found.f_code
    does, name = _follows(code, found.f_lasti)
    given = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return code if does == _STORES and name in given and _writes(code) else None


@functools.cache
def _writes(code: CodeType) -> bool:
    """Whether a function may write to a tensor: to a part of it, by an operator, or by a method in place."""
    return any(
        one.opname == "STORE_SUBSCR"
        or (one.opname == "BINARY_OP" and one.argrepr.endswith("="))
        or (one.opname in ("LOAD_METHOD", "LOAD_ATTR") and one.argval.endswith("_"))
        for one in dis.get_instructions(code)
    )


def _next(func: Any) -> str:
    """What the caller of a torch function does with its result, as the name of an instruction."""
    if getattr(func, "__name__", "") == "__setitem__":
        return "POP_TOP"
    found = frame(func)
    return _follows(found.f_code, found.f_lasti)[0] if found is not None else ""


@functools.cache
def _follows(code: CodeType, lasti: int) -> tuple[str, str]:
    """The instruction after the one at `lasti`: its name, and that of the variable that it is about."""
    found = False
    for instruction in dis.get_instructions(code):
        if found and instruction.opname not in ("SWAP", "CACHE"):
            # From Python 3.13 on one instruction may store a variable and load or store another.
            stores = instruction.opname.startswith(_STORES)
            return _STORES if stores else instruction.opname, instruction.argrepr.partition(",")[0]
        found = found or instruction.offset == lasti
    return "", ""
