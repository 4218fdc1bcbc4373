"""The values of a play: what is known of a tensor, a network, a container; and that a thing is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Iterator, Mapping, Sequence

NO, MAYBE, YES = 0, 1, 2
"""Whether something requires a gradient."""


class Place(NamedTuple):
    """Where something happened: a node, in a call of a function."""

    frame: Frame
    node: ast.AST

    @property
    def line(self) -> int:
        return getattr(self.node, "lineno", 0)


class Node:
    """A node of the graph: an operation, a leaf, or a value of unknown making."""

    __slots__ = (
        "conditions", "holds", "inputs", "kept", "leaf", "needs", "operation", "place", "retained", "saves", "source",
        "time",
    )  # fmt: skip

    def __init__(self, operation: str, inputs: tuple[Node, ...], needs: int, place: Place, time: int) -> None:
        self.operation = operation
        self.inputs = inputs
        self.needs = needs
        self.place = place
        self.time = time
        self.holds = True  # saves something for its backward
        self.saves: list[Saved] = []
        self.leaf: Tensor | None = None
        self.source = False  # made by something unknown
        self.retained = False  # keeps its gradient although it is no leaf
        self.kept: Happening | None = None
        self.conditions: frozenset[str] = frozenset()


class Saved(NamedTuple):
    """A tensor as an operation saved it; needed only where `needed_by` requires a gradient, if that is given."""

    storage: Storage
    version: int
    needed_by: Node | None
    text: str


class Happening(NamedTuple):
    """When and where a thing was done, and under which undecided conditions."""

    time: int
    place: Place
    conditions: frozenset[str]
    text: str


class Storage:
    """What tensors share, with every write to it."""

    __slots__ = ("owner", "writes")

    def __init__(self) -> None:
        self.owner: Tensor | None = None
        self.writes: list[Happening] = []

    @property
    def version(self) -> int:
        return len(self.writes)


class Value:
    """Anything that a name can hold."""

    __slots__ = ()


class Plain(Value):
    """A number, text, shape or array that is not known; `cut` says which graph ended in it."""

    __slots__ = ("cut",)

    def __init__(self, cut: Happening | None = None) -> None:
        self.cut = cut


class Const(Value):
    """A known number, text, flag or None."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value


class Ask(NamedTuple):
    """What a call is given, and its node."""

    given: Sequence[Value]
    words: Mapping[str, Value]
    node: ast.AST

    def first(self, *names: str) -> Value | None:
        """The first argument, by its place or one of its names."""
        return self.given[0] if self.given else next((self.words[name] for name in names if name in self.words), None)


class Tensor(Value):
    """A tensor; without a node it surely requires no gradient."""

    __slots__ = (
        "base", "cut", "derived", "grad", "integer", "multiple", "node", "parameter", "quiet", "scalar", "storage",
    )  # fmt: skip

    def __init__(self, node: Node | None = None, storage: Storage | None = None) -> None:
        self.node = node
        self.storage = storage or Storage()
        if self.storage.owner is None:
            self.storage.owner = self
        self.base: Tensor | None = None  # what it is a view of
        self.multiple = False  # one of several views that one operation gave
        self.quiet = False  # a view made while gradients were off
        self.cut: Happening | None = None  # where its graph ended
        self.scalar: bool | None = None
        self.integer = False
        self.grad = False  # a backward has reached it
        self.derived = False  # … and its gradient has a graph itself
        self.parameter = False  # an `nn.Parameter`

    @property
    def needs(self) -> int:
        return self.node.needs if self.node is not None else NO

    @property
    def is_leaf(self) -> bool:
        return self.node is None or self.node.leaf is not None


class Opaque(Tensor):
    """What nobody knows: a tensor, or anything else. What is read of it twice is the same thing twice."""

    __slots__ = ("attributes", "data", "is_tensor")

    def __init__(self, node: Node | None = None) -> None:
        super().__init__(node)
        self.attributes: dict[str, Value] = {}
        self.data = False  # comes from a data set
        self.is_tensor = False


class Listed(Value):
    """A list, tuple, set or queue; `exact` where all its elements are known."""

    __slots__ = ("exact", "fresh", "items", "kind")

    def __init__(self, items: list[Value], kind: str = "list", *, exact: bool = True) -> None:
        self.items = items
        self.kind = kind
        self.exact = exact
        self.fresh: Callable[[], Value] | None = None  # makes one more element, where their number is not known


class Mapped(Value):
    """A dictionary: values by their known keys; `exact` where there are no others."""

    __slots__ = ("default", "exact", "items")

    def __init__(self, items: dict[Any, Value] | None = None, *, exact: bool = True) -> None:
        self.items: dict[Any, Value] = items if items is not None else {}
        self.exact = exact
        self.default: Value | None = None


class Span(Value):
    """`range(…)`; None for bounds that are not known."""

    __slots__ = ("numbers",)

    def __init__(self, numbers: range | None) -> None:
        self.numbers = numbers


class Named(Value):
    """A thing of another module by its full name: `torch.nn.Linear`, `numpy`."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class Later(Value):
    """What a file imports from its own project: the other file is played when the name is first used."""

    __slots__ = ("file", "level", "module", "name")

    def __init__(self, module: str, name: str, level: int, file: str) -> None:
        self.module = module
        self.name = name
        self.level = level
        self.file = file


class Class(Value):
    """A class of a file that is played."""

    __slots__ = ("bases", "frame", "names", "node", "parents")

    def __init__(self, node: ast.ClassDef, frame: Frame) -> None:
        self.node = node
        self.frame = frame
        self.names: dict[str, Value] = {}
        self.parents: list[Class] = []
        self.bases: list[str] = []  # of other modules, by their full names

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


class Function(Value):
    """A function or lambda of a file that is played, or such a one bound to an object."""

    __slots__ = ("frame", "mode", "node", "owner", "receiver", "words")

    def __init__(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, frame: Frame) -> None:
        self.node = node
        self.frame = frame
        self.owner: Class | None = None
        self.receiver: Value | None = None
        self.words: frozenset[str] = frozenset()  # of its decorators
        self.mode: tuple[Mode, ast.expr] | None = None  # the decorator that switches gradients


class Mode(Value):
    """A manager or decorator that switches gradients on or off; None where nobody knows which."""

    __slots__ = ("on",)

    def __init__(self, *, on: bool | None) -> None:
        self.on = on


class Managed(Value):
    """A function decorated as a context manager, called: it is played around the body of its `with`."""

    __slots__ = ("ask", "function")

    def __init__(self, function: Function, ask: Ask) -> None:
        self.function = function
        self.ask = ask


class Method(Value):
    """A method of something that is no instance of a file's class."""

    __slots__ = ("name", "receiver")

    def __init__(self, receiver: Value, name: str) -> None:
        self.receiver = receiver
        self.name = name


class Instance(Value):
    """An object of a class that is played, or of torch's: then `kind` is the full name of its class."""

    __slots__ = ("attributes", "before", "hooks", "kind", "of")

    def __init__(self, of: Class | None, kind: str = "") -> None:
        self.of = of
        self.kind = kind
        self.attributes: dict[str, Value] = {}
        self.hooks: list[Value] = []  # called after forward
        self.before: list[Value] = []  # called before it


class Optimizer(Value):
    """A torch optimizer; `exact` where all its parameters are known."""

    __slots__ = ("exact", "kind", "parameters", "place")

    def __init__(self, kind: str, parameters: list[Tensor], place: Place, *, exact: bool) -> None:
        self.kind = kind
        self.parameters = parameters
        self.exact = exact
        self.place = place


class Frame:
    """A call that is under way: its names, the names around it, and from where it was called."""

    __slots__ = (
        "around", "caller", "file", "function", "generates", "given", "globals", "names", "outer", "result", "shared",
        "yielded",
    )  # fmt: skip

    def __init__(self, function: Function | None, outer: Frame | None, caller: Place | None, file: str) -> None:
        self.function = function
        self.outer = outer
        self.caller = caller
        self.file = file
        self.names: dict[str, Value] = {}
        self.shared: dict[str, Frame] = {}  # names declared global or nonlocal
        self.globals: Frame = outer.globals if outer is not None else self
        self.result: Value | None = None
        self.yielded: list[Value] | None = None
        self.given: set[int] = set()  # the nodes that came in as arguments
        self.around: Callable[[Value], object] | None = None  # plays what a manager's `yield` waits for
        self.generates = False  # a comprehension: a walrus in it binds outside

    def holder(self, name: str) -> Frame | None:
        """The frame that holds a name as it is seen from here."""
        frame: Frame | None = self
        while frame is not None and name not in frame.names:
            frame = frame.outer
        return frame

    def find(self, name: str) -> Value | None:
        holder = self.holder(name)
        return holder.names[name] if holder is not None else None


def stack(place: Place) -> list[Place]:
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
    made = Function(function.node, function.frame)
    made.owner, made.words, made.mode, made.receiver = function.owner, function.words, function.mode, receiver
    return made
