"""The records of a check: what was found where, and what could not be read."""

from __future__ import annotations

from typing import NamedTuple


class Note(NamedTuple):
    """Another line that explains a finding, and what happened there."""

    path: str
    line: int
    column: int
    message: str


class Finding(NamedTuple):
    """One spot as it is reported: lines and columns count from 1, in characters; the end is exclusive."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    code: str
    name: str
    message: str
    text: str
    """The line that it stands on, without its indentation: what a baseline knows it by."""
    notes: tuple[Note, ...] = ()
    script: str = ""
    """The file that was read when it was found: what to run to prove a cure."""
    unless: str = ""
    """What another file takes it back by: a call of the function `file:line`, or a use of the attribute `.name`."""


class Problem(NamedTuple):
    """A file that could not be read as Python."""

    path: str
    reason: str


class Checked(NamedTuple):
    """What a check of some files came to."""

    findings: tuple[Finding, ...]
    problems: tuple[Problem, ...]
    files: int
