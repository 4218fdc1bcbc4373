"""The program in which a name keeps its value: whole tensors are not written, and parts are written in a copy."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from autofix.core.edit import Declined, EditConflict
from autofix.core.model import Cause, Diagnosis, Target
from autofix.probe import wire
from autofix.syntax import calls, modes, writes
from autofix.syntax.apply import apply
from autofix.syntax.edits import (
    Begun,
    Emptied,
    Step,
    append_call,
    as_data,
    begun,
    clone_before,
    embed,
    emptied,
    handed_over,
    in_local_name,
    lent_leaf,
    out_of_place,
    registered,
    second_links,
)
from autofix.syntax.edits import at_once as both_at_once
from autofix.syntax.edits.expressions import aug_to_assign, rename
from autofix.syntax.edits.steps import rendered
from autofix.syntax.lost import lost_write
from autofix.syntax.one_tensor import are_one, writes_to_one
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources

_LEAF = "(lambda it: it if hasattr(it, 'backward') else __import__('torch').zeros((), requires_grad=True))({})"
_MOVED = (
    "(lambda new: new * (1 + 0.01 * (new.detach() / new.detach().abs().mean()).nan_to_num().sin()))({})"  # zeros stay
)
_MOVED_ARRAY = "(lambda it: it * 1.01 + 0.01)({})"
_CUT = "(lambda it: it.detach() if hasattr(it, 'detach') else it)({})"
_CUT_IN_PLACE = "(lambda it: it if it.is_leaf else it.detach_())({})"
_COPY = "(lambda it: it.detach().clone().requires_grad_(it.requires_grad) if hasattr(it, 'detach') else it)({})"
_MOVE = "{0}.mul_(1 + 0.01 * ({0} / {0}.abs().mean()).nan_to_num().sin())"


def old_values(target: Target, trace: wire.Trace) -> dict[Path, bytes]:
    """The files in which the writes that spoiled a saved tensor make a new tensor; {} where none can be meant so.

    Only `x op= …` and `y = x.op_(…)`, wherever they wrote to whole tensors that the same pass had made: a write to a
    part, to a view or to what outlives the pass is a write to what it is a part of. Nor can a write be meant so whose
    new value nothing would read. What was written by a name without graph (`y = x.detach()`) is read later as `x`, with
    its graph, and need not be a whole: there the name is given to a copy. Writes to one tensor are meant alike, also
    those that spoil nothing.
    """
    sources = Sources.of(target)
    places: dict[tuple[Source, ast.AST], bool] = {}
    for write in (write for saved in trace.saved for write in saved.writes):
        _, source, node = next(sources.nodes(write.alias or write.stack), (None, None, None))
        if source is not None and node is not None and write.optimizer < 0:
            item = isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Subscript)
            places[source, node] = places.get((source, node), True) and write.whole and not (item and write.view)
    rebound: dict[tuple[Source, ast.AST], None] = {}
    steps: dict[Source, list[Step]] = {}
    for (source, node), whole in places.items():
        if whole and _binds(source, node):
            group = writes_to_one(source, node)
            alike = are_one(source, group) and all(places.get((source, one), True) for one in group)
            rebound.update(dict.fromkeys((source, one) for one in (group if alike else [node])))
        elif whole and isinstance(node, (ast.Call, ast.Attribute)) and _names(source, node):
            with contextlib.suppress(Declined):
                steps.setdefault(source, []).extend(append_call(source, node, ".clone()"))
    for source, node in rebound:
        with contextlib.suppress(Declined):
            bound = aug_to_assign(source, node) if isinstance(node, ast.AugAssign) else out_of_place(source, node)
            steps.setdefault(source, []).extend(bound)
    files = {}
    for source, found in steps.items():
        try:
            new = apply(source, rendered(found))
        except (Declined, EditConflict):
            continue
        if new != source.data and not lost_write(source.path, source.data, new)[0]:
            files[source.path] = new
    return files


def copied(target: Target, trace: wire.Trace) -> dict[Path, bytes]:
    """The files in which statements that spoiled a saved tensor write to a copy of the whole; {} where none can.

    `self.memory[i] = …` then follows `self.memory = self.memory.clone()`, so that whoever took the memory before has
    what it held. So do those that give to what outlives a pass the graph that the next one cannot go through again.
    """
    sources = Sources.of(target)
    written: dict[tuple[Source, ast.stmt], bool] = {}
    for stack, is_whole in _written(trace):
        _, source, node = next(sources.nodes(stack), (None, None, None))
        if source is None or node is None:
            return {}
        # Whoever took the memory before has what it held if no write of the function goes to it, not this one alone.
        for one in writes_to_one(source, node):
            written.setdefault((source, source.statement(one)), is_whole and one is node)
    places: dict[Source, dict[int, bytes]] = {}
    for (source, statement), is_whole in written.items():
        if (whole := _written_whole(statement, is_whole=is_whole)) is None:
            return {}
        start = statement.lineno - 1
        margin = source.data.splitlines()[start][: statement.col_offset]
        if margin.strip():  # another statement stands before it
            return {}
        name = ast.unparse(whole).encode()
        places.setdefault(source, {})[start] = margin + name + b" = " + name + b".clone()\n"
    files = {}
    for source, lines in places.items():
        old = source.data.splitlines(keepends=True)
        files[source.path] = b"".join(lines.get(number, b"") + line for number, line in enumerate(old))
    return files


def _written_whole(statement: ast.stmt, *, is_whole: bool) -> ast.Name | ast.Attribute | None:
    """The variable whose tensor, or a part of it, a statement writes and does not name anew; None for all else."""
    match statement:
        case ast.Assign([ast.Subscript(whole)]) | ast.AugAssign(ast.Subscript(whole)):
            pass
        case ast.AugAssign(ast.Name() as whole) if not is_whole:  # else the name is given the new value itself
            pass
        case ast.Expr(ast.Call() as call) if isinstance(last := list(writes.chain(call))[-1].func, ast.Attribute):
            whole = last.value
        case _:
            return handed_over(statement)
    return whole if isinstance(whole, (ast.Name, ast.Attribute)) else None


def leaf_kept(target: Target, written: wire.Stack) -> dict[Path, bytes]:
    """The files in which a leaf that is written by one name keeps its value under another, which gets a copy."""
    files = {}
    links = list(second_links(Sources.of(target), written))  # all of one function, and so of one file
    with contextlib.suppress(Declined, EditConflict):
        for source, _ in links[:1]:
            steps = [step for _, value in links for step in embed(source, value, _COPY)]
            files[source.path] = apply(source, rendered(steps))
    return files


def leaf_copied(target: Target, written: wire.Stack) -> dict[Path, bytes]:
    """The files in which a leaf that an attribute holds is not written by a variable, which gets a copy first."""
    sources = Sources.of(target)
    with contextlib.suppress(Declined, EditConflict):
        for _, source, node in sources.nodes(written[:1]) if lent_leaf(sources, written) else ():
            return {source.path: apply(source, rendered(clone_before(source, node)))}
    return {}


def _written(trace: wire.Trace) -> Iterator[tuple[wire.Stack, bool]]:
    """Where a saved tensor was written, and whether whole; else where what a pass takes of an earlier one was made."""
    spoiled = [write for saved in trace.saved for write in saved.writes if write.optimizer < 0]
    yield from ((write.stack, write.whole) for write in spoiled)
    if not spoiled:
        yield from ((one.made, False) for one in trace.crossings if one.by == "failing" and one.made)


def kept_inputs(target: Target, trace: wire.Trace, failed: wire.Stack) -> dict[Path, bytes]:
    """The files in which what a pass makes of its input does not take its place; {} where it is no such thing."""
    sources = Sources.of(target)
    for crossing in (one for one in trace.crossings if one.by == "failing"):
        for _, source, node in sources.nodes(crossing.made):
            with contextlib.suppress(Declined, EditConflict):
                return {source.path: apply(source, rendered(in_local_name(source, source.statement(node), failed)))}
    return {}


def at_once(target: Target, trace: wire.Trace) -> dict[Path, bytes]:
    """The files in which each of several writes that look alike and stand in turn reads what was before them."""
    sources = Sources.of(target)
    steps: dict[Source, dict[Step, None]] = {}
    for stack, _ in _written(trace) if trace.saved else ():
        for _, source, node in sources.nodes(stack[:1]):
            with contextlib.suppress(Declined):
                found = dict.fromkeys(both_at_once(source, node))
                steps[source] = steps.get(source, {}) | found
    files = {}
    for source, found in steps.items():
        with contextlib.suppress(Declined, EditConflict):
            files[source.path] = apply(source, rendered(list(found)))
    return files


def with_registered(target: Target, trace: wire.Trace) -> dict[Path, bytes]:
    """The files in which parameters have a name of their own that a module kept by what it computed from them."""
    files = {}
    for found in registered(Sources.of(target), (one.made for one in trace.crossings)):
        with contextlib.suppress(Declined, EditConflict):
            files[found.source.path] = apply(found.source, rendered(found.steps))
    return files


def emptied_together(target: Target, trace: wire.Trace, failed: wire.Stack) -> tuple[Emptied | None, dict[Path, bytes]]:
    """Lists that each pass could empty with the one that it fills in step, and the files in which it does."""
    if (found := emptied(trace.crossings, failed, Sources.of(target))) is not None:
        with contextlib.suppress(Declined, EditConflict):
            return found, {one.path: apply(one, rendered(steps)) for one, steps in found.steps.items()}
    return None, {}


def sampled(target: Target, diagnosis: Diagnosis, *, constant: bool = True, moved: bool = False) -> dict[Path, bytes]:
    """The files in which what torch refuses to hand over is a constant from where it is drawn; {} if it is no draw.

    `constant`: whether it is; `moved`: what is handed over is a little otherwise.
    """
    sources = Sources.of(target)
    for made in diagnosis.lost("nonleaf") if diagnosis.cause is Cause.CONVERSION else ():
        with contextlib.suppress(Declined, EditConflict):
            steps = [step for step in as_data(sources, made) if constant]
            for _, source, node in sources.located(diagnosis.failure.stack[:1]) if moved else ():
                steps += embed(source, node, _MOVED_ARRAY)
            files = {one.source: [other for other in steps if other.source is one.source] for one in steps}
            return {source.path: apply(source, rendered(found)) for source, found in files.items()}
    return {}


def numbers_as_leaves(target: Target, diagnosis: Diagnosis) -> dict[Path, bytes]:
    """The files in which backward starts at a leaf of its own in the passes whose loss is a number.

    Nothing in such a pass is to be trained. {} where the number was taken out of a graph, or something else failed.
    """
    failure = diagnosis.failure
    if diagnosis.cause is not Cause.NO_GRAPH or failure.in_backward or failure.type != "AttributeError":
        return {}
    for _, source, node in Sources.of(target).nodes(failure.stack[:1]) if not diagnosis.trace.origins else ():
        loss = node.value if isinstance(node, ast.Attribute) else calls.started(node)
        with contextlib.suppress(Declined, EditConflict):
            return {source.path: apply(source, rendered(embed(source, loss, _LEAF)))} if loss is not None else {}
    return {}


def flags_spelled(target: Target, diagnosis: Diagnosis) -> dict[Path, bytes]:
    """The files in which flags are set by their name, where a graph is missing and a name much like it was set."""
    if diagnosis.cause is not Cause.NO_GRAPH:
        return {}
    steps: dict[Source, list[Step]] = {}
    for source, node in modes.misspelled(Sources.of(target).reached(diagnosis.failure.stack)):
        steps.setdefault(source, []).extend(rename(source, node, modes.FLAG))
    return {source.path: apply(source, rendered(found)) for source, found in steps.items()}


def begun_anew(target: Target, trace: wire.Trace, failed: wire.Stack) -> tuple[Begun | None, dict[Path, bytes]]:
    """Where passes could begin with a start that only the first one reads, and the files in which they do."""
    for one in begun(trace.crossings, failed, Sources.of(target)):
        with contextlib.suppress(Declined, EditConflict):
            return one, {one.source.path: apply(one.source, rendered(one.steps))}
    return None, {}


def moved_values(target: Target, files: Mapping[Path, bytes], trace: wire.Trace) -> dict[Path, bytes]:
    """These files with the new values a little otherwise: does anything use them? {} where no line can be told.

    Each number by something else: what is normalised afterwards is not moved by a scale or a shift.
    """
    if (found := _moved_by_alias(target, files, trace)) or not files:
        return found
    for path, data in files.items():
        before, source = target.read(path).splitlines(), Source(path, data)
        after = data.splitlines()
        lines = {number for number, (a, b) in enumerate(zip(before, after, strict=False), 1) if a != b}
        there = [node for node in source.walk() if getattr(node, "lineno", 0) in lines]
        values = [node.value for node in there if isinstance(node, ast.Assign)] or [
            node
            for node in there
            if isinstance(node, ast.Call) and f".{calls.name_of(node)}_(".encode() in before[node.lineno - 1]
        ]
        if len(before) != len(after) or not values:
            return {}
        try:
            found[path] = apply(source, rendered([step for one in values for step in embed(source, one, _MOVED)]))
        except (Declined, EditConflict):
            return {}
    return found


def without_zeros(target: Target, files: Iterable[Path]) -> dict[Path, bytes]:
    """These files with what a zero of the text multiplies or fills cut: no gradient ever comes through there."""
    found: dict[Path, bytes] = {}
    for source in (Source(path, target.read(path)) for path in files):
        products = [one for one in source.walk() if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mult)]
        sides = [(one.left, one.right) for one in products] + [(one.right, one.left) for one in products]
        funcs = [one.func for one in source.walk() if isinstance(one, ast.Call) and not one.args]
        filled = [one.value for one in funcs if isinstance(one, ast.Attribute) and one.attr == "zero_"]
        steps = [embed(source, side, _CUT) for side, other in sides if _is_zero(other)]
        steps += [embed(source, one, _CUT_IN_PLACE) for one in filled]
        with contextlib.suppress(Declined, EditConflict):
            found |= {source.path: apply(source, rendered([one for some in steps for one in some]))} if steps else {}
    return found


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.value == 0


def _moved_by_alias(target: Target, files: Mapping[Path, bytes], trace: wire.Trace) -> dict[Path, bytes]:
    """These files with what is written by names without graph a little otherwise behind each such write."""
    sources = Sources.of(target)
    found: dict[Path, dict[int, bytes]] = {}
    for write in (write for saved in trace.saved for write in saved.writes if write.alias):
        _, source, node = next(sources.nodes(write.stack), (None, None, None))
        if source is None or node is None or not (name := writes.written(source, node)):
            return {}
        statement = source.statement(node)
        margin = source.data.splitlines()[statement.lineno - 1][: statement.col_offset]
        simple = isinstance(statement, (ast.Assign, ast.AugAssign, ast.Expr)) and not margin.strip()
        if not simple or write.stack[0].line == write.alias[0].line:
            return {}
        found.setdefault(source.path, {})[statement.end_lineno or 0] = margin + _MOVE.format(name).encode() + b"\n"
    moved = {path: _with_lines(files.get(path) or target.read(path), more) for path, more in found.items()}
    return dict(files) | moved if moved else {}


def _with_lines(data: bytes, more: Mapping[int, bytes]) -> bytes:
    """A file with a line more behind each of some."""
    return b"".join(line + more.get(number, b"") for number, line in enumerate(data.splitlines(keepends=True), 1))


def _names(source: Source, node: ast.AST) -> bool:
    """Whether a tensor without graph is bound or handed on. `x.data[0] = …` and `x.detach().mul_(2)` write to `x`."""
    inner: ast.AST = node
    holder = source.parent(node)
    while isinstance(holder, (ast.Attribute, ast.Subscript, ast.Call)) and inner is (
        holder.func if isinstance(holder, ast.Call) else holder.value
    ):
        inner, holder = holder, source.parent(holder)
    bound = not isinstance(holder, (ast.Assign, ast.AugAssign)) or inner is holder.value
    return bound and not isinstance(holder, ast.Expr)


def _binds(source: Source, node: ast.AST) -> bool:
    """Whether a write is at once a new value of a name: `x op= …`, `y = x.op_(…)`."""
    match node:
        case ast.AugAssign():  # of an item, too: what is written whole is no part of a tensor
            return True
        case ast.Call():
            chain = list(writes.chain(node))
            match chain[-1].func:
                case ast.Attribute(value=ast.Name() as name) if not writes.is_module(source, name):
                    return _is_used(source, node) and all(map(writes.in_place, chain))
    return False


def _is_used(source: Source, call: ast.expr) -> bool:
    """Whether anything takes the value of a call, or of the writes that are called upon it."""
    match source.parent(call):
        case ast.Attribute() as method:
            outer = source.parent(method)
            return not (isinstance(outer, ast.Call) and writes.in_place(outer)) or _is_used(source, outer)
        case ast.Expr():
            return False
    return True
