"""Two versions of a text side by side: which of their lines are the same."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from itertools import compress, count
from operator import ne

Code = tuple[str, int, int, int, int]
_LONG = 2000


def opcodes(old: Sequence[object], new: Sequence[object]) -> list[Code]:
    """As `difflib.SequenceMatcher.get_opcodes`, in a time that grows with what changed and not with the whole.

    difflib takes quadratic time, or worse where lines repeat; an edit leaves nearly all of a long file alone.
    """
    shortest = min(len(old), len(new))
    head = next(compress(count(), map(ne, old, new)), shortest)
    tail = min(shortest - head, next(compress(count(), map(ne, reversed(old), reversed(new))), shortest))
    middle = old[head : len(old) - tail], new[head : len(new) - tail]
    matcher = difflib.SequenceMatcher(None, *middle, autojunk=max(map(len, middle)) > _LONG)
    codes = [(tag, a + head, b + head, c + head, d + head) for tag, a, b, c, d in matcher.get_opcodes()]
    first = [("equal", 0, head, 0, head)] if head else []
    last = [("equal", len(old) - tail, len(old), len(new) - tail, len(new))] if tail else []
    return [*first, *codes, *last]
