"""A whole file, played: as a script, then each function and class that this did not reach, given what nobody knows."""

from __future__ import annotations

import ast
import contextlib
import functools
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from autofix.check.abstract import nets
from autofix.check.abstract.machine import Machine
from autofix.check.abstract.player import FOREIGN, PlayOver
from autofix.check.abstract.tape import Event, Tape
from autofix.check.abstract.values import Ask, CallFrame, Class, Function, Instance, PlayPlace, contents
from autofix.syntax.source import SourceError, parse

_SCRIPT, _ALONE, _WHOLE = 3_000, 250, 4_000
"""Steps that the script may take, a function by itself, and all together."""
_MODULES = 12
_LARGEST = 200_000
_WORTH = re.compile(rb"backward\(|[ .(=]grad\(|requires_grad\s*=\s*True|requires_grad_\(")
_WRITES = re.compile(rb"[-+*/]=|\w_\(|inplace|\]\s*=[^=]")
_CALLED = re.compile(rb"(\w+)\s*\(")


def play(tree: ast.Module, path: str, data: bytes) -> tuple[list[Event], set[str]]:
    """Every failure that one way through the file surely meets, each statement's once; and the functions it calls."""
    called: set[str] = set()
    found: dict[tuple[str, ast.AST], Event] = {}
    for take in (True, False):
        program = _Program(tree, path, data, take=take)
        program.run()
        for event in program.tape.events:
            found.setdefault((event.kind, event.place.node), event)
        called |= {one.mark() for one in program.called.values()}
        if not program.hesitated or b"backward" not in data:
            break
    return [*found.values()], called


class _Program(Machine):
    """A machine with its files."""

    def __init__(self, tree: ast.Module, path: str, data: bytes, *, take: bool) -> None:
        super().__init__(Tape(), path, take=take, budget=_SCRIPT)
        self.tree, self.data = tree, data
        self.modules: dict[str, Instance | None] = {}

    def run(self) -> None:
        top = CallFrame(None, None, None, self.main)
        self.modules[str(Path(self.main).absolute())] = Instance(None, "module", top.names)
        self._entry(top, _SCRIPT, lambda: self.block(self.tree.body))
        left = _WHOLE - _SCRIPT + max(self.budget, 0)
        lines = self.data.splitlines(keepends=True)
        called = _called(self.data)
        waiting = [*_functions(top)]
        waiting.sort(key=lambda one: called[getattr(one[1].node, "name", "").encode()] > 1)
        objects: dict[Class, Instance] = {}
        for of, function in waiting:
            node = function.node
            text = b"".join(lines[node.lineno - 1 : node.end_lineno])
            if left > 0 and node not in self.played and _may_fail(of, text):
                self._entry(top, min(left, _ALONE), functools.partial(self._play_alone, of, function, objects))
                left -= min(left, _ALONE) - max(self.budget, 0)

    def _entry(self, top: CallFrame, budget: int, action: Callable[[], object]) -> None:
        """Play something from a clean state, as long as it may take."""
        tape = self.tape
        self.frame, self.budget, self.depth, self.capped = top, budget, 0, 0
        tape.grad, tape.switched, tape.conditions = True, None, frozenset()
        tape.passes.clear()
        tape.expected.clear()
        with contextlib.suppress(PlayOver, RecursionError):  # what was found so far stands
            action()

    def _play_alone(self, of: Class | None, function: Function, objects: dict[Class, Instance]) -> None:
        node = function.node
        if of is None or "staticmethod" in function.words:
            self.invoke(function, Ask([], {}, node))
            return
        if of not in objects:
            made = self.instantiate(of, Ask([], {}, of.node))
            if not isinstance(made, Instance):
                return
            objects[of] = made
        if node in self.played:
            return
        result = self.call_method(objects[of], getattr(node, "name", ""), Ask([], {}, node))
        if nets.is_module(objects[of]) and getattr(node, "name", "") == "forward":
            for tensor in contents(result):
                self.tape.backward(tensor, PlayPlace(self.frame, node), retain=True, pretend=True)

    def module(self, name: str, level: int, file: str) -> Instance | None:
        if not level and (name.partition(".")[0] in FOREIGN or not name):
            return None
        located = _located(file, name, level)
        if located is None:
            return None
        found = str(located)
        if found not in self.modules:
            self.modules[found] = None
            tree = _parsed(located) if len(self.modules) < _MODULES else None
            if tree is not None:
                self.modules[found] = self._played(found, tree)
        return self.modules[found]

    def _played(self, path: str, tree: ast.Module) -> Instance:
        outer, top = self.frame, CallFrame(None, None, None, path)
        made = self.modules[path] = Instance(None, "module", top.names)
        tape = self.tape
        before = tape.grad, tape.switched, tape.conditions, self.capped
        self.frame, tape.grad, tape.conditions, self.capped = top, True, frozenset(), 0
        try:
            self.block(tree.body)
        finally:
            self.frame = outer
            tape.grad, tape.switched, tape.conditions, self.capped = before
        return made


def _may_fail(of: Class | None, text: bytes) -> bool:
    """Whether it is worth while to play a function by itself: it goes backward, or writes as autograd may refuse."""
    forward = of is not None and of.is_module
    return _WORTH.search(text) is not None or (forward and _WRITES.search(text) is not None)


@functools.lru_cache(maxsize=1)
def _called(data: bytes) -> Counter[bytes]:
    return Counter(_CALLED.findall(data))


def _located(file: str, name: str, level: int) -> Path | None:
    """Where a module lies that is imported in a file: beside it, or below a folder above it."""
    folder = Path(file).absolute().parent
    for _ in range(max(level - 1, 0)):
        folder = folder.parent
    for _ in range(1 if level else 3):
        target = folder.joinpath(*name.split(".")) if name else folder
        for candidate in (target.parent / f"{target.name}.py", target / "__init__.py"):
            if candidate.is_file():
                return candidate
        folder = folder.parent
    return None


@functools.lru_cache(maxsize=64)
def _parsed(path: Path) -> ast.Module | None:
    try:
        return parse(path, path.read_bytes()) if path.stat().st_size <= _LARGEST else None
    except (OSError, SourceError):
        return None


def _functions(top: CallFrame) -> Iterator[tuple[Class | None, Function]]:
    for value in [*top.names.values()]:
        if isinstance(value, Function) and value.frame is top:
            yield None, value
        elif isinstance(value, Class) and value.frame is top:
            for inner in value.names.values():
                if isinstance(inner, Function):
                    yield value, inner
