"""Carriers: which of the user's variables hold a tensor of a given place in the graph, and which hold none."""

from __future__ import annotations

import copy
import dataclasses
import sys
from collections import deque
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any

import torch

from .. import wire
from ..engine import graph
from ..program.frames import Frames, frames_of
from . import forms

KEPT = 6
"""Snapshots that are kept: the latest."""
_DEPTH = 6
_ITEMS = 2000
_MODULE = frozenset(vars(torch.nn.Module()))
_MAY_BE_TENSORS = (bool, int, float, complex, type(None))
"""What a variable may hold for a while that holds a tensor at other times."""


class Carriers:
    """Snapshots of the user's frames: for each tensor with a graph, the expression that reaches it."""

    def __init__(self, frames: Frames) -> None:
        self._frames = frames
        self._looks: deque[dict[int, list[wire.Carrier]]] = deque(maxlen=KEPT)

    def look(self) -> None:
        """Take a snapshot of the running user frames."""
        found: dict[int, list[wire.Carrier]] = {}
        for frame in self._frames.running(sys._getframe(1)):
            names = {k: v for k, v in self._frames.variables(frame).items() if not k.startswith(("__", "."))}
            for carrier, tensor in self._carriers(names, frame.f_code.co_filename, frame.f_code.co_qualname):
                found.setdefault(graph.made_by(tensor)._sequence_nr(), []).append(carrier)
        self._looks.append(found)

    def of(self, age: int) -> tuple[wire.Carrier, ...]:
        """The variables that held the output of the node with sequence number `age`, the innermost frame's first."""
        seen: dict[wire.Carrier, None] = {}
        for look in reversed(self._looks):
            for carrier in look.get(age, ()):
                seen.setdefault(carrier)
        return tuple(seen)

    def below(self, value: Any) -> tuple[wire.Carrier, ...]:
        """What an object holds with a graph: by paths that go on from it, and as its classes name it."""
        return tuple(dict.fromkeys(carrier for carrier, _ in self._carriers({"": value}, "", "")))

    def _carriers(
        self, names: dict[str, Any], file: str, function: str
    ) -> Iterator[tuple[wire.Carrier, torch.Tensor]]:  # fmt: skip
        """Tensors with a graph below `names`, each with the variable that holds it, or the container that it is in.

        A tensor in an attribute is given a second time as `self.attribute` of its class, where it is stored.
        """
        queue: list[tuple[str, str, Any, str, tuple[str, str, str] | None, int]] = [
            (name, name, value, "tensor", None, 0) for name, value in names.items()
        ]
        seen: set[tuple[int, str]] = set()
        at = 0
        while at < len(queue) and at < _ITEMS:
            path, holder, value, kind, owner, depth = queue[at]
            at += 1
            if isinstance(value, torch.Tensor):
                if not graph.is_leaf(value):
                    if kind == "tensor" and isinstance(value, torch.nn.Parameter):
                        kind = "parameter"
                    yield wire.Carrier(file, function, holder, kind), value
                    if owner is not None:
                        yield wire.Carrier(owner[0], owner[1], owner[2], kind), value
            # An object has one name; what is in two containers is carried by both.
            elif depth < _DEPTH and (key := (id(value), holder if "[]" in path else "")) not in seen:
                seen.add(key)
                inside = "[]" in path
                if (items := _items(value, inside=inside)) is not None:
                    form = kind if inside else forms.form(value)
                    queue.extend((f"{path}[]", holder, item, form, owner, depth + 1) for item in items)
                elif not inside:
                    queue.extend(
                        (inner, inner, item, "tensor", self._owner(value, name), depth + 1)
                        for inner, name, item in self._attributes(path, value)
                    )

    def _owner(self, value: Any, name: str) -> tuple[str, str, str] | None:
        """The class that keeps `name`, as (file, qualified name, expression in its methods)."""
        file = self._frames.file_of(value) if name else ""
        return (file, type(value).__qualname__, f"self.{name}") if file else None

    def _attributes(self, path: str, value: Any) -> Iterator[tuple[str, str, Any]]:
        """(expression, attribute, value) of what an object of the user's, or a module, holds."""
        if isinstance(value, torch.nn.Module):
            for name, child in value.named_children():
                yield (f"{path}.{name}" if name.isidentifier() else f"{path}[{name}]"), "", child
        elif not self._frames.is_users(value):
            return
        kept = vars(value)
        if isinstance(value, torch.nn.Module):
            kept = {**kept, **value._buffers, **value._parameters}  # a compiled script's are no dicts
        for name, item in kept.items():
            if name.isidentifier() and not (isinstance(value, torch.nn.Module) and name in _MODULE):
                yield f"{path}.{name}", name, item


def _items(value: Any, *, inside: bool) -> list[Any] | None:
    """What a container holds; None for what is none. `inside` one, a dataclass is what no statement can write to."""
    if isinstance(value, dict):
        return list(value.values())[:50]
    if isinstance(value, (tuple, list, deque)):
        return list(value)[-50:]
    fixed = inside or getattr(getattr(type(value), "__dataclass_params__", None), "frozen", False)
    return list(forms.parts(value).values()) if fixed and dataclasses.is_dataclass(value) else None


def held(error: BaseException, frames: Frames) -> tuple[wire.Carrier, ...]:
    """What holds the tensors of the object that the user's call copies; () where the error is of no copy."""
    called = list(frames_of(error))
    last = max((at for at, frame in enumerate(called) if frames.owned(frame.f_code.co_filename)), default=-1)
    copies = (frame for frame in called[last + 1 :] if frame.f_code is copy.deepcopy.__code__)
    first = next(copies, None)
    return Carriers(frames).below(first.f_locals["x"]) if first is not None else ()


def plain(traceback: TracebackType | None, frames: Frames) -> tuple[wire.Carrier, ...]:
    """The names, and their attributes, that the user's frames use for what has no `detach` and no items."""
    found: dict[wire.Carrier, None] = {}
    for frame in (one.tb_frame for one in frames.own(traceback)):
        for path, value in _used(frame, frames):
            kind = type(value)
            if not (hasattr(kind, "detach") or hasattr(kind, "__iter__") or isinstance(value, _MAY_BE_TENSORS)):
                found[wire.Carrier(frame.f_code.co_filename, frame.f_code.co_qualname, path, "other")] = None
    return tuple(found)


def _used(frame: FrameType, frames: Frames) -> list[tuple[str, Any]]:
    code, used = frames.code(frame), frames.names(frame)
    names = (*code.co_varnames, *code.co_freevars, *code.co_cellvars, *used)
    known = {**frame.f_globals, **frames.variables(frame)}
    found = [(name, known[name]) for name in dict.fromkeys(names) if name in known]
    for name, value in list(found):
        if isinstance(value, torch.Tensor) or not hasattr(value, "__dict__"):
            continue
        kept = vars(value)
        if isinstance(value, torch.nn.Module):
            kept = {**kept, **value._modules}
        found += [(f"{name}.{inner}", kept[inner]) for inner in dict.fromkeys(used) if inner in kept]
    return found
