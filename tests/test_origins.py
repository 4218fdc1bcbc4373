"""Origins: where a graph was lost, where a result was made, and what kind of failure torch's refusal is."""

from __future__ import annotations

import textwrap

import pytest
from scripts import Scripts

pytestmark = pytest.mark.torch

HEAD = """\
import torch
import torch.nn.functional as F
torch.manual_seed(0)
net = torch.nn.Linear(2, 1)
x = torch.randn(3, 2)
w = torch.ones(3, requires_grad=True)
"""


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("item", "a = net(x).mean().item()\ntorch.tensor([a]).sum().backward()\n"),
        ("detach", "a = net(x).detach()\na.pow(2).sum().backward()\n"),
        ("data", "a = net.weight.data * 2\n(x @ a.t()).sum().backward()\n"),
        ("rebuilt", "a = torch.tensor([net(x).sum()])\na.sum().backward()\n"),
        ("rebuilt", "a = torch.tensor([[[v.sum(), 0.0], [1.0, 0.5]] for v in net(x)])\na.sum().backward()\n"),
        ("discrete", "a = (net(x) > 0).float()\na.mean().backward()\n"),
        ("no_grad", "torch.set_grad_enabled(False)\nnet(x).mean().backward()\n"),
        ("frozen", "net.requires_grad_(False)\nnet(x).mean().backward()\n"),
        ("item", "a = float(net(x).mean())\ntorch.tensor(a).backward()\n"),
        ("constant", "a = torch.tensor(0.0)\n(a * 2).mean().backward()\n"),
        ("item", "a = net(x).mean().item()\ntorch.tensor(a * 2).backward()\n"),
    ],
)
def test_the_place_that_cut_the_graph_is_named(script: Scripts, kind: str, body: str) -> None:
    trace = script(HEAD + textwrap.dedent(body)).traced()
    assert trace.failure is not None
    assert trace.failure.kind == "no_graph"
    assert {origin.kind for origin in trace.origins} == {kind}
    assert {origin.stack[0].line for origin in trace.origins} == {HEAD.count("\n") + 1}


@pytest.mark.parametrize(("again", "used"), [("net.requires_grad_(True)", ["a = net(x)"]), ("", [])])
def test_what_was_made_while_parameters_were_off_is_named_where_they_are_on_again(
    script: Scripts, again: str, used: list[str]
) -> None:  # fmt: skip
    body = f"""\
    def switch(net, on):
        for p in net.parameters():
            p.requires_grad = on
    other = torch.nn.Linear(1, 1)
    switch(other, False)
    switch(net, False)
    a = net(x)
    {again}
    other(a).mean().backward()
    """
    text = HEAD + textwrap.dedent(body)
    trace, lines = script(text).traced(), text.splitlines()
    asleep = [one for one in trace.origins if one.used]
    assert [lines[one.used[0].line - 1] for one in asleep] == used
    assert [lines[one.again[0].line - 1] for one in asleep] == [again] * len(used)
    assert {lines[one.stack[1].line - 1] for one in trace.origins} == {"switch(other, False)", "switch(net, False)"}


def test_what_the_failure_itself_switches_on_again_was_off_when_it_came(script: Scripts) -> None:
    body = """\
    for _ in range(2):
        try:
            net.requires_grad_(False)
            loss = net(x).mean() + (0 if _ else w.sum())
            loss.backward()
        finally:
            net.requires_grad_(True)
    """
    trace = script(HEAD + textwrap.dedent(body)).traced()
    assert [(one.kind, one.used, one.again) for one in trace.origins] == [("frozen", (), ())]


def test_two_cuts_are_both_named(script: Scripts) -> None:
    body = """\
    a = net(x).detach()
    with torch.no_grad():
        b = net(x)
    (a - b).pow(2).mean().backward()
    """
    trace = script(HEAD + textwrap.dedent(body)).traced()
    assert {origin.kind for origin in trace.origins} == {"detach", "no_grad"}


def test_a_cut_before_a_graph_that_begins_anew_is_not_named(script: Scripts) -> None:
    body = """\
    a = net(x).detach().requires_grad_()
    (slope,) = torch.autograd.grad(a.exp().sum(), a)
    slope.norm().backward()
    """
    trace = script(HEAD + textwrap.dedent(body)).traced()
    assert {origin.kind for origin in trace.origins} == {"derivative"}


CHECKPOINTED = """\
from torch.utils.checkpoint import checkpoint
x.requires_grad_()
torch.autograd.grad(checkpoint(net, x, use_reentrant=True).sum(), x)
"""


RECOMPUTED = """\
from torch.utils.checkpoint import checkpoint
ways = [net, torch.nn.Sequential(net, torch.nn.Tanh())]
checkpoint(lambda x: ways.pop()(x), x, use_reentrant=False).sum().backward()
"""
FUSED = """\
q = torch.randn(1, 1, 2, 2, requires_grad=True)
attended = torch.nn.functional.scaled_dot_product_attention(q, q, q).sum()
torch.autograd.grad(attended, q, create_graph=True)[0].sum().backward()
"""
SAVING = """\
class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x, WHAT)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2
"""
LEGACY = """\
class Twice(torch.autograd.Function):
    def forward(self, x):
        return x * 2
    def backward(self, grad):
        return grad * 2
"""
SHIFTED = """\
class Shift(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, shift):
        return x + shift[:, None]

    @staticmethod
    def backward(ctx, grad):
        return grad, grad


"""
ONCE = """\
class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.exp()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        return grad * ctx.saved_tensors[0].exp()

torch.autograd.grad(Exp.apply(w).pow(2).sum(), w, create_graph=True)[0].sum().backward()
"""

GIVEN = "given = torch.autograd.grad(w.sum(), [net.weight, w], allow_unused=True)\n"


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("leaf_modified", "w += 1\n"),
        ("leaf_modified", "w[0] = 1\n"),
        ("leaf_modified", "w[:2].fill_(0)\n"),
        ("leaf_modified", "F.relu(w, inplace=True)\n"),
        ("leaf_modified", "F.dropout(w, 0.5, True, True)\n"),
        ("leaf_modified", "torch._foreach_add_([w], 1)\n"),
        ("leaf_modified", "torch.nn.ReLU(inplace=True)(w)\n"),
        ("view_modified", "a, b = (w * 2).view(3, 1).expand(3, 2).unbind(1)\na += 1\n"),
        ("nonleaf_gradient", "(w * 2).requires_grad_(False)\n"),
        ("nonleaf_gradient", "torch.optim.SGD([w * 2], lr=0.1)\n"),
        ("nonleaf_gradient", "h = w * 2\nh.sum().backward()\nprint(1 * h.grad)\n"),
        ("nonleaf_gradient", "h = w * 2\nh.sum().backward()\ng = h.grad\ng.sum()\n"),
        ("conversion", "(w * 2).numpy()\n"),
        ("conversion", "import copy\ncopy.deepcopy(w * 2)\n"),
        ("conversion", "torch.multiprocessing.SimpleQueue().put([w * 2])\n"),
        ("", "torch.multiprocessing.SimpleQueue().put([w, lambda: 0])\n"),
        ("inference_tensor", "with torch.inference_mode():\n    y = x * 1\n(y * w[:2]).sum()\n"),
        ("inference_tensor", "with torch.inference_mode():\n    y = x * 1\ny.requires_grad_()\n"),
        ("inference_tensor", "with torch.inference_mode():\n    y = x * 1\ny += 1\n"),
        ("", "with torch.inference_mode():\n    y = x * 1\ny @ torch.ones(7)\n"),
        ("nonscalar_backward", "(w * 2).backward()\n"),
        ("nonscalar_backward", "(w * 2).backward(torch.tensor(1.0))\n"),
        ("hook_refused", "x.register_hook(print)\n"),
        ("hook_refused", "with torch.no_grad():\n    net(x).retain_grad()\n"),
        ("", "w.register_hook(None, None)\n"),
        ("unused_input", "torch.autograd.grad(w.sum(), net.weight)\n"),
        ("unused_input", "net(x).sum().backward()\nprint(1 * x.grad)\n"),
        ("unused_input", GIVEN + "given[0].sum()\n"),
        ("unused_input", GIVEN + "new = [p - 0.1 * g for p, g in zip([w, net.bias], given)]\n"),
        ("unused_input", GIVEN + "for g in given:\n    if g.norm() > 1:\n        pass\n"),
        ("unused_input", GIVEN + "def use(gs):\n    for g in gs:\n        torch.stack([g])\nuse(given)\n"),
        ("unused_input", GIVEN + "class A:\n    pass\na = A()\na.g, _ = given\nfun = lambda: -a.g\nfun()\n"),
        ("unused_input", "-torch.autograd.grad(net(x).sum(), w, allow_unused=True)[0]\n"),
        ("", GIVEN + "nothing = None\nprint(given)\nnothing.sum()\n"),
        ("", GIVEN + "def use(gs, nothing=None):\n    nothing.sum()\nuse(w)\n"),
        ("", GIVEN + "def use(gs):\n    nothing = None\n    return nothing * 2\nuse(given)\n"),
        ("", GIVEN.replace("w.sum(), [net.weight, w]", "w.sum(), w") + "x.g = None\nx.g(given)\n"),
        ("no_graph", "net(x).sum().item().backward()\n"),
        ("no_graph", "torch.tensor([1, 2], requires_grad=True)\n"),
        ("no_graph", "torch.arange(3).requires_grad_()\n"),
        ("no_graph", "net(x).sum().detach().numpy()[()].backward()\n"),
        ("gradient_none", "w.grad += torch.ones(3)\n"),
        ("gradient_none", "w.grad.zero_()\n"),
        ("gradient_none", "w.data -= 0.1 * w.grad\n"),
        ("gradient_none", "g = w.grad\ng.norm()\n"),
        ("gradient_none", "def mean(gs):\n    return sum(gs) / len(gs)\nmean([p.grad for p in (w, net.bias)])\n"),
        ("gradient_none", "kept = []\nfor p in net.parameters():\n    kept.append(p.grad)\ntorch.cat(kept)\n"),
        ("", "grads = [p.grad for p in (w, w)]\nnothing = None\nnothing.norm()\n"),
        ("", "opt = torch.optim.SGD([w], lr=0.1)\nloss = opt.step()\nloss.item()\n"),
        ("", "w.grad = None\nNone + 1\n"),
        ("parameter_assigned", "net.weight = net.weight * 2\n"),
        ("parameter_assigned", "setattr(net, 'weight', torch.ones(1, 2))\n"),
        ("checkpoint_refused", CHECKPOINTED),
        ("recomputed_otherwise", RECOMPUTED),
        ("differentiated_once", ONCE),
        ("differentiated_once", FUSED),
        ("gradient_misshapen", SHIFTED + "Shift.apply(torch.ones(3, 2), w).sum().backward()\n"),
        ("", SHIFTED + "Shift.apply(torch.ones(3, 3), w).sum().backward()\nw + torch.ones(2)\n"),
        ("saved_no_tensor", SAVING.replace("WHAT", "2.0") + "Scaled.apply(w)\n"),
        ("", SAVING.replace("WHAT", "None") + "Scaled.apply(w)\nScaled.apply(w, 1)\n"),
        ("legacy_function", LEGACY + "Twice()(w)\n"),
        ("legacy_function", LEGACY + "Twice()(w, w)\n"),
        ("", LEGACY + "Twice.apply(w, w)\n"),
        ("", LEGACY + "Twice.__call__ = lambda self, x: x + torch.ones(7)\nTwice()(w)\n"),
        ("", "net.weight = 1\n"),
        ("", "w + torch.ones(2)\n"),
        ("", "w.add_(torch.ones(2).detach(), alpha='no')\n"),
    ],
)
def test_a_refusal_is_told_by_the_state_of_its_tensors(script: Scripts, kind: str, body: str) -> None:
    trace = script(HEAD + textwrap.dedent(body)).traced()
    assert trace.failure is not None
    assert trace.failure.kind == kind


def test_a_derivative_that_gave_none_is_named_with_the_graph_that_was_lost_before_it(script: Scripts) -> None:
    body = """\
    eps, other = torch.zeros(3, requires_grad=True), torch.zeros(3, requires_grad=True)
    (g,) = torch.autograd.grad((eps * w.exp()).sum(), w)
    fast = (w - g).exp()
    torch.autograd.grad(fast.sum(), {asked}, allow_unused=True)[0].sum()
    """
    found = {
        asked: {origin.kind for origin in script(HEAD + textwrap.dedent(body).format(asked=asked)).traced().origins}
        for asked in ("eps", "other", "[eps, w]")
    }
    assert found == {
        "eps": {"none_given", "derivative"}, "other": {"none_given"}, "[eps, w]": {"none_among", "derivative"}
    }  # fmt: skip


def test_a_scripted_module_among_the_variables_is_looked_through(script: Scripts) -> None:
    body = """\
    scripted = torch.jit.script(net)
    loss = scripted(x).sum()
    for _ in range(2):
        loss.backward()
    """
    trace = script(HEAD + textwrap.dedent(body)).traced()
    assert trace.failure is not None
    assert "second time" in trace.failure.message, trace.detail


def test_a_result_without_gradient_is_named_with_the_place_that_made_it(script: Scripts) -> None:
    body = """\
    store = {"h": w * 2}
    store["h"].sum().backward()
    w.data -= 0.1 * store["h"].grad
    """
    (origin,) = script(HEAD + textwrap.dedent(body)).traced().origins
    assert (origin.kind, origin.name, origin.node) == ("nonleaf", "store['h']", "MulBackward0")
    assert origin.stack[0].line == HEAD.count("\n") + 1


def test_an_input_without_gradient_is_followed_to_its_maker(script: Scripts) -> None:
    body = """\
    def draw():
        return torch.rand(3, 2) * 2

    t = draw()
    torch.autograd.grad(net(t).sum(), t)
    """
    (origin,) = script(HEAD + textwrap.dedent(body)).traced().origins
    assert origin.kind == "made"
    assert [frame.function for frame in origin.stack] == ["draw", "<module>"]


@pytest.mark.parametrize(
    ("given", "behind"),
    [
        ("[w * 2]", [(0, 0, ("w",))]),
        ("[*torch.stack([w, w])]", [(0, 0, ("w",)), (0, 1, ("w",))]),
        (
            "[{'params': [x.requires_grad_()]}, {'params': [w, net.weight.double()]}]",
            [(1, 0, ("w",)), (1, 1, ("net.weight",))],
        ),
        ("[net[0].weight * w[0]]", [(0, 0, ("net[0].weight", "w"))]),
        ("[store.raw['s'].exp()]", [(0, 0, ("store.raw['s']",))]),
        ("[w, w * 2]", [(0, 0, ("w",)), (0, 1, ())]),
        ("[torch.ones(2, requires_grad=True) * w[0]]", []),
    ],
)
def test_the_leaves_behind_a_result_are_named_where_the_optimizer_is_made(
    script: Scripts, given: str, behind: list[tuple[int, int, tuple[str, ...]]]
) -> None:  # fmt: skip
    body = "class Store:\n    pass\n\nstore = Store()\nstore.raw = {'s': torch.zeros(2, requires_grad=True)}\n"
    body += "net = torch.nn.Sequential(net)\n" if "net[0]" in given else ""
    trace = script(HEAD + textwrap.dedent(f"{body}torch.optim.SGD({given}, lr=0.1)\n")).traced()
    assert [(one.group, one.place, tuple(sorted(one.paths))) for one in trace.behind] == behind
