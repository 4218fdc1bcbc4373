"""The failures that everybody meets, each with the offer that a careful colleague would make first."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from training import added

from autofix import pipeline
from autofix.core.model import Applicability, Cause, Effect, Fix, Outcome, Report, Target
from autofix.search import registry

if TYPE_CHECKING:
    from autofix.experiments.run import Probe

pytestmark = pytest.mark.torch
FIXTURES = Path(__file__).parent.parent / "fixtures" / "first"


def repair(probe: Probe, tmp_path: Path, name: str) -> Report:
    """`fix` on a copy of a fixture."""
    folder = FIXTURES / name / "broken"
    if folder.is_dir():
        shutil.copytree(folder, tmp_path / "broken")
        script = tmp_path / "broken" / "main.py"
    else:
        script = Path(shutil.copy(FIXTURES / name / "broken.py", tmp_path))
    target = Target(script, root=script.parent)
    return pipeline.fix(target, registry.rules(), probe=probe, progress=lambda _: None)


def offers(report: Report, text: str) -> list[Fix]:
    """The fixes with `text` in a line they add."""
    return [fix for fix in report.fixes if any(text in line for line in added(fix))]


def safe(fix: Fix) -> bool:
    """Whether a fix may be written without asking."""
    return fix.verdict.applicability is Applicability.SAFE


def test_two_models_and_two_optimizers_are_parted_by_a_detach(probe: Probe, tmp_path: Path) -> None:
    report = repair(probe, tmp_path, "two_models_detach")
    assert report.outcome is Outcome.AVAILABLE
    first = report.fixes[0]
    assert added(first) == ["b = model2(a.detach())"]
    assert safe(first)
    assert first.verdict.effect is Effect.IDENTICAL
    assert offers(report, "retain_graph=True")


JUDGED_ONCE = """
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
first, last, critic = nn.Linear(4, 8), nn.Linear(8, 6), nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
maker = torch.optim.SGD([*first.parameters(), *last.parameters()], lr=0.05)
judge = torch.optim.SGD(critic.parameters(), lr=0.05)
for _ in range(6):
    hidden = F.relu(first(torch.randn(8, 4)))
    scores = critic(last(hidden))
    loss = F.softplus(-critic(torch.randn(8, 6))).mean() + F.softplus(scores).mean()
    judge.zero_grad()
    loss.backward()
    judge.step()
    maker.zero_grad()
    F.softplus(-scores).mean().backward()
    maker.step()
"""


def test_many_places_for_a_detach_leave_room_for_the_way_that_works(probe: Probe, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(JUDGED_ONCE)
    report = pipeline.fix(Target(script, root=tmp_path), registry.rules(), probe=probe, progress=lambda _: None)
    found = {fix.verdict.effect for fix in report.fixes if safe(fix)}
    assert found == {Effect.REFRESHED, Effect.IDENTICAL}
    assert all(".detach()" not in line for fix in report.fixes if safe(fix) for line in added(fix))


def test_a_shared_optimizer_needs_the_graph_kept_and_no_detach_is_offered_as_equal(
    probe: Probe, tmp_path: Path
) -> None:
    report = repair(probe, tmp_path, "two_models_shared_optimizer")
    first = report.fixes[0]
    assert added(first) == ["loss2.backward(retain_graph=True)"]
    assert safe(first)
    assert not any(safe(fix) for fix in offers(report, ".detach()"))


def test_two_losses_on_one_output_keep_the_graph_in_the_first_backward(probe: Probe, tmp_path: Path) -> None:
    report = repair(probe, tmp_path, "two_losses_one_output")
    assert added(report.fixes[0]) == ["loss1.backward(retain_graph=True)"]
    assert safe(report.fixes[0])


def test_plus_equals_on_a_leaf_goes_out_of_place(probe: Probe, tmp_path: Path) -> None:
    report = repair(probe, tmp_path, "leaf_plus_equals")
    assert report.diagnosis is not None
    assert report.diagnosis.cause is Cause.LEAF_MODIFIED
    assert added(report.fixes[0]) == ["a = a + 1"]


def test_manual_descent_is_put_under_no_grad_and_trains(probe: Probe, tmp_path: Path) -> None:
    report = repair(probe, tmp_path, "manual_sgd")
    first = report.fixes[0]
    assert "with torch.no_grad():" in added(first)
    assert safe(first)
    (script,) = first.candidate.files
    script.write_bytes(first.candidate.files[script])
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    losses = [float(line.split()[-1]) for line in done.stdout.splitlines() if "loss" in line]
    assert losses[-1] < losses[0]


def test_the_two_step_gan_keeps_the_gradient_through_d(probe: Probe, tmp_path: Path) -> None:
    report = repair(probe, tmp_path, "gan_two_step")
    first = report.fixes[0]
    assert safe(first)
    assert first.verdict.effect in (Effect.IDENTICAL, Effect.REFRESHED)
    assert not any(safe(fix) for fix in offers(report, "d.detach()"))


def test_noise_kept_between_iterations_is_detached_where_it_is_kept(probe: Probe, tmp_path: Path) -> None:
    report = repair(probe, tmp_path, "kept_property_noise")
    first = report.fixes[0]
    assert any(".detach()" in line for line in added(first))
    assert safe(first)
    assert first.verdict.effect is Effect.TRUNCATED
    assert not any(safe(fix) for fix in offers(report, "retain_graph=True"))


def test_a_write_after_sigmoid_goes_out_of_place_in_the_imported_module(probe: Probe, tmp_path: Path) -> None:
    report = repair(probe, tmp_path, "sigmoid_inplace_module")
    first = report.fixes[0]
    (path,) = first.candidate.files
    assert path.name != "main.py"
    assert safe(first)
    assert first.verdict.effect is Effect.IDENTICAL


def test_a_script_that_ends_well_has_nothing_to_fix(probe: Probe, tmp_path: Path) -> None:
    assert repair(probe, tmp_path, "ends_well").outcome is Outcome.CLEAN


@pytest.mark.parametrize(
    ("name", "word"), [("missing_file", "FileNotFoundError"), ("syntax_error", "SyntaxError")]
)  # fmt: skip
def test_another_failure_is_named_and_left(probe: Probe, tmp_path: Path, name: str, word: str) -> None:
    report = repair(probe, tmp_path, name)
    assert report.outcome is Outcome.OTHER_FAILURE
    assert word in report.message
    assert not report.fixes


def test_an_interpreter_that_is_not_there_is_one_clear_line(tmp_path: Path) -> None:
    target = Target(FIXTURES / "ends_well" / "broken.py", python=tmp_path / "no-python")
    report = pipeline.fix(target, registry.rules(), progress=lambda _: None)
    assert report.outcome is Outcome.CANNOT_RUN
    assert "no-python" in report.message


def test_nothing_is_written_by_a_preview(probe: Probe, tmp_path: Path) -> None:
    before = (FIXTURES / "two_models_detach" / "broken.py").read_bytes()
    report = repair(probe, tmp_path, "two_models_detach")
    assert report.fixes
    assert (tmp_path / "broken.py").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["broken.py"]


def test_the_patch_is_what_git_apply_takes(probe: Probe, tmp_path: Path) -> None:
    report = repair(probe, tmp_path, "two_models_detach")
    subprocess.run([shutil.which("git") or "git", "apply", "-"], input=report.fixes[0].diff, cwd=tmp_path, check=True)
    ((path, data),) = report.fixes[0].candidate.files.items()
    assert path.read_bytes() == data
