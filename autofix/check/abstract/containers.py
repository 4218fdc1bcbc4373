"""Lists and dictionaries of a play: their methods and elements."""

from __future__ import annotations

import ast
from collections.abc import Callable

from autofix.check.abstract.player import NoGradient, Player
from autofix.check.abstract.values import Ask, Const, Listed, Mapped, Opaque, Plain, Value


def method(player: Player, receiver: Value, name: str, ask: Ask) -> Value:
    """A method of a list, dictionary, text or number."""
    match receiver:
        case Listed():
            listed = _OF_LISTS.get(name)
            return listed(player, receiver, ask) if listed is not None else Const(None)
        case Mapped():
            mapped = _OF_DICTS.get(name)
            return mapped(player, receiver, ask) if mapped is not None else Const(None)
        case NoGradient():
            player.tape.event("gradient-none", player.place(ask.node), tensor=receiver.of, node=receiver.of.node)
            return player.unknown(ask.node)
        case Plain():
            return Plain(receiver.cut)
        case Const():
            return Plain()
    return player.unknown(ask.node)


# --- lists ---------------------------------------------------------------------------------------


def _append(player: Player, receiver: Listed, ask: Ask) -> Value:
    for value in ask.given[-1:]:
        player.keep(value, ask.node)
        receiver.items.append(value)
    if player.tape.conditions:
        receiver.exact = False
    return Const(None)


def _put_in_front(player: Player, receiver: Listed, ask: Ask) -> Value:
    """`appendleft(x)`, or `insert(0, x)`; elsewhere nobody counts."""
    _append(player, receiver, ask)
    receiver.items[:] = [*receiver.items[-1:], *receiver.items[:-1]]
    if len(ask.given) > 1 and not (isinstance(ask.given[0], Const) and ask.given[0].value == 0):
        receiver.exact = False
    return Const(None)


def extend(player: Player, receiver: Listed, ask: Ask) -> Value:
    """Add all of something to a list."""
    for value in ask.given[:1]:
        more, exact = player.elements(value, ask.node)
        for one in more:
            player.keep(one, ask.node)
        receiver.items.extend(more)
        receiver.exact = receiver.exact and exact
    return Const(None)


def _clear(_: Player, receiver: Listed | Mapped, __: Ask) -> Value:
    receiver.items.clear()
    receiver.exact = True
    return Const(None)


def _pop(player: Player, receiver: Listed, ask: Ask) -> Value:
    last = not ask.given or (isinstance(ask.given[0], Const) and ask.given[0].value == -1)
    if receiver.items and last:
        return receiver.items.pop()
    receiver.exact = False
    return receiver.items[-1] if receiver.items else player.unknown(ask.node)


def _remove(_: Player, receiver: Listed, __: Ask) -> Value:
    receiver.exact = False
    return Const(None)


def _copied(_: Player, receiver: Listed, __: Ask) -> Value:
    return Listed([*receiver.items], receiver.kind, exact=receiver.exact)


_OF_LISTS: dict[str, Callable[[Player, Listed, Ask], Value]] = {
    "append": _append, "add": _append, "appendleft": _put_in_front, "insert": _put_in_front, "extend": extend,
    "update": extend, "extendleft": extend, "sort": _remove, "reverse": _remove, "clear": _clear, "pop": _pop,
    "popleft": lambda player, many, ask: many.items.pop(0) if many.items else player.unknown(ask.node),
    "remove": _remove, "discard": _remove, "copy": _copied, "union": _copied,
    "index": lambda *_: Plain(), "count": lambda *_: Plain(),
}  # fmt: skip


# --- dictionaries --------------------------------------------------------------------------------


def _items(_: Player, receiver: Mapped, __: Ask) -> Value:
    pairs: list[Value] = [Listed([Const(key), value], "tuple") for key, value in receiver.items.items()]
    return Listed(pairs, "tuple", exact=receiver.exact)


def _get(player: Player, receiver: Mapped, ask: Ask) -> Value:
    found, known = _entry(player, receiver, ask)
    return found if known or len(ask.given) < 2 else ask.given[1]  # noqa: PLR2004


def _take_out(player: Player, receiver: Mapped, ask: Ask) -> Value:
    found, known = _entry(player, receiver, ask)
    if known and isinstance(ask.given[0], Const):
        receiver.items.pop(ask.given[0].value, None)
    return found


def _set_default(player: Player, receiver: Mapped, ask: Ask) -> Value:
    found, known = _entry(player, receiver, ask)
    if known or not isinstance(ask.given[0], Const) or len(ask.given) < 2:  # noqa: PLR2004
        return found
    return receiver.items.setdefault(ask.given[0].value, ask.given[1])


def _entry(player: Player, receiver: Mapped, ask: Ask) -> tuple[Value, bool]:
    """The entry of a key; None's value and False where there surely is none."""
    key = ask.given[0] if ask.given else None
    if isinstance(key, Const):
        if key.value in receiver.items:
            return receiver.items[key.value], True
        return (Const(None), False) if receiver.exact else (player.unknown(ask.node), True)
    if receiver.items and not receiver.exact:
        return next(iter(receiver.items.values())), True
    return player.unknown(ask.node), True


def _update(_: Player, receiver: Mapped, ask: Ask) -> Value:
    for one in ask.given:
        if isinstance(one, Mapped):
            receiver.items.update(one.items)
        else:
            receiver.exact = False
    receiver.items.update(ask.words)
    return Const(None)


_OF_DICTS: dict[str, Callable[[Player, Mapped, Ask], Value]] = {
    "items": _items, "get": _get, "pop": _take_out, "setdefault": _set_default, "update": _update, "clear": _clear,
    "keys": lambda _, many, __: Listed([Const(key) for key in many.items], "tuple", exact=many.exact),
    "values": lambda _, many, __: Listed([*many.items.values()], "tuple", exact=many.exact),
    "copy": lambda _, many, __: Mapped(dict(many.items), exact=many.exact),
}  # fmt: skip


# --- elements ------------------------------------------------------------------------------------


def item(player: Player, container: Value, key: Value, node: ast.AST) -> Value | None:
    """An element of a list or dictionary; None where nobody knows which."""
    match container, key:
        case Listed(items=items, exact=exact), Const(value=int() as index):
            if exact and -len(items) <= index < len(items):
                return items[index]
            if items and not exact:
                return items[-1] if index < 0 else items[min(index, len(items) - 1)]
        case Listed(items=items), Plain() | Opaque() if items:
            return items[-1 - container.turn(key) % len(items)]
        case Mapped(items=entries, default=default), Const(value=known):
            if known in entries:
                return entries[known]
            if default is not None:
                entries[known] = player.call(default, Ask([], {}, node))
                return entries[known]
        case Mapped(items=entries), Plain() | Opaque() if entries:
            return next(reversed(entries.values()))
    return None


def set_item(player: Player, container: Listed | Mapped, key: Value, name: Const, ask: Ask) -> None:
    """Put a value into a list or dictionary; `name` stands for a key that nobody knows."""
    value, known = ask.given[0], isinstance(key, Const)
    player.keep(value, ask.node)
    if isinstance(container, Mapped):
        container.items[name.value] = value
        container.exact = container.exact and known
    elif (
        isinstance(key, Const)
        and isinstance(key.value, int)
        and -len(container.items) <= key.value < len(container.items)
    ):
        container.items[key.value] = value
    elif container.items:
        container.items[:] = [player.unknown(ask.node) for _ in container.items]
