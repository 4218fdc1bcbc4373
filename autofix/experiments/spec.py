"""What a run is asked for by: which files, in which reading, how it is treated, and what is done to it."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from autofix.core.model import Reading, Treatment


class Intervention(enum.Enum):
    """What is changed in a run to see what depends on it.

    NUDGED: results of `autograd.grad` without a graph, and of refused conversions, are a little larger. DOUBLED: each
    backward after the last step before the failure sends twice as much. SOURCED: nothing; what went into a graph that
    several passes share is watched. ORDERED: random draws are told apart by what is drawn and how often, not by where.
    OUTPUTS: nothing; the gradients that losses send to what modules give are watched. SHIFTED, SHIFTED_FAR: so they
    are, and what the modules of one optimizer give is otherwise. LATE: while steps are undone, parameters drift, from
    some round on, where a forward next uses them, not right after a step. REPEATED: nothing; it is run once more, to
    its end. WHOLE: nothing; it goes on for as long as live runs do, where others of a slow script end sooner.
    BRIEF: nothing; of a slow script it ends behind the first step beyond the failure.
    COMPARED: nothing; whether what is compared is the same is watched. UNMOVED: parameters start where the script
    puts them, and draws are told apart as when ORDERED. BOUNDING: what a clamp leaves of a value is a little otherwise.
    FARTHER: they start a trifle farther than usual. STIRRED: a step also moves what it has no gradient for.
    COMPILED: `torch.compile` compiles, and no instrument watches. SHORTENED: loops that train end after two passes, so
    that the loops around them come to their next. THROUGH: so they do, and the run goes on to the end of the script.
    FURTHER: it goes on for a while behind what is compared otherwise; in a reference, arrays of weights keep the values
    that they were taken with. UNSHARED: so it does, and so they do in an edited script. KEEPING: loops end as THROUGH,
    and arrays keep their values. RESTING: some parameters keep what they hold, whatever steps make of them.
    """

    NONE = enum.auto()
    NUDGED = enum.auto()
    DOUBLED = enum.auto()
    SOURCED = enum.auto()
    ORDERED = enum.auto()
    OUTPUTS = enum.auto()
    SHIFTED = enum.auto()
    SHIFTED_FAR = enum.auto()
    LATE = enum.auto()
    REPEATED = enum.auto()
    WHOLE = enum.auto()
    BRIEF = enum.auto()
    COMPARED = enum.auto()
    UNMOVED = enum.auto()
    BOUNDING = enum.auto()
    FARTHER = enum.auto()
    STIRRED = enum.auto()
    COMPILED = enum.auto()
    SHORTENED = enum.auto()
    THROUGH = enum.auto()
    FURTHER = enum.auto()
    UNSHARED = enum.auto()
    KEEPING = enum.auto()
    RESTING = enum.auto()

    @property
    def goes_on(self) -> bool:
        """Whether it is compared with a reference that goes on behind the others."""
        return self in (Intervention.FURTHER, Intervention.UNSHARED)

    @property
    def to_the_end(self) -> bool:
        """Whether it goes on to the end of the script, through loops that end early."""
        return self in (Intervention.THROUGH, Intervention.KEEPING)

    @property
    def only_watches(self) -> bool:
        """Whether the script does in it what it does without."""
        return self in (Intervention.SOURCED, Intervention.OUTPUTS, Intervention.COMPARED)


@dataclass(frozen=True, slots=True)
class RunSpec:
    """One run. With a `reading` it is a reference, which performs what torch refuses; without, torch is as it is.

    `owner` is the optimizer that an intervention is about, where it is about one; `since`, the round it begins at;
    `about` the parameters that it is about, each an optimizer and its place there, where not all are;
    `times`, how many times as far as the reference an edited script goes, or which of several such references it is;
    `beside`, the reading beside which it goes FURTHER, and ends where that does; `turned`, the comparisons, by what
    told of them, that give the opposite in it.
    """

    files: tuple[tuple[Path, bytes], ...] = ()
    reading: Reading | None = None
    treatment: Treatment = Treatment.LIVE
    intervention: Intervention = Intervention.NONE
    owner: int = -1
    since: int = 0
    about: tuple[tuple[int, int], ...] = ()
    times: int = 1
    beside: Reading | None = None
    turned: tuple[str, ...] = ()

    @classmethod
    def edited(
        cls,
        files: Mapping[Path, bytes],
        treatment: Treatment = Treatment.LIVE,
        intervention: Intervention = Intervention.NONE,
    ) -> RunSpec:
        """The run of the script with `files` in place of its own."""
        return cls(tuple(sorted(files.items())), None, treatment, intervention)

    @classmethod
    def reference(
        cls, reading: Reading, treatment: Treatment = Treatment.LIVE, intervention: Intervention = Intervention.NONE
    ) -> RunSpec:
        """The reference run of the unedited script."""
        return cls((), reading, treatment, intervention)

    def __str__(self) -> str:
        """What is run, for somebody who waits for it."""
        undone = "" if self.treatment is Treatment.LIVE else " with its parameters held still"
        other = "" if self.intervention is Intervention.NONE else ", once more"
        code = "the code beyond its failure" if self.reading is not None else "the script as it is"
        return f"{'the edited script' if self.files and self.reading is None else code}{undone}{other}"


UNEDITED = RunSpec()
"""The unedited script under the instruments of an edited one: it has to fail as it did, or a pass means nothing."""
