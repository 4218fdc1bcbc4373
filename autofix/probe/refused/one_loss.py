"""The number of a loss that had several values when it went backward: what a script reads of it later.

Behind `loss.backward()` scripts read `loss.item()` and print `f"{loss:.3f}"`: to them the loss is one number. Where a
reference lets a backward start from several values, these give that number, too: the sum or the mean, as the reading
says.

`total += loss.item() * x.size(0)` makes a sum of the mean of a batch; so does a meter that is told how many examples a
number stands for. So a number that is multiplied by how many values its loss has is their mean, if the text says that
the other factor is a size. Where a script takes `loss.mean()` beside the backward, it says so itself.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Self

import torch

from ..program.expressions import is_at, parsed
from ..program.frames import Frames, Raw
from ..wire import Stack

_READ = ("item", "__float__", "__format__")
_MOST = 1 << 16
"""Values of a loss that are remembered before it goes backward."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class OneLoss:
    """What was one loss to the script, by the place of its backward."""

    def __init__(self, frames: Frames) -> None:
        self.counted = self.averaged = False
        """Whether the number of such a loss was multiplied by how many values the loss has, or its mean was taken."""
        self.text: Callable[[str], bytes] = lambda _file: b""
        """Who gives the text of a file."""
        self._frames = frames
        self._known: dict[Raw, tuple[torch.Tensor, float]] = {}
        self._mean_of: torch.Tensor | None = None
        """The values of which the script took a mean last, before they went backward, if they do."""

    def began(self, place: Raw, loss: torch.Tensor, weights: torch.Tensor) -> None:
        """Hear of a backward from several values, with what each counts."""
        if loss.layout is torch.strided and not loss.is_meta and loss.numel():
            values = loss.detach()
            self._known[place] = values, float((values * weights).sum())
            self.averaged = self.averaged or (self._mean_of is not None and _are_same(values, self._mean_of))

    def took_mean(self, args: Any, kwargs: Any) -> None:
        """Hear of a call of `mean`: of all values of a loss, it is what the script takes the loss for."""
        if len(args) != 1 or kwargs or not isinstance(args[0], torch.Tensor) or args[0].layout is not torch.strided:
            return
        with torch._C.DisableTorchFunction():
            values = args[0].detach()
            self._mean_of = values if args[0].requires_grad and values.numel() <= _MOST else None
            self.averaged = self.averaged or any(_are_same(one[0], values) for one in self._known.values())

    def read(self, func: Any, args: Any) -> Any:
        """What the script reads of a loss whose backward had several values; None where this is no such call."""
        if not self._known or getattr(func, "__name__", "") not in _READ or not isinstance(args[0], torch.Tensor):
            return None
        form = func.__name__ == "__format__"
        with torch._C.DisableTorchFunction():
            found = next((one for one in self._known.values() if _are_same(one[0], args[0])), None)
        if found is None or (form and not args[1]):
            return None
        return format(found[1], args[1]) if form else _Number(found[1], found[0].numel(), self._multiplied)

    def _multiplied(self) -> None:
        place = self._frames.resolve(self._frames.here())
        product = _node(self.text, ast.BinOp, place)
        if isinstance(product, ast.BinOp) and isinstance(product.op, ast.Mult):
            self.counted = self.counted or any(self._is_size(one, place) for one in (product.left, product.right))

    def _is_size(self, node: ast.expr, place: Stack) -> bool:
        """Whether an expression says how many values there are, in the text of a place or of its callers."""
        match node:
            case ast.Call(func=ast.Name(id="len") | ast.Attribute(attr="numel" | "nelement")):
                return True
            case ast.Call(func=ast.Attribute(attr="size"), args=[ast.Constant(value=0)]):
                return True
            case ast.Subscript(value=ast.Attribute(attr="shape") | ast.Call(func=ast.Attribute(attr="size")), slice=at):
                return isinstance(at, ast.Constant) and at.value == 0
            case ast.Name(id=name):
                return self._holds_size(name, place)
        return False

    def _holds_size(self, name: str, place: Stack) -> bool:
        """Whether a variable is given sizes alone, or by the caller of the function whose parameter it is."""
        tree = parsed(self.text(place[0].file))
        if tree is None:
            return False
        around = [one for one in ast.walk(tree) if isinstance(one, _FUNCTIONS) and _is_within(one, place[0].line)]
        scope = max(around, key=lambda one: one.lineno, default=tree)
        given = [
            one.value
            for one in ast.walk(scope)
            if isinstance(one, ast.Assign) and any(isinstance(to, ast.Name) and to.id == name for to in one.targets)
        ]
        if given:
            return all(not isinstance(one, ast.Name) and self._is_size(one, place) for one in given)
        if isinstance(scope, ast.Module) or len(place) == 1:
            return False
        names = [one.arg for one in (*scope.args.posonlyargs, *scope.args.args)]
        call = _node(self.text, ast.Call, place[1:])
        if name not in names or not isinstance(call, ast.Call):
            return False
        by_name = next((one.value for one in call.keywords if one.arg == name), None)
        at = names.index(name) - (names[0] == "self")
        argument = by_name or (call.args[at] if at < len(call.args) else None)
        return argument is not None and self._is_size(argument, place[1:])


class _Number(float):
    """A number read of a loss; it tells when it is multiplied by how many values that loss has."""

    def __new__(cls, number: float, _count: int, _tell: Callable[[], None]) -> Self:
        return super().__new__(cls, number)

    def __init__(self, _number: float, count: int, tell: Callable[[], None]) -> None:
        self._count, self._tell = count, tell

    def __mul__(self, other: Any) -> Any:
        if type(other) is int and other == self._count:
            self._tell()
        return super().__mul__(other)

    __rmul__ = __mul__

    def __reduce__(self) -> Any:
        return float, (float(self),)


def _node(text: Callable[[str], bytes], kind: type[ast.expr], place: Stack) -> ast.expr | None:
    """The expression of a kind that stands at the innermost frame of a place."""
    tree = parsed(text(place[0].file)) if place else None
    found = (one for one in ast.walk(tree) if isinstance(one, kind) and is_at(one, place[0])) if tree else ()
    return next(iter(found), None)


def _is_within(function: ast.FunctionDef | ast.AsyncFunctionDef, line: int) -> bool:
    return function.lineno <= line <= (function.end_lineno or 0)


def _are_same(values: torch.Tensor, tensor: torch.Tensor) -> bool:
    """Whether a tensor is the loss with these values, or the same memory without a graph."""
    alike = tensor.layout is values.layout and tensor.dtype == values.dtype and tensor.shape == values.shape
    return alike and not tensor.is_meta and tensor.data_ptr() == values.data_ptr()
