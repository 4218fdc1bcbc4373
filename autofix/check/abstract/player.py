"""What every part of a play needs of the whole: the tape, calls, truth, elements of a container, attributes."""

from __future__ import annotations

import ast
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from autofix.check.abstract import operators
from autofix.check.abstract.tape import Tape
from autofix.check.abstract.values import (
    MAYBE,
    NO,
    YES,
    Ask,
    CallFrame,
    Const,
    Function,
    Instance,
    Later,
    Listed,
    Mapped,
    Named,
    Opaque,
    Plain,
    PlayPlace,
    Range,
    Tensor,
    Value,
    contents,
)

_ALL = 32
"""So many elements of a known container are gone through one by one."""
_PASSES = 2
"""So many passes stand for a loop of unknown length."""


FOREIGN = sys.stdlib_module_names | {
    "torch", "numpy", "torchvision", "tqdm", "matplotlib", "scipy", "pandas", "transformers", "sklearn", "PIL", "cv2",
    "yaml", "wandb", "gym", "gymnasium", "einops", "tensorboard", "tensorboardX", "lightning", "pytorch_lightning",
}  # fmt: skip
"""Roots of imports that are not looked for in the project."""


class PlayOver(Exception):  # noqa: N818  no error: a play that has taken long enough
    """The play is over."""


@dataclass(slots=True, eq=False)
class NoGradient(Const):
    """The None that `.grad` gives for what is no leaf."""

    value: object = field(init=False, default=None)
    of: Tensor


@dataclass(slots=True, eq=False)
class NotYet(Opaque):
    """The `.grad` of a leaf that no backward has reached: None, as far as is known."""

    data: bool = True


class Player(ABC):
    """The state of a play, and what its parts ask of each other."""

    def __init__(self, tape: Tape, main: str, *, take: bool, budget: int) -> None:
        self.tape = tape
        self.main = main  # the file that is played as a script
        self.played: set[ast.AST] = set()  # functions that were gone through
        self.called: dict[ast.AST, Function] = {}  # those that something in a file called
        self.texts: dict[ast.AST, str] = {}  # of conditions
        self.take = take  # whether an undecided condition holds
        self.budget = budget
        self.depth = 0
        self.hesitated = False  # whether a condition was taken that has another side
        self.capped = 0  # loops under way of which only some passes are played
        self.frame: CallFrame

    def spend(self) -> None:
        """Count a step; PlayOver where there have been too many."""
        self.budget -= 1
        if self.budget < 0:
            raise PlayOver

    def place(self, node: ast.AST) -> PlayPlace:
        return PlayPlace(self.frame, node)

    @abstractmethod
    def block(self, body: Iterable[ast.stmt]) -> int:
        """Play statements; how they were left."""

    @abstractmethod
    def evaluate(self, node: ast.expr) -> Value:
        """The value of an expression."""

    @abstractmethod
    def bind(self, target: ast.expr, value: Value, node: ast.AST) -> None:
        """Give a target its value."""

    @abstractmethod
    def call(self, function: Value, ask: Ask) -> Value:
        """Call anything."""

    @abstractmethod
    def call_method(self, receiver: Value, name: str, ask: Ask) -> Value:
        """Call a method of anything."""

    @abstractmethod
    def invoke(self, function: Function, ask: Ask, around: Callable[[Value], object] | None = None) -> Value:
        """Play a function of a file; a context manager only `around` the body of its `with`."""

    @abstractmethod
    def attribute(self, receiver: Value, name: str, node: ast.AST) -> Value:
        """Read an attribute."""

    @abstractmethod
    def set_attribute(self, receiver: Value, name: str, value: Value, node: ast.AST) -> None:
        """Set an attribute."""

    @abstractmethod
    def held(self, value: Instance, node: ast.AST) -> tuple[list[Value], bool]:
        """The elements of an object, and whether these are all."""

    @abstractmethod
    def module(self, name: str, level: int, file: str) -> Instance | None:
        """A module of the same project, played."""

    @abstractmethod
    def imported(self, value: Later, node: ast.AST) -> Value:
        """What an import of the project's own comes to; what is not found is foreign after all."""

    # --- containers ------------------------------------------------------------------------------

    def elements(self, value: Value, node: ast.AST) -> tuple[list[Value], bool]:
        """The elements that a loop over something goes through, and whether these are all."""
        match value:
            case Listed(items=items, exact=exact):
                return ([*items], exact) if len(items) <= _ALL else ([items[0], items[-1]], False)
            case Mapped(items=entries, exact=exact):
                keys: list[Value] = [Const(key) for key in entries]
                return (keys, exact) if len(keys) <= _ALL else (keys[:_PASSES], False)
            case Range(numbers=range() as numbers) if len(numbers) <= _PASSES * 2:
                return [Const(number) for number in numbers], True
            case Const(value=str() as text) if len(text) <= _ALL:
                return [Const(letter) for letter in text], True
            case Instance() if value.kind.startswith("torch.nn.") or value.of is not None:
                return self.held(value, node)
        return [self._some_element(value, node) for _ in range(_PASSES)], False

    def _some_element(self, value: Value, node: ast.AST) -> Value:
        match value:
            case Range() | Plain():
                return Plain(value.cut if isinstance(value, Plain) else None)
            case Opaque():
                return self.part(value, "[]", node)
            case Tensor():
                return operators.view(self.tape, value, self.place(node), "unbind", multiple=True)
        return self.unknown(node)

    def part(self, value: Opaque, name: str, node: ast.AST) -> Opaque:
        """Something read of an unknown value: it hangs on its graph, if there is one, whatever the mode is now."""
        result = Opaque()
        if value.node is None:
            result.data = value.data
            return result
        before, self.tape.grad = self.tape.grad, True
        self.tape.operate(name, [value], self.place(node), holds=False, into=result)
        self.tape.grad = before
        return result

    def later(self, value: Value, node: ast.AST) -> Value:
        """What is computed only when it is asked for: nobody knows which steps come before its graph."""
        return self.unknown(node) if any(one.node is not None for one in contents(value)) else value

    def unknown(self, node: ast.AST) -> Opaque:
        return self.tape.opaque(self.place(node))

    def keep(self, value: Value, node: ast.AST, text: str = "collected") -> None:
        """Note that tensors were put where they outlive a pass: into an attribute, a list."""
        for tensor in contents(value):
            if tensor.node is not None and tensor.node.leaf is None:
                tensor.node.kept = self.tape.happening(self.place(node), text)

    # --- truth -----------------------------------------------------------------------------------

    def truth(self, value: Value) -> bool | None:
        """Whether a value counts as true; None where that is not known."""
        match value:
            case Const(value=known):
                return bool(known)
            case Listed(items=items, exact=exact) | Mapped(items=items, exact=exact):
                return bool(items) if exact else None
            case Range(numbers=numbers):
                return bool(numbers) if numbers is not None else None
            case Tensor() | Plain() | Named():
                return None
        return True

    def undecided(self, test: ast.expr, *, choice: bool) -> bool:
        """How a condition is taken that cannot be decided: `choice` of its positive form."""
        sign = True
        while True:
            match test:
                case ast.UnaryOp(op=ast.Not(), operand=inner):
                    test, sign = inner, not sign
                case ast.Compare(ops=[ast.Is() | ast.NotEq() | ast.NotIn()]):
                    return sign != choice
                case _:
                    return sign == choice

    # --- tensors ---------------------------------------------------------------------------------

    def require(self, tensor: Tensor, flag: Value | None, node: ast.AST) -> None:
        """Set whether a tensor requires a gradient."""
        wanted = flag.value if isinstance(flag, Const) else None if flag is not None else True
        if isinstance(tensor, Opaque) and not tensor.data:
            if tensor.node is not None and wanted is False:
                tensor.node.needs = NO
            return
        if not tensor.is_leaf:
            sure = tensor.node is not None and tensor.node.operation != operators.PERHAPS
            if wanted is False and tensor.needs == YES and sure:
                self.tape.event("flag-on-non-leaf", self.place(node), tensor=tensor, node=tensor.node)
            return
        known = wanted is not None and not self.tape.conditions
        needs = MAYBE if not known else YES if wanted else NO
        if tensor.node is None:
            tensor.base = None  # from now on a leaf of its own
            self.tape.leaf(self.place(node), needs, tensor)
        else:
            tensor.node.needs = needs
            if needs == NO:
                tensor.node = None
                tensor.cut = self.tape.happening(self.place(node), "frozen")
