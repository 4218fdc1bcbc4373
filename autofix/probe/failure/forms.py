"""Forms: how a value holds its tensors, written as an expression that the host can read."""

from __future__ import annotations

import dataclasses
import re
from collections import deque
from collections.abc import Iterable
from typing import Any

import torch

from ..engine import graph

NOTHING = "..."
_TENSOR, _BARE = "tensor", "bare"
_TENSORS = re.compile(rf"(?<![\w'\"])(?:{_TENSOR}|{_BARE})(?![\w=:'\"])")
"""A tensor of a form, with a graph or without; no name of a field and no key."""
_ALIKE = re.compile(rf"\({_TENSOR}(?:, {_TENSOR})*,\)")
_DEPTH = 5
_ENDS = 20
_EACH = 8
"""A container of more items than this is told by one form for all of them, or by a few, or not at all."""
_ANY_NUMBER = ("[*", "(*", "{**", "mapping(", "deque(")
"""What a form begins with, where it is that of a container of any number of items alike."""
_TYPES = {"(": "tuple", "[": "list", "{": "dict"}
"""What a form begins with, where it is that of a type that a program can ask for."""


def form(value: Any) -> str:
    """`(tensor, [*tensor])` for a tensor and a list of some; `...` is what holds no tensor, or cannot be told.

    Beside a tensor with a graph, `bare` is one that had none wherever it was seen. Other containers: `{**tensor}`,
    `mapping(tensor)` for another class of dict, `deque(tensor)`, `named(h=tensor)` for a named tuple and
    `data(h=tensor)` for a dataclass. Where items differ, and are too many to be told one by one, the form of each is
    one of several, told apart by their types, tensors last: `(None or (*tensor,) or tensor)`.
    """
    found = _form(value, 0)
    return _one_for_all(found if _TENSOR in _TENSORS.findall(found) else _TENSORS.sub(_TENSOR, found))


def _form(value: Any, depth: int) -> str:
    if isinstance(value, torch.Tensor):
        return _BARE if graph.is_leaf(value) else _TENSOR
    if value is None or depth == _DEPTH:
        return "None" if value is None else NOTHING
    if isinstance(value, dict):
        return _mapping(value, depth)
    if isinstance(value, deque) or type(value) in (list, tuple):
        return _sequence(value, depth)
    fields = parts(value)
    forms = {name: _form(item, depth + 1) for name, item in fields.items()}
    if not any(map(_holds, forms.values())):
        return NOTHING
    kind = "data" if dataclasses.is_dataclass(value) else "named"
    return f"{kind}({', '.join(f'{name}={one}' for name, one in forms.items())})"


def parts(value: Any) -> dict[str, Any]:
    """What a named tuple or a dataclass holds, by the names with which another one is made of it; else nothing."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        named = (one.name for one in dataclasses.fields(value) if one.init)
        return {name: getattr(value, name) for name in named if hasattr(value, name)}
    return value._asdict() if isinstance(value, tuple) and hasattr(value, "_asdict") else {}


def _sequence(value: list[Any] | tuple[Any, ...] | deque[Any], depth: int) -> str:
    items = list(value)
    shown = items[:_ENDS] + items[_ENDS:][-_ENDS:]
    forms = [_form(item, depth + 1) for item in shown]
    each = type(value) is tuple and 0 < len(items) <= _EACH and all(one in (_TENSOR, _BARE) for one in forms)
    one = "" if each else _common(forms, shown)  # which of a few has a graph may be told only beside another tuple
    if isinstance(value, deque):
        return f"deque({one})" if one else NOTHING
    if not one and (len(items) > _EACH or not any(map(_holds, forms))):
        return NOTHING
    inner = f"*{one}" if one else ", ".join(forms)
    return f"[{inner}]" if isinstance(value, list) else f"({inner},)"


def _mapping(value: dict[Any, Any], depth: int) -> str:
    items = dict(list(value.items())[:_ENDS])
    forms = {key: _form(item, depth + 1) for key, item in items.items()}
    one = _common(list(forms.values()), list(items.values()))
    if one and type(value) is not dict:
        leaves = all(isinstance(item, torch.Tensor) and item.is_leaf for item in value.values())
        return NOTHING if leaves else f"mapping({one})"  # a state_dict
    if one:
        return f"{{**{one}}}"
    plain = all(isinstance(key, (str, int)) for key in forms)
    if not plain or type(value) is not dict or len(value) > _EACH or not any(map(_holds, forms.values())):
        return NOTHING
    return f"{{{', '.join(f'{key!r}: {one}' for key, one in forms.items())}}}"


def _common(forms: list[str], items: list[Any]) -> str:
    """The one form that all items have, or of many the few that their types tell apart; '' where there is none.

    What holds nothing has the form of others of its type that may hold any number.
    """
    forms = _with_graph(forms)
    if len(set(forms)) > 1:
        forms = _with_graph([_one_for_all(_TENSORS.sub(_TENSOR, one)) for one in forms])
    full = [(one, type(item)) for one, item in zip(forms, items, strict=True) if not _is_empty(item)]
    alike, types = {one for one, _ in full}, {kind for _, kind in full}
    if len(full) < len(forms) and len(alike) == 1 and min(alike).startswith(_ANY_NUMBER):
        return min(alike) if {type(item) for item in items} == types else ""
    kinds = sorted(dict.fromkeys(forms), key=lambda one: (one != "None", one in (_TENSOR, _BARE)))
    holding = [one for one in kinds if one != "None"]
    if not holding or not all(map(_holds, holding)) or (len(holding) > 1 and len(forms) <= _EACH):
        return ""
    if len({_TYPES.get(one[:1], one) for one in holding}) < len(holding):
        return ""
    return f"({' or '.join(kinds)})" if len(kinds) > 1 else holding[0]


def _with_graph(forms: list[str]) -> list[str]:
    """Forms that differ by graphs alone are one, with a graph wherever one of them has it."""
    alike: dict[str, list[str]] = {}
    for one in dict.fromkeys(forms):
        alike.setdefault(_TENSORS.sub("", one), []).append(one)
    joined = {frame: _joined(same) for frame, same in alike.items() if len(same) > 1}
    return [joined.get(_TENSORS.sub("", one), one) for one in forms] if joined else forms


def _joined(same: Iterable[str]) -> str:
    columns = zip(*map(_TENSORS.findall, same), strict=True)
    words = iter([_TENSOR if _TENSOR in column else _BARE for column in columns])
    return _TENSORS.sub(lambda _: next(words), next(iter(same)))


def _one_for_all(one: str) -> str:
    """A form in which each tuple of tensors is one of any number."""
    return _ALIKE.sub(f"(*{_TENSOR},)", one)


def _is_empty(item: Any) -> bool:
    return isinstance(item, (list, tuple, dict, deque)) and not item


def _holds(one: str) -> bool:
    return one not in (NOTHING, "None")
