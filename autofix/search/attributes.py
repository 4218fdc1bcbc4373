"""What a method keeps as attributes of its object, computed of others of them: computed anew where it is read."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from autofix.core.edit import Declined
from autofix.core.model import Diagnosis
from autofix.probe.wire import Stack
from autofix.search import anew
from autofix.syntax import blocks, calls, names, vocabulary
from autofix.syntax.edits import Step, delete, insert_after, insert_before, replace_statement
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources

Renamed = dict[ast.AST, str]
_CONSTRUCTORS = ("__init__", "__new__", "__post_init__")


@dataclass(frozen=True, slots=True)
class Kept:
    """The attributes that one method made, and that a later pass met without their graph."""

    source: Source
    maker: ast.FunctionDef
    statements: tuple[ast.stmt, ...]
    used: tuple[Stack, ...]
    failed: Stack
    graph: frozenset[ast.stmt]
    """The statements that made the graph, here and elsewhere."""
    sources: Sources

    @property
    def _me(self) -> str:
        return self.maker.args.args[0].arg

    @property
    def paths(self) -> str:
        """The attributes, as the method writes them."""
        return ", ".join(f"{self._me}.{name_of(one)}" for one in self.statements)

    def where_read(self) -> list[Step]:
        """Before the one method of its class that reads them, else by properties; before another reader at worst."""
        readers = {source.function(node) for source, node in self._nodes(ast.Load)}
        if len(readers) == 1 and (steps := self._repeated(beside=True)):
            return steps
        try:
            return self._properties()
        except Declined:
            if steps := self._repeated(beside=False):
                return steps
            raise

    def _properties(self) -> list[Step]:
        """A property in the place of each attribute."""
        if any(True for _ in self._nodes(ast.Store)) or any(map(_written, self._nodes(ast.Load))):
            raise Declined(f"{self.paths} is also assigned elsewhere")
        if any(isinstance(one, ast.Expr) for one in self.statements):
            raise Declined(f"{self.paths} is a buffer: a property in its place would not be saved with the module")
        lines: list[str] = []
        gone: dict[ast.stmt, None] = {}
        kept: dict[str, ast.stmt] = {}
        for one in self.statements:
            leading, renamed = self._leading(one, kept)
            first, *rest = _lines(self.source, one, renamed)
            body = [line for each in leading for line in _lines(self.source, each, renamed)]
            body += [re.sub(r"^[\w.]+\s*=\s*", "return ", first), *rest]
            header = f"def {name_of(one)}({self._me}):"
            lines += ["", "@property", header, *(f"    {line}" for line in body)]
            gone |= dict.fromkeys([*leading, one])
        moved = {part for one in gone for part in ast.walk(one)}
        read = {part.id for part in ast.walk(self.maker) if isinstance(part, ast.Name) and part not in moved}
        read |= set(kept)
        idle = [one for one in gone if not names.binds(one) & read]
        if self._is_helper(idle):
            raise Declined(f"{self.maker.name} would be left empty")
        steps = [step for one in idle if one not in kept.values() for step in delete(self.source, one)]
        return [*steps, *self._keeping(kept, gone), *insert_after(self.source, self.maker, lines)]

    def _keeping(self, kept: dict[str, ast.stmt], gone: Iterable[ast.stmt]) -> list[Step]:
        """Values of the method that the object is to keep: where they are needed first, instead of what goes there."""
        steps: list[Step] = []
        for place in dict.fromkeys(kept.values()):
            lines = [f"{self._me}.{name} = {name}" for name, at in kept.items() if at is place]
            put = replace_statement if place in gone else insert_before
            steps += put(self.source, place, lines)
        return steps

    def _repeated(self, *, beside: bool) -> list[Step]:
        """The statements, or the helper that consists of them, before a function that the pass went through reads them.

        `beside`: in a method of the same class.
        """
        passed = {
            (source, source.function(node)) for stack in self.used for _, source, node in self.sources.located(stack)
        }
        for source, read in self._nodes(ast.Load):
            user, holder = source.function(read), calls.path_of(read.value)
            same = user is not None and source.parent(user) is self.source.parent(self.maker) and holder == self._me
            if holder and (source, user) in passed and (same or not beside):
                kept: dict[str, ast.stmt] = {}
                lines = self._again(holder, kept)
                place = self._place(source, read, holder)
                return [*self._keeping(kept, ()), *insert_before(source, place, lines)]
        return []

    def _again(self, holder: str, kept: dict[str, ast.stmt]) -> list[str]:
        found = [(one, *self._leading(one, kept)) for one in self.statements]
        before = [each for _, leading, _ in found for each in leading]
        if self._is_helper([*self.statements, *before]):
            return [f"{holder}.{self.maker.name}()"]
        if before:
            raise Declined(f"several statements make {self.paths}")
        lines: list[str] = []
        for one, _, renamed in found:
            own = {node: self._me for node in ast.walk(one) if isinstance(node, ast.Name) and node.id == self._me}
            moved = {node: text.replace(self._me, holder, 1) for node, text in (own | renamed).items()}
            lines += _lines(self.source, one, moved)
        return lines

    def _place(self, source: Source, read: ast.Attribute, holder: str) -> ast.stmt:
        """The outermost statement around a read that each pass runs, and before which its object is known."""
        at, root = source.statement(read), holder.partition(".")[0]
        for one in blocks.around(source, at):
            loop = isinstance(one, (ast.For, ast.While)) and blocks.passed(source, one, self.failed)
            if loop or root in names.binds(one):
                break
            at = one if isinstance(one, ast.stmt) else at
        return at

    def _leading(self, statement: ast.stmt, keep: dict[str, ast.stmt]) -> tuple[list[ast.Assign], Renamed]:
        """The statements before one that its value needs, and what other variables of the method are in the object.

        What is no part of the graph the object is made to `keep`, where it does not: each name, and before what.
        """
        given = (pair for one in self.maker.body for pair in _given(one))
        kept = {value.id: f"{self._me}.{name}" for name, value in given if isinstance(value, ast.Name)}
        leading, wanted = self._made_of(statement, whole=True)
        if not wanted <= set(kept) - names.bound_by(leading):
            leading, wanted = self._made_of(statement, whole=False)
            if again := wanted & names.bound_by(leading):
                raise Declined(f"{', '.join(sorted(again))} is made in several steps")
        missing = wanted - set(kept)
        if taken := [name for name in missing if any(True for _ in self._attributes(name))]:
            raise Declined(f"the object does not keep {', '.join(sorted(taken))}")
        keep |= dict.fromkeys(sorted(missing), leading[0] if leading else statement)
        kept |= {name: f"{self._me}.{name}" for name in missing}
        nodes = [node for one in (*leading, statement) for node in ast.walk(one)]
        self._refuse(nodes, f"{self._me}.{name_of(statement)}")
        return leading, {node: kept[node.id] for node in nodes if isinstance(node, ast.Name) and node.id in wanted}

    def _made_of(self, statement: ast.stmt, *, whole: bool) -> tuple[list[ast.Assign], set[str]]:
        """The statements before one that its value needs, and what it needs besides; `whole`: not the graph alone."""
        wanted = names.locals_read(self.maker, _kept(statement)[1]) - {self._me}
        leading: list[ast.Assign] = []
        for one in reversed(self._before(statement)):
            if (bound := names.binds(one)) & wanted and (whole or one in self.graph):
                if not isinstance(one, ast.Assign) or not all(map(str.isidentifier, bound)):
                    raise Declined(f"several statements make {', '.join(bound & wanted)}")
                leading.insert(0, one)
                wanted = wanted - bound | names.locals_read(self.maker, one.value) - {self._me}
        return leading, wanted

    def _before(self, statement: ast.stmt) -> list[ast.stmt]:
        """The statements of the method before one, which may stand under a condition but in no loop."""
        if not all(isinstance(one, ast.If) for one in blocks.holders(self.source, statement)[1:]):
            raise Declined(f"{self.paths} is made in a loop")
        return blocks.above(self.source, statement)

    def _refuse(self, nodes: Iterable[ast.AST], path: str) -> None:
        """Decline to compute again what would be another: random numbers, and what is trained by itself."""
        for node in nodes:
            if isinstance(node, ast.Attribute) and ast.unparse(node) == path and isinstance(node.ctx, ast.Load):
                raise Declined(f"{path} is made of its own last value")
            if isinstance(node, ast.Call) and anew.draws(node, self.source, self.sources):
                raise Declined(f"{calls.name_of(node)} would draw other random numbers")
            if isinstance(node, ast.Call) and (
                calls.name_of(node) == "Parameter" or calls.keyword(node, "requires_grad")
            ):
                raise Declined(f"{path} is made of a new parameter, which would be another one each time")

    def _is_helper(self, statements: Iterable[ast.stmt]) -> bool:
        """Whether the method that made them does nothing else, and is called without arguments."""
        kept = {*statements, *self.maker.body[: self.maker.body.index(blocks.top(self.maker))]}
        alone = self.maker.name not in _CONSTRUCTORS and len(calls.parameters(self.maker)) == 1
        return alone and kept >= set(self.maker.body)

    def _nodes(self, context: type[ast.Load | ast.Store]) -> Iterator[tuple[Source, ast.Attribute]]:
        """Where the project reads or writes the attributes, but for these statements and `self` of other classes."""
        own = {id(node) for one in self.statements for node in ast.walk(one)}
        for source, node in self._attributes(*map(name_of, self.statements)):
            if isinstance(node.ctx, context) and id(node) not in own:
                yield source, node

    def _attributes(self, *wanted: str) -> Iterator[tuple[Source, ast.Attribute]]:
        """Where the project names some attributes, but for `self` of other classes."""
        entry = self.sources.source(self.failed[-1].file) or self.source
        for source in dict.fromkeys((self.source, *self.sources.imported_by(entry))):
            for node in source.walk():
                if isinstance(node, ast.Attribute) and node.attr in wanted:
                    home = source.parent(source.function(node) or node)
                    if calls.path_of(node.value) != "self" or home is self.source.parent(self.maker):
                        yield source, node


def made_once(diagnosis: Diagnosis, sources: Sources) -> list[Kept]:
    """What crosses to the next pass, was freed or cannot be copied, as far as methods keep it as attributes."""
    crossings, trace = diagnosis.crossed, diagnosis.trace
    made = [one.made for one in crossings] + [one.made for one in trace.saved]
    made += [one.stack for one in trace.origins if trace.copied]
    found: dict[ast.FunctionDef, tuple[Source, set[ast.stmt]]] = {}
    for stack in made:
        for _, source, node in sources.located(stack):
            statement, maker = source.statement(node), source.function(node)
            if isinstance(maker, ast.FunctionDef) and _keeps(statement, maker, source):
                found.setdefault(maker, (source, set()))[1].add(statement)
                break
    used, failed = tuple(one.used for one in crossings), diagnosis.failure.stack
    graph = frozenset(source.statement(node) for stack in made for _, source, node in sources.located(stack))
    return [
        Kept(source, maker, tuple(sorted(kept, key=lambda one: one.lineno)), used, failed, graph, sources)
        for maker, (source, kept) in found.items()
    ]


def name_of(statement: ast.stmt) -> str:
    """The attribute that a statement gives a value, as a buffer or as it is; '' if it does neither."""
    return _kept(statement)[0]


def _kept(statement: ast.stmt) -> tuple[str, ast.expr, str]:
    match statement:
        case ast.Assign(targets=[ast.Attribute(value=ast.Name(id=holder), attr=name)], value=value):
            return name, value, holder
        case ast.Expr(
            ast.Call(ast.Attribute(ast.Name(id=holder), "register_buffer"), [ast.Constant(str(name)), value, *_])
        ):
            return name, value, holder
    return "", ast.Constant(None), ""


def _given(statement: ast.stmt) -> list[tuple[str, ast.expr]]:
    """Each attribute that a statement gives a value, and the value: `self.a, self.b = a, b` gives two."""
    match statement:
        case ast.Assign(targets=[ast.Tuple(elts=to)], value=ast.Tuple(elts=values)) if len(to) == len(values):
            return [(one.attr, value) for one, value in zip(to, values, strict=True) if isinstance(one, ast.Attribute)]
    return [_kept(statement)[:2]] if name_of(statement) else []


def _keeps(statement: ast.stmt, maker: ast.FunctionDef, source: Source) -> bool:
    """Whether a statement of a method gives one attribute of its object a value."""
    method = isinstance(source.parent(maker), ast.ClassDef) and not maker.decorator_list
    return method and bool(name_of(statement)) and calls.parameters(maker)[:1] == [_kept(statement)[2]]


def _written(place: tuple[Source, ast.Attribute]) -> bool:
    """Whether something is put into the value of an attribute where it is read."""
    source, node = place
    match source.parent(node):
        case ast.Subscript(ctx=ast.Store() | ast.Del()):
            return True
        case ast.Attribute(attr=name):
            return vocabulary.writes(name) or name in vocabulary.STORES
    return False


def _lines(source: Source, statement: ast.stmt, renamed: Renamed) -> list[str]:
    inside = {*ast.walk(statement)}
    return names.copied(source, statement, renamed={node: text for node, text in renamed.items() if node in inside})
