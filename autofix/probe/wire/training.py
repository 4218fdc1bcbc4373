"""What a run does with gradients and state: its steps, what they reach and what something else writes."""

from __future__ import annotations

from dataclasses import dataclass

from .places import Stack


@dataclass(frozen=True, slots=True)
class Step:
    """What one optimizer step used and did. Sketches are [norm, projections...] per parameter; [] means None.

    `losses` are the values that backward calls since the step before started from, summed by what each counts.
    """

    optimizer: int
    gradients: tuple[tuple[float, ...], ...]
    changes: tuple[tuple[float, ...], ...]
    settings: str
    losses: tuple[float, ...] = ()
    calls: int = 0  # backward calls of the run so far
    shape: str = ""  # of the graph that led to the parameters; only where asked for
    off: tuple[int, ...] = ()  # the places of the parameters that require no gradient
    sent: int = 0  # of the backward calls, those that left gradient in leaves
    turns: int = 0  # of these, those of the place that made most of them
    places: tuple[int, ...] = ()  # without an optimizer: of the leaves that it reached, among all that are named
    by_data: tuple[int, ...] = ()  # the places of the losses of which only a derivative by data was taken
    outdated: bool = False  # what sent its gradient applied parameters that were stepped since; of several optimizers

    @property
    def asks(self) -> bool:
        """Whether some parameter requires a gradient."""
        return len(self.off) < len(self.gradients)


@dataclass(frozen=True, slots=True)
class Reach:
    """Which parameters the loss of one backward site reached."""

    site: str
    stack: Stack
    parameters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CutOff:
    """A loss that depends on the parameters of an optimizer by values that were cut from their graph at a place.

    `again`: what took these values went backward for another loss before, and leads to nothing of that optimizer.
    `number`: this loss is made of a single number of that other one, such as the whole.
    """

    optimizer: int
    place: Stack  # () where the graph was lost in another way
    loss: Stack
    again: bool = False
    number: bool = False


@dataclass(frozen=True, slots=True)
class State:
    """Tensors outside optimizers, by name: were they written during the run, and their first and last sketch."""

    name: str
    changed: bool
    last: tuple[float, ...]
    result: bool = False  # of operations with a graph: what the last pass left, no state of its own
    first: tuple[float, ...] = ()
    touched: bool = False  # in place, whatever it holds since


@dataclass(frozen=True, slots=True)
class Held:
    """What one tensor held, as sketches in the order of the run.

    `after`: how many steps had been made when each was seen, or backward calls that left gradients, where none were.
    `back`: the places of those that the latest step had left, and something else than a step brought back, as far as a
    sketch or a norm tells. `loose`: a leaf that nothing owns, whose name may pass to another. `unused`: what something
    else than a step wrote once more, and nothing used: by how much each number of its sketch grew, or its norm alone.
    `idle`: something else than a step wrote what it held already. `hidden`: it may have, through `.data`. `late`: the
    places of those that were written behind a backward and before the step, which nothing else used.
    """

    name: str
    values: tuple[tuple[float, ...], ...]
    after: tuple[int, ...] = ()
    back: tuple[int, ...] = ()
    loose: bool = False
    unused: tuple[float, ...] = ()
    idle: bool = False
    hidden: bool = False
    late: tuple[int, ...] = ()

    @property
    def is_written(self) -> bool:
        """Whether something else than a step was seen to write it."""
        return self.idle or len(self.values) > 1 or bool(self.unused)


@dataclass(frozen=True, slots=True)
class Arrivals:
    """The gradients, as sketches in order, that the backward calls at one place sent to what modules gave.

    The modules are those all of whose parameters belong to `optimizer` alone. `first`: nothing that another optimizer
    owns went into what they gave. `place`: of what a call gave, the first, the second, …
    """

    optimizer: int
    stack: Stack
    values: tuple[tuple[float, ...], ...]
    first: bool = True
    place: int = 0


@dataclass(frozen=True, slots=True)
class Opposed:
    """How often two backward calls pulled what a module gave for one input apart, everywhere in it, and how often not.

    `optimizer` is the one that owns the module. `alone`: how often the first, and the second, pulled a part of it that
    the other left alone.
    """

    optimizer: int
    first: Stack
    second: Stack
    times: int
    against: int
    alone: tuple[int, ...] = (0, 0)


@dataclass(frozen=True, slots=True)
class Through:
    """The places of the losses that go through one result of an optimizer's modules to what other optimizers own.

    A loss that goes to these by another way stands alone.
    """

    optimizer: int
    losses: tuple[Stack, ...]
