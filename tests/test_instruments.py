"""An instrument that raises in a run: the run says so, the script is not blamed, and no edit is called safe."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripts import Scripts

from autofix import cli, pipeline
from autofix.core.model import Applicability, Effect, Outcome, Target
from autofix.experiments.client import Probe, run
from autofix.experiments.requests import plain
from autofix.search import registry
from autofix.verdict.property import properties

pytestmark = pytest.mark.torch

CANCELS = next(one for one in properties() if one.name == "gradient-cancels-out").raises[0]
SWALLOWED = """
import torch

weight = torch.ones(3, requires_grad=True)
optimizer = torch.optim.SGD([weight], 0.1)
for _ in range(3):
    optimizer.zero_grad()
    try:
        weight.square().sum().backward()
        optimizer.step()
    except Exception:
        print("caught")
"""


def with_broken(text: str, module: str, method: str) -> str:
    """A script in whose runs a method of our own raises, where its module is loaded: it may only watch some of them."""
    return f"""\
import sys

def broken(*_, **__):
    raise AttributeError("no such thing")

for name, module in [*sys.modules.items()]:
    if name.endswith(".{module}"):
        module.{method} = broken
{text}"""


@pytest.mark.parametrize("method", ["backward", "backward_done", "told", "__torch_function__"])
def test_no_edit_is_safe_where_what_looks_for_doubts_raises(script: Scripts, method: str) -> None:
    old, new = (
        with_broken(text, "instruments.cancels", f"Cancels.{method}") for text in (CANCELS.script, CANCELS.edited)
    )
    verdict = script(old).verdict((old, new))
    assert (verdict.effect, verdict.applicability) == (Effect.UNKNOWN, Applicability.UNSAFE)
    assert "an instrument of autofix failed" in verdict.summary
    assert "AttributeError: no such thing" in verdict.summary


@pytest.mark.parametrize("method", ["Silent.backward", "Silent.step_done", "Silent.told"])
def test_a_script_that_catches_what_an_instrument_raises_does_not_go_on(
    probe: Probe, tmp_path: Path, method: str
) -> None:
    path = tmp_path / "train.py"
    path.write_text(with_broken(SWALLOWED, "instruments.silent", method))
    trace = run(probe, plain(Target(path, (), None, tmp_path, tmp_path, probe.python)))
    assert trace.outcome == "instrument_failed"
    assert trace.detail.startswith("AttributeError: no such thing")
    assert (trace.failure, "caught" in trace.stdout) == (None, False)


def test_an_instrument_that_raises_where_the_failure_is_explained_is_what_the_report_tells(script: Scripts) -> None:
    report = script(with_broken(CANCELS.script, "failure.tracing", "Tracer.backward")).fix()
    assert (report.outcome, report.fixes) == (Outcome.INSTRUMENT_FAILED, ())


def test_an_edit_whose_own_run_an_instrument_ends_is_not_said_to_fail(script: Scripts) -> None:
    old, new = (with_broken(text, "instruments.guards", "Guards.step") for text in (CANCELS.script, CANCELS.edited))
    report = script(old).verify((old, new))
    assert (report.outcome, report.fixes) == (Outcome.INSTRUMENT_FAILED, ())


def test_an_instrument_that_raises_in_the_first_run_is_what_the_report_tells(probe: Probe, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(with_broken(SWALLOWED, "instruments.silent", "Silent.backward"))
    target = Target(path, (), None, tmp_path, tmp_path, probe.python)
    report = pipeline.fix(target, registry.select((), ()), probe=probe, progress=lambda _: None)
    assert (report.outcome, report.failure) == (Outcome.INSTRUMENT_FAILED, None)


def test_an_audit_in_which_an_instrument_raises_judges_no_law(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "train.py").write_text(with_broken(SWALLOWED, "audit.ledger", "Ledger.step"))
    monkeypatch.chdir(tmp_path)
    assert cli.main(["audit", "train.py"]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert "train.py: autofix itself failed in its run; please report it" in err
    assert "AttributeError: no such thing" in err
