"""What an edit adds for nothing is left out; what was there stays, however needless."""

from pathlib import Path

import pytest

from autofix.search.propose import without_repeats
from autofix.syntax.source import Source

LOOP = "for x in data:\n    y = f(x)\n    loss = g(y)\n    loss.backward()\n"


@pytest.mark.parametrize(
    ("old", "new", "left"),
    [
        (LOOP, LOOP.replace("    loss = g", "    loss = h(x)\n    loss = g"), LOOP),
        (LOOP, LOOP.replace("    y = f(x)\n", "    y = f(x)\n    y = f(x)\n"), LOOP),
        (LOOP, LOOP.replace("    y = f(x)\n", "    y = f(x)\n    z = f(x)\n    y = f(x)\n"), "    z = f(x)\n    y"),
        (LOOP, LOOP.replace("    loss = g", "    y = y.detach()\n    loss = g"), None),
        (LOOP, LOOP.replace("    loss = g", "    y = f(y)\n    loss = g"), None),
        (LOOP, LOOP.replace("    loss = g", "    x = x.clone()\n    y = f(x)\n    loss = g"), None),
        (LOOP, LOOP.replace("    y = f(x)\n", "    y = k(x)\n    log()\n    y = f(x)\n"), None),
        (LOOP, LOOP.replace("    y = f(x)\n", "    if x:\n        y = k(x)\n    y = f(x)\n"), None),
        ("y = a\ny = b\nu(y)\n", "y = a\ny = b\nw = a\nu(y)\n", None),
        ("y = k(x)\nu(y)\ny = f(x)\nu(y)\n", "u(y)\ny = k(x)\ny = f(x)\nu(y)\n", None),
    ],
)
def test_what_an_edit_adds_in_vain_is_left_out(old: str, new: str, left: str | None) -> None:
    found = without_repeats(Source(Path("/x/a.py"), old.encode()), new.encode()).decode()
    assert found == new if left is None else left in found and len(found) < len(new)
