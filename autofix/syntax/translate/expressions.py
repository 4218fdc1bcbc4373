"""ExpressionTranslation and the definitions of the names in them, in torch's words."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from enum import Enum, auto

from autofix.core.edit import Declined
from autofix.syntax.calls import Function, known, path_of
from autofix.syntax.names import given_to
from autofix.syntax.reaching import Reaching
from autofix.syntax.source import Source
from autofix.syntax.translate import words
from autofix.syntax.translate.made import (
    MOVED,
    Body,
    Kind,
    Translated,
    atom,
    element,
    joined,
    reason,
    rebuilt,
    short,
    spelled,
)
from autofix.syntax.translate.started import Started


class Wrap(Enum):
    """Which values become tensors that may be arrays or numbers: none, those that are made arrays, or all."""

    NONE = auto()
    MADE = auto()
    ALL = auto()


@dataclass(frozen=True, slots=True)
class Way:
    """How a loss is translated.

    `wrap`: which of the values that may be arrays or numbers become tensors. `to_cpu`: what left torch by way of the
    CPU stays there. `alone`: nothing has a graph but what was converted; what else leaves torch is data, as lists are.
    """

    wrap: Wrap
    to_cpu: bool = False
    alone: bool = False


Resolve = Callable[[Source, ast.Call], tuple[Source, Function] | None]


class ExpressionTranslation:
    """One translation, of one loss; `unsure` tells whether it met values that may be arrays or numbers.

    `converted` are the calls that turn a tensor into an array or number unasked. `recurring`: the `recurs` of a
    translation before it.
    """

    def __init__(
        self, resolve: Resolve, converted: Iterable[ast.AST], way: Way, recurring: Collection[ast.AST] = ()
    ) -> None:  # fmt: skip
        self._resolve, self._converted, self._way = resolve, frozenset(converted), way
        self._recurring = recurring
        self._open: set[ast.AST] = set()
        """Definitions of which is being found out what they give."""
        self._asked: set[ast.AST] = set()
        self.recurs: set[ast.AST] = set()
        """What adds to a list or a sum what is made of it: of tensors, as was found out too late."""
        self.scopes: dict[ast.AST, Body] = {}
        self.unsure = False
        self.takes = False
        """Whether it met calls that make an array of what may be anything, where others do of tensors."""
        self.others = False
        """Whether anything else leaves torch than what was converted."""
        self.by_cpu: set[bool] = set()
        """Whether tensors left torch by way of the CPU: all, none, or some."""

    def scope(self, source: Source, body: Function | ast.Module) -> Body:
        """The scope of a function or module."""
        if body not in self.scopes:
            self.scopes[body] = Body(source, body, Reaching(body))
        return self.scopes[body]

    def put(self, scope: Body, node: ast.expr) -> Translated:
        """Translate an expression where it stands."""
        made = self.value(scope, node)
        if made.changed:
            scope.texts[node] = made.text
        return made

    # Expressions ------------------------------------------------------------------------------------------------------

    def value(self, scope: Body, node: ast.expr) -> Translated:
        """An expression in torch's words."""
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is not None:
            found: Translated = method(scope, node)
            return found
        return self._else(scope, node)

    def _else(self, scope: Body, node: ast.expr) -> Translated:
        """What has no words here must not depend on what is translated."""
        for part in ast.walk(node):
            if isinstance(part, (ast.Name, ast.Attribute)) and part in scope.reaching.reads:
                scope.seen.add(part)
                if self._read(scope, part).kind in MOVED and not isinstance(node, (ast.JoinedStr, ast.FormattedValue)):
                    raise Declined(f"{short(node)} has no counterpart in torch")
        return Translated(scope.source.segment(node), Kind.OTHER)

    def _constant(self, scope: Body, node: ast.Constant) -> Translated:
        number = isinstance(node.value, (int, float)) and not isinstance(node.value, str)
        return Translated(scope.source.segment(node), Kind.NUMBER if number else Kind.OTHER, scalar=number)

    def _name(self, scope: Body, node: ast.Name) -> Translated:
        scope.seen.add(node)
        return self._read(scope, node)

    def _read(self, scope: Body, node: ast.expr) -> Translated:
        text = scope.source.segment(node)
        definitions = scope.reaching.reads.get(node, ())
        found = {one: self._defined(scope, node, one) for one in definitions}
        if not found:
            return replace(self._global(scope, path_of(node)), text=text)
        if any(made.kind in MOVED for made in found.values()):
            found = {
                one: made if made.kind in MOVED else self._joined(scope, node, one, made) for one, made in found.items()
            }
        return replace(joined(list(found.values())), text=text, changed=False)

    def _joined(self, scope: Body, read: ast.expr, definition: ast.AST, made: Translated) -> Translated:
        """What a definition gives where tensors are added to it, or put into it: numpy must not have made it."""
        plain = definition if isinstance(definition, (ast.Assign, ast.AnnAssign)) else None
        value = next(given_to(plain, path_of(read)), None) if plain is not None else None
        text = "" if value is None else Started(self._numpy, self.value, scope).text(value)
        if value is None or not text:
            if any(_fills(one) for one in scope.reaching.reads[read] if scope.known.get(one, made).kind is Kind.ARRAY):
                raise Declined("an array is filled piece by piece")
            return made
        scope.texts[value] = text
        return Translated(text, Kind.LIST if isinstance(value, (ast.List, ast.ListComp)) else Kind.ARRAY, changed=True)

    def _global(self, scope: Body, name: str) -> Translated:
        """A name of the module that a function reads: a number, where nothing else is ever bound to it."""
        bound = [
            node.value
            for node in scope.source.walk()
            if isinstance(node, ast.Assign) and any(path_of(target) == name for target in node.targets)
        ]
        number = bound and all(isinstance(one, ast.Constant) and isinstance(one.value, (int, float)) for one in bound)
        return Translated(name, Kind.NUMBER if number else Kind.OTHER, scalar=bool(number))

    def _attribute(self, scope: Body, node: ast.Attribute) -> Translated:
        word = self._numpy(scope, node)
        if word:
            return Translated(
                scope.source.segment(node), Kind.NUMBER if word in words.CONSTANTS else Kind.OTHER, scalar=True
            )
        if scope.reaching.reads.get(node):
            scope.seen.add(node)
            return self._read(scope, node)
        value = self.value(scope, node.value)
        text = spelled(scope, node, [(node.value, value)])
        if value.kind not in MOVED:
            return Translated(text, value.kind if value.kind is Kind.TORCH else Kind.OTHER, changed=value.changed)
        if node.attr == "size":
            return Translated(f"{atom(value.text)}.numel()", Kind.NUMBER, scalar=True, changed=True)
        if node.attr in ("shape", "ndim", "dtype"):
            return Translated(text, Kind.NUMBER, changed=value.changed)
        if node.attr not in words.KEPT:
            raise Declined(f".{node.attr} of an array has no counterpart in torch")
        return replace(value, text=text)

    def _subscript(self, scope: Body, node: ast.Subscript) -> Translated:
        value, index = self.value(scope, node.value), self._index(scope, node.slice)
        parts = [(node.value, value), *index]
        if value.kind is not Kind.ARRAY:
            kind = Kind.ARRAY if value.kind is Kind.LIST else value.kind
            whole = value.kind is Kind.LIST and isinstance(node.slice, ast.Slice)
            return rebuilt(scope, node, parts, Kind.LIST if whole else kind, value.scalar, value.why)
        steps = [one.step for one in ast.walk(node.slice) if isinstance(one, ast.Slice) and one.step is not None]
        if any(isinstance(step, ast.UnaryOp) for step in steps):
            raise Declined("torch has no slice that goes backwards")
        return rebuilt(scope, node, parts, Kind.ARRAY, False, value.why)

    def _index(self, scope: Body, node: ast.expr) -> list[tuple[ast.expr, Translated]]:
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        bounds = [
            bound
            for part in parts
            for bound in ((part.lower, part.upper, part.step) if isinstance(part, ast.Slice) else (part,))
        ]
        return [(bound, self.value(scope, bound)) for bound in bounds if bound is not None]

    def _binop(self, scope: Body, node: ast.BinOp) -> Translated:
        left, right = self.value(scope, node.left), self.value(scope, node.right)
        operands = [(node.left, left), (node.right, right)]
        if Kind.LIST in (left.kind, right.kind):
            if not isinstance(node.op, ast.Add) or {left.kind, right.kind} != {Kind.LIST}:
                raise Declined(f"{short(node)} is no sum of two lists")
            return Translated(spelled(scope, node, operands), Kind.LIST, changed=True)
        return self._combined(scope, node, operands, whole=isinstance(node.op, ast.FloorDiv))

    def _combined(
        self,
        scope: Body,
        node: ast.expr,
        operands: list[tuple[ast.expr, Translated]],
        *,
        whole: bool = False,
    ) -> Translated:
        """Operands of which one may be an array: those that are none of ours become tensors where that is asked for."""
        kinds = [made.kind for _, made in operands]
        if Kind.ARRAY in kinds:
            operands = [(part, self._tensor(made) if made.kind is Kind.OTHER else made) for part, made in operands]
        mine = [made for _, made in operands if made.kind in MOVED]
        scalar = all(made.scalar for _, made in operands)
        if not mine:
            torch = Kind.TORCH in kinds
            kind = Kind.TORCH if torch else Kind.NUMBER if set(kinds) == {Kind.NUMBER} else Kind.OTHER
            return rebuilt(scope, node, operands, kind, scalar)
        why = "a division that leaves whole numbers has no gradient" if whole else reason(mine)
        return rebuilt(scope, node, operands, Kind.ARRAY, scalar, why)

    def _unaryop(self, scope: Body, node: ast.UnaryOp) -> Translated:
        made = self.value(scope, node.operand)
        return replace(made, text=spelled(scope, node, [(node.operand, made)]), parts=())

    def _compare(self, scope: Body, node: ast.Compare) -> Translated:
        operands = [(part, self.value(scope, part)) for part in (node.left, *node.comparators)]
        if any(isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in node.ops):
            return rebuilt(scope, node, operands, Kind.OTHER)
        made = self._combined(scope, node, operands)
        return replace(made, why=words.COUNTED) if made.kind is Kind.ARRAY else replace(made, kind=Kind.OTHER)

    def _ifexp(self, scope: Body, node: ast.IfExp) -> Translated:
        parts = [(node.test, self._test(scope, node.test))]
        parts += [(part, self.value(scope, part)) for part in (node.body, node.orelse)]
        either = joined([made for _, made in parts[1:]])
        return replace(either, text=spelled(scope, node, parts), changed=any(made.changed for _, made in parts))

    def _test(self, scope: Body, node: ast.expr) -> Translated:
        """A condition has no gradient: one that reads nothing that is translated stays as it is."""
        reads = [one for one in ast.walk(node) if isinstance(one, ast.expr) and one in scope.reaching.reads]
        if any(self._read(scope, one).kind in MOVED for one in reads):
            return self.value(scope, node)
        return Translated(scope.source.segment(node), Kind.OTHER)

    def _starred(self, scope: Body, node: ast.Starred) -> Translated:
        made = self.value(scope, node.value)
        return replace(made, text=f"*{made.text}")

    def _list(self, scope: Body, node: ast.List | ast.Tuple) -> Translated:
        parts = [(part, self.value(scope, part)) for part in node.elts]
        mine = [made for _, made in parts if made.kind in MOVED]
        torch = any(made.kind is Kind.TORCH for _, made in parts)
        kind = Kind.LIST if mine else Kind.TORCH if torch else Kind.OTHER if parts else Kind.NUMBER
        scalar = bool(mine) and all(made.scalar for _, made in parts)
        kept = tuple(made for _, made in parts)
        return rebuilt(scope, node, parts, kind, scalar, reason(mine), kept, several=True)

    _tuple = _list

    def _listcomp(self, scope: Body, node: ast.ListComp | ast.GeneratorExp) -> Translated:
        parts: list[tuple[ast.expr, Translated]] = []
        for generator in node.generators:
            parts.append((generator.iter, self.value(scope, generator.iter)))
            parts += [(one, self.value(scope, one)) for one in generator.ifs]
        element = self.value(scope, node.elt)
        parts.append((node.elt, element))
        kind = Kind.LIST if element.kind in MOVED else element.kind
        return rebuilt(scope, node, parts, kind, element.scalar, element.why, several=True)

    _generatorexp = _listcomp

    def _tensor(self, made: Translated) -> Translated:
        """A value that torch wants as a tensor."""
        if made.kind is Kind.LIST:
            return Translated(f"torch.stack({made.text})", Kind.ARRAY, False, made.why, changed=True)
        if made.kind is Kind.OTHER:
            self.unsure = True
            whole = self._way.wrap is Wrap.ALL
            return replace(made, text=f"torch.as_tensor({made.text})", changed=True) if whole else made
        if made.kind is Kind.NUMBER:
            return replace(made, text=f"torch.tensor({made.text})", changed=True)
        return made

    # Definitions ------------------------------------------------------------------------------------------------------

    def _defined(self, scope: Body, read: ast.expr, definition: ast.AST) -> Translated:
        """What a definition gives the name that is read."""
        path = path_of(read)
        if isinstance(definition, ast.arg):
            return scope.given.get(definition.arg, Translated(definition.arg, Kind.OTHER))
        if definition not in scope.known:
            grown = Kind.ARRAY if isinstance(definition, ast.AugAssign) else Kind.LIST
            scope.known[definition] = Translated("", grown if definition in self._recurring else Kind.OTHER)
            self._open.add(definition)
            made = scope.known[definition] = self._given(scope, definition)
            self._open.discard(definition)
            if definition in self._asked and made.kind in MOVED:
                self.recurs.add(definition)
        elif definition in self._open and isinstance(definition, (ast.Expr, ast.AugAssign)):
            self._asked.add(definition)
        made = scope.known[definition]
        target = _target(definition)
        if isinstance(target, (ast.Tuple, ast.List)):
            place = next((at for at, part in enumerate(target.elts) if path_of(part) == path), None)
            if place is not None and place < len(made.parts):
                return made.parts[place]
            return made if made.kind not in MOVED else Translated("", Kind.ARRAY, made.scalar, made.why)
        return made

    def _given(self, scope: Body, definition: ast.AST) -> Translated:
        match definition:
            case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
                return self._assigned(scope, definition, value)
            case ast.AugAssign():
                return self._updated(scope, definition)
            case ast.For(iter=values) | ast.AsyncFor(iter=values):
                return element(self.put(scope, values))
            case ast.comprehension(iter=values):
                return element(self.value(scope, values))
            case ast.Expr(value=ast.Call(args=[*_, item])):
                made = self.put(scope, item)
                kind = Kind.LIST if made.kind in MOVED else Kind.OTHER
                return Translated("", kind, made.scalar, made.why, changed=made.changed, several=True)
        return Translated("", Kind.OTHER)

    def _assigned(self, scope: Body, definition: ast.Assign | ast.AnnAssign, value: ast.expr) -> Translated:
        if any(isinstance(one, ast.Subscript) for one in getattr(definition, "targets", ())):
            made = self.put(scope, value)
            return (
                replace(made, text="", kind=Kind.ARRAY, parts=()) if made.kind in MOVED else Translated("", Kind.OTHER)
            )
        made, target = self.put(scope, value), _target(definition)
        several = target.elts if isinstance(target, ast.Tuple) else [target]
        if made.changed and ", ".join(map(path_of, several)) == made.text:
            scope.texts.pop(value, None)
            scope.texts[definition] = None
        return made

    def _updated(self, scope: Body, definition: ast.AugAssign) -> Translated:
        made = self.put(scope, definition.value)
        before = self._read(scope, definition.target)
        scope.seen.add(definition.target)
        if made.kind not in MOVED and before.kind not in MOVED:
            return made if made.kind is Kind.TORCH else before
        if not isinstance(definition.op, (ast.Add, ast.Sub)):
            raise Declined("an in-place update of an array has no counterpart in torch that keeps its graph")
        if Kind.LIST in (made.kind, before.kind):
            return replace(made, kind=Kind.LIST)
        return Translated("", Kind.ARRAY, made.scalar, reason([made]))

    # Modules ----------------------------------------------------------------------------------------------------------

    def _numpy(self, scope: Body, node: ast.expr) -> str:
        """The name below numpy or `math` of a function or constant of theirs; '' for others."""
        return known(scope.source, node, words.MODULES)

    def _torch(self, scope: Body, node: ast.expr) -> bool:
        return bool(known(scope.source, node, ("torch",)))


def _target(definition: ast.AST) -> ast.expr | None:
    match definition:
        case ast.Assign(targets=[target]):
            return target
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target) | ast.For(target=target):
            return target
        case ast.AsyncFor(target=target) | ast.comprehension(target=target):
            return target
    return None


def _fills(definition: ast.AST) -> bool:
    """Whether a definition puts something into what there is already."""
    targets = definition.targets if isinstance(definition, ast.Assign) else [getattr(definition, "target", None)]
    return any(isinstance(one, ast.Subscript) for one in targets)
