"""What else was seen of a run, most of it where the host asked for it."""

from __future__ import annotations

from dataclasses import dataclass

from .places import Stack


@dataclass(frozen=True, slots=True)
class Fact:
    """Something seen in a run, by name, that the host may hold against an edit or tell as a suspicion.

    `subject` is what it was seen of: the name of a parameter or of a module, a number.
    """

    # stale | cross-talk | growth | kept-growth | mixed | wasted | same-loss-twice | loss-grows | trained-in-thread |
    # gradient-sent-twice | sent-once | starts-at-kept-gradient | slope-without-graph | leaf-is-wider |
    # loss-grows-over-steps | elder | zero-difference | zero-shown | memory-held | one-memory-joined |
    # part-overwritten | mixed-with-itself | old-gradient-read | target-handed-on | term-is-late | gradient-adds-up |
    # array-may-be-constant | value-left-numpy | term-is-array | derivative-is-array | weight-has-graph |
    # output-replayed | written-of | range-is-left | backward-while-off | step-while-off | goes-into-off |
    # needs-what-is-off | taken-back | scales-what-is-shared | gradient-cancels | steps-overwritten |
    # loss-trains-target | target-of-copy | target-made-off | written-in-forward | added-to-number | learns-by-write |
    # write-outlives-pass | evaluation-goes-on | moved-again | entries-left | entries-anew | stand-in |
    # swallowed | weight-is-residual | starts-idle | unreachable | set-for-a-call |
    # computed-first | put-off | weighed-by-off | trains-more-by-off | shares-what-is-off | array-of-parameters |
    # averaged | constant-was-stepped | counted | derivative-is-plain | divided-by-itself | flag-holds |
    # flag-is-bypassed | flag-is-lost | holds-two | leaf-of-result | loss-rebuilds-input | own-output-read |
    # module-flag-on | module-flag-off | module-flag-is-read | array-is-compared |
    # written-by-module | moved-by-number |
    # stays-frozen | scaled-by-itself | steps-by-hand | one-sided | layer-is-result | went-before, or a suspicion
    name: str
    subject: str
    stack: Stack = ()
    others: tuple[Stack, ...] = ()  # other places that belong to it


@dataclass(frozen=True, slots=True)
class Hook:
    """A function of the program's that is a hook of modules, or of a tensor: how often it was due before each step.

    Of modules: how often one was called that has it. `calls` has no more than the last step behind which it was due.
    `sums`: of a tensor's, before each of the first steps, the sum of the sketches of what it was given. `kept`: what
    stands for all results that keep their gradient and leaves that no optimizer owns; without a name, for such leaves.
    `taken`: such sums of derivatives that the program asked for (`autograd.grad`), of what nobody owns.
    """

    name: str
    stack: Stack
    tensor: bool
    calls: tuple[int, ...]
    sums: tuple[tuple[float, ...], ...] = ()
    kept: bool = False
    taken: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A module that was called in evaluation mode: by the name of its first tensor; how often before each step."""

    name: str
    stack: Stack
    calls: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Mode:
    """A module that the program calls with gradients on and that asks for its mode, itself or in a part.

    How often it was called in training mode, and in evaluation mode, before each step; `stack`: where it last was.
    """

    name: str
    stack: Stack
    training: tuple[int, ...]
    evaluating: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Taken:
    """The first numbers that a call takes of tensors without graph; `off`: with gradients off, each of them.

    `call`: which of its line it is. `rounds`: behind how many rounds of steps each is taken.
    """

    site: str
    call: int
    values: tuple[float, ...]
    off: bool
    rounds: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Compared:
    """A place that takes a difference or a ratio: how often the two were the same in all numbers, how often not.

    While parameters rest, what differs by rounding is the same.
    """

    site: str
    stack: Stack
    same: int
    other: int
    older: tuple[int, ...] = ()  # ages of what is older than its pass: one side is made of that alone, the other not
    apart: int = 0  # how often the two were not the same, and one was made of something older


@dataclass(frozen=True, slots=True)
class Density:
    """What the backward calls at one place sent to parts of losses that were made at another, as sketches in order.

    These parts are made of what left torch, and of nothing that is not made of what that was made of. `chosen`: a
    minimum or a bound lies between, and decides what is sent.
    """

    loss: Stack
    stack: Stack
    values: tuple[tuple[float, ...], ...]
    chosen: bool = False
