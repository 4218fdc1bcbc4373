"""Tells kinds of failure apart by the state of the graph and the refused call, not by the words of the message."""

from __future__ import annotations

import bisect
import inspect
import numbers
from collections.abc import Iterable
from types import FrameType
from typing import Any

import torch

from .. import wire
from ..engine import functions, graph
from ..engine.refused import can_have_gradient, is_real
from ..engine.taps import parameters
from ..instruments.state import State
from ..program.frames import frames_of
from ..refused import as_instance, sent
from ..refused.flagged import computed
from .absent import giver, reads_gradient
from .carriers import held, plain
from .given import refused_parameters
from .missing import empty, missing
from .origins import INSIDE
from .refusals import by_checkpoint, by_recomputation, by_reducer, by_script

_MESSAGE = 4000
_ONCE = ("Error", "NotImplemented")
"""The nodes that @once_differentiable, and fused operations, leave in the graph of a derivative: they only fail."""


def failure(error: BaseException, run: State) -> wire.Failure:
    """The failure record of `error`; its kind stays '' where this run's instruments cannot tell."""
    chain = _deepest(error)
    raw = run.frames.of_traceback(chain.__traceback__) or run.frames.of_traceback(error.__traceback__)
    backward = _backward_frame(chain)
    kind = _kind(chain, run, backward)
    if run.tracer is not None:
        run.plain = plain(chain.__traceback__, run.frames)
    refusals = run.refusals
    function = refusals.function if refusals is not None and refusals.error is chain else ""
    function = function or ("torch.nn.Parameter" if _makes_parameter(chain) else "")
    function = function or (sent.REFUSES.__name__ if sent.refused(frames_of(chain)) else "")
    oldest, concerned = _graph_of(run) if backward is not None else (0, ())
    return wire.Failure(
        type(error).__name__, str(error)[:_MESSAGE], run.frames.resolve(raw), kind,
        in_backward=backward is not None,
        function=function,
        oldest=oldest, concerned=concerned,
        scripted=not kind and by_script(error, run.frames, backward=backward is not None),
    )  # fmt: skip


def _graph_of(run: State) -> tuple[int, tuple[int, ...]]:
    """How many backward calls had ended when the failing one's graph was begun, and whose parameters it leads to."""
    failing, ends = run.taps.current, run.taps.ends
    if failing is None:
        return 0, ()
    nodes = set(graph.walk(failing.roots))
    if any(child not in nodes for node in nodes for child in graph.children(node)):
        return 0, ()  # too large to be seen whole
    leaves = set(map(id, graph.leaves(nodes)))
    concerned = tuple(index for index, mine in enumerate(run.taps.owned) if mine & leaves)
    return bisect.bisect_right(ends, min(graph.ages(nodes), default=0)), concerned


def _deepest(error: BaseException) -> BaseException:
    """The exception that started it, behind `raise ... from` wrappers of launchers."""
    while error.__cause__ is not None and error.__cause__.__traceback__ is not None:
        error = error.__cause__
    return error


def _backward_frame(error: BaseException) -> FrameType | None:
    """The frame of torch's backward or grad that the exception came through."""
    found = None
    for frame in frames_of(error):
        if frame.f_code.co_filename == torch.autograd.__file__ and frame.f_code.co_name in ("backward", "grad"):
            found = frame
    return found


def _kind(error: BaseException, run: State, backward: FrameType | None) -> str:
    if backward is not None:
        return _in_backward(error, run, backward)
    if by_reducer(error, None):
        return "reducer_refused"
    if run.refusals is not None and run.refusals.error is error:
        kind, target = run.refusals.kind, run.refusals.target
        if target is not None:
            run.found = _of_refused(kind, target, run)
            run.copied = held(error, run.frames)
        if kind:
            return str(kind)
    refused = refused_parameters(error, run)
    if refused:
        run.found = _nonleaf(run, [("", tensor) for tensor in refused])
        return "nonleaf_gradient"
    if kind := _without_gradient(error, run):
        return kind
    if kind := _by_torch(error, run):
        return kind
    if isinstance(error, AttributeError) and error.name == "backward" and _is_number(error.obj):
        run.found = run.origins.number(error.obj) if run.origins is not None else ()
        return "no_graph"
    return ""


def _in_backward(error: BaseException, run: State, frame: FrameType) -> str:
    if by_checkpoint(error):
        return "checkpoint_refused"
    roots = run.taps.current.roots if run.taps.current is not None else ()
    if kind := _backward_kind(run, frame):
        return kind
    if kind := _given_by_function(run):
        return kind
    if by_recomputation(error):
        return "recomputed_otherwise"
    if any(type(node).__name__ in _ONCE for node in graph.walk(roots)):
        return "differentiated_once"
    return "reducer_refused" if by_reducer(error, roots) else ""


def _given_by_function(run: State) -> str:
    """The kind of a failure over what a backward of the user's own gave: too few gradients, or one of another shape."""
    last = run.functions
    if last is None:
        return ""
    kind, seen = "gradients_miscounted", last.miscounted()
    if not seen:
        kind, seen = "gradient_misshapen", last.misshapen()
    if not seen or not last.end:
        return ""
    run.found = (wire.Origin(kind.rpartition("_")[2], run.frames.resolve(last.end), node=seen),)
    return kind


def _without_gradient(error: BaseException, run: State) -> str:
    """The kind of a failure over a gradient that is None."""
    without = missing(error, run.frames, run.overlay.read)
    results = [(name, tensor) for name, tensor in without if not graph.is_leaf(tensor)]
    if results:
        run.found = _nonleaf(run, results)
        return "nonleaf_gradient"
    if without:
        run.found = tuple(o for _, tensor in without for o in run.origins.made(tensor)) if run.origins else ()
        return "unused_input"
    if found := empty(error, run.frames, run.overlay.read):
        run.found = tuple(wire.Origin("empty", (place,)) for place, _ in found)
        owned = set().union(*run.taps.owned)
        watched = run.origins is not None and run.tracer is not None
        tensors = [one for _, one in found if watched and isinstance(one, torch.Tensor)]
        for tensor in filter(run.tracer.never_reached, tensors) if tensors else ():
            run.found += run.origins.written(tensor) if id(tensor) in owned else ()
            run.found += run.origins.unreached(tensor, run.tracer.roots)
        return "gradient_none"
    if run.origins is not None and (call := giver(error, run.frames, run.overlay.read, run.origins.gaps.places)):
        run.found = run.origins.gap(call)
        return "unused_input"
    read = run.overlay.read
    reads = run.origins.gaps.reads if run.origins is not None else {}
    names = {one: name for one in reads if (name := reads_gradient(one, read))}
    if place := giver(error, run.frames, read, list(names)):
        if (made := reads[place]) is not None and run.tracer is not None:
            run.found = (wire.Origin("nonleaf", run.tracer.made_by(made), names[place], made.name()),)
            return "nonleaf_gradient"
        run.found = (wire.Origin("empty", place),)
        return "gradient_none"
    return ""


def _by_torch(error: BaseException, run: State) -> str:
    """The kind of what a function of torch's refuses that is written in Python; '' for another failure.

    What sends to another process, a result with its graph; a module, a tensor under the name of one of its parameters;
    a function of autograd, to be called as an instance, or to save what is no tensor; a parameter, whole numbers.
    """
    frames = frames_of(error)
    if not frames:
        return ""
    if _makes_parameter(error):
        return "no_graph"
    if results := sent.refused(frames):
        traced = results if run.tracer is not None else []
        run.found = tuple(wire.Origin("nonleaf", run.tracer.made(one), node=path) for path, one in traced)
        return "conversion"
    if run.saving is not None and run.saving.refused(frames[-1]):
        run.found = (wire.Origin("plainly_saved", run.frames.resolve(run.saving.place), node=run.saving.which),)
        return "saved_no_tensor"
    code, given = frames[-1].f_code, frames[-1].f_locals
    if code is as_instance.CALL.__code__:
        run.found = _defined(type(given["self"]), run)
        return "legacy_function"
    # By name: a reference puts a function of its own before it.
    if (code.co_name, code.co_filename) != ("__setattr__", torch.nn.modules.module.__file__):
        return ""
    assigned = isinstance(given.get("value"), torch.Tensor) and given.get("name") in given["self"]._parameters
    return "parameter_assigned" if assigned else ""


def _makes_parameter(error: BaseException) -> bool:
    """Whether what failed is that a parameter was to be made of numbers that can have no gradient."""
    frames = frames_of(error)
    frame = frames[-1] if frames else None
    # By name: a reference puts a function of its own before it.
    if frame is None or (frame.f_code.co_name, frame.f_code.co_filename) != ("__new__", torch.nn.parameter.__file__):
        return False
    data, flag = frame.f_locals.get("data"), frame.f_locals.get("requires_grad")
    return bool(flag) and isinstance(data, torch.Tensor) and not can_have_gradient(data)


def _defined(kind: type, run: State) -> tuple[wire.Origin, ...]:
    """Where the forward of a function stands whose instance was called."""
    static = as_instance.has_static(kind)
    code = getattr(inspect.unwrap(getattr(kind, "forward")), "__code__", None)  # noqa: B009  no type has it
    if code is None or not run.frames.owns(code):
        return ()
    return (wire.Origin("static" if static else "legacy", run.frames.resolve(((code, 0),)), kind.__name__),)


def _is_number(value: Any) -> bool:
    """Whether a value is a number of Python's, or numpy's, that may have come out of a tensor."""
    return isinstance(value, numbers.Number) or type(value).__module__ == "numpy"


def _nonleaf(run: State, tensors: list[tuple[str, torch.Tensor]]) -> tuple[wire.Origin, ...]:
    """Where tensors that are no leaves were made."""
    if run.tracer is None:
        return ()
    made = [wire.Origin("nonleaf", run.tracer.made(tensor), name, _node(tensor)) for name, tensor in tensors]
    return tuple(dict.fromkeys(made))


def _behind(target: torch.Tensor, run: State) -> tuple[wire.Origin, ...]:
    """The parameters of which a module computes a tensor, by the names that it has for them and for the tensor."""
    frames = frames_of(run.refusals.error)
    frame = next((one for one in reversed(frames) if run.frames.owns(one.f_code)), None)
    found = computed(run.frames, frame, target) if frame is not None else None
    return tuple(wire.Origin("behind", (), name, found[1]) for name in found[2]) if found is not None else ()


def _node(tensor: torch.Tensor) -> str:
    node = graph.made_by(tensor)
    return node.name() if node is not None else ""


def _backward_kind(run: State, frame: FrameType) -> str:
    values = frame.f_locals
    outputs = values.get("tensors", values.get("outputs"))
    roots = _several(outputs)
    tensors = [root for root in roots if isinstance(root, torch.Tensor)]
    inputs = values.get("inputs")
    given = tuple(_several(inputs))
    if not given and run.taps.current is not None:
        given = run.taps.current.inputs  # they were a generator, which torch has used up
    lost = [t for t in tensors if not t.requires_grad and graph.is_leaf(t)]
    if tensors and all(graph.is_leaf(t) and not any(t is one for one in given) for t in tensors) and given:
        lost = tensors  # a loss that was cut and then flagged has no more of a graph
    if lost:
        run.found = _without_graph(run, lost, given, frame)
        return "no_graph"
    if run.taps.current is None and (kind := _no_number(run, tensors, values)):
        return kind
    if run.tracer is not None and run.tracer.violation is not None:
        return "saved_tensor_modified"
    if run.tracer is not None and run.taps.current is not None and run.tracer.freed():
        return "freed_graph"
    if inputs is None:
        return ""
    unused = _unused(roots, given)
    if unused and run.origins is not None:
        run.found = run.origins.unused(unused, roots)
        if run.found and len(unused) < len(given) and run.taps.current is not None:
            run.found += (wire.Origin("none_among", run.frames.resolve(run.taps.current.stack)),)
    return "unused_input" if unused else ""


def _several(given: Any) -> list[Any]:
    """What a backward was given, one or several; nothing where torch refuses it for what it is, as a module."""
    if isinstance(given, torch.Tensor):
        return [given]
    return list(given) if isinstance(given, Iterable) else []


def _no_number(run: State, tensors: list[torch.Tensor], values: dict[str, Any]) -> str:
    """The kind of a backward that does not start at one real number; '' where nothing speaks against its roots."""
    if _shape_differs(tensors, values.get("grad_tensors", values.get("grad_outputs"))):
        return "nonscalar_backward"
    losses = [one for one in tensors if one.is_complex()]
    run.found = _complex(run, losses) if losses else run.found
    return "complex_loss" if losses else ""


def _complex(run: State, losses: list[torch.Tensor]) -> tuple[wire.Origin, ...]:
    """Where complex losses were made; where an optimizer is to make them small, also what is squared in them."""
    if run.tracer is None:
        return ()
    made = [wire.Origin("real" if is_real(one) else "imaginary", run.tracer.made(one)) for one in losses]
    squares = [wire.Origin("squared", run.tracer.made_by(one)) for one in graph.squares(losses)]
    return tuple(dict.fromkeys((*squares, *made) if run.taps.optimizers else made))


def _without_graph(
    run: State, lost: list[torch.Tensor], given: tuple[Any, ...], frame: FrameType
) -> tuple[wire.Origin, ...]:  # fmt: skip
    """Where the graph of tensors was lost, or why there never was one; `given`: by what a derivative is taken.

    One of gradients is a second one, and needs a graph of the first. What is frozen has no part in one by data.
    """
    if run.origins is None:
        return ()
    if given and (gradients := run.origins.gradients(lost)):
        return gradients
    owned = (tensor for optimizer in run.taps.optimizers for tensor in parameters(optimizer))
    found, plain = run.origins.of(lost), _plain(run, given or owned)
    inside = tuple(one for one in found if one.kind == INSIDE)
    if not found and (place := functions.inside(run.frames, frame)):  # nothing within a backward is heard
        inside = (wire.Origin(INSIDE, run.frames.resolve(place)),)
    if inside and any(one.requires_grad for one in given):
        return inside
    found = tuple(one for one in found if one.kind != INSIDE)  # a whole backward in there may reach what is trained
    by_data = bool(given) and not any(isinstance(one, torch.nn.Parameter) for one in given)
    cut = tuple(one for one in found if not (by_data and one.kind in ("frozen", "born")))
    return cut or plain or found or run.origins.numbers(lost)


def _plain(run: State, tensors: Iterable[Any]) -> tuple[wire.Origin, ...]:
    """Where those of some tensors were made that ask for no gradient."""
    plain = [one for one in tensors if isinstance(one, torch.Tensor) and not one.requires_grad]
    made = (run.origins.made(tensor) for tensor in plain) if run.origins is not None else ()
    return tuple(dict.fromkeys(wire.Origin("plain", one.stack) for found in made for one in found))


def _shape_differs(tensors: list[torch.Tensor], given: Any) -> bool:
    """Whether some root has more than one element and no gradient of its shape was given."""
    gradients = [one if isinstance(one, torch.Tensor) else None for one in _several(given)]
    gradients += [None] * (len(tensors) - len(gradients))
    return any(
        tensor.numel() != 1 if gradient is None else tensor.shape != gradient.shape
        for tensor, gradient in zip(tensors, gradients, strict=False)
    )


def _unused(roots: list[Any], inputs: tuple[Any, ...]) -> list[torch.Tensor]:
    """The inputs of autograd.grad that are not in the graph at all."""
    nodes = set(graph.walk(roots))
    reached = nodes.union(map(id, graph.leaves(nodes)))
    found = (tensor for tensor in inputs if isinstance(tensor, torch.Tensor))
    return [tensor for tensor in found if graph.made_by(tensor) not in reached and id(tensor) not in reached]


def _of_refused(kind: str, target: torch.Tensor, run: State) -> tuple[wire.Origin, ...]:
    """Where a tensor came from that torch refused."""
    if kind == "view_modified" and run.origins is not None:
        return run.origins.made(target)
    if kind == "leaf_modified" and run.origins is not None:
        leaf = target if target._base is None else target._base
        owned = isinstance(leaf, torch.nn.Parameter) or any(id(leaf) in one for one in run.taps.owned)
        return () if owned else run.origins.begun(leaf)
    if kind == "inference_tensor" and run.origins is not None:
        return run.origins.of([target]) or run.origins.inferred(target)
    if kind == "hook_refused":
        return run.origins.of([target]) if run.origins is not None else ()
    if kind == "nonleaf_gradient":
        return _nonleaf(run, [("", target)]) + _behind(target, run)
    return _nonleaf(run, [("", target)]) if kind == "conversion" else ()
