"""What a graph was made from: parameters and constants alone, or data too; what was drawn from it, or cut off."""

from __future__ import annotations

import functools
import itertools
import operator
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from .. import wire
from ..program.frames import Frames, Raw
from . import graph, transforms
from .quiet import quiet
from .refused import listed, name_of, only_says, short_name, tensors
from .remembered import Remembered
from .sums import addends
from .taps import Call, Listener, Taps, parameters

_REGULAR = ("zeros", "ones", "full", "eye", "arange", "linspace", "logspace", "tril_indices", "triu_indices")
"""What makes the same numbers wherever it stands: no data."""
_DRAWS = frozenset(
    ("multinomial", "bernoulli", "normal", "poisson", "binomial", "_sample_dirichlet", "_standard_gamma")
)
"""What draws at random by the values that it is given."""
_MOST = 256
"""Nodes from which one tensor was drawn that are remembered, and draws that are."""
_LATEST = 40
"""Backward calls that are remembered: what losses of one pass share."""
_LARGE = 1 << 20
"""Numbers of a tensor that are looked at."""
_CUTS = ("detach", "data")
_GRADIENT = "grad"
"""Asks for a tensor's gradient, as an attribute or as a derivative by it."""
_SAY_MORE = _DRAWS | {_GRADIENT}
"""What is heard of whatever it gives."""


_NONE: frozenset[Any] = frozenset()


@dataclass(frozen=True, slots=True)
class Taken:
    """One call of torch that made a part of a graph: its name, and the data that it took, each as some numbers.

    `layer`: it applied a parameter. `floating`: some of the data is no index. `frozen`: the ids of the parameters that
    it applied without gradient. `origins`: the ages of the graph at which the data were first made. `evaluates`: a
    module made it that was told to evaluate. `bare`: it took values without a graph, be it a single number, that are
    neither indices nor parameters.
    """

    name: str
    layer: bool
    data: tuple[tuple[Any, ...], ...] = ()
    floating: bool = False
    frozen: tuple[int, ...] = ()
    origins: frozenset[int] = _NONE
    evaluates: bool = False
    bare: bool = False


@dataclass(frozen=True, slots=True)
class _Values:
    """Of a tensor without a graph: the nodes whose values it was made of, and those that it was drawn from."""

    behind: frozenset[graph.Node] = _NONE
    drawn: frozenset[graph.Node] = _NONE
    cut: frozenset[Raw] = _NONE
    """Where it was cut from its graph; () where that was lost in another way."""


def _numbers(tensor: torch.Tensor) -> tuple[Any, ...]:
    """What tells a tensor's values from others; of a large one, some of them."""
    if transforms.wrapped(tensor) or tensor.layout is not torch.strided or tensor.is_meta:
        return tuple(tensor.shape), id(tensor)
    with quiet():
        flat = tensor.detach().reshape(-1)
        flat = flat[:: 1 + flat.numel() // _LARGE].double().cpu()
        return tuple(tensor.shape), float(flat.sum()), float(flat @ torch.arange(flat.numel(), dtype=flat.dtype))


def _is_bare(tensor: torch.Tensor) -> bool:
    """Whether a tensor has values without a graph that are neither indices nor a parameter's."""
    indices = not (tensor.is_floating_point() or tensor.is_complex())
    return not (indices or tensor.requires_grad or isinstance(tensor, torch.nn.Parameter))


def _has_fraction(given: Any, depth: int = 0) -> bool:
    """Whether a call was given a number of Python that is not whole, lists opened."""
    if isinstance(given, dict):
        given = list(given.values())
    if isinstance(given, (list, tuple)) and depth < 4:  # noqa: PLR2004  deeper nesting is no data
        return any(_has_fraction(one, depth + 1) for one in given)
    return isinstance(given, complex) or (isinstance(given, float) and not given.is_integer())


@functools.lru_cache(maxsize=1024)
def _called(func: Any) -> str:
    """The short name of a torch function."""
    return short_name(name_of(func))


class DataSources(TorchFunctionMode, Listener):
    """Watches torch calls for what goes into a graph beside parameters.

    A constant is a buffer, what torch counts up by itself, what holds one number, and what is made of such alone. All
    else that has no graph is data: who reads a file or draws at random has samples.

    *Drawn* is what has no gradient by its nature though it was made of values with a graph: a random draw by them, an
    index, a comparison; and what is made of such.
    """

    def __init__(self, frames: Frames, taps: Taps) -> None:
        super().__init__()
        self._frames, self._taps = frames, taps
        self._retired = False
        self._constants = Remembered[bool]()
        self._shapes: dict[int, tuple[int, ...]] = {}
        """Of parameters that were applied without gradient, by their ids."""
        self._made: list[tuple[int, int, Taken]] = []
        """The ages of the nodes that each call made, from and to, in order."""
        self._values = Remembered[_Values]()
        self._origins = Remembered[frozenset[int]]()
        self._draws: deque[graph.Node] = deque(maxlen=_MOST)
        """The latest nodes from which something was drawn at random: nobody does so in vain."""
        self._takers: list[tuple[int, int, frozenset[graph.Node]]] = []
        """The ages of nodes that took what was drawn, from and to, and where that was drawn."""
        self._readers: deque[tuple[int, int, _Values]] = deque(maxlen=_MOST)
        """The latest ages of nodes that took values which had been cut from their graph."""
        self._cut_off: dict[tuple[int, Raw, Raw], tuple[bool, bool]] = {}
        self._through: deque[tuple[Raw, set[int]]] = deque(maxlen=_LATEST)
        """The ages of the nodes that the latest losses went backward through."""
        self._in_leaves: dict[int, Raw] = {}
        """By its id, each leaf that the values of another one are made of, and a loss that leads to that."""
        self._asked: set[int] = set()
        """The same of what the program asks for the gradient of."""
        self._take_parameters()
        self._evaluate: list[bool] = []
        """Of the modules that are called now, whether each was told to evaluate, the innermost last."""
        modules = torch.nn.modules.module
        self._hooks = (
            modules.register_module_buffer_registration_hook(self._buffer),
            modules.register_module_forward_pre_hook(lambda module, _given: self._evaluate.append(not module.training)),
            modules.register_module_forward_hook(lambda *_: self._left(), always_call=True),
        )

    def go_on(self, frames: Frames) -> None:
        """Watch a run that has these frames, from here on."""
        self._frames = frames

    def retire(self) -> None:
        """Hear of nothing any more, wherever the mode of calls still is."""
        self._retired = True
        for hook in self._hooks:
            hook.remove()
        self._give_back_parameters()
        self._made, self._takers = [], []
        for table in (self._constants, self._values, self._origins):
            table.clear()
        self._draws.clear()
        self._readers.clear()

    def _take_parameters(self) -> None:
        """Hear of parameters that are made of results: no function of torch's is called for them."""
        kind: Any = torch.nn.Parameter
        made = kind.__new__

        def new(cls: Any, data: Any = None, *args: Any, **kwargs: Any) -> Any:
            parameter = made(cls, data, *args, **kwargs)
            with torch._C.DisableTorchFunction():
                given = list(tensors((data,)))
                if given:
                    self._follow("", given, [parameter], graph.now())
            return parameter

        def give_back() -> None:
            if kind.__new__ is new:
                kind.__new__ = made

        kind.__new__, self._give_back_parameters = new, give_back

    def _left(self) -> None:
        self._evaluate = self._evaluate[:-1]

    def _buffer(self, _module: torch.nn.Module, _name: str, buffer: torch.Tensor | None) -> None:
        if buffer is not None:
            self._constants.keep(buffer, True)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        before = graph.now()
        result = func(*args, **(kwargs or {}))
        if self._retired:
            return result
        with torch._C.DisableTorchFunction():
            name, grew = _called(func), graph.now() > before
            if not grew and name not in _SAY_MORE and only_says(func, result):
                return result
            given, results = listed(args, kwargs), listed(result)
            if grew:
                self._note(name, given, before, bare=_has_fraction((args, kwargs)))
            plain = [one for one in results if graph.is_leaf(one)]
            written = given[:1] if name == "setitem" or name.endswith("_") else []
            origins = _NONE.union(*map(self._of, given)) or frozenset([before])
            origins = origins if len(origins) <= _MOST else frozenset(sorted(origins)[-_MOST:])
            for tensor in (*plain, *filter(graph.is_leaf, written)):
                self._origins.keep(tensor, origins)
            if plain and (given or name in _REGULAR) and all(map(self._is_constant, given)):
                for tensor in plain:
                    self._constants.keep(tensor, True)
            if given and not name.startswith("new_") and not name.endswith("_like"):  # of the shape, not of the values
                self._follow(name, given, plain, before)
        return result

    def _note(self, name: str, given: list[torch.Tensor], before: int, *, bare: bool) -> None:
        """Note the call that made a part of the graph, with the data that it took; `bare`: Python's numbers, too."""
        data = [one for one in given if not self._is_constant(one)]
        layer, floating = any(map(self._is_applied, given)), any(one.is_floating_point() for one in data)
        frozen = [one for one in given if isinstance(one, torch.nn.Parameter) and not one.requires_grad]
        self._shapes |= {id(one): tuple(one.shape) for one in frozen}
        origins = _NONE.union(*map(self._of, data))
        ids, values = tuple(map(id, frozen)), tuple(map(_numbers, data))
        evaluates = bool(self._evaluate) and self._evaluate[-1]
        bare = bare or any(map(_is_bare, given))
        taken = Taken(name.strip("_"), layer, values, floating, ids, origins, evaluates, bare)
        self._made.append((before, graph.now(), taken))

    def _of(self, tensor: torch.Tensor) -> frozenset[int]:
        return self._origins.of(tensor) or _NONE

    def _follow(self, name: str, given: list[torch.Tensor], results: list[torch.Tensor], before: int) -> None:
        """Hear what was made of given tensors; `results` are those without a graph."""
        for tensor in given if name == _GRADIENT else ():
            if not isinstance(tensor, torch.nn.Parameter):  # else it may be one of many, to be clipped or told
                self._asked |= set(self.behind(tensor))
        known = [found for tensor in given if (found := self._values.of(tensor)) is not None]
        starts = graph.starts(given)
        if not (known or (starts and (results or name in _DRAWS))):
            return
        behind = _NONE.union(starts, *(one.behind for one in known))
        drawn = _NONE.union(*(one.drawn for one in known))
        cut = _NONE.union(*(one.cut for one in known))
        if drawn and graph.now() > before:
            self._takers.append((before, graph.now(), drawn))
        if cut and graph.now() > before:
            values = _NONE.union(*(one.behind for one in known))
            self._readers.append((before, graph.now(), _Values(values, cut=cut)))
        if starts:
            cut |= {self._frames.here() if name in _CUTS else ()}
        if name in _DRAWS:
            self._draws.extend(behind)
        for tensor in results:
            mine = drawn | behind if name in _DRAWS or not tensor.is_floating_point() else drawn
            if 0 < len(behind | mine) <= _MOST:
                self._values.keep(tensor, _Values(behind, mine, cut))

    def _is_constant(self, tensor: torch.Tensor) -> bool:
        if tensor.requires_grad or tensor.numel() == 1 or tensor in self._constants:
            return True  # what has a graph is asked for by its nodes
        return isinstance(tensor, torch.nn.Parameter)

    @staticmethod
    def _is_applied(tensor: torch.Tensor) -> bool:
        """Whether a tensor is a parameter, or one that was laid out otherwise."""
        made = graph.made_by(tensor)
        if made is None:
            return isinstance(tensor, torch.nn.Parameter)
        of = (graph.leaf(one) for one in graph.children(made))
        return made.name() in graph.LAID and any(isinstance(one, torch.nn.Parameter) for one in of)

    def backward(self, call: Call) -> None:
        """Look which optimizers' parameters the loss depends on by values alone."""
        nodes = list(graph.walk(call.roots))
        made = {node._sequence_nr(): node for node in graph.operations(nodes)}
        owned = set().union(*self._taps.owned)
        others = set().union(*(ages for stack, ages in self._through if stack != call.stack)) & made.keys()
        number = any(graph.is_number(node) for node in _entered(call, made, others))
        for leaf in graph.leaves(nodes) if call.accumulate else ():
            self._in_leaves |= dict.fromkeys(self.behind(leaf) if id(leaf) not in owned else (), call.stack)
        known: dict[graph.Node, int] = {}
        for begin, end, values in self._readers:
            takers = [made[age] for age in range(begin, end) if age in made]
            if not takers:
                continue
            depends = graph.owners(values.behind, self._taps.owned, known)
            again = not others.isdisjoint(range(begin, end))
            wanted = again and depends
            reached = set(map(id, graph.leaves(graph.walk_nodes(_terms(call, takers))))) if wanted else set()
            for index, owned in enumerate(self._taps.owned):
                if depends >> index & 1:
                    apart = again and owned.isdisjoint(reached)
                    for key in ((index, place, call.stack) for place in values.cut):
                        before = self._cut_off.get(key, (False, False))
                        self._cut_off[key] = before[0] or apart, before[1] or number
        self._through.append((call.stack, set(made)))

    def behind(self, leaf: torch.Tensor) -> Iterable[int]:
        """The ids of the leaves whose values a leaf is made of."""
        made = self._values.of(leaf)
        return map(id, graph.leaves(graph.walk_nodes(made.behind))) if made is not None else ()

    def told(self) -> dict[str, Any]:
        """What losses were cut off from; and what an optimizer owns, by its place there, that a leaf is made of."""
        resolve = self._frames.resolve
        cut_off = (
            wire.CutOff(index, resolve(place), resolve(loss), again, number)
            for (index, place, loss), (again, number) in self._cut_off.items()
        )
        lost = {key: raw for key, raw in self._in_leaves.items() if key not in self._asked}
        leaves = (
            wire.Fact("leaf-of-result", f"{index} {place}", resolve(lost[id(parameter)]))
            for index, optimizer in enumerate(self._taps.optimizers)
            for place, parameter in enumerate(parameters(optimizer))
            if id(parameter) in lost
        )
        return {"cut_off": tuple(cut_off), "facts": tuple(leaves)}

    def fed(self, nodes: Iterable[Any]) -> bool:
        """Whether any of these nodes took data, or is a leaf that no optimizer trains."""
        owned = set().union(*self._taps.owned)
        for node in nodes:
            variable = graph.leaf(node)
            if variable is not None:
                if owned and id(variable) not in owned:
                    return True
            elif (call := self._call(node._sequence_nr())) is not None and call.data:
                return True
        return False

    def frozen(self, node: graph.Node) -> tuple[int, ...]:
        """The ids of the parameters that the call which made a node applied without gradient."""
        call = self._call(node._sequence_nr())
        return call.frozen if call is not None else ()

    def kept_from_learning(self, ages: Iterable[int]) -> dict[int, tuple[int, ...]]:
        """The shapes of the parameters that the calls which made these nodes applied without gradient, by their ids."""
        calls = filter(None, map(self._call, ages))
        return {one: self._shapes[one] for call in calls for one in call.frozen}

    def taken(self, nodes: Iterable[graph.Node]) -> dict[graph.Node, Taken]:
        """The call that made each of these nodes, where it was seen."""
        return {node: call for node in nodes if (call := self._call(node._sequence_nr())) is not None}

    def _call(self, age: int) -> Taken | None:
        place = bisect_right(self._made, age, key=operator.itemgetter(0)) - 1
        return self._made[place][2] if place >= 0 and age < self._made[place][1] else None

    def drawn(self, shared: Iterable[graph.Node], fresh: Iterable[graph.Node]) -> bool:
        """Whether something was drawn from these nodes, or from what they were made of, that others took."""
        return _lead({*self._draws, *self._drawn_for(fresh)}, shared)

    def evaluated(self, shared: Iterable[graph.Node], fresh: Iterable[graph.Node]) -> bool:
        """Whether all layers that made these nodes evaluated, and none that made the others."""
        before, after = (
            [one.evaluates for one in self.taken(nodes).values() if one.layer] for nodes in (shared, fresh)
        )
        return bool(before) and all(before) and bool(after) and not any(after)

    def drawn_before(self, mark: int, shared: Iterable[graph.Node], fresh: Iterable[graph.Node]) -> bool:
        """Whether others took what had been drawn from these nodes before a pass began."""
        return _lead({one for one in self._drawn_for(fresh) if one._sequence_nr() < mark}, shared)

    def _drawn_for(self, fresh: Iterable[graph.Node]) -> frozenset[graph.Node]:
        ages = graph.ages(fresh)
        return _NONE.union(*(of for begin, end, of in self._takers if not ages.isdisjoint(range(begin, end))))


def _lead(sources: Iterable[graph.Node], shared: Iterable[graph.Node]) -> bool:
    return not set(graph.operations(shared)).isdisjoint(graph.walk_nodes(set(sources)))


def _terms(call: Call, nodes: list[graph.Node]) -> list[graph.Node]:
    """Some nodes, and the addends of a loss that they are part of: what they are multiplied by, or compared with, too.

    Of a loss of very many addends, the nodes alone.
    """
    terms, wanted = list(itertools.islice(addends(call.roots), _LATEST + 1)), set(nodes)
    few = terms if len(terms) <= _LATEST else ()
    return [*nodes, *(one for one in few if not wanted.isdisjoint(graph.walk_nodes([one])))]


def _entered(call: Call, made: dict[int, graph.Node], others: set[int]) -> Iterator[graph.Node]:
    """The nodes, of those of a loss, by which it comes to what other losses went through."""
    above = (node for age, node in made.items() if age not in others)
    nodes = (*graph.starts(call.roots), *(child for node in above for child in graph.children(node)))
    return (node for node in graph.operations(nodes) if node._sequence_nr() in others)
