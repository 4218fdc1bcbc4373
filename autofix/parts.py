"""Takes an edit apart: the same edit without one of its parts, for each part that can be left out."""

from __future__ import annotations

import ast
import copy
import difflib
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

MOST = 16
"""How many parts of an edit are tried; of a larger one it cannot be said what each part is for."""
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases", "decorator_list")
_COPIES = {"clone", "contiguous"}
_GRAPH_CALLS = {"detach", "detach_", "item", "requires_grad_", "retain_grad"}
_GRAPH_WORDS = {"retain_graph", "create_graph", "requires_grad", "inplace"}
_GRAD_MODES = {"no_grad", "enable_grad", "set_grad_enabled", "inference_mode"}
_ALIKE = 0.5


@dataclass(frozen=True, slots=True)
class Part:
    """One part of an edit."""

    path: Path
    words: str
    """What it does, as a person says it."""
    graph_only: bool
    """Whether it changes only what autograd records, and no value that is computed."""
    without: bytes
    """The file's new text with this part left out."""


@dataclass(slots=True, eq=False)
class _Item:
    """A statement, or the head of a compound one: lines `start` to `stop`, all of it to `end`."""

    node: ast.stmt
    exact: tuple[Any, ...]
    bare: tuple[Any, ...]
    start: int
    stop: int
    end: int
    inner: list[_Item] = field(default_factory=list)


def parts(old: Mapping[Path, bytes], new: Mapping[Path, bytes]) -> list[Part] | None:
    """The parts of an edit that can be left out by themselves; None where there are too many to try.

    An edit of one part has none: without it there is no edit. Comments, layout and imports are no parts, nor is a
    statement that only moves within its loop or function.
    """
    found = [part for path, data in new.items() for part in _of_file(path, old[path], data)]
    if len(new) == 1:
        found = [part for part in found if _tree(part.without) != _tree(old[part.path])]
    return found if len(found) <= MOST else None


def _of_file(path: Path, old: bytes, new: bytes) -> Iterator[Part]:
    try:
        trees = ast.parse(old), ast.parse(new)
    except (SyntaxError, ValueError):
        return
    before, after = (data.splitlines(keepends=True) for data in (old, new))
    ours, theirs = (list(_items(tree, (), 0)) for tree in trees)
    gone, fresh = _unmatched(ours, theirs), _unmatched(theirs, ours)
    place = _places(before, after)
    used = {node.id for node in ast.walk(trees[1]) if isinstance(node, ast.Name)}
    for mine, other in _paired(gone, fresh, before, after):
        graph_only = mine is not None and other is not None and mine.bare == other.bare
        if mine is None or other is None:
            graph_only = (mine or other).bare == ()  # type: ignore[union-attr]
        lines = before[mine.start : mine.stop] if mine else []
        start, stop = (other.start, other.stop) if other else (place[mine.start],) * 2  # type: ignore[union-attr]
        if mine is None and other is not None and other.stop < other.end:
            lines, stop = _outdented(other, after), other.end
        without = b"".join([*after[:start], *lines, *after[stop:]])
        idle = other is None and _idle(mine, used)
        if not idle and _tree(without) not in (None, _tree(new)):
            yield Part(path, _words(path, mine, other), graph_only, without)


def _items(tree: ast.AST, chain: tuple[str, ...], depth: int) -> Iterator[_Item]:
    """The statements of a tree in their order, outermost, each with those inside it."""
    for node in _children(tree):
        first = min([node, *getattr(node, "decorator_list", [])], key=lambda n: n.lineno)
        start, end = first.lineno - 1, node.end_lineno or node.lineno
        inner = _children(node)
        own = inner and inner[0].lineno > node.lineno
        stop = inner[0].lineno - 1 if own else end
        if own and getattr(inner[0], "decorator_list", None):
            stop = min(d.lineno for d in inner[0].decorator_list) - 1  # type: ignore[attr-defined]
        name, loop = getattr(node, "name", None), isinstance(node, (ast.For, ast.While, ast.AsyncFor))
        head = _head(node) if own else node
        where = (chain, depth)
        bare = _bare(head)
        item = _Item(node, (where, _dump(head, _Copies())), (where, bare) if bare else (), start, stop, end)
        if own:
            item.inner = list(_items(node, (*chain, name) if name else chain, depth + loop))
        yield item


def _children(node: ast.AST) -> list[ast.stmt]:
    found = []
    for block in _BLOCKS[:-1]:
        for child in getattr(node, block, None) or ():
            found.extend([child] if isinstance(child, ast.stmt) else _children(child))
    return found


def _head(node: ast.stmt) -> ast.stmt:
    head = copy.copy(node)
    for block in _BLOCKS[:-1]:
        if hasattr(head, block):
            setattr(head, block, [])
    return head


def _flat(items: list[_Item]) -> Iterator[_Item]:
    for item in items:
        yield item
        yield from _flat(item.inner)


def _unmatched(mine: list[_Item], others: list[_Item]) -> list[_Item]:
    """The statements that the other side has not; one whose whole inside is missing too, as a whole."""
    left = Counter(item.exact for item in _flat(others))
    missing = set()
    for item in _flat(mine):
        if left[item.exact]:
            left[item.exact] -= 1
        elif not isinstance(item.node, (ast.Import, ast.ImportFrom, ast.Pass)) and not _text(item.node):
            missing.add(id(item))
    return list(_outermost(mine, missing))


def _outermost(items: list[_Item], missing: set[int]) -> Iterator[_Item]:
    for item in items:
        if id(item) in missing and all(id(one) in missing for one in _flat(item.inner)):
            item.stop = item.end
            yield item
        else:
            if id(item) in missing:
                yield item
            yield from _outermost(item.inner, missing)


def _text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _paired(
    gone: list[_Item], fresh: list[_Item], before: list[bytes], after: list[bytes]
) -> Iterator[tuple[_Item | None, _Item | None]]:  # fmt: skip
    """What stands for what: first the same but for the graph, then what resembles most, then what is alone."""
    rest = list(fresh)
    alone = []
    for item in gone:
        same = next((other for other in rest if item.bare and other.bare == item.bare), None)
        if same is None:
            alone.append(item)
        else:
            rest.remove(same)
            yield item, same
    ratios = []
    for item in alone:
        for other in rest:
            text, changed = (b"".join(t[i.start : i.stop]).strip() for t, i in ((before, item), (after, other)))
            ratio = difflib.SequenceMatcher(None, text, changed, autojunk=False).ratio()
            ends = isinstance(item.node, ast.Return) and isinstance(other.node, ast.Return)
            ratios.append((1.0 if ends and item.exact[0] == other.exact[0] else ratio, item, other))
    for ratio, item, other in sorted(ratios, key=lambda found: -found[0]):
        if ratio >= _ALIKE and item in alone and other in rest:
            alone.remove(item)
            rest.remove(other)
            yield item, other
    yield from ((item, None) for item in alone)
    yield from ((None, other) for other in rest)


def _places(before: list[bytes], after: list[bytes]) -> dict[int, int]:
    """For each old line, the new line before which it would stand."""
    found = {}
    for _, a, b, c, d in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        found.update({line: min(c + line - a, d) for line in range(a, b)})
    return found


def _outdented(head: _Item, after: list[bytes]) -> list[bytes]:
    """The inside of a new block as it stands without the block's head."""
    width = head.inner[0].node.col_offset - head.node.col_offset
    return [line[width:] if line[:width].isspace() else line for line in after[head.stop : head.end]]


def _idle(item: _Item | None, used: set[str]) -> bool:
    """Whether a statement only names something that the edited file does not use: brought back, it does nothing."""
    if item is None or not isinstance(item.node, ast.Assign):
        return False
    names = {node.id for target in item.node.targets for node in ast.walk(target) if isinstance(node, ast.Name)}
    return not names & used


def _words(path: Path, mine: _Item | None, other: _Item | None) -> str:
    if mine is None:
        return f"what the edit adds in line {other.start + 1} of the new {path.name}" if other else ""
    return f"{'what the edit does to' if other else 'the removal of'} line {mine.start + 1} of {path.name}"


# Statements compared --------------------------------------------------------------------------------------------------


class _Copies(ast.NodeTransformer):
    """Takes copies away: they change neither a value nor a gradient."""

    calls = _COPIES

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr in self.calls:
            return node.func.value
        return node


class _Graph(_Copies):
    """Takes away what only tells autograd what to record."""

    calls = _COPIES | _GRAPH_CALLS

    def visit_Call(self, node: ast.Call) -> ast.AST:
        shorter = super().visit_Call(node)
        if isinstance(shorter, ast.Call):
            shorter.keywords = [word for word in shorter.keywords if word.arg not in _GRAPH_WORDS]
            match shorter.func:
                case ast.Name("float"):
                    return shorter.args[0] if shorter.args else shorter
                case ast.Attribute(attr=name) if name.endswith("_") and not name.endswith("__"):
                    shorter.func = ast.Attribute(shorter.func.value, name[:-1], ast.Load())
        return shorter

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        return node.value if node.attr == "data" else node


def _dump(node: ast.AST, without: ast.NodeTransformer) -> str:
    return ast.dump(without.visit(copy.deepcopy(node)))


def _bare(node: ast.stmt) -> str:
    """A statement but for what it tells autograd to record; '' if nothing is left."""
    rest = _Graph().visit(copy.deepcopy(node))
    match rest:
        case ast.Expr(ast.Call(func)) if _name(func) in _GRAD_MODES:
            return ""
        case ast.With(items) if all(_mode(item.context_expr) for item in items):
            return ""
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            rest.decorator_list = [one for one in rest.decorator_list if not _mode(one)]
        case ast.Assign([ast.Attribute(attr="requires_grad")]):
            return ""
        case ast.Assign([target], value) if ast.unparse(target) == ast.unparse(value):
            return ""
        case ast.Expr(ast.Name() | ast.Attribute() | ast.Subscript()):
            return ""
        case ast.AugAssign(target, op, value):
            return ast.unparse(target) + ast.dump(op) + ast.dump(value)
        case ast.Assign([target], ast.BinOp(left, op, right)) if ast.unparse(target) == ast.unparse(left):
            return ast.unparse(target) + ast.dump(op) + ast.dump(right)
        case ast.Assign([target], ast.Call(ast.Attribute(value)) as call) if ast.unparse(target) == ast.unparse(value):
            return ast.dump(ast.Expr(call))
    return ast.dump(rest)


def _mode(node: ast.expr) -> bool:
    return _name(node.func if isinstance(node, ast.Call) else node) in _GRAD_MODES


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _tree(data: bytes) -> str | None:
    try:
        return ast.dump(ast.parse(data))
    except (SyntaxError, ValueError):
        return None
