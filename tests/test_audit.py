"""Training that does not crash: what an audit names, what it leaves alone, and how it says so."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from autofix import cli, pipeline
from autofix.audit import told
from autofix.audit.fault import HEAD, Fault, faults
from autofix.batch import outcome
from autofix.batch.records import Entry
from autofix.core.kinds import MARK
from autofix.core.model import Applicability, Outcome, Report, Target
from autofix.experiments.client import Probe
from autofix.experiments.pictures import Pictures
from autofix.render import Snapshot, as_github, as_sarif
from autofix.render import audit as shown
from autofix.render.account import account
from autofix.render.report import as_html
from autofix.search.rule import Example

FINDS = [(fault, example) for fault in faults() for example in fault.finds]
PASSES = [(fault, example) for fault in faults() for example in fault.passes]


def ids(given: object) -> str | None:
    return given.code if isinstance(given, Fault) else None


def audit(probe: Probe, folder: Path, text: str, *ignored: str, mend: bool = False) -> Report:
    path = folder / "train.py"
    path.write_text(HEAD + text, encoding="utf-8")
    target = Target(path, root=folder)
    return pipeline.audit(target, ignored=ignored, mend=mend, probe=probe, progress=lambda _: None)


def mended(report: Report) -> str | None:
    """The script as the edit leaves it that is offered, without its head."""
    contents = [data for fix in report.fixes for data in fix.candidate.files.values()]
    return contents[0].decode().removeprefix(HEAD) if contents else None


@pytest.mark.torch
@pytest.mark.parametrize(("fault", "example"), FINDS, ids=ids)
def test_a_fault_is_found_and_mended_as_its_example_says(
    probe: Probe, tmp_path: Path, fault: Fault, example: str
) -> None:
    script = Example(example)
    report = audit(probe, tmp_path, script.before, mend=True)
    assert report.outcome is Outcome.CLEAN
    assert mended(report) == script.after
    assert all(fix.verdict.applicability is Applicability.UNSAFE for fix in report.fixes)
    lines = [number for number, line in enumerate((HEAD + script.before).splitlines(), 1) if line.endswith(MARK)]
    assert lines
    assert [one.frame.line for one in report.suspicions if one.code == fault.code and one.sure] == lines
    assert report.books is not None
    assert not report.books.incomplete


@pytest.mark.torch
@pytest.mark.parametrize(("fault", "example"), PASSES, ids=ids)
def test_healthy_training_that_looks_alike_is_no_alarm(
    probe: Probe, tmp_path: Path, fault: Fault, example: str
) -> None:
    report = audit(probe, tmp_path, example)
    assert report.outcome is Outcome.CLEAN
    assert [one for one in report.suspicions if one.sure or one.code == fault.code] == []
    assert "broken" not in told.laws(report.books, report.suspicions).values()


@pytest.mark.parametrize("fault", faults(), ids=lambda fault: fault.code)
def test_a_fault_is_told_once_and_has_healthy_examples(fault: Fault) -> None:
    assert [one.code for one in told.known()].count(fault.code) == 1
    assert fault.passes


CUT = """
enc, dec = nn.Linear(4, 2), nn.Linear(2, 4)
opt = optim.SGD([*enc.parameters(), *dec.parameters()], lr=0.1)
for _ in range(5):
    x = torch.randn(8, 4)
    code = torch.tanh(enc(x)).data{}
    opt.zero_grad()
    F.mse_loss(dec(code), x).backward()
    opt.step()
"""


@pytest.mark.torch
def test_a_comment_on_the_line_or_an_ignored_code_silences_a_finding(probe: Probe, tmp_path: Path) -> None:
    assert [one.code for one in audit(probe, tmp_path, CUT.format("")).suspicions] == ["AG524"]
    assert audit(probe, tmp_path, CUT.format("  # autofix: AG524 meant")).suspicions == ()
    assert audit(probe, tmp_path, CUT.format("  # autofix: ignore[AG524]")).suspicions == ()
    assert [one.code for one in audit(probe, tmp_path, CUT.format("  # autofix: AG501 meant")).suspicions] == ["AG524"]
    assert audit(probe, tmp_path, CUT.format(""), "AG52").suspicions == ()


ADVANTAGE = """
pi, v = nn.Linear(4, 2), nn.Linear(4, 1)
opt = optim.Adam([*pi.parameters(), *v.parameters()])
for _ in range(5):
    s, ret = torch.randn(16, 4), torch.randn(16)
    logp = pi(s).log_softmax(1)[:, 0]
    adv = ret - v(s).squeeze(1)
    loss = -(logp * adv{}).mean() + adv.pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


@pytest.mark.torch
def test_an_advantage_that_trains_the_critic_is_told_and_is_no_alarm(probe: Probe, tmp_path: Path) -> None:
    report = audit(probe, tmp_path, ADVANTAGE.format(""))
    assert [(one.code, one.sure) for one in report.suspicions] == [("AG542", False)]
    assert audit(probe, tmp_path, ADVANTAGE.format(".detach()")).suspicions == ()


@pytest.mark.torch
def test_the_books_say_who_trains_what(probe: Probe, tmp_path: Path) -> None:
    report = audit(probe, tmp_path, CUT.format(""))
    assert report.books is not None
    assert {one.name: (one.unreached, one.gradient > 0) for one in report.books.networks} == {
        "enc": (2, False), "dec": (0, True)
    }  # fmt: skip
    assert [(one.kind, one.steps) for one in report.books.trainers] == [("SGD", 5)]
    assert told.laws(report.books, report.suspicions)[told.LEARNS] == "broken"


@pytest.mark.torch
def test_programs_code_hosts_pages_and_batches_get_what_people_get(probe: Probe, tmp_path: Path) -> None:
    report = audit(probe, tmp_path, CUT.format(""), mend=True)
    snapshot = Snapshot(report)
    document = json.loads(shown.as_json(report, snapshot))
    assert [(one["code"], one["level"]) for one in document["findings"]] == [("AG524", "broken")]
    assert [(one["rules"], one["applicability"]) for one in document["fixes"]] == [(["AG524"], "unsafe")]
    assert [one["ruleId"] for one in json.loads(as_sarif(report, snapshot))["runs"][0]["results"]] == ["AG524"]
    assert as_github(report, snapshot).startswith("::warning file=train.py")
    found = account(report, snapshot)
    assert [row[0] for row in found.table] == ["network", "enc", "dec"]
    page = as_html(report, snapshot, Pictures())
    result = outcome.result(Entry("train.py", "key"), report, tmp_path)
    for text in (page, "\n".join((*(fault.message for fault in result.faults), result.audit))):
        for words in (
            found.findings[0].message.partition("`")[0],
            found.summary.partition(": ")[2],
            *(name for name, _ in found.laws),
        ):
            assert words in text
        assert all(cell in text for row in found.table for cell in row)
    place = found.findings[0].place
    assert [fault.place for fault in result.faults] == [f"train.py:{place.line}:{place.column}"]
    assert "AG524" in result.sarif
    assert "No line of the script explains it" not in page


@pytest.mark.torch
@pytest.mark.usefixtures("warm")
def test_the_command_writes_only_what_it_is_told_to_and_ends_with_its_status(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def command(*words: str) -> int:
        return cli.main(["audit", "--python", sys.executable, *words, str(script)])

    script, settings = tmp_path / "train.py", tmp_path / "pyproject.toml"
    script.write_text(HEAD + CUT.format(""), encoding="utf-8")
    for table in ("[tool.autofix.audit]", "[tool.autofix]"):
        settings.write_text(f'{table}\nignore = ["AG52"]\n', encoding="utf-8")
        assert command() == 0
        assert len(capsys.readouterr().out.splitlines()) == 3
    settings.unlink()
    assert command("--write") == 1
    out, err = capsys.readouterr()
    assert re.search(r"train\.py:\d+:\d+: AG524 enc", out)
    assert "+    code = torch.tanh(enc(x))\n" in out
    assert "no fix is safe" in err
    assert script.read_text(encoding="utf-8") == HEAD + CUT.format("")
    assert command("--write", "--unsafe-fixes") == 1
    assert script.read_text(encoding="utf-8") == HEAD + CUT.format("").replace(".data", "")
    capsys.readouterr()
    assert command() == 0
    assert len(capsys.readouterr().out.splitlines()) == 3
    script.write_text("raise ValueError('no')\n", encoding="utf-8")
    assert command() == 2
    assert command("--ignore", "AG999") == 2
    assert "AG999" in capsys.readouterr().err
