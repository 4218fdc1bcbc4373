"""What is given in place of leaves: a result among parameters, or under the name of one; whole numbers to be one."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import torch

from ..engine import caller, graph
from ..engine.refused import can_have_gradient
from ..engine.taps import Listener, parameters


class Given(Listener):
    """Takes what torch refuses or what would lose its graph; `note` is told of each such place, by its kind."""

    def __init__(self, note: Callable[[str], None], *, operation: bool) -> None:
        self._note, self._operation = note, operation
        self._stepped: set[int] = set()
        """The ids of the parameters that an optimizer has moved."""
        self._values: weakref.WeakKeyDictionary[torch.nn.Module, set[str]] = weakref.WeakKeyDictionary()
        """By a module, the names under which it had tensors of one pass before a parameter was put there."""

    def step(self, _index: int, optimizer: torch.optim.Optimizer) -> None:
        self._stepped.update(id(one) for one in parameters(optimizer) if one.grad is not None)

    def install(self) -> None:
        """Put what takes them before torch's own."""
        self._take_leaves()
        self._take_assignments()
        self._take_whole_numbers()

    def _take_leaves(self) -> None:
        """Let optimizers that are given results take the leaves that these are made of, where they are operations."""
        kind = torch.optim.Optimizer
        added = kind.add_param_group

        def add(optimizer: torch.optim.Optimizer, group: Any) -> None:
            given = group.get("params")
            if self._operation and not isinstance(given, (torch.Tensor, set, type(None))):
                given = list(given)
                group = {**group, "params": self._leaves_of(optimizer, given)}
            added(optimizer, group)

        kind.add_param_group = add

    def _take_assignments(self) -> None:
        """Let a tensor that is assigned to the name of a parameter become the value of that parameter.

        One with a graph may be meant as the value for one pass, too: not if it is made of the parameter alone, and
        assigned after that had its gradient, where no module computes. It is one where the name had such values before
        a parameter was put there, as a dropout of a weight gives the weight itself in evaluation.
        """
        kind = torch.nn.Module
        assign = kind.__setattr__

        def assigned(module: torch.nn.Module, name: str, value: Any) -> None:
            held = vars(module).get("_parameters", {})
            parameter = held[name] if name in held else None  # noqa: SIM401  a compiled script's is no dict
            plain = isinstance(value, torch.Tensor) and not isinstance(value, torch.nn.Parameter)
            if plain and isinstance(parameter, torch.Tensor):
                if name in self._values.get(module, ()):
                    self._note("parameter_assigned")
                    del held[name]
                elif self._updates(parameter, value):
                    self._note("parameter_assigned")
                    _write(parameter, value)
                    return
            assign(module, name, value)
            if plain:
                self._values.setdefault(module, set()).add(name)

        setattr(kind, "__setattr__", assigned)  # noqa: B010  mypy does not let a method be replaced

    def _take_whole_numbers(self) -> None:
        """Let a parameter that is made of whole numbers have these as floats."""
        kind = torch.nn.Parameter
        make = kind.__new__

        def made(cls: Any, data: Any = None, requires_grad: bool = True) -> Any:
            if requires_grad and isinstance(data, torch.Tensor) and not can_have_gradient(data):
                self._note("no_graph")
                data = data.to(torch.get_default_dtype())
            return make(cls, data, requires_grad)

        setattr(kind, "__new__", staticmethod(made))  # noqa: B010  mypy does not let a method be replaced

    def _updates(self, parameter: torch.Tensor, value: torch.Tensor) -> bool:
        """Whether a value that is assigned to the name of a parameter can only be meant as an update of it."""
        if not value.requires_grad:
            return True
        trained = parameter.grad is not None or id(parameter) in self._stepped
        alone = trained and all(leaf is parameter for leaf in graph.leaves(graph.walk([value])))
        return alone and not caller.computing()

    def _leaves_of(self, optimizer: torch.optim.Optimizer, given: list[Any]) -> list[Any]:
        if not any(isinstance(one, torch.Tensor) and not graph.is_leaf(one) for one in given):
            return given
        self._note("nonleaf_gradient")
        taken = {id(t): t for t in given if not isinstance(t, torch.Tensor) or graph.is_leaf(t)}
        known, found = {*taken, *map(id, parameters(optimizer))}, dict[int, Any]()
        for one in given:
            if id(one) in taken:
                found[id(one)] = one
                continue
            behind = graph.leaves(graph.walk([one]))
            found |= {id(leaf): leaf for leaf in behind if id(leaf) not in known}
        return list(found.values())


def _write(parameter: torch.Tensor, value: torch.Tensor) -> None:
    """Let a parameter have a new value."""
    with torch.no_grad():
        if parameter.shape == value.shape:
            parameter.copy_(value)
        else:
            parameter.data = value.clone()
