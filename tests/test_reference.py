"""The reference run copes with what training scripts use: closures, sparse gradients, scalers, checkpoints, hooks."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from sampled import one_in
from scripts import Change, Scripts
from torch.overrides import TorchFunctionMode

from autofix.core.model import Applicability, Effect
from autofix.probe.reference.perturb import Perturb

pytestmark = pytest.mark.torch

HEAD = """\
import torch

torch.manual_seed(1)
trunk, left, right = (torch.nn.Linear(3, 3) for _ in range(3))
params = [*trunk.parameters(), *left.parameters(), *right.parameters()]
"""
LOSSES = """\
    a, b = left(h).pow(2).mean(), right(h).pow(2).mean()
    opt.zero_grad()
    a.backward()
    b.backward()
    opt.step()
"""
SGD = "opt = torch.optim.SGD(params, lr=0.1)\nfor step in range(4):\n    x = torch.randn(5, 3)\n"
PLAIN = "    h = torch.tanh(trunk(x))\n"
SCRIPTS = {
    "closure": """\
opt = torch.optim.LBFGS(params, lr=0.1, max_iter=3)
for step in range(4):
    x = torch.randn(5, 3)
    def closure():
        opt.zero_grad()
        h = torch.tanh(trunk(x))
        a, b = left(h).pow(2).mean(), right(h).pow(2).mean()
        a.backward()
        b.backward()
        return a + b
    opt.step(closure)
""",
    "sparse gradients": """\
emb = torch.nn.Embedding(7, 3, sparse=True)
opt = torch.optim.SGD([*params, *emb.parameters()], lr=0.1)
for step in range(4):
    h = torch.tanh(trunk(emb(torch.randint(0, 7, (5,)))))
"""
    + LOSSES,
    "scaler and fused step": """\
scaler = torch.amp.GradScaler("cpu")
opt = torch.optim.Adam(params, lr=0.1, fused=True)
for step in range(4):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        h = torch.tanh(trunk(torch.randn(5, 3)))
        a, b = left(h).float().pow(2).mean(), right(h).float().pow(2).mean()
    opt.zero_grad()
    scaler.scale(a).backward()
    scaler.scale(b).backward()
    scaler.step(opt)
    scaler.update()
""",
    "checkpoint": SGD
    + """\
    h = torch.utils.checkpoint.checkpoint(lambda t: torch.tanh(trunk(t)), x, use_reentrant=False).exp()
"""
    + LOSSES,
    "double backward": SGD
    + """\
    x.requires_grad_()
    h = torch.tanh(trunk(x))
    (g,) = torch.autograd.grad(h.sum(), x, create_graph=True)
    a, b = left(h).pow(2).mean() + g.pow(2).mean(), right(h).pow(2).mean()
    opt.zero_grad()
    a.backward()
    b.backward()
    opt.step()
""",
    "hooks": SGD + PLAIN + "    h.register_hook(lambda g: g.clamp(-1, 1))\n" + LOSSES,
    "dropout": SGD + "    h = torch.nn.functional.dropout(torch.tanh(trunk(x)), 0.3)\n" + LOSSES,
}


def kept(text: str) -> Change:
    """The edit that keeps the graph of the first loss."""
    first = "scaler.scale(a)" if "scaler" in text else "a"
    return f"    {first}.backward()", f"    {first}.backward(retain_graph=True)"


LOOKED_UP = """\
import torch

torch.manual_seed(1)
emb, head = torch.nn.Embedding(7, 3, sparse=True), torch.nn.Linear(3, 1)
of_emb, of_head = (torch.optim.SGD(net.parameters(), lr=0.1) for net in (emb, head))
state = torch.zeros(8, 3)
for step in range(6):
    state = 0.5 * state + emb(torch.randint(0, 7, (8,)))
    loss = (head(state) - 1).pow(2).mean()
    of_emb.zero_grad()
    of_head.zero_grad()
    loss.backward()
    of_emb.step()
    of_head.step()
"""


# A step of Adam moves each row that a sparse gradient lists, whatever it is sent.
IN_MOMENTUM = LOOKED_UP.replace(
    "(torch.optim.SGD(net.parameters(), lr=0.1) for net in (emb, head))",
    "torch.optim.SparseAdam(emb.parameters()), torch.optim.Adam(head.parameters())",
)
SPARSE_WEIGHT = """\
import torch

torch.manual_seed(1)
at = torch.tensor([[0, 1, 2, 3, 0, 5], [1, 2, 3, 4, 1, 0]])
weight = torch.nn.Parameter(torch.sparse_coo_tensor(at, torch.randn(6), (6, 6)))
head, seen = torch.nn.Linear(3, 1), torch.eye(6).to_sparse()
opt = torch.optim.SGD([weight, *head.parameters()], lr=0.1)
emb = lambda x: torch.sparse.mm(weight, torch.sparse.mm(seen, x))
state = torch.zeros(6, 3)
for step in range(6):
    state = 0.5 * state + emb(torch.randn(6, 3))
    loss = (head(state) - 1).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


@pytest.mark.parametrize("text", [LOOKED_UP, IN_MOMENTUM, SPARSE_WEIGHT])
def test_gradients_and_parameters_may_be_sparse(script: Scripts, text: str) -> None:
    train = script(text)
    right = train.verdict(("0.5 * state", "0.5 * state.detach()"))
    assert (right.applicability, right.effect) == (Applicability.SAFE, Effect.TRUNCATED)
    wrong = train.verdict(("0.5 * state + emb", "0.5 * state.detach() + 0.9 * emb"))
    assert wrong.applicability is Applicability.UNSAFE


BY_HAND = """\
import torch

torch.manual_seed(1)
x, y = torch.randn(8, 3), torch.randn(8, 1)
net = torch.nn.Linear(3, 1)
state = torch.zeros(1)
for step in range(6):
    out = net(x) + state
    loss = (out - y).pow(2).mean()
    STEP
    state = 0.9 * out.mean(0)
"""
BOUND_ANEW = """loss.backward()
    for p in net.parameters():
        p.data = p.data - 0.1 * p.grad
        p.grad = None"""
GIVEN = """for p, g in zip(net.parameters(), torch.autograd.grad(loss, list(net.parameters()))):
        p.data -= 0.1 * g"""


@pytest.mark.parametrize("step", [BOUND_ANEW, GIVEN])
def test_a_step_by_hand_may_bind_other_memory_or_use_what_grad_gives(script: Scripts, step: str) -> None:
    train = script(BY_HAND.replace("STEP", step))
    right = train.verdict(("0.9 * out", "0.9 * out.detach()"))
    assert (right.applicability, right.effect) == (Applicability.SAFE, Effect.TRUNCATED)
    wrong = train.verdict(("0.9 * out", "0.8 * out.detach()"))
    assert wrong.applicability is Applicability.UNSAFE


IN_PARTS = """\
import torch

torch.manual_seed(1)
data, state = torch.rand(12, 3) + 2, torch.zeros(1)
batches = [data[i : i + 4] for i in range(0, 12, 4)]
net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    for x in batches:
        x.requires_grad_(True)
        with torch.no_grad():
            x.sub_(0.5)
        out = net(x) + state
        loss = out.square().mean()
        slope, = torch.autograd.grad(loss, x, create_graph=True)
        opt.zero_grad()
        (loss + slope.square().sum()).backward()
        opt.step()
        state = 0.9 * out.mean(0)
"""


def test_leaves_may_be_parts_of_one_tensor(script: Scripts) -> None:
    """Each is put back where it is used next, not only the one that was reached last."""
    verdict = script(IN_PARTS).verdict(("0.9 * out", "0.9 * out.detach()"))
    assert (verdict.applicability, verdict.effect) == (Applicability.SAFE, Effect.TRUNCATED)


@pytest.mark.parametrize("name", one_in(3, SCRIPTS))
def test_the_kept_graph_is_identical_and_the_cut_one_is_changed(script: Scripts, name: str) -> None:
    train, keep = script(HEAD + SCRIPTS[name]), kept(SCRIPTS[name])
    right = train.verdict(keep)
    assert (right.applicability, right.effect) == (Applicability.SAFE, Effect.IDENTICAL)
    wrong = train.verdict(keep, ("left(h)", "left(h.detach())"))
    assert (wrong.applicability, wrong.effect) == (Applicability.UNSAFE, Effect.CHANGED)


WATCHED = """\
kept = {{}}
def forward(x):
    kept["h"] = h = torch.tanh(trunk(x))
    {call}
    return left(h)
opt = torch.optim.SGD(params[:4], lr=0.1)
for step in range(4):
    opt.zero_grad()
    forward(torch.randn(5, 3)).pow(2).mean().backward()
    opt.step()
    {mode}:
        forward(torch.randn(5, 3))
"""
CALLS = ("h.retain_grad()", "h.register_hook(print).remove()")


@pytest.mark.parametrize("call", CALLS)
def test_what_waits_for_a_gradient_where_no_graph_is_recorded_waits_in_vain(script: Scripts, call: str) -> None:
    train = script(HEAD + WATCHED.format(call=call, mode="with torch.no_grad()"))
    right = train.verdict((call, f"if h.requires_grad: {call}"))
    assert (right.applicability, right.effect) == (Applicability.SAFE, Effect.IDENTICAL)
    wrong = train.verdict((call, f"h = h.detach().requires_grad_(); {call}"))
    assert wrong.applicability is Applicability.UNSAFE


@pytest.mark.parametrize("call", CALLS)
def test_what_waits_for_the_gradient_of_what_was_cut_may_have_to_get_one(script: Scripts, call: str) -> None:
    text = WATCHED.format(call=call, mode="if True").replace("torch.tanh(trunk(x))", "torch.tanh(trunk(x)).detach()")
    verdict = script(HEAD + text).verdict((call, f"if h.requires_grad: {call}"))
    assert verdict.applicability is Applicability.UNSAFE


def test_what_the_reference_cannot_support_is_unknown_with_its_reason(script: Scripts) -> None:
    text = SGD + PLAIN + "    torch._C._autograd._saved_tensors_hooks_disable('none of my saved tensors')\n" + LOSSES
    verdict = script(HEAD + text).verdict(kept(text))
    assert (verdict.applicability, verdict.effect) == (Applicability.UNSAFE, Effect.UNKNOWN)
    assert "the code fails without autograd's checks, too" in verdict.summary


def test_a_module_that_is_made_costs_one_call_for_each_parameter() -> None:
    def made() -> int:
        with Calls() as calls:
            torch.nn.Sequential(*(torch.nn.Linear(4, 4) for _ in range(4)))
        return calls.count

    alone, perturb = made(), Perturb()
    try:
        assert made() <= alone + 8
    finally:
        perturb.retire()


def test_what_is_made_in_the_memory_of_a_parameter_is_known_by_what_was_known_of_that() -> None:
    perturb = Perturb()
    try:
        layer = torch.nn.Linear(3, 2)
        layer(torch.ones(1, 3))
        first, moved = layer.weight, layer.weight.detach().clone()
        seed = perturb.seed(first)
        layer.weight = torch.nn.Parameter(first.data)
        layer(torch.ones(1, 3))
        assert torch.equal(layer.weight, moved)
        # The number of what is gone may be that of the next parameter, which is not known then.
        assert (perturb.seed(layer.weight), perturb.seed(first)) == (seed, None)
    finally:
        perturb.retire()


class Calls(TorchFunctionMode):
    count = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += 1
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("filled", [0.0, 0.1, 0.6])
def test_what_a_mask_has_filled_in_moves_no_other_number_far(filled: float) -> None:
    perturb, layer = Perturb(), torch.nn.Linear(50, 1)
    try:
        given = torch.linspace(0.1, 1.0, 50).masked_fill(torch.arange(50) < 50 * filled, -1e5)[None]
        layer.weight = torch.nn.Parameter(given.clone())
        layer(torch.ones(1, 50))
        moved = (layer.weight.detach() - given)[given > 0].abs()
        assert 1e-3 < moved.mean() < 0.05
    finally:
        perturb.retire()


def test_what_no_optimizer_owns_is_moved_no_more_by_what_training_writes_into_it() -> None:
    perturb, (online, target) = Perturb(), (torch.nn.Linear(3, 2) for _ in range(2))
    optimizer = torch.optim.SGD(online.parameters(), lr=0.1)
    try:
        perturb.optimizer_grew(0, optimizer)
        perturb.meet(target.weight)

        def left_of(value: float) -> torch.Tensor:
            torch.nn.init.constant_(target.weight, value)
            target(torch.ones(1, 3))
            return target.weight.detach() - value

        target(torch.ones(1, 3))
        assert left_of(0.5).abs().min() > 0  # a later start
        perturb.step(0, optimizer)
        assert not left_of(0.6).any()
    finally:
        perturb.retire()
