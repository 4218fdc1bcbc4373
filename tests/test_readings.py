"""Readings: what torch refuses is run in each way that the rest of the program allows."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import pytest

from autofix import pipeline
from autofix.core.model import Applicability, Effect, Outcome, Reading, Refused, Report, Target
from autofix.experiments.readings import ambiguous, contradiction, deprived, orphans
from autofix.experiments.requests import Builder, plain
from autofix.experiments.run import Probe, run
from autofix.experiments.spec import RunSpec
from autofix.probe import wire
from autofix.search import registry

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.torch

BY_HAND = """
    import torch

    torch.manual_seed(0)
    w = torch.zeros(3, requires_grad=True)
    for _ in range(5):
        loss = (torch.randn(8, 3) @ w - 1).pow(2).mean()
        loss.backward()
        w -= 0.1 * w.grad
        w.grad.zero_()
        print(loss.item())
"""
QUERIES = """
    import torch
    from torch import nn

    torch.manual_seed(0)


    class Pool(nn.Module):
        def __init__(self):
            super().__init__()
            self.queries = nn.Parameter(torch.randn(2, 4))
            self.inject = nn.Linear(3, 4)

        def forward(self, x):
            q = self.queries
            q += self.inject(x)
            return q.tanh().sum(1)


    pool = Pool()
    opt = torch.optim.SGD(pool.parameters(), lr=0.1)
    for _ in range(5):
        loss = (pool(torch.randn(2, 3)) - 1).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
MASKED = """
    import torch
    from torch import nn

    torch.manual_seed(0)


    class Masked(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(3, 4))
            self.mask = torch.tensor([1.0, 0.0, 1.0, 1.0])

        def forward(self, x):
            w = self.weight
            w *= self.mask
            return x @ w.t()


    net = Masked()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(5):
        loss = (net(torch.randn(5, 4)) - 1).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
CLIPPED = """
    import torch

    torch.manual_seed(0)
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(5):
        loss = net(torch.randn(5, 3)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        for p in net.parameters():
            p.clamp_(-0.1, 0.1)
"""
SNAPSHOT = """
    import copy

    import torch
    from torch import nn

    torch.manual_seed(0)


    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(2, 1)

        def forward(self, x):
            self.last = self.layer(x)
            return self.last


    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(300):
        loss = net(torch.randn(5, 2)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        best = copy.deepcopy(net)
"""


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a script and gives its path."""

    def write(text: str) -> Path:
        path = tmp_path / "train.py"
        path.write_text(textwrap.dedent(text))
        return path

    return write


def verify(probe: Probe, path: Path, old: str, new: str) -> Report:
    """`verify` of the script with `old` replaced."""
    text = path.read_text()
    assert old in text
    target = Target(path, root=path.parent)
    return pipeline.verify(target, {path: text.replace(old, new).encode()}, probe=probe, progress=lambda _: None)


def summary(report: Report) -> str:
    """The words about the one edit that was judged."""
    (one,) = report.fixes
    return one.verdict.summary


def reference(probe: Probe, path: Path, refused: Refused = Refused.UPDATE) -> wire.Trace:
    """The reference run in one meaning of what torch refuses."""
    target = Target(path, root=path.parent)
    builder = Builder(target, run(probe, plain(target)), perturbed=False)
    return run(probe, builder.first(RunSpec.reference(Reading(refused))))


def test_an_update_by_hand_is_performed_and_the_script_trains(probe: Probe, script: Callable[[str], Path]) -> None:
    trace = reference(probe, script(BY_HAND))
    losses = [float(line) for line in trace.stdout.split()]
    assert trace.outcome == "finished"
    assert [done.kind for done in trace.performed] == ["leaf_modified"]
    assert losses[-1] < losses[0]


def test_an_update_by_hand_cannot_be_an_operation(probe: Probe, script: Callable[[str], Path]) -> None:
    path = script(BY_HAND)
    operation = reference(probe, path, Refused.OPERATION)
    assert operation.outcome == "failed"
    assert contradiction(Refused.OPERATION, operation, reference(probe, path)).startswith("the script then stops with")
    report = verify(probe, path, "w -= 0.1 * w.grad", "w.data -= 0.1 * w.grad")
    assert report.outcome is Outcome.SAFE


def test_what_is_written_into_a_parameter_is_trained_through(probe: Probe, script: Callable[[str], Path]) -> None:
    path = script(QUERIES)
    update, operation = reference(probe, path), reference(probe, path, Refused.OPERATION)
    assert ambiguous(update)
    assert set(deprived(update, operation)) == {"pool.inject.weight", "pool.inject.bias"}
    assert not contradiction(Refused.OPERATION, operation, update)
    assert verify(probe, path, "q += self", "q = q + self").outcome is Outcome.SAFE
    lost = verify(probe, path, "q += self", "q.data += self")
    assert lost.outcome is Outcome.UNSAFE
    assert lost.fixes[0].verdict.effect is Effect.CHANGED


@pytest.mark.parametrize("edit", ["w = w * self.mask", "w.data *= self.mask"])
def test_a_mask_in_the_forward_has_two_readings_and_neither_is_safe(
    probe: Probe, script: Callable[[str], Path], edit: str
) -> None:
    report = verify(probe, script(MASKED), "w *= self.mask", edit)
    assert report.outcome is Outcome.UNSAFE
    assert report.fixes[0].verdict.effect is Effect.UNKNOWN
    assert summary(report).startswith("the code can mean two things")


def test_a_clipped_weight_stays_a_leaf(probe: Probe, script: Callable[[str], Path]) -> None:
    path = script(CLIPPED)
    update, operation = reference(probe, path), reference(probe, path, Refused.OPERATION)
    assert contradiction(Refused.OPERATION, operation, update).startswith("net.weight")
    assert verify(probe, path, "p.clamp_", "p.data.clamp_").outcome is Outcome.SAFE
    assert verify(probe, path, "p.clamp_", "p.clamp").outcome is Outcome.UNSAFE


def test_a_write_after_which_nothing_is_seen_is_not_judged(probe: Probe, script: Callable[[str], Path]) -> None:
    path = script("import torch\n\nw = torch.ones(3, requires_grad=True)\nw += 1\n")
    report = verify(probe, path, "w += 1", "w = w + 1")
    assert report.outcome is Outcome.UNSAFE
    assert report.fixes[0].verdict.effect is Effect.UNKNOWN


def test_a_copy_that_shares_its_tensors_is_no_copy(probe: Probe, script: Callable[[str], Path]) -> None:
    path = script(SNAPSHOT)
    right = verify(probe, path, "best = copy", "net.last = None\n    best = copy")
    assert right.outcome is Outcome.SAFE
    wrong = verify(probe, path, "copy.deepcopy(net)", "copy.copy(net)")
    assert wrong.outcome is Outcome.UNSAFE


def test_a_leaf_made_of_a_result_is_safe_only_if_it_trains(probe: Probe, script: Callable[[str], Path]) -> None:
    path = script("""
        import torch

        torch.manual_seed(0)
        scale = torch.ones(2, requires_grad=True).double()
        opt = torch.optim.SGD([scale], lr=0.1)
        for _ in range(5):
            loss = (torch.randn(5, 2).double() * scale - 1).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """)
    made = "torch.ones(2, requires_grad=True).double()"
    right = verify(probe, path, made, "torch.ones(2).double().requires_grad_()")
    assert right.outcome is Outcome.SAFE
    wrong = verify(probe, path, "SGD([scale]", "SGD([scale.detach()]")
    assert wrong.outcome is Outcome.UNSAFE


def test_orphans_are_parameters_that_step_without_gradient() -> None:
    step = wire.Step(0, ((1.0, 0.5), ()), (), "")
    trace = wire.Trace(1, "finished", counts=(2,), steps=(step, step), names=(("a", "b"), ()))
    assert list(orphans(trace)) == ["b"]


TWO_BY_HAND = """
import torch
torch.manual_seed(0)
x = torch.randn(30, 2)
y = x.sum(1)
w = torch.randn(2, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
{prelude}
for _ in range(5):
    loss = (x @ w + b - y).pow(2).mean()
    loss.backward()
{update}
    print(loss.item())
"""
UPDATES = [
    ("", "    w = w - 0.1 * w.grad\n    b = b - 0.1 * b.grad"),
    ("", "    w = w.data - 0.1 * w.grad.data\n    b = b.data - 0.1 * b.grad.data"),
    ("", "    w = (w -  # weights\n        0.1 * w.grad)\n    b = b - \\\n        0.1 * b.grad  # bias"),
    ("", "    gw, gb = w.grad, b.grad\n    w = w - 0.1 * gw; b = b - 0.1 * gb"),
    ("", "    with torch.no_grad():\n        w = w - 0.1 * w.grad\n        b = b - 0.1 * b.grad"),
    (
        "@torch.no_grad()\ndef step():\n    global w, b\n    w = w - 0.1 * w.grad\n    b = b - 0.1 * b.grad",
        "    step()",
    ),
]


@pytest.mark.parametrize(("prelude", "update"), UPDATES)
def test_updates_that_bind_anew_are_written_into_the_leaves_together(
    probe: Probe, tmp_path: Path, prelude: str, update: str
) -> None:
    script = tmp_path / "train.py"
    script.write_text(TWO_BY_HAND.format(prelude=prelude, update=update))
    report = pipeline.fix(
        Target(script, root=tmp_path, isolation="none"), registry.rules(), probe=probe, progress=lambda _: None
    )
    best = report.fixes[0]
    assert best.candidate.rules == ("AG303",)
    assert best.verdict.applicability is Applicability.SAFE
    written = best.diff.decode()
    assert all(f"{name} -= " in written or f"{name}.copy_(" in written for name in ("w", "b"))
