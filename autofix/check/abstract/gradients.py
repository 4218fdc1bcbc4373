"""Plays what goes backward: `backward()` and `torch.autograd.grad`, with their keywords."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from autofix.check.abstract.player import Player
from autofix.check.abstract.values import MAYBE, YES, Ask, Const, Listed, Opaque, Tensor, Value, contents


def _flag(said: Mapping[str, Value], name: str) -> bool | None:
    """A keyword that is on, off, or not known; `**` may say any."""
    value = said.get(name, said.get("**"))
    if value is None:
        return False
    return bool(value.value) if isinstance(value, Const) else None


def _keeps(said: Mapping[str, Value]) -> bool | None:
    """Whether a call keeps the graph: as it is told, else where it makes one of its own."""
    return _flag(said, "retain_graph" if "retain_graph" in said or "**" in said else "create_graph")


def backward(player: Player, root: Tensor, ask: Ask) -> None:
    """`root.backward(gradient, retain_graph, create_graph, inputs)`."""
    names = ("gradient", "retain_graph", "create_graph", "inputs")
    said = {**dict(zip(names, ask.given, strict=False)), **ask.words}
    create, retain = _flag(said, "create_graph"), _keeps(said)
    only = said.get("inputs")
    given = {"gradient", "grad_tensors", "grad_variables", "**"} & said.keys()
    if root.scalar is False and not given and root.needs == YES:
        player.tape.event("nonscalar", player.place(ask.node), tensor=root, node=root.node)
    nodes = None
    if only is not None:
        nodes = [one.node for one in contents(only) if one.node is not None]
        retain = True if isinstance(only, Opaque) else retain
    reached = player.tape.backward(root, player.place(ask.node), retain=retain is not False, only=nodes)
    for leaf in reached if create is not False else ():
        leaf.derived = True


def backward_of_several(player: Player, ask: Ask) -> Value:
    roots = [*contents(ask.given[0])] if ask.given else [*contents(ask.words.get("tensors"))]
    if roots:
        several = len(roots) > 1
        root = player.tape.operate("backward", roots, player.place(ask.node), holds=False) if several else roots[0]
        backward(player, root, Ask(ask.given[1:], {k: v for k, v in ask.words.items() if k != "tensors"}, ask.node))
    return Const(None)


def grad(player: Player, ask: Ask) -> Value:
    """`torch.autograd.grad(outputs, inputs, …)`."""
    names = ("outputs", "inputs", "grad_outputs", "retain_graph", "create_graph")
    said = {**dict(zip(names, ask.given, strict=False)), **ask.words}
    outputs, inputs = [*contents(said.get("outputs"))], said.get("inputs")
    targets = [*contents(inputs)]
    create, retain = _flag(said, "create_graph"), _keeps(said)
    place = player.place(ask.node)
    if outputs and targets and player.tape.grad is not None:
        for one in targets:
            if one.node is None and not isinstance(one, Opaque):
                player.tape.event("input-without-gradient", place, tensor=one, cause=one.cut)
                break
        else:
            _derive(player, outputs, targets, ask.node, retain=retain is not False or isinstance(inputs, Opaque))
    results: list[Value] = [_derivative(player, outputs, one, create, ask.node) for one in targets]
    return Listed(
        results or [player.unknown(ask.node)], "tuple", exact=bool(results) and isinstance(inputs, Tensor | Listed)
    )


def _derive(player: Player, outputs: list[Tensor], targets: list[Tensor], node: ast.AST, *, retain: bool) -> None:
    place = player.place(node)
    root = outputs[0] if len(outputs) == 1 else player.tape.operate("grad", outputs, place, holds=False)
    nodes = [one.node for one in targets if one.node is not None]
    reached = [one.node.leaf for one in targets if one.node is not None and one.node.leaf is not None]
    before = [(leaf, leaf.grad) for leaf in reached]
    known = all(one.needs == YES and not isinstance(one, Opaque) for one in targets)
    player.tape.backward(root, place, retain=retain or not known, only=nodes)
    for leaf, had in before:
        leaf.grad = had


def _derivative(player: Player, outputs: list[Tensor], target: Tensor, create: bool | None, node: ast.AST) -> Value:
    if isinstance(target, Opaque):
        return player.unknown(node)
    if create is False:
        return Tensor(cut=player.tape.happening(player.place(node), "grad"))
    result = player.tape.operate("grad", [*outputs, target], player.place(node))
    if create is None and result.node is not None:
        result.node.needs = MAYBE
    return result
