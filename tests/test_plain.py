"""A run with every step undone hears of less, where less says the same: of calls, and of whole backwards."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch.utils.checkpoint import checkpoint

from autofix.core.model import Reading, Treatment
from autofix.experiments.spec import RunSpec
from autofix.experiments.telling import RUNNING, TRACING, Telling, long_way
from autofix.probe import wire
from autofix.probe.engine.operators import Dispatch
from autofix.probe.engine.plain import Plainly, known

pytestmark = pytest.mark.torch
T = torch.Tensor
DRAWS = (
    torch.normal, torch.multinomial, torch.bernoulli, torch.randn, torch.rand_like, torch.randperm, torch.dropout,
    torch.rrelu, torch.lstm, torch.poisson, T.normal_, T.bernoulli, torch.nn.functional.dropout,
    torch.nn.functional.scaled_dot_product_attention, torch.nn.functional.gumbel_softmax,
)  # fmt: skip
WRITES = (T.add_, T.zero_, T.__setitem__, T.copy_, torch.relu_, T.data.__set__, torch.nn.init.zeros_)
PLAIN = (torch.nn.functional.linear, torch.tanh, T.sub, T.exp, T.size, T.sum, torch.cat, T.expand)
TAKES = (T.item, T.__bool__, T.__float__)


@pytest.mark.parametrize("func", [*DRAWS, *WRITES, *TAKES], ids=lambda func: getattr(func, "__name__", "set"))
def test_what_draws_writes_or_takes_a_number_is_heard_of_op_by_op(func: Any) -> None:
    assert known(func) is None


@pytest.mark.parametrize("func", PLAIN, ids=lambda func: func.__name__)
def test_what_only_computes_is_not(func: Any) -> None:
    assert known(func) is not None


class _Ops(Dispatch):
    def __init__(self) -> None:
        super().__init__()
        self.heard: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.heard.append(func._opname)
        return func(*args, **(kwargs or {}))


@contextlib.contextmanager
def watched(*leaves: torch.Tensor) -> Iterator[tuple[_Ops, Plainly, list[str]]]:
    """Ops heard of, who has others pass by, and the operators of which that is told."""
    push = torch._C._autograd._push_saved_tensors_default_hooks
    told: list[str] = []
    mine = set(map(id, leaves))
    plainly = Plainly(lambda given: not mine.isdisjoint(map(id, given)), lambda func, _args: told.append(func._opname))
    try:
        with _Ops() as ops, plainly:
            yield ops, plainly, told
    finally:
        torch._C._autograd._push_saved_tensors_default_hooks = push


def call(loss: torch.Tensor, *, create: bool = False) -> Any:
    """A backward call from a loss, as far as it is asked about."""
    return SimpleNamespace(roots=(loss,), create=create)


def test_a_use_of_a_leaf_is_told_without_its_ops() -> None:
    weight, other = torch.ones(3, 4, requires_grad=True), torch.ones(2, 4)
    with watched(weight) as (ops, _, told):
        torch.nn.functional.linear(other, weight).tanh().sum()
        torch.bernoulli(other / 2)
    assert told == ["linear"]
    assert ops.heard == ["bernoulli"]


def test_what_is_made_of_several_operators_is_heard_where_it_takes_a_leaf() -> None:
    weight = torch.ones(4, 3, requires_grad=True)
    with watched(weight) as (ops, _, told):
        weight.t().reshape(12)
        weight.reshape(3, 4)
    assert not told or told == ["t"]
    assert "view" in ops.heard


def test_what_runs_in_a_transform_is_heard() -> None:
    weight = torch.ones(3)
    with watched(weight) as (ops, _, told):
        torch.func.grad(lambda given: given.exp().sum())(weight)
    assert {"exp", "sum"} <= set(ops.heard)
    assert not told


class _Twice(torch.autograd.Function):
    @staticmethod
    def forward(_ctx: Any, value: torch.Tensor) -> torch.Tensor:
        return value * 2

    @staticmethod
    def backward(_ctx: Any, *gradients: torch.Tensor) -> Any:
        return gradients[0] * torch.rand_like(gradients[0])


def _hooked(weight: torch.Tensor) -> torch.Tensor:
    made = weight * 2
    made.register_hook(lambda gradient: gradient * torch.rand_like(gradient))
    return made


def _again(weight: torch.Tensor) -> torch.Tensor:
    made: torch.Tensor = checkpoint(lambda value: torch.dropout(value, 0.5, True), weight, use_reentrant=False)
    return made


@pytest.mark.parametrize("compute", [_Twice.apply, _hooked, _again], ids=["function", "hook", "checkpoint"])
def test_a_backward_in_which_code_of_pythons_runs_is_heard(compute: Callable[[torch.Tensor], torch.Tensor]) -> None:
    weight = torch.ones(3, requires_grad=True)
    with watched() as (ops, plainly, _):
        loss = compute(weight).sum()
        ops.heard.clear()
        with plainly.backward(call(loss)):
            loss.backward()
    assert ops.heard


def test_a_backward_of_torchs_own_nodes_is_not() -> None:
    weight = torch.ones(3, requires_grad=True)
    with watched() as (ops, plainly, _):
        loss = weight.exp().sum()
        ops.heard.clear()
        with plainly.backward(call(loss)):
            loss.backward()
        silent = not ops.heard
        with plainly.backward(call(loss.exp(), create=True)):
            torch.ones(2) + 1
    assert silent
    assert weight.grad is not None


def told_of(stage: str, sign: wire.Sign, awaited: str = "") -> str:
    """What is said of a sign of life in a stage."""
    said: list[str] = []
    probe: Any = SimpleNamespace(heard=None, awaited=awaited)
    Telling(probe, said.append)(stage, calls=2, following="trying edits" if stage == TRACING else "")
    probe.heard(sign)
    return said[-1]


def test_a_script_that_has_not_failed_yet_is_not_said_to_be_traced_next() -> None:
    assert told_of(RUNNING, wire.Sign(1, 1, 1, "a.py", 3, 4.0)) == (
        "running the script: 1 of 2 backward calls, at a.py:3 after 4 s"
    )
    assert told_of(TRACING, wire.Sign(1, 1, 1, "a.py", 3, 4.0)).endswith("next: trying edits")


def test_the_runs_of_one_edit_are_told_apart() -> None:
    undone = str(RunSpec.edited({Path("a.py"): b""}, Treatment.FROZEN))
    assert told_of("judging the edit", wire.Sign(12, 3, 2, "a.py", 3, 4.0), undone) == (
        "judging the edit: run 12, the edited script with its parameters held still, 3 backward calls, "
        "at a.py:3 after 4 s"
    )
    assert str(RunSpec.reference(Reading())) == "the code beyond its failure"


def test_what_comes_before_the_first_backward_is_said_to_make_a_repair_long() -> None:
    early, late = (told_of(RUNNING, wire.Sign(1, 0, 0, "a.py", 3, seconds)) for seconds in (4.0, 40.0))
    assert early == "running the script: no backward call yet, at a.py:3 after 4 s"
    assert late.startswith("running the script: no backward call yet, at a.py:3 after 40 s; a repair is quicker if")


def test_the_report_says_so_where_runs_do_not_share_it() -> None:
    slow = wire.Trace(1, "failed", seconds=30.0, before=29.0)
    assert "after 29 s" in long_way(slow, wire.Trace(2, "failed"))
    assert not long_way(slow, wire.Trace(2, "failed", resumed=29.0))
    assert not long_way(wire.Trace(1, "failed", seconds=60.0, before=12.0), wire.Trace(2, "failed"))
