"""How a run failed, and where what it failed about was made, saved, freed, written or lost."""

from __future__ import annotations

from dataclasses import dataclass

from .places import Stack


@dataclass(frozen=True, slots=True)
class Backward:
    """One backward call site."""

    stack: Stack
    grad: bool  # autograd.grad rather than backward
    create: bool  # with create_graph


@dataclass(frozen=True, slots=True)
class Write:
    """A write into a tensor's storage: the op, where, and the optimizer whose step it was (-1: none).

    `whole`: it went to all of what operations of this pass made; `view`: through a view that was made elsewhere
    than what it shows; `alias`: through a name without graph, which was given here to what it went to (`.detach()`).
    """

    op: str
    stack: Stack
    optimizer: int = -1
    whole: bool = False
    view: bool = False
    alias: Stack = ()


@dataclass(frozen=True, slots=True)
class Saved:
    """A saved tensor that backward could not use, or a graph node whose saved tensors were freed.

    `handed`: where functions that it was handed to had written to it before it was saved.
    """

    made: Stack
    shape: tuple[int, ...] = ()
    writes: tuple[Write, ...] = ()
    freed_by: Stack = ()
    handed: tuple[Stack, ...] = ()


@dataclass(frozen=True, slots=True)
class Carrier:
    """A name in the user's code, and what it holds of the graph in question: `path` is an expression in `function`."""

    file: str
    function: str
    path: str
    kind: str  # tensor | parameter | the form of a container, as `forms` writes it | other: no tensor


@dataclass(frozen=True, slots=True)
class Crossing:
    """A tensor that passes from the shared part of a graph into another part: where it was made and where used."""

    made: Stack
    used: Stack
    by: str  # earlier | failing: whose backward went through the using op; stale: made before the spoiling write
    carriers: tuple[Carrier, ...] = ()


@dataclass(frozen=True, slots=True)
class Failure:
    """The exception that ended the run, classified by what the trace saw, never by its words."""

    type: str
    message: str
    stack: Stack
    kind: str  # '' until traced; see Cause of the host
    in_backward: bool
    function: str = ""
    oldest: int = 0  # backward calls that had ended when the oldest node of the failing graph was made
    concerned: tuple[int, ...] = ()  # the optimizers whose parameters the failing backward's graph leads to
    scripted: bool = False  # TorchScript ran what failed, or may have made what a backward went through


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a tensor was made, or lost its graph (detach, data, item, numpy, no_grad, derivative, frozen, ...).

    `made` is of a tensor without a graph, `nonleaf` of one that has a graph and therefore gets no gradient of its own;
    `name` is the user's expression for it, where the failing statement has one, or a word for it; of what was to be
    sent to another process, `node` is the place in that, `['h'][0]`. `miscounted` is of a
    backward of the user's own; `node` says then how many gradients it gave, and which arguments of the forward needed
    one: `1 of 10`. `misshapen` is of one, too: which argument the gradient is for, and over which axes it has to be
    summed, if that is known: `1 over 0,2`.
    `plainly_saved`: where a forward of the user's own saved what is no tensor; `node` is which of it: `1,2`.
    `inside`: a place in a function's own forward or backward, where torch itself has gradients off.
    `no_grad`: `node` is where the function stands that it decorates, `file:line`, if a call of that is the place.
    `born`: a parameter that was frozen when it was made, and nobody has said that it should be.
    `real` and `imaginary`: a complex loss, without an imaginary part or with one; `squared`: a complex square in it.
    `begun`: a leaf that was written, where it was made or got its flag; no optimizer owns it.
    `written`: there values were written into another leaf whose graph leads to a leaf that got no gradient. Those of
    NONE_GIVEN are derivatives that gave None, which the program then used as a tensor.
    `behind`: a tensor whose flag is refused is computed by a module, which calls it `node`, of its parameter `name`.
    `legacy` and `static`: the forward of the function `name` whose instance was called, a method of it or a static one.
    Where what was switched off is on again when the failure comes: `used` is where something was made of it meanwhile,
    as a function sees it that has to do with both, and `again` where it was switched on.
    `leaf`: what has lost its graph asks for a gradient of its own.
    """

    kind: str
    stack: Stack
    name: str = ""
    node: str = ""
    used: Stack = ()
    again: Stack = ()
    leaf: bool = False


@dataclass(frozen=True, slots=True)
class Behind:
    """The leaves behind a tensor that an optimizer was to be given, as expressions where the optimizer is made.

    `place` is the tensor's among the `given` ones of the optimizer's `group`. `leaf`: it is one itself, and the only
    one named. `paths` of a result has no leaf that the optimizer was given too.
    """

    group: int
    place: int
    given: int
    paths: tuple[str, ...]
    leaf: bool = False


@dataclass(frozen=True, slots=True)
class Performed:
    """A call that torch refuses and a reference run performed; `used` says whether a later backward went through it."""

    kind: str
    stack: Stack
    used: bool
