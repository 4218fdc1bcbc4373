"""Programs in two modules, the edit that follows each reading of them, and which of these may be called safe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from scripts import Change, changed

from autofix.core.model import Applicability, Target, Verdict
from autofix.diagnosis.diagnose import diagnose
from autofix.experiments.client import Probe, run
from autofix.experiments.pool import Pool
from autofix.experiments.reproduce import reproduce
from autofix.experiments.requests import tracing
from autofix.syntax.sources import Sources
from autofix.verdict.decide import confirm, decide
from autofix.verdict.evidence import Evidence
from autofix.verdict.questions import answered
from autofix.verdict.runs import Case, Runs

PARTS = """\
import copy

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.hidden, self.out = nn.Linear(inputs, 6), nn.Linear(6, outputs)

    def forward(self, x):
        return self.out(torch.tanh(self.hidden(x)))


class Optimizers:
    def __init__(self, *nets, kind=torch.optim.SGD):
        self.each = [kind(net.parameters(), lr=0.05) for net in nets]

    def zero_grad(self):
        for one in self.each:
            one.zero_grad()

    def step(self):
        for one in self.each:
            one.step()


"""


@dataclass(frozen=True)
class Program:
    """A program that fails, its edits by what they do, and those of them that are right beyond doubt."""

    name: str
    text: str
    edits: dict[str, tuple[Change, ...]]
    right: frozenset[str] = frozenset()

    @property
    def script(self) -> str:
        """What is run."""
        return f"from parts import *\n\n{self.text}"

    def __str__(self) -> str:
        return self.name

    def mutated(self, name: str, *changes: Change, right: tuple[str, ...] = ()) -> Program:
        """The program with some changes, of which something else is right."""
        return Program(name, changed(self.text, *changes), self.edits, frozenset(right))


def judged(probe: Probe, folder: Path, program: Program) -> dict[str, Verdict]:
    """What is said of each edit of a program, all judged against the same runs."""
    main = folder / "main.py"
    main.write_text(program.script)
    (folder / "parts.py").write_text(PARTS)
    edits = {name: {main: changed(program.script, *changes).encode()} for name, changes in program.edits.items()}
    return verdicts(probe, Target(main, root=folder, passes=2), edits)


def verdicts(probe: Probe, target: Target, edits: Mapping[str, Mapping[Path, bytes]]) -> dict[str, Verdict]:
    """What is said of edits of one failing program, all judged against the same runs.

    As `verify` judges each, but that nobody looks whether what it removes would have run.
    """
    target, baseline = reproduce(probe, target)
    assert baseline.failure is not None, f"{target.script} does not fail: {baseline.outcome} {baseline.detail}"
    with Pool(probe, target, baseline, {}) as pool:
        trace = run(probe, tracing(target, baseline))
        diagnosis = diagnose(baseline, trace, Sources(target.root or target.script.parent))
        assert diagnosis is not None
        pool.about(diagnosis)
        case = Case(pool, diagnosis, offered=True)
        case = replace(case, answered=answered(Runs(case, {})))
        each = {name: Evidence(case, files) for name, files in edits.items()}
        return {name: confirm(one, decide(one, Applicability.SAFE)) for name, one in each.items()}


def safe(verdicts: dict[str, Verdict]) -> frozenset[str]:
    """The edits that are called safe."""
    return frozenset(name for name, one in verdicts.items() if one.applicability is Applicability.SAFE)
