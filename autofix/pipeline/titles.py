"""Titles that tell the fixes of one report apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

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
        # Of several steps nobody knows whose line it is.
        said = f" [{more}]" if len(titles) > 1 else f": {more}"
        candidate = replace(fix.candidate, titles=(*titles[:-1], f"{titles[-1]}{said}")) if more else fix.candidate
        found.append(replace(fix, candidate=candidate))
    return tuple(found)


def _code(fix: Fix, alike: Sequence[Fix]) -> str:
    """The first line that this fix writes and none of the others does; else the first that it alone takes away."""
    for sign in (b"+", b"-"):
        others = {line for one in alike for line in _signed(one, sign)}
        own = [line for line in _signed(fix, sign) if line not in others and not line.startswith(b"#")]
        if own:
            # Of an update that moves the step says what it is: its first line only clears gradients.
            told = [one for one in own if not one.startswith((b"import ", b"from "))] or own
            line = next((one for one in told if b".step(" in one), told[0])
            text = ("" if sign == b"+" else "without ") + line.decode("utf-8", "replace")
            return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    return ""


def _lines(fix: Fix, alike: Sequence[Fix]) -> str:
    """The lines that it changes, where they are others; with their files, where these differ."""
    mine, others = _changed(fix), [_changed(one) for one in alike]
    if all(one == mine for one in others):
        return ""
    if len({path for places in (mine, *others) for path, _ in places}) > 1:
        return ", ".join(f"{path.name}:{line}" for path, line in mine)
    return f"line{'s' if len(mine) > 1 else ''} {', '.join(str(line) for _, line in mine)}"


def _signed(fix: Fix, sign: bytes) -> list[bytes]:
    lines = (fix.shown or fix.diff).splitlines()
    return [
        text for line in lines if line[:1] == sign and line[:3] not in (b"+++", b"---") and (text := line[1:].strip())
    ]


def _changed(fix: Fix) -> list[tuple[Path, int]]:
    edits = [edit for edit in fix.candidate.edits if edit.path in fix.originals]
    return sorted({(edit.path, fix.originals[edit.path][: edit.start].count(b"\n") + 1) for edit in edits})
