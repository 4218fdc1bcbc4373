"""Names for tensors as the user knows them, found in the variables in scope, and the state they hold."""

from __future__ import annotations

import sys
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import islice
from types import FrameType
from typing import Any

import torch

from .. import wire
from ..program.frames import Frames
from . import graph
from .remembered import Remembered

_LOOKS = 6
_AGAIN = 16
"""Steps of a phase from one look to the next behind its first ones: a state may be made later, by the same lines."""
_ITEMS = 4000
_DEPTH = 5


def listed(names: list[str]) -> str:
    """Names for a sentence: three, which say what part of a network it is, and how many more there are."""
    unique = list(dict.fromkeys(names))
    more = f" and {len(unique) - 3} more" if len(unique) > 3 else ""  # noqa: PLR2004
    return ", ".join(unique[:3]) + more


class Names:
    """Looks at scopes in the first few steps of each phase, and now and then behind, and remembers the containers."""

    def __init__(
        self,
        frames: Frames,
        sketch: Callable[[list[torch.Tensor]], tuple[tuple[float, ...], ...]] = lambda tensors: ((),) * len(tensors),
    ) -> None:
        self._frames, self._sketch = frames, sketch
        self._looks = Counter[Hashable]()
        self._searches = 0
        self._roots: dict[int, tuple[str, Any]] = {}
        # Weakly: whoever holds a result holds its graph, and with it what the reference copied for it.
        self._names = Remembered[str]()
        self._first: dict[str, tuple[float, ...]] = {}
        self._versions: dict[str, int] = {}
        self._bound: dict[str, int] = {}
        self._rebuilt: set[str] = set()

    def look(self, frame: FrameType | None = None, phase: Hashable = None) -> None:
        """Look through the user's frames now, or from `frame` outwards, as in each of the first few calls of a phase.

        What a later phase trains may not have been there before.
        """
        self._looks[phase] += 1
        if self._looks[phase] > _LOOKS and self._looks[phase] % _AGAIN:
            return
        frame = frame or sys._getframe(1)
        found, outermost = self._scopes(frame), self._outermost(frame)
        for name, value in found:
            if id(value) not in self._roots and self._is_container(value):
                self._roots[id(value)] = (name, value)
            if isinstance(value, (dict, list, tuple)) and self._bound.setdefault(name, id(value)) != id(value):
                self._rebuilt.add(name)
        fresh = {}
        for path, tensor in self._tensors(found):
            name = outermost.get(id(tensor), path) if path.isidentifier() else path
            if not self.name(tensor, ""):
                self._names.keep(tensor, name)
                fresh[name] = tensor
        self._remember(fresh)

    def search(self, tensors: list[torch.Tensor]) -> None:
        """Name what an optimizer was given later than the first looks: the second of a name is `f.weight (2)`."""
        if (
            max(self._looks.values(), default=0) < _LOOKS
            or self._searches >= _LOOKS
            or all(map(self._names.of, tensors))
        ):
            return
        self._searches += 1
        taken = set(map(self._names.of, self._names))
        wanted = {id(tensor) for tensor in tensors if self._names.of(tensor) is None}
        for name, tensor in self._tensors(self._scopes(sys._getframe(1))):
            if id(tensor) in wanted:
                free = next(one for one in (name, *(f"{name} ({n})" for n in range(2, _ITEMS))) if one not in taken)
                taken.add(free)
                self._names.keep(tensor, free)

    def results(self) -> dict[Any, torch.Tensor]:
        """What the user's variables hold now of results of operations, by the nodes of these."""
        held = self._tensors(self._scopes(sys._getframe(1)))
        return {node: tensor for _, tensor in held if (node := graph.made_by(tensor)) is not None}

    def given_up(self, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
        """Those that had a name, and that none of the user's variables leads to any more."""
        named = [one for one in tensors if self._names.of(one)]
        held = [id(one) for _, one in self._tensors(self._scopes(sys._getframe(1)))] if named else []
        return [one for one in named if id(one) not in held] if len(held) < _ITEMS else []

    def _scopes(self, frame: FrameType) -> list[tuple[str, Any]]:
        """The variables of the user's frames from this one outwards, and of their modules."""
        found: list[tuple[str, Any]] = []
        for one in self._frames.running(frame):
            found.extend((n, v) for n, v in self._frames.variables(one).items() if not n.startswith("__"))
            if one.f_globals is not one.f_locals and one.f_back is not None:
                found.extend((n, v) for n, v in one.f_globals.items() if not n.startswith("__"))
        return found

    def _outermost(self, frame: FrameType) -> dict[int, str]:
        """The names of tensors in the outermost frame that has them: the same wherever the look is taken."""
        found: dict[int, str] = {}
        for one in self._frames.running(frame):
            variables = reversed(self._frames.variables(one).items())
            found.update((id(value), name) for name, value in variables if isinstance(value, torch.Tensor))
        return found

    def _remember(self, fresh: dict[str, torch.Tensor]) -> None:
        small = {name: t for name, t in fresh.items() if t.numel() <= 1 << 22}
        for name, sketch in zip(small, self._sketch(list(small.values())), strict=True):
            self._first.setdefault(name, sketch)
            self._versions.setdefault(name, graph.version(small[name]))

    def name(self, tensor: torch.Tensor, fallback: str) -> str:
        """The name of `tensor`, or `fallback`."""
        return self._names.of(tensor) or fallback

    def holder(self, value: Any) -> str:
        """The name of the variable that holds a container, or ''."""
        known = self._roots.get(id(value))
        return known[0] if known else ""

    def states(self, owned: set[int]) -> tuple[wire.State, ...]:
        """Every named tensor that no optimizer owns: whether it was written since it was first seen, and its sketch."""
        now = self.kept(owned)
        sketches = zip(now.items(), self._sketch(list(now.values())), strict=True)
        return tuple(
            wire.State(
                name,
                sketch != first,
                sketch,
                result=not graph.is_leaf(tensor),
                first=first,
                touched=graph.version(tensor) != self._versions[name],
            )
            for (name, tensor), sketch in sketches
            for first in (self._first[name],)
        )

    def spent(self, walked: set[int]) -> tuple[str, ...]:
        """What lasting containers hold of results of several numbers; `walked`: the nodes that backwards went through.

        By their ages: whoever holds a node holds its graph.
        """
        held = ((name, tensor.numel(), graph.made_by(tensor)) for name, tensor in self._tensors(self._lasting()))
        return tuple(name for name, size, node in held if size > 1 and node and node._sequence_nr() in walked)

    def numbers(self) -> tuple[wire.State, ...]:
        """What lasting containers hold of numbers that are no tensors, as if they were."""
        found = {name: value for name, value in self._values(self._lasting()) if isinstance(value, float)}
        sketches = self._sketch([torch.tensor(value) for value in found.values()])
        return tuple(wire.State(name, False, sketch) for name, sketch in zip(found, sketches, strict=True))

    def kept(self, owned: set[int]) -> dict[str, torch.Tensor]:
        """Every named tensor that no optimizer owns, as it is now."""
        found = {name: t for name, t in self._tensors(self._lasting()) if id(t) not in owned}
        return {name: t for name, t in found.items() if name in self._first}

    def of_files(self) -> set[int]:
        """The ids of the tensors that the global variables of the user's files lead to, also of those not running."""
        files = [one for one in list(sys.modules.values()) if self._frames.owned(getattr(one, "__file__", None) or "")]
        roots = [(name, value) for one in files for name, value in vars(one).items() if not name.startswith("__")]
        return {id(tensor) for _, tensor in self._tensors(roots)}

    def _lasting(self) -> list[tuple[str, Any]]:
        """The containers that were found, but for those that each pass makes anew: a batch is no state."""
        return [pair for pair in self._roots.values() if pair[0] not in self._rebuilt]

    def _is_container(self, value: Any) -> bool:
        return isinstance(value, (torch.nn.Module, dict, list, tuple, deque)) or self._frames.is_users(value)

    def _tensors(self, roots: list[tuple[str, Any]]) -> Iterator[tuple[str, torch.Tensor]]:
        """Tensors reachable from `roots`."""
        return ((name, value) for name, value in self._values(roots) if isinstance(value, torch.Tensor))

    def _values(self, roots: list[tuple[str, Any]]) -> Iterator[tuple[str, torch.Tensor | float]]:
        """Tensors and numbers reachable from `roots`, breadth first, so that each comes under its shortest name.

        A parameter comes under its module's: a loop over `named_parameters()` leaves the last one in a variable, and
        a list of what is to be trained says nothing of it.
        """
        queue = [(name, value, 0) for name, value in roots]
        if any(isinstance(value, torch.nn.Parameter) for _, value in roots):
            owned = self._of_modules(roots)
            queue = [one for one in queue if id(one[1]) not in owned]
        later: list[tuple[str, Any, int]] = []
        seen: set[int] = set()
        at = 0
        while (at < len(queue) or later) and len(seen) < _ITEMS:
            if at == len(queue):
                queue, later, at = later, [], 0
            name, value, depth = queue[at]
            at += 1
            if id(value) in seen:
                continue
            if isinstance(value, float):
                yield name.removeprefix("self."), value
            elif isinstance(value, torch.Tensor):
                seen.add(id(value))
                yield name.removeprefix("self."), value
            elif depth < _DEPTH and self._is_container(value):
                seen.add(id(value))
                for inner, item in (*_inside(name, value), *self._own_modules(name, value)):
                    alone = isinstance(item, torch.nn.Parameter) and isinstance(value, (list, tuple))
                    (later if alone else queue).append((inner, item, depth + 1))

    def _own_modules(self, name: str, value: Any) -> Iterator[tuple[str, Any]]:
        """The modules of the user's own inside a module: what they hold as attributes has no other name."""
        inside = value.named_modules() if isinstance(value, torch.nn.Module) else ()
        return ((f"{name}.{inner}", one) for inner, one in inside if one is not value and self._frames.is_users(one))

    def _of_modules(self, roots: Iterable[tuple[str, Any]]) -> set[int]:
        """The parameters of the modules that are held by these, or by an attribute of theirs."""
        values = [value for _, value in roots]
        values += [inner for value in values if self._frames.is_users(value) for inner in vars(value).values()]
        modules = [value for value in values if isinstance(value, torch.nn.Module)]
        return {id(parameter) for module in modules for parameter in module.parameters()}


def _inside(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, torch.nn.Module):
        for inner, tensor in (*value.named_parameters(), *value.named_buffers()):
            yield f"{name}.{inner}", tensor
        attributes = (pair for pair in vars(value).items() if not pair[0].startswith("_") and pair[0] != "training")
        yield from ((f"{name}.{key}", item) for key, item in attributes)
    elif isinstance(value, dict):
        yield from (
            (f"{name}[{key!r}]", item) for key, item in list(value.items())[:200] if isinstance(key, (str, int))
        )
    elif isinstance(value, (list, tuple, deque)):
        yield from ((f"{name}[{index}]", item) for index, item in enumerate(islice(value, 200)))
    else:
        yield from ((f"{name}.{key}", item) for key, item in vars(value).items())
