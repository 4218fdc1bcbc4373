"""Walks over the autograd graph: which nodes a backward reaches, how old they are, which leaves they end in."""

from __future__ import annotations

import contextlib
import functools
import operator
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import torch

LIMIT = 200_000
"""Nodes after which a walk gives up: a graph that long is reported as growing, not followed."""

Node = Any
_KINDS: dict[type, bool] = {}


def kinds(*names: str, forms: Iterable[str] = "0") -> frozenset[str]:
    """The names of the nodes of some operations; torch counts the `forms` of one that it has, and old ones are bare."""
    return frozenset(f"{name}Backward{form}" for name in names for form in forms)


LAID = kinds("T", "Transpose", "Permute", "View", "Expand")
"""How a parameter is laid out before it is applied."""
_FLAT = (*kinds("Bernoulli", "Poisson", "Normal", "Round", "Floor", "Ceil", "Trunc", "Sign", forms=("",)),)
"""The operations whose derivative is zero everywhere."""
_SUMS = (
    *kinds("Sum", "Mean", "Add", "Sub", "Neg", "Mul", "Div", forms=("",)),
    *kinds("Select", "Stack", "Cat", "View", "Reshape", "Squeeze", forms=("",)),
)
"""The operations by which a loss is put together of terms; a product or ratio only with what has no graph."""


def _counted() -> int:
    with torch.enable_grad():
        return int((torch.ones(1, requires_grad=True) * 1).grad_fn._sequence_nr())


now: Callable[[], int] = getattr(torch.autograd, "_get_sequence_nr", _counted)
"""The sequence number that the next node of this thread will get."""


def made_by(tensor: torch.Tensor) -> Node:
    """The node that made a tensor, None for a leaf.

    None, too, for a view that was made without gradient and whose base was written since: torch refuses to say, and
    the refusal would be ours, not the script's.
    """
    try:
        return tensor.grad_fn
    except RuntimeError:
        return None


def is_leaf(tensor: torch.Tensor) -> bool:
    """Whether no node made a tensor, as `made_by` says it."""
    return made_by(tensor) is None


def version(tensor: torch.Tensor) -> int:
    """How often a tensor was written in place; 0 where torch does not count."""
    return 0 if tensor.is_inference() else tensor._version


def leaf(node: Node) -> torch.Tensor | None:
    """The leaf that an AccumulateGrad node adds to, None for any other node."""
    kind = type(node)
    accumulates = _KINDS.get(kind)
    if accumulates is None:  # asked once for each kind: an attribute that is not there costs an exception
        accumulates = _KINDS[kind] = kind.__name__ == "AccumulateGrad"
    return node.variable if accumulates else None


def leaves(nodes: Iterable[Node]) -> Iterator[torch.Tensor]:
    """The leaves that some of these nodes add to."""
    return (found for node in nodes if (found := leaf(node)) is not None)


def leaves_of(tensors: Iterable[torch.Tensor], enter: Callable[[Node], bool] | None = None) -> Iterator[torch.Tensor]:
    """The leaves that some tensors are made of, which they may be themselves; `enter` as for `walk`."""
    given = list(tensors)
    yield from (one for one in given if one.requires_grad and is_leaf(one))
    yield from leaves(walk(given, enter))


def applied(nodes: Iterable[Node]) -> Iterator[tuple[int, str]]:
    """Each leaf that some nodes use themselves, with the kind of the node."""
    return ((id(found), node.name()) for node in nodes for found in leaves(children(node)))


def operations(nodes: Iterable[Node]) -> Iterator[Node]:
    """Those of these nodes that were made by operations, and add to no leaf."""
    return (node for node in nodes if leaf(node) is None)


def shapes(node: Node) -> list[tuple[int, ...]]:
    """The shapes of what an operation gives; [] where it does not tell."""
    return [tuple(one.shape) for one in getattr(node, "_input_metadata", None) or ()]


def is_number(node: Node) -> bool:
    """Whether an operation gives a single number, without a dimension."""
    return shapes(node) == [()]


def ages(nodes: Iterable[Node]) -> set[int]:
    """The sequence numbers of the operations among these nodes."""
    return {node._sequence_nr() for node in operations(nodes)}


def since(age: int) -> Callable[[Node], bool]:
    """Whether a node was made at this age of the graph, or later."""
    return lambda node: bool(node._sequence_nr() >= age)


class _Kept(threading.local):
    """What each node leads to, as long as somebody keeps it, and what was reached from where."""

    below: dict[Node, tuple[Node, ...]] | None = None
    reached: dict[tuple[Node, ...], list[Node]] | None = None


_kept = _Kept()


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """While many look at one graph, keep what its nodes lead to: torch makes objects of them each time it is asked."""
    before, _kept.below, _kept.reached = (_kept.below, _kept.reached), {}, {}
    try:
        yield
    finally:
        _kept.below, _kept.reached = before


def children(node: Node) -> tuple[Node, ...]:
    """The nodes that a node leads to."""
    known = _kept.below
    found = known.get(node) if known is not None else None
    if found is None:
        found = tuple([child for child, _ in node.next_functions if child is not None])
        if known is not None:
            known[node] = found
    return found


def squares(roots: Iterable[Any]) -> list[Node]:
    """The squares of complex values of which complex results are sums or means."""
    return [node for node in walk(roots, _is_complex_sum) if _is_complex(node) and _squares(node)]


def _is_complex_sum(node: Node) -> bool:
    several = node.name().startswith(("MulB", "DivB")) and len(children(node)) > 1
    return _is_complex(node) and node.name().startswith(_SUMS) and not several


def _is_complex(node: Node) -> bool:
    return any(one.dtype.is_complex for one in getattr(node, "_input_metadata", None) or ())


def _squares(node: Node) -> bool:
    if node.name().startswith("PowB"):
        return bool(getattr(node, "_saved_exponent", None) == 2)  # noqa: PLR2004  a square
    factors = [end for end in node.next_functions if end[0] is not None]
    return node.name().startswith("MulB") and len(factors) > 1 and len(set(factors)) == 1


def sends(node: Node) -> bool:
    """Whether a node may send on anything but zeros, as one does not that draws, or rounds to whole numbers."""
    return not node.name().startswith(_FLAT)


def base(tensor: torch.Tensor) -> torch.Tensor:
    """What a tensor is a view of; itself where it is of nothing."""
    return tensor if tensor._base is None else tensor._base


def zeros(gradients: tuple[torch.Tensor | None, ...]) -> tuple[torch.Tensor | None, ...]:
    """What a node is sent, or sends, with nothing in it."""
    return tuple(None if gradient is None else torch.zeros_like(gradient) for gradient in gradients)


def starts(roots: Iterable[Any]) -> list[Node]:
    """The nodes of the tensors (or gradient edges) that a backward starts from."""
    found = [made_by(root) if isinstance(root, torch.Tensor) else getattr(root, "node", None) for root in roots]
    return [node for node in found if node is not None]


def walk(roots: Iterable[Any], enter: Callable[[Node], bool] | None = None) -> Iterator[Node]:
    """Each node reachable from `roots` once; nodes that `enter` refuses are given but not gone through."""
    nodes, known = tuple(starts(roots)), _kept.reached
    if known is None or enter is not None:
        return walk_nodes(nodes, enter)
    if nodes not in known:
        known[nodes] = list(walk_nodes(nodes))
    return iter(known[nodes])


def walk_nodes(nodes: Iterable[Node], enter: Callable[[Node], bool] | None = None) -> Iterator[Node]:
    """The same from nodes."""
    stack = list(nodes)
    seen = set(stack)
    while stack and len(seen) < LIMIT:
        node = stack.pop()
        yield node
        if enter is None or enter(node):
            for child in children(node):
                if child not in seen:
                    seen.add(child)
                    stack.append(child)


def owners(nodes: frozenset[Node], owned: Sequence[set[int]], known: dict[Node, int]) -> int:
    """Which sets of ids have one of a leaf that some nodes lead to: a bit for each. `known` keeps that of each node."""
    stack = list(nodes)
    while stack:
        node = stack[-1]
        below = children(node)
        if node in known or not (missing := [child for child in below if child not in known]):
            stack.pop()
            mine = leaf(node)
            own = sum(1 << index for index, one in enumerate(owned) if id(mine) in one) if mine is not None else 0
            known[node] = functools.reduce(operator.or_, map(known.__getitem__, below), own)
        else:
            stack += missing
    return functools.reduce(operator.or_, map(known.__getitem__, nodes), 0)


def parted(roots: Iterable[Any], age: int) -> tuple[list[Node], list[Node]]:
    """What is reached from `roots` through nodes of this age or later: these, and the older ones that they end at."""
    return parted_nodes(starts(roots), age)


def parted_nodes(nodes: Iterable[Node], age: int) -> tuple[list[Node], list[Node]]:
    """The same from nodes."""
    new, old = list[Node](), list[Node]()

    recent = since(age)
    for node in walk_nodes(nodes, recent):
        (new if recent(node) else old).append(node)
    return new, old


def leading(nodes: Iterable[Node], to: Iterable[Node]) -> set[Node]:
    """Those nodes from which backward goes on to some others, with what they take in beside: a transposed weight."""
    found, beside = set(to), set[Node]()
    for node in sorted(nodes, key=lambda node: node._sequence_nr()):  # children are older
        below = set(children(node))
        if below & found:
            found.add(node)
            beside |= {child for child in below if child.name() in LAID}
    return (found | beside).difference(to)


def applied_again(nodes: Iterable[Node], outputs: list[Node], *, alike: bool) -> set[Node]:
    """Those of some outputs with a parameter that was applied to make them, and is applied to them once more.

    `nodes`: what may lead to them. `alike`: by an operation of the same kind. Outputs are told apart as bits, so that
    one walk does for all of them: a memory holds thousands.
    """
    bits = {one: 1 << place for place, one in enumerate(outputs)}
    leads, above = dict[Node, int](), dict[Any, int]()
    for node in _oldest_first(nodes):
        below = children(node)
        led = functools.reduce(operator.or_, (leads.get(child, 0) for child in below), 0)
        leads[node] = led | bits.get(node, 0)
        for one in (node, *(child for child in below if child.name() in LAID)) if led else ():
            for used in applied([one]):
                above[used if alike else used[0]] = above.get(used if alike else used[0], 0) | led & ~bits.get(one, 0)
    places: dict[Any, int] = {key: 1 << place for place, key in enumerate(above)}
    made = dict[Node, int]()
    for node in _oldest_first(walk_nodes(outputs)):
        mine = (places.get(used if alike else used[0], 0) for used in applied([node]))
        made[node] = functools.reduce(operator.or_, (*mine, *(made.get(child, 0) for child in children(node))), 0)
    return {
        one
        for one, bit in bits.items()
        if any(made.get(one, 0) & places[key] for key, over in above.items() if over & bit)
    }


def _oldest_first(nodes: Iterable[Node]) -> list[Node]:
    """The operations among these nodes: children are older."""
    return sorted(operations(nodes), key=lambda node: node._sequence_nr())


def children_first(roots: Iterable[Any]) -> Iterator[Node]:
    """Each node reachable from `roots` once, after all that it leads to."""
    stack = [(node, False) for node in starts(roots)]
    seen: set[Node] = set()
    while stack:
        node, done = stack.pop()
        if done:
            yield node
        elif node not in seen and len(seen) < LIMIT:
            seen.add(node)
            stack.append((node, True))
            stack.extend((child, False) for child in children(node) if child not in seen)
