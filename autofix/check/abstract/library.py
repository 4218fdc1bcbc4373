"""Python's own functions, and methods of its containers, as far as a play needs them."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Mapping, Sequence

from autofix.check.abstract import operators
from autofix.check.abstract.player import Player
from autofix.check.abstract.values import (
    YES,
    Ask,
    Class,
    Const,
    Instance,
    Listed,
    Mapped,
    Named,
    Opaque,
    Plain,
    Range,
    Tensor,
    Value,
    contents,
)

Words = Mapping[str, Value]
Given = Sequence[Value]

STANDARD = frozenset({
    "argparse", "collections", "copy", "csv", "datetime", "functools", "glob", "io", "itertools", "json", "logging",
    "math", "os", "pathlib", "pickle", "random", "re", "shutil", "sys", "time", "typing", "warnings", "statistics",
    "string", "threading", "uuid", "operator", "contextlib", "dataclasses", "enum", "abc", "gc", "heapq", "bisect",
})  # fmt: skip
NUMERIC = frozenset({"numpy", "scipy", "math", "pandas", "matplotlib", "sklearn"})


def call(player: Player, name: str, ask: Ask) -> Value | None:
    """What a function of Python or of its library gives, by its full name; None where it is not known."""
    short = name.rpartition(".")[2]
    handler = _HANDLERS.get(short)
    root = name.partition(".")[0]
    if handler is not None and ("." not in name or root in STANDARD or root == "tqdm"):
        return handler(player, ask)
    if root in {"numpy", "math", "scipy", "statistics"}:
        return _number(player, name, ask.given, ask.node)
    if root in {"functools", "operator", "itertools", "collections", "copy", "contextlib", "typing", "threading"}:
        return None
    if root in STANDARD or root in NUMERIC or name in _PLAIN:
        return data()
    return None


_PLAIN = frozenset({"print", "input", "id", "hash", "repr", "format", "chr", "ord", "callable", "hex", "bin", "divmod"})


def data() -> Opaque:
    """Something unknown that surely has no graph."""
    return Opaque(data=True)


def _number(player: Player, name: str, given: Given, node: ast.AST) -> Value:
    """What numpy and math make of tensors has no graph; numpy refuses those that require a gradient."""
    tensors = [one for value in given for one in contents(value)]
    if name.startswith("numpy.") and not name.startswith("numpy.random"):
        for one in tensors:
            if one.needs == YES and one.node is not None and not isinstance(one, Opaque):
                player.tape.event("numpy", player.place(node), tensor=one, node=one.node)
                break
    cut = next((one for one in tensors if one.needs == YES), None)
    if cut is not None:
        return Plain(player.tape.happening(player.place(node), name.rpartition(".")[2]))
    inherited = next((one.cut for one in tensors if one.cut is not None), None)
    plain = next((value.cut for value in given if isinstance(value, Plain) and value.cut is not None), None)
    return Plain(inherited or plain)


def _to_number(player: Player, ask: Ask) -> Value:
    if ask.given and isinstance(ask.given[0], Const) and isinstance(ask.given[0].value, int | float | bool):
        return ask.given[0]
    return _number(player, "float", ask.given, ask.node)


def _len(player: Player, ask: Ask) -> Value:
    match ask.given:
        case [Listed(items=items, exact=True) | Mapped(items=items, exact=True)] if not player.capped:
            return Const(len(items))
        case [Const(value=str() as text)]:
            return Const(len(text))
    return Plain()


def _range(_: Player, ask: Ask) -> Value:
    numbers = [value.value for value in ask.given if isinstance(value, Const) and isinstance(value.value, int)]
    if len(numbers) != len(ask.given) or not numbers:
        return Range(None)
    try:
        return Range(range(*numbers[:3]))
    except (TypeError, ValueError):
        return Range(None)


def _enumerate(player: Player, ask: Ask) -> Value:
    if not ask.given:
        return Plain()
    items, exact = player.elements(ask.given[0], ask.node)
    pairs: list[Value] = [
        Listed([Const(index) if exact and len(ask.given) == 1 else Plain(), item], "tuple")
        for index, item in enumerate(items)
    ]
    return Listed(pairs, "tuple", exact=exact)


def _zip(player: Player, ask: Ask) -> Value:
    columns = [player.elements(value, ask.node) for value in ask.given]
    if not columns:
        return Listed([], "tuple")
    known = [len(items) for items, sure in columns if sure]
    length = min(known) if known else max(len(items) for items, _ in columns)
    if any(not items for items, _ in columns):
        return Listed([], "tuple", exact=0 in known)
    rows: list[Value] = [
        Listed([items[place % len(items)] for items, _ in columns], "tuple") for place in range(length)
    ]
    return Listed(rows, "tuple", exact=bool(known))


def _listed(kind: str) -> Callable[[Player, Ask], Value]:
    def make(player: Player, ask: Ask) -> Value:
        if not ask.given:
            return Listed([], kind)
        items, exact = player.elements(ask.given[0], ask.node)
        return Listed(items, kind, exact=exact)

    return make


def _deque(player: Player, ask: Ask) -> Value:
    made = _listed("list")(player, ask._replace(given=ask.given[:1]))
    if isinstance(made, Listed) and (ask.words or len(ask.given) > 1):
        made.exact = False
    return made


def _first(_: Player, ask: Ask) -> Value:
    return ask.given[0] if ask.given else next(iter(ask.words.values()), Plain())


def _dict(player: Player, ask: Ask) -> Value:
    made = Mapped({key: value for key, value in ask.words.items() if key != "**"}, exact="**" not in ask.words)
    if ask.given and isinstance(ask.given[0], Mapped):
        made = Mapped({**ask.given[0].items, **made.items}, exact=made.exact and ask.given[0].exact)
    elif ask.given:
        items, exact = player.elements(ask.given[0], ask.node)
        made.exact = made.exact and exact
        for item in items:
            match item:
                case Listed(items=[Const(value=key), value]):
                    made.items[key] = value
                case _:
                    made.exact = False
    return made


def _defaultdict(player: Player, ask: Ask) -> Value:
    made = _dict(player, Ask(ask.given[1:], ask.words, ask.node))
    if isinstance(made, Mapped) and ask.given:
        made.default = ask.given[0]
    return made


def _sum(player: Player, ask: Ask) -> Value:
    if not ask.given:
        return Plain()
    if isinstance(ask.given[0], Tensor) and not isinstance(ask.given[0], Opaque):
        return operators.apply(player.tape, "sum", [ask.given[0]], {}, player.place(ask.node))
    items, _ = player.elements(ask.given[0], ask.node)
    total: Value = ask.given[1] if len(ask.given) > 1 else Const(0)
    for item in items:
        if isinstance(item, Tensor) or isinstance(total, Tensor):
            parts = [one for one in (total, item) if isinstance(one, Tensor)]
            opaque = Opaque() if all(isinstance(one, Opaque) for one in parts) else None
            result = player.tape.operate("add", parts, player.place(ask.node), holds=False, into=opaque)
            scalars = {one.scalar for one in parts}
            result.scalar = True if scalars == {True} else False if False in scalars else None
            total = result
        elif isinstance(item, Plain) and item.cut is not None:
            total = item
        elif not isinstance(total, Plain):
            total = Plain()
    return total


def _extreme(player: Player, ask: Ask) -> Value:
    items = [*ask.given] if len(ask.given) > 1 else player.elements(ask.given[0], ask.node)[0] if ask.given else []
    if all(isinstance(one, Const) and isinstance(one.value, int | float) for one in items) and items and not ask.words:
        return Plain()
    tensors = [one for one in items if isinstance(one, Tensor)]
    if len(tensors) > 1:
        return player.unknown(ask.node)
    return tensors[0] if tensors else Plain()


def _isinstance(_: Player, ask: Ask) -> Value:
    if len(ask.given) != 2:  # noqa: PLR2004
        return Plain()
    value, kind = ask.given
    kinds = kind.items if isinstance(kind, Listed) else [kind]
    names = {one.name for one in kinds if isinstance(one, Named)}
    if len(names) != len(kinds) and not any(isinstance(one, Class) for one in kinds):
        return Plain()
    match value:
        case Opaque():
            return Plain()
        case Tensor():
            return Const(
                bool(names & {"torch.Tensor", "torch.FloatTensor"})
                or (value.parameter and "torch.nn.Parameter" in names)
            )
        case Listed(kind=mine):
            return Const(mine in names)
        case Mapped():
            return Const(bool(names & {"dict", "collections.OrderedDict", "collections.defaultdict"}))
        case Const(value=known):
            return Const(type(known).__name__ in names)
        case Instance():
            return _is_object_of(value, kinds, names)
    return Plain()


def _is_object_of(value: Instance, kinds: Sequence[Value], names: set[str]) -> Value:
    if value.of is not None and any(one in value.of.lineage() for one in kinds if isinstance(one, Class)):
        return Const(value=True)
    mine = {value.kind} if value.of is None else set(value.of.foreign())
    known = bool(names) and all(name.startswith("torch.nn.") for name in names)
    return Const(bool(names & mine)) if known else Plain()


def _getattr(player: Player, ask: Ask) -> Value:
    match ask.given:
        case [Instance() as holder, Const(value=str() as name), otherwise]:
            found = holder.of.find(name) if holder.of is not None else None
            if found is None and name not in holder.attributes:
                return otherwise
            return player.attribute(holder, name, ask.node)
        case [holder, Const(value=str() as name), *_]:
            return player.attribute(holder, name, ask.node)
    return player.unknown(ask.node)


def _setattr(player: Player, ask: Ask) -> Value:
    match ask.given:
        case [holder, Const(value=str() as name), value]:
            player.set_attribute(holder, name, value, ask.node)
        case [Instance(attributes=attributes), *_]:  # any of them
            attributes.update(
                {
                    name: player.unknown(ask.node)
                    for name, one in attributes.items()
                    if any(tensor.node is not None for tensor in contents(one))
                }
            )
    return Const(None)


def _hasattr(_: Player, ask: Ask) -> Value:
    match ask.given:
        case [Instance(attributes=attributes, of=Class() as of), Const(value=str() as name)]:
            if name in attributes or of.find(name) is not None:
                return Const(value=True)
            return Const(value=False) if not of.foreign() else Plain()
    return Plain()


def _next(player: Player, ask: Ask) -> Value:
    match ask.given:
        case [Listed(items=[first, *_]), *_]:
            return player.later(first, ask.node)
        case [Opaque() as many, *_]:
            return player.part(many, "[]", ask.node)
    return player.unknown(ask.node)


def _map(player: Player, ask: Ask) -> Value:
    if not ask.given[1:]:
        return Plain()
    columns = [player.elements(value, ask.node) for value in ask.given[1:]]
    rows = zip(*(items for items, _ in columns), strict=False)
    return Listed(
        [player.call(ask.given[0], Ask(row, {}, ask.node)) for row in rows],
        "generator",
        exact=all(sure for _, sure in columns),
    )


def _chain(player: Player, ask: Ask) -> Value:
    parts = [player.elements(value, ask.node) for value in ask.given]
    return Listed([item for items, _ in parts for item in items], "tuple", exact=all(sure for _, sure in parts))


def _copy(_: Player, ask: Ask) -> Value:
    match ask.given:
        case [Listed(items=items, kind=kind, exact=exact)]:
            return Listed([*items], kind, exact=exact)
        case [Mapped(items=entries, exact=exact)]:
            return Mapped(dict(entries), exact=exact)
    return _first(_, ask)


def copied(player: Player, value: Value, node: ast.AST, seen: dict[int, Value]) -> Value:
    """A deep copy; a tensor that is no leaf cannot be copied."""
    if id(value) in seen:
        return seen[id(value)]
    match value:
        case Opaque():
            made: Value = player.unknown(node)
        case Tensor():
            if not value.is_leaf and value.needs == YES:
                player.tape.event("copied-non-leaf", player.place(node), tensor=value, node=value.node)
            fresh = player.tape.leaf(player.place(node), value.needs)
            fresh.parameter, fresh.cut, fresh.integer = value.parameter, value.cut, value.integer
            made = fresh
        case Listed(items=items, kind=kind, exact=exact):
            made = Listed([copied(player, item, node, seen) for item in items], kind, exact=exact)
        case Mapped(items=entries, exact=exact):
            made = Mapped({key: copied(player, item, node, seen) for key, item in entries.items()}, exact=exact)
        case Instance():
            twin = Instance(value.of, value.kind)
            seen[id(value)] = twin
            for key, item in value.attributes.items():
                twin.attributes[key] = copied(player, item, node, seen)
            return twin
        case _:
            made = value
    seen[id(value)] = made
    return made


def _reduce(player: Player, ask: Ask) -> Value:
    if not ask.given[1:]:
        return Plain()
    items, _ = player.elements(ask.given[1], ask.node)
    items = [*ask.given[2:3], *items]
    total = items.pop(0) if items else player.unknown(ask.node)
    for one in items:
        total = player.call(ask.given[0], Ask([total, one], {}, ask.node))
    return total


def _abs(player: Player, ask: Ask) -> Value:
    if ask.given and isinstance(ask.given[0], Tensor):
        return operators.apply(player.tape, "abs", ask.given, {}, player.place(ask.node))
    return _number(player, "abs", ask.given, ask.node)


def _type(player: Player, ask: Ask) -> Value:
    match ask.given:
        case [Listed(kind=kind)]:
            return Named(kind)
        case [Instance(of=Class() as of)]:
            return of
    return player.unknown(ask.node)


_HANDLERS: dict[str, Callable[[Player, Ask], Value]] = {
    "len": _len, "range": _range, "trange": _range, "enumerate": _enumerate, "zip": _zip, "list": _listed("list"),
    "tuple": _listed("tuple"), "set": _listed("set"), "frozenset": _listed("set"), "sorted": _listed("list"),
    "reversed": _listed("tuple"), "iter": _first, "tqdm": _first, "cycle": _first, "deque": _deque, "dict": _dict,
    "OrderedDict": _dict, "defaultdict": _defaultdict, "sum": _sum, "max": _extreme, "min": _extreme,
    "isinstance": _isinstance, "getattr": _getattr, "setattr": _setattr, "hasattr": _hasattr, "next": _next,
    "map": _map, "chain": _chain, "from_iterable": _chain, "copy": _copy,
    "partial": lambda player, ask: ask.given[0] if len(ask.given) == 1 and not ask.words else player.unknown(ask.node),
    "deepcopy": lambda player, ask: copied(player, ask.given[0], ask.node, {}) if ask.given else Plain(),
    "float": _to_number, "int": _to_number, "bool": _to_number, "str": _to_number, "round": _to_number, "abs": _abs,
    "reduce": _reduce, "type": _type, "islice": _first, "shuffle": _first,
}  # fmt: skip
BUILTINS = frozenset(name for name in dir(builtins) if not name.startswith("_"))
