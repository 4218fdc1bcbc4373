"""Where modules and parameters were made, by the hooks that torch calls as a module registers them."""

from __future__ import annotations

import difflib
import sys
import weakref
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch.nn.modules import module as registering

from ..engine import graph
from ..engine.remembered import Remembered
from ..program.frames import Frames, Raw

_MOST = 20_000
_DEPTH = 3
_ALIKE = 0.9


class Made:
    """Knows each registered parameter's module and line, and each module that took another's place."""

    def __init__(self, frames: Frames) -> None:
        self._frames = frames
        self._parameters = Remembered[tuple[weakref.ref[torch.nn.Module], "Raw"]]()
        self._children: dict[tuple[int, str], int] = {}
        self._parents: dict[int, weakref.ref[torch.nn.Module]] = {}
        self.misspelt: dict[Raw, str] = {}
        """Where an attribute was set that looks like `requires_grad`, and does nothing."""
        self.repeated: dict[int, Raw] = {}
        """Modules that one owner holds under several names, and where."""
        self.replaced: list[Raw] = []
        """Where a module was assigned to a name at which its owner had another module."""

    def install(self) -> None:
        """Listen from now on."""
        registering.register_module_parameter_registration_hook(self._parameter)
        registering.register_module_module_registration_hook(self._module)
        self._listen_to_names()

    def _listen_to_names(self) -> None:
        """Hear of attributes that look like `requires_grad` and are none, which torch takes without a word."""
        setting = torch.nn.Module.__setattr__
        heard = self._misspelt

        def on_parameter(tensor: Any, name: str, value: Any) -> None:
            if name.startswith("requi") and name != "requires_grad":
                heard(name)
            object.__setattr__(tensor, name, value)

        def on_module(module: Any, name: str, value: Any) -> None:
            setting(module, name, value)
            flag = name.startswith("requi") and isinstance(value, bool)
            if flag and sys._getframe(1).f_locals.get("self") is not module:  # a class may have an option of this name
                heard(name)

        kinds: Any = torch.nn
        kinds.Parameter.__setattr__, kinds.Module.__setattr__ = on_parameter, on_module

    def _misspelt(self, name: str) -> None:
        if difflib.SequenceMatcher(None, name, "requires_grad").ratio() > _ALIKE:
            self.misspelt.setdefault(self._frames.here(), name)

    def _parameter(self, module: torch.nn.Module, _name: str, parameter: Any) -> None:
        if parameter is not None and len(self._parameters) < _MOST:
            self._parameters.keep(parameter, (weakref.ref(module), self._frames.here()))

    def _module(self, parent: torch.nn.Module, name: str, child: Any) -> None:
        if child is None or len(self._children) > _MOST:
            return
        twice = id(child) in map(id, parent._modules.values()) and parent._modules.get(name) is not child
        if twice and next(child.parameters(), None) is not None:
            self.repeated.setdefault(id(child), self._frames.here())
        before = self._children.get((id(parent), name))
        self._children[id(parent), name] = id(child)
        self._parents[id(child)] = weakref.ref(parent)
        if before is not None and before != id(child) and parent._modules.get(name) is not None:
            self.replaced.append(self._frames.here())

    def place(self, parameter: torch.Tensor) -> Raw:
        """Where a parameter was registered: the line that makes its layer."""
        known = self._parameters.of(parameter)
        return known[1] if known is not None else ()

    def owner(self, parameter: torch.Tensor) -> torch.nn.Module | None:
        """The module that a parameter was registered with."""
        known = self._parameters.of(parameter)
        return known[0]() if known is not None else None

    def roots(self, tensors: Iterable[torch.Tensor]) -> list[torch.nn.Module]:
        """The outermost modules that these parameters belong to."""
        found: dict[int, torch.nn.Module] = {}
        for tensor in tensors:
            module = self.owner(tensor)
            for _ in range(_MOST):
                parent = self._parents.get(id(module), _nothing)() if module is not None else None
                if parent is None or parent is module:
                    break
                module = parent
            if module is not None:
                found[id(module)] = module
        return list(found.values())

    def parameters(self) -> Iterator[torch.Tensor]:
        """Every registered parameter that is still there."""
        return iter(self._parameters)


def _nothing() -> None:
    """Stands for a reference to a module that is not known."""


def hidden(module: torch.nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    """Parameters that a module holds in plain attributes, where `parameters()` cannot see them: path and tensor."""
    for inner, part in module.named_modules():
        known = {id(p) for p in part.parameters()}
        for name, value in list(vars(part).items()):
            if name not in ("_parameters", "_modules", "_buffers") and isinstance(value, (list, tuple, dict)):
                for path, found in _within(value, name, _DEPTH):
                    if id(found) not in known:
                        yield f"{inner}.{path}" if inner else path, found
            elif isinstance(value, torch.Tensor) and graph.is_leaf(value) and value.requires_grad:
                yield f"{inner}.{name}" if inner else name, value


def _within(value: Any, path: str, depth: int) -> Iterator[tuple[str, torch.Tensor]]:
    if isinstance(value, torch.nn.Module):
        yield from ((f"{path}.{name}", parameter) for name, parameter in value.named_parameters())
    elif isinstance(value, torch.nn.Parameter):
        yield path, value
    elif depth and isinstance(value, dict):
        for key, item in list(value.items())[:200]:
            yield from _within(item, f"{path}[{key!r}]", depth - 1)
    elif depth and isinstance(value, (list, tuple)):
        for index, item in enumerate(value[:200]):
            yield from _within(item, f"{path}[{index}]", depth - 1)
