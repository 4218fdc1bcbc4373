"""The picture of a failure: the graph around it, which module made what, what was freed and what was spoiled."""

from __future__ import annotations

import bisect
import itertools
from collections import deque
from collections.abc import Iterator
from typing import Any

import torch
from torch import autograd
from torch.nn.modules import module as modules

from .. import wire
from ..engine import graph
from ..engine.names import Names
from ..engine.quiet import quiet
from ..engine.taps import Call, Listener, Taps
from ..program.frames import Frames, Raw, frames_of
from .tracing import Tracer
from .writes import Handle

_SHOT = 20_000
_KEPT = 60_000
_SHOWN = 6
_FREEING = 3
_AUTOGRAD = autograd.__file__

Key = tuple[Any, ...]


class Shot:
    """One backward call and the part of the graph it was about to go through."""

    __slots__ = ("call", "live", "nodes", "roots")

    def __init__(self, call: Call | None, starts: list[Any]) -> None:
        self.call = call
        self.roots = [key_of(node) for node in starts]
        self.nodes: dict[Key, tuple[wire.Node, list[Key]]] = {}
        self.live: dict[Key, Any] = {}


class Picture(Listener):
    """Keeps the graphs of the latest backward calls for the drawing of a report, where one is asked for."""

    def __init__(self, frames: Frames, taps: Taps, tracer: Tracer) -> None:
        self._frames, self._taps, self._tracer = frames, taps, tracer
        self._names = Names(frames)
        self._modules = Modules()
        self._shots: deque[Shot] = deque()
        self._leaves: dict[int, torch.Tensor] = {}
        self._saving: dict[type, tuple[str, ...]] = {}
        self.error: BaseException | None = None

    def backward(self, call: Call) -> None:
        self._names.look()
        for shot in self._shots:
            shot.live.clear()
        self._shots.append(self._shot(call, graph.starts(call.roots), call.roots))
        while len(self._shots) > 1 and sum(len(shot.nodes) for shot in self._shots) > _KEPT:
            self._shots.popleft()

    def backward_done(self, call: Call) -> None:
        if self._shots and self._shots[-1].call is call:
            self._shots[-1].live.clear()

    def _shot(self, call: Call | None, starts: list[Any], roots: tuple[Any, ...]) -> Shot:
        shot = Shot(call, starts)
        with quiet():
            for node in itertools.islice(graph.walk(roots), _SHOT):
                key = key_of(node)
                shot.nodes[key] = self._node(node), [*map(key_of, graph.children(node))]
                shot.live[key] = node
        return shot

    def _node(self, node: Any) -> wire.Node:
        variable = graph.leaf(node)
        if variable is not None:
            self._leaves[id(variable)] = variable
            return wire.Node("leaf", "", shape=tuple(variable.shape))
        shapes = graph.shapes(node)
        return wire.Node("op", node.name(), shape=shapes[0] if shapes else (), saves=bool(self._saved_names(node)))

    def _saved_names(self, node: Any) -> tuple[str, ...]:
        kind = type(node)
        if kind not in self._saving:
            self._saving[kind] = tuple(name for name in dir(node) if name.startswith("_raw_saved_"))
        return self._saving[kind]

    # What it all came to --------------------------------------------------------------------------------------------

    def chosen(self, failure: wire.Failure | None, target: torch.Tensor | None) -> tuple[list[Shot], Shot | None]:
        """The backward calls to draw, the earliest first, and the one that failed."""
        if failure is None:
            return [*self._shots][-_SHOWN:], None
        if not failure.in_backward or self._taps.current is None:
            starts = [] if target is None else graph.starts([target])
            return ([self._shot(None, starts, (target,))], None) if starts else ([*self._shots][-1:], None)
        failing = self._shots[-1]
        calls = {id(call) for key in failing.nodes if (call := self.freed_by(key)) is not None}
        return [*[shot for shot in self._shots if id(shot.call) in calls][-_FREEING:], failing], failing

    def freed_by(self, key: Key) -> Call | None:
        """The call that freed an op's saved tensors first."""
        return self._tracer._freed.get(key[0]) if len(key) == 2 else None  # noqa: PLR2004  (age, name)

    def handles(self, node: Any) -> Iterator[Handle]:
        """What a node saved and still has."""
        for name in self._saved_names(node):
            try:
                saved = getattr(node, name)
            except RuntimeError:  # an autograd.Function says in this way that they are freed
                continue
            for one in saved if isinstance(saved, (tuple, list)) else (saved,):
                handle: Any = getattr(one, "data", None)
                if hasattr(handle, "alias"):
                    yield handle

    def placed(self, key: Key) -> tuple[Raw, str, str]:
        """Where a node was made, in which module, and the name of a leaf."""
        if key[0] == "leaf":
            variable = self._leaves.get(key[1])
            return (), "", "" if variable is None else self._names.name(variable, "")
        root, inner = self._modules.of(key[0])
        return self._tracer._stack(key[0]), ".".join(filter(None, (self._root(root), inner))), ""

    def _root(self, root: str) -> str:
        known = self._modules.roots.get(root)
        if known is None:
            return ""
        inner, parameter = next(known.named_parameters(), ("", None))
        # A module kept in an attribute is known by the names of what is in it.
        whole = self._names.name(parameter, "") if parameter is not None else ""
        outer = whole.removesuffix(f".{inner}") if whole.endswith(f".{inner}") else ""
        return self._names.holder(known) or outer or type(known).__name__

    def look_at_names(self) -> None:
        """Learn names from the frames that the exception came through, the innermost first."""
        for frame in reversed(frames_of(self.error)):
            if self._frames.owns(frame.f_code):
                self._names.look(frame)

    def started_from(self) -> torch.Tensor | None:
        """The tensor of a backward that was refused before it began."""
        for frame in frames_of(self.error):
            if frame.f_code.co_filename == _AUTOGRAD and frame.f_code.co_name in ("backward", "grad"):
                roots = frame.f_locals.get("tensors", frame.f_locals.get("outputs"))
                return roots[0] if isinstance(roots, (tuple, list)) and roots else roots
        return None

    def spoiling(self, handle: Handle) -> list[tuple[str, Raw, int]]:
        """The writes since a tensor was saved."""
        return [(one.op, one.raw, one.optimizer) for one in self._tracer.writes.spoiling(handle)]


def key_of(node: Any) -> Key:
    """What a node is known by: a leaf by its tensor, an op by its age and name."""
    variable = graph.leaf(node)
    return ("leaf", id(variable)) if variable is not None else (node._sequence_nr(), node.name())


class Modules:
    """Follows the modules that run, and tells afterwards which of them made a node."""

    def __init__(self) -> None:
        self._stack: list[tuple[str, str]] = []
        self._root: Any = None
        self._inside: dict[int, str] = {}
        self._ages: list[int] = []
        self._paths: list[tuple[str, str]] = []
        self.roots: dict[str, Any] = {}
        self._hooks = (
            modules.register_module_forward_pre_hook(self._enter),
            modules.register_module_forward_hook(self._leave, always_call=True),
        )

    def of(self, age: int) -> tuple[str, str]:
        """The outermost module, as a key of `roots`, and the path below it."""
        at = bisect.bisect_right(self._ages, age) - 1
        return self._paths[at] if at >= 0 else ("", "")

    def _enter(self, module: Any, _args: Any) -> None:
        if not self._stack and self._root is not module:
            self._root = module
            self._inside = {id(one): name for name, one in module.named_modules()}
        root = f"{type(self._root).__name__}:{id(self._root)}"
        self.roots[root] = self._root
        outer = self._stack[-1][1] if self._stack else ""
        own = self._inside.get(id(module), f"{outer}.{type(module).__name__}".lstrip("."))
        self._stack.append((root, own))
        self._mark()

    def _leave(self, _module: Any, _args: Any, _result: Any) -> None:
        if self._stack:
            self._stack.pop()
        self._mark()

    def _mark(self) -> None:
        path = self._stack[-1] if self._stack else ("", "")
        age = graph.now()
        if self._ages and self._ages[-1] == age:
            self._paths[-1] = path
        else:
            self._ages.append(age)
            self._paths.append(path)
