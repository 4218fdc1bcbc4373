"""What the code leaves open is asked in the words of the field; an answer decides, and lasts as its line does."""

from __future__ import annotations

import json
import textwrap
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from lawful import PARTS, Program
from laws import losses, players
from reports import report as some_report

from autofix import pipeline
from autofix.commands import ending
from autofix.core import kept
from autofix.core.config import Settings
from autofix.core.model import Answer, Applicability, Outcome, Question, Reading, Report, Target
from autofix.experiments.client import Probe
from autofix.probe import wire
from autofix.render import Look, Snapshot, as_json, show
from autofix.search import registry
from autofix.search.rule import Rule
from autofix.verdict.properties import (
    average_is_trained,
    derivative_is_constant,
    lasting_tensor_is_written,
    leaf_has_another_name,
    loss_grows_over_loop,
    loss_trains_its_target,
    network_reads_its_output,
    operands_written_in_turn,
    other_name_is_written,
    passes_train_earlier_ones,
    shared_across_passes,
    start_is_read_once,
    state_begins_anew_elsewhere,
)
from autofix.verdict.property import Example

SCHEMA = json.loads((Path(__file__).parent.parent / "docs" / "schema.json").read_text("utf-8"))
BENT = losses.VALUED.mutated("bent", ("weight = advantage", "weight = advantage.square()"))
LEFT = losses.GAN.mutated("left", ("softplus(-D(fake)).mean()", "mse_loss(D(fake), torch.ones(6, 1))"))
SUMMED = """\
import torch

torch.manual_seed(0)
net = torch.nn.Linear(2, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    loss = net(torch.randn(5, 2)).pow(2).mean(1)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def whole(text: str) -> str:
    """The script of an example's text."""
    return Example(text, "", "").script


def written(folder: Path, program: Program | str) -> Target:
    script = folder / "main.py"
    script.write_text(program if isinstance(program, str) else program.script)
    (folder / "parts.py").write_text(PARTS)
    (folder / "pyproject.toml").write_text("[project]\nname = 'a'  # of mine\n")
    return Target(script, root=folder, passes=2)


def fixed(probe: Probe, target: Target, *codes: str) -> Report:
    rules: tuple[Rule, ...] = registry.select(codes, ())
    return pipeline.fix(target, rules, probe=probe, progress=lambda _: None)


def asked(report: Report) -> Question:
    assert report.question is not None
    return report.question


@pytest.mark.torch
@pytest.mark.parametrize(
    ("program", "codes", "expected"),
    [
        (BENT, ("AG201", "AG202"), ("Should critic also learn from `actor_loss`?", ["apart", "both"])),
        (players.TARGETS, ("AG201", "AG202"), ("Should G also learn from `loss_d`?", ["apart", "both"])),
        (players.BOTH, ("AG201", "AG202"), ("Should G also learn from `loss_d`?", ["apart", "both"])),
        pytest.param(
            *(LEFT, ("AG201", "AG202"), ("Should G also learn from `loss_d`?", ["own", "both"])),
            marks=pytest.mark.apart("long"),
        ),
        pytest.param(
            *(
                whole(average_is_trained.CENTRED),
                ("AG202", "AG203"),
                (
                    "Is `mean` a constant to the loss, or does the loss train what its own iteration adds to it?",
                    ["constant", "trained"],
                ),
            ),
            marks=pytest.mark.apart("long"),
        ),
        pytest.param(
            *(
                whole(loss_trains_its_target.TOGETHER),
                ("AG201", "AG210"),
                ("Should the loss also train its target `second`?", ["constant", "trained"]),
            ),
            marks=pytest.mark.apart("long"),
        ),
        pytest.param(
            *(
                whole(loss_trains_its_target.TEMPORAL),
                ("AG201", "AG210"),
                ("Should the loss also train its target `reward + 0.9 * later`?", ["constant", "trained"]),
            ),
            marks=pytest.mark.apart("long"),
        ),
        pytest.param(
            *(
                whole(passes_train_earlier_ones.FRAMES),
                ("AG201", "AG203"),
                (
                    "Is `before` a constant after the backward of its iteration, or do later losses train it, too?",
                    ["constant", "trained"],
                ),
            ),
            marks=pytest.mark.apart("long"),
        ),
        pytest.param(
            *(
                whole(network_reads_its_output.FEATURES),
                ("AG203", "AG211"),
                (
                    "Does each iteration read the same input, or `nodes` of the iteration before?",
                    ["kept", "handed-on"],
                ),
            ),
            marks=pytest.mark.apart("long"),
        ),
        pytest.param(
            *(
                whole(start_is_read_once.WORDS),
                ("AG203", "AG213"),
                (
                    "Does each iteration begin anew with `first`, or go on from `word` of the one before?",
                    ["anew", "goes-on"],
                ),
            ),
            marks=pytest.mark.apart("long"),
        ),
        (
            whole(shared_across_passes.EPOCHS.replace("- old)", "+ old)")),
            ("AG206",),
            (
                "Is `old` a constant in all iterations that use it, or should each of them compute it anew?",
                ["constant", "anew"],
            ),
        ),
        pytest.param(
            *(
                whole(derivative_is_constant.REWEIGHTED.replace(".detach()", "")),
                ("AG201", "AG407"),
                (
                    (
                        "Should `(slope.norm(dim=0).repeat(3)[:8] * each).sum()` train through the derivative taken at "
                        "main.py:10, or is this derivative a constant?"
                    ),
                    ["through", "constant"],
                ),
            ),
            marks=pytest.mark.apart("long"),
        ),
        pytest.param(
            *(
                whole(loss_grows_over_loop.STEPS),
                ("AG203",),
                (
                    (
                        "`total` keeps growing. Does each step use only its new terms, "
                        "or do backward and step belong after the loop?"
                    ),
                    ["own", "all"],
                ),
            ),
            marks=pytest.mark.apart("long"),
        ),
        (
            whole(other_name_is_written.PASSED_ON),
            ("AG101",),
            (
                "Should `image` keep its value when main.py:7 writes to `x`, which is the same tensor?",
                ["kept", "written"],
            ),
        ),
        pytest.param(
            *(
                whole(lasting_tensor_is_written.MESH),
                ("AG203", "AG211"),
                (
                    "Should `self.template` keep its value when main.py:14 writes to `mesh`, which is the same tensor?",
                    ["kept", "written"],
                ),
            ),
            marks=pytest.mark.apart("long"),
        ),
        (
            whole(operands_written_in_turn.MEANS),
            ("AG101",),
            (
                "Does each of the writes around main.py:11 read the values from before all of them?",
                ["before", "in-turn"],
            ),
        ),
        pytest.param(
            *(
                state_begins_anew_elsewhere.StateBeginsAnewElsewhere.raises[0].script,
                ("AG203", "AG222"),
                (
                    (
                        "Does each iteration begin anew with `torch.zeros(1, 1, 4)`, "
                        "or go on from `model.hidden` of the one before?"
                    ),
                    ["anew", "goes-on"],
                ),
            ),
            marks=pytest.mark.apart("long"),
        ),
        (
            whole(leaf_has_another_name.BEHIND),
            ("AG301",),
            (
                "Should `best` keep its value when main.py:14 writes to `w`, which is the same tensor?",
                ["kept", "written"],
            ),
        ),
        (SUMMED, ("AG403",), ("Is the sum of these values the loss, or their mean?", ["sum", "mean"])),
    ],
    ids=[
        "two losses",
        "a game with targets",
        "a game in which each learns from both",
        "left over",
        "an average",
        "a target",
        "by hand",
        "frames",
        "own output",
        "a start",
        "made once",
        "derivative",
        "growing",
        "second name",
        "lasting",
        "in turn",
        "begun elsewhere",
        "shown in the end",
        "refused",
    ],
)
def test_what_is_left_open_is_asked_and_the_answer_decides(
    probe: Probe, tmp_path: Path, program: Program | str, codes: tuple[str, ...], expected: tuple[str, list[str]]
) -> None:
    target = written(tmp_path, program)
    open_ = fixed(probe, target, *codes)
    question = asked(open_)
    assert (question.text, [one.name for one in question.answers]) == expected
    assert not any(fix.verdict.applicability is Applicability.SAFE for fix in open_.fixes)
    answer = next(one for one in question.answers if one.offer is not None)
    followed = open_.fixes[answer.offer or 0]
    closed = fixed(probe, replace(target, reading=answer.name), *codes)
    assert asked(closed).chosen == answer.name
    assert closed.fixes[0].diff == followed.diff
    assert closed.fixes[0].verdict.applicability is Applicability.SAFE
    for other in closed.fixes[1:]:
        if other.verdict.applicability is Applicability.SAFE:
            assert (
                "as was answered" in other.verdict.summary or other.verdict.reading == closed.fixes[0].verdict.reading
            )
    jsonschema.validate(json.loads(as_json(open_, Snapshot(open_))), SCHEMA)


@pytest.mark.torch
@pytest.mark.parametrize(
    ("edit", "safe"),
    [
        (("0.9 * mean + 0.1 * z.mean(0)", "(0.9 * mean + 0.1 * z.mean(0)).detach()"), True),
        (average_is_trained.CUT, False),
    ],
)
def test_an_average_that_each_epoch_begins_anew_is_a_constant_to_its_last_pass_too(
    probe: Probe, tmp_path: Path, edit: tuple[str, str], *, safe: bool
) -> None:
    begun, loop, body = whole(average_is_trained.CENTRED).partition("mean = torch.zeros(3)\nfor _ in range(6):\n")
    assert loop
    epochs = f"for epoch in range(3):\n    {loop.replace('for', '    for').replace('6', '3')}"
    program = begun + epochs + textwrap.indent(body, "    ")
    target = replace(written(tmp_path, program), reading="constant")
    edited = {target.script: program.replace(*edit).encode()}
    judged = pipeline.verify(target, edited, probe=probe, progress=lambda _: None)
    assert (
        asked(judged).text
        == "Is `mean` a constant to the loss, or does the loss train what its own iteration adds to it?"
    )
    assert judged.outcome is (Outcome.SAFE if safe else Outcome.UNSAFE)


BY_CLASS = whole(average_is_trained.CENTRED).replace("torch.zeros(3)", "torch.zeros(3, 3)").replace(
    "z = torch.tanh(encoder(torch.randn(8, 4)))",
    "x = torch.randn(3, 4)\n    z, y = encoder(x).tanh(), (x > 0)[:, :2].sum(1)",
).replace(
    "mean = 0.9 * mean + 0.1 * z.mean(0)",
    "for c in y.unique():\n        mean[c] = 0.9 * mean[c] + 0.1 * z[y == c].mean(0)",
).replace("z - mean)", "z - mean[y])")  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize(("edit", "safe"), [(("z[y == c]", "z.detach()[y == c]"), True), (("mean[y]", "z[y]"), False)])
def test_an_average_is_found_where_other_draws_make_other_graphs(
    probe: Probe, tmp_path: Path, edit: tuple[str, str], *, safe: bool
) -> None:
    target = replace(written(tmp_path, BY_CLASS), reading="constant")
    edited = {target.script: BY_CLASS.replace(*edit).encode()}
    judged = pipeline.verify(target, edited, probe=probe, progress=lambda _: None)
    assert judged.outcome is (Outcome.SAFE if safe else Outcome.UNSAFE)


@pytest.mark.torch
def test_an_answer_lasts_until_its_line_changes(probe: Probe, tmp_path: Path) -> None:
    target = written(tmp_path, SUMMED)
    question = asked(fixed(probe, target, "AG403"))
    path = kept.keep(target, question.key, "mean")
    assert path == tmp_path / "pyproject.toml"
    again = fixed(probe, target, "AG403")
    assert asked(again).chosen == "mean"
    assert b"mean()" in again.fixes[0].diff
    edited = {target.script: SUMMED.replace("loss.backward()", "loss.sum().backward()").encode()}
    judged = pipeline.verify(target, edited, probe=probe, progress=lambda _: None)
    assert judged.outcome is Outcome.UNSAFE
    assert "another-reading-is-meant" in [one.property for one in judged.fixes[0].verdict.findings]
    changed = written(tmp_path, SUMMED.replace("loss", "error"))
    path.write_text(path.read_text() + f'\n[tool.autofix.readings]\n"{question.key}" = "mean"\n')
    told = asked(fixed(probe, changed, "AG403"))
    assert not told.chosen
    assert told.outdated == "the answer 'mean' was given for `loss.backward()`, and the code there has changed"


def test_answers_stand_beside_what_a_project_has(tmp_path: Path) -> None:
    target = written(tmp_path, SUMMED)
    place = (wire.Frame(str(target.script), 9, 4, 9, 19, "<module>"),)
    key = kept.key(target, place)
    assert key == "main.py <module>: loss.backward()"
    kept.keep(target, key, "mean")
    kept.keep(target, 'main.py f: x["a"] += 1', "old")
    kept.keep(target, key, "sum")
    assert kept.answers(target) == {key: "sum", 'main.py f: x["a"] += 1': "old"}
    assert (tmp_path / "pyproject.toml").read_text().startswith("[project]\nname = 'a'  # of mine\n")
    (tmp_path / "pyproject.toml").unlink()
    assert kept.answers(target) == {}
    assert kept.keep(target, key, "mean") == tmp_path / "pyproject.toml"
    assert kept.answers(target) == {key: "mean"}


def with_question(folder: Path, chosen: str = "") -> Report:
    report = some_report(folder)
    answers = (Answer("apart", "critic does not learn from `a`", Reading(), 0), Answer("both", "it does", Reading()))
    place = report.diagnosis.failure.stack if report.diagnosis is not None else ()
    question = Question("loss-trains-two-networks", "Should critic learn from `a`?", place, answers, "k", chosen, "old")
    return replace(report, question=question)


def test_a_report_tells_the_question_and_how_to_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import sys  # noqa: PLC0415

    report = with_question(tmp_path)
    show(report, Snapshot(report), Look(), sys.stdout)
    told = capsys.readouterr().out
    assert "Should critic learn from `a`?\n  old\n  No run can tell. Answer by running it again with one of" in told
    assert "\n  --reading apart: critic does not learn from `a` (fix 1 does so, and can be safe then)\n" in told
    assert "  --reading both: it does (no edit found does so; `autofix verify --reading both` judges one" in told
    closed = with_question(tmp_path, "apart")
    show(closed, Snapshot(closed), Look(), sys.stdout)
    assert "As was answered (apart): critic does not learn from `a`" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("reading", "chosen", "said"),
    [
        ("neither", "", "--reading neither answers nothing here; the answer may be apart or both"),
        ("apart", "apart", "the answer is kept in "),
    ],
)
def test_an_answer_that_was_typed_is_kept_or_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], reading: str, chosen: str, said: str
) -> None:
    report = with_question(tmp_path, chosen)
    ending.keep_answer(report, Settings(reading=reading))
    assert said in capsys.readouterr().err
    assert kept.answers(report.target) == ({"k": reading} if chosen else {})
