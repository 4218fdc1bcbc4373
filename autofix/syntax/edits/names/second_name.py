"""A second name for what a statement writes: assignments and calls are followed from the name written to."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from autofix.probe.wire import Frame
from autofix.syntax import blocks, update, writes
from autofix.syntax.calls import Function, argument, name_of, parameters, path_of, whole
from autofix.syntax.edits.local_name import is_empty
from autofix.syntax.reaching import reads_in
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources
from autofix.syntax.vocabulary import STORES

_Reads = Mapping[ast.expr, frozenset[ast.AST]]
_ROUNDS = (ast.ListComp, ast.SetComp, ast.GeneratorExp)
_Name = tuple[str, frozenset[ast.AST]]
"""A name, and what gave it its value."""


class Second(NamedTuple):
    """A name that shows what is written by another, and what was given one of both, if a statement did that."""

    name: _Name
    link: ast.expr | None = None


def second_name(sources: Sources, stack: Sequence[Frame], *, older: bool = False) -> str:
    """The name that shows what a statement writes by another: of the same function, or of a caller; or ''.

    `older`: one that was given to it before, and only that (`best = x`, then `x -= …`).
    """
    return next((one.name[0] for _, _, one in seconds(sources, stack, older=older)), "")


def second_is_met(sources: Sources, stack: Sequence[Frame], *, older: bool = False) -> bool:
    """Whether whoever comes behind the write comes to a place that reads that name: no condition decides it.

    Where one does, as of `if better: return x` before `return before`, the passes that were compared may all have read
    the other.
    """
    for source, statement, one in seconds(sources, stack, older=older):
        reads = reads_in(source.function(statement) or source.tree)
        later = [
            read
            for read in _later(one.name, reads, statement, some=older)
            if not isinstance(source.statement(read), ast.Expr)  # what is only shown decides nothing
        ]
        return not later or any(_is_sure(source, statement, read) for read in later)
    return True


def second_links(sources: Sources, stack: Sequence[Frame]) -> Iterator[tuple[Source, ast.expr]]:
    """The tensor, by the name that is written, where an assignment gives it an older name."""
    yield from ((source, one.link) for source, _, one in seconds(sources, stack, older=True) if one.link)


def seconds(sources: Sources, stack: Sequence[Frame], *, older: bool) -> Iterator[tuple[Source, ast.stmt, Second]]:
    """Each such name of the first function that has one, with the statement that writes there, or has it written."""
    known: frozenset[ast.AST] = frozenset()
    function: Function | ast.Module | None = None
    for _, source, node in sources.nodes(stack):
        scope, statement = source.function(node) or source.tree, source.statement(node)
        reads = reads_in(scope)
        found: list[Second] = []
        if function is None:
            known = given_to_written(reads, statement)
            found += map(Second, _beside(known, reads, statement))
        elif (handed := _handed(function, known, node)) is not None:
            known = reads.get(handed, frozenset())
            found += [] if is_to_be_written(known, statement, node) else [Second((handed.id, known))]
        else:
            return
        values = [one for one in known if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name)]
        firsts = [
            Second((one.value.id, reads.get(one.value, frozenset())), one.value)
            for one in values
            if isinstance(one.value, ast.Name)
        ]
        kept = [*_kept_before(source, reads, known, statement)] if older and function is None else []
        before = [*_named_before(known, reads, statement)]
        found = before if older else found + firsts + before
        known = known.union(*(one.name[1] for one in firsts))
        again = function is not None and _is_done_again(source, node, known)
        read = [one for one in found if again or _is_read(one.name, reads, statement, some=older)]
        shown = [(source, statement, one) for one in read + kept]
        if shown:
            yield from shown
            return
        function = scope


def _named_before(known: frozenset[ast.AST], reads: _Reads, write: ast.AST) -> Iterator[Second]:
    """Names that were given to what has these definitions, and that of the write, in the order of the code."""
    for one in sorted({one for found in reads.values() for one in found}, key=lambda one: getattr(one, "lineno", 0)):
        for name, value in _pairs(one):
            if isinstance(value, ast.Name) and known and reads.get(value, frozenset()) - {write} == known - {write}:
                yield Second((name, frozenset({one})), value)


def _kept_before(source: Source, reads: _Reads, known: frozenset[ast.AST], write: ast.stmt) -> Iterator[Second]:
    """Attributes and containers that are given what a statement writes, and are read in the file.

    Not where that is done once, before the loop of the write, or by constructors alone: what they tie is one on
    purpose.
    """
    mine = _written(source, write)
    inside = [*blocks.loops(source, write)][-1:] if "." not in mine else []
    read = Counter(
        path_of(one).rpartition(".")[2] for one in source.walk() if isinstance(one, (ast.Name, ast.Attribute))
    )
    given = []
    for one in source.walk() if "." in mine else (node for loop in inside for node in ast.walk(loop)):
        kept = [(holder, name, value) for holder, name, value in stored(one) if name != mine]
        for holder, name, value in kept:
            same = reads.get(value, frozenset()) - {write} == known - {write} if isinstance(value, ast.Name) else True
            if path_of(value) == mine and same and read[holder.rpartition(".")[2]] > len(kept):
                given.append((name, one, value))
    if inside or any(getattr(source.function(one), "name", "__init__") != "__init__" for _, one, _ in given):
        yield from (Second((name, frozenset({one})), value) for name, one, value in given)


def stored(statement: ast.AST) -> Iterator[tuple[str, str, ast.expr]]:
    """What an attribute, or a container, is given: what is to be read later, its name, and the value.

    A name alone is none: which of its values are read is known.
    """
    for bound in update.bindings(statement):
        holder, literal = path_of(whole(bound.target)), isinstance(bound.value, (ast.Dict, ast.Tuple, ast.List))
        if literal or not isinstance(bound.target, ast.Name):
            yield from ((holder, bound.path, one) for one in _elements(bound.value))
    match statement:
        case ast.Expr(ast.Call(ast.Attribute(kept), args) as call) if name_of(call) in STORES:
            yield from ((path_of(kept), path_of(kept), one) for given in args for one in _elements(given))


def _elements(value: ast.expr) -> Iterator[ast.expr]:
    """A value, or what the containers that it writes out hold."""
    match value:
        case ast.Tuple(elts=inner) | ast.List(elts=inner) | ast.Dict(values=inner):
            yield from (found for one in inner for found in _elements(one))
        case _:
            yield value


def written_name(sources: Sources, stack: Sequence[Frame]) -> str:
    """The name to which the statement at a place writes; '' where it is none."""
    found = ((source, source.statement(node)) for _, source, node in sources.nodes(stack[:1]))
    return next((name for source, one in found if (name := path_of(target_of(one)) or _written(source, one))), "")


def _written(source: Source, write: ast.stmt) -> str:
    """The name or attribute to which `x op= …`, `x[…] = …` or `x.op_(…)` writes."""
    bound = isinstance(write, ast.Assign) and not isinstance(write.targets[0], ast.Subscript)
    return "" if bound else path_of(writes.written_part(source, write))


def is_to_be_written(known: Iterable[ast.AST], statement: ast.stmt, call: ast.AST) -> bool:
    """Whether a call is made for what it writes: its value is dropped, or it fills what was empty."""
    dropped = isinstance(statement, ast.Expr) and statement.value is call
    return dropped or any(isinstance(one, ast.Assign) and is_empty(one.value) for one in known)


def target_of(write: ast.AST) -> ast.Name | None:
    """The name to which a statement writes."""
    match write:
        case ast.AugAssign(ast.Name() as name):
            return name
        case ast.Assign([ast.Subscript(ast.Name() as name)]) | ast.AugAssign(ast.Subscript(ast.Name() as name)):
            return name
        case ast.Expr(ast.Call() as call) if isinstance(last := list(writes.chain(call))[-1].func, ast.Attribute):
            return last.value if isinstance(last.value, ast.Name) else None
    return None


def given_to_written(reads: _Reads, write: ast.AST) -> frozenset[ast.AST]:
    """The definitions of the name to which a statement writes."""
    if (target := target_of(write)) is None:
        return frozenset()
    # An item that is set is a definition beside the others of whatever reads the name later.
    shown = (found for read, found in reads.items() if path_of(read) == target.id and write in found)
    return reads.get(target, frozenset()).union(*shown) - {write}


def _beside(known: Iterable[ast.AST], reads: _Reads, write: ast.stmt) -> Iterator[_Name]:
    """Names of parts beside the one that is written by its name, where nothing reads the whole by its own after it."""
    target = target_of(write)
    mine = [of for one in known for name, of in _parts(one) if target is not None and name == target.id]
    others = {one for found in reads.values() for one in found}
    for of in mine:
        definitions = reads.get(of, frozenset())
        if not _is_read((of.id, definitions), reads, write):
            yield from (
                (name, frozenset({other}))
                for other in others
                for name, one in _parts(other)
                if target is not None and name != target.id and (one.id, reads.get(one)) == (of.id, definitions)
            )


def _parts(definition: ast.AST) -> Iterator[tuple[str, ast.Name]]:
    """The names that an assignment gives to parts of tensors (`first, rest = x[:1], x[1:]`), each with the whole."""
    for name, value in _pairs(definition):
        if name.isidentifier() and isinstance(value, ast.Subscript) and isinstance(value.value, ast.Name):
            yield name, value.value


def _pairs(definition: ast.AST) -> list[tuple[str, ast.expr]]:
    """The names and attributes that an assignment gives, each with its value."""
    return [(name, one.value) for one in update.bindings(definition) if (name := path_of(one.target))]


def _handed(function: Function | ast.Module, known: frozenset[ast.AST], call: ast.AST) -> ast.Name | None:
    """The name that a call hands to a function, or a part of it, for the parameter among these definitions."""
    given = next((one for one in known if isinstance(one, ast.arg)), None)
    if given is None or isinstance(function, ast.Module):
        return None
    handed = argument(call, parameters(function), given.arg)
    found = None if handed is None else whole(handed)
    return found if isinstance(found, ast.Name) else None


def _is_done_again(source: Source, call: ast.AST, known: Iterable[ast.AST]) -> bool:
    """Whether a call goes round in a loop or a list of its own, and hands over what was given a value before that."""
    statement = source.statement(call)
    rounds: list[ast.AST] = [*blocks.loops(source, statement)]
    rounds += [one for one in ast.walk(statement) if isinstance(one, _ROUNDS) and call in set(ast.walk(one.elt))]
    return any(not {*known} & {*ast.walk(one)} for one in rounds)


def _is_read(name: _Name, reads: _Reads, after: ast.stmt, *, some: bool = False) -> bool:
    """Whether a name is read after a statement for what it stands for by these definitions, or `some` others."""
    return next(_later(name, reads, after, some=some), None) is not None


def _later(name: _Name, reads: _Reads, after: ast.stmt, *, some: bool) -> Iterator[ast.expr]:
    """Where it is read so."""
    for read, found in reads.items() if name[1] else ():
        if path_of(read) == name[0] and read.lineno > after.lineno and (found >= name[1] if some else found == name[1]):
            yield read


def _is_sure(source: Source, write: ast.stmt, read: ast.expr) -> bool:
    """Whether no condition, and no way out, stands between a statement and what is read behind it."""
    around = blocks.holders(source, write)
    inside = [one for one in blocks.holders(source, read) if one not in around]
    if any(isinstance(one, (ast.If, ast.While, ast.Match, ast.Try)) for one in inside):
        return False
    between = blocks.after(blocks.block_of(source, write), write)
    ways = (node for one in between if one.lineno < read.lineno for node in ast.walk(one))
    return not any(isinstance(one, (ast.Return, ast.Raise, ast.Break, ast.Continue)) for one in ways)
