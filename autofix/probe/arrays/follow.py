"""The reading in which a conversion keeps the graph: where values leave torch, pass through numpy, and come back.

In the user's own files calls of numpy and `math`, and those that make a tensor of values, ask here first. A detach
that is part of a conversion's own expression only allows the conversion, and is passed over.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import math
import types
import weakref
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

import torch

from .. import wire
from ..engine import caller, graph
from ..engine.quiet import quiet
from ..engine.refused import name_of, short_name
from ..engine.remembered import Remembered
from ..engine.sums import addends, is_sum
from ..engine.taps import Call, Listener, Taps
from ..program.frames import Frames, Raw
from ..program.overlay import Overlay
from .beside import beside
from .compared import is_compared
from .computed_on import is_input
from .definitions import DERIVATIVES
from .followed import Followed, apply, array_of, cast, casts, followed, gathered, holds, listed, mixes, number

CALL, NAMES, TEXT = "__autofix_call__", "__autofix_names__", "__autofix_text__"
_MAKERS = frozenset(
    {"tensor", "as_tensor", "from_numpy", "asarray", "new_tensor", "Tensor", "FloatTensor", "DoubleTensor"}
)
_CASTS = frozenset({"float", "float16", "float32", "float64", "half", "single", "double", "longdouble", "float_"})
_LEAVES = ("numpy", "item", "tolist", "__array__")
_MODULES = ("numpy", "math")
_ENOUGH = 4
"""Losses that are looked at of each place at which values leave torch: what is needed shows in the first ones."""
_PRODUCTS = ("Mul", "Mm", "Bmm", "Mv", "Dot", "Addmm")
_PARTS = ("View", "Reshape", "Alias", "ToCopy", "Squeeze", "Unsqueeze", "Select", "Slice")
"""Nodes that make of an addend no more than a part of it."""
_MOST = 200
"""Terms of one loss that are looked at."""


class Follow(Listener):
    """Follows values through arrays and back; `entered` is told of each tensor that leaves torch, and where.

    `detached`: what the program itself detaches for a conversion is followed too, as where no conversion was refused.
    """

    def __init__(self, frames: Frames, taps: Taps, *, nudged: bool, detached: bool) -> None:
        self._frames, self._taps, self._detached_too = frames, taps, detached
        self._shadows = Remembered[tuple[torch.Tensor, wire.Frame]]()
        self._left: dict[int, Raw] = {}
        """Where values left torch, by the age of the node that they left at."""
        self._made: weakref.WeakSet[torch.Tensor] = weakref.WeakSet()
        self._proxies: dict[int, Any] = {}
        self._either: dict[Raw, bool] = {}
        """Whether what left torch at a place may be a constant, and a loss trains otherwise by it."""
        self._asked: dict[Raw, tuple[set[Any], bool]] = {}
        """What left torch at such places for the loss that goes backward, and whether it is needed if it lets learn."""
        self._unsent: set[Raw] = set()
        """Those by which so far nothing is sent to what optimizers own, so that the loss trains the same."""
        self._gates: dict[Raw, bool] = {}
        """Those of values that torch only multiplies something by, in a loss that has a minimum in the product."""
        self._alone: dict[Raw, None] = {}
        """Where values left torch of which a term of a loss is made alone."""
        self._derived: set[int] = set()
        """The ages of the nodes that stand for derivatives taken with numpy."""
        self._mixed: set[int] = set()
        """The ages of the nodes that stand for what was computed of data, too."""
        self._of_derivative: dict[Raw, None] = {}
        """Where values left torch of which such a derivative in a loss is made."""
        self._of_parameters: dict[Raw, bool] = {}
        """Whether what left torch for a loss at a place is made of what optimizers own, and of no data."""
        self._compared: dict[Raw, None] = {}
        """Where values left torch that a loss compares with what their own source was made into."""
        self._leaks: dict[Raw, None] = {}
        self._looked = Counter[Raw]()
        self._open: set[Raw] = set()
        """The places at which values left torch that are not yet looked at often enough."""
        self.entered: Callable[[torch.Tensor], None] = lambda _: None

        def lost() -> bool:
            self._leaks[frames.here()] = None
            return nudged

        Followed.lost = lost
        Followed.nudge = beside

    def install(self, overlay: Overlay) -> None:
        """Have the user's sources changed as they are loaded."""
        setattr(builtins, CALL, self._call)
        setattr(builtins, NAMES, self._named)
        setattr(builtins, TEXT, _text)
        overlay.change(self._frames.owned, lambda tree, _: _Changed().visit(tree))

    # Out of torch ---------------------------------------------------------------------------------------------------

    def before(self, func: Any, args: Any, kwargs: Any) -> Any:
        """What a call of torch's gives instead of its result; NOTHING where it is to run as written."""
        first = args[0] if args and isinstance(args[0], torch.Tensor) else None
        if first is None or not torch.is_grad_enabled():
            return NOTHING
        last = short_name(name_of(func))
        if last in ("detach", "data") and first.requires_grad and self._detached_too and (raw := self._here()):
            result = func(*args, **kwargs)
            self._shadows.keep(result, (first, self._frames.resolve(raw[:1])[0]))
            return result
        if last in _LEAVES and (first.requires_grad or first in self._shadows) and (raw := self._here()):
            source = self._source(first, raw)
            return NOTHING if source is None else self._leave(last, source, func(*self._detached(args), **kwargs), raw)
        if last.endswith("_") and not last.endswith("__"):
            self._shadows.forget(first)  # written in place: what it was detached from would be written twice
        shadow = self._shadows.of(first)
        if shadow is not None and (raw := self._here()) and (source := self._source(first, raw)) is not None:
            result = func(*args, **kwargs)
            if isinstance(result, torch.Tensor) and result is not first:
                self._shadows.keep(result, (func(source, *args[1:], **kwargs), shadow[1]))
            return result
        return NOTHING

    def _here(self) -> Raw:
        """The user's frames, where it is the user who calls torch."""
        frame = caller.frame()
        return self._frames.here() if frame is not None and self._frames.owned(frame.f_code.co_filename) else ()

    @staticmethod
    def _detached(args: Any) -> Any:
        return (args[0].detach(), *args[1:])

    def _source(self, tensor: torch.Tensor, raw: Raw) -> torch.Tensor | None:
        """The tensor with a graph that is converted here: itself, or what it was detached from in this expression."""
        if tensor.requires_grad:
            return tensor
        if (shadow := self._shadows.of(tensor)) is None:
            return None
        source, cut = shadow
        here = self._frames.resolve(raw[:1])[0]
        inside = (here.line, here.column) <= (cut.line, cut.column) and (
            (cut.end_line, cut.end_column) <= (here.end_line, here.end_column)
        )
        return source if (here.file, here.function) == (cut.file, cut.function) and inside else None

    def _leave(self, how: str, source: torch.Tensor, value: Any, raw: Raw) -> Any:
        if not source.is_floating_point():
            return value
        with torch._C.DisableTorchFunction():
            tensor = source.view_as(source)
            array = array_of(source) if how == "tolist" else value
        if (node := graph.made_by(tensor)) is not None:
            self._left[node._sequence_nr()] = raw
            if self._looked[raw] < _ENOUGH:
                self._open.add(raw)
            self.entered(tensor)
        if how == "item":
            return Followed(value, tensor.reshape(()))
        return listed(Followed(array, tensor)) if how == "tolist" else Followed(array, tensor)

    # Through the user's calls -----------------------------------------------------------------------------------------

    def _call(self, function: Any, *given: Any, **options: Any) -> Any:
        """A call that casts values, or makes a tensor of them."""
        if getattr(function, "__name__", "") in ("Variable", "VariableMeta") or function is torch.autograd.Variable:
            made = given[0] if given and isinstance(given[0], torch.Tensor) and given[0] in self._made else None
            return function(*given, **options) if made is None else made
        name = getattr(function, "__name__", "")
        if isinstance(function, _Function):  # numpy's asarray, which stays with numpy
            return function(*given, **options)
        same = name in ("as_tensor", "asarray") and isinstance(given[0] if given else None, torch.Tensor)
        values = None if same else self._taken((*given, *options.values()))
        if values is None:
            return function(*given, **options)
        if casts(function):
            return cast(function, values[0])
        return self._back(function, values[0], options)

    def _taken(self, values: tuple[Any, ...]) -> list[Any] | None:
        """Arguments with tensors turned to what is followed; None where none is or was."""
        changed = [self._out(value) for value in values]
        return [_beside(one) if type(one) in (list, tuple) else one for one in changed] if holds(changed) else None

    def _joined(self, values: tuple[Any, ...]) -> list[Any] | None:
        """The same for a function of numpy's: a list of tensors is followed whether or not they have a graph."""
        taken = self._taken(values)
        if taken is not None or self._detached_too:
            return taken
        changed = [_beside(one) if type(one) in (list, tuple) else one for one in values]
        return changed if holds(changed) else None

    def _out(self, value: Any, depth: int = 0) -> Any:
        if type(value) in (list, tuple) and depth < 3 and value:  # noqa: PLR2004  as deep as arguments go
            changed = [self._out(item, depth + 1) for item in value]
            return type(value)(changed) if any(a is not b for a, b in zip(changed, value, strict=True)) else value
        if not isinstance(value, torch.Tensor) or not torch.is_grad_enabled():
            return value
        if not value.requires_grad and value not in self._shadows:
            return value
        raw = self._frames.here()
        source = self._source(value, raw)
        return value if source is None else self._leave("array", source, array_of(source), raw)

    def _back(self, function: Any, value: Any, options: dict[str, Any]) -> Any:
        """A tensor made of values, with their graph."""
        name = getattr(function, "__name__", "")
        whole = gathered(value) if type(value) in (list, tuple) else value
        tensor = whole.tensor
        if options.get("dtype") is not None:
            kind = options["dtype"]
        elif name in ("Tensor", "FloatTensor"):
            kind = torch.float32
        elif name == "DoubleTensor":
            kind = torch.float64
        elif (isinstance(whole.value, float) and type(whole.value) is float) or _numbers(value):
            kind = torch.get_default_dtype()
        else:
            kind = torch.as_tensor(whole.value[()]).dtype
        with torch._C.DisableTorchFunction():
            made: torch.Tensor = tensor.to(kind)
            made = made.view_as(made)
        self._made.add(made)
        return made

    def _named(self, value: Any) -> Any:
        """What an import of numpy or `math` is to be known as."""
        if isinstance(value, types.ModuleType):
            if value.__name__.partition(".")[0] not in _MODULES or "random" in value.__name__:
                return value
            return self._proxies.setdefault(id(value), _Module(value, self._named))
        if isinstance(value, type) or not callable(value):
            return value
        return self._proxies.setdefault(id(value), _Function(value, self))

    def compute(self, function: Any, given: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """A function of numpy's or of `math`'s."""
        values = self._joined(given)
        if values is None:
            return function(*given, **options)
        name = getattr(function, "__name__", "")
        if getattr(function, "__module__", "") == "math":
            if name == "fsum":
                return number(sum(values[0]))
            floats = tuple(number(value) for value in values)
            return apply("math", function, floats, options, each=True)
        if name in ("array", "asarray", "asanyarray", "ascontiguousarray") and followed(values[0]):
            return cast(options["dtype"], values[0]) if options.get("dtype") is not None else values[0]
        result = apply(name, function, tuple(values), options)
        marked = [*[self._derived] * (name in DERIVATIVES), *[self._mixed] * mixes(values)]
        for one in (result if isinstance(result, (list, tuple)) else (result,)) if marked else ():
            if followed(one) and (node := graph.made_by(one.tensor)) is not None:
                for ages in marked:
                    ages |= {node._sequence_nr(), *(child._sequence_nr() for child in graph.children(node))}
        return result

    # What became of it ------------------------------------------------------------------------------------------------

    def backward(self, call: Call) -> None:
        """Look whether each place at which values left torch is needed by the loss that goes backward."""
        if not (self._open or self._unsent):
            return
        nodes = list(graph.operations(graph.walk(call.roots)))
        derived = [node for node in nodes if node._sequence_nr() in self._derived]
        left = {raw: cut for raw, cut in self._leaving(nodes).items() if raw in self._open or raw in self._unsent}
        linear = set(graph.walk(call.roots, _is_linear)) if left else set()
        for place, cut in left.items():
            self._gates[place] = self._gates.get(place, True) and _is_gate(nodes, cut, linear)
        self._looked.update(left.keys())
        self._open -= {raw for raw in left if self._looked[raw] >= _ENOUGH}
        owned = set().union(*self._taps.owned)

        def leaves(starts: Any, without: set[Any]) -> set[int]:
            found = graph.leaves(graph.walk_nodes(starts, lambda node: node not in without))
            return {id(leaf) for leaf in found if not owned or id(leaf) in owned}

        terms = [one for one in islice(_terms(call.roots, set()), _MOST) if leaves([one], set())]
        everywhere = set().union(*left.values())
        differentiated = set(graph.walk_nodes(_addends(call.roots, derived)))
        others = _terms(call.roots, everywhere)
        own = {one for one in others if leaves([one], everywhere)}
        for place, cut in left.items():
            if leaves(cut, set()):  # what no optimizer trains is a constant to all that is compared
                kept = _terms(call.roots, cut)
                mine = [one for one in terms if one not in kept or not cut.isdisjoint(graph.walk_nodes([one]))]
                # Where a term has a graph of torch's own beside, an array in it is a constant as a rule.
                alone = {one for one in mine if one not in own}
                shared = len(alone) < len(mine) or _mixed(call.roots, alone, own)
                constant = any(one not in kept or not leaves([one], cut) for one in mine)
                starved = leaves(graph.starts(call.roots), cut) < leaves(graph.starts(call.roots), set())
                starves = not shared or is_input(call.roots, cut)
                needed = (starved and starves) or (constant and not shared)
                if not cut.isdisjoint(differentiated):
                    needed, self._of_derivative[place] = True, None
                if not needed and not self._either.get(place):
                    self._asked[place] = cut, starves
                if alone:
                    self._alone[place] = None
                if is_compared(call.roots, cut, self._mixed):
                    self._compared[place] = None
                of_leaves = all(map(_is_of_leaves, graph.operations(graph.walk_nodes(cut))))
                self._of_parameters[place] = self._of_parameters.get(place, True) and of_leaves

    def backward_done(self, call: Call) -> None:
        """Look whether it trains otherwise by what may be a constant: behind the hooks of whoever watches it."""
        owned = set().union(*self._taps.owned)
        for place, (cut, starves) in self._asked.items():
            leaves = [one for one in graph.leaves(graph.walk_nodes(cut)) if not owned or id(one) in owned]
            pairs = [*zip(_sent(call, leaves, ()), _sent(call, leaves, cut), strict=False)]
            same = bool(pairs) and all(_same(*pair) for pair in pairs)
            lost = starves and any(_any(one) and not _any(other) for one, other in pairs)
            self._either[place] = not (same or lost)
            (self._unsent.add if same else self._unsent.discard)(place)
        self._asked.clear()

    def _leaving(self, nodes: list[Any]) -> dict[Raw, set[Any]]:
        """By the places at which values left torch, those of some nodes that made them."""
        left: dict[Raw, set[Any]] = {}
        for node in nodes:
            if (place := self._left.get(node._sequence_nr())) is not None:
                left.setdefault(place, set()).add(node)
        return left

    def told(self) -> dict[str, Any]:
        """Places that may be meant as constants, that a term is made of, or whose values could not be followed."""
        maybe = [(raw, "gate" * self._gates.get(raw, False)) for raw, holds in self._either.items() if holds]
        either = [self._frames.fact("array-may-be-constant", *one) for one in maybe]
        alone = [self._frames.fact("term-is-array", raw) for raw in self._alone]
        derivatives = [self._frames.fact("derivative-is-array", raw) for raw in self._of_derivative]
        leaks = [self._frames.fact("value-left-numpy", raw) for raw in self._leaks]
        weights = [self._frames.fact("array-of-parameters", raw) for raw, holds in self._of_parameters.items() if holds]
        compared = [self._frames.fact("array-is-compared", raw) for raw in self._compared]
        return {"facts": [*either, *alone, *derivatives, *leaks, *weights, *compared]}


NOTHING = object()


def _sent(call: Call, leaves: list[torch.Tensor], without: Iterable[Any]) -> tuple[torch.Tensor | None, ...]:
    """What a backward would send to some leaves but for what goes through some nodes; () if torch does not say."""
    with quiet(), contextlib.suppress(RuntimeError), contextlib.ExitStack() as hooks:
        for node in without:
            hooks.callback(node.register_prehook(graph.zeros).remove)
        given = call.gradients or (None,) * len(call.roots)
        starts = [torch.ones_like(root) if one is None else one for root, one in zip(call.roots, given, strict=True)]
        found: tuple[torch.Tensor | None, ...] = torch._C._ImperativeEngine().run_backward(
            call.roots, tuple(starts), True, False, tuple(leaves), allow_unreachable=True, accumulate_grad=False
        )
        return found
    return ()


def _same(one: torch.Tensor | None, other: torch.Tensor | None) -> bool:
    return one is other if one is None or other is None else torch.equal(one, other)


def _any(sent: torch.Tensor | None) -> bool:
    return sent is not None and bool(sent.any())


def _is_linear(node: Any) -> bool:
    """Whether what a node makes is a sum of what it takes, with any weights."""
    return is_sum(node) or node.name().startswith((*_PRODUCTS, *_PARTS))


def _is_gate(nodes: list[Any], cut: set[Any], linear: set[Any]) -> bool:
    """Whether what comes of some nodes meets other graphs in products alone, and no loss is `linear` in these."""
    reached, joined, products = set(cut), set[Any](), []
    for node in sorted(nodes, key=lambda node: node._sequence_nr()):  # children are older
        below = graph.children(node)
        mine = reached.intersection(below)
        if node in cut or not mine:
            continue
        reached.add(node)
        if len(mine) < len(set(below)) and joined.isdisjoint(mine):
            products.append(node)
        if len(mine) < len(set(below)) or not joined.isdisjoint(mine):
            joined.add(node)
    return bool(products) and all(one.name().startswith(_PRODUCTS) and one not in linear for one in products)


def _terms(roots: Any, without: set[Any]) -> set[Any]:
    """The nodes that are summed up into the roots, as far as they are reached without some others."""
    found = addends(roots, lambda node: node not in without)
    return {node for node in graph.operations(found) if node not in without}


def _is_of_leaves(node: Any) -> bool:
    """Whether each operand of a node has a graph of its own, or is a number: nothing in it is data."""
    plain = sum(child is None for child, _ in node.next_functions)
    saved = (getattr(node, f"_saved_{name}", None) for name in ("self", "other"))
    return plain == 0 or (plain == 1 and any(isinstance(one, torch.Tensor) and one.dim() == 0 for one in saved))


def _addends(roots: Any, derived: list[Any]) -> list[Any]:
    """Those of some nodes that are added to something, but for a factor: what is a weight may well be a constant."""
    every = graph.walk(roots) if derived else ()
    sums = [node for node in every if is_sum(node) and len(graph.children(node)) > 1]
    added = set(graph.walk_nodes(sums, lambda node: is_sum(node) or node.name().startswith(_PARTS)))
    return [node for node in derived if node in added]


def _mixed(roots: Any, alone: set[Any], own: set[Any]) -> bool:
    """Whether terms of both kinds are summed up element by element: one may be what the other is measured from."""
    for node in graph.walk(roots, is_sum):
        shapes = graph.shapes(node)
        if is_sum(node) and shapes and math.prod(shapes[0]) > 1:
            below = set(graph.walk_nodes([node], is_sum))
            if not (below.isdisjoint(alone) or below.isdisjoint(own)):
                return True
    return False


def _beside(value: Any) -> Any:
    """A list in which tensors without a graph are followed as what has one is: what joins them is a tensor to torch."""
    if type(value) in (list, tuple):
        return type(value)(map(_beside, value))
    plain = isinstance(value, torch.Tensor) and value.is_floating_point() and not value.requires_grad
    return Followed(array_of(value), value) if plain else value


def _numbers(value: Any) -> bool:
    """Whether a list holds Python's own numbers, of which torch makes its default type."""
    if type(value) in (list, tuple):
        return all(map(_numbers, value))
    return type(value.value if followed(value) else value) in (float, int)


def _text(value: Any) -> Any:
    """What `%` writes into a text."""
    if type(value) is tuple:
        return tuple(map(_text, value))
    return value.value if followed(value) else value


class _Module(types.ModuleType):
    """A module whose functions ask whether what they are given is followed."""

    def __init__(self, module: types.ModuleType, named: Callable[[Any], Any]) -> None:
        super().__init__(module.__name__, module.__doc__)
        self.__dict__["_of"] = module, named

    def __getattr__(self, name: str) -> Any:
        module, named = self.__dict__["_of"]
        return named(getattr(module, name))


class _Function:
    """A function that asks whether what it is given is followed."""

    def __init__(self, function: Any, follow: Follow) -> None:
        self.__dict__["_of"] = function, follow

    def __call__(self, *given: Any, **options: Any) -> Any:
        function, follow = self.__dict__["_of"]
        return follow.compute(function, given, options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_of"][0], name)


class _Changed(ast.NodeTransformer):
    """Puts the questions into a file of the user's."""

    def visit_Import(self, node: ast.Import) -> Any:
        return self._bound(node, [alias.asname or alias.name.partition(".")[0] for alias in node.names])

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        if (node.module or "").partition(".")[0] not in _MODULES or node.level:
            return node
        return self._bound(node, [alias.asname or alias.name for alias in node.names if alias.name != "*"])

    @staticmethod
    def _bound(node: ast.stmt, names: list[str]) -> list[ast.stmt]:
        made = [
            ast.Assign(
                [ast.Name(name, ast.Store())],
                ast.Call(ast.Name(NAMES, ast.Load()), [ast.Name(name, ast.Load())], []),
            )
            for name in names
        ]
        return [node, *(ast.fix_missing_locations(ast.copy_location(one, node)) for one in made)]

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in _MAKERS or name in _CASTS or name == "Variable":
            node.args.insert(0, node.func)
            node.func = ast.copy_location(ast.Name(CALL, ast.Load()), node.func)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        self.generic_visit(node)
        left = node.left
        if (
            isinstance(node.op, ast.Mod)
            and isinstance(getattr(left, "value", None), str)
            and isinstance(left, ast.Constant)
        ):
            node.right = ast.copy_location(ast.Call(ast.Name(TEXT, ast.Load()), [node.right], []), node.right)
        return node
