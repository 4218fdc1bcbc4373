"""A training loop that dies in autograd, in the places where people keep such loops."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

from autofix import pipeline
from autofix.core import config
from autofix.core.model import Applicability, Fix, Report
from autofix.experiments.client import Probe
from autofix.search import registry
from autofix.target import targets

NETS = """\
import torch
from torch import nn

torch.manual_seed(0)
model1, model2 = nn.Linear(3, 3), nn.Linear(3, 1)
o1, o2 = (torch.optim.SGD(m.parameters(), 0.1) for m in (model1, model2))
"""
STEP = """\
a = model1(torch.randn(4, 3))
b = model2(a)
o1.zero_grad(); o2.zero_grad()
b.pow(2).mean().backward()
o2.step()
o1.zero_grad()
a.pow(2).mean().backward()
o1.step()
"""
CURE = "b = model2(a.detach())"
SCRIPT = f"{NETS}for _ in range(4):\n{textwrap.indent(STEP, '    ')}"


Repairs = Callable[..., Report]
"""Repairs the text of a script: the fixture `repaired`."""


def repair(probe: Probe, *words: str, module: str | None = None, console: str | None = None,
           node: str | None = None, **given: object) -> Report:  # fmt: skip
    """`autofix fix` with these words and one rule, from the current folder, in a probe that is warm already."""
    folder = targets.folder(words, module or console or node)
    settings = config.settings({"quiet": True, "select": ["AG202"], **given}, folder)
    target = targets.target(words, module, settings, configured=settings.run, console=console, node=node)
    rules = registry.select(settings.select, ())
    return targets.in_file(pipeline.fix(target, rules, probe=probe, progress=lambda _: None))


def added(fix: Fix) -> list[str]:
    """The lines that a fix adds, stripped."""
    lines = fix.diff.decode().splitlines()
    return [line[1:].strip() for line in lines if line.startswith("+") and not line.startswith("+++")]


def safe(report: Report) -> Fix:
    """The first fix of a report, which has to be a safe one."""
    assert report.fixes, report.message
    assert report.fixes[0].verdict.applicability is Applicability.SAFE, report.fixes[0].verdict
    return report.fixes[0]


def written(folder: Path, files: dict[str, str]) -> Path:
    """A folder with these files in it."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")
    return folder
