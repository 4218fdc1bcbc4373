"""The IPython extension: below a cell that dies in autograd, what would cure it.

The cells that ran before and the one that failed run again in a probe, as one program in the order of their
execution; nothing is changed but what the person takes over.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from autofix import pipeline, render
from autofix.core.model import Crash, Fix, Outcome, Report, Target
from autofix.probe.wire import Setup
from autofix.search import registry
from autofix.target import targets
from autofix.target.cells import Cell, changed, text

_NAME = "session.ipynb"


class Watcher:
    """Keeps what was run in a session, and looks for a fix when a cell fails."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._cells: list[Cell] = []

    def after(self, result: Any) -> None:
        """A cell has ended: keep it, or look for what would cure it."""
        source = result.info.raw_cell or ""
        cell = Cell(result.execution_count or len(self._cells) + 1, source)
        error = result.error_in_exec
        if error is None:
            if result.error_before_exec is None and "autofix" not in source.split("\n", 1)[0]:
                self._cells.append(cell)
        elif _in_torch(error):
            self._offer([*self._cells, cell])

    def _offer(self, cells: list[Cell]) -> None:
        report = repaired(cells, Path.cwd())
        if report.outcome not in (Outcome.AVAILABLE, Outcome.UNFIXED):
            sys.stdout.write(f"autofix: {render.sentence(report)}\n")
            return
        render.show(report, render.Snapshot(report), render.Look(command=None), sys.stdout)
        if report.fixes and (source := in_last(report.fixes[0], cells)) is not None:
            sys.stdout.write("The cell with this fix is the next input.\n")
            self._shell.set_next_input(source)


def repaired(cells: list[Cell], folder: Path) -> Report:
    """The report on cells run one after another in `folder`."""
    script = folder / _NAME
    target = Target(
        script, cwd=folder, root=folder, python=Path(sys.executable), setup=Setup(entry="cells"),
        buffers={script: text(cells)},
    )  # fmt: skip
    report = pipeline.fix(target, registry.rules(), progress=lambda _: None)
    return targets.with_cells(report, cells)


def in_last(fix: Fix, cells: list[Cell]) -> str | None:
    """The new source of the cell that failed, where the fix changes that and no other."""
    ((_, data), *others) = fix.candidate.files.items()
    sources = changed(cells, data) if not others else {}
    return sources.get(len(cells) - 1) if len(sources) == 1 else None


def _in_torch(error: BaseException) -> bool:
    """Whether torch is loaded at all, and the failure may be one that autograd makes."""
    return "torch" in sys.modules and Crash.of(error).may_be_autograd


def load(shell: Any) -> None:
    """Watch a shell from now on; what it has run already counts."""
    watcher = Watcher(shell)
    history = [source for source in shell.user_ns.get("In", [])[1:-1] if source.strip()]
    watcher._cells = [Cell(number, source) for number, source in enumerate(history, 1)]  # noqa: SLF001
    shell.events.register("post_run_cell", watcher.after)
    shell.autofix = watcher


def unload(shell: Any) -> None:
    """Watch it no more."""
    shell.events.unregister("post_run_cell", shell.autofix.after)
