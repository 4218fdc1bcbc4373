"""Data that a loop walks through, and that it writes in place: the next walk begins with what this one left."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from autofix.syntax import blocks, calls, names, writes
from autofix.syntax.source import Source
from autofix.syntax.vocabulary import DERIVES

_HELD = frozenset({"split", "chunk", "unbind", "tensor_split"})
"""What gives parts of a tensor that share its memory."""


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A write (`node`) to `name`, which is a part of `held` that the loop takes in this turn."""

    node: ast.AST
    name: str
    held: str


def rewritten(source: Source) -> Iterator[Rewritten]:
    """The writes to data that a loop walks through and trains on, where another loop walks through the same again.

    Each makes the new values of nothing but the old ones, numbers, draws and what stands ready before: a batch that is
    scaled, masked or made noisy. What is computed of other data, of a gradient or by a network is a state instead,
    which is written on purpose.
    """
    for loop in (node for node in source.walk() if isinstance(node, ast.For)):
        outer = list(blocks.loops(source, loop))
        if outer and DERIVES & {calls.name_of(one) for one in calls.within(loop)}:
            walk, found = _Walk(source, loop, outer[-1]), dict[str, list[ast.AST]]()
            for node in ast.walk(loop):
                if isinstance(node, ast.AugAssign | ast.Call | ast.Subscript) and (name := _written(source, node)):
                    found.setdefault(name, []).append(node)
            for name, nodes in found.items():
                if (held := walk.holder(name)) and all(map(walk.is_of_itself, nodes)):
                    yield Rewritten(nodes[0], name, held)


def walked(source: Source, name: str) -> str:
    """What a loop that trains walks through, a part by that name in each turn, and another loop again; or ''."""
    for loop in (node for node in source.walk() if isinstance(node, ast.For)):
        outer = list(blocks.loops(source, loop))
        trains = outer and DERIVES & {calls.name_of(one) for one in calls.within(loop)}
        if trains and (held := _Walk(source, loop, outer[-1]).holder(name)):
            return held
    return ""


def _written(source: Source, node: ast.AST) -> str:
    """The variable whose tensor a write changes, if it does so past autograd, too."""
    return writes.written(source, node).removesuffix(".data")


@dataclass(frozen=True, slots=True)
class _Walk:
    """A loop through data within an outer one."""

    source: Source
    loop: ast.For
    outer: ast.For | ast.While

    def holder(self, name: str) -> str:
        """The variable made before both loops that holds what `name` is in each turn, a part of it; '' for others."""
        turn, values = names.binds(self.loop.target), self._bound(name)
        if name in turn and not values:
            return next((held for one in self._walked() if (held := self._held(one))), "")
        match values:
            case [ast.Subscript(value=ast.Name(id=held), slice=index)]:
                first = index.elts[0] if isinstance(index, ast.Tuple) and index.elts else index
                counted = isinstance(self.loop.iter, ast.Call) and calls.name_of(self.loop.iter) in {
                    "range",
                    "enumerate",
                }
                is_view = isinstance(first, ast.Slice) or (isinstance(first, ast.Name) and counted)
                moves = turn & {one.id for one in ast.walk(first) if isinstance(one, ast.Name)}
                return held if is_view and moves and not self._is_made(held) else ""
        return ""

    def is_of_itself(self, node: ast.AST) -> bool:
        """Whether a write makes the new values of the old ones, and of nothing that a turn computes otherwise."""
        match node:
            case ast.AugAssign(target=target, value=value):
                parts: list[ast.AST] = [target, value]
            case ast.Call(args=args, keywords=keywords):
                parts = [*args, *(one.value for one in keywords)]
            case ast.Subscript(slice=index):
                parts = [index]
                if isinstance(given := self.source.statement(node), ast.Assign):
                    parts.append(given.value)
            case _:
                return False
        name = _written(self.source, node)
        return all(self._is_plain(one, name, frozenset()) for one in parts)

    def _is_plain(self, value: ast.AST, name: str, seen: frozenset[str]) -> bool:
        fresh = names.binds(self.loop)
        for node in ast.walk(value):
            if isinstance(node, ast.Attribute) and node.attr == "grad":
                return False
            if isinstance(node, ast.Name) and node.id in fresh and node.id != name and node.id not in seen:
                made = self._bound(node.id)
                if not made or not all(self._is_plain(one, name, seen | {node.id}) for one in made):
                    return False
            if isinstance(node, ast.Call) and not self._is_known(node, name, fresh):
                return False
        return True

    def _is_known(self, call: ast.Call, name: str, fresh: set[str]) -> bool:
        """Whether a call is of torch or numpy, or a method of a tensor: of the data, or of what it is not given."""
        if calls.known(self.source, call.func, ("torch", "numpy", "random", "math")):
            return calls.name_of(call) not in DERIVES
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        if owner is None:
            return calls.name_of(call) in {"len", "float", "int", "range", "min", "max", "abs"}
        given = {one.id for part in call.args for one in ast.walk(part) if isinstance(one, ast.Name)}
        return writes.root(owner) in {name, *fresh, ""} or not given & {name, *fresh}

    def _walked(self) -> list[ast.expr]:
        """What the loop goes through: side by side, where it is zipped."""
        found, walked = [self.loop.iter], list[ast.expr]()
        for one in found:
            if isinstance(one, ast.Call) and calls.name_of(one) in {"zip", "enumerate"}:
                found += one.args
            else:
                walked.append(one)
        return walked

    def _held(self, walked: ast.expr) -> str:
        """The variable that holds the same tensors in each walk; '' where each makes new ones, as a loader does."""
        if isinstance(walked, ast.Call) and isinstance(walked.func, ast.Attribute) and walked.func.attr in _HELD:
            held = calls.path_of(walked.func.value)
            return held if held and not self._is_made(held) else ""
        path = calls.path_of(walked)
        given = (
            [value for one in names.assignments(self.source, path) for value in names.given_to(one, path)]
            if path
            else []
        )
        kept = [isinstance(one, ast.List | ast.ListComp | ast.Tuple) or calls.name_of(one) in _HELD for one in given]
        return path if kept and all(kept) and not self._is_made(path) else ""

    def _bound(self, name: str) -> list[ast.expr]:
        """What a turn gives a variable."""
        return [
            value
            for one in ast.walk(self.loop)
            if isinstance(one, ast.Assign | ast.AnnAssign)
            for part, value in names.paired(one)
            if name in names.binds(part) and not isinstance(part, ast.Subscript)
        ]

    def _is_made(self, name: str) -> bool:
        """Whether the outer loop gives a variable another value."""
        return any(name in names.binds(one) for one in ast.walk(self.outer) if isinstance(one, ast.Assign | ast.For))
