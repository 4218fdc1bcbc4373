"""Expressions of the unedited script whose values a reference run treats otherwise, whenever they are computed.

`leaf`: what is made there is a leaf with the same value. `update`: so is what is bound there in place of a leaf, and
its gradient can be zeroed as that of a leaf can. `keep`: the graph is not cut there, numbers stay tensors, and a copy
of what learns is that itself.
`grad`: gradients are not switched off there, and what torch draws there by a distribution is drawn along a path.
`require`: what is made there requires a gradient; a graph was lost for want of it where the site says why.
`unfreeze`: what was frozen there requires a gradient again when an optimizer takes it, if that optimizer leaves other
frozen ones alone; what an optimizer has taken before is not frozen there. `record`: what is switched off there for a
while records its graph all the same (`switched_off`).
`create`: the derivative computed there, or what a backward brings there, has a graph. `zeros`: it is zero by what it
does not depend on.
`zero`: a gradient that is still None is one of zeros there, and wherever else the program would die of None.
`uncleared`: there, one that was cleared is what it was.
`unwatched`: what is frozen there is not watched while it is.
`detach`: what is computed there is a constant.
`magnitude`: of a complex square that is made there the magnitude is taken.
`sum`: a gradient that a function's own backward gives there is summed to the shape of what it is for (`arming`).
`inside`: in the function's own forward or backward that it stands in, gradients are on (`arming`).
`stand`: a leaf into which values are written there stands for the result that has them (`standing`).
"""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Callable
from typing import Any

import torch

from .. import wire
from ..engine import born, graph
from ..engine.names import Names
from ..engine.quiet import quiet
from ..engine.refused import DERIVATIVE, GRADIENT, can_have_gradient, name_of, tensors
from ..engine.sketch import is_zero
from ..engine.taps import Call, Listener, parameters
from ..instruments.hooks import Hooks
from ..program.expressions import is_computed_with, parsed
from ..program.frames import Frames, Raw
from ..refused.cleared import Cleared
from ..refused.derivatives.unused import Unused, by_name
from ..refused.shared import is_shared
from .switched_off import Asleep

_CUTS = ("torch.Tensor.detach", "torch.Tensor.data.__get__", "torch.Tensor.detach_")
_COPIES = "torch.Tensor.__deepcopy__"
_NUMBERS = ("torch.Tensor.item", "torch.Tensor.__float__")
_SETTERS = ("requires_grad.__set__", "requires_grad_")
_REMAKE = ("torch.tensor", "torch.as_tensor")
_SINGLE = {"SelectBackward0": "UnbindBackward0", "SliceBackward0": "SplitBackward0"}
"""What a reference makes one by one, as what torch makes all at once."""
NOTHING = object()
_RANGED = graph.kinds("Softmax", "LogSoftmax", "Sigmoid", "LogSigmoid", "Softplus", "Exp", "Tanh")
"""Functions whose results keep to a range, as probabilities and scales do."""
_TURNS = graph.kinds("T", "Transpose", "Permute", "Flip")
"""Views that give the same entries in another order: beside them as they are, as in `w + w.t()`, they are tied."""


class Sites(Listener):
    """Answers for each torch call whether it stands at a site, and performs it as the site asks."""

    def __init__(
        self, frames: Frames, names: Names, source: Callable[[str], bytes], sites: tuple[wire.Site, ...], *,
        operation: bool,
    ) -> None:  # fmt: skip
        self._frames, self._names, self._source = frames, names, source
        self.switched: Callable[[bool, bool], None] = lambda _on, _kept_on: None
        """Who hears of each mode that the script sets, and whether it is not followed."""
        self.unused = Unused()
        """Who gives zeros where a derivative is None."""
        self.hooks: Hooks | None = None
        """Who is told which leaves are made here, and whose gradient is read."""
        self._operation = operation
        self._sites: dict[wire.Frame, dict[str, str]] = {}
        for site in sites:
            self._sites.setdefault(site.frame, {})[site.action] = site.node
        self._modes = {(site.frame.file, site.frame.line) for site in sites if site.action == "grad"}
        self._asleep = Asleep()
        self._zero = any(site.action == "zero" for site in sites)
        self._dies: dict[Raw, bool] = {}
        """Where gradients are read: whether the program dies there of one that is None."""
        self._remake = any(site.action == "keep" for site in sites)
        self.unwatched = any(site.action == "unwatched" for site in sites)
        """Whether what is frozen for a while is not watched then."""
        if self._modes:
            self._draw_along_paths()
        if any(site.action in ("require", "keep") for site in sites):
            born.listen(self._born, self._unwrapped)
        self._frozen: dict[int, tuple[torch.Tensor, Raw]] = {}
        self._taken: dict[int, torch.Tensor] = {}
        """What optimizers own."""
        self._shared: dict[tuple[Raw, int], bool] = {}
        """Where parameters are switched off, and how many are owned then: whether two networks in reach share some."""
        self.met: dict[Raw, str] = {}
        self.cleared = Cleared(frames, kept=any(site.action == "uncleared" for site in sites))
        self._added: dict[Raw, None] = {}
        """Where results were made whose gradients add up."""
        self._limited: dict[int, tuple[torch.Tensor, Raw]] = {}
        """Leaves made of what a function gives that keeps to a range."""
        self._wider: dict[int, tuple[torch.Tensor, list[torch.Tensor], Raw]] = {}
        """Leaves that hold more numbers than what they were made of."""
        self._behind: list[weakref.ref[torch.Tensor]] = []
        """Held by the script alone: what it has given up is no twin of the leaf that is made of it."""
        self._held: list[torch.Tensor] = []

    def before(self, func: Any, args: Any, kwargs: Any) -> Any:
        """The result of a call that is not to run as written; NOTHING where it is."""
        name = name_of(func)
        if name.endswith(_SETTERS):
            return self._flagged(args, off=False in (*args[1:2], *kwargs.values()))
        if name == DERIVATIVE:
            return self._derivative(func, args, kwargs)
        if name == GRADIENT:
            return self._gradient(args[0])
        if self._zero and self.cleared.is_left(name, args):
            return None
        if self._remake and name in _REMAKE and args and any(t.requires_grad for t in tensors(args[:1])):
            with torch._C.DisableTorchFunction():
                return _cast(_stacked(args[0]), kwargs)
        if not _ends_graph(name, args):
            return NOTHING
        raw, actions = self._here()
        if name.endswith("_set_grad_enabled"):
            # A mode is made and entered in one line; before Python 3.12 what enters it has the span of the whole block.
            here = self._frames.resolve(raw[:1])
            kept_on = not args[0] and any((frame.file, frame.line) in self._modes for frame in here)
            self.switched(bool(args[0]), kept_on)
            if not kept_on:
                return NOTHING
            self.met[raw] = "no_graph"
            return None
        # torch.autograd.functional cuts what a derivative is given and gives, in the line that asks for it.
        if "keep" not in actions and not ("create" in actions and name == _CUTS[0]):
            return NOTHING
        self.met[raw] = "no_graph"
        with torch._C.DisableTorchFunction():
            return _with_graph(name, args[0])

    def _flagged(self, args: Any, *, off: bool) -> Any:
        raw, actions = self._here()
        if not off:
            self._asleep.switched_on(args[0])
            return NOTHING
        if "record" in actions and args[0].requires_grad:
            self.met[raw] = "no_graph"
            self._asleep.switched_off(args[0])
            return args[0]
        if "require" in actions:
            self.met[raw] = "no_graph"
            return args[0]
        if "unfreeze" not in actions:
            return NOTHING
        if id(args[0]) in self._taken and not self._is_elsewhere(raw):
            self.met[raw] = "no_graph"
            return args[0]
        self._frozen |= {id(t): (t, raw) for t in tensors(args[:1])}
        return NOTHING

    def _is_elsewhere(self, raw: Raw) -> bool:
        """Whether what is frozen at a place is part of two networks: one of them is meant to stay as it is."""
        asked = raw, len(self._taken)
        if asked not in self._shared:
            self._shared[asked] = is_shared(self._frames, sys._getframe(), set(self._taken))
        return self._shared[asked]

    def _born(self, parameter: torch.Tensor) -> None:
        raw, actions = self._here()
        if "require" in actions and not parameter.requires_grad:
            self.met[raw] = "no_graph"
            with torch._C.DisableTorchFunction():
                parameter.requires_grad_()

    def _unwrapped(self, made: torch.Tensor, data: torch.Tensor) -> torch.Tensor:
        raw, actions = self._here()
        if "keep" not in actions:
            return made
        self.met[raw] = "no_graph"
        return data

    def _draw_along_paths(self) -> None:
        """Let a distribution of torch's that has a path draw along it at a site: `sample()` switches gradients off."""
        kinds = [torch.distributions.Distribution]
        for kind in kinds:
            kinds.extend(one for one in kind.__subclasses__() if one.__module__.startswith("torch."))
            if "sample" in vars(kind):
                setattr(kind, "sample", self._along_a_path(kind.sample))  # noqa: B010  mypy: a method

    def _along_a_path(self, sample: Any) -> Any:
        @functools.wraps(sample)
        def drawn(distribution: Any, *shape: Any, **given: Any) -> Any:
            raw, actions = self._here()
            if "grad" not in actions or not distribution.has_rsample:
                return sample(distribution, *shape, **given)
            self.met[raw] = "no_graph"
            return distribution.rsample(*shape, **given)

        return drawn

    def _derivative(self, func: Any, args: Any, kwargs: Any) -> Any:
        raw, actions = self._here()
        if "zeros" in actions:
            self.met[raw] = "unused_input"
            return self.unused.with_zeros(func, by_name(args, kwargs), raw)[0]
        if "create" not in actions or kwargs.get("create_graph"):
            return NOTHING
        self.met[raw] = "no_graph"
        return func(*args, **kwargs | {"create_graph": True})

    def _gradient(self, tensor: torch.Tensor) -> Any:
        with torch._C.DisableTorchFunction():
            raw, actions = self._here() if self._zero else ((), {})
            if "zero" not in actions and not (graph.is_leaf(tensor) and self._dies_of_none(raw[:1])):
                return NOTHING
            if tensor.grad is not None:
                self.cleared.there(raw)
                return NOTHING
            self.met[raw] = "gradient_none"
            return self.cleared.read(tensor, raw)

    def _dies_of_none(self, place: Raw) -> bool:
        if place and place not in self._dies:
            tree = parsed(self._source(place[0][0].co_filename))
            self._dies[place] = tree is not None and is_computed_with(tree, self._frames.resolve(place)[0])
        return self._dies.get(place, False)

    def optimizer_made(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        """Let parameters train that an optimizer takes, where it takes only frozen ones and not all of them.

        Not where they are also those of a network that is frozen as a whole: that would be trained along.
        """
        taken = parameters(optimizer)
        mine = {id(t) for t in taken}
        self._taken |= {id(t): t for t in taken}
        if mine and mine < self._frozen.keys() and not is_shared(self._frames, sys._getframe(), mine):
            for tensor in taken:
                self.met[self._frozen[id(tensor)][1]] = "no_graph"
                tensor.requires_grad_()

    def after(self, result: Any) -> Any:
        """The result of a call as the site that it stands at asks."""
        if type(result) is tuple and any(isinstance(one, torch.Tensor) for one in result):
            return tuple(map(self.after, result))
        if not isinstance(result, torch.Tensor):
            return result
        raw, actions = self._here()
        with torch._C.DisableTorchFunction():
            if not can_have_gradient(result):
                if "constant" not in actions:
                    return result
                result = result.to(torch.get_default_dtype())
            if ("require" in actions or "constant" in actions) and not result.requires_grad:
                lost = "no_graph" if actions.get("require") else "unused_input"
                self.met[raw] = lost if "require" in actions else "constant"
                return result.requires_grad_()
            if "magnitude" in actions and result.is_complex():
                self.met[raw] = "real_loss"
                return result.abs()
            if "detach" in actions:
                return result.detach()
            if "update" in actions:
                self.met[raw] = "nonleaf_gradient"
                return self._updated(result)
            made = graph.made_by(result)
            node = made.name() if made is not None else ""
            if node and "leaf" in actions and actions["leaf"] in ("", node, _SINGLE.get(node)):
                self.met[raw] = "nonleaf_gradient"
                return self._leaf(result, made, raw)
        return result

    def _leaf(self, result: torch.Tensor, made: graph.Node, raw: Raw) -> torch.Tensor:
        if self._operation:
            self._keep_gradient(result, raw)
            return result
        behind = list(graph.leaves(graph.walk([result])))
        self._behind += map(weakref.ref, behind)
        # Where a view is made a leaf, its steps are not to write what it is a view of.
        leaf = result.detach().clone().requires_grad_()
        if self.hooks is not None:
            self.hooks.made(leaf)
        if _keeps_to_a_range(made):
            self._limited[id(leaf)] = leaf, raw
        if result.numel() > sum(one.numel() for one in behind):
            self._wider[id(leaf)] = leaf, behind, raw
        return leaf

    def _keep_gradient(self, result: torch.Tensor, raw: Raw) -> None:
        """Let a result keep its gradient, and note where a further one comes before that was cleared."""
        if self.hooks is not None:
            self.hooks.made(result)
        result.retain_grad()
        held = weakref.ref(result)

        def comes(_gradient: torch.Tensor) -> None:
            with quiet():
                if (one := held()) is not None and one.grad is not None and not is_zero(one.grad):
                    self._added[raw] = None

        result.register_hook(comes)

    def _updated(self, result: torch.Tensor) -> torch.Tensor:
        if not self._operation:
            result = result.detach().requires_grad_()
            result.grad = torch.zeros_like(result)
        elif not graph.is_leaf(result):
            result.retain_grad()
        return result

    def backward(self, call: Call) -> None:
        """Find the leaves that the script still holds, of those that leaves were made of; give gradients a graph."""
        self._asleep.backward(call)
        here = self._frames.resolve(call.stack[:1])
        if call.accumulate and not call.create and here and "create" in self._sites.get(here[0], {}):
            self.met[call.stack] = "no_graph"
            call.create = call.keep = True
        self._held += (leaf for one in self._behind if (leaf := one()) is not None)
        self._behind.clear()

    def told(self) -> dict[str, Any]:
        """Where the gradients of results add up, where a leaf is freer than its maker, and which leaves are left out.

        Freer is one that an optimizer owns where a function that keeps to a range gave what it was made of, or where it
        holds more numbers than that. Left out is what the script holds, of which leaves were made, and to which no
        gradient has come.
        """
        held = {id(leaf): leaf for leaf in self._held}.values()
        facts = [self._frames.fact("gradient-adds-up", raw) for raw in self._added]
        limited = (raw for key, (_, raw) in self._limited.items() if key in self._taken)
        wider = (
            raw
            for key, (_, behind, raw) in self._wider.items()
            if key in self._taken and not any(id(one) in self._taken for one in behind)  # those are trained themselves
        )
        facts += [self._frames.fact("range-is-left", raw) for raw in limited]
        facts += [self._frames.fact("leaf-is-wider", raw) for raw in wider]
        left_out = tuple(self._names.name(leaf, "a leaf") for leaf in held if leaf.grad is None)
        return {"facts": facts, "left_out": left_out}

    def _here(self) -> tuple[Raw, dict[str, str]]:
        raw = self._frames.here()
        return raw, self._sites.get(self._frames.resolve(raw[:1])[0], {}) if raw else {}


def _ends_graph(name: str, args: Any) -> bool:
    """Whether a call gives values without the graph behind them, or switches gradients."""
    if name == _COPIES:
        return bool(args[0].requires_grad)
    return name in _CUTS or name in _NUMBERS or name.endswith(("_set_grad_enabled", "Tensor.tolist"))


def _with_graph(name: str, tensor: torch.Tensor) -> Any:
    """What such a call gives where the graph is kept."""
    if name == _COPIES:
        return tensor
    if name.endswith("tolist"):
        return _listed(tensor)
    return tensor.reshape(()) if name in _NUMBERS else tensor.view_as(tensor)


def _keeps_to_a_range(node: graph.Node | None) -> bool:
    """Whether a result comes from such a function, or ties entries of one leaf, but for operations on it alone."""
    while node is not None and node.name() not in _RANGED:
        children = list(graph.children(node))
        if len(children) > 1:
            below = list(graph.walk_nodes(children))
            ends = {id(leaf) for leaf in graph.leaves(below)}
            return len(ends) == 1 and any(one.name() in _TURNS for one in below)
        node = children[0] if children else None
    return node is not None


def _stacked(value: Any) -> torch.Tensor:
    """Nested lists of numbers and tensors as one tensor that keeps their graphs."""
    if isinstance(value, torch.Tensor):
        return value.view_as(value)
    if isinstance(value, (list, tuple)):
        return torch.stack([_stacked(item) for item in value])
    return torch.tensor(float(value))


def _cast(tensor: torch.Tensor, kwargs: Any) -> torch.Tensor:
    return tensor.to(kwargs["dtype"]) if kwargs.get("dtype") is not None else tensor


def _listed(tensor: torch.Tensor) -> Any:
    return tensor if tensor.dim() == 0 else [_listed(item) for item in tensor.unbind()]
