"""Reads what was typed and starts the probe, before anything heavier is imported: importing torch takes the longest."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from autofix import config, interpreter, targets
from autofix.run import Probe, ProbeError
from autofix.warm import start

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from autofix.config import Settings
    from autofix.model import Target


class Opening:
    """Settings, target and probe of one command; `refused` says why there is no target, or why no probe was started."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        """Raises config.ConfigError."""
        name = given["module"] or given.get("console") or given.get("pytest")
        self.settings: Settings = config.settings(given, targets.folder(given["words"] or (), name))
        self.target: Target | None = None
        self.probe: Probe | None = None
        self.refused = ""
        names = {"console": given.get("console"), "node": given.get("pytest")}
        try:
            self.target = targets.target(
                given["words"] or (), given["module"], self.settings, configured=self.settings.run, **names
            )
        except (targets.TargetError, interpreter.InterpreterError) as error:
            self.refused = str(error)


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
