"""A script in a folder of its own and the probe that runs it: repaired, or judged after an edit of somebody else."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autofix import pipeline
from autofix.core.model import Diagnosis, Report, Target, Verdict
from autofix.diagnosis.diagnose import diagnose
from autofix.experiments.client import Probe, run
from autofix.experiments.requests import plain, tracing
from autofix.probe import wire
from autofix.search import registry
from autofix.search.rule import Rule
from autofix.syntax.sources import Sources

Change = tuple[str, str]
"""A text of a script, and what replaces it wherever it stands."""


@dataclass(frozen=True)
class Script:
    """A script that a test wrote, run in a warm probe."""

    probe: Probe
    target: Target

    @property
    def text(self) -> str:
        return self.target.script.read_text("utf-8")

    def run(self, mode: str = "baseline", **given: Any) -> wire.Trace:
        """One run as it stands by itself, but for what of its request is given."""
        return run(self.probe, replace(plain(self.target, mode), **given))

    def traced(self, failed: wire.Trace | None = None, **given: Any) -> wire.Trace:
        """The run in which a repair looks for the cause of a failure that an earlier run had."""
        return run(self.probe, replace(tracing(self.target, failed or self.run()), **given))

    def diagnosed(self) -> Diagnosis:
        """What a repair makes of the failure."""
        failed = self.run()
        assert failed.failure is not None, failed
        found = diagnose(failed, self.traced(failed), Sources(self.target.script.parent))
        assert found is not None
        return found

    def fix(self, *rules: Rule) -> Report:
        """`autofix fix` with these rules, or with all."""
        return pipeline.fix(self.target, rules or registry.rules(), probe=self.probe, progress=lambda _: None)

    def verify(self, *changes: Change, ours: bool = False) -> Report:
        """`autofix verify` of the script after some changes."""
        files = {self.target.script: changed(self.text, *changes).encode()}
        return pipeline.verify(self.target, files, ours=ours, probe=self.probe, progress=lambda _: None)

    def verdict(self, *changes: Change, ours: bool = False) -> Verdict:
        """The verdict on the script after some changes."""
        (fix,) = self.verify(*changes, ours=ours).fixes
        return fix.verdict


Scripts = Callable[[str], Script]
"""Writes the text of a script: the fixture `script`."""


def written(probe: Probe, folder: Path, text: str) -> Script:
    """The text as `train.py` of a folder."""
    path = folder / "train.py"
    path.write_text(textwrap.dedent(text), "utf-8")
    return Script(probe, Target(path, root=folder))


def changed(text: str, *changes: Change) -> str:
    """The text after all changes, each of which must apply."""
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


def properties(verdict: Verdict) -> set[str]:
    """What speaks against an edit, by name."""
    return {one.property for one in verdict.findings}
