"""The graph of a play: what operations record, what backward needs and frees, what writes change; and what fails."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from autofix.check.abstract.values import (
    MAYBE,
    NO,
    YES,
    CallFrame,
    Happening,
    Node,
    Opaque,
    Optimizer,
    PlayPlace,
    Saved,
    Tensor,
)


class Pass(NamedTuple):
    """A loop that is under way: when it began, and when its present pass did."""

    place: PlayPlace
    began: int
    now: int


class Event(NamedTuple):
    """A failure of autograd, or of a call that autograd refuses; what is not about its kind is empty."""

    kind: str
    place: PlayPlace
    passes: tuple[Pass, ...]
    time: int
    tensor: Tensor | None = None
    node: Node | None = None  # that was freed, or whose saved tensor was written
    old: Node | None = None  # the part of an earlier graph that is reached first
    user: Node | None = None  # what uses that part; None where the loss itself is of the earlier graph
    first: Node | None = None  # what used it in the earlier backward
    cause: Happening | None = None
    text: str = ""
    whole: bool = True  # the earlier backward went through all of the old part
    steps: Sequence[tuple[int, Optimizer]] = ()  # of the whole play, with their times

    @property
    def made_at(self) -> PlayPlace | None:
        """Where the tensor or node that it is about was made."""
        node = self.node or (self.tensor.node if self.tensor is not None else None)
        return node.place if node is not None else None

    @property
    def caused_at(self) -> PlayPlace | None:
        return self.cause.place if self.cause is not None else None


class Freed(NamedTuple):
    """Which backward freed a node, and through which other it came."""

    happening: Happening
    through: Node | None


class Tape:
    """Records operations while gradients are on, as autograd does."""

    def __init__(self) -> None:
        self.clock = 0
        self.grad: bool | None = True
        self.switched: PlayPlace | None = None  # where gradients were switched off
        self.conditions: frozenset[str] = frozenset()
        self.passes: list[Pass] = []
        self.events: list[Event] = []
        self.freed: dict[Node, Freed] = {}
        self.steps: list[tuple[int, Optimizer]] = []
        self.expected: list[CallFrame | None] = []

    # --- recording -------------------------------------------------------------------------------

    def tick(self) -> int:
        self.clock += 1
        return self.clock

    def happening(self, place: PlayPlace, text: str) -> Happening:
        return Happening(self.tick(), place, self.conditions, text)

    @contextlib.contextmanager
    def expecting(self, frame: CallFrame | None) -> Iterator[None]:
        """What fails meanwhile in a call is expected there, and no event."""
        self.expected.append(frame)
        try:
            yield
        finally:
            self.expected.pop()

    def event(self, kind: str, place: PlayPlace, **about: object) -> None:
        """Note a failure, unless who wrote the program expects one."""
        if place.frame in self.expected:
            return
        self.events.append(Event(kind, place, tuple(self.passes), self.clock, steps=self.steps, **about))  # type: ignore[arg-type]

    def leaf(self, place: PlayPlace, needs: int, tensor: Tensor | None = None) -> Tensor:
        """A tensor of its own that may require a gradient."""
        made = tensor or Tensor()
        if needs == NO:
            made.node = None
        else:
            made.node = Node("leaf", (), needs, place, self.tick(), holds=False, leaf=made)
        return made

    def opaque(self, place: PlayPlace) -> Opaque:
        """A value that nobody knows, of unknown making."""
        return Opaque(Node("unknown", (), MAYBE, place, self.tick(), source=True))

    def operate(  # noqa: PLR0913  what an operation is
        self,
        operation: str,
        inputs: Sequence[Tensor],
        place: PlayPlace,
        *,
        holds: bool = True,
        saved: Iterable[tuple[Tensor, Tensor | None]] = (),
        into: Tensor | None = None,
    ) -> Tensor:
        """The result of an operation; `saved` are tensors that it keeps, each with the one whose gradient needs it."""
        result = into or Tensor()
        nodes = tuple(one.node for one in inputs if one.node is not None)
        needs = max((node.needs for node in nodes), default=NO)
        if self.grad is False:
            needs = NO
        elif self.grad is None:
            needs = min(needs, MAYBE)
        if needs == NO:
            result.node = None
            result.cut = next((one.cut for one in inputs if one.cut is not None), None)
            if nodes and self.switched is not None and any(node.needs == YES for node in nodes):
                result.cut = Happening(self.clock, self.switched, self.conditions, "off")
            return result
        node = Node(operation, nodes, needs, place, self.tick(), holds)
        for tensor, needed_by in saved:
            if needed_by is None:
                self._save(node, tensor, None)
            elif needed_by.node is not None:
                self._save(node, tensor, needed_by.node)
        result.node = node
        return result

    def _save(self, node: Node, tensor: Tensor, needed_by: Node | None) -> None:
        storage = tensor.storage
        node.saves.append(Saved(storage, storage.version, needed_by, node.operation))

    def save_result(self, result: Tensor) -> None:
        """Note that an operation has saved what it gave."""
        if result.node is not None:
            self._save(result.node, result, None)

    def write(self, tensor: Tensor, values: Sequence[Tensor], place: PlayPlace, text: str) -> None:
        """An in-place write, with what is written."""
        if isinstance(tensor, Opaque) and not tensor.is_tensor:
            return
        base = tensor.base or tensor
        if self.grad is True:
            self._refused(tensor, base, values, place)
        tensor.storage.writes.append(self.happening(place, text))
        if self.grad is False:
            return
        if base.is_leaf and base.needs == YES:
            return  # refused; played on as under no_grad
        incoming = [one for one in values if one.node is not None]
        if not incoming and base.node is None:
            return
        old = [base] if base.node is not None else []
        self.operate(text, [*old, *incoming], place, holds=False, into=base)
        if tensor is not base:
            tensor.node = base.node

    def _refused(self, tensor: Tensor, base: Tensor, values: Sequence[Tensor], place: PlayPlace) -> None:
        if base.is_leaf and base.needs == YES and (tensor is base or tensor.needs == YES):
            self.event("leaf-written", place, tensor=tensor)
        elif tensor.multiple and tensor.needs == YES:
            self.event("multi-view-written", place, tensor=tensor)
        elif tensor.quiet and tensor is not base and any(one.needs == YES for one in values):
            self.event("quiet-view-written", place, tensor=tensor)

    # --- backward --------------------------------------------------------------------------------

    def backward(
        self, root: Tensor, place: PlayPlace, *, retain: bool, only: Sequence[Node] | None = None, pretend: bool = False
    ) -> list[Tensor]:
        """Go backward from `root`, to the nodes `only` if they are given; `pretend` that whoever called would do it.

        Returns the leaves that it reaches.
        """
        node = root.node
        if node is None:
            if not isinstance(root, Opaque) and not pretend:
                self.event("no-graph", place, tensor=root, cause=root.cut)
            return []
        if only is not None and node not in (reached := _reaching(node, only)):
            return []
        if not pretend:
            _prove(node)
        happening = self.happening(place, "backward")
        through = self._gone_through(node, reached if only is not None else None)
        ends = {one for one in only or () if one.leaf is None and reached.isdisjoint(one.inputs)}
        run = [one for one in through if one not in ends]  # the engine stops in front of what is asked for
        failing = (one for one in run if one.needs == YES or pretend)
        any(self._fails(one, through, place, pretend=pretend) for one in failing)
        if pretend:
            return []
        leaves = [one.leaf for one in through if one.leaf is not None]
        for leaf in leaves:
            leaf.grad = True
        for one in run:
            if not retain and not (one.holds and one in self.freed):
                self.freed[one] = Freed(happening, through[one])
        return leaves

    def _gone_through(self, root: Node, reach: set[Node] | None) -> dict[Node, Node | None]:
        """The nodes that a backward comes to, each with the one that it comes from; not behind what was freed."""
        through: dict[Node, Node | None] = {root: None}
        waiting = [root]
        while waiting:
            node = waiting.pop()
            if node in self.freed and node.holds:
                continue  # what is behind it was freed with it
            for other in node.inputs:
                if other not in through and (reach is None or other in reach):
                    through[other] = node
                    waiting.append(other)
        return through

    def _fails(self, node: Node, through: dict[Node, Node | None], place: PlayPlace, *, pretend: bool) -> bool:
        sure = pretend or _sure(node, through)
        freed = self.freed.get(node)
        if freed is not None and node.holds and not pretend:
            if sure and self.compatible(freed.happening):
                self._twice(node, freed, through, place)
                return True
            return False
        for saved in node.saves:
            if saved.storage.version == saved.version:
                continue
            if saved.needed_by is not None and saved.needed_by.needs < (MAYBE if pretend else YES):
                continue
            write = saved.storage.writes[saved.version]
            if sure and self.compatible(write):
                self.event("overwritten", place, node=node, cause=write, text=saved.text)
                return True
        return False

    def _twice(self, node: Node, freed: Freed, through: dict[Node, Node | None], place: PlayPlace) -> None:
        old, user = node, through[node]
        while user is not None and user.time <= freed.happening.time:
            old, user = user, through[user]
        if node.source and old is node and user is not None:
            return  # for all that is known it is a leaf
        whole = old in self.freed
        self.event(
            "twice", place, node=node, old=old, user=user, first=freed.through, cause=freed.happening, whole=whole
        )

    def compatible(self, cause: Happening) -> bool:
        """Whether a cause surely came before what happens now: under no condition of its own, or the only one."""
        return cause.conditions <= self.conditions or len(cause.conditions | self.conditions) == 1

    def step(self, optimizer: Optimizer, place: PlayPlace) -> None:
        """Change every parameter that has a gradient."""
        self.steps.append((self.tick(), optimizer))
        happening = self.happening(place, "step")
        for parameter in optimizer.parameters:
            if parameter.grad and parameter.needs == YES:
                parameter.storage.writes.append(happening)


def _sure(node: Node, through: dict[Node, Node | None]) -> bool:
    """Whether everything on the way to a node surely requires a gradient."""
    step: Node | None = node
    while step is not None:
        if step.needs != YES:
            return False
        step = through[step]
    return True


def _prove(node: Node) -> None:
    """A loss goes backward, so it requires a gradient; and so does the only thing that it can have it from."""
    while node.needs == MAYBE:
        node.needs = YES
        unsure = {one for one in node.inputs if one.needs == MAYBE}
        if len(unsure) != 1 or any(one.needs == YES for one in node.inputs):
            return
        node = unsure.pop()


def behind(root: Node) -> set[Node]:
    """The nodes that a node was made of, itself among them."""
    found: set[Node] = set()
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting.extend(node.inputs)
    return found


def _reaching(root: Node, targets: Sequence[Node]) -> set[Node]:
    """The nodes on the ways from a loss to some of the graph."""
    found = set(targets)
    for node in sorted(behind(root), key=lambda one: one.time):
        if any(one in found for one in node.inputs):
            found.add(node)
    return found
