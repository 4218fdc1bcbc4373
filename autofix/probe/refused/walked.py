"""Lists and dicts that a loop walks through while it writes to the leaves that they hold: an inner step."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from ..engine import caller
from ..program.expressions import parsed, value


class Walked:
    """Finds, for a write that is under way, the containers of its leaf that the loops around it walk through.

    `for w, g in zip(fast, grads): w -= lr * g` as an operation: what `fast` holds goes on as the result. Whoever has
    the leaf by another name, or in a list of which this is a copy, has it as it was.
    """

    def __init__(self, read: Callable[[str], bytes]) -> None:
        self._read = read

    def holding(self, func: Any, leaf: Any) -> list[Any]:
        """The lists and dicts in question that hold a leaf."""
        frame = caller.frame(func)
        tree = parsed(self._read(frame.f_code.co_filename)) if frame is not None else None
        if frame is None or tree is None:
            return []
        found = (value(one, frame) for one in _walked_through(tree, frame.f_lineno))
        return [
            one for one in found if type(one) in (list, dict) and any(held is leaf for held in _items(one).values())
        ]


def put(containers: list[Any], leaf: Any, result: Any) -> None:
    """Let these containers hold the result in place of the leaf."""
    for one in containers:
        for key in [key for key, held in _items(one).items() if held is leaf]:
            one[key] = result


def _items(container: Any) -> dict[Any, Any]:
    return container if isinstance(container, dict) else dict(enumerate(container))


def _walked_through(tree: ast.Module, line: int) -> Iterator[ast.expr]:
    """What the loops around a line walk through: `fast` of `fast`, `zip(fast, grads)`, `fast.items()`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.For) and node.body[0].lineno <= line <= (node.end_lineno or line):
            match node.iter:
                case ast.Call(func=ast.Name(), args=given):
                    yield from given
                case ast.Call(func=ast.Attribute(value=held)) | held:
                    yield held
