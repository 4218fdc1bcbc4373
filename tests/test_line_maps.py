"""Which line of a script a line of an edit is: a random draw that moved is still the same draw."""

from __future__ import annotations

from pathlib import Path

import pytest

from autofix.experiments.requests import line_map

PLAYED = """\
dist = Categorical(net(x)); a = dist.sample()
keep(dist.log_prob(a))
"""
SPLIT = """\
with torch.no_grad():
    dist = Categorical(net(x))
    a = dist.sample(); b = dist.log_prob(a)
keep(b)
"""
DRAWN = "noise = torch.randn(3)\n"
BEFORE = PLAYED + DRAWN


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (BEFORE, (1, 2, 3)),
        (f"with torch.no_grad():\n    {BEFORE}", (0, 1, 2, 3)),
        (SPLIT + DRAWN, (0, 1, 1, 0, 3)),
        ("z = torch.randn(3) * 2\n" + BEFORE, (0, 1, 2, 3)),
        ("keep(torch.randn(3), torch.randn(3))\n" + PLAYED, (0, 1, 2)),
        ("keep(torch.randn(3)\n", (0,)),
    ],
    ids=["same", "in a block", "in several statements", "copied", "drawn twice", "no Python"],
)  # fmt: skip
def test_a_line_is_known_by_itself_and_a_new_one_by_a_call_that_stands_once_in_each(
    after: str, expected: tuple[int, ...]
) -> None:
    assert line_map(Path("a.py"), BEFORE.encode(), after.encode()) == expected
