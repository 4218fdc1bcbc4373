"""Reads what was typed and starts the probe, before anything heavier is imported: importing torch takes the longest."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from autofix.core import config
from autofix.core.config import Settings
from autofix.core.model import Outcome, Report, Target
from autofix.experiments.client import Probe, ProbeError
from autofix.experiments.warm import start
from autofix.target import interpreter, targets

_MOST_INPUT = 1 << 20
"""Bytes of standard input that every run of a repair is sent."""


class Opening:
    """Settings, target and probe of one command; `refused` says why there is no target, or why no probe was started."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        """Raises config.ConfigError."""
        self._given = given
        name = given["module"] or given.get("console") or given.get("pytest")
        self.settings: Settings = config.settings(given, targets.folder(given["words"] or (), name))
        self.target: Target | None = None
        self.probe: Probe | None = None
        self.refused = ""
        names = {"console": given.get("console"), "node": given.get("pytest")}
        try:
            made = targets.target(
                given["words"] or (), given["module"], self.settings, configured=self.settings.run, **names
            )
            offered = [*(given.get("fixed") or ()), *(given.get("patch") or ())]
            self.target = made if "-" in offered else _given_input(made)
        except (targets.TargetError, interpreter.InterpreterError) as error:
            self.refused = str(error)

    def cannot_run(self, reason: str = "") -> Report:
        """A report for what could not even be started, so that a program that reads us gets its object."""
        given = self._given
        name = given["module"] or given.get("console") or given.get("pytest") or next(iter(given["words"] or ()), "")
        target = Target(Path(name), module=given["module"])
        return Report(target, Outcome.CANNOT_RUN, message=reason or self.refused)


def _given_input(target: Target) -> Target:
    """The target with what a file that is our standard input holds from here on, for each run anew.

    A pipe or a terminal can be read only once: that is for the program that runs for real, and a repair's runs find
    their input at its end.
    """
    try:
        if not stat.S_ISREG(os.fstat(0).st_mode):
            return target
        typed = os.pread(0, _MOST_INPUT + 1, os.lseek(0, 0, os.SEEK_CUR))
    except (OSError, AttributeError):  # closed, or a system without pread
        return target
    known = typed.decode("latin-1") if len(typed) <= _MOST_INPUT else ""
    return replace(target, setup=replace(target.setup, typed=known))


@contextlib.contextmanager
def opened(given: Mapping[str, Any]) -> Iterator[Opening]:
    """What was typed, with its probe under way until the command ends. Raises config.ConfigError."""
    opening = Opening(given)
    with contextlib.ExitStack() as stack:
        if opening.target is not None:
            try:
                opening.probe = stack.enter_context(start(opening.target))
            except ProbeError as error:
                opening.refused = str(error)
        yield opening
