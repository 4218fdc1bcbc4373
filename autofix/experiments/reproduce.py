"""The first run of a target: what it comes to here, and what had to be arranged so that it runs at all."""

from __future__ import annotations

import errno
import itertools
import os
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from autofix.core.model import Crash, Target
from autofix.experiments import versions
from autofix.experiments.client import Probe, run
from autofix.experiments.requests import auditing, plain
from autofix.probe import wire

_ITERATIONS = 20
"""The iterations of one step of L-BFGS, unless the script asks for others."""
_SLOW = 10.0
"""Seconds to the failure from which on a step has only as many iterations as its cure needs to show."""
_LATE = 6.0
"""Seconds to the failure from which on it is looked for with loops that end early: a repair takes ten such runs."""
_SOONER = 3.0
"""How many times sooner it then has to come: each run of a repair has to get there."""
_ITERATIONS_KEPT = 10
"""Iterations after which loops then end: what goes wrong from pass to pass has gone wrong by then."""
_NO_MODULE = re.compile(r"No module named '([^']+)'")
_OF_NOTHING = {"TypeError", "AttributeError", "ValueError", "IndexError", "KeyError"}
"""Types of failures that a package which gives nothing may be the reason of."""
_NOT_WRITTEN = re.compile(r"\[Errno (\d+)\] .*: '([^']+)'$")
_DIGITS = re.compile(r"\d+")
_WANTS_GPU = re.compile(r"(?<![a-z])(cuda|nccl|nvidia|gpus?)(?![a-z])|accelerator device", re.IGNORECASE)


def reproduce(probe: Probe, target: Target) -> tuple[Target, wire.Trace]:
    """The target as it can be run here, and its first run; raises run.ProbeError where the probe ends.

    What fails late is run with loops that end early, if it then fails in the same way.
    """
    probe.hello()
    if target.device == "cpu":
        target = _on_cpu(target)
    if target.crash is not None and (sooner := _sooner(probe, target, target.crash)) is not None:
        return sooner
    target, baseline = _first(probe, target)
    failure = baseline.failure
    if failure is not None and baseline.outcome == "failed":
        known = Crash(failure.type, failure.message, baseline.undisturbed)
        # Where most of the time goes before the first backward call, no loop that trains would save it.
        loops = baseline.before * _SOONER < baseline.seconds
        if target.crash is None and loops and (sooner := _sooner(probe, target, known, baseline)) is not None:
            return sooner
    return _bounded(target, baseline), baseline


def wants_gpu(said: str) -> bool:
    """Whether a failure's words say that it is for want of a GPU."""
    return _WANTS_GPU.search(said) is not None


def audited(probe: Probe, target: Target) -> tuple[Target, wire.Trace]:
    """The target as it can be run here, and a run of it that is watched for more than crashes."""
    probe.hello()
    if target.device == "cpu":
        target = _on_cpu(target)
    return _first(probe, target, auditing)


def _sooner(
    probe: Probe, target: Target, crash: Crash, first: wire.Trace | None = None
) -> tuple[Target, wire.Trace] | None:  # fmt: skip
    """The target with loops that end early, and its first run, if that fails in the same way in much less time."""
    if crash.seconds < _LATE or target.setup.shorten or target.setup.skip_line:
        return None
    short = replace(target, setup=replace(target.setup, shorten=_ITERATIONS_KEPT))
    seconds = first.seconds if first is not None else crash.seconds
    limited = replace(short, time_limit=min(target.time_limit, seconds / _SOONER))
    short, trace = _first(probe, limited)
    failure, again = first.failure if first is not None else None, trace.failure
    if trace.outcome != "failed" or again is None or not trace.notes:
        return None
    alike = (again.type, _DIGITS.sub("", again.message)) == (crash.type, _DIGITS.sub("", crash.message))
    if not alike or (failure is not None and _lines(again) != _lines(failure)):
        return None
    return _bounded(replace(short, time_limit=target.time_limit), trace), trace


def _lines(failure: wire.Failure) -> list[tuple[str, int]]:
    return [(frame.file, frame.line) for frame in failure.stack]


def _first(
    probe: Probe, target: Target, ask: Callable[[Target], wire.Request] = plain
) -> tuple[Target, wire.Trace]:  # fmt: skip
    """The first run of a target: on the CPU where it asks for a GPU in vain, without TorchScript where that fails."""
    baseline = run(probe, ask(target))
    if target.device == "auto" and baseline.outcome == "failed" and wants_gpu(baseline.detail):
        moved = _on_cpu(target)
        again = run(probe, ask(moved))
        # Where that did not help, the words of the script as it stands say more; a run that is cut has no notes.
        if again.notes or again.outcome == "timed_out":
            target, baseline = moved, again
    failure = baseline.failure
    if baseline.outcome == "failed" and failure is not None and failure.scripted:
        read = replace(target, setup=replace(target.setup, scripted=False))
        again = run(probe, ask(read))
        if again.outcome == "failed" and again.failure is not None and _within(again.failure, failure):
            return read, again
    return target, baseline


def _within(inner: wire.Failure, outer: wire.Failure) -> bool:
    """Whether a failure happened where another did, or in what was called there."""
    lines = _lines(outer)
    return _lines(inner)[-len(lines) :] == lines if lines else False


def _bounded(target: Target, baseline: wire.Trace) -> Target:
    """The target with steps that end: beyond the failure, and beyond what an optimizer does where nothing is said."""
    least = _ITERATIONS if baseline.seconds < _SLOW else 1
    most = max(least, baseline.backward_count + target.passes)
    return replace(target, setup=replace(target.setup, closures=most))


def limit_words(target: Target, baseline: wire.Trace) -> str:
    """What a run that reached its time limit saw, and what to try."""
    seen = baseline.detail or f"it ran for {target.time_limit:.0f} s and nothing failed"
    tries = [] if baseline.backward_count else ["less to collect, load or compute before the first backward call helps"]
    if not target.setup.shorten:
        tries.append("--shorten 3 ends loops early")
    if not target.setup.skip_line:
        tries.append("--skip-to LINE hurries through the loops before a line")
    return f"{seen}; {', '.join([*tries, f'--time-limit {2 * target.time_limit:.0f} waits longer'])}"


def missing_words(target: Target, baseline: wire.Trace) -> str:
    """What a run died of, with what helps where a package or a file is not here."""
    failure, said = baseline.failure, baseline.detail
    if written_for := versions.written_for(said):
        return f"{said}; it was written for {written_for}"
    absent = _NO_MODULE.search(failure.message) if failure is not None else None
    top = absent[1].partition(".")[0] if absent else ""
    helps = ""
    if top and (place := _lying(target.project, top)):
        helps = f"it lies at {place}: run the script from the folder that holds it, or as a module with -m"
    elif top and target.setup.stand_in:
        helps = f"--stand-in has nothing for {top}: install it"
    elif top in wire.GIVING:
        helps = "install it, or --stand-in puts random data in its place"
    elif top in wire.SHOWING:
        helps = "install it, or --stand-in leaves out what it shows"
    elif hint := _fenced(target, failure) or _as_module(target, failure):
        helps = hint
    elif failure is not None and failure.type == "FileNotFoundError":
        made_up = "--stand-in makes up data sets, image folders and checkpoints"
        helps = f"{made_up} that are not here"
        if target.setup.stand_in:
            helps = f"{made_up}, not this file: put a small one there"
    if not helps and failure is not None and failure.type in _OF_NOTHING and "no stand-in" not in said:
        helps = _stood_in(baseline.notes)
    return "; ".join(filter(None, (said, helps)))


def _stood_in(notes: Sequence[str]) -> str:
    """What a failure may come from that would not be there without stand-ins; '' where nothing stood in."""
    if left := [note.split()[0] for note in notes if note.endswith(wire.LEFT_OUT)]:
        return (
            f"--stand-in left out what is not installed, and the failure may come from that: install {', '.join(left)}"
        )
    made_up = [note for note in notes if wire.MISSING in note]
    return f"the failure may come from what --stand-in did: {'; '.join(made_up)}" if made_up else ""


def _as_module(target: Target, failure: wire.Failure | None) -> str:
    """How a script is run that fails at an import relative to its package; '' where it does not."""
    if failure is None or failure.type != "ImportError" or target.module is not None or not failure.stack:
        return ""
    frame, script = failure.stack[0], target.script
    lines = target.read(script).decode("utf-8", "replace").splitlines() if Path(frame.file) == script else []
    if not "".join(lines[frame.line - 1 : frame.line]).lstrip().startswith("from ."):
        return ""
    folders = [script.parent, *itertools.takewhile(lambda one: (one / "__init__.py").exists(), script.parent.parents)]
    name = ".".join([*(one.name for one in reversed(folders)), script.stem])
    return f"the script is part of a package: run it as -m {name}, from the folder that holds the package"


def _fenced(target: Target, failure: wire.Failure | None) -> str:
    """Which file outside the project the fence kept from being written, and what to do; '' where it kept none."""
    said = _NOT_WRITTEN.search(failure.message) if failure is not None else None
    if said is None or int(said[1]) not in (errno.EROFS, errno.EACCES):
        return ""
    path = ((target.cwd or target.script.parent) / said[2]).resolve()
    there = next(one for one in (path, *path.parents) if os.access(one, os.F_OK))
    project = target.project.resolve()
    common = Path(os.path.commonpath([path, project]))
    if common == project or not os.access(there, os.W_OK):
        return ""  # nobody may write there, with or without a fence
    where = f"it writes to {path}, and the fence lets a run write only below its project, {project}"
    home = Path.home()
    own = (project / ".git").exists() or common in (home, *home.parents, Path(tempfile.gettempdir()))
    makes = "" if own else f"`git init {common}` makes that folder the project; or "
    return f"{where}: {makes}let it write below its project"


def _lying(project: Path, top: str) -> str:
    """Where a module that an import did not find lies in the project; '' where it does not."""
    for folder, folders, files in os.walk(project):
        for name in (top, f"{top}.py"):
            if name in (*folders, *files):
                return (Path(folder) / name).relative_to(project).as_posix()
        folders[:] = [name for name in folders if not name.startswith(".")]
    return ""


def exit_words(baseline: wire.Trace) -> str:
    """What ended a run; a program that gave up with a number has printed why, as argparse does."""
    printed = baseline.stderr.strip().splitlines()
    if printed and re.fullmatch(r"SystemExit: \d+", baseline.detail):
        return f"{baseline.detail}; the last that it printed: {printed[-1]}"
    return baseline.detail


def swallowed_words(baseline: wire.Trace) -> str:
    """The backward calls that failed in a run that went on all the same; '' where none did."""
    told = []
    for fact in baseline.silent:
        if fact.name == "swallowed" and fact.stack:
            count, _, error = fact.subject.partition(" ")
            times = "once" if count == "1" else f"{count} times"
            told.append(f"{Path(fact.stack[0].file).name}:{fact.stack[0].line} failed {times} with {error}")
    if not told:
        return ""
    return f"it ended without a failure, but {'; '.join(told)}; the script caught that: let it raise, and run fix again"


def _on_cpu(target: Target) -> Target:
    return replace(target, setup=replace(target.setup, device="cpu"))
