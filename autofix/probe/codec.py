"""Frozen dataclasses as lines of JSON: written, and read with every field checked."""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import types
import typing
from typing import Any, TypeVar, Union, get_args, get_origin

if typing.TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class WireError(ValueError):
    """A message that does not have the declared shape."""


def dump(record: Any) -> bytes:
    """One record as one line of JSON."""
    return json.dumps(record, default=_fields, separators=(",", ":")).encode() + b"\n"


def _fields(record: Any) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__dataclass_fields__}


def load(kind: type[T], data: bytes) -> T:
    """The record in `data`; raises WireError when any field is missing, unknown, or of another type."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:  # brackets may nest deeper than any stack
        raise WireError(f"not JSON: {error}") from None
    try:
        built = _builder(typing.cast("Any", kind))(value)
    except _Mismatch as error:
        raise WireError(f"{'.'.join((kind.__name__, *error.path))}: {error}") from None
    return typing.cast("T", built)


class _Mismatch(Exception):  # noqa: N818  never seen outside
    """Something that does not have the declared shape; `path` leads to it."""

    def __init__(self, text: str, path: tuple[str, ...] = ()) -> None:
        super().__init__(text)
        self.path = path


@functools.cache
def _builder(kind: Any) -> Callable[[Any], Any]:
    """How a value of JSON becomes one of `kind`: looked up once for each kind, for traces have many thousand values."""
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return _record(kind)
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        (item,) = (arm for arm in get_args(kind) if arm is not type(None))
        build = _builder(item)
        return lambda value: None if value is None else build(value)
    if origin is tuple:
        return _sequence(get_args(kind)[0])
    if origin is dict:
        return _mapping(get_args(kind)[1])
    return _plain(kind)


def _plain(kind: type) -> Callable[[Any], Any]:
    def build(value: Any) -> Any:
        if type(value) is kind:
            return value
        if kind is float and type(value) is int:
            return float(value)
        raise _Mismatch(f"expected {kind.__name__}, got {type(value).__name__}")

    return build


def _sequence(item: Any) -> Callable[[Any], Any]:
    build_item = _builder(item)

    def build(value: Any) -> Any:
        if not isinstance(value, list):
            raise _Mismatch("expected a list")
        if set(map(type, value)) == {item}:
            return tuple(value)  # of strings or numbers, each of which is what it should be
        return tuple([build_item(entry) for entry in value])

    return build


def _mapping(item: Any) -> Callable[[Any], Any]:
    build_item = _builder(item)

    def build(value: Any) -> Any:
        if not isinstance(value, dict):
            raise _Mismatch("expected an object")
        return {key: build_item(entry) for key, entry in value.items()}

    return build


def _record(kind: type) -> Callable[[Any], Any]:
    builders = {name: _builder(hint) for name, hint in typing.get_type_hints(kind).items()}

    def build(value: Any) -> Any:
        if not isinstance(value, dict):
            raise _Mismatch("expected an object")
        built = {}
        for name, entry in value.items():
            if name not in builders:
                raise _Mismatch(f"unknown field {name!r}")
            try:
                built[name] = builders[name](entry)
            except _Mismatch as error:
                raise _Mismatch(str(error), (name, *error.path)) from None
        try:
            return kind(**built)
        except TypeError as error:
            raise _Mismatch(str(error)) from None

    return build


def send(descriptor: int, data: bytes) -> None:
    """Write all of `data`."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
