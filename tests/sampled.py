"""Which of many values a test has in every run of the tests; it has the others with those that take long."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from _pytest.mark import ParameterSet


def one_in(count: int, values: Iterable[Any], name: Callable[[Any], str | None] = lambda _: None) -> list[ParameterSet]:
    """The first of each `count` values in every run, the others only `--with long`; `name` names a test."""
    return [
        pytest.param(value, id=name(value), marks=[pytest.mark.apart("long")] * (at % count > 0))
        for at, value in enumerate(values)
    ]


def row_in(count: int, rows: Iterable[tuple[Any, ...]]) -> list[ParameterSet]:
    """The same of a table: a row has a value for each argument of the test."""
    return [pytest.param(*row, marks=[pytest.mark.apart("long")] * (at % count > 0)) for at, row in enumerate(rows)]
