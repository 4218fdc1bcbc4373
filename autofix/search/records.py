"""What a function takes out of a record, and how it computes that anew from what is stored beside it."""

from __future__ import annotations

import ast
import builtins
import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from autofix.core.edit import Declined
from autofix.probe.wire import Crossing, Frame
from autofix.search import anew
from autofix.syntax import blocks, calls, names
from autofix.syntax.calls import Function
from autofix.syntax.edits import Step, insert_after, insert_before, replace
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources

DEEPEST = 3
"""How many calls around the one that made a value, and how many variables that it was made of, are looked at."""
_SEVERAL = ("{}s", "{}es", "{}_list", "{}_batch", "batch_{}", "all_{}")
"""What a batch of something is called."""


_RECORD = re.compile(r"(?:data|named)\(.*\)|\{'.*\}")
"""A record of named fields, or a dict, in the form of a container."""


@dataclass(slots=True)
class Taken:
    """A variable that a statement takes out of a record, beside others; `several`: it holds a batch."""

    source: Source
    function: Function
    statement: ast.stmt
    path: str
    beside: dict[str, str]
    """What is stored beside it, as it is written here, by its name where it is made."""
    several: bool
    each: dict[str, str] = field(default_factory=dict)
    """By the name of one, that of the batch which it is taken from."""

    def again(self, made_in: Source, made: ast.expr, sources: Sources) -> list[Step]:
        """The lines that compute it anew, where the record is taken apart."""
        if any(anew.draws(call, made_in, sources) for call in calls.within(made)):
            raise Declined(f"{self.path} would be made of new random numbers")
        self.each, stored = {}, set[str]()
        text = ast.unparse(self._spelled(made, made_in, stored))
        if not stored:
            raise Declined(f"nothing that {self.path} was computed from is stored beside it")
        if self.each:
            ones, batches = ", ".join(self.each), ", ".join(self.each.values())
            text = f"[{text} for {ones} in {batches if len(self.each) == 1 else f'zip({batches})'}]"
        return self.placed(text)

    def placed(self, text: str) -> list[Step]:
        """The edits that give it this value."""
        line = f"{self.path} = {text}"
        if isinstance(self.statement, ast.For):
            return insert_before(self.source, self.statement.body[0], [line])
        return insert_after(self.source, self.statement, [line])

    def _spelled(self, made: ast.expr, made_in: Source, stored: set[str], depth: int = 0) -> ast.expr:
        """An expression in the words of the function that takes the record apart."""
        maker = made_in.function(made)
        locals_there = names.locals_of(maker) if maker is not None else set[str]()
        taken = self

        class Spelling(ast.NodeTransformer):
            def visit_Name(self, node: ast.Name) -> ast.expr:
                name = node.id
                if (batch := taken.batch(name)) and name in (locals_there or {name}):
                    stored.add(batch)
                    return node if taken.several else ast.parse(batch, mode="eval").body
                value = names.bound_once(maker, name) if maker is not None and depth < DEEPEST else None
                if value is not None:
                    return taken._spelled(value, made_in, stored, depth + 1)
                return taken.known(node, maker, made_in)

        found: ast.expr = Spelling().visit(copy.deepcopy(made))
        return found

    def batch(self, name: str) -> str:
        """What is stored of something under this name, or under that of several; '' where nothing is."""
        if not self.several:
            return self.beside.get(name, "")
        wanted = (form.format(name) for form in _SEVERAL)
        if found := next((one for one in wanted if one in self.beside), ""):
            self.each[name] = found
        return found

    def known(self, node: ast.Name, maker: Function | None, made_in: Source) -> ast.expr:
        """A name that means the same here and there: the object, what the file knows, or an argument of both."""
        here = names.locals_of(self.function)
        if maker is None or node.id not in names.locals_of(maker):
            same = made_in is self.source or node.id in self.source.imported or hasattr(builtins, node.id)
        elif node.id == "self":
            same = self.source.parent(self.function) is made_in.parent(maker)
        else:
            return node if node.id in calls.parameters(self.function) else _decline(node.id)
        return node if same and (node.id not in here or node.id == "self") else _decline(node.id)


@dataclass(kw_only=True)
class Part(Taken):
    """A part of a record that expressions read: `item.q`, `item["q"]`; `several`: of a batch of records."""

    part: str
    spelled: str
    """How a part of the record is read here, with a place for its name."""
    fields: list[str]
    reads: list[ast.expr]

    def again(self, made_in: Source, made: ast.expr, sources: Sources) -> list[Step]:
        """The edits that compute it anew where it is read."""
        bound = names.binds(made_in.statement(made))
        for given in _stored(made_in.function(made) or made_in.tree, self.fields):
            value = given.get(self.part)
            if value is not None and (value is made or calls.path_of(value) in bound):
                pairs = ((one.id, name) for name, one in given.items() if isinstance(one, ast.Name))
                self.beside = {known: self.spelled.format(name) for known, name in pairs}
                return Taken.again(self, made_in, made, sources)
        raise Declined(f"it is not in sight where {self.path} is stored")

    def batch(self, name: str) -> str:
        """The part of the same record that was stored under this name."""
        found = self.beside.get(name, "")
        if found and self.several:
            self.each[name] = found
        return found

    def placed(self, text: str) -> list[Step]:
        """In the place of what is read; where that is read several times, by a variable that is bound before."""
        if len(self.reads) == 1:
            return replace(self.source, self.reads[0], text)
        first = self.source.statement(self.reads[0])
        block = blocks.block_of(self.source, first)
        following = {node for one in (first, *blocks.after(block, first)) for node in ast.walk(one)}
        if not following.issuperset(self.reads):
            raise Declined(f"{self.path} is read in several places")
        name = names.unused(self.source, f"{self.part}_now")
        edits = insert_before(self.source, first, [f"{name} = {text}"])
        return edits + [step for one in self.reads for step in replace(self.source, one, name)]


def _decline(name: str) -> ast.expr:
    raise Declined(f"{name} is not known where the record is taken apart")


def taken(crossing: Crossing, sources: Sources) -> Iterator[Taken]:
    """Where functions in which the failing graph was made take what crosses out of records.

    By the variable that held it when the run failed; where that holds the next record by then, by what is read there.
    """
    for frame, source, node in sources.nodes(crossing.used):
        function = source.function(node)
        if function is None:
            continue
        here = {one.path: one.kind for one in crossing.carriers if one.function == frame.function}
        read = dict.fromkeys(one.id for one in _values(node))
        for statement, target in _taking_apart(function):
            parts = {part.id for part in names.parts(target) if isinstance(part, ast.Name)}
            held = [path for path in here if path in parts]
            for path in held or [one for one in read if one in parts][:1]:
                several = here[path] != "tensor" if held else isinstance(statement, ast.Assign)
                yield Taken(source, function, statement, path, {one: one for one in parts - {path}}, several)
        yield from _parts(crossing, frame, source, function, node)


def _stored(tree: ast.AST, fields: list[str]) -> Iterator[dict[str, ast.expr]]:
    """What is given to each call, or stands in each dict: its values by their names."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(args=values) if fields and len(values) == len(fields):
                yield dict(zip(fields, values, strict=True))
            case ast.Call(keywords=words):
                yield {one.arg: one.value for one in words if one.arg}
            case ast.Dict(keys=keys, values=values):
                pairs = zip(keys, values, strict=True)
                yield {str(key.value): one for key, one in pairs if isinstance(key, ast.Constant)}


def _parts(crossing: Crossing, frame: Frame, source: Source, function: Function, node: ast.AST) -> Iterator[Part]:
    """The parts of records of named fields, or of dicts, that an expression reads."""
    held = {one.path: one.kind for one in crossing.carriers if one.function == frame.function}
    forms = [found[0] for one in crossing.carriers if (found := _RECORD.search(one.kind))]
    loops = (one for one in ast.walk(function) if isinstance(one, (ast.For, ast.comprehension)))
    each = {name for one in loops for name in names.targets(one.target)}
    for record, part, spelled in dict.fromkeys(map(_part, ast.walk(node))):
        named = rf"\b{re.escape(part)}(?:=|': )"
        form = held.get(record) or next((one for one in forms if re.search(named, one)), "")
        kind = re.search(rf"{named}(tensor|[\[(]\*tensor)", form) if part else None
        if kind is None or (record not in held and (kind[1] != "tensor" or record not in each)):
            continue  # what no loop takes out of the memory may be a batch
        path = spelled.format(part)
        nodes = (one for one in ast.walk(function) if isinstance(one, (ast.Attribute, ast.Subscript)))
        reads: list[ast.expr] = [one for one in nodes if ast.unparse(one) == path]
        reads.sort(key=lambda one: (one.lineno, one.col_offset))
        yield Part(
            source, function, source.statement(node), path, {}, kind[1] != "tensor",
            part=part, spelled=spelled, fields=re.findall(r"(\w+)=", form), reads=reads,
        )  # fmt: skip


def _part(node: ast.AST) -> tuple[str, str, str]:
    """The variable and the field of `record.field` or `record["field"]`, and how the fields of that are read."""
    match node:
        case ast.Attribute(value=ast.Name(id=record), attr=field):
            return record, field, f"{record}.{{}}"
        case ast.Subscript(value=ast.Name(id=record), slice=ast.Constant(value=str(field))) if field.isidentifier():
            return record, field, f"{record}['{{}}']"
    return "", "", ""


def _values(node: ast.AST) -> Iterator[ast.Name]:
    """The names that an expression reads, but for the indices of what it takes a part of."""
    if isinstance(node, ast.Name):
        yield node
    for name, part in ast.iter_fields(node):
        for one in part if isinstance(part, list) else [part]:
            if isinstance(one, ast.AST) and not (isinstance(node, ast.Subscript) and name == "slice"):
                yield from _values(one)


def _taking_apart(function: Function) -> Iterator[tuple[ast.For | ast.Assign, ast.expr]]:
    """The loops and assignments of a function that bind several variables at once, and these."""
    for one in ast.walk(function):
        match one:
            case ast.For(target=ast.Tuple() as target) | ast.Assign(targets=[ast.Tuple() as target]):
                yield one, target
