"""Takes an edit apart: the same edit without one of its parts, for each part that can be left out."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from autofix.core.aligned import opcodes
from autofix.syntax import names
from autofix.syntax.calls import name_of
from autofix.syntax.live import Needed, bound_by
from autofix.syntax.source import Source, SourceError
from autofix.syntax.vocabulary import steps, writes
from autofix.syntax.writes import is_write
from autofix.verdict.parts.bare import bare
from autofix.verdict.parts.branches import for_refused
from autofix.verdict.parts.brought_back import lost_by, needs_of, reached
from autofix.verdict.parts.by_kind import stood_there
from autofix.verdict.parts.filled import fills, is_filled_by, named_masks
from autofix.verdict.parts.laid_out import laid_out
from autofix.verdict.parts.moved import Move, moves
from autofix.verdict.parts.options import options
from autofix.verdict.parts.paired import paired, unmatched
from autofix.verdict.parts.pieces import done, pieces, spliced
from autofix.verdict.parts.rewritten import named, renamed, rewrites, scope_of, shape, takes_out
from autofix.verdict.parts.statements import Item, flat, left_out, statements
from autofix.verdict.parts.texts import Texts, changed, parsed, passed_over, shifted, side_by_side

MOST = 24
"""How many parts of an edit are tried; of a larger one it cannot be said what each part is for."""
_LONG = 60


@dataclass(frozen=True, slots=True)
class Part:
    """One part of an edit."""

    path: Path
    line: int
    """The line of the old text that it changes or removes; 0 for what it adds."""
    words: str
    """What it does, as a person says it."""
    graph_only: bool
    """Whether it changes only what autograd records, and no value that is computed."""
    without: bytes
    """The file's new text with this part left out."""
    gone: bytes | None = None
    """The file's old text without the statement that this part removes; None where it removes none."""
    change: str = ""
    """What it makes of a statement, the same where another part makes it of other variables; '' of any other part."""
    form: str = ""
    """The statement that it writes, the same where another part writes it of other variables; '' where none is new."""
    put: bytes = b""
    """What stands in place of what it writes where it is left out."""
    held: bytes = b""
    """Of a part that only reads by a new name what was computed: the file's new text where both are held to be one."""
    binds: frozenset[str] = frozenset()
    """The variables that it adds."""
    reads: frozenset[str] = frozenset()
    """The variables that its new text reads."""
    again: bool = False
    """Whether it adds what its function has already: a value made anew may be one too many, and is no fault then."""
    within: bool = False
    """Whether it is one of several changes within a statement, or an operation put around what was there."""
    lacking: tuple[bytes, ...] = ()
    """Of a part that only moves: the file's new text without what moved, and without each that it passed."""

    def left_out(self, files: Mapping[Path, bytes]) -> dict[Path, bytes]:
        """The edit without this part."""
        return {**files, self.path: self.without}

    def same_as(self, other: Part) -> bool:
        """Whether this is the same part of an edit of which another part was left out."""
        return (self.path, self.line, self.words) == (other.path, other.line, other.words)


def parts(old: Mapping[Path, bytes], new: Mapping[Path, bytes], *, whole: bool = False) -> list[Part] | None:
    """The parts of an edit that can be left out by themselves; None where there are too many, or one cannot be.

    An edit of one part has none, unless `whole`: without it there is no edit. Comments, layout and imports are no
    parts, nor is a statement that does the same where it moves to. Statements that share a line are told apart.
    """
    numbers = {path: laid_out(data)[1] for path, data in old.items()}
    old, new = ({path: laid_out(data)[0] for path, data in files.items()} for files in (old, new))
    trees = [[tree for data in files.values() if (tree := parsed(data)) is not None] for files in (old, new)]
    chosen = options(*trees)
    found: dict[tuple[Path, str | None], Part] = {}
    for path, data in new.items():
        for one in _of_file(path, old[path], data, chosen):
            if one is None:
                return None
            part = replace(one, line=numbers[path][one.line - 1] if one.line else 0)
            found.setdefault((path, _tree(part.without)), part)  # where two leave the same, the first says more
    if len(new) == 1 and not whole:
        found.pop((path, _tree(old[path])), None)
    return [*found.values()] if sum(not part.again for part in found.values()) <= MOST else None


def _of_file(path: Path, old: bytes, new: bytes, options: Collection[str]) -> Iterator[Part | None]:
    """The parts of what an edit makes of a file; None for one without which it does not parse."""
    first, last = parsed(old), parsed(new)
    if first is None or last is None:
        return
    trees = first, last
    before, after = (data.splitlines(keepends=True) for data in (old, new))
    ours, theirs = (list(statements(tree, (), 0)) for tree in trees)
    texts = Texts(before, after)
    place, stretches = texts.place, texts.stretches
    gone, fresh = _only_in_one(ours, theirs, stretches)
    lost = lost_by(ours, last)
    rid = [node for item in gone for node in ast.walk(item.shown)]
    moved = {ast.dump(node) for node in rid if isinstance(node, ast.expr)}.union(_fills(first, gone), *map(done, rid))
    refused = {id(branch): way for way, branch in for_refused(*trees)}
    called = renamed(gone, fresh, *trees, stretches)
    for mine, other in paired(gone, fresh, before, after, place):
        was, now = mine.shown if mine else None, other.shown if other else None
        form, way = shape(now, now) if now else "", refused.get(id(other.node), "") if other and not mine else ""
        told = named(was, now, (item.node for item in fresh), last)
        held = _held_alike(told, other, after) if told and other else b""
        words, line = _words(mine, other, before, after), mine.start + 1 if mine else 0
        # What came back where a cut stands now would fail before it as it did: the graph is still there.
        cuts = [one for one in fresh if mine and not other and _cut_for(mine, one, stretches)]
        back = reached(mine, max([place[mine.start], *(one.end for one in cuts)]), fresh) if mine else 0
        needs = needs_of(mine, lost)
        places = [(reached(item, place[item.start], fresh), item) for item in needs]
        without = texts.without(mine, other, places, back)
        known = bool(other and not mine and _stands_already(other, ours))
        again = known and other is not None and isinstance(other.node, ast.Assign)
        lines = [(back, back, before[mine.start : mine.stop])] if mine else []
        idle = (
            (known and not again)
            or rewrites(was, now, last, called, moved)
            or (other and not mine and stood_there(first, last, other.node))
            or takes_out(was, now, last, (item.node for item in fresh))
            or (mine and not other and _idle(mine.node, changed(after, lines), back + 1))
            or (mine and not other and _is_filled_again(first, mine, last, fresh))
        )
        if not idle and without is None:
            yield None
        elif not idle and without is not None and _tree(without) != _tree(new):
            rests = {item.bare for item in (mine, other) if item}
            graph_only = (len(rests) == 1 and (bool(mine and other) or () in rests)) or (
                mine is not None and other is not None and _only_unbound(mine.node, other.node, without)
            )
            # What a new statement does in place of an old one is another thing, unless more is gone with that.
            rest = _removed(mine, before) if needs or not other else None
            change = shape(was, now) if was and now else way
            adds = frozenset(names.binds(now) if now and not mine else ())
            reads = frozenset(names.reads(now) if now else ())
            put = b"".join(before[mine.start : mine.stop]) if mine else b""
            yield Part(path, line, words, graph_only, without, rest, change, form, put, held, adds, reads, again)
            gone_so = Part(path, line, words, graph_only, without, rest, put=put)
            yield from _unrecorded(gone_so, None if other else mine, fresh, before, after)
        for said, held_to in _held_to(other, new, after, alone=not mine) if other and not known else ():
            yield Part(path, line, f"{said} {_words(None, other, before, after)}", False, held_to)
        if other:
            for node, text, same, alike_in in pieces(was, other.shown, (old, new), moved, options):
                shorter = spliced(new, node, text)
                if _tree(shorter) not in (None, _tree(new)):
                    said = f"the condition of {words}" if isinstance(node, ast.IfExp) else words
                    change = alike_in or (way and f"{way}{text!r}")
                    yield Part(
                        path, line, said, same, shorter, change=change, form=form, put=text, held=held, within=True
                    )
    for move in moves(ours, theirs, {id(one) for item in (*gone, *fresh) for one in _whole(item)}):
        yield from (*_undone(move, path, before, after), *_always(move, path, (ours, theirs), before, after))


def _fills(tree: ast.Module, items: Iterable[Item]) -> set[str]:
    """What some statements of a text fill in where a mask says so."""
    found = (fills(node, named_masks(tree, item.node)) for item in items for node in ast.walk(item.shown))
    return set[str]().union(*found)


def _is_filled_again(old: ast.Module, gone: Item, new: ast.Module, fresh: Iterable[Item]) -> bool:
    """Whether a new statement of the same function fills in what one does that is gone: then that one adds nothing."""
    scope = getattr(scope_of(old, gone.node), "name", "")
    there = (item for item in fresh if getattr(scope_of(new, item.node), "name", "") == scope)
    return is_filled_by(gone.node, named_masks(old, gone.node), _fills(new, there))


def _only_in_one(
    ours: list[Item], theirs: list[Item], stretches: Iterable[tuple[str, int, int, int, int]]
) -> tuple[list[Item], list[Item]]:  # fmt: skip
    """The statements that only the old text has, and those that only the new one has."""
    alike = [stretch for stretch in stretches if stretch[0] == "equal"]
    gone = unmatched(ours, theirs, {line for _, a, b, _, _ in alike for line in range(a, b)})
    return gone, unmatched(theirs, ours, {line for _, _, _, c, d in alike for line in range(c, d)})


def _unrecorded(
    part: Part, mine: Item | None, fresh: Iterable[Item], before: list[bytes], after: list[bytes]
) -> Iterator[Part]:  # fmt: skip
    """The removal of a write where that is made without gradients when it is left out; none of what is done elsewhere.

    Torch may refuse the write as it stood, which says nothing of what it is for.
    """
    if mine is None or not is_write(mine.node) or mine.stop - mine.start > 1:
        return
    calls = {name_of(one).strip("_") for one in ast.walk(mine.node) if isinstance(one, ast.Call)}
    made = {name_of(one).strip("_") for item in fresh for one in ast.walk(item.shown) if isinstance(one, ast.Call)}
    lines, text = part.without.splitlines(keepends=True), before[mine.start].strip()
    new = (stretch for stretch in opcodes(after, lines) if stretch[0] != "equal" and not calls & made)
    back = (at for *_, start, end in new for at in range(start, end))
    for at in [one for one in back if lines[one].strip() == text][:1]:
        lines[at] = lines[at].replace(text, b"with __import__('torch').no_grad(): " + text)
        yield replace(part, without=b"".join(lines), words=f"{part.words}, with gradients off,")


def _undone(move: Move, path: Path, before: list[bytes], after: list[bytes]) -> Iterator[Part]:
    """A move, as a part that can be left out."""
    words = _words(move.old[0], None, before, after).replace("the removal", "the move")
    lines = [line for one in move.old for line in before[one.start : one.end]]
    back = [] if move.place is None else [(move.place, move.place, shifted(lines, move.shift, after))]
    without = changed(after, [*(passed_over(one, after) for one in move.new), *back])
    each = () if move.draws else (move.new, *move.passed)
    singles = [changed(after, [passed_over(one, after) for one in some]) for some in each]
    if _tree(without) not in (None, _tree(b"".join(after))):
        yield Part(path, move.old[0].start + 1, words, False, without, lacking=tuple(singles))


def _always(
    move: Move, path: Path, sides: tuple[list[Item], list[Item]], before: list[bytes], after: list[bytes]
) -> Iterator[Part]:
    """The condition that decides about what moved into its block and counts, as a part: what moved stands behind it."""
    old, new = (
        [
            (one, one.node.test)
            for one in flat(side)
            if one.start < item.start < one.end and isinstance(one.node, ast.If)
        ]
        for side, item in zip(sides, (move.old[0], move.new[0]), strict=True)
    )
    known = {ast.dump(test) for _, test in old}
    block = next((one for one, test in new if _counts(test) and ast.dump(test) not in known), None)
    if block is None:
        return
    lines = [line for one in move.new for line in after[one.start : one.end]]
    behind = shifted(lines, block.node.col_offset - move.new[0].node.col_offset, after)
    without = changed(after, [*(passed_over(one, after) for one in move.new), (block.end, block.end, behind)])
    if _tree(without) is not None:
        words = _words(None, block, before, after).replace("the new", "the condition of the move into")
        yield Part(path, move.old[0].start + 1, words, False, without)


def _whole(item: Item) -> Iterator[Item]:
    """What of a statement is gone or new: its head, or all of it."""
    return flat([item]) if item.stop == item.end else iter([item])


def _cut_for(mine: Item, other: Item, stretches: Iterable[tuple[str, int, int, int, int]]) -> bool:
    """Whether a new statement beside the place of an old one only cuts a graph."""
    beside = mine.node.col_offset == other.node.col_offset
    return not any(one.bare for one in flat([other])) and beside and side_by_side(mine, other, stretches)


def _removed(mine: Item | None, before: list[bytes]) -> bytes | None:
    """The old text without a statement; what is inside a block that alone is removed stays."""
    if mine is None:
        return None
    start, stop, rest = left_out(mine, before)
    without = changed(before, [(start, stop, rest) if rest else passed_over(mine, before)])
    return without if _tree(without) is not None else None


def _held_to(item: Item, new: bytes, after: list[bytes], *, alone: bool) -> Iterator[tuple[str, bytes]]:
    """What a new `if` asks, with the file where that is only held to: all of it, and each of several that must hold.

    `alone`: it stands in place of no other statement.
    """
    if (always := _held(item, after)) is not None:
        yield "the condition of", always
    match item.node:
        case ast.If(ast.BoolOp(ast.And(), several)) if alone:
            for one in filter(_counts, several):
                yield f"`{ast.unparse(one)}` in", spliced(new, one, f"({ast.unparse(one)} or 1 / 0)".encode())


def _held(new: Item, after: list[bytes]) -> bytes | None:
    """The file where a new condition that counts is only held to; None where there is no such condition.

    What passes has never seen it false, and what it is for comes later: `if step < 1500:`.
    """
    node = new.node
    if not (isinstance(node, ast.If) and new.stop == new.end and new.inner and _counts(node.test)):
        return None
    start, width = new.inner[0].start, new.inner[0].node.col_offset - node.col_offset
    body = [line[width:] if line[:width].isspace() else line for line in after[start : node.body[-1].end_lineno]]
    indent = after[new.start][: node.col_offset]
    told = indent + f"assert {ast.unparse(node.test)}\n".encode()
    without = changed(after, [(new.start, new.end, [told, *body])])
    return without if _tree(without) is not None else None


def _held_alike(alike: str, other: Item, after: list[bytes]) -> bytes:
    """The file where, before a statement, a name is held to be what was read there."""
    indent = after[other.start][: other.node.col_offset]
    held = changed(after, [(other.start, other.start, [indent + f"assert {alike}\n".encode()])])
    return held if indent.isspace() and _tree(held) is not None else b""


def _counts(test: ast.expr) -> bool:
    ordering = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
    return any(isinstance(op, ordering) for node in ast.walk(test) if isinstance(node, ast.Compare) for op in node.ops)


def _stands_already(new: Item, old: list[Item]) -> bool:
    """Whether a function has what is added to it: a value that is made anew, a condition with what it decides about."""
    for item in flat(old):
        if item.exact[1] == new.exact[1] and item.exact[0][0] == new.exact[0][0]:
            decided = {one.exact[1] for one in flat(item.inner)}
            if isinstance(new.node, ast.Assign) or (
                isinstance(new.node, ast.If) and {one.exact[1] for one in flat(new.inner)} <= decided
            ):
                return True
    return False


def _idle(node: ast.stmt, text: bytes, line: int) -> bool:
    """Whether an assignment that is brought back on a line does nothing: it only binds what nobody reads."""
    called = (name_of(one) for one in ast.walk(node) if isinstance(one, ast.Call))
    if not (names := bound_by(node)) or any(steps(name) or writes(name) for name in called):
        return False
    try:
        source = Source(Path("without.py"), text)
    except SourceError:
        return False
    mine = next((one for one in source.walk() if isinstance(one, ast.stmt) and one.lineno == line), None)
    needed = Needed(source, source.function(mine) or source.tree) if mine else None
    return needed is not None and {(mine, name) for name in names} <= {*needed.unread()}


def _only_unbound(was: ast.stmt, now: ast.stmt, text: bytes) -> bool:
    """Whether a statement that gave a name a value no longer does, but for what it tells autograd to record.

    `text` is the edit with what the statement was: nothing reads the name there.
    """
    match was, now:
        case ast.Assign([ast.Name(name)], value), ast.Expr() if bare(ast.Expr(value)) == bare(now):
            source = Source(Path("without.py"), text)
            again = (one for one in source.walk() if isinstance(one, ast.Assign) and ast.dump(one) == ast.dump(was))
            return all((one, name) in Needed(source, source.function(one) or source.tree).unread() for one in again)
    return False


def _words(mine: Item | None, other: Item | None, before: list[bytes], after: list[bytes]) -> str:
    lines, item = (before, mine) if mine else (after, other)
    text = lines[item.start].strip().decode(errors="replace") if item else ""
    text = text if len(text) <= _LONG else text[: _LONG - 1] + "…"
    return f"the {'removal of' if other is None else 'change to' if mine else 'new'} `{text}`"


def _tree(data: bytes) -> str | None:
    tree = parsed(data)
    return ast.dump(tree) if tree is not None else None
