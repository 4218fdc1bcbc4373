"""What stands for what: the statements that only one of two texts has, in pairs."""

from __future__ import annotations

import ast
import difflib
from collections import Counter
from collections.abc import Collection, Iterator

from autofix.verdict.parts.statements import Item, flat

_ALIKE = 0.5


def unmatched(mine: list[Item], others: list[Item], kept: Collection[int]) -> list[Item]:
    """The statements that the other side has not; one whose whole inside is missing too, as a whole.

    Of several that are the same, those on lines that were kept are there on both sides.
    """
    left = Counter(item.exact for item in flat(others))
    missing = set()
    for item in sorted(flat(mine), key=lambda item: item.start not in kept):
        if left[item.exact]:
            left[item.exact] -= 1
        elif not isinstance(item.node, (ast.Import, ast.ImportFrom, ast.Pass)) and not _text(item.node):
            missing.add(id(item))
    return list(_outermost(mine, missing))


def _outermost(items: list[Item], missing: set[int]) -> Iterator[Item]:
    for item in items:
        if id(item) in missing and all(id(one) in missing for one in flat(item.inner)):
            item.stop = item.end
            yield item
        else:
            if id(item) in missing:
                yield item
            yield from _outermost(item.inner, missing)


def _text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def paired(
    gone: list[Item], fresh: list[Item], before: list[bytes], after: list[bytes], place: dict[int, int]
) -> Iterator[tuple[Item | None, Item | None]]:  # fmt: skip
    """What stands for what: the same but for the graph, what calls it, what resembles most, what is in its place."""
    rest = list(fresh)
    alone = []
    for item in gone:
        same = next((other for other in rest if item.bare and other.bare == item.bare), None)
        if same is None:
            alone.append(item)
        else:
            rest.remove(same)
            yield item, same
    for item, same in _moved_in(alone, rest):
        alone.remove(item)
        yield item, same
    ratios = []
    for item in alone:
        for other in (one for one in rest if _may_stand_for(item, one)):
            text, changed = (b"".join(t[i.start : i.stop]).strip() for t, i in ((before, item), (after, other)))
            ratio = difflib.SequenceMatcher(None, text, changed, autojunk=False).ratio()
            ends = isinstance(item.node, ast.Return) and isinstance(other.node, ast.Return)
            here = item.exact[0] == other.exact[0]
            does = here and (ends or _called(item.node) == (_called(other.node) or None))
            ratios.append((ratio + does, here, item, other))
    for ratio, _, item, other in sorted(ratios, key=lambda found: (-found[0], -found[1])):
        if ratio >= _ALIKE and item in alone and other in rest:
            alone.remove(item)
            rest.remove(other)
            yield item, other
    for item in list(alone):
        places = (o for o in rest if o.start == place[item.start] and o.exact[0] == item.exact[0])
        here = next((o for o in places if _may_stand_for(item, o)), None)
        if here is not None:
            alone.remove(item)
            rest.remove(here)
            yield item, here
    yield from ((item, None) for item in alone)
    yield from ((None, other) for other in rest)


def _may_stand_for(gone: Item, fresh: Item) -> bool:
    """Whether a new statement may do what an old one did: one that only cuts a graph does nothing but bind a name."""
    return bool(fresh.bare) or not gone.bare or bool(_targets(gone.node) & _targets(fresh.node))


def _called(node: ast.stmt) -> str:
    """What a statement calls, for what it binds; '' where it calls nothing."""
    match node:
        case ast.Assign(targets, ast.Call(func)):
            return ast.unparse(ast.Tuple([*targets, func]))
    return ""


def _targets(node: ast.stmt) -> set[str]:
    return {ast.unparse(one) for one in node.targets} if isinstance(node, ast.Assign) else set()


def _moved_in(gone: list[Item], fresh: list[Item]) -> list[tuple[Item, Item]]:
    """What moved into a new function, which is no removal, and as what."""
    inside = [one for other in fresh for one in flat(other.inner) if one.bare]
    found = []
    for item in gone:
        same = next((one for one in inside if item.bare and one.bare[1] == item.bare[1]), None)
        if same is not None:
            inside.remove(same)
            found.append((item, same))
    return found
