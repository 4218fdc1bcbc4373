"""Edits and patches: ranges of bytes that keep out of each other's way."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autofix.core.edit import Edit, EditConflict, in_order
from autofix.syntax.apply import BrokenRewrite, apply
from autofix.syntax.source import Source

A, B = Path("a.py"), Path("b.py")


@pytest.mark.parametrize(
    ("first", "second"),
    [((0, 4), (3, 5)), ((0, 9), (3, 4)), ((2, 5), (2, 5)), ((1, 5), (3, 3))],
    ids=["partly", "inside", "the same bytes", "insertion inside"],
)
def test_overlapping_edits_conflict(first: tuple[int, int], second: tuple[int, int]) -> None:
    edits = (Edit(A, *first, "x"), Edit(A, *second, "y"))
    with pytest.raises(EditConflict, match=r"a\.py: two edits overlap at bytes"):
        in_order(edits)
    assert len(in_order((edits[0], Edit(B, *second, "y")))) == 2


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (3, 2)])
def test_a_range_that_no_file_has_is_refused(start: int, end: int) -> None:
    with pytest.raises(ValueError, match="are no range"):
        Edit(A, start, end, "")


def test_edits_that_touch_keep_their_order() -> None:
    edits = (Edit(A, 1, 1, "2"), Edit(A, 1, 2, "4"), Edit(A, 1, 1, "3"), Edit(A, 0, 1, "1"))
    assert [edit.text for edit in in_order(edits)] == ["1", "2", "3", "4"]


@pytest.mark.parametrize(
    ("text", "edit", "message"),
    [
        ("x = 1\n", Edit(A, 0, 1, "("), "breaks the file: a.py: "),
        ("x = 1\n", Edit(B, 0, 1, "y"), "another file or version"),
        ("x = 1\n", Edit(A, 4, 99, "y"), "another file or version"),
        ("# coding: latin-1\nx = 1\n", Edit(A, 18, 19, "损"), "cannot spell"),
        ("# codinG: x\nx = 1\n", Edit(A, 7, 8, "g"), "unknown encoding"),
        ("#\nx = 1\n", Edit(A, 1, 1, "coding: latin-1"), "changes the file's encoding"),
        ("def f():\n  return 1\n", Edit(A, 0, 8, "if 1:"), "where Python does not allow it"),
    ],
    ids=["syntax", "other file", "other version", "encoding", "no cookie", "new cookie", "return outside"],
)
def test_a_result_that_is_not_the_same_kind_of_file_is_refused(text: str, edit: Edit, message: str) -> None:
    with pytest.raises(BrokenRewrite, match=message):
        apply(Source(A, text.encode()), [edit])


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=6))
def test_bytes_outside_the_edits_stay(places: list[tuple[int, int]]) -> None:
    data = b"# abcdefghijklmnopqrstuvwxyz\n"
    ranges = sorted((2 + min(pair), 2 + max(pair)) for pair in places)
    edits = [Edit(A, start, end, "<>") for start, end in ranges]
    try:
        result = apply(Source(A, data), edits)
    except EditConflict:
        assert any(a[1] > b[0] for a, b in itertools.pairwise(ranges))
        return
    expected, done = b"", 0
    for start, end in ranges:
        expected += data[done:start] + b"<>"
        done = end
    assert result == expected + data[done:]
