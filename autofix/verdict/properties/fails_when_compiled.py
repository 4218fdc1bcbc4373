"""The edited script fails when it is compiled

## What it finds

The script uses `torch.compile` or TorchScript, all runs were compared without it, and the edited script does not end
well once it compiles.

## Why it matters

What is compiled is traced or translated: an edit that is right when run eagerly may break that.
"""

from __future__ import annotations

from autofix.verdict.property import Evidence, Finding, Property


class FailsWhenCompiled(Property):
    sentence = "the edited script fails once it is compiled: {subject}"
    last = True

    def find(self, evidence: Evidence) -> Finding | None:
        if not (evidence.baseline.eager or evidence.edited.eager):
            return None
        run = evidence.compiled
        if run.ended_well or run.outcome == "timed_out":  # how long it takes says nothing against it
            return None
        return self.found(subject=run.reason or run.outcome)
