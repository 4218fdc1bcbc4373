"""What a rule author sees: `Rule`, `Example`, and the `Sources` a rule may read."""

from __future__ import annotations

import ast
import enum
import functools
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from autofix.model import Applicability, Cause
from autofix.source import Source, SourceError
from autofix.syntax.blocks import function_named
from autofix.syntax.calls import imported

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from autofix.model import Diagnosis
    from autofix.probe.wire import Frame
    from autofix.syntax.edits import Step


@dataclass(frozen=True, slots=True)
class Example:
    """A tiny script that fails, and what the rule makes of it: lines that begin with `-` go, those with `+` come.

    Without such lines the rule must decline. A line that begins with `!` is a note about it; after `! unsafe:` it says
    why the judge must not call this edit safe.
    """

    text: str

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


@functools.lru_cache(maxsize=16)
def _parsed(path: Path, data: bytes) -> Source:
    """A source, read once while it is in use: diagnosis and rules ask for the same."""
    return Source(path, data)


class Sources:
    """The files of the user's project as they stand in this run: the disk's, or a candidate's."""

    def __init__(self, root: Path, files: Mapping[Path, bytes] | None = None) -> None:
        self.root = root
        self._files = dict(files or {})
        self._read: dict[Path, Source | None] = {}

    def source(self, file: str) -> Source | None:
        """The source of `file`, or None when it is not the user's or cannot be parsed."""
        path = Path(file)
        if path not in self._read:
            self._read[path] = self._load(path)
        return self._read[path]

    def _load(self, path: Path) -> Source | None:
        if not path.is_relative_to(self.root):
            return None
        try:
            return _parsed(path, self._files[path] if path in self._files else path.read_bytes())
        except (OSError, SourceError):
            return None

    def node(self, frame: Frame) -> ast.AST | None:
        """The CST node that `frame` was executing, or None when the span does not name one surely."""
        source = self.source(frame.file)
        if source is None:
            return None
        return source.node_at((frame.line, frame.column, frame.end_line, frame.end_column))

    def nodes(self, stack: Iterable[Frame]) -> Iterator[tuple[Frame, Source, ast.AST]]:
        """Each frame whose span names a node in a file of the user's, in their order: innermost first."""
        for frame in stack:
            source, node = self.source(frame.file), self.node(frame)
            if source is not None and node is not None:
                yield frame, source, node

    def statements(self, stack: Iterable[Frame]) -> Iterator[ast.stmt]:
        """The statements in which these frames stood."""
        return (source.statement(node) for _, source, node in self.nodes(stack))

    def located(self, stack: Iterable[Frame]) -> Iterator[tuple[Frame, Source, ast.expr]]:
        """Those of these frames whose node is an expression."""
        for frame, source, node in self.nodes(stack):
            if isinstance(node, ast.expr):
                yield frame, source, node

    def function(self, frame: Frame) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The function that `frame` runs, if it stands in a file of the user's."""
        source = self.source(frame.file)
        found = function_named(source, frame.function) if source is not None else None
        return found if not isinstance(found, ast.Module) else None

    def imported_by(self, source: Source, most: int = 40) -> Iterator[Source]:
        """A file, and those of the project that it imports, nearest first."""
        queue, seen = [source], {source.path}
        for one in queue:
            yield one
            for path in imported(one, self.root):
                if path not in seen and len(seen) < most and (found := self.source(str(path))) is not None:
                    queue.append(found)
                seen.add(path)


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


class Rule:
    """One family of repairs. Stateless: `proposals` reads a diagnosis and yields edits; it runs and writes nothing."""

    code: ClassVar[str]
    name: ClassVar[str]
    title: ClassVar[str]
    causes: ClassVar[frozenset[Cause]]
    tier: ClassVar[Tier]
    applicability: ClassVar[Applicability] = Applicability.SAFE
    examples: ClassVar[tuple[Example, ...]] = ()

    def safety(self) -> str:
        """How far its edits may be trusted, and why: the first sentence that its docstring says of that."""
        text = (sys.modules[type(self).__module__].__doc__ or "").partition("## Fix safety\n")[2]
        return " ".join(text.partition("\n## ")[0].split()).partition(". ")[0].rstrip(".")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """Every edit that may cure `diagnosis`; may raise `edits.Declined` with the reason."""
        raise NotImplementedError

    def propose(
        self, steps: Iterable[Step], why: str, *, title: str = "", tier: Tier | None = None, later: int = 0
    ) -> Proposal:
        """A proposal under this rule's title and tier unless others are given; `later`: behind how many of its tier."""
        return Proposal(tuple(steps), title or self.title, why, (tier or self.tier) + later)
