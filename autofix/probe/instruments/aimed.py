"""Whether a failure lies in what mostly is a constant: the target of a loss, and what weighs a term."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from ..engine import graph
from ..engine.sums import ADDS, SCALES
from .aims import TARGET, Held

_LOGS = graph.kinds("LogSoftmax", "Log", "Logsumexp", "LogSigmoid")
_BOUNDS = graph.kinds("Clamp", "ClampMin", "ClampMax", forms="01")
_PARTS = (
    ADDS
    | graph.kinds("Clamp", forms="01")
    | graph.kinds("Gather", "Index", "Select", "Slice", "Exp", "Mul", "Minimum", "Where", "Div")
)
_CHOICES = graph.kinds("Minimum", "Maximum", "Where")
_SIZES = graph.kinds("Norm", forms="01") | graph.kinds(
    "Pow", "Abs", "LinalgVectorNorm", "MseLoss", "L1Loss", "SmoothL1Loss", "HuberLoss"
)
"""What is the same for a number and its negative, and least at 0."""
_LOSS = re.compile("Loss|CrossEntropy")
_MOVES = graph.kinds("Add", "Sub", forms="01") | {"RsubBackward1"}
_PRODUCTS = graph.kinds("Mul", "Dot")
_SUMS = ADDS | {"SqrtBackward0"}
_VIEWS = graph.kinds("View", "Reshape", "Squeeze", "Unsqueeze", "Neg", forms="01") | graph.kinds(
    "UnsafeView", "Where", "Index", "MaskedSelect", "Clone"
)
_TOTALS = graph.kinds("Sum", "Mean", forms="01")
_SPREADS = graph.kinds("Std", "Var", forms="01") | {"SqrtBackward0"}
_CHOSEN = graph.kinds("Max", "Min", forms="01") | graph.kinds(
    "Gather", "Index", "Select", "Slice", "IndexSelect", "Amax", "Amin"
)
"""What picks some of the values that a network gives: of actions, the one that was taken, or the best."""
_PICKED = graph.kinds("Gather", "Index", "Select", "Slice", "IndexSelect", "Unbind", "Split")
"""What picks values by where they stand, as those of one time step."""
_DERIVATIVE = "BackwardBackward"
"""What the kinds of nodes have in their names that only a derivative is made of: the terms of an equation are sides."""
_TWO = 2


class Graph(NamedTuple):
    """The graph of one backward, by the ages of its nodes.

    `leads`: the nodes that each leads to. `leaves`: the owned leaves that it adds to, each with its optimizer.
    `others`: the shapes of the leaves that no optimizer owns, by their ids.
    """

    roots: set[int]
    names: dict[int, str]
    leads: dict[int, list[int]]
    leaves: dict[int, set[tuple[int, int]]]
    others: dict[int, dict[int, tuple[int, ...]]]

    @classmethod
    def of(cls, roots: Iterable[object], owned: Sequence[set[int]]) -> Graph:
        """The graph behind some tensors; `owned` are the ids of what each optimizer owns."""
        roots = list(roots)
        owners = {leaf: index for index, own in enumerate(owned) for leaf in own}
        found = cls(graph.ages(graph.starts(roots)), {}, {}, {}, {})
        for node in graph.operations(graph.walk(roots)):
            age, children = node._sequence_nr(), graph.children(node)
            found.names[age] = node.name()
            found.leads[age] = [child._sequence_nr() for child in graph.operations(children)]
            ends = {(id(leaf), owners[id(leaf)]) for leaf in graph.leaves(children) if id(leaf) in owners}
            if ends:
                found.leaves[age] = ends
            if others := {id(leaf): tuple(leaf.shape) for leaf in graph.leaves(children) if id(leaf) not in owners}:
                found.others[age] = others
        for age, below in found.leads.items():  # of a graph that is too long, not all was walked
            found.leads[age] = [made for made in below if made in found.names]
        return found

    @property
    def edges(self) -> Iterator[tuple[int, int]]:
        """Each node with each that it leads to."""
        return ((user, made) for user, below in self.leads.items() for made in below)

    def below(self, starts: Iterable[int], enter: Callable[[int], bool] = lambda _age: True) -> Iterator[int]:
        """What is reached from some nodes, themselves too, but through none that `enter` refuses."""
        queue = list(starts)
        seen = set(queue)
        for age in queue:
            yield age
            fresh = [one for one in self.leads.get(age, ()) if enter(age) and one not in seen]
            seen.update(fresh)
            queue += fresh

    def forms(self) -> dict[int, int]:
        """A number for each node, the same where the same operations are applied to the same leaves, whatever data."""
        found: dict[int, int] = {}
        for age in sorted(self.names):  # children are older
            below = tuple(sorted(found[one] for one in self.leads[age]))
            leaves = frozenset([*(leaf for leaf, _ in self.leaves.get(age, ())), *self.others.get(age, {})])
            found[age] = hash((self.names[age], below, leaves))
        return found

    def kinds(self, start: int) -> Counter[str]:
        """How many nodes of each kind a node leads to."""
        return Counter(self.names[age] for age in self.below([start]))

    def trains(self, start: int) -> set[tuple[int, int]]:
        """The owned leaves that a node leads to."""
        return set[tuple[int, int]]().union(*(self.leaves.get(age, ()) for age in self.below([start])))


class Aim(NamedTuple):
    """One use of such a value: what made it, what it is held against, and as which argument of a call it is given."""

    made: int
    beside: tuple[int, ...]
    age: int
    argument: str


def spoiled_aims(
    found: Graph, aims: Iterable[Aim], spoiled: set[int], alone: Collection[int] = ()
) -> Iterator[Aim]:  # fmt: skip
    """Those whose value leads a backward to a spoiled node, and is not what they are held against made of.

    A prediction that is made of its target has no other way to learn. Nor may that be made of any of `alone`.
    """
    for aim in aims:
        beside = set(found.below(aim.beside))
        if aim.made not in beside and beside.isdisjoint(alone) and not spoiled.isdisjoint(found.below([aim.made])):
            yield aim


def targets(found: Graph, held: Held, spoiled: set[int], off: Collection[int] = ()) -> Iterator[Aim]:
    """What a call holds another value against, as its target.

    A loss says it by its parameter. Where two sides may change places, and what failed does not lie in that one alone,
    the run may say that it is the other: first of all by what the code makes with gradients `off`.
    """
    sides = held.sides
    named = next((argument for argument in sides if argument.split()[0] == TARGET), "")
    if held.either and len(sides) == _TWO and (not held.differs or _is_size(found, held.age)):
        behind = [set(found.below([made])) for made in sides.values()]
        alone = [not spoiled.isdisjoint(mine - its) for mine, its in (behind, behind[::-1])]
        made_off = [argument for argument, made in sides.items() if made in off]
        if len(made_off) == 1:
            named = made_off[0]
        elif not named or not alone[list(sides).index(named)]:
            named = _leaning(found, list(sides.items()), alone) or named
    if named:
        beside = tuple(made for made in sides.values() if made != sides[named])
        yield Aim(sides[named], beside, held.age, named)


def _leaning(found: Graph, sides: list[tuple[str, int]], alone: list[bool]) -> str:
    """Which of two sides is the target, by what it is made of; '' where nothing tells.

    The other one predicts it: it has parameters of its own, and the target has none. Or both are what one network
    gives, and a constant is added to the target alone: a reward. Or what each has of its own belongs to other
    optimizers. `alone`: which side leads to something that failed, and the other does not; if just one does, it is the
    target or none is.
    """
    one, other = (found.trains(made) for _, made in sides)
    if not one or not other or any(_DERIVATIVE in kind for _, made in sides for kind in found.kinds(made)):
        return ""
    own, its_own = one - other, other - one
    tells = alone
    if bool(own) != bool(its_own):
        tells = [not own, not its_own]
    elif not own:
        (_, made), (_, its) = sides
        tells = [_is_moved(found, made, its), _is_moved(found, its, made)]
    elif not {index for _, index in own}.isdisjoint(index for _, index in its_own):
        return ""
    told = sum(tells) == 1 and (sum(alone) != 1 or alone == tells)
    return sides[tells.index(True)][0] if told else ""


def _is_size(found: Graph, age: int) -> bool:
    """Whether a loss sums up sizes of what is made there itself: a difference that is to become small.

    What else is added to it first, a label or another term, is what the difference is held against.
    """
    return age in found.below(
        _sized(found), lambda at: at != age and (found.names[at] in _VIEWS or _is_scaled(found, at))
    )


def _is_scaled(found: Graph, age: int) -> bool:
    return found.names[age] in SCALES and len(found.leads[age]) < _TWO and age not in found.leaves


def _sizes(found: Graph, age: int) -> bool:
    both = found.leads[age]
    return found.names[age] in _SIZES or (
        found.names[age] == "MulBackward0" and len(both) == _TWO and both[0] == both[1]
    )


def _is_moved(found: Graph, made: int, other: int) -> bool:
    """Whether two values are made by the same operations, but for a constant that is added to the first.

    Each may be another choice among what a network gives.
    """
    moved, end = stripped(found, made)
    still, its_end = stripped(found, other)
    kinds, its_kinds = (
        Counter({kind: n for kind, n in found.kinds(one).items() if kind not in _CHOSEN | _VIEWS})
        for one in (end, its_end)
    )
    return moved and not still and kinds == its_kinds


def stripped(found: Graph, age: int) -> tuple[bool, int]:
    """Whether a constant is added to what a node makes before, and what that is, without factors either."""
    moved = False
    while len(found.leads[age]) == 1 and age not in found.leaves and found.names[age] in _MOVES | SCALES | _VIEWS:
        moved = moved or found.names[age] in _MOVES
        (age,) = found.leads[age]
    return moved, age


def measures(made: graph.Node) -> bool:
    """Whether a value is made of errors or logarithms, as what is weighed in a loss is, but for sums and choices."""
    inside = graph.walk_nodes([made], lambda node: node.name() in _PARTS | _CHOICES)
    return any(node.name() in _SIZES | _LOGS or _LOSS.search(node.name()) for node in inside)


def residuals(found: Graph, weights: Iterable[Aim], others: Iterable[Graph]) -> Iterator[Aim]:
    """Those of what weighs log-probabilities in a loss that some loss is to make small: advantages, errors.

    A term is linear in the weight, and the weight is a difference, scaled or standardised, or a sum of such alone. The
    other loss, or another term of this one, sums up sizes of the same difference, or of the same value held against a
    constant: the same operations give it of the same parameters, whatever data and passes they are of.
    """
    weights = list(weights)
    ends = {forms[end] for other in others for forms in [other.forms()] for end in _fitted(other)}
    made = {aim.age: aim.made for aim in weights}
    forms = found.forms()

    def sums(age: int) -> bool:
        of_one = found.names[age] in _CHOICES and len({made.get(one) for one in found.leads[age]} - {None}) == 1
        return found.names[age] in ADDS or _is_scaled(found, age) or (of_one and made.keys() >= {*found.leads[age]})

    terms = set(found.below(found.roots, sums))
    for aim in weights:
        inside = set(found.below([aim.made], lambda age: forms[age] not in ends))
        above = {age for age in inside if forms[age] not in ends}
        differs = any(found.names[age] in _MOVES for age in above) or any(_is_difference(found, one) for one in inside)
        if aim.age in terms and above < inside and differs and all(_standardises(found, age) for age in above):
            yield aim


def _fitted(found: Graph) -> Iterator[int]:
    """What a loss makes small, or holds against constants, of which it may choose some."""
    for one in _sized(found):
        _, end = stripped(found, one)
        while found.names[end] in _PICKED and len(found.leads[end]) == 1:
            _, end = stripped(found, found.leads[end][0])
        yield end


def _is_difference(found: Graph, age: int) -> bool:
    return found.names[age] in _MOVES and len(found.leads[age]) == _TWO


def _standardises(found: Graph, age: int) -> bool:
    """Whether a step leads from errors to what is scaled, moved, summed up, or standardised by its mean and spread."""
    name, below = found.names[age], found.leads[age]
    if age in found.leaves or (name in SCALES and len(below) == _TWO):
        return age not in found.leaves and name == "DivBackward0" and bool(found.kinds(below[1]).keys() & _SPREADS)
    return name in _MOVES | SCALES | _VIEWS | _SPREADS | ADDS | _PICKED


def _sized(found: Graph) -> Iterator[int]:
    """What a loss sums up sizes of."""
    for one in found.below(found.roots, lambda at: found.names[at] in _SUMS or _is_scaled(found, at)):
        if _sizes(found, one):
            yield from found.leads[one]


def weights(found: Graph) -> Iterator[Aim]:
    """What weighs a log-probability in a term of a loss, and has a graph that leads to what an optimizer owns.

    Where the logarithm is of what went into the weight, as in an entropy, both are parts of one measure. So they are
    where it is of that and a constant, and the weight is made of nothing else, as in a focal loss. What weighs values
    by their own shares of a sum is such a weight, too, as the importance of a sample.
    """
    names, leads = found.names, found.leads

    def weighing(aim: Aim) -> Iterator[Aim]:
        (other,) = aim.beside
        logs = [age for age in found.below([other], lambda age: names[age] in _PARTS) if names[age] in _LOGS]
        inside = set(found.below([aim.made]))
        trained = not inside.isdisjoint(found.leaves)
        of = {one for log in logs for one in leads.get(log, ())}
        own = {_unbounded(found, one) for one in of}
        measure = not inside.isdisjoint(of) or _is_made_of(found, aim.made, own)
        if trained and not measure and (logs or _is_share(found, aim.made, other)):
            yield _without_own(found, aim, own)

    for age in found.below(found.roots, lambda age: names[age] in ADDS | _CHOICES or len(leads.get(age, ())) < _TWO):
        if names[age] in _PRODUCTS:
            for aim in _factors(found, age):
                yield from weighing(aim)


def _factors(found: Graph, product: int) -> list[Aim]:
    """The two factors of a product that have a graph, as what weighs the other one."""
    both = found.leads.get(product, [])
    pairs = enumerate((both, both[::-1])) if len(both) == _TWO else ()
    return [Aim(one, (other,), product, f"operand {place}") for place, (one, other) in pairs]


def _without_own(found: Graph, aim: Aim, own: set[int]) -> Aim:
    """What weighs a term, without factors of it that are made of what the term is of alone."""
    factors = _factors(found, aim.made) if found.names[aim.made] in _PRODUCTS else []
    others = (one for one in factors if _is_made_of(found, one.beside[0], own))
    return next((_without_own(found, one, own) for one in others), aim)


def _unbounded(found: Graph, age: int) -> int:
    """What a node makes otherwise by constants alone: added, or as a bound."""
    while len(found.leads[age]) == 1 and age not in found.leaves and found.names[age] in _MOVES | _BOUNDS:
        (age,) = found.leads[age]
    return age


def _is_made_of(found: Graph, age: int, sources: set[int]) -> bool:
    """Whether all that is trained by a value is trained through some nodes."""
    inside = set(found.below([age], lambda one: one not in sources))
    return not inside.isdisjoint(sources) and (inside - sources).isdisjoint(found.leaves)


def _is_share(found: Graph, weight: int, other: int) -> bool:
    """Whether a weight is made of what it weighs, and of no parameter else, divided by a sum of that.

    It may go on from one that earlier passes made of the same parameters: from before all that made what it weighs.
    """
    began = min(found.below([other]))

    def down_to(start: int) -> set[int]:
        return set(found.below([start], lambda age: age != other and age >= began))

    end, between = stripped(found, weight)[1], down_to(weight)
    below = found.leads[end]
    divides = found.names[end] == "DivBackward0" and len(below) == _TWO
    shares = divides and any(found.names[age] in _TOTALS for age in down_to(below[1]))
    reached = any(other in found.leads[age] for age in between)
    own = between.isdisjoint(found.leaves) and found.trains(weight) <= found.trains(other)
    return (shares or found.names[end] == "SoftmaxBackward0") and reached and own
