"""What a script takes for two values and is one memory: subtracted, joined, collected, kept, or mixed with itself."""

from __future__ import annotations

import ast
import contextlib
import gc
import sys
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from types import CellType, FrameType, ModuleType
from typing import Any

import torch

from .. import wire
from ..engine import graph
from ..engine.operators import storage_key
from ..engine.quiet import quiet
from ..engine.refused import tensors
from ..engine.remembered import Remembered
from ..engine.taps import Call, Listener
from ..instruments.comparisons import DIFFERENCES
from ..program.expressions import parsed, statements, value
from ..program.frames import Frames, Raw

_JOINS = frozenset({
    torch.stack, torch.cat, torch.concat, torch.concatenate, torch.hstack, torch.vstack, torch.dstack,
    torch.column_stack,
})  # fmt: skip
_BOTH = 2
_OFTEN = 3
_LATEST = 64
"""Entries of a list, from its end, among which something that was collected in this pass is looked for."""
_SHOWS = frozenset({"item", "tolist", "numpy", "__array__", "__float__", "__repr__", "__format__"})
"""What shows a script the values of a tensor, or takes them."""
_ABOUT = frozenset({"grad", "shape", "dtype", "device", "ndim", "size", "dim", "numel", "requires_grad", "is_leaf"})
"""What asks a tensor for something else than its values."""


class OneMemory(Listener):
    """Hears of calls before and after they are made; `told` has each place once."""

    def __init__(self, frames: Frames, read: Callable[[str], bytes]) -> None:
        self._frames, self._bytes = frames, read
        self._zeros: Counter[Raw] = Counter()
        """Where a tensor is subtracted from itself, and what has a graph is made of that: an update may do so, too."""
        self._zero: Raw = ()
        """Where the call that is being made subtracts so."""
        self._of_zeros = Remembered["Raw"]()
        """What has no graph and was made of such a difference."""
        self._shown: Counter[Raw] = Counter()
        """Where a difference is made that only shows how far something has moved."""
        self._views = Remembered[int]()
        """How often what a view shows had been written when the view was made."""
        self._whole = Remembered[int]()
        """How often a tensor had been written when it last was one of several that were joined."""
        self._joined: Counter[Raw] = Counter()
        """Where views of one memory come together between which it was written, and how many."""
        self._listed = Remembered[tuple[Raw, list[Any]]]()
        """What was written while a list held it, with where and the list, since the latest backward."""
        self._arrays: dict[tuple[Raw, int], list[tuple[weakref.ref[Any], int]]] = {}
        """The arrays that were made at one place of one memory, each with how often that had been written."""
        self._assigned: dict[tuple[int, Any, Any], int] = {}
        """The parts that were assigned to, each with how often its memory had been written then."""
        self._overwritten: Counter[Raw] = Counter()
        self._mixed: dict[Raw, str] = {}
        self._looked: set[Raw] = set()
        self._twice: dict[Raw, bool] = {}
        """Of places where a tensor is subtracted from itself without its graph: whether by two names."""
        self._memories: set[int | None] = set()
        """The memory of what was subtracted from itself in this pass."""
        self._held = False
        """Whether somebody else than its owner holds such memory from pass to pass."""
        self._gradients = Remembered[torch.Tensor]()
        """What the script was given since the latest backward that is the gradient of a leaf, with that leaf."""
        self._outlived = Remembered[bool]()
        """What it was given so before, and a backward has written to since."""
        self._kept: Counter[Raw] = Counter()

    def before(self, func: Any, args: Any) -> None:
        """A call is about to be made."""
        if func in _JOINS and args and isinstance(args[0], (list, tuple)) and (times := self._of_one_view(args[0])):
            here = self._frames.here()
            self._joined[here] = max(self._joined[here], times)
        if func is torch.Tensor.__setitem__:
            self._assign(*args)
            self._write(args[0])
        if self._outlived and not _asks(func) and any(one in self._outlived for one in tensors(args)):
            self._kept[self._frames.here()] += 1
        if func in DIFFERENCES and self._of_one_memory(args):
            self._zero = self._frames.here()
            self._memories.add(storage_key(args[0]))

    def after(self, func: Any, args: Any, result: Any) -> None:
        """A call was made, and gave this."""
        if self._zero or self._of_zeros:
            self._follow_zeros(func, args, result)
        if not isinstance(result, torch.Tensor):
            return
        if args and result is args[0] and not _asks(func):
            self._write(result)
        with torch._C.DisableTorchFunction():
            try:  # passed for each call of torch: one more context would cost as much as what is asked
                if self._assigned and not graph.is_leaf(result):
                    self._read_after(args)
                if result._is_view() or func is torch.Tensor.detach:
                    self._views.keep(result, result._version)
                if func is torch.Tensor.detach or (_asks(func) and graph.is_leaf(args[0])):
                    self._read(args[0], result, asked=_asks(func))
            except (RuntimeError, NotImplementedError):  # no memory
                pass

    def _follow_zeros(self, func: Any, args: Any, result: Any) -> None:
        given = list(tensors(args))
        known = [self._zero] if self._zero else map(self._of_zeros.of, given)
        places, self._zero = set(filter(None, known)), ()
        if getattr(func, "__name__", "") in _SHOWS:
            self._shown.update(places)
        if not isinstance(result, torch.Tensor) or any(one is result for one in given):  # or it was written
            return
        for place in places:
            if result.requires_grad:
                self._zeros[place] += 1
            else:
                self._of_zeros.keep(result, place)

    def _read(self, one: torch.Tensor, result: torch.Tensor, *, asked: bool) -> None:
        """Something of a tensor was read: an attribute of it that is `asked` for, or what it is without a graph."""
        leaf = self._gradients.of(one)
        if asked and result is one.grad:
            self._gradients.keep(result, one)
        elif leaf is not None and _same(result, one):
            self._gradients.keep(result, leaf)
        elif one.requires_grad and not result.requires_grad and _same(result, one):  # its `.data`
            self._views.keep(result, one._version)

    def backward(self, call: Call) -> None:
        """Look for lists that took one tensor again after it was written.

        And tell what the script holds of gradients from what it asks for anew: this call writes to their memory.
        """
        for one in self._listed:
            place, collected = self._listed.of(one) or ((), [])
            if (times := sum(other is one for other in collected)) >= _BOTH:
                self._joined[place] = max(self._joined[place], times)
        self._listed.clear()
        if not call.accumulate or not self._gradients:
            return
        with quiet(), contextlib.suppress(RuntimeError, NotImplementedError):
            reached = set(map(id, graph.leaves(graph.walk(call.roots))))
            for held in self._gradients:
                leaf = self._gradients.of(held)
                gradient = leaf.grad if id(leaf) in reached and leaf is not None else None
                if leaf is not None and gradient is not None and not gradient.requires_grad and _same(held, gradient):
                    self._outlived.keep(held, True)
                    leaf.grad = gradient.detach()
                self._gradients.forget(held)

    def _assign(self, whole: torch.Tensor, index: Any, _value: Any) -> None:
        """A part of a tensor is about to be assigned to."""
        several = index if isinstance(index, tuple) else (index,)
        if not torch.is_grad_enabled() or not all(one is ... or isinstance(one, (int, slice)) for one in several):
            return
        with quiet(), contextlib.suppress(RuntimeError, IndexError, NotImplementedError):
            part = whole[index]
            self._assigned[part.data_ptr(), part.shape, part.stride()] = part._version + 1

    def _write(self, target: torch.Tensor) -> None:
        """A result is written: does a list hold it that a function of the script has, or what its names stand for?"""
        with torch._C.DisableTorchFunction(), contextlib.suppress(RuntimeError):
            if not torch.is_grad_enabled() or graph.is_leaf(target) or target in self._listed:
                return
        for frame in self._frames.running(sys._getframe(2)):
            for one in _within(frame.f_locals.values()):
                if isinstance(one, list) and any(held is target for held in one[-_LATEST:]):
                    self._listed.keep(target, (self._frames.here(), one))
                    return

    def _read_after(self, args: Any) -> None:
        """Did a call read a part by a name that it had before it was assigned to?"""
        with contextlib.suppress(RuntimeError, NotImplementedError):
            for one in args:
                made = self._views.of(one) if isinstance(one, torch.Tensor) and one.requires_grad else None
                if made is not None and made < one._version:
                    written = self._assigned.get((one.data_ptr(), one.shape, one.stride()), 0)
                    self._overwritten[self._frames.here()] += made < written <= one._version

    def converted(self, tensor: torch.Tensor, array: Any) -> None:
        """A tensor became an array, which shows its memory; arrays made there before may still be held.

        One that is held may be the last pass's, whose name the next one takes.
        """
        with contextlib.suppress(TypeError, AttributeError), torch._C.DisableTorchFunction():
            if array.ctypes.data != tensor.data_ptr():
                return
            here = self._frames.here()
            made = self._arrays.setdefault((here, tensor.data_ptr()), [])
            made[:] = [one for one in made if one[0]() is not None]
            if len(made) >= _BOTH and len({version for _, version in made}) > 1:
                self._joined[here] = len(made) + 1
            made.append((weakref.ref(array), tensor._version))

    def wrote(self, target: torch.Tensor) -> None:
        """A leaf is written: does the statement also read it by another name?"""
        here = self._frames.here()
        if not here or here in self._looked:
            return
        self._looked.add(here)
        if names := self._named(here, target):
            self._mixed[here] = " and ".join(names[:_BOTH])

    def _names(self, statement: ast.stmt, frame: FrameType, target: torch.Tensor) -> Iterator[str]:
        """The expressions of a statement that stand for the values of a tensor."""
        stack: list[ast.AST] = [statement]
        while stack:
            node = stack.pop()
            if isinstance(node, ast.Attribute) and node.attr in _ABOUT:
                continue
            if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and self._plain(node, frame):
                found = value(node, frame)
                if isinstance(found, torch.Tensor) and _same(found, target):
                    yield ast.unparse(node).removesuffix(".data")
                    continue
            stack.extend(ast.iter_child_nodes(node))

    def _plain(self, node: ast.AST, frame: FrameType) -> bool:
        """Whether to look at an expression runs nothing of the user's."""
        match node:
            case ast.Name() | ast.Constant():
                return True
            case ast.Attribute(value=holder, attr=name):
                owner = value(holder, frame) if self._plain(holder, frame) else None
                return owner is not None and not isinstance(getattr(type(owner), name, None), property)
            case ast.Subscript(value=holder, slice=index):
                plain = self._plain(holder, frame) and self._plain(index, frame)
                return plain and type(value(holder, frame)).__module__ in ("builtins", "collections")
        return False

    def step_done(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        if self._memories and not self._held:
            self._held = _holders(self._memories) > 1
        self._memories.clear()
        self._assigned.clear()  # what comes next in that place is another tensor

    def told(self) -> dict[str, Any]:
        """The facts: subtracted from itself, shown, held, joined or collected, overwritten, mixed with itself."""
        facts = [self._frames.fact("zero-difference", raw, str(times)) for raw, times in self._zeros.items()]
        facts += [self._frames.fact("zero-shown", raw, str(times)) for raw, times in self._shown.items()]
        facts += [wire.Fact("memory-held", "")] if self._held else []
        facts += [self._frames.fact("one-memory-joined", raw, str(times)) for raw, times in self._joined.items()]
        facts += [self._frames.fact("part-overwritten", raw) for raw, n in self._overwritten.items() if n >= _BOTH]
        facts += [self._frames.fact("mixed-with-itself", raw, names) for raw, names in self._mixed.items()]
        facts += [self._frames.fact("old-gradient-read", raw, str(times)) for raw, times in self._kept.items()]
        return {"facts": tuple(facts)}

    def _of_one_memory(self, args: Any) -> bool:
        """Whether the first two arguments are one piece of memory that was written.

        Both train, or neither does; or one is a name without gradient that a leaf had before it was written, or is
        made of another name of the same result.
        """
        pair = args[:_BOTH]
        if len(pair) < _BOTH or not all(isinstance(one, torch.Tensor) for one in pair):
            return False
        with (
            torch._C.DisableTorchFunction(),
            contextlib.suppress(RuntimeError, NotImplementedError),
        ):  # no memory, or none to see
            first, second = pair
            if not (first.is_floating_point() and first.numel() and _same(first, second)):
                return False
            if first.requires_grad is second.requires_grad:
                return bool(first._version)
            learns, name = (first, second) if first.requires_grad else (second, first)
            if not graph.is_leaf(learns):
                return bool(learns._version) and self._is_named_twice(learns)
            before = self._views.of(name)
            return before is not None and before < learns._version
        return False

    def _is_named_twice(self, target: torch.Tensor) -> bool:
        """Whether the statement that runs has two names for a tensor: `x - x.detach()` has one, and trains by it."""
        if (here := self._frames.here()) not in self._twice:
            self._twice[here] = len(self._named(here, target)) > 1
        return self._twice[here]

    def _named(self, here: Raw, target: torch.Tensor) -> list[str]:
        """The names that the statement at a place has for a tensor, if one of them was not given it by the other."""
        frame = next(self._frames.running(sys._getframe(1)), None)
        tree = parsed(self._bytes(here[0][0].co_filename)) if here else None
        if frame is None or tree is None:
            return []
        with torch._C.DisableTorchFunction():
            for statement in statements(tree, self._frames.resolve(here[:1])[0]):
                names = sorted(set(self._names(statement, frame, target)))
                if len(names) > 1 and not _is_bound_to_it(tree, names):
                    return names
        return []

    def _of_one_view(self, parts: Any) -> int:
        """How many of these are views of one memory that was written between them, or one tensor that is written on.

        When each was collected is known of views alone. A tensor that is there more often than somebody puts one value
        beside itself was collected again and again if it was written since it was joined before; or, where that is the
        first time, as often as it is there.
        """
        made: dict[Any, list[int]] = {}
        whole: Counter[torch.Tensor] = Counter()
        again: list[int] = []
        # Some have no memory, and what is made in inference mode counts no writes.
        with torch._C.DisableTorchFunction(), contextlib.suppress(RuntimeError, NotImplementedError):
            for part in parts:
                if (version := self._views.of(part)) is not None and part.numel():
                    made.setdefault((part.data_ptr(), part.shape, part.stride()), []).append(version)
                elif isinstance(part, torch.Tensor):
                    whole[part] += 1
            for part, times in whole.items():
                last = self._whole.of(part)
                written = part._version >= times if last is None else part._version > last
                again += [times] if written and times >= _OFTEN else []
                self._whole.keep(part, part._version)
        several = [len(versions) for versions in made.values() if len(set(versions)) > 1]
        return max([*several, *again], default=0)


def _same(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors are one piece of memory."""
    return one.data_ptr() == other.data_ptr() and one.shape == other.shape and one.stride() == other.stride()


def _within(values: Iterable[Any]) -> Iterator[Any]:
    """Some values, and what the attributes of objects among them hold; nothing of the user's runs for it."""
    for one in values:
        yield one
        if not isinstance(one, (torch.Tensor, ModuleType, type)):
            with contextlib.suppress(AttributeError):  # it has no dictionary
                yield from object.__getattribute__(one, "__dict__").values()


def _is_bound_to_it(tree: ast.Module, names: list[str]) -> bool:
    """Whether one name was given to the other: `w = layer.weight`, or `for i, w in enumerate(weights)`."""
    bound = set()
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[target], value=given):
                bound.add((ast.unparse(target), ast.unparse(given).removesuffix(".data")))
            case ast.For(target=target, iter=given) if not _zips(given):
                made = [one.id for one in ast.walk(target) if isinstance(one, ast.Name)]
                roots = [one.id for one in ast.walk(given) if isinstance(one, ast.Name)]
                bound |= {(name, other) for name in made for other in names if other.split("[")[0] in roots}
    return any((one, other) in bound for one in names for other in names)


def _zips(node: ast.expr) -> bool:
    return any(isinstance(one, ast.Name) and one.id == "zip" for one in ast.walk(node))


def _holders(memories: set[int | None]) -> int:
    """How many dictionaries, lists and closures hold tensors in these memories."""
    alive = [one for one in gc.get_objects() if isinstance(one, torch.Tensor) and storage_key(one) in memories]
    kinds = (dict, list, tuple, set, CellType)
    holders = (one for tensor in alive for one in gc.get_referrers(tensor) if isinstance(one, kinds))
    return len({id(one) for one in holders} - {id(alive)})


def _asks(func: Any) -> bool:
    """Whether a call only reads an attribute."""
    return getattr(func, "__name__", "") == "__get__"
