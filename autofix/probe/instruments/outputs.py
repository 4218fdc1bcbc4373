"""The gradients that losses send to what modules give: whether they follow its value, and whether two pull it apart.

And which losses reach what other optimizers own by the same of it, and which otherwise.
"""

from __future__ import annotations

import functools
import types
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable
from typing import Any

import torch

from .. import wire
from ..engine import graph
from ..engine.quiet import quiet
from ..engine.taps import Call, Listener, Taps
from ..program.frames import Frames, Raw
from .witness import Witness

_MOST = 60
"""Gradients that are kept of each place."""
_CALLS = 32
"""The latest calls of modules whose gradients are held against each other."""
_FEW = 4
"""Numbers of which fewer may be pulled apart by chance."""
_LARGE = 1 << 20
"""Numbers beyond which what a module gave is not looked at."""


class _Given:
    """What one module gave for one input: the gradients that came back, each with the place of its loss."""

    def __init__(self, owner: int, inputs: tuple[Any, ...]) -> None:
        self.owner = owner
        self.inputs = inputs  # held, so that no other tensor takes its place in memory
        self.nodes: set[Any] = set()
        self.leads_on = False
        self.came: list[tuple[Raw, torch.Tensor]] = []

    def losses(self) -> tuple[int, frozenset[Raw]] | None:
        """The losses that came, where they go on to what other optimizers own."""
        return (self.owner, frozenset(stack for stack, _ in self.came)) if self.came and self.leads_on else None


class Outputs(Listener):
    """Watches the outermost call of each module all of whose parameters belong to one optimizer alone.

    A call is one of the module, or of any method of the user's class: `policy.sample(seen)` gives what a policy gives.

    What the modules of the optimizer `shifts` give is moved by `shifted` times its size, in a fixed random direction: a
    loss that is affine in it sends the same gradient all the same. One number would not do: a softmax does not see it.
    """

    def __init__(self, frames: Frames, taps: Taps, witness: Witness, shifted: float, shifts: int) -> None:
        self._frames, self._taps, self._witness, self._shifted = frames, taps, witness, shifted
        self._shifts = shifts
        self._inside: list[int | None] = []
        self._owners: dict[int, int | None] = {}
        self._arrived: dict[tuple[int, Raw, bool, int], list[tuple[float, ...]]] = {}
        self._given: OrderedDict[tuple[Any, ...], _Given] = OrderedDict()
        self._pairs: dict[tuple[int, Raw, Raw], list[int]] = {}
        self._through: set[tuple[int, frozenset[Raw]]] = set()
        modules = torch.nn.modules.module
        modules.register_module_forward_pre_hook(self._called)
        modules.register_module_forward_hook(self._gave, always_call=True)
        setattr(torch.nn.Module, "__init_subclass__", classmethod(self._subclass))  # noqa: B010  no method of its own

    def optimizer_grew(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self._owners.clear()

    def told(self) -> dict[str, Any]:
        """What came, by optimizer and place, and which places pull apart."""
        resolve = self._frames.resolve
        self._through.update(filter(None, (given.losses() for given in self._given.values())))
        return {
            "arrivals": tuple(
                wire.Arrivals(owner, resolve(raw), tuple(values), first, place)
                for (owner, raw, first, place), values in self._arrived.items()
            ),
            "opposed": tuple(
                wire.Opposed(owner, resolve(first), resolve(second), times, against, tuple(alone))
                for (owner, first, second), (times, against, *alone) in self._pairs.items()
            ),
            "through": tuple(wire.Through(owner, tuple(map(resolve, stacks))) for owner, stacks in self._through),
        }  # fmt: skip

    # Calls of modules -----------------------------------------------------------------------------------------------

    def _subclass(self, kind: type, /, **_words: Any) -> None:
        for name, value in list(vars(kind).items()):
            plain = isinstance(value, types.FunctionType) and self._frames.owns(value.__code__)
            if plain and name != "forward" and not name.startswith("__"):
                setattr(kind, name, self._method(value))

    def _method(self, function: Any) -> Any:
        @functools.wraps(function)
        def called(module: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
            if "_parameters" not in vars(module):  # it is being made
                return function(module, *args, **kwargs)
            self._called(module, args)
            output = None
            try:
                output = function(module, *args, **kwargs)
            finally:
                moved = self._gave(module, args, output)
            return output if moved is None else moved

        return called

    def _called(self, module: torch.nn.Module, _inputs: Any) -> None:
        self._inside.append(self._owner(module))

    def _gave(self, module: torch.nn.Module, inputs: Any, output: Any) -> Any:
        owner = self._inside.pop() if self._inside else None
        if owner is None or owner in self._inside or not torch.is_grad_enabled():
            return None
        given = [one for one in inputs if isinstance(one, torch.Tensor)]
        if isinstance(output, torch.Tensor):
            return self._watched(module, owner, given, output, 0)
        if type(output) in (tuple, list):
            return type(output)(
                self._watched(module, owner, given, one, place) if isinstance(one, torch.Tensor) else one
                for place, one in enumerate(output)
            )
        return None

    def _owner(self, module: torch.nn.Module) -> int | None:
        """The optimizer that owns all that a module trains, and alone; None where there is none."""
        if id(module) not in self._owners:
            mine = {id(p) for p in module.parameters() if p.requires_grad}
            owned = self._taps.owned
            touching = [index for index, theirs in enumerate(owned) if mine & theirs]
            alone = bool(mine) and len(touching) == 1 and mine <= owned[touching[0]]
            self._owners[id(module)] = touching[0] if alone else None
        return self._owners[id(module)]

    def _watched(
        self, module: torch.nn.Module, owner: int, inputs: list[Any], output: torch.Tensor, place: int
    ) -> torch.Tensor:
        if not output.requires_grad or not output.is_floating_point() or output.numel() > _LARGE:
            return output
        if owner == self._shifts:
            with quiet():
                plain = output.detach()
                generator = torch.Generator().manual_seed(plain.numel())
                noise = torch.randn(plain.shape, generator=generator).to(plain)
                move = noise * (self._shifted * (1 + float(plain.square().mean().sqrt())))
            output = output + move
        else:
            output = output.view_as(output)  # what the network itself makes of it is none of what it gave
        written = ((id(one), 0 if one.is_inference() else one._version) for one in inputs)
        key = (id(module), place, *written, tuple(output.shape))
        known = self._given.pop(key, None) or _Given(owner, tuple(inputs))
        self._given[key] = known
        if len(self._given) > _CALLS:
            _, oldest = self._given.popitem(last=False)
            self._through.update(filter(None, [oldest.losses()]))
        first = not self._leads_to_others(owner, graph.walk([output]))
        known.nodes.add(output.grad_fn)
        known.leads_on |= not first
        output.register_hook(lambda gradient: self._arrive(owner, place, known, gradient, first=first))
        return output

    def _leads_to_others(self, owner: int, nodes: Iterable[Any]) -> bool:
        """Whether nodes lead to what another optimizer owns, as where what a module gives was made of that."""
        others = set().union(*(theirs for index, theirs in enumerate(self._taps.owned) if index != owner))
        return any(id(leaf) in others for leaf in graph.leaves(nodes))

    # Gradients ------------------------------------------------------------------------------------------------------

    def backward(self, call: Call) -> None:
        """What a loss sends to others' parameters by another way than what an owner's modules give, it sends alone."""
        owners = {given.owner for given in self._given.values()} if call.accumulate else ()
        with quiet():
            for owner in owners:
                gave = set().union(*(given.nodes for given in self._given.values() if given.owner == owner))
                if self._leads_to_others(owner, graph.walk(call.roots, _outside(gave))):
                    self._through.add((owner, frozenset([call.stack])))

    def _arrive(self, owner: int, place: int, known: _Given, gradient: torch.Tensor, *, first: bool) -> None:
        call: Call | None = self._taps.current
        if call is None or not call.accumulate:
            return
        values = self._arrived.setdefault((owner, call.stack, first, place), [])
        if len(values) < _MOST:
            values += self._witness.sketch_all([gradient])
        with quiet():
            mine = gradient.detach().clone()
            for stack, other in known.came:
                if stack != call.stack:
                    _hold(self._pairs.setdefault((owner, stack, call.stack), [0, 0, 0, 0]), other, mine)
        known.came.append((call.stack, mine))


def _outside(nodes: Collection[Any]) -> Callable[[Any], bool]:
    return lambda node: node not in nodes


def _hold(counts: list[int], one: torch.Tensor, other: torch.Tensor) -> None:
    """Count what two losses sent to one result: apart everywhere, not so, the one alone in a part, the other alone."""
    if bool(one.any()) and bool(other.any()):
        product = one * other
        apart = bool((product <= 0).all())
        counts[0] += apart and int((product < 0).sum()) >= _FEW
        counts[1] += not apart
    counts[2] += bool(((one != 0) & (other == 0)).any())
    counts[3] += bool(((other != 0) & (one == 0)).any())
