"""The Python API: repair a script, judge an edit, check files, explain a rule. Runs happen in the script's interpreter.

Nothing here imports torch. Input that makes no sense raises ValueError, with one line that says what to do. Whatever a
run comes to is an `Answer`, also where the script cannot be run.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self, TypedDict, Unpack

from autofix import pipeline
from autofix.commands import check as command_check
from autofix.core import config
from autofix.core.config import Settings
from autofix.core.model import Outcome, Report, Target
from autofix.core.write import WriteRefused
from autofix.experiments.runner import Runner, Stop, Stopped
from autofix.render import Snapshot, answers, catalogue
from autofix.render.answers import Answer, Change, Culprit, Doubt, Failure, Finding, Findings, Fix, Suspicion
from autofix.search import registry
from autofix.target import targets
from autofix.target.offered import OfferError, patched, replaced, since

__all__ = [
    "Answer", "Change", "Culprit", "Doubt", "Failure", "Finding", "Findings", "Fix", "Options", "Session", "Stop",
    "Stopped", "Suspicion", "check", "explain", "fix", "verify",
]  # fmt: skip


Contents = Mapping[str, str] | Mapping[str, bytes] | Mapping[Path, str] | Mapping[Path, bytes]


class Options(TypedDict, total=False):
    """The options of a run, as those of the command line; what is not given is read from `[tool.autofix]`.

    `module`, `console` or `pytest` name what to run in place of a script. `cwd`: the folder it is run in. `root`: no
    file outside of it is edited (the repository). `time_limit` is in seconds; `memory_limit` and `output_limit` are
    bytes or texts such as 4G, 0 is the default of the machine. `progress` is told what begins. `stop.set()` from
    another thread ends the call: then it raises Stopped.
    """

    progress: Callable[[str], None]
    stop: Stop

    module: str
    console: str
    pytest: str
    cwd: str | Path
    root: str | Path
    python: str
    select: Sequence[str]
    ignore: Sequence[str]
    passes: int
    budget: float
    time_limit: float
    memory_limit: int | str
    output_limit: int | str
    process_limit: int
    network: bool
    isolation: str
    device: str
    stand_in: bool
    shorten: int
    skip_to: str
    reading: str


class Session:
    """Repairs and verdicts one after the other, on interpreters that stay warm: each after the first is faster.

    A context manager. Any thread may call it; calls wait for their turn.
    """

    def __init__(self) -> None:
        self._runner = Runner()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End every interpreter, after the call under way."""
        self._runner.close()

    def fix(
        self,
        script: str | Path = "",
        args: Sequence[str] = (),
        *,
        write: bool = False,
        unsafe_fixes: bool = False,
        **options: Unpack[Options],
    ) -> Answer:
        """See `autofix.fix`."""
        target, settings = _target(script, args, options)
        rules = registry.select(settings.select, settings.ignore)
        report = self._run(target, functools.partial(pipeline.fix, target, rules), options)
        snapshot = Snapshot(report, full=True)
        if write and report.outcome is Outcome.AVAILABLE:
            try:
                report = pipeline.apply(report, unsafe=unsafe_fixes)
            except WriteRefused as error:
                report = replace(report, message=f"nothing was written: {error}")
        return answers.answer(report, snapshot)

    def verify(
        self,
        script: str | Path = "",
        args: Sequence[str] = (),
        *,
        files: Contents | None = None,
        patch: str | bytes = "",
        against: str = "",
        **options: Unpack[Options],
    ) -> Answer:
        """See `autofix.verify`."""
        target, _ = _target(script, args, options)
        target, edited = _offer(target, files, patch, against)
        report = self._run(target, functools.partial(pipeline.verify, target, edited), options)
        return answers.answer(report, Snapshot(report, full=True))

    def _run(self, target: Target, work: Callable[..., Report], options: Options) -> Report:
        tell = options.get("progress") or _silent
        stop = options.get("stop") or Stop()
        report = self._runner.run(target, lambda probe: work(probe=probe, progress=tell), tell, stop)
        if report is None:
            raise Stopped("stopped")
        return targets.in_file(report)


def fix(
    script: str | Path = "",
    args: Sequence[str] = (),
    *,
    write: bool = False,
    unsafe_fixes: bool = False,
    **options: Unpack[Options],
) -> Answer:
    """Run a script that dies in autograd, and find edits that are proved to cure it.

    `write` applies the best safe one, with `unsafe_fixes` the best one; else nothing on disk is changed.
    """
    with Session() as session:
        return session.fix(script, args, write=write, unsafe_fixes=unsafe_fixes, **options)


def verify(
    script: str | Path = "",
    args: Sequence[str] = (),
    *,
    files: Contents | None = None,
    patch: str | bytes = "",
    against: str = "",
    **options: Unpack[Options],
) -> Answer:
    """Judge an edit of a failing script that somebody else made: does it keep the gradients that the code describes?

    The edit is one of: `files`, new contents by name; `patch`, a unified diff; `against`, a revision of the project's
    git repository such as HEAD: then the edit is what was changed on disk since. Nothing is written.
    """
    with Session() as session:
        return session.verify(script, args, files=files, patch=patch, against=against, **options)


def check(
    *paths: str | Path, select: Sequence[str] = (), ignore: Sequence[str] = (), exclude: Sequence[str] = ()
) -> Findings:
    """Look for suspicious sites in files or folders without running anything; what is found is not verified."""
    given = {"select": list(select), "ignore": list(ignore), "exclude": list(exclude), "baseline": None}
    return answers.findings(command_check.found([os.fspath(path) for path in paths] or ["."], given))


def explain(code: str) -> str:
    """The page about what a report names, by its code (AG201) or name, as Markdown. Raises ValueError for others."""
    return catalogue.explained(code)


def _target(script: str | Path, args: Sequence[str], options: Options) -> tuple[Target, Settings]:
    if unknown := options.keys() - Options.__annotations__.keys():
        raise ValueError(f"there is no option {min(unknown)}; there are {', '.join(Options.__annotations__)}")
    given: dict[str, Any] = dict(options)
    cwd, bound = (Path(given.pop(name, "") or ".").resolve() for name in ("cwd", "root"))
    module, console, node = (given.pop(name, "") or None for name in ("module", "console", "pytest"))
    words = [*([os.fspath(script)] if script else []), *args]
    settings = config.settings(given, targets.folder(words, module or console or node, cwd))
    target = targets.target(words, module, settings, configured=settings.run, console=console, node=node, cwd=cwd)
    if options.get("root") and target.root is not None and bound.is_relative_to(target.root):
        target = replace(target, root=bound)
    return target, settings


def _offer(
    target: Target, files: Contents | None, patch: str | bytes, against: str
) -> tuple[Target, dict[Path, bytes]]:  # fmt: skip
    if [bool(files), bool(patch), bool(against)].count(True) != 1:
        raise OfferError("give the edit to judge, in one way: files, patch or against")
    if against:
        return since(target, against)
    if patch:
        edited = patched(target, _bytes(patch))
    else:
        edited = replaced(target, {os.fspath(name): _bytes(text) for name, text in (files or {}).items()})
    return target, targets.offered_in_cells(target, edited)


def _bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


def _silent(_: str) -> None:
    """Where nobody wants to hear of progress."""
