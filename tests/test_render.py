"""Reports as people and programs see them: text, JSON, SARIF, GitHub annotations."""

from __future__ import annotations

import io
import json
import os
import shlex
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from inline_snapshot import snapshot
from reports import CARRIER, SCRIPT, frame, report
from schemas import SARIF, schema

from autofix import render
from autofix.core.edit import Edit
from autofix.core.model import Applicability, Cause, Effect, Hint, Outcome, Report, RunOutcome, Suspicion, Target
from autofix.diagnosis.culprits import culprits
from autofix.pipeline.titles import apart
from autofix.probe import wire
from autofix.render import progress, words
from autofix.render.machine import document

SCHEMA = json.loads((Path(__file__).parent.parent / "docs" / "schema.json").read_text("utf-8"))
COMMAND = ("train.py", "--epochs", "1")


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Report:
    monkeypatch.chdir(tmp_path)
    return report(tmp_path)


def text(made: Report, **look: Any) -> str:
    stream = io.StringIO()
    render.show(made, render.Snapshot(made), render.Look(command=COMMAND, **look), stream)
    return stream.getvalue()


def as_json(made: Report) -> dict[str, Any]:
    found = json.loads(render.as_json(made, render.Snapshot(made)))
    jsonschema.Draft202012Validator(SCHEMA).validate(found)
    assert isinstance(found, dict)
    return found


def test_without_a_terminal_the_first_lines_are_links(made: Report) -> None:
    assert text(made) == snapshot("""\
train.py:2:14: AG201 RuntimeError: Trying to backward through the graph a second time
  backward needs a graph that an earlier backward has freed
train.py:1:9: note 1. loss1 is made here, with the graph that both backward calls need
 1 │ loss1 = net(x)  # first
   │         ^^^^^^
train.py:3:7: note 2. this backward frees the graph (mm)
 3 │ if x:    loss2.backward()
   │          ^^^^^^^^^^^^^^^^
train.py:2:14: note 3. it fails here
 2 │ 损失 = net(x); 损失.backward()
   │                ^^^^^^^^^^^^^^^

Fix: AG201 Keep the graph with retain_graph=True (safe)

--- a/train.py
+++ b/train.py
@@ -1,3 +1,3 @@
 loss1 = net(x)  # first
-损失 = net(x); 损失.backward()
+损失 = net(x); 损失.backward(retain_graph=True)
 if x:    loss2.backward()

Effect: gradients of net (2 tensors) at 3 steps are identical to those that the code describes
Why it works: The earlier backward keeps the graph.

Other edits that get past the failure:
  2. AG202 Detach the shared input (unsafe) changed: net.weight gets a gradient of norm 1 instead of 2 at step 1
     graph-older-than-update: train.py:1: weight was normalised before it was updated

To apply it: autofix fix --write train.py --epochs 1
""")


def test_a_terminal_shows_excerpts_with_underlines_in_cells(made: Report) -> None:
    assert text(made, terminal=True).split("\nFix:")[0] == snapshot("""\
train.py:2:14: RuntimeError: Trying to backward through the graph a second time
  backward needs a graph that an earlier backward has freed
 1 │ loss1 = net(x)  # first
   │         ^^^^^^ 1. loss1 is made here, with the graph that both backward calls need
 3 │ if x:    loss2.backward()
   │          ^^^^^^^^^^^^^^^^ 2. this backward frees the graph (mm)
 2 │ 损失 = net(x); 损失.backward()
   │                ^^^^^^^^^^^^^^^ 3. it fails here
""")


def test_verbose_tells_what_was_tried_and_how(made: Report) -> None:
    shown = text(made, verbose=True)
    assert "declined AG101: no write was seen" in shown
    assert "tried AG201 Keep the graph with retain_graph=True: it fails in the same way" in shown
    assert "isolation overlay" in shown
    assert "script 0.50 s, total 2.25 s" in shown


def test_quiet_is_one_line(made: Report) -> None:
    assert text(made, quiet=True) == snapshot(
        "train.py:2:14: AG201 RuntimeError: Trying to backward through the graph a second time\n"
    )


def test_colour_only_where_wanted(made: Report) -> None:
    assert "\x1b[32m+" in text(made, terminal=True, color=True)
    assert "\x1b" not in text(made, terminal=True)


def test_after_writing_it_says_so(made: Report) -> None:
    shown = text(replace(made, outcome=Outcome.FIXED, applied=0))
    assert "Fixed: AG201" in shown
    assert "The fix was written." in shown
    assert "To apply it" not in shown


def test_with_only_unsafe_fixes_the_next_command_says_so(made: Report) -> None:
    shown = text(replace(made, fixes=made.fixes[1:]))
    assert "autofix fix --write --unsafe-fixes train.py --epochs 1" in shown
    assert "graph-older-than-update: train.py:1: weight was normalised before it was updated" in shown


def test_an_unsafe_fix_that_keeps_the_gradients_has_its_reason(made: Report) -> None:
    bounded = replace(made.fixes[0].verdict, applicability=Applicability.UNSAFE)
    fix = replace(made.fixes[0], candidate=replace(made.fixes[0].candidate, rules=("AG205",)), verdict=bounded)
    reason = (
        "records-never-emptied: Safe only where the rest of the code asks for it, as where the loss pairs the list "
        "with one that each pass empties"
    )
    assert reason in " ".join(text(replace(made, fixes=(made.fixes[1], fix))).split())
    assert any(reason in said for said in as_json(replace(made, fixes=(fix,)))["advice"])


def test_titles_tell_fixes_apart(made: Report) -> None:
    first, second = made.fixes
    again = replace(second, candidate=replace(second.candidate, titles=first.candidate.titles), diff=b"+x = 1\n")
    data = made.target.script.read_bytes()
    again = replace(again, originals={made.target.script: data})
    there = Edit(made.target.script, data.index(b"if x"), len(data), "x")
    moved = replace(again, candidate=replace(again.candidate, edits=(there,)))
    other = made.target.script.with_name("nets.py")
    elsewhere = replace(
        moved, candidate=replace(moved.candidate, edits=(replace(there, path=other),)), originals={other: data}
    )
    titles = [words.title(fix) for fix in apart((first, again, moved))]
    assert len(set(titles)) == len(titles)
    there_and_elsewhere = [words.title(fix) for fix in apart((moved, elsewhere))]
    assert [title.rpartition(" ")[2][:-1] for title in there_and_elsewhere] == ["train.py:", "nets.py:"]
    assert titles[0].startswith("Keep the graph with retain_graph=True: ")
    chains = [
        replace(one, candidate=replace(one.candidate, titles=("Step later", "Detach it")), diff=b"+opt.%d.step()\n" % n)
        for n, one in enumerate((first, second))
    ]
    assert [words.title(fix)[-29:] for fix in apart(chains)] == [
        f"; then Detach it [opt.{n}.step()]"[-29:] for n in (0, 1)
    ]
    assert [words.title(fix) for fix in apart(made.fixes)] == [words.title(fix) for fix in made.fixes]


def test_the_next_command_survives_a_shell(made: Report) -> None:
    stream = io.StringIO()
    look = render.Look(command=("my script.py", "--name", "a'b"))
    render.show(made, render.Snapshot(made), look, stream)
    line = next(line for line in stream.getvalue().splitlines() if line.startswith("To apply it: "))
    assert shlex.split(line.removeprefix("To apply it: "))[3:] == ["my script.py", "--name", "a'b"]


def test_without_a_fix_it_tells_what_was_tried(made: Report) -> None:
    shown = text(replace(made, fixes=(), outcome=Outcome.UNFIXED))
    assert "No fix: no edit that was tried repairs it.\n" in shown
    assert "  tried AG201 Keep the graph with retain_graph=True: it fails in the same way at train.py:2: " in shown
    assert "  declined AG101: no write was seen\n" in shown


def test_of_much_that_was_tried_what_says_something_new_is_told_and_all_when_asked(made: Report) -> None:
    (first,) = made.rejected
    codes = tuple(f"AG{number}" for number in range(201, 213))
    chains = [
        replace(
            first,
            candidate=replace(first.candidate, rules=codes[:n], titles=first.candidate.titles * n),
        )
        for n in (*range(12, 0, -1), 1)
    ]
    report = replace(made, fixes=(), rejected=tuple(chains), outcome=Outcome.UNFIXED)
    told = [line for line in text(report).splitlines() if line.startswith("  tried ")]
    assert [line.split()[1].count("AG") for line in told[:-1]] == list(range(1, 9))
    assert told[-1] == "  tried 5 more; -v shows all"
    assert sum(line.startswith("  tried ") for line in text(report, verbose=True).splitlines()) == len(chains)


def test_what_is_usually_done_ends_the_report(made: Report) -> None:
    hint = Hint("AG401", "keep the tensor here", made.diagnosis.culprits[0].frame) if made.diagnosis else None
    shown = replace(made, fixes=(), outcome=Outcome.UNFIXED, hints=(hint,) if hint else ())
    assert "\nWhat is usually done:\ntrain.py:1:9: AG401 keep the tensor here\nNext: edit by hand " in text(shown)
    assert [one["message"] for one in as_json(shown)["hints"]] == ["keep the tensor here"]


@pytest.mark.parametrize("outcome", [Outcome.SAFE, Outcome.UNSAFE, Outcome.STILL_FAILING])
def test_a_judged_edit_begins_with_its_verdict(made: Report, outcome: Outcome) -> None:
    fixes = {"fixes": (made.fixes[outcome is Outcome.UNSAFE],), "rejected": ()}
    if outcome is Outcome.STILL_FAILING:
        fixes = {"fixes": (), "rejected": made.rejected}
    shown = text(replace(made, outcome=outcome, **fixes))
    assert f"\n\n{words.OUTCOMES[outcome].capitalize()}\n" in shown


@pytest.mark.parametrize(
    ("effect", "said"),
    [
        (
            Effect.MEANT,
            "Safe: the edit gives the gradients that the code is meant to give; as written, it gives others",
        ),
        (
            Effect.REFRESHED,
            "Safe: the edit keeps the gradients that the code describes, computed with newer parameters",
        ),
    ],
)
def test_a_safe_edit_is_headed_by_what_it_keeps(made: Report, effect: Effect, said: str) -> None:
    verdict = replace(made.fixes[0].verdict, effect=effect)
    shown = text(replace(made, outcome=Outcome.SAFE, rejected=(), fixes=(replace(made.fixes[0], verdict=verdict),)))
    assert f"\n\n{said}\n" in shown


def test_an_edit_whose_effect_is_unknown_is_not_headed_as_unsafe(made: Report) -> None:
    verdict = replace(made.fixes[1].verdict, effect=Effect.UNKNOWN)
    shown = text(replace(made, outcome=Outcome.UNSAFE, fixes=(replace(made.fixes[1], verdict=verdict),)))
    assert "\n\nUnknown: the runs do not tell" in shown
    assert "Unsafe" not in shown


def test_an_offer_of_an_unknown_effect_says_so_in_its_heading(made: Report) -> None:
    fixes = tuple(replace(fix, verdict=replace(made.fixes[1].verdict, effect=Effect.UNKNOWN)) for fix in made.fixes)
    shown = text(replace(made, fixes=fixes))
    assert "\n\nFix: AG201 Keep the graph with retain_graph=True (unsafe, effect unknown)\n" in shown
    assert "  2. AG202 Detach the shared input (unsafe, effect unknown) same effect as fix 1" in shown
    assert "(unsafe)" in text(made)


def test_a_doubt_follows_upon_the_gradients_that_an_edit_keeps(made: Report) -> None:
    doubted = replace(made.fixes[1], verdict=replace(made.fixes[1].verdict, effect=Effect.IDENTICAL))
    shown = text(replace(made, fixes=(doubted,)))
    assert (
        "instead of 2 at step 1. Unsafe for this reason:\n  graph-older-than-update: train.py:1: weight was normalised"
        in shown
    )
    assert words.unsafe(doubted).endswith(
        "at step 1, but graph-older-than-update: weight was normalised before it was updated"
    )


def test_what_is_told_once_is_not_told_of_each_edit(made: Report) -> None:
    fixes = tuple(replace(fix, verdict=replace(made.fixes[1].verdict, effect=Effect.UNKNOWN)) for fix in made.fixes)
    shown = text(replace(made, fixes=fixes))
    assert shown.count("same effect as fix 1") == len(fixes) - 1
    assert "same effect as fix 1" not in text(made)


def test_a_fault_that_crashes_nothing_is_not_told_as_the_cause(made: Report) -> None:
    assert made.diagnosis is not None
    fault = Suspicion("AG505", "", "the scheduler steps first", made.diagnosis.failure.stack[0])
    assert "\n\nAlso found, though not why it fails:\n" in text(replace(made, suspicions=(fault,)))
    assert "Also found" not in text(made)


def test_what_was_not_tried_is_no_change_of_the_run(made: Report) -> None:
    shown = text(replace(made, untried="2 more edits were not tried: late"))
    assert "\n\n2 more edits were not tried: late\n" in shown
    assert "changed for this run: 2" not in shown
    assert "seen only with" not in text(replace(made, conditions=(), untried="late"))


@pytest.mark.parametrize(
    ("names", "owners"),
    [
        ((("G.0.w", "G.2.w"), ("D.w",)), (["G"], ["D"])),
        ((("m.actor.0.w", "m.actor.0.b"), ("m.critic.w",)), (["m.actor"], ["m.critic"])),
        ((("g.w", "e.w"), ("g.w", "e.w", "mix.w")), (["g", "e"], ["g", "e", "mix"])),
        ((("net.w",), ("net.b",)), (["net.w"], ["net.b"])),
        ((("agent.w", "log_alpha"), ("agents.w",)), (["agent", "log_alpha"], ["agents"])),
    ],
)
def test_what_an_optimizer_owns_is_named_by_the_smallest_module(
    names: tuple[tuple[str, ...], ...], owners: tuple[list[str], ...]
) -> None:
    trace = wire.Trace(0, "finished", counts=(1, 1), names=(*names, ("leaf 0",)))
    assert tuple(map(trace.owners, range(2))) == owners


def test_a_line_that_saves_and_later_uses_what_is_stale_is_told_once() -> None:
    forward, step, backward = (wire.Frame("a.py", line, 0, line, 9, "<module>") for line in (1, 2, 3))
    saved = wire.Saved((forward,), writes=(wire.Write("step", (step,), 0),))
    failure = wire.Failure("RuntimeError", "", (backward,), "", in_backward=True)
    trace = wire.Trace(0, "failed", saved=(saved,), crossings=(wire.Crossing("failing", (forward,), (forward,)),))
    found = culprits(Cause.SAVED_TENSOR_MODIFIED, failure, trace, None)
    assert [(one.role, one.frame.line) for one in found] == [("saved", 1), ("stepped", 2), ("failed", 3)]
    assert "after the write uses" in words.role(found[0])


def test_many_alternatives_are_cut_unless_verbose(made: Report) -> None:
    many = replace(made, fixes=made.fixes[:1] + made.fixes[1:] * 8)
    assert "and 5 more; -v shows all" in text(many)
    assert "more; -v" not in text(many, verbose=True)


@pytest.mark.parametrize("look", [{}, {"terminal": True}, {"terminal": True, "verbose": True}])
def test_nothing_of_the_child_reaches_the_terminal_raw(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, look: dict[str, bool]
) -> None:
    monkeypatch.chdir(tmp_path)
    made = report(tmp_path, CARRIER)
    (tmp_path / "train.py").write_text(SCRIPT.replace("loss2", "\x1b[7mloss2"), "utf-8")
    assert made.diagnosis is not None
    culprit = replace(made.diagnosis.culprits[1], note=CARRIER)
    diagnosis = replace(made.diagnosis, culprits=(culprit,), declined=CARRIER)
    hostile = replace(
        made,
        diagnosis=diagnosis,
        message=CARRIER,
        isolation=CARRIER,
        torch=CARRIER,
        fixes=tuple(
            replace(fix, diff=CARRIER.encode(), verdict=replace(fix.verdict, summary=CARRIER)) for fix in made.fixes
        ),
    )
    shown = text(hostile, **look)
    assert not {character for character in shown if not character.isprintable()} - {"\n"}
    assert "[red]" in shown
    assert "owned" not in shown.partition("Fix:")[0]


def test_the_shortened_message_is_torchs_first_sentence() -> None:
    assert words.shortened(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        "[torch.FloatTensor [4, 2]], which is output 0 of Tanh, is at version 1; expected version 0 instead. Hint: x"
    ) == snapshot("one of the variables needed for gradient computation has been modified by an inplace operation")
    assert len(words.shortened("x" * 1000)) == 200


def test_every_word_of_the_model_has_its_sentence() -> None:
    assert words.OUTCOMES.keys() == set(Outcome)
    assert words.CAUSES.keys() == set(Cause)
    assert words.EFFECTS.keys() == set(Effect)
    assert words.RUNS.keys() == set(RunOutcome)


def test_a_file_outside_the_project_is_never_read_out(tmp_path: Path) -> None:
    secret = tmp_path / "secret.py"
    secret.write_text("password = 1\n")
    inner = tmp_path / "project"
    inner.mkdir()
    made = report(inner)
    assert made.diagnosis is not None
    leak = replace(made.diagnosis.culprits[0], frame=frame(secret, 1, 0, 8))
    shown = text(replace(made, diagnosis=replace(made.diagnosis, culprits=(leak,))), terminal=True)
    assert "password" not in shown


@pytest.mark.parametrize(("line", "column"), [(99, 0), (0, 0), (-3, -7), (2, 10**9)])
def test_an_impossible_position_is_shown_without_an_excerpt_or_a_crash(made: Report, line: int, column: int) -> None:
    assert made.diagnosis is not None
    odd = replace(made.diagnosis.culprits[1], frame=frame(made.target.script, line, column, column + 1))
    changed = replace(made, diagnosis=replace(made.diagnosis, culprits=(odd,)))
    assert "train.py" in text(changed, terminal=True)
    as_json(changed)


def test_json_has_positions_in_characters_and_edits_in_bytes(made: Report) -> None:
    found = as_json(made)
    failure = found["failure"]
    assert (failure["line"], failure["column"], failure["end_column"]) == (2, 14, 27)
    edit = found["fixes"][0]["edits"][0]
    data = made.target.script.read_bytes()
    after = data[: edit["start"]] + edit["text"].encode() + data[edit["end"] :]
    assert after == made.fixes[0].candidate.files[made.target.script]


def test_json_keeps_its_promise_in_every_outcome(made: Report) -> None:
    for outcome in Outcome:
        as_json(replace(made, outcome=outcome))
        as_json(Report(Target(Path("x.py")), outcome, message="no"))
    assert as_json(replace(made, applied=1))["applied"] == 1


def test_json_has_no_field_that_the_schema_does_not_describe(made: Report) -> None:
    found = document(made, render.Snapshot(made))
    defs = SCHEMA["$defs"]
    assert found.keys() == SCHEMA["properties"].keys()
    assert found["failure"].keys() == defs["failure"]["properties"].keys()
    assert found["culprits"][0].keys() == defs["culprit"]["properties"].keys()
    fix = found["fixes"][1]
    assert fix.keys() == defs["fix"]["properties"].keys()
    for part, name in (("guards", "guard"), ("changed", "change"), ("edits", "edit")):
        assert fix[part][0].keys() == defs[name]["properties"].keys()


def test_the_schema_lists_the_words_of_the_model() -> None:
    fix = SCHEMA["$defs"]["fix"]["properties"]
    assert SCHEMA["properties"]["outcome"]["enum"] == [*Outcome]
    assert SCHEMA["$defs"]["failure"]["properties"]["cause"]["enum"] == [*Cause]
    assert fix["effect"]["enum"] == [*Effect]
    assert fix["run"]["enum"] == [*RunOutcome]
    assert fix["applicability"]["enum"] == [*Applicability]


def test_json_of_numbers_that_json_lacks_and_names_that_unicode_lacks(made: Report) -> None:
    target = replace(made.target, argv=(os.fsdecode(b"\xff.pt"),))
    shown = render.as_json(replace(made, target=target), render.Snapshot(made))
    assert "NaN" not in shown
    assert shown.isascii()
    assert json.loads(shown)["fixes"][1]["changed"][0]["candidate"] is None
    json.dumps(json.loads(shown), ensure_ascii=False).encode("utf-8")


def sarif(made: Report) -> dict[str, Any]:
    found = json.loads(render.as_sarif(made, render.Snapshot(made)))
    jsonschema.Draft7Validator(schema(SARIF)).validate(found)
    assert isinstance(found, dict)
    run: dict[str, Any] = found["runs"][0]
    return run


def test_sarif_points_to_the_failure_and_replaces_what_the_fix_replaces(made: Report) -> None:
    run = sarif(made)
    (result,) = run["results"]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "AG201"
    assert result["locations"] == snapshot(
        [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": "train.py", "uriBaseId": "SRCROOT"},
                    "region": {"startLine": 2, "startColumn": 14, "endLine": 2, "endColumn": 27},
                }
            }
        ]
    )
    assert [place["message"]["text"] for place in result["relatedLocations"]] == snapshot(
        [
            "loss1 is made here, with the graph that both backward calls need",
            "this backward frees the graph (mm)",
            "it fails here",
        ]
    )
    assert result["fixes"][0]["artifactChanges"] == snapshot(
        [
            {
                "artifactLocation": {"uri": "train.py", "uriBaseId": "SRCROOT"},
                "replacements": [
                    {
                        "deletedRegion": {"startLine": 2, "startColumn": 26, "endLine": 2, "endColumn": 26},
                        "insertedContent": {"text": "retain_graph=True"},
                    }
                ],
            }
        ]
    )


@pytest.mark.parametrize("outcome", [*Outcome])
def test_sarif_is_whole_in_every_outcome(made: Report, outcome: Outcome) -> None:
    sarif(replace(made, outcome=outcome))
    bare = sarif(Report(Target(Path("/x y/é.py")), outcome, message="no"))
    assert not bare["results"]
    assert bare["originalUriBaseIds"] == {"SRCROOT": {"uri": "file:///x%20y/"}}


def test_sarif_tells_a_failure_of_ours(made: Report) -> None:
    (invocation,) = sarif(replace(made, diagnosis=None, outcome=Outcome.CANNOT_RUN, message="no torch"))["invocations"]
    assert not invocation["executionSuccessful"]
    assert invocation["toolExecutionNotifications"][0]["message"]["text"] == "no torch"


def test_sarif_leaves_out_a_fix_whose_file_cannot_be_read(made: Report, tmp_path: Path) -> None:
    gone = replace(made.fixes[0].candidate, edits=(Edit(tmp_path / "gone.py", 0, 0, "x"),), files={})
    (result,) = sarif(replace(made, fixes=(replace(made.fixes[0], candidate=gone),)))["results"]
    assert "fixes" not in result


def test_github_annotations_escape_what_the_runner_would_read(made: Report) -> None:
    shown = render.as_github(made, render.Snapshot(made))
    error, *notices = shown.splitlines()
    assert error.startswith(
        "::error file=train.py,line=2,col=14,endColumn=27,endLine=2,title=autofix AG201::RuntimeError: "
    )
    assert "%0A+损失" in error
    assert len(notices) == 2
    assert all(line.startswith("::notice file=train.py,") for line in notices)


def test_github_annotations_are_relative_to_the_workspace(
    made: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path.parent))
    shown = render.as_github(made, render.Snapshot(made))
    assert f"file={tmp_path.name}/train.py," in shown


def test_github_annotations_without_a_diagnosis(made: Report) -> None:
    bare = replace(made, diagnosis=None, outcome=Outcome.CANNOT_RUN, message="50% of it, no: torch")
    assert render.as_github(bare, render.Snapshot(bare)) == "::error title=autofix::50%25 of it, no: torch\n"
    clean = replace(bare, outcome=Outcome.CLEAN)
    assert not render.as_github(clean, render.Snapshot(clean))


def test_a_diff_is_read_in_its_files_encoding(tmp_path: Path) -> None:
    made = report(tmp_path)
    script = made.target.script
    script.write_bytes("# -*- coding: gbk -*-\nx = '损失'\n".encode("gbk"))
    fix = replace(made.fixes[0], diff="-x = '损失'\n".encode("gbk"))
    assert render.Snapshot(made).diff(fix) == "-x = '损失'\n"


def test_a_long_line_is_cut_around_what_matters(made: Report) -> None:
    made.target.script.write_text(f"x = [{'1, ' * 200}loss.backward(), {'2, ' * 200}]\n", "utf-8")
    before = len("x = [" + "1, " * 200)
    seen = render.Snapshot(made)
    line, underline = seen.excerpt(seen.place(frame(made.target.script, 1, before, before + 15)))
    assert len(line) <= 100
    assert line[underline.index("^") : underline.rindex("^") + 1] == "loss.backward()"


def test_rendering_needs_no_torch(tmp_path: Path) -> None:
    code = "import sys, autofix.render; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_every_field_of_a_report_is_in_its_json(made: Report) -> None:
    shown = document(made, render.Snapshot(made))
    named = {"target": "script", "diagnosis": "failure", "traceback": "failure", "books": "audit"}
    assert all(named.get(field.name, field.name) in shown for field in fields(Report))


@pytest.mark.parametrize(("silence", "said"), [(0.0, ["safe: detach it", "+h.detach()", "trying another"]), (1e9, [])])
def test_where_nobody_watches_a_long_repair_says_what_it_has_found_and_does(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], silence: float, said: list[str]
) -> None:
    monkeypatch.setattr(progress, "_PATIENT", silence)
    with progress.progress(quiet=False, verbose=False) as tell:
        tell.keep("safe: detach it", "+h.detach()")
        tell("trying another")
    assert [line.partition(" s  ")[2] for line in capsys.readouterr().err.splitlines()] == said


def test_a_diff_of_a_file_with_windows_line_ends_shows_none_of_them() -> None:
    assert words.diff_lines("@@ -1 +1 @@\r\n-a\r\n+b\r\n") == [
        ("place", "@@ -1 +1 @@"),
        ("removed", "-a"),
        ("added", "+b"),
    ]
