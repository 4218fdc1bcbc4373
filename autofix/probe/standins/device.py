"""Runs on the CPU what a script puts on CUDA: tensors, modules, files, process groups, legacy types.

A move between devices makes a new tensor, on which autograd depends (a leaf that is moved is a leaf no more), so a
redirected move copies wherever the real one would have.
"""

from __future__ import annotations

import contextlib
import linecache
import re
import sys
import types
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils import _device

from ..engine import graph

_MARK = "_autofix_on_gpu"
_NOTE = "CUDA was asked for: what the script puts there stayed on the CPU"
_TYPES = ("Float", "Double", "Half", "BFloat16", "Byte", "Char", "Short", "Int", "Long", "Bool")
_UNLESS = re.compile(r"if\s+(.*\band\s+)?not\s+(\w+\.)*is_available\(\)\s*:")
_LEAVES = re.compile(r":\s*(raise\b|(sys\.|os\._)?exit\b|quit\b)")
_NOTHING = (
    "synchronize", "empty_cache", "ipc_collect", "init", "reset_peak_memory_stats",
    "reset_max_memory_allocated", "set_per_process_memory_fraction", "memory_summary",
)  # fmt: skip


def is_gpu(device: Any) -> bool:
    """Whether a device argument names an accelerator: 'cuda', 'cuda:1', torch.device, or a bare number."""
    if isinstance(device, torch.device):
        return device.type == "cuda"
    if isinstance(device, str):
        return device.partition(":")[0] == "cuda"
    return isinstance(device, int) and not isinstance(device, bool) and device >= 0


class OnCpu(TorchFunctionMode):
    """The mode that turns each call which names CUDA into the same call on the CPU."""

    def __init__(self, note: Callable[[str], None]) -> None:
        super().__init__()
        self._note = note
        self._patched = False
        tensor = torch.Tensor
        self._calls: dict[Any, Callable[..., Any]] = {
            tensor.cuda: self._cuda, tensor.cpu: self._cpu, tensor.to: self._to,
            tensor.pin_memory: lambda tensor, *args, **kwargs: tensor,
        }  # fmt: skip

    def __enter__(self) -> Any:
        if not self._patched:  # it steps aside, too
            self._patch()
        self._patched = True
        return super().__enter__()

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        replaced = self._calls.get(func)
        if replaced is not None:
            return replaced(*args, **kwargs)
        if kwargs.get("pin_memory"):
            kwargs = {**kwargs, "pin_memory": False}
        if "device" in kwargs and is_gpu(kwargs["device"]):
            self._note(_NOTE)
            return _marked(func(*args, **{**kwargs, "device": "cpu"}))
        return func(*args, **kwargs)

    # Moves ----------------------------------------------------------------------------------------------------------

    def _cuda(self, tensor: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        self._note(_NOTE)
        return _moved(tensor, tensor)

    def _cpu(self, tensor: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        # What a script brings back was there: the copy must not share memory with what training goes on to write.
        return tensor.clone()

    def _to(self, tensor: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        place = next((n for n, word in enumerate(args[:1]) if is_gpu(word)), None)
        if place is not None:
            args = ("cpu", *args[1:])
        elif is_gpu(kwargs.get("device")):
            kwargs = {**kwargs, "device": "cpu"}
        else:
            result = tensor.to(*args, **kwargs)
            back = any(isinstance(word, (str, torch.device)) for word in (*args[:1], kwargs.get("device")))
            return result.clone() if back and result is tensor else result
        self._note(_NOTE)
        return _moved(tensor, tensor.to(*args, **kwargs))

    # What is not a call on tensors ----------------------------------------------------------------------------------

    def _patch(self) -> None:
        cuda: Any = torch.cuda
        cuda.is_available = lambda: _insists(sys._getframe(1))
        cuda._lazy_init = lambda: None
        for name in _NOTHING:
            setattr(cuda, name, lambda *args, **kwargs: None)
        cuda.set_device = lambda *args, **kwargs: self._note(_NOTE)
        cuda.current_device = lambda: 0
        cuda.get_device_name = lambda *args: "cpu"
        cuda.get_device_capability = lambda *args: (8, 0)
        cuda.get_device_properties = lambda *args: types.SimpleNamespace(
            name="cpu", total_memory=1 << 34, major=8, minor=0, multi_processor_count=1
        )
        cuda.mem_get_info = lambda *args: (1 << 34, 1 << 34)
        cuda.Event = cuda.Stream = _Inert
        cuda.current_stream = cuda.default_stream = _Inert
        cuda.stream = cuda.device = cuda.device_of = lambda *args: contextlib.nullcontext()
        for name in _TYPES:
            setattr(cuda, f"{name}Tensor", getattr(torch, f"{name}Tensor"))
        self._patch_defaults()
        self._patch_modules()
        self._patch_files()
        self._patch_amp()
        self._patch_groups()

    def _patch_defaults(self) -> None:
        """What is made where CUDA is the default device, for a block or for good, counts as being there."""
        context, makers = _device.DeviceContext, _device._device_constructors()
        made, called = context.__init__, context.__torch_function__
        space: Any = torch
        legacy = torch.set_default_tensor_type

        def init(this: Any, device: Any) -> None:
            there = is_gpu(device)
            made(this, "cpu" if there else device)
            setattr(this, _MARK, there)
            if there:
                self._note(_NOTE)

        def call(this: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            there = getattr(this, _MARK, False) and func in makers and (kwargs or {}).get("device") is None
            result = called(this, func, types, args, kwargs)
            return _marked(result) if there else result

        def set_type(kind: Any) -> None:
            name = kind if isinstance(kind, str) else torch.typename(kind)
            legacy(name.replace(".cuda.", "."))
            torch.set_default_device("cuda" if ".cuda." in name else None)

        context.__init__, context.__torch_function__ = init, call
        space.set_default_tensor_type = set_type

    def _patch_modules(self) -> None:
        """A module keeps its parameters when it moves: they count as being there from then on."""
        module: Any = torch.nn.Module
        for name in ("cuda", "to"):
            moving = getattr(module, name)

            def move(this: Any, *args: Any, _moving: Any = moving, _name: str = name, **kwargs: Any) -> Any:
                result = _moving(this, *args, **kwargs)
                if _name == "cuda" or any(map(is_gpu, (*args[:1], kwargs.get("device")))):
                    self._note(_NOTE)
                    for tensor in (*this.parameters(), *this.buffers()):
                        _marked(tensor)
                return result

            setattr(module, name, move)

    def _patch_files(self) -> None:
        """What was saved on a GPU is loaded here; generators are the CPU's."""
        space: Any = torch
        load, generator = torch.load, torch.Generator

        def loaded(f: Any, map_location: Any = None, *args: Any, **kwargs: Any) -> Any:
            here = "cpu" if map_location is None or is_gpu(map_location) else map_location
            return load(f, here, *args, **kwargs)

        class OfCpu(type):
            def __call__(cls, device: Any = "cpu") -> Any:
                return generator("cpu" if is_gpu(device) else device)

            def __instancecheck__(cls, value: Any) -> bool:
                return isinstance(value, generator)

        space.load = loaded
        space.Generator = OfCpu("Generator", (), {})

    def _patch_amp(self) -> None:
        """Autocast and scalers for CUDA do nothing: the same operations, in the precision of the parameters."""
        autocast: Any = torch.amp.autocast_mode.autocast
        scaler: Any = torch.amp.grad_scaler.GradScaler
        made, scaled = autocast.__init__, scaler.__init__

        def init(this: Any, device_type: str, *args: Any, **kwargs: Any) -> None:
            if device_type != "cuda":
                made(this, device_type, *args, **kwargs)
                return
            self._note("automatic mixed precision for CUDA was left out: the runs compute in full precision")
            made(this, "cpu", torch.bfloat16, enabled=False)

        def scale(this: Any, device: str = "cuda", *args: Any, **kwargs: Any) -> None:
            scaled(this, "cpu" if device == "cuda" else device, *args, **kwargs)

        autocast.__init__, scaler.__init__ = init, scale

    def _patch_groups(self) -> None:
        """NCCL becomes gloo, and a module that is distributed over GPUs has none to name."""
        if not torch.distributed.is_available():
            return
        space: Any = torch.distributed
        start = space.init_process_group

        def init(backend: Any = None, *args: Any, **kwargs: Any) -> Any:
            if backend is None or "nccl" in str(backend).lower():
                self._note("the process group ran on gloo instead of NCCL")
                backend = "gloo"
            kwargs.pop("device_id", None)
            return start(backend, *args, **kwargs)

        space.init_process_group = space.distributed_c10d.init_process_group = init
        parallel: Any = torch.nn.parallel.DistributedDataParallel
        made = parallel.__init__

        def wrap(this: Any, module: Any, device_ids: Any = None, output_device: Any = None, **kwargs: Any) -> None:
            made(this, module, **kwargs)

        parallel.__init__ = wrap


def _insists(frame: FrameType) -> bool:
    """Whether the line that asks for CUDA refuses to go on without it: an assertion, or a test that leaves."""
    first = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
    following = linecache.getline(frame.f_code.co_filename, frame.f_lineno + 1).strip()
    return first.startswith("assert ") or bool(_UNLESS.match(first) and _LEAVES.search(f"{first}\n{following}"))


class _Inert:
    """A stream or event of a device that is not there."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def elapsed_time(self, other: Any) -> float:
        return 0.0

    def query(self) -> bool:
        return True

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **kwargs: None


def _marked(tensor: Any) -> Any:
    if isinstance(tensor, torch.Tensor):
        tensor.__dict__[_MARK] = True
    return tensor


def _moved(tensor: torch.Tensor, result: torch.Tensor) -> torch.Tensor:
    """`tensor` on the GPU: a new tensor, unless it is there already; what was computed is taken to be."""
    there = _MARK in tensor.__dict__ or not graph.is_leaf(tensor)
    if result is tensor and not there:
        result = tensor.clone()
    return _marked(result)
