"""What the probe answers: the facts of one run, and what it says before and meanwhile."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field

from .books import Books
from .facts import Compared, Density, Evaluated, Fact, Hook, Mode, Taken
from .failures import Backward, Behind, Carrier, Crossing, Failure, Origin, Performed, Saved, Write
from .graphs import Graph
from .places import Stack
from .training import Arrivals, CutOff, Held, Opposed, Reach, State, Step, Through


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
    copied: tuple[Carrier, ...] = ()  # of the object, what was not copied: as paths below it, and as its class has it
    carried: bool = False
    reused: tuple[Stack, ...] = ()
    cut_off: tuple[CutOff, ...] = ()  # only where asked for
    used: tuple[int, ...] = ()  # optimizers without gradient on whose parameters a loss depends; only of references
    vain: tuple[tuple[int, int], ...] = ()  # how many last steps each made so, behind a backward of such a loss
    arrivals: tuple[Arrivals, ...] = ()  # only where asked for
    opposed: tuple[Opposed, ...] = ()  # only where asked for
    through: tuple[Through, ...] = ()  # only where asked for
    alone: bool = False  # of what is reused: the passes that share it have no leaf but in there
    fed: bool = False  # of what is reused: data went into it; only where asked for
    again: bool = False  # of what is reused: it was made more than once, and passes took what was made last
    renewed: bool = False  # of what is reused: as they go on, passes put more of it there, whichever of it they take
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
    left_over: bool = False  # so it is, and more passes made such a one for themselves alone; or these replaced it
    bare: bool = False  # of what is reused: these passes have a term that leads by nothing else to what steps on it
    recurs: bool = False  # all that passes took of earlier ones are states of a recurrence, made one after the other
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
