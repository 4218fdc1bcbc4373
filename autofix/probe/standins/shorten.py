"""What ends early, where that was asked for: loops, steps that run their closure over and over, a whole first run.

A loop in training ends after some iterations, one over data after some batches. It counts as training once a backward
ran in one of its iterations; other loops (over layers, time steps, files) are part of what is computed and stay whole.
"""

from __future__ import annotations

import ast
import builtins
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch

from ..engine.taps import Listener, Taps
from ..instruments.state import State

SHORT = "__autofix_short__"
GOES_ON = "__autofix_goes_on__"
_EVALUATIONS = 5 / 4
"""Of a closure, by iteration: what L-BFGS allows itself where nothing else is said."""
_LEAST = 5.0
"""Seconds that a run may train in any case: what takes no time is not worth ending."""


class Shorten(ast.NodeTransformer):
    """Puts a counting iterator around what `for` loops iterate over, and a counting test into `while` loops."""

    def __init__(self, run: State, note: Callable[[str], None]) -> None:
        self._run, self._note = run, note
        setup = run.request.setup
        self._most = setup.shorten
        self._skip = os.path.join(run.request.root, setup.skip_file), setup.skip_line
        self._path = ""

    def install(self) -> None:
        """Have the run's sources changed in this way as they are loaded."""
        setattr(builtins, SHORT, self._shortened)
        setattr(builtins, GOES_ON, self._goes_on)
        self._run.overlay.change(self._run.frames.owned, self._changed)

    def _changed(self, tree: ast.Module, path: str) -> ast.Module:
        self._path = path
        return ast.fix_missing_locations(self.visit(tree))

    # The code -------------------------------------------------------------------------------------------------------

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        most = self._limit(node)
        if most:
            place = ast.Constant(self._place(node))
            call = ast.Call(ast.Name(SHORT, ast.Load()), [node.iter, ast.Constant(most), place], [])
            node.iter = ast.copy_location(call, node.iter)
        return node

    def visit_While(self, node: ast.While) -> ast.AST:
        self.generic_visit(node)
        most = self._limit(node)
        if most:
            key = ast.Constant(self._place(node))
            call = ast.Call(ast.Name(GOES_ON, ast.Load()), [key, ast.Constant(most)], [])
            node.test = ast.copy_location(ast.BoolOp(ast.And(), [node.test, call]), node.test)
        return node

    def _place(self, node: ast.For | ast.While) -> str:
        """Where a loop stands, by its line in the file on disk, so that a loop of an edit has the place that it had."""
        lines = self._run.request.lines.get(os.path.realpath(self._path), ())
        line = lines[node.lineno - 1] if node.lineno <= len(lines) else node.lineno
        return f"{os.path.basename(self._path)}:{line}"

    def _limit(self, node: ast.For | ast.While) -> int:
        """The iterations that a loop may train for; 0: as many as it wants."""
        path, line = self._skip
        if line and os.path.realpath(path) == os.path.realpath(self._path):
            return 1 if (node.end_lineno or node.lineno) < line else 0
        return self._most

    # The loops ------------------------------------------------------------------------------------------------------

    def _shortened(self, values: Any, most: int, place: str) -> Any:
        data = isinstance(values, torch.utils.data.DataLoader)
        return values if isinstance(values, (dict, str)) else self._counted(values, most, place, data)

    def _counted(self, values: Any, most: int, place: str, data: bool) -> Iterator[Any]:
        trained = 0
        before = self._run.taps.calls
        for value in values:
            yield value
            trained += data or self._run.taps.calls > before
            before = self._run.taps.calls
            if trained >= most:
                self._tell(place, most)
                return

    def _goes_on(self, key: str, most: int) -> bool:
        calls = self._run.taps.calls
        trained, before = self._turns.get(key, (0, calls))
        trained += calls > before
        self._turns[key] = trained, calls
        if trained < most:
            return True
        del self._turns[key]  # entered again, it counts again
        self._tell(key, most)
        return False

    _turns: dict[str, tuple[int, int]] = {}  # noqa: RUF012  one run a process

    def _tell(self, place: str, most: int) -> None:
        self._note(f"the loop at {place} was ended after {most} iteration{'s' if most != 1 else ''}")


class Closures(Listener):
    """Holds an optimizer such as L-BFGS with `max_iter=50000`, whose first step is the whole training, to `most`."""

    def __init__(self, most: int, note: Callable[[str], None]) -> None:
        self._most, self._note = most, note

    def optimizer_made(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        for group in optimizer.param_groups:
            if group.get("max_iter", 0) > self._most:
                name = type(optimizer).__name__
                self._note(f"each step of {name} was ended after {self._most} of its {group['max_iter']} iterations")
                group["max_iter"] = self._most
                group["max_eval"] = min(group.get("max_eval") or 0, int(self._most * _EVALUATIONS))


class Rounds(Listener):
    """Ends the run when each optimizer that steps has made `most` steps, and the first of them was some seconds ago."""

    def __init__(self, most: int, taps: Taps, end: Callable[[str], None]) -> None:
        self._most, self._taps, self._end = most, taps, end
        self._began = 0.0

    def step_done(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self._began = self._began or time.monotonic()
        made = [count for count in self._taps.counts if count]
        if min(made) >= self._most and time.monotonic() - self._began >= _LEAST:
            calls, steps = self._taps.calls, sum(made)
            seen = f"it made {calls} backward calls and {steps} optimizer steps without a failure"
            self._end(f"{seen}, and was ended there: --rounds 0 waits for its end")
