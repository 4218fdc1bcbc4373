"""What an author of repairs sees: the `Place`s of a fact, and the `Offer`s that may mend it."""

from __future__ import annotations

import ast
import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autofix.core.edit import Declined
from autofix.probe import wire
from autofix.syntax import blocks
from autofix.syntax.calls import name_of
from autofix.syntax.edits import Step
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources


class Keeps(enum.Enum):
    """How much an edit leaves as it was until the first step: what the fault does not concern."""

    GRADIENTS = "until the first step every loss and every gradient is as before"
    LOSSES = "until the first step every loss is as before, and reaches what it reached"
    MULTIPLE = "until the first step losses and gradients are a multiple of what they were"
    WITNESSED = "at first the loss has the value that was computed beside it, of what it is meant to be given"
    VALUES = "until the first step every loss is as before"
    MORE = "every loss that goes backward reaches what it reached, and one reaches more"
    OFTENER = "every loss reaches what it reached, and goes backward as often as it is made"


@dataclass(frozen=True, slots=True)
class Offer:
    """One edit that may mend a fault; unproved."""

    title: str
    steps: Sequence[Step]
    keeps: Keeps = Keeps.GRADIENTS


@dataclass(frozen=True, slots=True)
class Place:
    """A node of the user's code at which a fact was seen."""

    source: Source
    node: ast.AST

    @property
    def statement(self) -> ast.stmt:
        """The innermost statement that the node stands in."""
        return self.source.statement(self.node)

    @property
    def block(self) -> list[ast.stmt]:
        """The statements that this one stands among."""
        return blocks.block_of(self.source, self.statement)

    def beside(self, *names: str) -> Iterator[tuple[ast.stmt, list[ast.stmt]]]:
        """The statement, and each around it, with its block, where that has a direct call of one of these names."""
        found: ast.AST | None = self.statement
        while isinstance(found, ast.stmt) and not isinstance(found, (ast.FunctionDef, ast.AsyncFunctionDef)):
            block = blocks.block_of(self.source, found)
            if any(calls(one, *names) for one in block if one is not found):
                yield found, block
            found = self.source.parent(found)


class Found:
    """A fact, and the places of the user's code that it was seen at: first the line that explains it."""

    def __init__(self, fact: wire.Fact, sources: Sources) -> None:
        """Raises Declined where the first place is none that can be edited."""
        self.subject = fact.subject
        self.sources = sources
        stacks = (fact.stack, *fact.others)
        self.stack = [Place(source, node) for _, source, node in sources.nodes(fact.stack)]
        known = [next((Place(s, n) for _, s, n in sources.nodes(stack[:1])), None) for stack in stacks]
        if known[0] is None:
            raise Declined("the line that explains it cannot be edited")
        self.here = known[0]
        self.others = [place for place in known[1:] if place is not None]


def calls(statement: ast.stmt, *names: str) -> bool:
    """Whether a statement is a call of one of these methods, or for `backward` holds one."""
    if isinstance(statement, ast.Expr):
        value = statement.value
        return isinstance(value, ast.Call) and any(name in name_of(value) for name in names)
    return False


def stepped(call: ast.AST) -> tuple[str, str]:
    """The optimizer that a `step` is called on, and the scaler it goes through, as they are written; '' for none."""
    match call:
        case ast.Call(func=ast.Attribute(value=holder, attr="step"), args=[]):
            return ast.unparse(holder), ""
        case ast.Call(func=ast.Attribute(value=holder, attr="step"), args=[ast.Name() | ast.Attribute() as optimizer]):
            return ast.unparse(optimizer), ast.unparse(holder)
    return "", ""


def target_of(place: Place) -> str:
    """The variable that the value made at a place is assigned to, as it is written; '' for none."""
    match place.statement:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if len(targets) == len(values):
            pairs = zip(targets, values, strict=True)
            return next((ast.unparse(t) for t, v in pairs if any(n is place.node for n in ast.walk(v))), "")
        case ast.Assign(targets=[ast.Name() | ast.Attribute() as target]) | ast.AnnAssign(target=target):
            return ast.unparse(target)
    return ""
