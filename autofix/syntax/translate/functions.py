"""Calls in torch's words: of numpy and `math`, of methods of arrays, of Python's own functions and of the user's."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from autofix.core.edit import Declined
from autofix.syntax.calls import Function, defaults, keyword, name_of, path_of
from autofix.syntax.source import Source
from autofix.syntax.translate import words
from autofix.syntax.translate.expressions import ExpressionTranslation, Wrap
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
from autofix.syntax.translate.words import WORDS, Word

_CONSTANT = Translated("constant", Kind.OTHER)
_BUILTINS = frozenset({
    "sum", "max", "min", "abs", "len", "zip", "enumerate", "sorted", "reversed", "pow", "round", "int", "float", "list",
    "tuple", "range", "isinstance",
})  # fmt: skip


class Translation(ExpressionTranslation):
    """One translation, of one loss."""

    # Calls ------------------------------------------------------------------------------------------------------------

    def _call(self, scope: Body, node: ast.Call) -> Translated:
        match node.func:
            case ast.Attribute(value=value, attr=name) if name in words.LEAVES and not node.args:
                self.others = self.others or node not in self._converted
                if self._way.alone and node not in self._converted:
                    return rebuilt(scope, node, [(node.func, self._attribute(scope, node.func))], Kind.OTHER)
                return self._leaving(scope, value, name)
            case ast.Name(id=name) if name in _BUILTINS and name not in scope.reaching.reads.get(node.func, ()):
                return self._builtin(scope, node, name)
        word = self._numpy(scope, node.func)
        if word:
            return self._function(scope, node, word)
        if self._comes(scope, node):
            return self._coming(scope, node)
        found = self._resolve(scope.source, node)
        if found is not None:
            return self._own_or_other(scope, node, *found)
        if isinstance(node.func, ast.Attribute):
            receiver = self.value(scope, node.func.value)
            if receiver.kind in MOVED:
                return self._method(scope, node, receiver)
            if receiver.kind is Kind.TORCH and receiver.changed and node.func.attr == "requires_grad_":
                return receiver
        return self._other(scope, node)

    def _other(self, scope: Body, node: ast.Call) -> Translated:
        """A call of something else: it takes what it took, a tensor of torch's or nothing of ours."""
        parts: list[tuple[ast.expr, Translated]] = []
        if isinstance(node.func, ast.Attribute):
            parts.append((node.func, self.value(scope, node.func)))
        values = [*(one.value if isinstance(one, ast.Starred) else one for one in node.args)]
        values += [one.value for one in node.keywords]
        made = [(one, self.value(scope, one)) for one in values]
        if any(one.kind in MOVED for _, one in made) and not self._torch(scope, node.func):
            raise Declined(f"{short(node.func)} takes an array, and has no counterpart in torch")
        parts += made
        torch = any(one.kind in (Kind.TORCH, *MOVED) for _, one in parts) or self._torch(scope, node.func)
        return rebuilt(scope, node, parts, Kind.TORCH if torch else Kind.OTHER)

    def _leaving(self, scope: Body, value: ast.expr, name: str) -> Translated:
        """A value that leaves torch: it stays."""
        made = self._undetached(scope, value)
        scalar = name == "item" or made.scalar
        if name != "item":
            chain = (one for one in ast.walk(value) if isinstance(one, ast.Attribute))
            self.by_cpu.add(any(one.attr == "cpu" for one in chain))
        if made.kind is Kind.LIST:
            return made
        why = words.WITHOUT.get(name_of(value), made.why) if isinstance(value, ast.Call) else made.why
        return Translated(made.text, Kind.ARRAY, scalar, why, changed=True)

    def _undetached(self, scope: Body, node: ast.expr) -> Translated:
        """A tensor on its way to numpy, without what only numpy asks for."""
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr=name), args=[]) if name in words.ALLOWS:
                made = replace(self._undetached(scope, value), changed=True)
                kept = name == "cpu" and self._way.to_cpu
                return replace(made, text=f"{atom(made.text)}.cpu()") if kept else made
            case ast.Attribute(value=value, attr="data"):
                return replace(self._undetached(scope, value), changed=True)
            case ast.Call(func=ast.Attribute(value=value) as function) if not self._torch(scope, function):
                if self._resolve(scope.source, node) is None and not self._numpy(scope, function):
                    inner = self._undetached(scope, value)
                    if inner.kind not in MOVED:
                        others = [(one, self.value(scope, one)) for one in node.args]
                        text = spelled(scope, node, [(value, inner), *others])
                        return Translated(text, Kind.TORCH, changed=inner.changed)
        return self.value(scope, node)

    def _function(self, scope: Body, node: ast.Call, name: str) -> Translated:
        """A function of numpy's or of `math`'s."""
        given = self._given_to(scope, node)
        if node in self._converted:
            given = [(one, _taken(made)) for one, made in given]
        if not any(made.kind in MOVED for _, made in given):
            plain = name in words.ARRAYS and isinstance(node.args[0], (ast.Name, ast.Attribute))
            if plain and not self._converted.isdisjoint(ast.walk(scope.body)):
                self.takes = True
                if self._way.wrap is Wrap.MADE:
                    text, kind = given[0][1].text, given[0][1].kind
                    text = text if kind is Kind.TORCH else f"torch.as_tensor({text})"
                    return Translated(text, Kind.ARRAY, changed=True)
            number = bool(given) and name in WORDS and all(made.kind is Kind.NUMBER for _, made in given)
            return rebuilt(scope, node, given, Kind.NUMBER if number else Kind.OTHER, number)
        made = dict(given)
        if name in words.ARRAYS or name in words.SCALARS:
            first = made[node.args[0]]
            whole = keyword(node, "dtype")
            if whole is not None and path_of(whole).rpartition(".")[2] in words.WHOLE:
                first = replace(first, why=words.WITHOUT["int"])
            return replace(self._tensor(first), changed=True)
        if name == "fsum":
            return replace(made[node.args[0]], text=f"sum({made[node.args[0]].text})", kind=Kind.ARRAY, changed=True)
        if name not in WORDS:
            raise Declined(f"{short(node.func)} has no counterpart in torch that autofix knows")
        return self._said(node, name, WORDS[name], made)

    def _method(self, scope: Body, node: ast.Call, receiver: Translated) -> Translated:
        """A method of an array, or of a list of them."""
        assert isinstance(node.func, ast.Attribute)  # noqa: S101  as whoever calls it found
        name = node.func.attr
        given = dict(self._given_to(scope, node))
        if receiver.kind is Kind.LIST:
            raise Declined(f"{name} of a list has no counterpart in torch")
        if name == "astype":
            to = path_of(node.args[0]).rpartition(".")[2] if node.args else ""
            if to in words.WHOLE:
                return replace(receiver, text=f"{atom(receiver.text)}.long()", why=words.WITHOUT["int"], changed=True)
            if to not in words.SINGLE:
                raise Declined(f"{short(node)} casts to a type that is not known here")
            return replace(receiver, text=f"{atom(receiver.text)}{words.SINGLE[to]}", changed=True)
        if name == "copy":
            return replace(receiver, changed=True)
        if name == "transpose":
            axes = ", ".join(given[one].text for one in node.args)
            return replace(receiver, text=f"{atom(receiver.text)}.{f'permute({axes})' if axes else 'T'}", changed=True)
        if name in ("flatten", "reshape"):
            parts = [(node.func.value, receiver), *given.items()]
            return Translated(spelled(scope, node, parts), Kind.ARRAY, False, receiver.why, changed=receiver.changed)
        if name not in words.METHODS or name not in WORDS:
            raise Declined(f".{name}() of an array has no counterpart in torch that autofix knows")
        call = ast.Call(node.func, [node.func.value, *node.args], node.keywords)
        return self._said(call, name, WORDS[name], {node.func.value: receiver, **given}, method=True)

    def _said(
        self, node: ast.Call, name: str, word: Word, made: dict[ast.expr, Translated], *, method: bool = False
    ) -> Translated:  # fmt: skip
        """A call as torch has it."""
        bound = _bound(node, word)
        mine = [made[one] for one in made if made[one].kind in MOVED]
        bound_made = {parameter: made[one] for parameter, one in bound.items()}
        if (whole := self._apart(node, name, bound_made)) is not None:
            return whole
        if form := _form(node, word, bound_made):
            wanted = ((self._tensor(one) if key in word.needs else one) for key, one in bound_made.items())
            texts = [atom(one.text) for one in wanted]
            return Translated(form.format(*texts), Kind.ARRAY, all(m.scalar for m in mine), reason(mine), changed=True)
        if name == "transpose" and "axes" not in bound:
            return replace(bound_made["a"], text=f"{atom(self._tensor(bound_made['a']).text)}.T", changed=True)
        if name == "diff" and "axis" not in bound:
            _pad(bound_made)
        if name == "gradient" and "h" in bound and bound_made["h"].kind in MOVED:
            raise Declined("the places that the derivative is taken at are an array, too")
        arguments = self._arguments(word, name, bound_made)
        why = reason(mine) if word.smooth else words.WITHOUT.get(name, words.COUNTED)
        if name == "where" and len(bound_made) > 1:
            chosen = [bound_made[key] for key in ("x", "y") if key in bound_made and bound_made[key].kind in MOVED]
            why = reason(chosen) if chosen else words.COUNTED
        scalar = "axis" not in bound if word.scalar else all(one.scalar for one in mine) and not word.listed
        if method and word.name.rpartition(".")[2] != "dot":
            return Translated(
                f"{atom(arguments[0])}.{word.name}({', '.join(arguments[1:])})", Kind.ARRAY, scalar, why, changed=True
            )
        item = "[0]" if name == "gradient" else ""  # one for each dimension; of several, another value shows it
        return Translated(f"torch.{word.name}({', '.join(arguments)}){item}", Kind.ARRAY, scalar, why, changed=True)

    def _apart(self, node: ast.Call, name: str, made: dict[str, Translated]) -> Translated | None:
        """A call that torch says in another way: the bound of a value, a mean with weights, what is put around."""
        numbers = [one for one in made.values() if one.kind is Kind.NUMBER]
        if name in ("maximum", "minimum") and len(numbers) == 1:
            other = next(one for one in made.values() if one.kind is not Kind.NUMBER)
            side = "min" if name == "maximum" else "max"
            text = f"torch.clamp({self._tensor(other).text}, {side}={numbers[0].text})"
            return replace(other, text=text, parts=(), changed=True)
        if name == "pad":
            if made.get("mode", _CONSTANT).text.strip("\"'") != _CONSTANT.text:
                raise Declined(f"{short(node.func)} repeats what stands at the ends")
            fill = f", value={made['constant_values'].text}" if "constant_values" in made else ""
            array = self._tensor(made["array"])
            text = f"torch.nn.functional.pad({array.text}, {_padded(node)}{fill})"
            return replace(array, text=text, parts=(), scalar=False, changed=True)
        if name == "average" and "weights" in made:
            if "axis" in made:
                raise Declined(f"axis= of {short(node.func)} with weights has no counterpart in torch")
            values, shares = (self._tensor(made[key]).text for key in ("a", "weights"))
            text = f"torch.sum({atom(values)} * {atom(shares)}) / torch.sum({shares})"
            return Translated(
                text, Kind.ARRAY, True, reason(one for one in made.values() if one.kind in MOVED), changed=True
            )
        return None

    def _arguments(self, word: Word, name: str, bound: dict[str, Translated]) -> list[str]:
        found, always = [], dict(word.always)
        if name == "percentile":
            try:
                share = repr(float(bound["q"].text) / 100)
            except ValueError:
                share = f"{atom(bound['q'].text)} / 100"
            bound["q"] = replace(bound["q"], text=share)
        for place, (parameter, made) in enumerate(bound.items()):
            other = word.called.get(parameter, words.RENAMED.get(parameter, parameter))
            if other in ("dims", "shape") and parameter != "axes" and made.kind is Kind.NUMBER:
                made = replace(made, text=f"({made.text},)")  # noqa: PLW2901  where numpy takes one number too
            always.pop(other, None)
            if parameter in word.needs or (parameter.startswith("*") and "*operands" in word.needs):
                made = self._tensor(made) if not word.listed else made  # noqa: PLW2901  as torch wants it
            plain = place == 0 or (
                other == parameter and list(bound)[place] == word.parameters[min(place, len(word.parameters) - 1)]
            )
            found.append(made.text if plain or parameter.startswith("*") else f"{other}={made.text}")
        return [*found, *(f"{key}={value}" for key, value in always.items())]

    def _given_to(self, scope: Body, node: ast.Call) -> list[tuple[ast.expr, Translated]]:
        """The arguments of a call, each with what becomes of it."""
        return [(one, self.value(scope, one)) for one in (*node.args, *(word.value for word in node.keywords))]

    def _builtin(self, scope: Body, node: ast.Call, name: str) -> Translated:
        values = [*node.args, *(word.value for word in node.keywords)]
        given = [(one, self.value(scope, one)) for one in values]
        if name == "float" and node in self._converted:
            given = [(one, _taken(self._undetached(scope, one))) for one in values]
        mine = [made for _, made in given if made.kind in MOVED]
        if not mine:
            torch = any(made.kind is Kind.TORCH for _, made in given) and name not in ("len", "float", "int")
            number = name in ("len", "float", "int") or all(made.kind is Kind.NUMBER for _, made in given)
            kind = Kind.TORCH if torch else Kind.NUMBER if number else Kind.OTHER
            return rebuilt(scope, node, given, kind, number)
        match name:
            case "len" | "range" | "isinstance":
                return rebuilt(scope, node, given, Kind.NUMBER, scalar=True)
            case "float":
                return replace(given[0][1], scalar=True, changed=True)
            case "int" | "round":
                return rebuilt(scope, node, given, Kind.ARRAY, True, words.WITHOUT[name])
            case "sum" | "max" | "min" | "abs" | "pow":
                scalar = all(made.scalar for made in mine) or (name != "abs" and mine[0].kind is Kind.ARRAY)
                return rebuilt(scope, node, given, Kind.ARRAY, scalar, reason(mine))
            case "list" | "tuple" | "zip" | "enumerate" | "reversed" | "sorted":
                parts = tuple(element(made) for _, made in given)
                if name == "enumerate":
                    parts = (Translated("", Kind.NUMBER, scalar=True), *parts)
                kept = parts if name in ("zip", "enumerate") else ()
                return rebuilt(scope, node, given, Kind.LIST, all(m.scalar for m in mine), reason(mine), kept)
        raise Declined(f"{name}() of an array has no counterpart in torch")

    def _comes(self, scope: Body, node: ast.Call) -> bool:
        """Whether a call makes a tensor of values."""
        last = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        return (
            last in words.COMES
            and bool(node.args)
            and (isinstance(node.func, ast.Name) or self._torch(scope, node.func))
        )

    def _coming(self, scope: Body, node: ast.Call) -> Translated:
        """A tensor made of values: they are tensors already."""
        made = self.value(scope, node.args[0])
        if made.kind is Kind.TORCH:
            variable = path_of(node.func).rpartition(".")[2] == "Variable"
            return made if made.changed and variable else rebuilt(scope, node, [(node.args[0], made)], Kind.TORCH)
        if made.kind not in MOVED:
            return rebuilt(scope, node, [(node.args[0], made)], Kind.TORCH)
        return replace(self._tensor(made), kind=Kind.TORCH, parts=(), changed=True)

    def _own_or_other(self, scope: Body, node: ast.Call, source: Source, function: Function) -> Translated:
        """A call of a function of the user's; one that neither takes arrays nor makes any need not be understood.

        Nor need one that makes them of data alone: torch refuses to make an array of what has a graph.
        """
        known = set(self.scopes)
        try:
            return self._own(scope, node, source, function)
        except Declined:
            leaving = [one for one in ast.walk(function) if isinstance(one, ast.Attribute) and one.attr in words.LEAVES]
            arrays = [one for one in leaving if one.attr != "numpy" or name_of(one.value) in words.ALLOWS]
            if arrays or any(self.value(scope, one).kind in MOVED for one in node.args):
                raise
            self.scopes = {body: one for body, one in self.scopes.items() if body in known}
        made = self._other(scope, node)
        return replace(made, kind=Kind.OTHER) if leaving else made

    def _own(self, scope: Body, node: ast.Call, source: Source, function: Function) -> Translated:
        """A call of a function of the user's: translated with what it is given here."""
        given = self._given_to(scope, node)
        names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
        names = names[1:] if names[:1] in (["self"], ["cls"]) else names
        made = dict(given)
        placed = [part for one in node.args for part in _several(one, made[one])]
        if not all(placed) or len(placed) > len(names):
            raise Declined(f"{short(node)} does not say which argument is which")
        by_name = {name: one for name, one in zip(names, placed, strict=False) if one is not None}
        by_name |= {word.arg: made[word.value] for word in node.keywords if word.arg is not None}
        inner = self.scope(source, function)
        if inner.result is None:
            inner.given = self._defaults(inner, function) | by_name
            inner.result = Translated("", Kind.OTHER)  # where it calls itself
            inner.result = self._returned(inner)
        elif any(inner.given.get(key, one).kind is not one.kind for key, one in by_name.items()):
            raise Declined(f"{function.name} is given arrays in one call and tensors in another")
        if (scope, node) not in inner.calls:
            inner.calls.append((scope, node))
        changed = any(one.changed for _, one in given) or inner.result.changed
        return replace(inner.result, text=spelled(scope, node, given), changed=changed)

    def _defaults(self, scope: Body, function: Function) -> dict[str, Translated]:
        """What parameters are where a call does not give them."""
        return {name: self.value(scope, default) for name, default in defaults(function).items()}

    def _returned(self, scope: Body) -> Translated:
        values = [one.value for one in scope.reaching.returns if one.value is not None]
        made = [self.put(scope, value) for value in values]
        return replace(joined(made), changed=any(one.changed for one in made)) if made else Translated("", Kind.OTHER)


def _several(node: ast.expr, made: Translated) -> Sequence[Translated | None]:
    """What an argument gives: itself, or where it is starred, what is in it; None where nobody can count that."""
    match node:
        case ast.Starred(value=ast.Subscript(slice=ast.Slice(lower, upper, None))):
            first, last = _whole(lower), _whole(upper)
            if first is None or last is None or not (0 <= first < last or first < last <= 0):
                return [None]
            return [element(replace(made, parts=()))] * (last - first)
        case ast.Starred():
            return made.parts or [None]
    return [made]


def _whole(node: ast.expr | None) -> int | None:
    """A bound of a slice where it is a number: none is 0."""
    try:
        value = 0 if node is None else ast.literal_eval(node)
    except ValueError:
        return None
    return value if isinstance(value, int) else None


def _padded(node: ast.Call) -> str:
    """By how much each axis is padded as torch says it: from the last axis on, up to the first that gets something."""
    width = keyword(node, "pad_width") or (node.args[1] if len(node.args) > 1 else None)
    pairs = [one.elts for one in getattr(width, "elts", ()) if isinstance(one, (ast.Tuple, ast.List))]
    flat = [ast.unparse(one) for pair in reversed(pairs) for one in pair]
    if not pairs or len(flat) != 2 * len(getattr(width, "elts", ())):
        raise Declined(f"{short(node)} does not say by how much each axis is padded")
    while flat[-2:] == ["0", "0"] and len(flat) > 2:  # noqa: PLR2004  one pair stays
        flat = flat[:-2]
    return f"({', '.join(flat)})"


def _bound(node: ast.Call, word: Word) -> dict[str, ast.expr]:
    """The arguments of a call by numpy's parameters, those left out that say nothing."""
    bound: dict[str, ast.expr] = {}
    for place, one in enumerate(node.args):
        if isinstance(one, ast.Starred):
            raise Declined(f"{short(node)} does not say which argument is which")
        last = word.parameters[-1]
        if place >= len(word.parameters) and not last.startswith("*"):
            raise Declined(f"{short(node)} has more arguments than are known here")
        name = word.parameters[min(place, len(word.parameters) - 1)]
        bound[f"{name}{place}" if name.startswith("*") else name] = one
    bound |= {option.arg: option.value for option in node.keywords if option.arg is not None}
    for name, one in list(bound.items()):
        nothing = isinstance(one, ast.Constant) and (one.value is None or one.value is False)
        if nothing or name == "dtype":
            del bound[name]
        elif name in words.IGNORED or (name not in word.parameters and not name.startswith("*")):
            raise Declined(f"{name}= of {short(node.func)} has no counterpart in torch that autofix knows")
    return bound


def _form(node: ast.Call, word: Word, bound: dict[str, Translated]) -> str:
    """What is written in place of a call, by its axis or mode where it has one; '' where it stays a call."""
    if word.along and "axis" in bound:
        return word.along
    mode = bound.pop("mode", None) if word.modes else None
    if mode is None:
        return word.form
    if (form := word.modes.get(mode.text.strip("\"'"))) is None:
        raise Declined(f"{short(node.func)} does not say here in which mode it is called")
    return form


def _pad(bound: dict[str, Translated]) -> None:
    """Put a number before or behind the last axis of what is given, where numpy takes one and torch a tensor."""
    for name, place in (("prepend", (1, 0)), ("append", (0, 1))):
        if name in bound and bound[name].kind is Kind.NUMBER:
            text = f"torch.nn.functional.pad({bound['a'].text}, {place}, value={bound.pop(name).text})"
            bound["a"] = replace(bound["a"], text=text, changed=True)


def _taken(made: Translated) -> Translated:
    """What a call takes that turns tensors into arrays unasked."""
    if made.kind in (Kind.OTHER, Kind.TORCH):
        return replace(made, kind=Kind.LIST if made.several else Kind.ARRAY)
    return made
