"""What is drawn at random behind a value: found in the text, through what a loop binds and the functions it calls."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from autofix.syntax import calls, names
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources

_ORDERS = frozenset({
    "randperm", "permutation", "shuffle", "RandomSampler", "SubsetRandomSampler", "WeightedRandomSampler",
    "random_split",
})  # fmt: skip
"""What puts examples into a random order, or draws them so."""
_SPLITS = "train_test_split"
"""What does so unless it is told not to."""
_NUMBERS = frozenset({"randint", "integers", "randrange", "random_integers"})
"""What draws numbers: where a sequence is taken by them, its parts come in random order."""
_PICKS = frozenset({"choice", "choices", "sample"})
"""What draws some of a sequence, as `random` and numpy call it."""
_SIZES = frozenset({"len", "size", "numel", "shape"})
"""What is asked of a sequence for its size: its values are not used."""


def mixes(call: ast.Call) -> bool:
    """Whether a call puts examples into another order than theirs: a random one, or one by their size.

    What is sorted by its length, so that equal ones stand together, are examples that have nothing to do with each
    other. By its time or its name a series is sorted, too.
    """
    name, key = calls.name_of(call), calls.keyword(call, "key")
    if name == _SPLITS:
        return not is_false(calls.keyword(call, "shuffle"))
    by_size = key is not None and any(
        isinstance(one, ast.Name | ast.Attribute) and _is_size(one) for one in ast.walk(key)
    )
    return name in _ORDERS or (name in {"sorted", "sort"} and by_size)


def mixed(statement: ast.AST, name: str) -> ast.Call | None:
    """The call by which a statement puts what a variable holds into such an order in place."""
    match statement:
        case ast.Expr(value=ast.Call(args=[ast.Name(id=put), *_]) as call) if put == name and mixes(call):
            return call
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=put), attr="sort")) as call) if put == name:
            return call if mixes(call) else None
    return None


def _is_size(node: ast.Name | ast.Attribute) -> bool:
    return calls.name_of(node) in _SIZES


def is_false(node: ast.expr | None) -> bool:
    """Whether what a call is told is no, as the text says it."""
    return isinstance(node, ast.Constant) and not node.value


@dataclass(frozen=True, slots=True)
class Drawing:
    """Looks for the draw behind a value: through what `scope`, a loop or a function, binds and the functions it calls.

    What indexes something (`is_index`) is followed to where it was put into an order, also before the loop. `bound`:
    what comprehensions around the value go through, by name. `seen`: what was looked at.
    """

    sources: Sources
    source: Source
    scope: ast.AST
    bound: Mapping[str, ast.expr] = field(default_factory=dict)
    is_index: bool = False
    is_outside: bool = False
    seen: set[tuple[int, bool]] = field(default_factory=set)

    def finds(self, value: ast.AST) -> bool:
        """Whether a value is drawn, or taken at a place that is."""
        if (id(value), self.is_index) in self.seen:
            return False
        self.seen.add((id(value), self.is_index))
        match value:
            case ast.Subscript(value=base, slice=index):
                before = self._was_before(base)
                return (before and (self._at().finds(index) or self._was_mixed(base, index))) or self.finds(base)
            case ast.Compare() | ast.Lambda():
                return False
            case ast.Attribute(attr=name) if name in _SIZES:
                return False
            case ast.Call():
                return self._calls(value)
            case ast.Name(ctx=ast.Load()):
                return self._is_given(value)
            case ast.ListComp(generators=parts) | ast.GeneratorExp(generators=parts) | ast.SetComp(generators=parts):
                through = {name: part.iter for part in parts for name in names.binds(part.target)}
                inner = replace(self, bound={**self.bound, **through})
                return inner.finds(value.elt) or any(self.finds(part.iter) for part in parts)
        return any(map(self.finds, ast.iter_child_nodes(value)))

    def _was_before(self, *values: ast.AST) -> bool:
        """Whether values stood ready before the scope, at least in part: data that it draws from, and does not make."""
        read = {one.id for value in values for one in ast.walk(value) if isinstance(one, ast.Name)}
        through = [self.bound[name] for name in read & self.bound.keys()]
        made = names.bound_by(one for one in ast.walk(self.scope) if isinstance(one, ast.Assign | ast.For))
        return bool(read - made - self.bound.keys()) or (bool(through) and self._was_before(*through))

    def _was_mixed(self, base: ast.expr, index: ast.expr) -> bool:
        """Whether each turn takes another part of what was put into another order before the scope."""
        made = names.bound_by(one for one in ast.walk(self.scope) if isinstance(one, ast.Assign | ast.For))
        if not isinstance(base, ast.Name) or not names.reads(index) & made:
            return False
        inside, function = {id(one) for one in ast.walk(self.scope)}, self.source.function(base)
        for one in self.source.mentioning(base.id):
            if id(one) in inside or self.source.function(one) not in {function, None}:
                continue
            pairs = names.paired(one) if isinstance(one, ast.Assign) else ()
            given = (value for part, value in pairs if base.id in names.binds(part))
            if mixed(one, base.id) is not None or any(map(self._reorders, given)):
                return True
        return False

    def _reorders(self, value: ast.expr) -> bool:
        """Whether a value is data in another order: what a call mixes, or what is taken at random places."""
        if isinstance(value, ast.Subscript):
            return replace(self, is_index=True, is_outside=True).finds(value.slice)
        return isinstance(value, ast.Call) and mixes(value)

    def _at(self) -> Drawing:
        return replace(self, is_index=True)

    def _calls(self, call: ast.Call) -> bool:
        name = calls.name_of(call)
        if name in _SIZES:
            return False
        picks = name in _PICKS and bool(call.args) and bool(calls.known(self.source, call.func, ("random", "numpy")))
        numbers = name in _NUMBERS and self.is_index and not self.is_outside
        if (mixes(call) and (self.is_index or self._was_before(*call.args))) or numbers:
            return True
        if picks and not self.is_outside:
            return True
        if (made := self.sources.called(self.source, call)) is not None and not self.is_outside:
            home, function = made
            inside = Drawing(self.sources, home, function, is_index=self.is_index, seen=self.seen)
            returned = (one.value for one in ast.walk(function) if isinstance(one, ast.Return | ast.Yield))
            if any(inside.finds(one) for one in returned if one is not None):
                return True
        return any(map(self.finds, ast.iter_child_nodes(call)))

    def _is_given(self, used: ast.Name) -> bool:
        """Whether a variable holds what was drawn: within the scope, or an order that was made before it.

        What the scope gives it behind its use is what the turn before left, as an action is that led to the next
        observation.
        """
        if (name := used.id) in self.bound:
            return self.finds(self.bound[name])
        inside = {id(one) for one in ast.walk(self.scope)}
        function = self.scope if isinstance(self.scope, calls.Function) else self.source.function(self.scope)
        for one in self.source.mentioning(name):
            within, own = id(one) in inside, self.source.function(one) in {function, None}
            if one is self.scope or not own or not (within or self.is_index):
                continue
            found = self if within else replace(self, is_outside=True)
            match one:
                case ast.Assign() | ast.AnnAssign() if within and one.lineno > used.lineno:
                    continue
                case ast.Assign() | ast.AnnAssign():
                    values: list[ast.AST] = [value for part, value in names.paired(one) if name in names.binds(part)]
                case ast.For(target=target, iter=iterable) if name in names.binds(target):
                    values = [iterable]
                case ast.Call(args=[ast.Name(id=put)]) if put == name and calls.name_of(one) == "shuffle":
                    return self.is_index
                case _:
                    continue
            if any(map(found.finds, values)):
                return True
        return False
