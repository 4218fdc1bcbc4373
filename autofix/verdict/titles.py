"""Titles that tell the fixes of one report apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from autofix.core.model import Fix

_LONGEST = 60


def apart(fixes: Sequence[Fix]) -> tuple[Fix, ...]:
    """The fixes, those of one title with what only they write; where they write the same, with the lines."""
    named = _told(fixes, _code)
    return _told(named, _lines)


def _told(fixes: Sequence[Fix], tell: Callable[[Fix, Sequence[Fix]], str]) -> tuple[Fix, ...]:
    counts = Counter(fix.candidate.titles for fix in fixes)
    found = []
    for fix in fixes:
        titles = fix.candidate.titles
        alike = [one for one in fixes if one.candidate.titles == titles and one is not fix]
        more = tell(fix, alike) if counts[titles] > 1 and titles else ""
        candidate = replace(fix.candidate, titles=(*titles[:-1], f"{titles[-1]}: {more}")) if more else fix.candidate
        found.append(replace(fix, candidate=candidate))
    return tuple(found)


def _code(fix: Fix, alike: Sequence[Fix]) -> str:
    """The first line that this fix writes and none of the others does; else the first that it alone takes away."""
    for sign in (b"+", b"-"):
        others = {line for one in alike for line in _signed(one, sign)}
        own = [line for line in _signed(fix, sign) if line not in others and not line.startswith(b"#")]
        if own:
            # Of an update that moves the step says what it is: its first line only clears gradients.
            line = next((one for one in own if b".step(" in one), own[0])
            text = ("" if sign == b"+" else "without ") + line.decode("utf-8", "replace")
            return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    return ""


def _lines(fix: Fix, alike: Sequence[Fix]) -> str:
    """The lines of the file that it changes, where they are others."""
    mine = _changed(fix)
    if all(_changed(one) == mine for one in alike):
        return ""
    return f"line{'s' if len(mine) > 1 else ''} {', '.join(map(str, mine))}"


def _signed(fix: Fix, sign: bytes) -> list[bytes]:
    lines = (fix.shown or fix.diff).splitlines()
    return [
        text for line in lines if line[:1] == sign and line[:3] not in (b"+++", b"---") and (text := line[1:].strip())
    ]


def _changed(fix: Fix) -> list[int]:
    found = {fix.originals[e.path][: e.start].count(b"\n") + 1 for e in fix.candidate.edits if e.path in fix.originals}
    return sorted(found)
