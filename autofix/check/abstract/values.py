"""The values of a play: what is known of a tensor, a network, a container; and that a thing is not known."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

NO, MAYBE, YES = 0, 1, 2
"""Whether something requires a gradient."""


class PlayPlace(NamedTuple):
    """Where something happened: a node, in a call of a function."""

    frame: CallFrame
    node: ast.AST

    @property
    def line(self) -> int:
        return getattr(self.node, "lineno", 0)


@dataclass(slots=True, eq=False)
class Node:
    """A node of the graph: an operation, a leaf, or a value of unknown making."""

    operation: str
    inputs: tuple[Node, ...]
    needs: int
    place: PlayPlace
    time: int
    holds: bool = True
    """Whether it saves something for its backward."""
    saves: list[Saved] = field(default_factory=list)
    leaf: Tensor | None = None
    source: bool = False
    """Whether something unknown made it."""
    retained: bool = False
    """Whether it keeps its gradient although it is no leaf."""
    kept: Happening | None = None


class Saved(NamedTuple):
    """A tensor as an operation saved it; needed only where `needed_by` requires a gradient, if that is given."""

    storage: Storage
    version: int
    needed_by: Node | None
    text: str


class Happening(NamedTuple):
    """When and where a thing was done, and under which undecided conditions."""

    time: int
    place: PlayPlace
    conditions: frozenset[str]
    text: str


@dataclass(slots=True, eq=False)
class Storage:
    """What tensors share, with every write to it."""

    owner: Tensor | None = None
    writes: list[Happening] = field(default_factory=list)

    @property
    def version(self) -> int:
        return len(self.writes)


class Value:
    """Anything that a name can hold."""

    __slots__ = ()


@dataclass(slots=True, eq=False)
class Plain(Value):
    """A number, text, shape or array that is not known; `cut` says which graph ended in it."""

    cut: Happening | None = None


@dataclass(slots=True, eq=False)
class Const(Value):
    """A known number, text, flag or None."""

    value: object


class Ask(NamedTuple):
    """What a call is given, and its node."""

    given: Sequence[Value]
    words: Mapping[str, Value]
    node: ast.AST

    def first(self, *names: str) -> Value | None:
        """The first argument, by its place or one of its names."""
        return self.given[0] if self.given else next((self.words[name] for name in names if name in self.words), None)


@dataclass(slots=True, eq=False)
class Tensor(Value):
    """A tensor; without a node it surely requires no gradient."""

    node: Node | None = None
    storage: Storage = field(default_factory=Storage)
    base: Tensor | None = None
    """What it is a view of."""
    multiple: bool = False
    """Whether it is one of several views that one operation gave."""
    quiet: bool = False
    """Whether it is a view made while gradients were off."""
    cut: Happening | None = None
    """Where its graph ended."""
    scalar: bool | None = None
    integer: bool = False
    grad: bool = False
    """Whether a backward has reached it."""
    derived: bool = False
    """Whether its gradient may have a graph itself."""
    parameter: bool = False
    """Whether it is an `nn.Parameter`."""

    def __post_init__(self) -> None:
        """Whoever is there first owns a storage."""
        if self.storage.owner is None:
            self.storage.owner = self

    @property
    def needs(self) -> int:
        return self.node.needs if self.node is not None else NO

    @property
    def is_leaf(self) -> bool:
        return self.node is None or self.node.leaf is not None


@dataclass(slots=True, eq=False)
class Opaque(Tensor):
    """What nobody knows: a tensor, or anything else. What is read of it twice is the same thing twice."""

    attributes: dict[str, Value] = field(default_factory=dict)
    data: bool = False
    """Whether it comes from a data set."""
    is_tensor: bool = False


@dataclass(slots=True, eq=False)
class Listed(Value):
    """A list, tuple, set or queue; `exact` where all its elements are known."""

    items: list[Value]
    kind: str = "list"
    _: KW_ONLY
    exact: bool = True
    fresh: Callable[[], Value] | None = None
    """Makes one more element, where their number is not known."""
    unknown: list[Value] = field(default_factory=list)
    """Places that are not known and were asked for: two are the same only where they are one value."""

    def turn(self, key: Value) -> int:
        """How many other unknown places were asked for before this one was first."""
        seen = [id(one) for one in self.unknown]
        if id(key) not in seen:
            self.unknown.append(key)
        return seen.index(id(key)) if id(key) in seen else len(seen)


@dataclass(slots=True, eq=False)
class Mapped(Value):
    """A dictionary: values by their known keys; `exact` where there are no others."""

    items: dict[Any, Value] = field(default_factory=dict)
    _: KW_ONLY
    exact: bool = True
    default: Value | None = None


@dataclass(slots=True, eq=False)
class Range(Value):
    """`range(…)`; None for bounds that are not known."""

    numbers: range | None


@dataclass(slots=True, eq=False)
class Named(Value):
    """A thing of another module by its full name: `torch.nn.Linear`, `numpy`."""

    name: str


@dataclass(slots=True, eq=False)
class Later(Value):
    """What a file imports from its own project: the other file is played when the name is first used."""

    module: str
    name: str
    level: int
    file: str


@dataclass(slots=True, eq=False)
class Class(Value):
    """A class of a file that is played."""

    node: ast.ClassDef
    frame: CallFrame
    names: dict[str, Value] = field(default_factory=dict)
    parents: list[Class] = field(default_factory=list)
    bases: list[str] = field(default_factory=list)
    """Those of other modules, by their full names."""

    def lineage(self) -> Iterator[Class]:
        yield self
        for parent in self.parents:
            yield from parent.lineage()

    def find(self, name: str) -> Value | None:
        return next((one.names[name] for one in self.lineage() if name in one.names), None)

    def foreign(self) -> list[str]:
        return [base for one in self.lineage() for base in one.bases]

    @property
    def is_module(self) -> bool:
        return any(base.startswith("torch.nn.") or base.endswith("LightningModule") for base in self.foreign())


@dataclass(slots=True, eq=False)
class Function(Value):
    """A function or lambda of a file that is played, or such a one bound to an object."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    frame: CallFrame
    owner: Class | None = None
    receiver: Value | None = None
    words: frozenset[str] = frozenset()
    """The names of its decorators."""
    mode: tuple[Mode, ast.expr] | None = None
    """The decorator that switches gradients."""

    def mark(self) -> str:
        """Where it stands, as `file:line`."""
        return f"{Path(self.frame.file).absolute()}:{self.node.lineno}"

    def starts(self, node: ast.AST) -> bool:
        """Whether a call at a node is none of the program's, but the start of a play of this function by itself."""
        return node is self.node or (self.owner is not None and node is self.owner.node)


@dataclass(slots=True, eq=False, kw_only=True)
class Mode(Value):
    """A manager or decorator that switches gradients on or off; None where nobody knows which."""

    on: bool | None


@dataclass(slots=True, eq=False)
class Managed(Value):
    """A function decorated as a context manager, called: it is played around the body of its `with`."""

    function: Function
    ask: Ask


@dataclass(slots=True, eq=False)
class Method(Value):
    """A method of something that is no instance of a file's class."""

    receiver: Value
    name: str


@dataclass(slots=True, eq=False)
class Instance(Value):
    """An object of a class that is played, or of torch's: then `kind` is the full name of its class."""

    of: Class | None
    kind: str = ""
    attributes: dict[str, Value] = field(default_factory=dict)
    hooks: list[Value] = field(default_factory=list)
    """Called after forward."""
    before: list[Value] = field(default_factory=list)
    """Called before it."""


@dataclass(slots=True, eq=False)
class Optimizer(Value):
    """A torch optimizer; `exact` where all its parameters are known."""

    kind: str
    parameters: list[Tensor]
    _: KW_ONLY
    exact: bool


@dataclass(slots=True, eq=False)
class CallFrame:
    """A call that is under way: its names, the names around it, and from where it was called."""

    function: Function | None
    outer: CallFrame | None
    caller: PlayPlace | None
    file: str
    names: dict[str, Value] = field(default_factory=dict)
    shared: dict[str, CallFrame] = field(default_factory=dict)
    """Names declared global or nonlocal."""
    globals: CallFrame = field(init=False)
    result: Value | None = None
    yielded: list[Value] | None = None
    given: set[int] = field(default_factory=set)
    """The nodes that came in as arguments."""
    around: Callable[[Value], object] | None = None
    """Plays what a manager's `yield` waits for."""
    generates: bool = False
    """Whether it is a comprehension: a walrus in it binds outside."""

    def __post_init__(self) -> None:
        """Find the names of the file."""
        self.globals = self.outer.globals if self.outer is not None else self

    def alone(self) -> str:
        """The function of a file that is played by itself here, as `file:line`; '' where something calls it."""
        first = self
        while first.caller is not None and first.caller.frame.function is not None:
            first = first.caller.frame
        by_itself = first.function is not None and first.caller is not None and first.function.starts(first.caller.node)
        return first.function.mark() if first.function is not None and by_itself else ""

    def holder(self, name: str) -> CallFrame | None:
        """The call that holds a name as it is seen from here."""
        found: CallFrame | None = self
        while found is not None and name not in found.names:
            found = found.outer
        return found


def stack(place: PlayPlace) -> list[PlayPlace]:
    """The calls that led to a place, the outermost first, the place itself last."""
    found = [place]
    while (caller := found[-1].frame.caller) is not None:
        found.append(caller)
    return found[::-1]


def contents(value: Value | None, depth: int = 4) -> Iterator[Tensor]:
    """The tensors in a value, through containers but not into objects."""
    match value:
        case Tensor():
            yield value
        case Listed(items=items) if depth:
            for item in items:
                yield from contents(item, depth - 1)
        case Mapped(items=entries) if depth:
            for item in entries.values():
                yield from contents(item, depth - 1)


def bound(function: Function, receiver: Value | None) -> Function:
    """A function with the object that it is a method of."""
    return replace(function, receiver=receiver)
