"""Reports made by hand, for the tests of what shows them: a failure in a file with wide characters, two fixes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from autofix.core.edit import Edit
from autofix.core.model import (
    Applicability,
    Candidate,
    Cause,
    Change,
    Culprit,
    Diagnosis,
    Effect,
    Finding,
    Fix,
    Note,
    Outcome,
    Report,
    RunOutcome,
    Target,
    Verdict,
)
from autofix.probe import wire

SCRIPT = """\
loss1 = net(x)  # first
损失 = net(x); 损失.backward()
if x:\tloss2.backward()
"""
MESSAGE = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have "
    "already been freed). Saved intermediate values of the graph are freed when you call .backward()."
)
CARRIER = "\x1b]0;owned\x07\x1b[31m[red]%d[/red]\r\n\x9b1m"
"""What a hostile script may put into a message: terminal titles, colours, rich markup, a return to line start."""


def frame(path: Path, line: int, column: int, end: int) -> wire.Frame:
    return wire.Frame(str(path), line, column, line, end, "train")


def report(folder: Path, message: str = MESSAGE) -> Report:
    """A freed graph in `folder`/train.py, with a safe fix, an unsafe one and one that failed."""
    script = folder / "train.py"
    script.write_text(SCRIPT, "utf-8")
    second = SCRIPT.splitlines()[1].encode()
    start = second.index(b";") + 2
    failure = wire.Failure(
        "RuntimeError", message, (frame(script, 2, start, len(second)),), "freed_graph", in_backward=True
    )
    culprits = (
        Culprit("shared", frame(script, 1, 8, 14), "loss1"),
        Culprit("freed", frame(script, 3, 6, 22), "aten::mm.out"),
        Culprit("failed", failure.stack[0]),
        Culprit("shared", frame(script, 1, 0, 5), aside=True),
    )
    diagnosis = Diagnosis(Cause.FREED_GRAPH, failure, culprits, wire.Trace(1, "failed", failure=failure))
    return Report(
        Target(script, ("--epochs", "1"), root=folder, cwd=folder, python=Path("/usr/bin/python3")),
        Outcome.AVAILABLE,
        diagnosis,
        (keep_graph(script), detach(script)),
        (failed(script, failure),),
        (Note("AG101", "no write was seen"),),
        isolation="overlay",
        torch="2.13.0",
        timings={"script": 0.5, "total": 2.25},
    )


def keep_graph(script: Path) -> Fix:
    data = script.read_bytes()
    place = data.index(b".backward()\nif") + len(b".backward(")
    after = data[:place] + b"retain_graph=True" + data[place:]
    candidate = Candidate(
        ("AG201",),
        ("Keep the graph with retain_graph=True",),
        ("The earlier backward keeps the graph.",),
        (1,),
        {script: after},
        (Edit(script, place, place, "retain_graph=True"),),
    )
    verdict = Verdict(
        RunOutcome.PASSED,
        Effect.IDENTICAL,
        Applicability.SAFE,
        "gradients of net (2 tensors) at 3 steps are identical to those that the code describes",
    )
    diff = (
        "--- a/train.py\n+++ b/train.py\n@@ -1,3 +1,3 @@\n loss1 = net(x)  # first\n-损失 = net(x); 损失.backward()\n"
        "+损失 = net(x); 损失.backward(retain_graph=True)\n if x:\tloss2.backward()\n"
    )
    return Fix(candidate, verdict, diff.encode())


def detach(script: Path) -> Fix:
    candidate = Candidate(
        ("AG202",), ("Detach the shared input",), ("The loss stops there.",), (0,), {script: b"x = 1\n"},
        (Edit(script, 0, 5, "x"),), Applicability.UNSAFE,
    )  # fmt: skip
    verdict = Verdict(
        RunOutcome.FINISHED,
        Effect.CHANGED,
        Applicability.UNSAFE,
        "changed: net.weight gets a gradient of norm 1 instead of 2 at step 1",
        (
            Finding(
                "graph-older-than-update",
                "weight was normalised before it was updated",
                (frame(script, 1, 0, 5),),
            ),
        ),
        (Change("net.weight", 0, 2.0, float("nan"), "loss1"),),
        peak_bytes=1024,
    )
    return Fix(candidate, verdict, b"--- a/train.py\n+++ b/train.py\n@@ -1 +1 @@\n-loss1\n+x\n")


def failed(script: Path, failure: wire.Failure) -> Fix:
    fix = keep_graph(script)
    verdict = Verdict(
        RunOutcome.SAME_FAILURE, Effect.UNKNOWN, Applicability.DISPLAY_ONLY, "RuntimeError", failure=failure
    )
    return replace(fix, verdict=verdict)
