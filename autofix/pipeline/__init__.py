"""The street from a target to a report: run, trace, diagnose, propose, judge."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from autofix.core.model import Applicability, Fix, Outcome, Report, Target
from autofix.core.write import write
from autofix.experiments.client import Probe, ProbeError
from autofix.experiments.reproduce import wants_gpu
from autofix.experiments.warm import start
from autofix.pipeline import first
from autofix.pipeline.auditing import looked_at
from autofix.pipeline.judging import judged
from autofix.pipeline.repairing import repaired
from autofix.search.rule import Rule


def fix(
    target: Target,
    rules: Sequence[Rule],
    *,
    probe: Probe | None = None,
    progress: Callable[[str], None] = print,
    found: Callable[[Fix], None] = lambda _fix: None,
) -> Report:
    """Reproduce the target's failure and find verified edits. Writes nothing; raises nothing but bugs.

    `found` is told of the first safe edit as soon as it is known.
    """

    def work(running: Probe) -> Report:
        return _wherever(target, lambda there: repaired(running, there, rules, progress, found))

    return _on_probe(target, probe, work)


def verify(
    target: Target,
    files: Mapping[Path, bytes],
    *,
    ours: bool = False,
    probe: Probe | None = None,
    progress: Callable[[str], None] = print,
) -> Report:
    """Judge an edit that somebody else made: `files` are new contents of files of the target's project.

    `ours`: they hold edits of our own rules, each proved already, some of them for other programs of the project.
    """
    if missing := next((path for path in files if not path.exists()), None):
        return Report(
            target, Outcome.CANNOT_RUN, message=f"{missing} is not a file of the project; verify judges edits"
        )
    changed = {path: data for path, data in files.items() if target.read(path) != data}

    def work(running: Probe) -> Report:
        return _wherever(target, lambda there: judged(running, there, changed, progress, offered=not ours))

    return _on_probe(target, probe, work)


def audit(
    target: Target, *, ignored: Sequence[str] = (), mend: bool = False, probe: Probe | None = None,
    progress: Callable[[str], None] = print,
) -> Report:  # fmt: skip
    """Run a target that does not crash, and say what goes wrong in its training. Writes nothing.

    The outcome is clean where the run could be looked at; what it showed are `suspicions` and `books`. `ignored` are
    codes, starts of codes or names of what nobody wants to hear of. `mend`: the edits that are proved to mend faults
    are looked for, and are together the one fix.
    """

    def work(running: Probe) -> Report:
        return looked_at(running, target, ignored, progress, mend=mend)

    return _on_probe(target, probe, work)


def apply(report: Report, *, unsafe: bool, index: int | None = None) -> Report:
    """Write the best fix (or the `index`-th) to disk; nothing where only unsafe ones exist and `unsafe` is not given.

    Raises write.WriteRefused, with nothing changed, when a file cannot or may not be written.
    """
    wanted = range(len(report.fixes)) if index is None else (index,)
    allowed = [n for n in wanted if unsafe or report.fixes[n].verdict.applicability is Applicability.SAFE]
    if not allowed:
        return report
    chosen = report.fixes[allowed[0]]
    files = {path: (chosen.originals[path], new) for path, new in chosen.candidate.files.items()}
    write(files, report.target.project)
    return replace(report, outcome=Outcome.FIXED, applied=allowed[0])


def _on_probe(target: Target, probe: Probe | None, work: Callable[[Probe], Report]) -> Report:
    """What work comes to on this probe, else on one of its own; with the seconds that all of it took."""
    began = time.monotonic()
    try:
        with contextlib.nullcontext(probe) if probe is not None else start(target) as running:
            report = work(running)
    except first.Broken as error:
        return Report(target, Outcome.INSTRUMENT_FAILED, message=str(error))
    except ProbeError as error:
        return Report(target, Outcome.CANNOT_RUN, message=str(error))
    return replace(report, timings=report.timings | {"total": time.monotonic() - began})


def _wherever(target: Target, work: Callable[[Target], Report]) -> Report:
    """What work comes to; on the CPU where the script fails before it asks for a GPU in vain, as an edited one does."""
    report = work(target)
    verdicts = [fix.verdict for fix in (*report.fixes, *report.rejected)]
    safe = any(one.applicability is Applicability.SAFE for one in verdicts)
    said = [text for one in verdicts for text in (one.detail, one.failure.message if one.failure is not None else "")]
    if target.device != "auto" or report.target.setup.device == "cpu" or safe or not any(map(wants_gpu, said)):
        return report
    again = work(replace(target, device="cpu"))
    return again if again.diagnosis is not None else report
