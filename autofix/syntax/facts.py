"""The facts of a file that finders read: who is called, what is bound, in which order, in which loop.

Order is order of evaluation as far as the text tells it: arguments before their call, a value before the name that it
is bound to. `survey` fills these records in.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from autofix.syntax.calls import path_of


class Block:
    """A suite of statements. `with` opens none: what stands in it runs as surely as what stands before it."""

    __slots__ = ("loop", "node", "parent")

    def __init__(self, parent: Block | None, node: ast.AST, *, loop: bool = False) -> None:
        self.parent, self.node, self.loop = parent, node, loop

    def chain(self) -> Iterator[Block]:
        """This block and those around it, within its scope."""
        block: Block | None = self
        while block is not None:
            yield block
            block = block.parent

    def inside(self, other: Block) -> bool:
        return any(block is other for block in self.chain())

    def innermost_loop(self) -> Block | None:
        return next((block for block in self.chain() if block.loop), None)

    def always_runs_in(self, other: Block) -> bool:
        """Whether each pass of `other` reaches this block, loops taken to have a pass."""
        for block in self.chain():
            if block is other:
                return True
            if not block.loop:
                return False
        return False


class Call(NamedTuple):
    """A call; `name` is the dotted text of what is called, or empty, and `method` its last part."""

    order: int
    node: ast.Call
    name: str
    method: str
    block: Block
    quiet: bool
    start: int
    end: int

    @property
    def receiver(self) -> str:
        return self.name.rpartition(".")[0]


class Bind(NamedTuple):
    """A name or attribute that gets a value; `how` is one of `=`, `unpacked`, `augmented`, `item`, `other`."""

    order: int
    node: ast.AST
    name: str
    value: ast.expr | None
    how: str
    block: Block
    quiet: bool
    start: int
    end: int


Event = Call | Bind


class Scope:
    """A module, class, function or lambda with its events in order."""

    def __init__(self, node: ast.AST, parent: Scope | None, module: Module) -> None:
        self.node, self.parent, self.module = node, parent, module
        self.block = Block(None, node)
        self.events: list[Event] = []
        self.calls: dict[str, list[Call]] = {}
        self.binds: dict[str, list[Bind]] = {}
        self.loads: list[str] = []
        self.parameters: frozenset[str] = frozenset()
        self.quiet = False
        self.attributes: dict[str, list[Bind]] = {}
        """Of a class: what its methods bind on `self`."""

    @property
    def name(self) -> str:
        return getattr(self.node, "name", "")

    def used(self, event: Event) -> list[str]:
        """The dotted names read by a call's arguments and receiver, or by a bound value."""
        return self.loads[event.start : event.end]

    def origins(self, name: str) -> list[Bind]:
        """Every binding that may have given `name` its value here; empty when unknown."""
        if name.startswith("self."):
            return self.within.attributes.get(name, []) if self.within is not None else []
        for scope in self.chain():
            if name in scope.parameters:
                return []
            if name in scope.binds and not (scope is not self and isinstance(scope.node, ast.ClassDef)):
                return scope.binds[name]
        return []

    def chain(self) -> Iterator[Scope]:
        """This scope and those around it, innermost first."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    @property
    def within(self) -> Scope | None:
        """The innermost class that this is, or stands in."""
        return next((scope for scope in self.chain() if isinstance(scope.node, ast.ClassDef)), None)

    def last_bind(self, name: str, before: int) -> Bind | None:
        """The binding of `name` that stands last before an event."""
        return next((bind for bind in reversed(self.binds.get(name, ())) if bind.order < before), None)

    def between(self, start: int, end: int) -> list[Event]:
        """The events after `start` and before `end`."""
        return self.events[start + 1 : end]


class Module:
    """A file's facts: its scopes, and what its imports call things."""

    def __init__(self, tree: ast.Module, data: bytes) -> None:
        self.data = data
        self.imports: dict[str, str] = {}
        self.scopes: list[Scope] = []
        self.functions: dict[str, Scope] = {}
        self.classes: dict[str, Scope] = {}
        self.top = Scope(tree, None, self)
        self.scopes.append(self.top)

    def full(self, name: str) -> str:
        """A dotted name with its root as imported: `optim.Adam` is `torch.optim.Adam`."""
        root, dot, rest = name.partition(".")
        return f"{self.imports.get(root, root)}{dot}{rest}"

    def called(self, value: ast.AST | None) -> str:
        """The full name of what `value` calls; empty when it is no plain call."""
        return self.full(path_of(value.func)) if isinstance(value, ast.Call) else ""

    def is_module_class(self, scope: Scope, depth: int = 4) -> bool:
        """Whether a class of this file derives from torch.nn.Module, as far as the file tells."""
        node = scope.node
        if not isinstance(node, ast.ClassDef) or not depth:
            return False
        for base in node.bases:
            name = path_of(base)
            if self.full(name) in {"torch.nn.Module", "torch.nn.modules.module.Module"}:
                return True
            if name in self.classes and self.is_module_class(self.classes[name], depth - 1):
                return True
        return False
