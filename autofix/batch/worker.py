"""A worker: reads jobs from standard input, runs them with warm probes, writes one event a line.

It ends, with all that it started, when its input ends: a supervisor that is killed leaves nothing behind.
"""

from __future__ import annotations

import contextlib
import os
import queue
import shlex
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from autofix import pipeline
from autofix.batch import discover, outcome, patches, ways, worktree
from autofix.batch.records import Entry, Event, Found, Job, Repository, Result, Terms, target_key
from autofix.core.model import Outcome, Report, Target
from autofix.experiments.client import Probe, ProbeError
from autofix.experiments.warm import Warm
from autofix.probe import codec
from autofix.search import registry
from autofix.target import interpreter, targets

Work = Callable[[Target, Probe], Report]

_PROBES = 3
_REASON = 120
"""Characters of why another command line did not help."""
_STRONG = ("overlay", "landlock")


def work(job: Job, warm: Warm[Probe]) -> Iterator[Event]:
    """Do one job; every outcome is an event, also that nothing can be done."""
    repository = job.repository
    try:
        looked = worktree.look(repository)
    except worktree.Unusable as error:
        yield Event("found", Found(repository.key(""), problem=str(error)))
        return
    key = repository.key(looked.stamp)
    if job.together and key != job.key:
        yield Event("joined", apart={one.command: "the repository has changed meanwhile" for one in job.together})
        return
    if key == job.settled and not job.only:
        yield Event("settled")
        return
    try:
        with worktree.copied(repository, looked) as copy:
            try:
                yield from _in_copy(job, copy, key, looked.revision, warm)
            finally:
                warm.leave(copy)
    except worktree.Unusable as error:
        yield Event("found", Found(key, looked.revision, problem=str(error)))


def _in_copy(job: Job, copy: Path, key: str, revision: str, warm: Warm[Probe]) -> Iterator[Event]:
    options = job.repository.options
    if options.setup:
        _set_up(options, copy)
    if job.together:
        yield Event("joined", apart=_apart(job, copy, warm))
        return
    lines = discover.commands(copy, options.commands, pytest=options.pytest)
    entries = tuple(Entry(line, target_key(key, line)) for line in lines)
    if not job.only:
        yield Event("found", Found(key, revision, entries, "" if entries else "nothing here to run"))
    guessed = not (options.commands or discover.named(copy))
    wanted = [e for e in entries if (e.command in job.only if job.only else e.key not in job.known)]
    # What a setup command made is not made again for the sake of sharing the work out.
    most = len(wanted) if options.setup else job.most
    for entry in wanted[:most]:
        yield Event("began", command=entry.command)
        yield Event("result", command=entry.command, result=_result(entry, copy, job.repository, warm, guessed))
    yield Event("ended", rest=tuple(entry.command for entry in wanted[most:]))


def _set_up(options: Terms, copy: Path) -> None:
    """Run the operator's own command, in the copy and outside of any fence; raises worktree.Unusable."""
    process = subprocess.Popen(
        ["/bin/sh", "-c", options.setup], cwd=copy, env=os.environ | options.environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    try:
        _, said = process.communicate(timeout=options.setup_limit)
    except subprocess.TimeoutExpired:
        raise worktree.Unusable(f"its setup took more than {options.setup_limit:g} s") from None
    finally:
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if process.returncode:
        lines = said.decode("utf-8", "replace").strip().splitlines()
        raise worktree.Unusable(f"its setup ended with status {process.returncode}{': ' + lines[-1] if lines else ''}")


def _result(entry: Entry, copy: Path, repository: Repository, warm: Warm[Probe], guessed: bool) -> Result:
    """What became of one target; one whose command line is a guess is also tried in the ways its repository names."""
    try:
        report = _report(entry.command, copy, repository.options, warm)
        words = shlex.split(entry.command)
        ran, tried = "", []
        if guessed and len(words) == 1 and _idle(report):
            for way in ways.others(copy, words[0], usage=_wants_words(report)):
                other = _other(way.line, copy, repository.options, warm)
                if other is not None and (other.calls or other.diagnosis is not None):
                    ran, report = way.line, other
                    break
                said = "it names nothing here" if other is None else outcome.result(entry, other, copy).message
                tried.append(f"{way.line} ({way.why}): {textwrap.shorten(said, _REASON, placeholder=' …')}")
        return replace(outcome.result(entry, report, copy), ran=ran, tried=tuple(tried))
    except (targets.TargetError, interpreter.InterpreterError, ValueError) as error:
        return Result(entry.command, entry.key, str(Outcome.CANNOT_RUN), message=outcome.Words(copy)(str(error)))
    except Exception as error:
        if os.environ.get("AUTOFIX_TRACEBACK"):
            raise
        warm.close()
        said = f"this is a fault of autofix, please report it: {type(error).__name__}: {error}"
        return Result(entry.command, entry.key, str(Outcome.CRASHED), message=outcome.Words(copy)(said))


def _report(line: str, copy: Path, options: Terms, warm: Warm[Probe]) -> Report:
    return targets.in_file(_fix(_target(line, copy, options), options, warm))


def _other(line: str, copy: Path, options: Terms, warm: Warm[Probe]) -> Report | None:
    """The report of a line that somebody else wrote, which may well be none."""
    try:
        return _report(line, copy, options, warm)
    except (targets.TargetError, ValueError):
        return None


def _idle(report: Report) -> bool:
    """Whether a run ended by itself, and never came to train."""
    return report.outcome in (Outcome.OTHER_FAILURE, Outcome.CLEAN) and not report.calls


def _wants_words(report: Report) -> bool:
    """Whether a program ended as those do that want other arguments."""
    return report.outcome is Outcome.OTHER_FAILURE and report.message.startswith("SystemExit: 2")


def _apart(job: Job, copy: Path, warm: Warm[Probe]) -> dict[str, str]:
    """Which fixes cannot be made together with those before them: a target is no longer proved, and which."""
    options = job.repository.options
    apart: dict[str, str] = {}
    kept: list[Result] = []
    after: dict[str, bytes] = {}
    for result in job.together:
        joined = patches.join([*kept, result], unsafe=False)
        if kept and joined.after != after and result.command not in joined.apart:
            files = {copy / name: data for name, data in joined.after.items()}
            for one in (*kept, result):
                outcome_then = _verify(_target(one.typed, copy, options), files, options, warm).outcome
                if outcome_then is not Outcome.SAFE:
                    apart[result.command] = f"with the other fixes of this repository, {one.command} is {outcome_then}"
                    break
        if result.command not in {**apart, **joined.apart}:
            kept.append(result)
            after = joined.after
    return apart


def _target(line: str, copy: Path, options: Terms) -> Target:
    """What a command line means, typed in the copy."""
    here = replace(options, python=_python(options.python, copy))
    words = shlex.split(line)
    folder = copy
    if words[:1] == ["cd"] and words[2:3] == ["&&"]:
        folder, words = (copy / words[1]).resolve(), words[3:]
    if not (folder.is_dir() and folder.is_relative_to(copy)):
        raise targets.TargetError(f"{line}: there is no such folder in the repository")
    with contextlib.chdir(folder):
        found = targets.target(words[2:], words[1], here) if _is_module(words) else targets.target(words, None, here)
    if found.setup.entry != "console" and not found.script.resolve().is_relative_to(copy):
        raise targets.TargetError(f"{line}: this does not lie in the repository")
    return replace(found, root=copy, setup=replace(found.setup, rounds=options.rounds))


def _is_module(words: Sequence[str]) -> bool:
    return len(words) > 1 and words[0] == "-m"


def _python(given: str, copy: Path) -> str:
    """An interpreter; one that is not named from the root is what the setup made in the copy."""
    return str(copy / given) if "/" in given and not given.startswith("/") else given


def _fix(target: Target, options: Terms, warm: Warm[Probe]) -> Report:
    rules = registry.select(options.select, options.ignore)
    return _fenced(target, options, warm, lambda one, probe: pipeline.fix(one, rules, probe=probe, progress=_unheard))


def _verify(target: Target, files: dict[Path, bytes], options: Terms, warm: Warm[Probe]) -> Report:
    offered = targets.offered_in_cells(target, files)
    return _fenced(
        target, options, warm,
        lambda one, probe: pipeline.verify(one, offered, ours=True, probe=probe, progress=_unheard),
    )  # fmt: skip


def _unheard(_text: str) -> None:
    """The driver tells what is going on."""


def _fenced(target: Target, options: Terms, warm: Warm[Probe], work: Work) -> Report:
    """The normal pipeline behind the best fence there is: the weak ones only where they were asked for by name."""
    if options.isolation != "auto":
        return _with_probe(target, options, warm, work)
    report = Report(target, Outcome.CANNOT_RUN)
    reasons = []
    for rung in _STRONG:
        report = _with_probe(replace(target, isolation=rung), options, warm, work)
        if report.outcome is not Outcome.CANNOT_RUN or not report.message.startswith("isolation "):
            return report
        reasons.append(report.message)
    said = f"no fence holds here ({'; '.join(reasons)}); --isolation copy runs it without one"
    return replace(report, message=said)


def _with_probe(target: Target, options: Terms, warm: Warm[Probe], work: Work) -> Report:
    """Work with a warm probe; one that the target before this one has worn out is replaced, once."""
    report = Report(target, Outcome.CANNOT_RUN)
    for _ in range(2):
        try:
            report = work(target, warm.probe(target, options.environment))
        except ProbeError as error:
            report = Report(target, Outcome.CANNOT_RUN, message=str(error))
        except codec.WireError as error:
            report = Report(target, Outcome.CANNOT_RUN, message=f"the interpreter gave no sound answer ({error})")
        if report.outcome is not Outcome.CANNOT_RUN or report.message.startswith("isolation "):
            return report
        warm.drop(target, options.environment)
    return report


def main() -> None:
    """Serve the jobs that come in, one after the other."""
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started this decides
    jobs: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(jobs,), daemon=True).start()
    worktree.sweep()
    warm = Warm(Probe, most=_PROBES)
    while True:
        job = codec.load(Job, jobs.get())
        for event in work(job, warm):
            answers.write(codec.dump(event))
        answers.write(codec.dump(Event("done")))


def _listen(jobs: queue.SimpleQueue[bytes]) -> None:
    for line in sys.stdin.buffer:
        jobs.put(line)
    os._exit(0)


if __name__ == "__main__":
    main()
