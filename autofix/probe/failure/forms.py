"""Forms: how a value holds its tensors, written as an expression that the host can read."""

from __future__ import annotations

import dataclasses
from collections import deque
from typing import Any

import torch

NOTHING = "..."
_DEPTH = 5
_ENDS = 20
_EACH = 8
"""A container of more items than this is told by one form for all of them, or by a few, or not at all."""
_ANY_NUMBER = ("[*", "(*", "{**", "mapping(", "deque(")
"""What a form begins with, where it is that of a container of any number of items alike."""
_TYPES = {"(": "tuple", "[": "list", "{": "dict"}
"""What a form begins with, where it is that of a type that a program can ask for."""


def form(value: Any, depth: int = 0) -> str:
    """`(tensor, [*tensor])` for a tensor and a list of some; `...` is what holds no tensor, or cannot be told.

    Other containers: `{**tensor}`, `mapping(tensor)` for another class of dict, `deque(tensor)`, `named(h=tensor)` for
    a named tuple and `data(h=tensor)` for a dataclass. Where items differ, and are too many to be told one by one, the
    form of each is one of several, told apart by their types, tensors last: `(None or (*tensor,) or tensor)`.
    """
    if isinstance(value, torch.Tensor):
        return "tensor"
    if value is None or depth == _DEPTH:
        return "None" if value is None else NOTHING
    if isinstance(value, dict):
        return _mapping(value, depth)
    if isinstance(value, deque) or type(value) in (list, tuple):
        return _sequence(value, depth)
    fields = parts(value)
    forms = {name: form(item, depth + 1) for name, item in fields.items()}
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
    forms = [form(item, depth + 1) for item in shown]
    one = _common(forms, shown)
    if isinstance(value, deque):
        return f"deque({one})" if one else NOTHING
    if not one and (len(items) > _EACH or not any(map(_holds, forms))):
        return NOTHING
    inner = f"*{one}" if one else ", ".join(forms)
    return f"[{inner}]" if isinstance(value, list) else f"({inner},)"


def _mapping(value: dict[Any, Any], depth: int) -> str:
    items = dict(list(value.items())[:_ENDS])
    forms = {key: form(item, depth + 1) for key, item in items.items()}
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
    full = [(one, type(item)) for one, item in zip(forms, items, strict=True) if not _is_empty(item)]
    alike, types = {one for one, _ in full}, {kind for _, kind in full}
    if len(full) < len(forms) and len(alike) == 1 and min(alike).startswith(_ANY_NUMBER):
        return min(alike) if {type(item) for item in items} == types else ""
    kinds = sorted(dict.fromkeys(forms), key=lambda one: (one != "None", one == "tensor"))
    holding = [one for one in kinds if one != "None"]
    if not holding or not all(map(_holds, holding)) or (len(holding) > 1 and len(forms) <= _EACH):
        return ""
    if len({_TYPES.get(one[:1], one) for one in holding}) < len(holding):
        return ""
    return f"({' or '.join(kinds)})" if len(kinds) > 1 else holding[0]


def _is_empty(item: Any) -> bool:
    return isinstance(item, (list, tuple, dict, deque)) and not item


def _holds(one: str) -> bool:
    return one not in (NOTHING, "None")
