"""What a rule file imports: `Rule`, `Example`, the `Sources` that it may read, and the words that all rules use."""

from __future__ import annotations

import enum
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from autofix.core.edit import Declined
from autofix.core.kinds import described, in_full
from autofix.core.model import Applicability, Cause, Diagnosis
from autofix.probe.wire import Frame
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources

if TYPE_CHECKING:  # libcst, which it stands on, loads slowly
    from autofix.syntax.edits import Step

__all__ = [
    "Applicability", "Cause", "Declined", "Diagnosis", "Example", "Proposal", "Rule", "Source", "Sources", "Tier",
]  # fmt: skip

HEAD = "import torch\n\ntorch.manual_seed(0)\n"
"""Stands in each example, behind the imports with which their text begins."""
_IMPORTS = re.compile(r"\A(?:(?:import|from) .*\n)*")
_DEFINES = re.compile(r"[+-]?(?:class|def|@)")


@dataclass(frozen=True, slots=True)
class Example:
    """A tiny script that fails, and what the rule makes of it: lines that begin with `-` go, those with `+` come.

    Without such lines the rule must decline. A line that begins with `!` is a note about it; after `! unsafe:` it says
    why the judge must not call this edit safe.
    """

    text: str

    @classmethod
    def each(cls, text: str) -> tuple[Example, ...]:
        """The examples of one text: each begins with its notes, and its script with what stands before them all.

        A line `train: loss` stands for a whole update by `opt`, see `in_full`.
        """
        beginning, *parts = re.split(r"^((?:!.*\n)+)", in_full(text), flags=re.MULTILINE)
        head = _IMPORTS.sub(rf"\g<0>{HEAD}", beginning, count=1)
        scripts = ("\n\n" * bool(_DEFINES.match(body)) + body for body in parts[1::2])
        return tuple(cls(notes + head + script) for notes, script in zip(parts[::2], scripts, strict=True))

    @property
    def before(self) -> str:
        return self._lines("-")

    @property
    def after(self) -> str | None:
        """The script as the rule leaves it; None where it must decline."""
        after = self._lines("+")
        return after if after != self.before else None

    @property
    def notes(self) -> list[str]:
        return [line[1:].strip() for line in self.text.splitlines() if line.startswith("!")]

    @property
    def unsafe(self) -> bool:
        return any(note.startswith("unsafe:") for note in self.notes)

    def _lines(self, marked: str) -> str:
        lines = (line.removeprefix(marked) for line in self.text.splitlines(keepends=True))
        return "".join(line for line in lines if not line.startswith(("-", "+", "!")))


@dataclass(frozen=True, slots=True)
class Proposal:
    """One set of edits that a rule suggests; unproved. Lower `rank` is the better idiom."""

    steps: tuple[Step, ...]
    title: str
    why: str
    rank: int


class Tier(enum.IntEnum):
    """What kind of edit a proposal is, the best idiom first; a place in between is `later` by some."""

    ANSWER = 8
    """The failing call itself says what is missing."""
    MEANT = 10
    """The wrong line, saying what was meant by it."""
    ORDER = 12
    """The same statements in another order."""
    CUT = 14
    """A graph that ends where a value is handed on."""
    AGAIN = 16
    """A value computed a second time, or as a new tensor."""
    UPDATE = 19
    """Values changed without a gradient."""
    PASS = 20
    """What each pass needs, computed or stepped in each."""
    COPY = 24
    """A copy, so that nothing else sees a write."""
    EMPTY = 26
    """Less is kept from one pass to the next."""
    GUESS = 30
    """The same where nothing says that it helps."""
    CREATE = 48
    """A graph for a derivative, where none was asked for."""
    KEEP = 50
    """A graph kept longer, at the cost of memory."""


class Rule(ABC):
    """One family of repairs. Stateless: `proposals` reads a diagnosis and yields edits; it runs and writes nothing."""

    code: ClassVar[str]
    name: ClassVar[str]
    title: ClassVar[str]
    causes: ClassVar[frozenset[Cause]]
    tier: ClassVar[Tier]
    applicability: ClassVar[Applicability] = Applicability.SAFE
    conventional: ClassVar[bool] = False
    """Whether its edits do what the field does where the code does not say: among doubtful edits they come first."""
    usual: ClassVar[tuple[str, str]] = ("", "")
    """Where no edit helps: a part that a line plays in the failure, and what is usually done there, in one sentence."""
    examples: ClassVar[tuple[Example, ...]] = ()

    def safety(self) -> str:
        """How far its edits may be trusted, and why: the first sentence that its docstring says of that."""
        text = described(self).partition("## Fix safety\n")[2]
        return " ".join(text.partition("\n## ")[0].split()).partition(". ")[0].rstrip(".")

    @abstractmethod
    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """Every edit that may cure `diagnosis`; may raise `edits.Declined` with the reason."""

    def hints(self, diagnosis: Diagnosis) -> Iterator[tuple[Frame, str]]:
        """Where no edit helps: what is usually done, at each line that plays the part which the rule is about."""
        role, sentence = self.usual
        told = [one for one in diagnosis.culprits if not one.aside]
        yield from ((one.frame, sentence) for one in told if role in (one.role, *one.also))

    def propose(
        self, steps: Iterable[Step], why: str, *, title: str = "", tier: Tier | None = None, later: int = 0
    ) -> Proposal:
        """A proposal under this rule's title and tier unless others are given; `later`: behind how many of its tier."""
        return Proposal(tuple(steps), title or self.title, why, (tier or self.tier) + later)
