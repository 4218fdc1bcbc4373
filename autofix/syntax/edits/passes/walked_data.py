"""Data that a pass is given by a name of its own, and writes in place: who takes the same again finds what it left."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field

from autofix.probe.wire import Frame
from autofix.syntax import blocks, calls, names, writes
from autofix.syntax.calls import Function, path_of
from autofix.syntax.edits.lasting import Lasting
from autofix.syntax.one_tensor import writes_to_one
from autofix.syntax.reaching import reads_in
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources
from autofix.syntax.vocabulary import DERIVES, PARTS, WRAPPING

_LIBRARIES = ("torch", "numpy", "random", "math")
_COUNTS = frozenset({"range", "slice", "len", "float", "int", "min", "max", "abs", "enumerate"})
_PAIRING = frozenset({"zip", "enumerate", "iter", "next", "list", "tqdm", "reversed"})
_NOISE = frozenset({"randn", "randn_like", "rand_like", "normal", "normal_"})
_WRITES = (ast.AugAssign, ast.Subscript, ast.Call)


def walked_data(sources: Sources, stack: Sequence[Frame]) -> Lasting | None:
    """What gives a pass the data that it writes to by a name of its own, if it makes the new values of nothing else.

    An item of a list or of a data set, an attribute of one, what a function keeps, a default, or a tensor that a call
    hands over. The new values are made of the old ones, numbers, draws, and what the module holds: what is made of
    other data of the pass, or of a gradient, makes a state of it.
    """
    frames = [(source, node) for _, source, node in sources.nodes(stack)]
    if not frames:
        return None
    source, node = frames[0]
    statement = source.statement(node)
    written = (one for one in ast.walk(statement) if isinstance(one, _WRITES) and writes.written(source, one))
    if (write := next(written, None)) is None or not writes.written(source, write).isidentifier():
        return None
    group = writes_to_one(source, write)
    scopes = [_Scope(sources, *one) for one in frames]
    definitions = scopes[0].given(writes.written(source, write), statement) - {source.statement(one) for one in group}
    if (found := _origin(scopes, definitions)) is None or found.given in _defaults(scopes[0]):
        return found
    made = _Made(scopes, frozenset(writes.written(source, one) for one in group))
    return found if all(made.is_of_itself(one) for one in group) else None


def _defaults(scope: _Scope) -> list[ast.expr]:
    return [*calls.defaults(scope.function).values()] if scope.function is not None else []


class _Scope:
    """The function of one frame, and which statements gave its variables their values."""

    def __init__(self, sources: Sources, source: Source, node: ast.AST) -> None:
        self.sources, self.source, self.node = sources, source, node
        self.function: Function | None = source.function(node)
        self.reads = reads_in(self.function or source.tree)

    def given(self, name: str, statement: ast.stmt) -> frozenset[ast.AST]:
        """What gave a variable the value that a statement reads, or writes a part of: who reads it later tells that."""
        inside = {one for one in ast.walk(statement) if isinstance(one, ast.Name) and one.id == name}
        mine = {one: found for one, found in self.reads.items() if one in inside or path_of(one) == name}
        return frozenset[ast.AST]().union(
            *(found for one, found in mine.items() if one in inside or statement in found)
        )

    def handed(self, definition: ast.arg, called: Function) -> ast.expr | None:
        """What the call of this frame hands to a function for a parameter."""
        return calls.handed(self.node, called, definition.arg)


# Where it comes from ------------------------------------------------------------------------------------------------


def _origin(scopes: Sequence[_Scope], definitions: frozenset[ast.AST]) -> Lasting | None:
    """What gives a name its data, where that may be given again: followed through assignments and calls."""
    scope = scopes[0]
    match [*definitions]:
        case [ast.arg(arg=name) as parameter] if scope.function is not None:
            handed = scopes[1].handed(parameter, scope.function) if len(scopes) > 1 else None
            default = calls.defaults(scope.function).get(name)
            if handed is None:
                made = isinstance(default, ast.Call)
                return Lasting(name, scope.source, default) if default is not None and made else None
            return _source(scopes[1:], handed)
        case [ast.Assign() | ast.AnnAssign() as statement]:
            given = [value for _, value in names.paired(statement)]
            target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
            single = given if isinstance(target, ast.Name) or len(set(map(id, given))) == 1 else []
            return _source(scopes, single[0]) if single else None
        case [ast.For(iter=walked) | ast.comprehension(iter=walked)]:
            return _walked(scope, walked)
    return None


def _source(scopes: Sequence[_Scope], value: ast.expr) -> Lasting | None:
    """The same of a value: a part or another view of a variable, what a function of the user's gives, an attribute."""
    scope, shown = scopes[0], writes.shown(value)
    while isinstance(shown, ast.Call) and calls.name_of(shown) in WRAPPING and shown.args:
        shown = writes.shown(shown.args[0])
    if isinstance(shown, ast.Name):
        definitions = scope.reads.get(shown, frozenset())
        if not definitions or _is_before(scope, definitions):
            return Lasting(shown.id, scope.source, value)
        return _origin(scopes, definitions)
    if path := path_of(shown):
        first = path.partition(".")[0]
        moving = any(isinstance(one, ast.Subscript) and _moves(one.slice) for one in ast.walk(value))
        return Lasting(path, scope.source, value) if first != "self" or moving else None
    if isinstance(shown, ast.Call) and scope.sources.called(scope.source, shown) is not None:
        return Lasting(ast.unparse(shown), scope.source, value)
    return None


def _is_before(scope: _Scope, definitions: frozenset[ast.AST]) -> bool:
    """Whether a variable got its value once, before the loop that its frame stands in."""
    loops = {one for one in scope.source.around(scope.node) if isinstance(one, (ast.For, ast.While))}
    assigned = all(isinstance(one, (ast.Assign, ast.AnnAssign)) for one in definitions)
    apart = all(loops.isdisjoint(scope.source.around(one)) for one in definitions)
    return bool(loops) and len(definitions) == 1 and assigned and apart


def _moves(index: ast.expr) -> bool:
    return any(isinstance(one, ast.Name) for one in ast.walk(index))


def _walked(scope: _Scope, walked: ast.expr) -> Lasting | None:
    """What a loop goes through, if it may go through the same again."""
    while isinstance(walked, ast.Call) and calls.name_of(walked) in _PAIRING and walked.args:
        walked = walked.args[0]
    if isinstance(walked, ast.Call):
        parts = isinstance(walked.func, ast.Attribute) and walked.func.attr in PARTS
        if not parts and scope.sources.called(scope.source, walked) is None:
            return None
    return Lasting(ast.unparse(walked), scope.source, walked) if any(blocks.loops(scope.source, walked)) else None


# What it is made of -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Made:
    """Values as the first of these functions makes them, which calls those before it; `own` are names of the data."""

    scopes: Sequence[_Scope]
    own: frozenset[str] = frozenset()
    known: dict[ast.AST, bool] = field(default_factory=dict)
    """What was found of definitions; all that a write is made of has to be plain, so that each is looked at once."""

    def is_of_itself(self, write: ast.AST) -> bool:
        """Whether a write makes the new values of the old ones, and of nothing that this pass brings otherwise."""
        match write:
            case ast.AugAssign(target=target, value=value):
                return self.is_plain(target) and self.is_plain(value)
            case ast.Call():
                return all(map(self.is_plain, calls.values(write)))
            case ast.Subscript(slice=index):
                statement = self.scopes[0].source.statement(write)
                return self.is_plain(index) and (
                    not isinstance(statement, ast.Assign) or self.is_plain(statement.value)
                )
        return False

    def is_plain(self, value: ast.AST) -> bool:
        """Whether a value is made of the data, of numbers, draws, and what stands ready for all passes."""
        for node in ast.walk(value):
            if isinstance(node, ast.Attribute) and node.attr == "grad":
                return False
            if isinstance(node, ast.Subscript) and _moves(node.slice) and not self._is_of_data(node.value):
                return False
            if isinstance(node, ast.Name) and node.id not in self.own and not self._stands(node):
                return False
            if isinstance(node, ast.Call) and not self._is_known(node):
                return False
        return True

    def _stands(self, name: ast.Name) -> bool:
        return all(map(self._is_looked_at, self.scopes[0].reads.get(name, frozenset())))

    def _is_looked_at(self, definition: ast.AST) -> bool:
        """The same of what gave a variable its value: plain while it is looked at, for it may be made of itself."""
        if definition not in self.known:
            self.known[definition] = True
            self.known[definition] = self._is_given_plain(definition)
        return self.known[definition]

    def _is_given_plain(self, definition: ast.AST) -> bool:
        scope = self.scopes[0]
        match definition:
            case ast.arg(arg="self") | ast.FunctionDef() | ast.comprehension():
                return True
            case ast.arg(arg=name) if scope.function is not None:
                handed = self.scopes[1].handed(definition, scope.function) if len(self.scopes) > 1 else None
                if handed is None:
                    return name in calls.defaults(scope.function)
                return _Made(self.scopes[1:]).is_plain(handed)
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                return all(self.is_plain(one) for one in dict.fromkeys(value for _, value in names.paired(definition)))
            case ast.For(iter=walked):
                counted = isinstance(walked, ast.Call) and calls.name_of(walked) == "range"
                roots = {writes.root(one) for one in ast.walk(walked) if isinstance(one, ast.Attribute)}
                held = any(one.startswith("self.") for one in roots)
                return (counted or held) and self.is_plain(walked)
        return isinstance(definition, ast.expr)  # a comprehension

    def _is_known(self, call: ast.Call) -> bool:
        """Whether a call is of torch, a number, or made of the data: another function may bring other data."""
        if calls.known(self.scopes[0].source, call.func, _LIBRARIES):
            return calls.name_of(call) not in DERIVES
        if calls.name_of(call) in _COUNTS and isinstance(call.func, ast.Name):
            return True
        if isinstance(call.func, ast.Attribute) and writes.root(call.func).partition(".")[0] in self._local():
            return True
        return self._is_of_data(call) or self._is_noise(call)

    def _local(self) -> set[str]:
        """The variables of the function, but for its object."""
        return {one.id for one, found in self.scopes[0].reads.items() if isinstance(one, ast.Name) and found} - {"self"}

    def _is_of_data(self, value: ast.AST) -> bool:
        """Whether a value is made of the data, and maybe of more."""
        values, seen = [value], set[ast.AST]()
        for one in values:
            for name in (node for node in ast.walk(one) if isinstance(node, ast.Name)):
                if name.id in self.own:
                    return True
                found = [made for made in self.scopes[0].reads.get(name, ()) if made not in seen]
                seen.update(found)
                values += [made.value for made in found if isinstance(made, ast.Assign)]
        return False

    def _is_noise(self, call: ast.Call) -> bool:
        """Whether a function of the user's draws numbers that are no places in data."""
        called = self.scopes[0].sources.called(self.scopes[0].source, call)
        return called is not None and bool(_NOISE & {calls.name_of(one) for one in calls.within(called[1])})
