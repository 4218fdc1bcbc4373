"""A part of a state begins anew in each pass, and the part that is cut goes on

## What it finds

The failing graph comes through an attribute (`self.speed`) that is made of another one of the same object, and that
one of it (`self.place`). A method puts the other back to a start (`self.place = self.start.clone()`), and leaves this
one as it is. The edit cuts the graph of this one between the passes, and keeps its value. This is read from the text,
and not said of what no method puts back, nor of a sum or a counter that the state is not made of.

## Why it matters

A simulation or a cache that is half put back goes on with what the pass before left in the other half. It is usually
meant to begin anew as a whole: then the graph ends there, too, and every pass is the same experiment.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

from autofix.probe import wire
from autofix.syntax.source import SourceError, parse
from autofix.verdict.property import Example, Property

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autofix.core.model import Finding
    from autofix.verdict.evidence import Evidence

SWING = """
import torch
from torch import nn


class Swing:
    def __init__(self):
        self.start = torch.ones(3)
        self.speed = torch.zeros(3)
        self.reset()

    def reset(self):
        self.place = RESET
        self.time = 0

    def move(self, stiffness):
        force = -stiffness * self.place
        self.speed = self.speed + 0.1 * force
        self.place = self.place + 0.1 * self.speed
        self.time += 1


torch.manual_seed(0)
stiffness = nn.Parameter(torch.tensor(1.0))
optimizer = torch.optim.SGD([stiffness], lr=0.1)
swing = Swing()
for _ in range(5):
    BEGIN
    for _ in range(4):
        swing.move(stiffness)
    loss = (swing.place + 1).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
CUT = ("    optimizer.step()\n", "    optimizer.step()\n    swing.speed = swing.speed.detach()\n")
HALF = SWING.replace("BEGIN", "swing.reset()").replace("RESET", "self.start.clone()")
NEVER = SWING.replace("BEGIN", "pass").replace("RESET", "self.start.clone()")
BOTH = ("    optimizer.step()\n", f"{CUT[1]}    swing.place = swing.place.detach()\n")
COUNTED = HALF.replace("self.place = self.start", "self.total = 0 * self.start").replace(
    "        self.time += 1", "        self.total = self.total + self.place.detach()\n        self.time += 1"
).replace("self.reset()", "self.place = self.start.clone()")  # fmt: skip
_STARTS = frozenset({"clone", "detach", "copy", "expand", "repeat", "to", "float", "new_zeros", "new_ones"})
"""Methods of tensors that give a start; others may give anything, as an environment does."""


class StateIsResetInPart(Property):
    name = "state-is-reset-in-part"
    runs = ("trace",)
    sentence = "{subject}; it may be meant to begin anew, too"
    raises = (Example(HALF, *CUT),)
    silent = (Example(NEVER, *BOTH), Example(COUNTED, *BOTH))

    def find(self, evidence: Evidence) -> Finding | None:
        if evidence.assessment.reading is None or not evidence.assessment.reading.truncated:
            return None
        carriers = (one for crossing in evidence.trace.crossings for one in crossing.carriers if one.kind == "tensor")
        for one in dict.fromkeys(carriers):
            path = Path(one.file)
            try:
                tree = parse(path, evidence.case.pool.target.read(path))
            except (SourceError, OSError):
                continue
            for kept, words in _half_reset(tree, one.path):
                place = wire.Frame(one.file, kept.lineno, 0, kept.lineno, 0, one.function)
                return self.found((place,), subject=words)
        return None


def _half_reset(tree: ast.Module, path: str) -> Iterator[tuple[ast.expr, str]]:
    """Where an attribute gets a new value beside one that some method puts back, with that in words."""
    for kind in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
        methods = {one.name: one for one in kind.body if isinstance(one, ast.FunctionDef) and one.args.args}
        again = [one for name, one in methods.items() if name != "__init__"]
        for method in again:
            own, _, kept = path.partition(".")
            values = _values(method)
            if own != method.args.args[0].arg or kept not in {name for name, _ in values}:
                continue
            made = {name: _made_of(methods, method, name) for name, _ in values}
            tied = {name for name in made if name != kept and name in made[kept] and kept in made[name]}
            for reset in again:
                back = [name for name, value in _values(reset) if name in tied and _is_a_start(value)]
                left = reset is not method and kept not in _set(reset) and not _calls(reset) & methods.keys()
                if back and left and _is_called(tree, methods.get("__init__"), reset.name):
                    where = next(value for name, value in values if name == kept)
                    yield where, f"`{reset.name}` puts {own}.{back[0]} back to its start, and leaves {path} as it is"


def _values(method: ast.FunctionDef) -> list[tuple[str, ast.expr]]:
    """The attributes of its object that a method binds, each with the new value."""
    return [
        (name, node.value)
        for node in ast.walk(method)
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and node.value is not None
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if (name := _own(method, target))
    ]


def _set(method: ast.FunctionDef) -> set[str]:
    """The attributes that a method binds, or says something to (`self.cache.clear()`)."""
    told = (n.func.value for n in ast.walk(method) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute))
    return {name for name, _ in _values(method)} | {_own(method, one) for one in told}


def _own(method: ast.FunctionDef, node: ast.AST) -> str:
    """The name of an attribute of the object that a method belongs to; '' of anything else."""
    mine = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    return node.attr if mine and node.value.id == method.args.args[0].arg else ""  # type: ignore[attr-defined]


def _made_of(methods: dict[str, ast.FunctionDef], method: ast.FunctionDef, name: str) -> set[str]:
    """The attributes that the new values of one are made of, through local names and methods that are called."""
    waiting, seen, found = [value for one, value in _values(method) if one == name], set[str](), set[str]()
    bound = [node for node in ast.walk(method) if isinstance(node, ast.Assign)]
    while waiting:
        for node in ast.walk(waiting.pop()):
            found.add(_own(method, node))
            if isinstance(node, ast.Name) and node.id not in seen:
                seen.add(node.id)
                waiting += [one.value for one in bound if node.id in map(ast.unparse, one.targets)]
    for called in found & methods.keys():
        found |= {_own(methods[called], node) for node in ast.walk(methods[called])}
    return found


def _is_a_start(value: ast.expr) -> bool:
    """Whether a value is read or made without asking anybody but torch."""
    calls = [node.func for node in ast.walk(value) if isinstance(node, ast.Call)]
    return all(
        isinstance(one, ast.Attribute)
        and (one.attr in _STARTS or (isinstance(one.value, ast.Name) and one.value.id in {"torch", "np", "numpy"}))
        for one in calls
    )


def _calls(node: ast.AST) -> set[str]:
    return {
        one.func.attr for one in ast.walk(node) if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute)
    }


def _is_called(tree: ast.Module, made: ast.FunctionDef | None, name: str) -> bool:
    """Whether a method is called elsewhere than where its object is made."""
    inside = set(ast.walk(made)) if made is not None else set()
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == name
        for node in ast.walk(tree)
        if node not in inside
    )
