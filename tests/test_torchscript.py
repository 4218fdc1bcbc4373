"""A failure inside of what TorchScript compiles is looked at, and its repairs judged, as that of the same Python."""

from __future__ import annotations

from pathlib import Path

import pytest
from training import added, repair, safe, written

from autofix import pipeline
from autofix.core.model import Outcome, Target
from autofix.experiments.client import Probe
from autofix.probe.standins.adapt import SCRIPTED

pytestmark = pytest.mark.torch
LOOP = """
net = torch.nn.Linear(3, 4)
optimizer = torch.optim.Adam(net.parameters(), 1e-2)
for _ in range(4):
    loss = {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
METHOD = """\
import torch

class Policy(torch.jit.ScriptModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(inplace=True), torch.nn.Linear(4, 4))
        self.scale = torch.jit.Attribute(0.5, float)

    @torch.jit.script_method
    def forward(self, x):
        mean, log_std = torch.chunk(self.net(x), 2, dim=-1)
        return mean + self.scale * log_std.clamp_(-20, 2).exp()
""" + LOOP.replace("torch.nn.Linear(3, 4)", "Policy()").format(loss="net(torch.randn(5, 3)).pow(2).mean()")
FUNCTION = """\
import torch

@torch.jit.script
def gate(x):
    y = torch.sigmoid(x)
    y += 1
    return y * x
""" + LOOP.format(loss="gate(net(torch.randn(5, 3))).pow(2).mean()")
MODULE = """\
import torch

class Gate(torch.nn.Module):
    def forward(self, x):
        y = torch.exp(x)
        y *= 2
        return y.sum(1)

gate = torch.jit.script(Gate())
""" + LOOP.format(loss="gate(net(torch.randn(5, 3))).pow(2).mean()")
SOUND = """\
import torch

@torch.jit.script
def gate(x):
    return torch.sigmoid(x) * x
"""
TWICE = """\
import torch

@torch.jit.script
def gate(x):
    return torch.sigmoid(x) * x

net = torch.nn.Linear(3, 4)
optimizer = torch.optim.SGD(net.parameters(), 1e-2)
x = torch.randn(5, 3)
for _ in range(4):
    y = gate(net(x))
    optimizer.zero_grad()
    y.pow(2).mean().backward()
    y.exp().mean().backward()
    optimizer.step()
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("script", "rule", "line"),
    [
        (METHOD, "AG105", "return mean + self.scale * log_std.clamp(-20, 2).exp()"),
        (FUNCTION, "AG101", "y = y + 1"),
        (MODULE, "AG101", "y = y * 2"),
        (TWICE, "AG201", "y.pow(2).mean().backward(retain_graph=True)"),
    ],
    ids=["method", "function", "module", "second backward"],
)
def test_the_cure_is_in_what_is_compiled(probe: Probe, here: Path, script: str, rule: str, line: str) -> None:
    written(here, {"train.py": script})
    report = repair(probe, "train.py", select=[rule])
    assert line in added(safe(report))
    assert report.conditions == (SCRIPTED,)


@pytest.mark.parametrize(
    "loss", ["torch.tensor(gate(net(torch.randn(5, 3))).detach().mean())", "float(gate(net(torch.randn(5, 3))).sum())"]
)
def test_where_it_is_harmless_nothing_is_changed(probe: Probe, here: Path, loss: str) -> None:
    written(here, {"train.py": SOUND + LOOP.format(loss=loss)})
    report = repair(probe, "train.py", select=["AG401"])
    assert report.diagnosis is not None
    assert report.conditions == ()


def test_what_is_refused_inside_of_it_and_is_not_autograds_is_said(probe: Probe, here: Path) -> None:
    text = SOUND.replace("return", "assert x.sum() > 1e9\n    return")
    written(here, {"train.py": text + LOOP.format(loss="gate(net(torch.randn(5, 3))).sum()")})
    report = repair(probe, "train.py")
    assert report.outcome is Outcome.OTHER_FAILURE
    assert "AssertionError" in report.message


def test_what_fails_only_inside_of_it_keeps_its_own_words(probe: Probe, here: Path) -> None:
    text = SOUND.replace("return", "if torch.jit.is_scripting():\n        raise ValueError('scripted')\n    return")
    written(here, {"train.py": text + LOOP.format(loss="gate(net(torch.randn(5, 3))).sum()")})
    report = repair(probe, "train.py")
    assert report.outcome is Outcome.OTHER_FAILURE
    assert "TorchScript interpreter" in report.message
    assert report.conditions == ()


def test_an_edit_that_it_does_not_compile_is_not_safe(probe: Probe, here: Path) -> None:
    written(here, {"train.py": METHOD})
    target, found = Target(here / "train.py", root=here), []
    edits = ("log_std.clamp(-20, 2)", "(lambda one: one.clamp(-20, 2))(log_std)", "log_std.clamp(-20, 2).sigmoid()")
    for edit in edits:
        edited = {here / "train.py": METHOD.replace("log_std.clamp_(-20, 2)", edit).encode()}
        report = pipeline.verify(target, edited, probe=probe, progress=lambda _: None)
        found.append((report.outcome, [one.property for one in report.fixes[0].verdict.findings]))
    assert found[:2] == [(Outcome.SAFE, []), (Outcome.UNSAFE, ["fails-when-compiled"])]
    assert found[2][0] is Outcome.UNSAFE
