"""Lines that no stack names: where a tensor is kept, where it is handed on, where a module was built that writes."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from autofix.probe.wire import Carrier, Crossing, Frame, Origin, Stack, Write
from autofix.syntax import blocks, names, update, writes
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources

_BINDING = (ast.Assign, ast.AnnAssign, ast.AugAssign)


def stored(carriers: Sequence[Carrier], sources: Sources) -> Iterator[tuple[Frame, str]]:
    """The statements that put a tensor into a list, a dict or an attribute of one of the user's classes."""
    for carrier in dict.fromkeys(carriers):
        source = sources.source(carrier.file)
        if source is None:
            continue
        nodes: list[ast.AST] = [node for node, _ in names.fills(source, carrier.path) if carrier.kind != "tensor"]
        if carrier.kind == "tensor" and carrier.path.startswith("self."):
            values = ((one, one.value) for one in names.assignments(source, carrier.path))
            nodes += [one for one, value in values if value is not None and not isinstance(value, ast.Constant)]
        for node in nodes:
            yield Frame.around(carrier.file, node, carrier.function), carrier.path


def handed_on(crossings: Sequence[Crossing], failed: Stack, sources: Sources) -> Iterator[tuple[Frame, str]]:
    """Where what is used of an earlier pass is bound to the variable that it is used by, in the failing one's loop."""
    for frame in failed:
        source, node = sources.source(frame.file), sources.node(frame)
        loop = next(blocks.loops(source, node), None) if source is not None and node is not None else None
        if loop is None:
            continue
        here = frame.file, frame.function
        held = {one.path for crossing in crossings for one in crossing.carriers if (one.file, one.function) == here}
        uses = (one for crossing in crossings for one in crossing.used if (one.file, one.function) == here)
        used = [(statement.lineno, names.reads(statement)) for statement in sources.statements(uses)]
        for one in (node for node in ast.walk(loop) if isinstance(node, _BINDING)):
            # What is bound ahead of its use is of the same pass, unless an earlier pass made it.
            handed = bool(names.reads(one) & held)
            read = {path for line, paths in used for path in paths if path in held or (handed and line <= one.lineno)}
            paths = names.binds(one) & read
            if paths:
                yield Frame.around(frame.file, one, frame.function), ", ".join(sorted(paths))
        if held:
            return


def built(writes: Sequence[Write], sources: Sources) -> Iterator[Frame]:
    """Where modules and functions that work in place are built, for writes by calls that do not say so themselves."""
    for write in writes:
        node = sources.node(write.stack[0]) if write.stack else None
        if not isinstance(node, ast.Call) or ast.unparse(node.func).endswith("_"):
            continue
        for source in sources.files(write.stack):
            for call in source.mentioning("inplace"):
                if isinstance(call, ast.Call) and any(_works_in_place(keyword) for keyword in call.keywords):
                    yield Frame.around(str(source.path), call, "")


def rebound(origins: Sequence[Origin], sources: Sources) -> Iterator[Origin]:
    """Where a leaf or a graph was lost; for an update that binds its variables anew, where each of them is bound.

    A run dies of the first of these bindings: the others would be the next.
    """
    seen: set[Frame] = set()
    for origin in origins:
        source = sources.source(origin.stack[0].file) if origin.stack else None
        node = sources.node(origin.stack[0]) if source is not None else None
        bound = []
        if source is not None and node is not None:
            held = list(_without_gradient(source, node)) if origin.kind == "no_grad" else [source.statement(node)]
            bound = [(source, one) for statement in held for one in update.rebindings(source, statement)]
        if not bound:
            yield origin
        for within, one in bound:
            frame = Frame.around(origin.stack[0].file, one.value, blocks.qualified(within, one.statement))
            if frame not in seen:
                seen.add(frame)
                yield replace(origin, kind="rebound", stack=(frame, *origin.stack[1:]), name=one.path)


def _without_gradient(source: Source, node: ast.AST) -> Iterator[ast.stmt]:
    """What ran without gradients: all in a `with`, or in a decorated function, of which the call is known."""
    statement = source.statement(node)
    holders: list[ast.AST] = [statement] if writes.without_gradient(statement) else []
    if isinstance(node, ast.Call):
        name = ast.unparse(node.func).rpartition(".")[2]
        functions = (one for one in source.mentioning(name) if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)))
        holders += [one for one in functions if one.name == name and one.decorator_list]
    for holder in holders:
        yield from (one for one in ast.walk(holder) if isinstance(one, ast.stmt) and one is not holder)


def _works_in_place(keyword: ast.keyword) -> bool:
    return keyword.arg == "inplace" and isinstance(keyword.value, ast.Constant) and keyword.value.value is True
