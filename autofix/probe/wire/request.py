"""What the host asks of one run."""

from __future__ import annotations

from dataclasses import dataclass, field

from .places import Frame, Stack
from .training import Step


@dataclass(frozen=True, slots=True)
class Setup:
    """How a run departs from `python script.py`; each departure that acts is told in the trace's notes.

    Of `skip_to` the file is relative to the project's root, so that it holds in a copy of the project too.
    """

    entry: str = ""  # '' (a script or module) | console | pytest | cells
    environment: dict[str, str] = field(default_factory=dict)
    device: str = "asis"  # asis | cpu
    stand_in: bool = False
    compiled: bool = False  # torch.compile compiles; else what it is given runs eagerly
    scripted: bool = True  # TorchScript compiles; else what it is given runs as Python
    shorten: int = 0  # the iterations after which a training loop ends early; 0: none does
    skip_file: str = ""
    skip_line: int = 0
    typed: str = ""  # what standard input holds: bytes as latin-1; '': nothing
    closures: int = 0  # the iterations after which a step with a closure ends; 0: as many as it wants
    rounds: int = 0  # the steps after which the first run, that has not failed, has shown enough; 0: none are


@dataclass(frozen=True, slots=True)
class Given:
    """The use of a value: as an argument of the loss, the difference or the product at a place.

    `argument` is the name of its parameter and its place among them: `target 1`. Of an operator it is an `operand`.
    """

    stack: Stack
    argument: str


@dataclass(frozen=True, slots=True)
class KeptOut:
    """A backward call, by where it stands, that is to leave no gradient in the parameters of one optimizer."""

    stack: Stack
    optimizer: int


@dataclass(frozen=True, slots=True)
class Site:
    """An expression whose value a reference run treats otherwise, whenever it is computed."""

    action: str
    """leaf, update, keep, follow, grad, require, unfreeze, record, create, zeros, zero, uncleared, unwatched, detach,
    magnitude, sum, inside, or stand."""
    frame: Frame
    node: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """One run of the target.

    `segments` (which optimizers step after each backward call) asks for the reading in which a backward leaves gradient
    only in the parameters of those optimizers. `overlay` maps real paths to replacement sources (latin-1 text of the
    bytes); `lines` maps the line numbers of an overlay back to those of the file on disk (0: a new line), so that sites
    of both runs can be told to be the same.
    """

    id: int
    mode: str  # baseline | trace | reference | candidate | audit; the server adds: stem
    script: str
    argv: tuple[str, ...]
    cwd: str
    root: str
    module: str | None = None
    setup: Setup = Setup()
    overlay: dict[str, str] = field(default_factory=dict)
    lines: dict[str, tuple[int, ...]] = field(default_factory=dict)
    marks: dict[str, tuple[int, ...]] = field(default_factory=dict)
    urgent: bool = False  # before others that wait
    perturbed: bool = False  # parameters start a little beside where the script puts them
    early: int = 0  # so many optimizers are made: what graphs use before that starts there, too
    farther: bool = False  # a thousandth of that farther: what is more than rounding hardly changes
    stirred: bool = False  # a step also moves what it has no gradient for: does a loss depend on it?
    starts: tuple[int, ...] = ()  # of that: what starts elsewhere, by the `starts-idle` of another run
    frozen: bool = False
    ordered: bool = False  # random draws are told apart by what is drawn and how often, not by where
    still: bool = False  # frozen, and parameters stay where they are from round to round
    late: int = -1  # frozen: from this round on parameters drift where a forward next uses them, not right after a step
    about: tuple[tuple[int, int], ...] = ()  # which do, each an optimizer and its place there; none: all
    rests: bool = False  # these keep what they hold, whatever steps make of them
    idle: tuple[int, ...] = ()  # frozen: the optimizers that never step, and so end no round
    rounds: tuple[tuple[int, ...], ...] = ()  # frozen: the steps that the reference had made when each round ended
    by_hand: bool = True  # frozen: steps that are made by hand, into a leaf that lasts, are undone, too
    spares: bool = False  # frozen: a step that uses no gradient, or zeros, ends no round
    shapes: int = 0  # of how many steps of each optimizer it is told what their graphs are made of; -1: of all
    held: bool = False  # what other state than parameters held at each step is told
    truncated: bool = False
    constants: tuple[int, ...] = ()  # ages of the nodes through which no gradient is to flow
    handed: tuple[int, ...] = ()  # ages of what a backward call leaves to the next, which is to end there
    targets: tuple[Given, ...] = ()  # what is to have no graph where it is used
    through: tuple[Stack, ...] = ()  # where derivatives have a graph, and leave no gradient in what optimizers own
    addends: bool = False  # an addend of a loss is trained once between two steps, by the first backward that has it
    sent_once: bool = False  # a gradient that a call has sent on from a tensor is not sent on from there again
    for_a_pass: bool = False  # what a pass writes into what an optimizer owns goes to a copy, for that pass
    anywhere: bool = False  # so does what something else learns by, also where no module is called
    flags: bool = False  # flags that are set on modules are those of their parameters
    off: bool = False  # what leaves a region in which the script has gradients off is a constant
    sources: bool = False  # whether data went into what several passes share is told
    compared: bool = False  # where what is compared is the same is told
    older: tuple[int, ...] = ()  # of that: the ages of what passes take of earlier ones, held against newer values
    twice: bool = False  # in reference mode: what a fused operation does can be differentiated twice
    once: bool = False  # what a pass takes of earlier ones was made once, and is not handed on from pass to pass
    nudged: bool = False  # what autograd.grad and refused conversions give is otherwise: does a loss depend on it?
    bounding: bool = False  # what a bound leaves of a value is a little otherwise, whether it binds or not
    doubled: int = -1  # after that many steps each backward sends twice as much: does a loss depend on gradients?
    segments: tuple[tuple[int, ...], ...] = ()
    apart: tuple[KeptOut, ...] = ()
    outputs: bool = False  # the gradients that losses send to what modules give are told
    shifted: float = 0.0  # what modules of one optimizer give is moved by so many times its size
    shifts: int = -1  # that optimizer
    reading: str = ""
    follow: bool = False  # in reference mode: values keep their graph through arrays and numbers, and back
    sites: tuple[Site, ...] = ()
    passes: int = 3
    grace: float = 0.3  # seconds of computing in which a run is to make more steps than `passes`; else it makes none
    growing: int = 3  # passes in a row that must each reach more old nodes before a graph is said to grow
    failed_at: tuple[int, ...] = ()
    further: bool = False  # it goes on behind what is compared otherwise: no fault is looked for there
    branches: bool = False  # comparisons that came out alike each time are told
    turned: tuple[str, ...] = ()  # of these, by what they are told by: those that give the opposite
    unshared: bool = False  # arrays of what an optimizer owns get memory of their own
    concerned: tuple[int, ...] = ()  # the optimizers whose parameters the failing graph leads to; none: all are
    budget: float = 0.0  # seconds beyond the failure within which enough is to be seen; 0: as many as it takes
    longest: float = 0.0  # seconds beyond the failure to which that is extended until something was compared
    lead: float = 0.0  # seconds that the failing run took, where no count tells when the failure is past
    stop_at: tuple[int, ...] = ()
    most: tuple[int, ...] = ()  # steps of each optimizer after which a run has left a reference that came to its end
    expected: tuple[tuple[Step, ...], ...] = ()  # the first steps of references: a run may end that has left them all
    watch_calls: bool = False
    watch_origins: bool = True  # where tensors come from and where they lose their graph
    at_once: bool = False  # in reference mode: saved tensors are copied as they are saved, while that is cheap
    watch_from: int = 0  # backward calls that a trace or a reference may make before its modes are entered
    graph: bool = False  # in trace mode: the graph around the failure, to be drawn
    time_limit: float = 60.0
    memory_limit: int = 0  # 0: nine tenths of what the machine has
    process_limit: int = 512
    output_limit: int = 1 << 22
    threads: int = 0
    isolation: str = "none"
    network: bool = False
