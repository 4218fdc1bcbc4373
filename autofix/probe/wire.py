"""The records that host and probe exchange: frozen dataclasses, which `codec` writes and reads."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

SHOWING = (
    "matplotlib", "mpl_toolkits", "seaborn", "tensorboardX", "tensorboard", "tensorboard_logger", "wandb", "visdom",
    "mlflow", "comet_ml", "neptune", "imageio", "PIL", "cv2", "termcolor", "colorama", "torchsummary", "torchinfo",
    "torchviz", "plotly", "livelossplot", "IPython", "progressbar", "pygame", "moviepy", "skimage",
    "pandas", "sklearn", "scipy", "tqdm", "argcomplete", "setproctitle", "loguru", "coloredlogs", "tabulate",
    "prettytable", "psutil", "GPUtil", "pynvml", "thop", "ptflops", "clearml", "swanlab", "ipdb",
)  # fmt: skip
"""Packages that show, log or measure: what a stand-in for them gives is nothing, which no tensor can be made of."""
GIVING = ("torchvision", "datasets", "gym", "gymnasium")
"""Packages that a stand-in gives random data for."""
AHEAD = (
    "PIL", "einops", "numpy", "pandas", "scipy", "torchaudio", "torchvision", "tqdm", "yaml",
    "torch.fx.experimental.symbolic_shapes",
)  # fmt: skip
"""What the server may import outside of any fence: the import writes nothing and starts no thread.

The last one torch imports, with all of sympy, when a derivative is first given the gradient of its outputs.
"""
PYTHON_2 = frozenset((
    "ConfigParser", "Queue", "StringIO", "Tkinter", "__builtin__", "cPickle", "cStringIO", "commands", "urllib2",
))  # fmt: skip
"""Modules of another Python: what needs them needs that."""
NONE_GIVEN = ("none_given", "none_among")
"""The kinds of a derivative that gave None for all its inputs, or for some: nothing that they lead to was used."""
MISSING = " is missing: "
"""What a note says of a file, a folder or a data set, before what stands in for it."""
LEFT_OUT = "what it does is left out"
"""How it is told that a stand-in for a package does nothing."""
COLUMNS = 10_000
"""A marked statement is reported as line * COLUMNS + column: several may stand on one line."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of the user's code. Lines count from 1, columns from 0 in UTF-8 bytes, as `co_positions` gives them."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    function: str

    @classmethod
    def around(cls, file: str, node: Any, function: str) -> Frame:
        """The place of a node of a syntax tree; of a compound statement, where it begins."""
        start = node.lineno, node.col_offset
        end = start if hasattr(node, "body") else (node.end_lineno or node.lineno, node.end_col_offset or 0)
        return cls(file, *start, *end, function)


Stack = tuple[Frame, ...]
"""User frames, innermost first."""


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
    late_of: tuple[tuple[int, int], ...] = ()  # which do, each an optimizer and its place there; none: all
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
    places: tuple[int, ...] = ()  # without an optimizer: of the leaves that it reached, among all that are named
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
    `idle`: something else than a step wrote what it held already. `hidden`: it may have, through `.data`.
    """

    name: str
    values: tuple[tuple[float, ...], ...]
    after: tuple[int, ...] = ()
    back: tuple[int, ...] = ()
    loose: bool = False
    unused: tuple[float, ...] = ()
    idle: bool = False
    hidden: bool = False

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

    `optimizer` is the one that owns the module.
    """

    optimizer: int
    first: Stack
    second: Stack
    times: int
    against: int


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
    # stays-frozen | steps-by-hand | one-sided, or a suspicion
    name: str
    subject: str
    stack: Stack = ()
    others: tuple[Stack, ...] = ()  # other places that belong to it


@dataclass(frozen=True, slots=True)
class Loss:
    """One place that calls backward: how often, and the first and last value that it began at.

    `gradients` are sketches of those of the leaves that it reaches, in the order in which it does, after its first
    call; () where a step was made before that.
    """

    stack: Stack
    calls: int
    first: float
    last: float
    gradients: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Trainer:
    """One optimizer: its kind, where it was made, how often it steps, and how often in vain."""

    kind: str
    made: Stack
    steps: int
    empty: int
    tensors: int


@dataclass(frozen=True, slots=True)
class Network:
    """One network of a run, as far as one optimizer owns it (-1: none does).

    `losses` are those that reach it. `gradient` is the mean norm of what steps used. `unreached` of its tensors had no
    gradient at any step, `frozen` ask for none. `training` is '' where the mode makes no difference to it.
    """

    name: str
    optimizer: int
    losses: tuple[int, ...]
    tensors: int
    numbers: int
    gradient: float
    unreached: int
    frozen: int
    training: str
    written: Stack = ()


@dataclass(frozen=True, slots=True)
class Value:
    """The size of what a place made before the first step; `should`: that which it has where the law holds."""

    stack: Stack
    size: float
    should: float | None = None


@dataclass(frozen=True, slots=True)
class Books:
    """Who trains what, in one run. `finished`: the script came to its own end."""

    losses: tuple[Loss, ...]
    trainers: tuple[Trainer, ...]
    networks: tuple[Network, ...]
    finished: bool
    incomplete: str = ""
    values: tuple[Value, ...] = ()


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
class Site:
    """An expression whose value a reference run treats otherwise, whenever it is computed."""

    action: str
    """leaf, update, keep, follow, grad, require, unfreeze, record, create, zeros, zero, uncleared, unwatched, detach,
    magnitude, sum, inside, or stand."""
    frame: Frame
    node: str = ""


@dataclass(frozen=True, slots=True)
class Performed:
    """A call that torch refuses and a reference run performed; `used` says whether a later backward went through it."""

    kind: str
    stack: Stack
    used: bool


@dataclass(frozen=True, slots=True)
class Node:
    """A part of a drawn graph.

    A leaf, an op, a loss (a backward call and where it was made), a write that spoiled a saved tensor, a call that
    torch refused, or a cut where a graph was lost. `version` is that of the tensor it saved and `now` what a write made
    of it; of a write, that before and after it. `calls` are the losses whose backward went through it, `freed_by` the
    first of them that freed what it saved: numbers of nodes.
    """

    kind: str  # leaf | op | loss | write | refused | cut
    name: str
    site: int = -1  # an index into the sites; -1: not in the user's code
    module: str = ""
    shape: tuple[int, ...] = ()
    saves: bool = False
    failed: bool = False
    version: int = 0
    now: int = 0
    optimizer: int = -1
    calls: tuple[int, ...] = ()
    freed_by: int = -1


@dataclass(frozen=True, slots=True)
class Hook:
    """A function of the program's that is a hook of modules, or of a tensor: how often it was due before each step.

    Of modules: how often one was called that has it. `calls` has no more than the last step behind which it was due.
    `sums`: of a tensor's, before each of the first steps, the sum of the sketches of what it was given. `kept`: what
    stands for all results that keep their gradient and leaves that no optimizer owns; without a name, for such leaves.
    """

    name: str
    stack: Stack
    tensor: bool
    calls: tuple[int, ...]
    sums: tuple[tuple[float, ...], ...] = ()
    kept: bool = False


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


@dataclass(frozen=True, slots=True)
class Graph:
    """The graph around a failure; edges go from what makes a tensor to what uses it. `left_out`: nodes farther away."""

    nodes: tuple[Node, ...]
    edges: tuple[tuple[int, ...], ...]
    sites: tuple[Stack, ...]
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Trace:
    """Facts from one run, no opinion."""

    id: int
    # finished, stopped, failed, timed_out, memory_exceeded, output_exceeded, processes_exceeded, crashed, cannot_run,
    # instrument_failed: what watches the run raised, and ended it; nothing else is told of such a run
    outcome: str
    detail: str = ""
    failure: Failure | None = None
    traceback: str = ""  # of the exception that ended the run, as Python prints it
    going_on: Stack = ()  # where what is told ended, innermost first; () where it cannot be said what comes behind it
    counts: tuple[int, ...] = ()  # steps of each optimizer, in the order they were made
    backward_count: int = 0
    saved: tuple[Saved, ...] = ()
    also: tuple[Saved, ...] = ()  # what else that backward would have found modified
    crossings: tuple[Crossing, ...] = ()
    remade: bool = True  # what made the older part of the failing graph has since made a younger part of it
    earlier: tuple[Backward, ...] = ()
    step_sites: tuple[Write, ...] = ()
    steps: tuple[Step, ...] = ()
    leaves: tuple[Step, ...] = ()
    names: tuple[tuple[str, ...], ...] = ()
    reaches: tuple[Reach, ...] = ()
    states: tuple[State, ...] = ()
    numbers: tuple[State, ...] = ()  # what lasting containers hold of numbers that are no tensors, as if they were
    spent: tuple[str, ...] = ()  # what lasting containers hold of results that a backward went through
    finals: tuple[tuple[float, ...], ...] = ()
    courses: tuple[Held, ...] = ()  # parameters and buffers where something used them: first, and after writes by hand
    held: tuple[Held, ...] = ()  # other state, at each step; only where asked for
    hooks: tuple[Hook, ...] = ()
    evaluated: tuple[Evaluated, ...] = ()
    modes: tuple[Mode, ...] = ()
    facts: tuple[Fact, ...] = ()
    silent: tuple[Fact, ...] = ()
    books: Books | None = None  # only of an audit
    derivatives: tuple[Stack, ...] = ()  # where autograd.grad gave what has no graph
    with_graph: int = 0  # places that call autograd.grad with create_graph
    performed: tuple[Performed, ...] = ()
    left_out: tuple[str, ...] = ()  # leaves that a tensor made leaf was made of, without gradient in this reading
    origins: tuple[Origin, ...] = ()
    behind: tuple[Behind, ...] = ()
    plain: tuple[Carrier, ...] = ()  # variables that held no tensor when the run failed
    copied: tuple[
        Carrier, ...
    ] = ()  # what the object had that was not copied: as paths below it, and as its class has it
    carried: bool = False
    reused: tuple[Stack, ...] = ()
    cut_off: tuple[CutOff, ...] = ()  # only where asked for
    used: tuple[int, ...] = ()  # optimizers without gradient on whose parameters a loss depends; only of references
    vain: tuple[tuple[int, int], ...] = ()  # how many last steps each made so, behind a backward of such a loss
    arrivals: tuple[Arrivals, ...] = ()  # only where asked for
    opposed: tuple[Opposed, ...] = ()  # only where asked for
    alone: bool = False  # of what is reused: the passes that share it have no leaf but in there
    fed: bool = False  # of what is reused: data went into it; only where asked for
    again: bool = False  # of what is reused: it was made more than once, and passes took what was made last
    drawn: bool = False  # of what is reused: a pass uses what was drawn from it, or it evaluates; only where asked for
    collected: bool = False  # of what is reused: it is data that was collected once; only where asked for
    inside: tuple[str, ...] = ()  # of what is reused: the leaves that these passes apply in there alone
    begun: int = 0  # of what is reused: so many last passes began anew, and what others share of it is not known yet
    anew: bool = False  # of what is reused: passes apply all parameters that it was made of anew, in the same way
    compared: tuple[Compared, ...] = ()  # only where asked for
    densities: tuple[Density, ...] = ()  # only where asked for
    shared: tuple[int, ...] = ()  # of what is reused: the ages of its outermost nodes
    older: tuple[int, ...] = ()  # the same of all that passes took of earlier ones
    handed: tuple[int, ...] = ()  # ages of what a backward call leaves to the next while no step lies between
    averages: tuple[int, ...] = ()  # those of them that each pass sums up with its own, and also uses itself
    added: bool = False  # what is reused is an addend of each loss that reuses it
    left_over: bool = False  # so it is, and more passes made such a one for themselves alone
    bare: bool = False  # of what is reused: these passes have a term that leads by nothing else to what steps on it
    kept_up: bool = False  # what is reused is a record that each round makes of that of the round before
    summed: int = -1  # only where addends are trained once: how often one was left out; -1: it could not be said
    graph: Graph | None = None
    drawn_at: tuple[str, ...] = ()  # the call sites that drew random numbers
    dropped_at: tuple[str, ...] = ()  # those of dropouts, whose draws follow from what they drop
    drops: tuple[str, ...] = ()  # what the first of them dropped: its shape | how much it is
    taken: tuple[Taken, ...] = ()  # of runs that tell draws apart: frozen, or as ordered
    intact: bool = False  # each optimizer met its parameters as they were perturbed
    undone: int = 0  # without optimizers: the leaves that a round steps by hand, each of which steps was undone
    past: float = 0.0  # undisturbed seconds from the failure on, of a run that chose where it ended
    hurried: bool = False  # it ended for want of time, before it was `passes` beyond the failure
    parted: bool = False  # it ended because its gradients had left those of every reference
    late: bool = False  # it needs what came before its modes were entered: to be run again, watched from the start
    notes: tuple[str, ...] = ()
    executed: dict[str, tuple[int, ...]] = field(default_factory=dict)
    latest: dict[str, tuple[int, ...]] = field(default_factory=dict)  # the backward calls before each of these ran last
    marked: dict[str, tuple[int, ...]] = field(default_factory=dict)
    segments: tuple[tuple[int, ...], ...] = ()
    stdout: str = ""
    stderr: str = ""
    seconds: float = 0.0
    queued: float = 0.0  # of these, those in which it waited for a core that others used
    computed: float = 0.0  # seconds for which its process computed, in all threads
    before: float = 0.0  # of `seconds`, those before the first backward call
    stem: bool = False  # beside it its beginning was executed for others, which compute in one thread
    resumed: float = 0.0  # of these, those of a beginning that was executed once for several runs
    peak_bytes: int = 0
    isolation: str = ""
    wrote: tuple[str, ...] = ()  # what the run tried to write: "created PATH", "changed PATH", "deleted PATH"
    reached: tuple[str, ...] = ()  # hosts that it tried to reach
    compiles: bool = False  # it loaded torch._dynamo
    loaded: tuple[str, ...] = ()  # what it loaded of that which the server may import for the next ones
    eager: bool = False  # what it gave to torch.compile or TorchScript ran eagerly

    def seen(self, name: str) -> list[Fact]:
        """The facts of one name."""
        return [fact for fact in self.facts if fact.name == name]

    def of(self, optimizer: int) -> list[Step]:
        """The steps of one optimizer."""
        return [step for step in self.steps if step.optimizer == optimizer]

    @property
    def whole_steps(self) -> list[Step]:
        """The steps, without the single evaluations of closures."""
        return [step for step in self.steps if step.settings != "closure"]

    @property
    def undisturbed(self) -> float:
        """The seconds that it takes on a machine that nobody else uses."""
        return max(0.0, self.seconds - self.queued)

    @property
    def ended_well(self) -> bool:
        """Whether the script came to its end, or was ended because enough was seen."""
        return self.outcome in ("finished", "stopped")

    def parameters(self, optimizer: int) -> tuple[str, ...]:
        """The names of what an optimizer owns; none where it never made a step."""
        return self.names[optimizer] if optimizer < len(self.names) else ()

    def owners(self, optimizer: int) -> list[str]:
        """What holds an optimizer's parameters, and none that only another one owns."""
        others = (names for index, names in enumerate(self.names[: len(self.counts)]) if index != optimizer)
        return holders(self.parameters(optimizer), (name for names in others for name in names))

    def owner(self, optimizer: int) -> str:
        """What an optimizer is called by: the variables or modules that hold its parameters."""
        return ", ".join(self.owners(optimizer)[:3]) or f"optimizer {optimizer + 1}"

    @property
    def reason(self) -> str:
        """The first line of what it ended with, where that was said."""
        return self.detail.partition("\n")[0]


def holders(mine: Iterable[str], others: Iterable[str]) -> list[str]:
    """The shortest names of what holds some parameters and none of the others: `model.critic` beside `model.actor`."""
    mine = tuple(mine)
    foreign = {part for name in set(others).difference(mine) for part in _parts(name)}
    return list(dict.fromkeys(next((p for p in _parts(name) if p not in foreign), name) for name in mine))


def _parts(name: str) -> list[str]:
    """What a name leads through: `a`, `a.b` and `a.b.weight`."""
    return list(itertools.accumulate(name.split("."), "{}.{}".format))


SIGN = b'{"sign":'
"""How the line of a sign begins."""


@dataclass(frozen=True, slots=True)
class Sign:
    """A run that takes long is still going on: its id, backward calls, steps, the user's line, and seconds so far."""

    sign: int
    calls: int
    steps: int
    file: str
    line: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Hello:
    """The server's first message: what it found. `error` says why it cannot serve."""

    error: str
    torch: str
    executable: str
    fork: bool
    note: str
    paths: tuple[str, ...] = ()  # folders that packages are imported from
