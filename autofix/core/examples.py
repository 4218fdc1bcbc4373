"""The examples of a finder or a fault: one text of many scripts."""

from __future__ import annotations

import re

MARK = "# found"
"""Ends each line of an example on which something is found."""


def examples(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The scripts of a text: those with a marked line, and those without, on which nothing is found.

    Each begins behind a line `!`, and with what stands before the first of these lines.
    """
    beginning, *scripts = re.split(r"^!\n", text, flags=re.MULTILINE)
    whole = [beginning + script for script in scripts]
    return tuple(one for one in whole if MARK in one), tuple(one for one in whole if MARK not in one)
