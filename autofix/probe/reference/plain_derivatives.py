"""Derivatives without a graph that losses take as plain numbers: to weigh terms, or to move what a network is fed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from ..engine import caller, graph
from ..engine.refused import DERIVATIVE, GRADIENT, is_write, listed, name_of, only_says, short_name, tensors
from ..engine.remembered import Remembered
from ..engine.sums import ADDS, is_sum
from ..engine.taps import Call, Listener, Taps
from ..engine.transforms import wrapped
from ..program.frames import Frames, Raw

_WEIGHS = frozenset(("mul", "mul_", "multiply", "rmul", "imul", "div", "div_", "truediv", "itruediv"))
_DETACHES = ("torch.Tensor.detach", "torch.Tensor.data.__get__")
_NUMBERS = frozenset(("item", "tolist", "float", "numpy", "array"))
"""What leaves torch, and its graph in any case."""
_LAYERS = (
    *("linear", "conv", "matmul", "rmatmul", "mm", "addmm", "bmm", "baddbmm", "einsum", "bilinear"),
    *("lstm", "gru", "rnn", "multi_head_attention_forward"),
)
"""What applies a matrix of weights: nobody makes the terms of a loss so."""
_FILLS = ("rand", "zeros", "ones", "full", "empty", "normal", "new_")
"""What makes a tensor of numbers that are no data."""
_ADDS = frozenset(("add", "radd", "iadd", "sub", "rsub", "subtract"))
_OF_OTHERS = ("torch.Tensor.grad.__set__", "torch.Tensor.requires_grad.__set__")
"""What sets something of a tensor, and not its values."""
_PRODUCTS = graph.kinds("Dot", "Mv", "Mm", "T")
"""What is linear in a vector that is multiplied by a constant one, besides sums."""
_MOST = 256
"""Tensors that were written whose memory is known."""
_NONE: frozenset[Any] = frozenset()
_Place = tuple[Raw, bool]
"""Where a derivative was taken, and whether it is one by data, into which nothing trained went."""


@dataclass(frozen=True, slots=True)
class _Taker:
    """A call that took what is made of derivatives, and has no graph, into a graph.

    `ages`: those of its nodes. `weighs`: it may take it as a weight. `cut`: the program itself says that it is
    constant.
    """

    ages: range
    weighs: bool
    cut: bool
    places: frozenset[_Place]


class PlainDerivatives(TorchFunctionMode, Listener):
    """Follows derivatives without a graph, and what is made of them, to where they meet what is trained.

    A derivative is a plain number where losses take what is made of it in these ways alone:

    - as a weight: one number, or several that the code says to be constant, by which what is computed is multiplied on
      its way to the sum that a backward starts from;
    - where the code has cut it from a graph, by `detach` or `no_grad`, but not as a term of its own: that trains
      nothing, which nobody means; or where it has left torch, as a number or an array;
    - as the update of a parameter that no optimizer owns, by whose derivatives it was made in earlier passes, too: the
      code writes it there without a graph;
    - as data: it is one by data, into which nothing trained went, and what is made of it comes to a loss only through
      a layer with weights that the derivative itself was computed with: the network was fed the point that was moved.
      Or the derivative was computed with nothing else that has a gradient.
      What is drawn or filled anew in each pass is no data, but for what is added to data: it may be a latent that is
      refined, and trained through the way there.

    A penalty, a residual and a point that is compared with a target take it in another way. The vector by which
    derivatives are multiplied to be differentiated once more (a product with the Hessian) is taken as the product is.
    """

    def __init__(self, frames: Frames, taps: Taps) -> None:
        super().__init__()
        self._frames, self._taps = frames, taps
        self.retired = False
        """Whether it hears of nothing any more, wherever the mode of calls still is."""
        self._made_of = Remembered[frozenset[_Place]]()
        """Of a tensor, the places whose derivatives it is made of; behind a layer nothing is."""
        self._written: dict[int, tuple[torch.Tensor, frozenset[_Place]]] = {}
        """The same of the latest memory that was written, which is held: else it may become another's."""
        self._cut = Remembered[bool]()
        """Those that the code has cut, and what is made of these alone."""
        self._read = Remembered[bool]()
        """What was just read from `.grad`: it has no graph in any case, and `.data` of it says nothing."""
        self._learned = Remembered[bool]()
        """What has no graph, and was made of what is trained."""
        self._filled = Remembered[int]()
        """What was drawn or filled with numbers, and is made of such alone; after how many steps."""
        self._shifts = Remembered[bool]()
        """Leaves that were added to data."""
        self._sent = Remembered[frozenset[_Place]]()
        """Of a leaf, the places of the backward calls that left its gradient."""
        self._asked = _NONE
        """The place of the latest derivative that was asked for."""
        self._by = Remembered[int]()
        """Leaves by which derivatives were taken; after how many steps first."""
        self._curved: list[tuple[range, set[int]]] = []
        """The ages of the nodes of derivatives that have a graph, and the ids of the leaves that these are by."""
        self._created = -1
        """The latest call that was to give derivatives a graph."""
        self._with: dict[Raw, set[int]] = {}
        """The ids of the other leaves with which derivatives were computed, by their places."""
        self._layers: list[tuple[range, frozenset[int]]] = []
        """The ages of the nodes of layers, and the ids of their weights."""
        self._takers: list[_Taker] = []
        self._plain: dict[Raw, None] = {}
        self._enter: dict[Raw, None] = {}

    def go_on(self, frames: Frames) -> None:
        """Watch a run that has these frames, from here on."""
        self._frames = frames

    # What is made of derivatives --------------------------------------------------------------------------------------

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        before = graph.now()
        result = func(*args, **(kwargs or {}))
        if self.retired:
            return result
        with torch._C.DisableTorchFunction():
            name = name_of(func)
            if name == DERIVATIVE:
                self._begin(result, self._asked)
            elif name == GRADIENT:
                self._begin(result, self._sent.of(args[0]) or _NONE)
                if isinstance(result, torch.Tensor):
                    self._read.keep(result, True)
            elif name not in _OF_OTHERS and not self._is_idle(func, name, result, before):
                self._follow(func, name, listed(args, kwargs), listed(result), range(before, graph.now()))
        return result

    @staticmethod
    def _is_idle(func: Any, name: str, result: Any, before: int) -> bool:
        """Whether a call makes nothing: most only ask how many dimensions there are."""
        return graph.now() == before and only_says(func, result) and short_name(name).strip("_") not in _NUMBERS

    def _begin(self, result: Any, places: frozenset[_Place]) -> None:
        for one in tensors(result):
            if places and not one.requires_grad:
                self._made_of.keep(one, places)

    def _follow(
        self, func: Any, name: str, given: list[torch.Tensor], results: list[torch.Tensor], ages: range
    ) -> None:  # fmt: skip
        derived = [one for one in given if self._of(one)] if self._made_of or self._written else []
        short = short_name(name).strip("_")
        self._fill(short, given, results)
        lost = [one for one in results if graph.is_leaf(one) and one.is_floating_point()]
        if lost and not derived and not name.endswith("_like") and any(map(self._is_learned, given)):
            for one in lost:
                self._learned.keep(one, True)
        made_of = _NONE.union(*map(self._of, derived))
        if short in _NUMBERS:
            self._plain |= {raw: None for raw, _ in made_of}
        constants = [one for one in derived if graph.is_leaf(one)]
        cut = bool(constants) and all(one in self._cut for one in constants)
        if ages and constants:
            self._takers.append(_Taker(ages, self._weighs(name, given, constants), cut, made_of))
        if len(self._made_of) and ages and (weights := _applied(name, given)):
            self._layers.append((ages, weights))
            return  # what it gives is what the network says
        cut = cut or (bool(derived) and self._is_cut_here(func, name, given))
        for one in results if derived else ():
            self._made_of.keep(one, made_of)
            if graph.is_leaf(one) and cut:
                self._cut.keep(one, True)
        if derived and (is_write(func) or name.endswith("__set__")):
            self._write(given[0], made_of)

    def _write(self, tensor: torch.Tensor, made_of: frozenset[_Place]) -> None:
        """Hear of what is written that is made of derivatives."""
        self._made_of.keep(tensor, made_of)
        if self._is_updated(tensor):
            self._plain |= {raw: None for raw, _ in made_of}
        self._cut.forget(tensor)
        self._written.pop(_memory(tensor), None)
        self._written[_memory(tensor)] = tensor.detach(), made_of
        while len(self._written) > _MOST:
            del self._written[next(iter(self._written))]

    def _is_updated(self, tensor: torch.Tensor) -> bool:
        """Whether what is written is a parameter that the program itself updates, and that it did not make just now."""
        first = self._by.of(tensor)
        if first is None or not isinstance(tensor, torch.nn.Parameter):
            return False
        return first < sum(self._taps.counts) and not any(id(tensor) in owned for owned in self._taps.owned)

    def _is_cut_here(self, func: Any, name: str, given: list[torch.Tensor]) -> bool:
        """Whether the program says by this call that what it gives is a constant, and not a package that it calls.

        `torch.autograd.functional` detaches what it gives in any case.
        """
        said = (name in _DETACHES and given[0] not in self._read) or not torch.is_grad_enabled()
        frame = caller.frame(func) if said else None
        return frame is not None and self._frames.owns(frame.f_code)

    def _fill(self, name: str, given: list[torch.Tensor], results: list[torch.Tensor]) -> None:
        """Hear of what is drawn or filled, and of what is added to data."""
        known = [since for one in given if (since := self._filled.of(one)) is not None]
        if (name.startswith(_FILLS) and not given) or name.startswith("new_") or name.endswith("_like"):
            known, given = [sum(self._taps.counts)], [*results[:1]]
        if given and len(known) == len(given):
            for one in results:
                self._filled.keep(one, max(known))
        anew = [one for one in given if self._is_anew(one)] if name in _ADDS else []
        if 0 < len(anew) < len(given) and not any(self._is_learned(one) or self._of(one) for one in given):
            for leaf in (leaf for one in anew for leaf in _leaves(one)):
                self._shifts.keep(leaf, True)

    def _of(self, tensor: torch.Tensor) -> frozenset[_Place]:
        if isinstance(tensor, torch.nn.Parameter):
            return _NONE  # what was written there is an update
        found = self._made_of.of(tensor)
        if found is None and self._written:
            found = self._written.get(_memory(tensor), (tensor, _NONE))[1]
        return found or _NONE

    def _is_learned(self, tensor: torch.Tensor) -> bool:
        if tensor in self._learned:
            return True
        leaves = graph.leaves(graph.walk([tensor]))  # one at a time: of a long graph the first tells as a rule
        return self._is_trained(next(leaves, tensor)) or any(map(self._is_trained, leaves))

    def _is_trained(self, leaf: torch.Tensor) -> bool:
        return isinstance(leaf, torch.nn.Parameter) or any(id(leaf) in owned for owned in self._taps.owned)

    def _is_data(self, leaf: torch.Tensor) -> bool:
        """Whether nothing trained went into a leaf, but by derivatives by data; and it is not filled in each pass."""
        if self._is_trained(leaf):
            return False
        anew = self._begun and leaf not in self._shifts and self._is_anew(leaf)
        return bool(self._of(leaf)) or not (anew or leaf in self._learned)

    def _is_anew(self, tensor: torch.Tensor) -> bool:
        """Whether a tensor holds what was drawn or filled since each optimizer made its latest step."""
        since = self._filled.of(tensor)
        return since is not None and sum(self._taps.counts) - since < max(1, len(self._taps.counts))

    @property
    def _begun(self) -> bool:
        """Whether enough steps were made to tell what is filled in each pass from what is made once."""
        return sum(self._taps.counts) >= len(self._taps.counts) > 0

    def _weighs(self, name: str, given: list[torch.Tensor], weights: list[torch.Tensor]) -> bool:
        others = [one for one in given if not any(one is weight for weight in weights)]
        named = short_name(name).strip("_") in _WEIGHS
        return named and all(one.numel() == 1 for one in weights) and not any(map(graph.is_leaf, others))

    # How losses take it -----------------------------------------------------------------------------------------------

    def backward(self, call: Call) -> None:
        """Note by what it differentiates, and look how a loss takes what is made of derivatives."""
        nodes = list(graph.walk(call.roots))
        self._note(call, list(graph.leaves(nodes)))
        if not self._takers:
            return
        reached = graph.ages(nodes)
        if not (call.accumulate or call.create) and self._is_product(call):
            vectors = (taker.places for taker in self._takers if reached.intersection(taker.ages))
            self._asked = self._asked.union(*vectors)
            return
        summed = [node for node in graph.walk(call.roots, is_sum) if is_sum(node)]
        terms, added = graph.ages(summed), graph.ages(node for node in summed if node.name() in ADDS)
        outside: dict[frozenset[int], set[int]] = {}
        for taker in self._takers:
            if not (met := reached.intersection(taker.ages)):
                continue
            plain = (taker.weighs and met <= terms) or (taker.cut and met.isdisjoint(added))
            places = [raw for raw, _ in taker.places]
            if not plain and all(by_data for _, by_data in taker.places):
                weights = frozenset[int]().union(*(self._with[one] for one in places))
                if weights not in outside:
                    outside[weights] = self._outside(call, weights) if weights else set()
                plain = met.isdisjoint(outside[weights])
                if plain and not self._begun:
                    continue
            (self._plain if plain else self._enter).update(dict.fromkeys(places))

    def backward_done(self, call: Call) -> None:
        """Note the graph of the derivatives that it gave, if they have one."""
        if call.index == self._created:  # another listener may have given the call a graph since it was noted
            self._curved[-1] = range(self._curved[-1][0].start, graph.now()), self._curved[-1][1]

    def _is_product(self, call: Call) -> bool:
        """Whether what is differentiated is linear in derivatives by the same leaves."""
        mine = {id(leaf) for one in call.inputs for leaf in _leaves(one)}
        ages = {age for made, leaves in self._curved if mine <= leaves for age in made}

        def is_linear(node: graph.Node) -> bool:
            one = node.name() in _PRODUCTS and len(graph.children(node)) == 1
            return node._sequence_nr() not in ages and (one or is_sum(node))

        ends = (node for node in graph.walk(call.roots, is_linear) if not is_linear(node))
        return bool(mine) and all(graph.leaf(node) is None and node._sequence_nr() in ages for node in ends)

    def _note(self, call: Call, leaves: list[torch.Tensor]) -> None:
        by = [leaf for one in call.inputs for leaf in _leaves(one)]
        mine = set(map(id, by))
        for leaf in by:
            if leaf not in self._by:
                self._by.keep(leaf, sum(self._taps.counts))
        if call.create:
            self._created = call.index
            self._curved.append((range(graph.now(), graph.now()), mine or set(map(id, leaves))))
            return
        self._with.setdefault(call.stack, set()).update(id(leaf) for leaf in leaves if id(leaf) not in mine)
        if not call.accumulate:
            self._asked = frozenset({(call.stack, all(map(self._is_data, by)))})
            return
        for leaf in leaves:
            known = (self._sent.of(leaf) if leaf.grad is not None else None) or _NONE
            self._sent.keep(leaf, known | {(call.stack, self._is_data(leaf))})

    def _outside(self, call: Call, weights: frozenset[int]) -> set[int]:
        """The ages of what a loss is made of without going through a layer that has some of these weights."""
        layers = {age for ages, mine in self._layers if mine & weights for age in ages}
        return graph.ages(graph.walk(call.roots, lambda node: node._sequence_nr() not in layers)) - layers

    def told(self) -> dict[str, Any]:
        """The derivatives that are plain numbers to all losses."""
        found = [raw for raw in self._plain if raw not in self._enter]
        return {"facts": tuple(self._frames.fact("derivative-is-plain", raw) for raw in found)}


def _applied(name: str, given: list[torch.Tensor]) -> frozenset[int]:
    """The ids of the parameters that a layer multiplies what it is given by."""
    if not short_name(name).strip("_").startswith(_LAYERS):
        return _NONE
    laid = (one for tensor in given for one in (tensor, *_laid(tensor)))
    return frozenset(id(one) for one in laid if isinstance(one, torch.nn.Parameter) and one.dim() > 1)


def _laid(tensor: torch.Tensor) -> list[torch.Tensor]:
    """The leaf that a tensor is, laid out otherwise."""
    made = graph.made_by(tensor)
    return list(graph.leaves(graph.children(made))) if made is not None and made.name() in graph.LAID else []


def _leaves(tensor: Any) -> list[torch.Tensor]:
    """The leaves that a tensor was made from, or itself."""
    return list(graph.leaves(graph.walk([tensor]))) or ([tensor] if isinstance(tensor, torch.Tensor) else [])


def _memory(tensor: torch.Tensor) -> int:
    """What tells a tensor's memory from that of others."""
    if wrapped(tensor) or tensor.layout is not torch.strided:
        return id(tensor)
    return tensor.untyped_storage().data_ptr()
