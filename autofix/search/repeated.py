"""Statements that an edit adds for nothing: what they compute is bound again before anything reads it."""

from __future__ import annotations

import ast
import functools
from collections import Counter
from collections.abc import Iterator

from autofix.core.edit import Declined
from autofix.syntax.apply import apply
from autofix.syntax.blocks import block_of
from autofix.syntax.edits import delete, rendered
from autofix.syntax.names import binds, meets, parts, reads
from autofix.syntax.source import Source


def without_repeats(source: Source, data: bytes) -> bytes:
    """An edited file without the statements that the edit adds in vain; nothing of what was there is taken away.

    Copies that several edits make beside each other may overlap: of `y = f(x)` twice in a row one is enough, and
    `loss = a + b` right before `loss = c` is for nothing.
    """
    while (found := _repeat(source, edited := Source(source.path, data))) is not None:
        try:
            data = apply(edited, rendered(delete(edited, found)))
        except Declined:
            break
    return data


def _repeat(source: Source, edited: Source) -> ast.stmt | None:
    """The first statement that an edit adds in vain, itself or as the repetition of one that is there."""
    try:
        old, new = map(_assignments, source.differing(edited.data))
    except (SyntaxError, ValueError):
        return None
    return next(_overwritten(edited, new - old), None)


@functools.lru_cache(maxsize=4)  # of what is as it was for every edit
def _assignments(text: bytes) -> Counter[str]:
    return Counter(ast.dump(node) for node in ast.walk(ast.parse(text)) if _bound(node))


def _overwritten(source: Source, added: Counter[str]) -> Iterator[ast.stmt]:
    """Each added assignment to plain names that are all bound again, in the same block, before anything can read them.

    Where it is bound again to the same, either of the two is the one that was added: the first one goes.
    """
    for node in source.walk() if added else ():
        if not isinstance(node, ast.Assign) or not (names := _bound(node)) or not added[ast.dump(node)]:
            continue
        block = block_of(source, node)
        for later in block[block.index(node) + 1 :]:
            # What calls a function may read a global name in it; what only computes a value for a name hardly does.
            if meets(names, reads(later)) or not (rebound := _bound(later)):
                break
            if names <= rebound:
                yield node
                break
            if binds(later) & reads(node):
                break


def _bound(node: ast.AST) -> set[str]:
    """The names that an assignment binds where it binds nothing else."""
    targets = [part for target in node.targets for part in parts(target)] if isinstance(node, ast.Assign) else []
    names = {target.id for target in targets if isinstance(target, ast.Name)}
    return names if len(names) == len(targets) else set()
