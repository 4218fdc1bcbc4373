"""Readings: what torch refuses is run in each way that the rest of the program allows."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sampled import one_in, row_in
from scripts import Script, Scripts, changed

from autofix.core.model import Applicability, Effect, Outcome, Reading, Refused
from autofix.experiments.client import run
from autofix.experiments.readings.learning import deprived, orphans
from autofix.experiments.readings.letters import ambiguous, contradiction
from autofix.experiments.requests import Builder, plain
from autofix.experiments.spec import RunSpec
from autofix.probe import wire

pytestmark = pytest.mark.torch

BY_HAND = """
    import torch

    torch.manual_seed(0)
    w = torch.zeros(3, requires_grad=True)
    for _ in range(5):
        loss = (torch.randn(8, 3) @ w - 1).pow(2).mean()
        loss.backward()
        w -= 0.1 * w.grad
        w.grad.zero_()
        print(loss.item())
"""
QUERIES = """
    import torch
    from torch import nn

    torch.manual_seed(0)


    class Pool(nn.Module):
        def __init__(self):
            super().__init__()
            self.queries = nn.Parameter(torch.randn(2, 4))
            self.inject = nn.Linear(3, 4)

        def forward(self, x):
            q = self.queries
            q += self.inject(x)
            return q.tanh().sum(1)


    pool = Pool()
    opt = torch.optim.SGD(pool.parameters(), lr=0.1)
    for _ in range(5):
        loss = (pool(torch.randn(2, 3)) - 1).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
MASKED = """
    import torch
    from torch import nn

    torch.manual_seed(0)


    class Masked(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(3, 4))
            self.mask = torch.tensor([1.0, 0.0, 1.0, 1.0])

        def forward(self, x):
            w = self.weight
            w *= self.mask
            return x @ w.t()


    net = Masked()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(5):
        loss = (net(torch.randn(5, 4)) - 1).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
CLIPPED = """
    import torch

    torch.manual_seed(0)
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(5):
        loss = net(torch.randn(5, 3)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        for p in net.parameters():
            p.clamp_(-0.1, 0.1)
"""
SNAPSHOT = """
    import copy

    import torch
    from torch import nn

    torch.manual_seed(0)


    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(2, 1)

        def forward(self, x):
            self.last = self.layer(x)
            return self.last


    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(300):
        loss = net(torch.randn(5, 2)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        best = copy.deepcopy(net)
"""


MOVED = """
    import torch

    w = torch.nn.Parameter(torch.zeros({}))
    optimizer = torch.optim.SGD([w], lr=0.1)
    loss = w.sum()
    loss.backward()
    held = w.detach().contiguous()
    rows = torch.nn.functional.normalize(held)
    print(bool((held != 0).all()), float((rows @ rows.t()).fill_diagonal_(0).abs().max()), float(held[::7].sum()))
    loss.backward()
"""


@pytest.mark.apart("long")
def test_a_large_parameter_is_moved_everywhere_row_for_row_otherwise_and_however_it_lies(script: Scripts) -> None:
    printed = []
    for shape in ("2100, 1000", "1000, 2100).t("):
        train = script(MOVED.format(shape))
        printed.append(run(train.probe, replace(plain(train.target, "candidate"), perturbed=True)).stdout)
    everywhere, alike, _ = printed[0].split()
    assert (everywhere, printed[1].split()) == ("True", printed[0].split())
    assert float(alike) < 0.5


USES = """
    import torch
    import torch.nn.functional as F
    from torch import nn


    class Own(torch.autograd.Function):
        @staticmethod
        def forward(ctx, w):
            return w * 1.0


    ones, two = torch.ones(3, 3), torch.full((3, 3), 2.0)
    uses = [
        lambda w: w.sum(), lambda w: ones @ w, lambda w: torch.einsum("ij,jk->ik", ones, w), lambda w: w.t()[0].sum(),
        lambda w: w.detach() + 0, lambda w: torch.stack([w, w]), lambda w: torch.cat(tensors=[w]), Own.apply,
        lambda w: torch.func.vmap(lambda row: row.sum())(w), lambda w: [float(row.sum()) for row in w],
        lambda w: torch.ops.aten.mul.Tensor(ones, w), lambda w: F.relu(w), lambda w: w.data.clone(),
        lambda w: F.embedding(torch.tensor([0, 1, 2]), w), lambda w: F.linear(ones, w),
    ]
    writes = [
        lambda w: w.data.fill_(2), lambda w: nn.init.constant_(w, 2.0), lambda w: w.detach().fill_(2),
        lambda w: torch.add(two, 0, out=w.data), lambda w: w.data.__setitem__(slice(None), 2.0),
        lambda w: torch._foreach_copy_([w.data], [two]), lambda w: setattr(w, "data", two.clone()),
        lambda w: torch.ops.aten.copy_(w.data, two), lambda w: torch.no_grad()(w.copy_)(two),
        lambda w: nn.utils.vector_to_parameters(two.clone().flatten(), [w]),
    ]


    def kept():
        w = nn.Parameter(torch.ones(3, 3))
        return w, torch.optim.SGD([w], lr=0.1)


    for use in uses:
        plain, (w, _) = use(torch.ones(3, 3)), kept()
        print(torch.as_tensor(use(w)).tolist() != torch.as_tensor(plain).tolist())
    for write in writes:
        w, _ = kept()
        w.sum()
        write(w)
        print(0.0 < abs(float(w.sum()) - 18.0) < 2.0)
    for look in (torch.t, lambda w: w.shape, lambda w: w.requires_grad_(), lambda w: w[0].view(3, 1), len, id):
        w, _ = kept()
        look(w)
        print(w.tolist() == torch.ones(3, 3).tolist())
"""


def test_a_parameter_is_moved_where_it_is_used_and_anew_where_it_was_written_but_by_no_look(script: Scripts) -> None:
    train = script(USES)
    trace = run(train.probe, replace(plain(train.target, "candidate"), perturbed=True))
    assert (trace.outcome, trace.detail) == ("finished", "")
    assert trace.stdout.split() == ["True"] * 31


def reference(train: Script, refused: Refused = Refused.UPDATE) -> wire.Trace:
    """The reference run in one meaning of what torch refuses."""
    builder = Builder(train.target, run(train.probe, plain(train.target)), perturbed=False)
    return run(train.probe, builder.first(RunSpec.reference(Reading(refused))))


def test_an_update_by_hand_is_performed_and_the_script_trains(script: Scripts) -> None:
    trace = reference(script(BY_HAND))
    losses = [float(line) for line in trace.stdout.split()]
    assert trace.outcome == "finished"
    assert [done.kind for done in trace.performed] == ["leaf_modified"]
    assert losses[-1] < losses[0]


def test_an_update_by_hand_cannot_be_an_operation(script: Scripts) -> None:
    train = script(BY_HAND)
    operation = reference(train, Refused.OPERATION)
    assert operation.outcome == "failed"
    assert contradiction(Refused.OPERATION, operation, reference(train)).startswith("the script stops with")
    assert train.verify(("w -= 0.1 * w.grad", "w.data -= 0.1 * w.grad")).outcome is Outcome.SAFE


def test_what_is_written_into_a_parameter_is_trained_through(script: Scripts) -> None:
    train = script(QUERIES)
    update, operation = reference(train), reference(train, Refused.OPERATION)
    assert ambiguous(update)
    assert set(deprived(update, operation)) == {"pool.inject.weight", "pool.inject.bias"}
    assert not contradiction(Refused.OPERATION, operation, update)
    assert train.verify(("q += self", "q = q + self")).outcome is Outcome.SAFE
    lost = train.verdict(("q += self", "q.data += self"))
    assert (lost.applicability, lost.effect) == (Applicability.UNSAFE, Effect.CHANGED)


@pytest.mark.parametrize("edit", ["w = w * self.mask", "w.data *= self.mask"])
def test_a_mask_in_the_forward_has_two_readings_and_neither_is_safe(script: Scripts, edit: str) -> None:
    verdict = script(MASKED).verdict(("w *= self.mask", edit))
    assert (verdict.applicability, verdict.effect) == (Applicability.UNSAFE, Effect.UNKNOWN)
    assert verdict.summary.startswith("the code can mean two things")


def test_a_clipped_weight_stays_a_leaf(script: Scripts) -> None:
    train = script(CLIPPED)
    update, operation = reference(train), reference(train, Refused.OPERATION)
    assert contradiction(Refused.OPERATION, operation, update).startswith("net.weight")
    assert train.verify(("p.clamp_", "p.data.clamp_")).outcome is Outcome.SAFE
    assert train.verify(("p.clamp_", "p.clamp")).outcome is Outcome.UNSAFE


CHAINS = """
    import torch

    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    chains = torch.randn(6, 2, requires_grad=True)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for it in range(5):
        x = chains[it % 2::2]
        for _ in range(2):
            slope = torch.autograd.grad(net(x).sum(), x)[0]
            x -= 0.1 * slope.clamp(-1, 1) + 0.01 * torch.randn(3, 2)
        loss = net(torch.randn(4, 2)).mean() - net(x.detach()).mean() + 0.1 * net(x.detach()).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
STEP = "x -= 0.1 * slope.clamp(-1, 1) + 0.01 * torch.randn(3, 2)"
OWNED = ("SGD(net.parameters()", "SGD([*net.parameters(), chains]")
ELSEWHERE = (
    "    opt.step()",
    "    opt.step()\n        chains.data -= 0.01 * torch.autograd.grad(net(chains).sum(), chains)[0]",
)
NO_MEMORY_OF_ITS_OWN = ("torch.randn(6, 2, requires_grad=True)", "torch.randn(6, 4)[:, 2:].detach().requires_grad_()")
OF_NOISE = (STEP, "x -= 0.01 * torch.randn(3, 2)")


@pytest.mark.parametrize(
    ("changes", "spoken"),
    [((), True), *(((one,), False) for one in (OWNED, ELSEWHERE, OF_NOISE, NO_MEMORY_OF_ITS_OWN))],
)
def test_a_write_along_a_leafs_own_derivative_is_a_step_by_hand(
    script: Scripts, changes: tuple[tuple[str, str], ...], spoken: bool
) -> None:
    train = script(changed(CHAINS, *changes))
    assert bool(reference(train).seen("steps-by-hand")) is spoken


@pytest.mark.apart("long")
def test_chains_that_go_on_are_written_and_not_bound_anew(script: Scripts) -> None:
    train = script(CHAINS)
    assert train.verify((STEP, STEP.replace("x -=", "x.data -="))).outcome is Outcome.SAFE
    assert train.verify((STEP, STEP.replace("x -= ", "x = x - (") + ")")).outcome is Outcome.UNSAFE


RENEWED = """
    import torch

    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(3, 6), torch.nn.ReLU(), torch.nn.Linear(6, 1))
    opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for it in range(10):
        loss = (net(torch.randn(8, 3)) - 1).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it == 3:
            net[0].weight[2] = torch.randn(3)
"""


@pytest.mark.apart("long")
def test_a_parameter_that_steps_no_more_after_a_write_was_updated(script: Scripts) -> None:
    train, write = script(RENEWED), "net[0].weight[2] = torch.randn(3)"
    assert train.verify((write, write.replace("weight[2]", "weight.data[2]"))).outcome is Outcome.SAFE
    assert train.verify((write, write.replace("weight[2]", "weight.clone()[2]"))).outcome is Outcome.UNSAFE


OWN_RULE = """
    import torch
    from torch import nn

    torch.manual_seed(0)


    class Machine(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight, self.seen = nn.Parameter(0.3 * torch.randn(4, 6)), nn.Parameter(torch.zeros(6))

        def forward(self, x):
            return torch.sigmoid(x @ self.weight.t())

        def learn(self, x):
            back = torch.sigmoid(torch.bernoulli(self(x)) @ self.weight + self.seen)
            there = self(torch.bernoulli(back))
            self.weight += 0.2 * (self(x) - there).t() @ x / len(x)
            self.seen += 0.2 * (x - torch.bernoulli(back)).mean(0)


    machine, head = Machine(), nn.Linear(4, 1)
    optimizer = torch.optim.SGD([*machine.parameters(), *head.parameters()], lr=0.1)
    for _ in range(4):
        machine.learn(torch.rand(8, 6).round())
    for _ in range(5):
        loss = (head(machine(torch.rand(8, 6))) - 1).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
DRAWN = "there = self(torch.bernoulli(back))"


@pytest.mark.parametrize(("drawn", "outcome"), [(DRAWN, Outcome.SAFE), ("there = self(back)", Outcome.UNSAFE)])
def test_what_only_draws_lead_to_loses_no_gradient_by_a_write(script: Scripts, drawn: str, outcome: Outcome) -> None:
    """Numbers that are drawn have none: what the loss does not use learns by its own rule alone."""
    train = script(changed(OWN_RULE, (DRAWN, drawn)))
    assert train.verify(("def learn", "@torch.no_grad()\n    def learn")).outcome is outcome


POSITIONS = """
    import torch
    from torch import nn

    torch.manual_seed(0)


    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.prompt, self.positions = nn.Parameter(torch.randn(2, 4)), 0.1 * torch.randn(2, 4)
            self.head = nn.Linear(4, 1)

        def forward(self, x):
            tokens = self.prompt
            tokens += self.positions
            return self.head(tokens.tanh() + x)


    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(5):
        loss = (net(torch.randn(2, 4)) - 1).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
ADDED = "tokens += self.positions"
FLOWS = (ADDED, "for _ in range(3):\n                    tokens += 0.1 * tokens.tanh()")


@pytest.mark.parametrize(
    ("change", "drifts"),
    [
        ((ADDED, ADDED), True),
        (FLOWS, True),
        ((ADDED, "tokens *= self.positions > 0"), False),  # a mask
        ((ADDED, "tokens /= tokens.norm()"), False),
        ((ADDED, "tokens -= 0.1 * (tokens.detach() - x)"), False),  # an average of data
        ((ADDED, "tokens += 0.1 * torch.randn(2, 4)"), False),
        ((ADDED, "tokens *= 0.99"), False),
        ((ADDED, "self.prompt += self.positions"), False),
        (("SGD(net", "SGD(net.head"), False),  # nothing trains it
    ],
)
def test_a_parameter_drifts_if_a_constant_is_added_to_its_name_in_each_pass(
    script: Scripts, change: tuple[str, str], drifts: bool
) -> None:
    assert bool(reference(script(changed(POSITIONS, change))).seen("drifts")) is drifts


@pytest.mark.apart("long")
@pytest.mark.parametrize(("changes", "added"), [((), ADDED), ((FLOWS,), "tokens += 0.1 * tokens.tanh()")])
def test_what_would_drift_is_computed_for_one_pass(
    script: Scripts, changes: tuple[tuple[str, str], ...], added: str
) -> None:
    train = script(changed(POSITIONS, *changes))
    assert train.verify((added, added.replace("+=", "= tokens +"))).outcome is Outcome.SAFE
    assert train.verify((added, added.replace("tokens +=", "tokens.data +="))).outcome is Outcome.UNSAFE


INNER_STEP = """
    import torch
    from torch import nn

    torch.manual_seed(0)


    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.context = nn.Linear(3, 1), None

        def forward(self, x):
            return torch.tanh(self.layer(torch.cat([x, self.context.expand(len(x), -1)], 1)))


    model = Model()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(4):
        model.context = torch.zeros(2, requires_grad=True)
        for _ in range(2):
            loss = (model(torch.randn(6, 1)) - 1).square().mean()
            grad = torch.autograd.grad(loss, model.context, create_graph=True)[0]
            model.context -= 0.5 * grad
        outer = (model(torch.randn(6, 1)) - 1).square().mean()
        opt.zero_grad()
        outer.backward()
        opt.step()
"""
INNER = "model.context -= 0.5 * grad"
NEW, COPY = INNER.replace("-=", "= model.context -"), f"model.context = model.context.clone()\n        {INNER}"
BEHIND = INNER.replace(" -=", ".data -=")
FIRST_ORDER = (", create_graph=True", "")
TRAINED_OTHERWISE = ("opt.zero_grad()", "outer = outer + grad.square().sum()\n        opt.zero_grad()")


@pytest.mark.apart("long")
@pytest.mark.parametrize(
    ("changes", "safe"), [((), (NEW, COPY)), ((FIRST_ORDER,), (NEW, COPY, BEHIND)), ((TRAINED_OTHERWISE,), ())]
)
def test_an_inner_step_by_a_derivative_with_a_graph_is_trained_through(
    script: Scripts, changes: tuple[tuple[str, str], ...], safe: tuple[str, ...]
) -> None:
    train = script(changed(INNER_STEP, *changes))
    found = [new for new in (NEW, COPY, BEHIND) if train.verify((INNER, new)).outcome is Outcome.SAFE]
    assert found == list(safe)


@pytest.mark.parametrize(("fact", "against"), [("drifts", Refused.UPDATE), ("steps-by-hand", Refused.OPERATION)])
def test_facts_of_the_update_speak_against_one_reading(fact: str, against: Refused) -> None:
    plain = wire.Trace(1, "finished")
    update = replace(plain, facts=(wire.Fact(fact, "w"),))
    said = {
        Refused.UPDATE: contradiction(Refused.UPDATE, update, plain),
        Refused.OPERATION: contradiction(Refused.OPERATION, plain, update),
    }
    assert [one for one, why in said.items() if "w" in why] == [against]
    carried = replace(plain, carried=True)  # a name that is bound anew from pass to pass is no value of one pass
    assert not contradiction(Refused.UPDATE, update, carried)


def test_a_derivative_that_was_given_a_graph_is_used_in_the_reading_that_is_meant() -> None:
    used = wire.Trace(1, "finished")
    wasted = replace(used, facts=(wire.Fact("wasted", "", (wire.Frame("a.py", 3, 0, 3, 9, "inner"),)),))
    assert "no backward uses" in contradiction(Refused.UPDATE, wasted, used)
    pairs = ((Refused.UPDATE, wasted, wasted), (Refused.UPDATE, used, wasted), (Refused.OPERATION, wasted, used))
    assert not any(contradiction(*pair) for pair in pairs)


def test_a_parameter_is_deprived_if_it_has_no_gradient_at_the_end() -> None:
    def trace(*norms: float) -> wire.Trace:
        steps = tuple(wire.Step(0, ((1.0, 0.5), (one, one) if one else ()), (), "") for one in norms)
        return wire.Trace(1, "finished", counts=(len(steps),), steps=steps, names=(("a", "b"), ()))

    full = trace(1, 1, 1, 1, 1, 1)
    assert list(deprived(trace(1, 1, 1, 0, 0, 0), full)) == ["b"]
    assert not list(deprived(trace(1, 1, 1, 1, 0, 0), full))
    assert not list(deprived(trace(1, 1, 1, 0, 0, 0), trace(1, 1, 1, 1, 0, 1)))  # a head that is used now and then


def test_a_write_after_which_nothing_is_seen_is_not_judged(script: Scripts) -> None:
    train = script("import torch\n\nw = torch.ones(3, requires_grad=True)\nw += 1\n")
    verdict = train.verdict(("w += 1", "w = w + 1"))
    assert (verdict.applicability, verdict.effect) == (Applicability.UNSAFE, Effect.UNKNOWN)


def test_a_copy_that_shares_its_tensors_is_no_copy(script: Scripts) -> None:
    train = script(SNAPSHOT)
    assert train.verify(("best = copy", "net.last = None\n    best = copy")).outcome is Outcome.SAFE
    assert train.verify(("copy.deepcopy(net)", "copy.copy(net)")).outcome is Outcome.UNSAFE


def test_a_leaf_made_of_a_result_is_safe_only_if_it_trains(script: Scripts) -> None:
    train = script("""
        import torch

        torch.manual_seed(0)
        scale = torch.ones(2, requires_grad=True).double()
        opt = torch.optim.SGD([scale], lr=0.1)
        for _ in range(5):
            loss = (torch.randn(5, 2).double() * scale - 1).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """)
    made = "torch.ones(2, requires_grad=True).double()"
    assert train.verify((made, "torch.ones(2).double().requires_grad_()")).outcome is Outcome.SAFE
    assert train.verify(("SGD([scale]", "SGD([scale.detach()]")).outcome is Outcome.UNSAFE


def test_orphans_are_parameters_that_step_without_gradient() -> None:
    step = wire.Step(0, ((1.0, 0.5), ()), (), "")
    trace = wire.Trace(1, "finished", counts=(2,), steps=(step, step), names=(("a", "b"), ()))
    assert list(orphans(trace)) == ["b"]


IDLE = """
    import torch
    from torch import nn

    torch.manual_seed(0)
    inner, head, spare, thrown = nn.Linear(3, 4), nn.Linear(4, 2), nn.Linear(2, 2), nn.Linear(4, 4)
    opt = torch.optim.Adam([p for net in (inner, head, spare, thrown) for p in net.parameters()], lr=0.1)
    x = torch.randn(5, 3)
    for _ in range(6):
        h = inner(x).tanh()
        thrown(h)
        out = head(h).data
        loss = (out - 1).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
IN_PLACE = ("out = head(h).data", "a, b = head(h).chunk(2)\n        a *= 0.5\n        out = torch.cat([a, b]).data")
HIDDEN = ("h = inner(x).tanh()", "h = torch.from_numpy(inner(x).tanh().detach().numpy())")
EARLIER = "for _ in range(6):\n        h = inner(x).tanh()"
ONCE = (EARLIER, "h = inner(x).tanh().detach()\n    for _ in range(6):\n        pass")
READ_ONCE = (EARLIER, "h = torch.tensor(inner(x).tanh().tolist())\n    for _ in range(6):\n        pass")
COUNTED = ("loss = (out - 1).square().mean()", "loss = (out - 1).square().mean() + spare.weight.norm().item()")


@pytest.mark.parametrize(
    ("changes", "outcome"),
    row_in(
        2,
        [
            ((), Outcome.SAFE),
            ((IN_PLACE,), Outcome.SAFE),
            ((HIDDEN,), Outcome.UNSAFE),
            ((ONCE,), Outcome.UNSAFE),
            ((READ_ONCE,), Outcome.UNSAFE),
            ((COUNTED,), Outcome.UNSAFE),
            ((HIDDEN, IN_PLACE), Outcome.UNSAFE),
        ],
    ),
    ids=["unused", "unused-beside-a-write", "cut-elsewhere", "cut-once", "read-once", "part-of-the-loss", "both"],
)
def test_what_takes_no_part_in_any_loss_needs_no_gradient(
    script: Scripts, changes: tuple[tuple[str, str], ...], outcome: Outcome
) -> None:
    train = script(changed(IDLE, *changes))
    edits = [("a *= 0.5", "a = a * 0.5"), ("b]).data", "b])")] if IN_PLACE in changes else [("(h).data", "(h)")]
    assert train.verify(*edits).outcome is outcome


CUT_TWICE = """
    import torch
    from torch import nn
    torch.manual_seed(0)


    class Head(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 2)

        def forward(self, h):
            q, k = self.a(h).chunk(2, 1)
            q *= 0.5
            return torch.cat([q, k], 1)


    inner, head, last = nn.Linear(3, 4), Head(), nn.Linear(4, 2)
    opt = torch.optim.Adam([*inner.parameters(), *head.parameters(), *last.parameters()], lr=0.1)
    for _ in range(6):
        h = torch.from_numpy(inner(torch.randn(5, 3)).detach().numpy())
        out = last(head(h)).data
        loss = (out - 1).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
"""


def test_an_edit_that_equals_no_reading_comes_behind_those_that_equal_one(script: Scripts) -> None:
    report = script(CUT_TWICE).fix()
    assert all(one.verdict.applicability is Applicability.UNSAFE for one in report.fixes)
    effects = [one.verdict.effect for one in report.fixes]
    assert effects[0] is Effect.CHANGED
    assert effects == sorted(effects, key=[Effect.CHANGED, Effect.UNKNOWN].index)
    assert b"@torch.no_grad()" not in report.fixes[0].diff


TWO_BY_HAND = """
import torch
torch.manual_seed(0)
x = torch.randn(30, 2)
y = x.sum(1)
w = torch.randn(2, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
{prelude}
for _ in range(5):
    loss = (x @ w + b - y).pow(2).mean()
    loss.backward()
{update}
    print(loss.item())
"""
UPDATES = [
    ("", "    w = w - 0.1 * w.grad\n    b = b - 0.1 * b.grad"),
    ("", "    w = w.data - 0.1 * w.grad.data\n    b = b.data - 0.1 * b.grad.data"),
    ("", "    w = (w -  # weights\n        0.1 * w.grad)\n    b = b - \\\n        0.1 * b.grad  # bias"),
    ("", "    gw, gb = w.grad, b.grad\n    w = w - 0.1 * gw; b = b - 0.1 * gb"),
    ("", "    with torch.no_grad():\n        w = w - 0.1 * w.grad\n        b = b - 0.1 * b.grad"),
    (
        "@torch.no_grad()\ndef step():\n    global w, b\n    w = w - 0.1 * w.grad\n    b = b - 0.1 * b.grad",
        "    step()",
    ),
]


@pytest.mark.parametrize(
    ("prelude", "update"), [UPDATES[0], *(pytest.param(*one, marks=pytest.mark.apart("long")) for one in UPDATES[1:])]
)
def test_updates_that_bind_anew_are_written_into_the_leaves_together(
    script: Scripts, prelude: str, update: str
) -> None:
    best = script(TWO_BY_HAND.format(prelude=prelude, update=update)).fix().fixes[0]
    assert best.candidate.rules == ("AG303",)
    assert best.verdict.applicability is Applicability.SAFE
    written = best.diff.decode()
    assert all(f"{name} -= " in written or f"{name}.copy_(" in written for name in ("w", "b"))


IN_FORWARD = """
    import torch
    from torch import nn
    from torch.nn import functional as F

    torch.manual_seed(0)


    class Gated(nn.Linear):
        def __init__(self, *sizes):
            super().__init__(*sizes)
            self.score = nn.Parameter(torch.randn(sizes[1], 1))
            self.mean = nn.Linear(*sizes)

        def forward(self, x):
            self.weight *= self.score.sigmoid()
            return F.linear(x, self.weight, self.bias)


    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.two = Gated(4, 4), Gated(4, 2)

        def forward(self, x):
            return self.two(self.one(torch.tanh(self.one(x))))


    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(5):
        x = torch.randn(6, 4)
        loss = (net(x) - 1).pow(2).mean() + 0.1 * (net.one.score.sigmoid().mean() + net.two.score.sigmoid().mean())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            print(net(x).sum().item())
"""
GATES = "self.weight *= self.score.sigmoid()"
USED = "F.linear(x, self.weight, self.bias)"
HERE = (f"{GATES}\n        return {USED}", "return F.linear(x, self.weight * self.score.sigmoid(), self.bias)")
AS_UPDATE = (GATES, f"with torch.no_grad():\n                {GATES}")
BY_METHOD = (GATES, "self.weight.mul_(self.score.sigmoid()).mul_(0.9)")


@pytest.mark.parametrize(
    ("changes", "out", "update"),
    row_in(3, [
        ((), HERE, AS_UPDATE),
        ((BY_METHOD,), (BY_METHOD[1], "weight = self.weight * self.score.sigmoid() * 0.9"),
         (BY_METHOD[1], "self.weight.data.mul_(self.score.sigmoid()).mul_(0.9)")),
        (((GATES, "self.weight[0] *= self.score[0].sigmoid()"),),
         ("self.weight[0] *= self.score[0].sigmoid()",
          "weight = torch.cat([self.weight[:1] * self.score[0].sigmoid(), self.weight[1:]])"),
         ("self.weight[0] *=", "self.weight.data[0] *=")),
    ]),
)  # fmt: skip
def test_what_learns_by_a_write_of_the_forward_alone_is_not_an_update(
    script: Scripts, changes: tuple[tuple[str, str], ...], out: tuple[str, str], update: tuple[str, str]
) -> None:
    train = script(changed(IN_FORWARD, *changes))
    more = (("F.linear(x, self.weight, ", "F.linear(x, weight, "),) if out is not HERE else ()
    right, wrong = train.verdict(out, *more), train.verdict(update)
    assert (right.applicability, right.effect) == (Applicability.SAFE, Effect.IDENTICAL), right.summary
    assert (wrong.applicability, wrong.effect) == (Applicability.UNSAFE, Effect.CHANGED), wrong.summary


def test_what_also_learns_from_other_data_may_be_written_as_an_update(script: Scripts) -> None:
    train = script(changed(IN_FORWARD, (USED, f"{USED} + x.mean(1, keepdim=True) @ self.score.mean().view(1, 1)")))
    for verdict in (train.verdict(AS_UPDATE), train.verdict((GATES, "weight = " + GATES.replace("*=", "*")), (
        "F.linear(x, self.weight, ", "F.linear(x, weight, ")
    )):  # fmt: skip
        assert (verdict.applicability, verdict.effect) == (Applicability.UNSAFE, Effect.UNKNOWN), verdict.summary


def test_a_weight_that_the_first_forward_initialises_by_what_learns_stays_so(script: Scripts) -> None:
    write = "self.weight[:] = self.mean(x)[:1].t().expand_as(self.weight)"
    once = f"if not hasattr(self, 'made'):\n                self.made = True\n                {write}"
    train = script(changed(IN_FORWARD, (GATES, once), (USED, f"torch.tanh({USED} + self.mean(x))")))
    verdict = train.verdict((write, write.replace("weight[:] =", "weight.data[:] =")))
    assert verdict.applicability is Applicability.SAFE, verdict.summary


@pytest.mark.parametrize(
    ("write", "owned"),
    row_in(
        3,
        [
            ("self.weight.div_(self.weight.norm())", ""),
            ("self.weight.clamp_(-0.5, 0.5)", ""),
            ("self.weight.copy_(0.9 * self.weight + 0.1 * self.mean.weight)", "weight"),
            ("self.weight.mul_(self.weight.abs().max().reciprocal())", ""),
        ],
    ),
)
def test_an_update_of_the_forward_stays_one_where_nothing_else_learns_by_it(
    script: Scripts, write: str, owned: str
) -> None:
    changes = [(GATES, write), ("0.1 * (net.one", "net.one.mean(x).mean() + net.two.mean(x).mean() + (net.one")]
    if owned:  # a teacher, whom no optimizer owns
        changes += [
            (
                "net.parameters()",
                "[p for name, p in net.named_parameters() if name.count('.') > 1 or name.endswith('bias')]",
            ),
            (USED, f"{USED.replace('self.weight', 'self.weight.detach()')} + self.mean(x)"),
        ]
    train = script(changed(IN_FORWARD, *changes))
    verdict = train.verdict((write, f"with torch.no_grad():\n                {write}"))
    assert verdict.applicability is Applicability.SAFE, verdict.summary


HIDDEN = """
    import torch
    from torch import nn

    torch.manual_seed(0)


    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.token = nn.Embedding(8, 4), nn.Parameter(torch.zeros(1, 4))
            self.body, self.out = nn.Linear(4, 4), nn.Linear(4, 1)

        def hide(self, x):
            hidden = torch.randperm(len(x))[:4]
            x[hidden] = self.token
            return x, hidden

        def forward(self, edges):
            x, hidden = self.hide(self.table.weight)
            return self.out(self.body(edges @ x).tanh())[hidden]


    net, edges = Net(), torch.rand(8, 8).softmax(1)
    opt = torch.optim.Adam(net.parameters(), lr=0.02)
    for step in range(5):
        loss = (net(edges) - 1).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        with torch.no_grad():
            print(net(edges).mean().item())
"""
HIDES = "x[hidden] = self.token"
BY_A_METHOD = (("def forward(", "def loss_of("), ("net(edges)", "net.loss_of(edges)"))
BY_A_FUNCTION = (
    ("        def hide(self, x):", "        @staticmethod\n        def hide(x, token):"),
    (HIDES, "x[hidden] = token"),
    ("weight)", "weight, self.token)"),
    *BY_A_METHOD,
)
ROW_BY_ROW = ((HIDES, "for one in hidden:\n                x[one] = self.token[0]"),)
IN_A_COPY = [
    ((), (HIDES, f"x = x.clone()\n        {HIDES}")),
    (BY_A_METHOD, (HIDES, f"x = x.clone()\n        {HIDES}")),
    (BY_A_FUNCTION, ("x[hidden] = token", "x = x.clone()\n        x[hidden] = token")),
    (ROW_BY_ROW, ("for one in hidden:", "x = x.clone()\n        for one in hidden:")),
    ((), ("self.hide(self.table.weight)", "self.hide(self.table.weight.clone())")),
    ((), ("self.hide(self.table.weight)", "self.hide(self.table(torch.arange(8)))")),
    ((), (HIDES, "x = x.index_put((hidden,), self.token)")),
]


@pytest.mark.parametrize(("changes", "right"), row_in(3, IN_A_COPY))
def test_rows_of_a_table_are_hidden_in_a_copy_where_a_token_learns_by_that(
    script: Scripts, changes: tuple[tuple[str, str], ...], right: tuple[str, str]
) -> None:
    train = script(changed(HIDDEN, *changes))
    verdict = train.verdict(right)
    assert (verdict.applicability, verdict.effect) == (Applicability.SAFE, Effect.IDENTICAL), verdict.summary
    best = train.fix().fixes[0]
    assert best.verdict.applicability is Applicability.SAFE
    assert b".clone()" in best.diff


NO_COPY = [
    f"with torch.no_grad():\n                {HIDES}",
    "x.data[hidden] = self.token",
    f"x = x.detach().clone()\n        {HIDES}",
    "x = x.clone()\n        x[hidden] = self.token.detach()",
    "x = x.clone()\n        x[hidden] = 0.0",
]


@pytest.mark.parametrize("edit", one_in(3, NO_COPY))
def test_no_other_write_to_such_a_table_is_safe(script: Scripts, edit: str) -> None:
    verdict = script(HIDDEN).verdict((HIDES, edit))
    assert (verdict.applicability, verdict.effect) == (Applicability.UNSAFE, Effect.CHANGED), verdict.summary


BETWEEN_PASSES = [
    ("        opt.step()", "net.table.weight[0] = 0.0"),
    ("        opt.step()", "net.table.weight[1] = net.table.weight[0]"),
    ("    net, edges = Net(), torch.rand(8, 8).softmax(1)", "net.out.weight.copy_(net.token)"),
    ("        opt.step()", "net.out.weight.mul_(0.9).add_(0.1 * net.token)"),
]


@pytest.mark.parametrize(("after", "write"), row_in(3, BETWEEN_PASSES))
def test_what_is_written_between_the_passes_stays_an_update(script: Scripts, after: str, write: str) -> None:
    margin = after[: len(after) - len(after.lstrip())]
    plain = (HIDES, "pass"), ("edges @ x", "edges @ (x + self.token)")
    train = script(changed(HIDDEN, *plain, (after, f"{after}\n{margin}{write}")))
    verdict = train.verdict((write, f"with torch.no_grad(): {write}"))
    assert verdict.applicability is Applicability.SAFE, verdict.summary


AVERAGED = """
    import numpy as np
    import torch

    torch.manual_seed(0)
    net = torch.nn.Linear(3, 3)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    x, y = torch.randn(12, 3), torch.randint(0, 3, (12,))
    for _ in range(4):
        out = net(x)
        per = [np.power(out[:, c].square().mean(), 1.5) for c in range(3)]
        loss = torch.nn.functional.cross_entropy(out, y) + np.average(per, weights=[1.0, 2.0, 3.0])
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
PER = "[np.power(out[:, c].square().mean(), 1.5) for c in range(3)]"
CUT = PER.replace("out[", "out.detach()[")
SUM = "np.average(per, weights=[1.0, 2.0, 3.0])"
WEIGHTED = "(torch.stack(per) * torch.tensor([1.0, 2.0, 3.0])).sum() / 6"
SMOOTH = "[out[:, c].square().mean() ** 1.5 for c in range(3)]"
COSTS = f"torch.nn.functional.cross_entropy(out, y) + {SUM}"
WEIGHT = AVERAGED.replace(COSTS, COSTS.replace(" + ", " * "))
MEASURED = AVERAGED.replace(PER, "out[:, 0].numpy()").replace(
    COSTS, "(out.tanh().sum(1) - torch.from_numpy(per)).mean()"
)


def test_a_term_that_numpy_computes_is_trained_through(script: Scripts) -> None:
    right = script(AVERAGED).verdict((PER, SMOOTH), (SUM, WEIGHTED))
    assert (right.applicability, right.effect) == (Applicability.SAFE, Effect.IDENTICAL)


FED_BY_NUMPY = """
    import numpy as np
    import torch

    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2)).requires_grad_(False)
    shift = torch.zeros(5, 3, requires_grad=True)
    opt = torch.optim.Adam([shift], lr=0.1)
    image = torch.rand(5, 3)
    for _ in range(4):
        pixels = np.asarray((image + shift).detach().numpy(), dtype=np.float32)
        seen = torch.from_numpy((pixels - 0.5) / 0.25)
        loss = torch.nn.functional.cross_entropy(model(seen), torch.ones(5, dtype=torch.long))
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
IN_TORCH = (
    ("np.asarray((image + shift).detach().numpy(), dtype=np.float32)", "image + shift"),
    ("torch.from_numpy((pixels - 0.5) / 0.25)", "(pixels - 0.5) / 0.25"),
)


@pytest.mark.apart("long")
def test_what_is_frozen_may_be_fed_by_numpy(script: Scripts) -> None:
    """The frozen network is meant to stay so: what it is given lost its graph on the way."""
    train = script(FED_BY_NUMPY)
    assert train.verify(*IN_TORCH).outcome is Outcome.SAFE
    assert train.verify((".requires_grad_(False)", "")).outcome is not Outcome.SAFE
    assert train.verify(IN_TORCH[0], (IN_TORCH[1][0], "pixels / 0.25")).outcome is not Outcome.SAFE


TWO_CUT = """
    import torch

    torch.manual_seed(0)
    left, right = torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD([*left.parameters(), *right.parameters()], lr=0.1)
    for _ in range(4):
        x = torch.randn(6, 3)
        a = left(x).detach()
        b = right(x).tanh().detach()
        loss = (a + b - 1).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
LEFT, RIGHT = ("left(x).detach()", "left(x)"), ("right(x).tanh().detach()", "right(x).tanh()")


@pytest.mark.apart("long")
def test_each_of_two_places_is_kept_where_something_owned_learns_by_it_alone(script: Scripts) -> None:
    train = script(TWO_CUT)
    assert train.verify(LEFT, RIGHT).outcome is Outcome.SAFE
    assert train.verify(LEFT).outcome is not Outcome.SAFE
    either = script(TWO_CUT.replace("right(x)", "left(x)").replace(", *right.parameters()", ""))
    for edits in ((LEFT,), (("left(x).tanh().detach()", "left(x).tanh()"),), (LEFT, (".tanh().detach()", ".tanh()"))):
        assert either.verify(*edits).outcome is not Outcome.SAFE


def test_an_array_that_was_only_looked_at_is_not_followed(script: Scripts) -> None:
    """What an optimizer owns is frozen by mistake; the array is printed."""
    looked = FED_BY_NUMPY.replace("opt.zero_grad()", "print(loss.item())\n        opt.zero_grad()")
    looked = looked.replace("[shift]", "model[2].parameters()").replace(
        "torch.from_numpy((pixels - 0.5) / 0.25)", "image"
    )
    train = script(looked)
    assert train.verify(("opt = ", "model[2].requires_grad_()\nopt = ")).outcome is Outcome.SAFE
    assert train.verify(("opt.zero_grad()", "loss.requires_grad_()")).outcome is not Outcome.SAFE


@pytest.mark.parametrize("new", one_in(2, [CUT, CUT.replace("detach()", "data")]))
def test_a_term_that_is_cut_to_a_number_is_changed(script: Scripts, new: str) -> None:
    verdict = script(AVERAGED).verdict((PER, new))
    assert (verdict.applicability, verdict.effect) == (Applicability.UNSAFE, Effect.CHANGED)


def test_a_number_that_weighs_a_loss_is_a_constant(script: Scripts) -> None:
    assert script(WEIGHT).verify((PER, CUT)).outcome is Outcome.SAFE


@pytest.mark.parametrize(
    "edit", [("out[:, 0].numpy()", "out[:, 0].detach().numpy()"), ("torch.from_numpy(per)", "per")]
)
def test_what_a_linear_loss_is_measured_from_may_be_constant(script: Scripts, edit: tuple[str, str]) -> None:
    live = ("out[:, 0].numpy()", "out[:, 0]")
    edits = [edit, live] if edit[1] == "per" else [edit]
    verdict = script(MEASURED).verdict(*edits)
    assert verdict.applicability is Applicability.UNSAFE
    assert "array-may-be-constant" in {one.property for one in verdict.findings}


EQUATION = """
    import numpy as np
    import torch

    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(1, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    opt = torch.optim.Adam(net.parameters(), lr=0.01)
    t = torch.linspace(0, 1, 21).view(-1, 1)
    for _ in range(6):
        u = net(t).squeeze(1)
        du = torch.from_numpy(np.gradient(u.numpy(), 0.05))
        loss = (RESIDUAL).square().mean() + (net(t[:1]) - 1).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
BY_NUMPY, BY_TORCH = "torch.from_numpy(np.gradient(u.numpy(), 0.05))", "torch.gradient(u, spacing=0.05)[0]"
DETACHED = ("u.numpy()", "u.detach().numpy()")


def test_a_derivative_that_numpy_takes_is_no_constant(script: Scripts) -> None:
    train = script(EQUATION.replace("RESIDUAL", "0.5 * du + u"))
    first = train.fix().fixes[0]
    assert (first.candidate.rules, first.verdict.applicability) == (("AG410",), Applicability.SAFE)
    assert train.verdict((BY_NUMPY, BY_TORCH)).applicability is Applicability.SAFE
    assert train.verdict(DETACHED).effect is Effect.CHANGED


def test_a_weight_made_of_a_derivative_may_be_a_constant(script: Scripts) -> None:
    weighted = EQUATION.replace("RESIDUAL", "torch.from_numpy(np.exp(-np.abs(du.numpy()))) * (u - 0.5)")
    assert script(weighted).verdict(DETACHED).applicability is Applicability.SAFE


COLUMN = """
    import torch
    from torch import nn

    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
    opt = torch.optim.Adam(net.parameters(), lr=0.01)
    for _ in range(4):
        points, others = torch.rand(16, 2, requires_grad=True), torch.rand(16, 2, requires_grad=True)
        u = net(points)
        x = points[:, :1]
        slope = torch.autograd.grad(u.sum(), x, create_graph=True)[0]
        bend = torch.autograd.grad(slope.sum(), x, create_graph=True)[0]
        loss = (bend + slope - 1).square().mean() + u.square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
COLUMN_OF = "x = points[:, :1]"
SLOPE, BEND = "grad(u.sum(), x, create_graph=True)[0]", "grad(slope.sum(), x, create_graph=True)[0]"
BY_WHOLE = tuple((one, one.replace(" x,", " points,") + "[:, :1]") for one in (SLOPE, BEND))
ZEROS = tuple((one, one.replace("True)", "True, allow_unused=True, materialize_grads=True)")) for one in (SLOPE, BEND))


@pytest.mark.parametrize(
    ("cut", "edits", "outcome"),
    [
        (COLUMN_OF, BY_WHOLE, Outcome.SAFE),
        (COLUMN_OF, ZEROS, Outcome.UNSAFE),
        *(
            pytest.param(*given, marks=pytest.mark.apart("long"))
            for given in (
                ("x = points[:, 0]", tuple((one, f"{new[:-7]}[:, 0]") for one, new in BY_WHOLE), Outcome.SAFE),
                ("x, t = points.split(1, 1)", BY_WHOLE, Outcome.SAFE),
                (COLUMN_OF, tuple((one, new.replace(":1]", "1:]")) for one, new in BY_WHOLE), Outcome.UNSAFE),
                (COLUMN_OF, tuple((one, new[:-7]) for one, new in BY_WHOLE), Outcome.UNSAFE),
                (COLUMN_OF, (BY_WHOLE[0], (BEND, f"{BY_WHOLE[1][1]}.detach()")), Outcome.UNSAFE),
                ("x = others[:, :1]", BY_WHOLE, Outcome.UNSAFE),  # nothing depends on these
                ("x = points[:, :1].detach().requires_grad_()", BY_WHOLE, Outcome.UNSAFE),
            )
        ),
    ],
)  # fmt: skip
def test_a_derivative_by_a_column_is_a_column_of_the_derivative_by_the_whole(
    script: Scripts, cut: str, edits: tuple[tuple[str, str], ...], outcome: Outcome
) -> None:
    assert script(changed(COLUMN, (COLUMN_OF, cut))).verify(*edits).outcome is outcome


MADE_EARLY = """
import torch

theta, shift = torch.zeros(3, requires_grad=True), torch.zeros(3, requires_grad=True)
scale = theta.exp()
optimizer = torch.optim.SGD([theta, shift], lr=0.2)
for step in range(4):
    x = torch.arange(6.0).view(2, 3) + step
    optimizer.zero_grad()
    ((x + shift) * scale).square().mean().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("old", "new", "effect"),
    row_in(
        3,
        [
            ("backward()", "backward(retain_graph=True)", Effect.IDENTICAL),
            ("* scale", "* theta.exp()", Effect.REFRESHED),
            ("* scale", "* scale.detach()", Effect.CHANGED),
        ],
    ),
)
def test_what_is_made_of_a_leaf_before_the_optimizer_is_made_starts_as_what_is_made_anew(
    script: Scripts, old: str, new: str, effect: Effect
) -> None:
    assert script(MADE_EARLY).verdict((old, new)).effect is effect


COMPLEX = """
    import torch

    torch.manual_seed(0)
    real, imaginary = torch.randn(4).requires_grad_(), torch.randn(4).requires_grad_()
    w = torch.complex(real, imaginary)
    opt = torch.optim.Adam([w], lr=0.1)
    seen = torch.randn(6, 4, dtype=torch.cfloat)
    for _ in range(5):
        loss = ((seen @ w).abs() - 1).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
"""


def test_a_complex_result_that_an_optimizer_is_given_is_a_leaf(script: Scripts) -> None:
    train = script(COMPLEX)
    leaf = ("(real, imaginary)", "(real, imaginary).detach().requires_grad_()")
    assert train.verify(leaf).outcome is Outcome.SAFE
    assert train.verify(("Adam([w]", "Adam([real, imaginary]")).outcome is not Outcome.SAFE
    assert train.verify(leaf, ("- 1)", "- 2)")).outcome is Outcome.UNSAFE


TASKS = """\
import numpy as np
import torch

net = torch.nn.Linear(3, 2)
logs = torch.nn.ParameterList(torch.nn.Parameter(torch.zeros(())) for _ in range(2))
optimizer = torch.optim.SGD([*net.parameters(), *logs], lr=0.1)
for _ in range(4):
    out = net(torch.randn(8, 3))
    losses = [(out[:, 0] - 1).square().mean(), out[:, 1].abs().mean()]
    weights = np.array([torch.exp(-one) for one in logs])
    loss = sum(one * weight for one, weight in zip(losses, weights)) + sum(logs)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
WEIGHTS = "np.array([torch.exp(-one) for one in logs])"


@pytest.mark.parametrize("new", ["torch.stack([{}])", "np.array([{}])"])
def test_a_weight_that_is_made_of_what_is_trained_may_be_trained_by_the_loss(script: Scripts, new: str) -> None:
    made = "torch.exp(-one)" if new.startswith("torch") else "torch.exp(-one).item()"
    verdict = script(TASKS).verdict((WEIGHTS, new.format(f"{made} for one in logs")))
    assert (verdict.applicability, verdict.effect) == (Applicability.UNSAFE, Effect.UNKNOWN)


def test_a_weight_that_is_made_of_losses_is_a_constant(script: Scripts) -> None:
    of_losses = TASKS.replace(WEIGHTS, "np.array(losses)")
    assert script(of_losses).verify(("np.array(losses)", "np.array([one.item() for one in losses])")).outcome is (
        Outcome.SAFE
    )


def test_a_weight_that_another_loss_trains_is_a_constant(script: Scripts) -> None:
    other = TASKS.replace(" + sum(logs)", "").replace("[*net.parameters(), *logs]", "net.parameters()")
    assert script(other).verify((WEIGHTS, "np.array([torch.exp(-one).item() for one in logs])")).outcome is Outcome.SAFE


EXPERTS = """\
import numpy as np
import torch

torch.manual_seed(0)
gate, experts = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
optimizer = torch.optim.SGD([*gate.parameters(), *experts.parameters()], lr=0.1)
for _ in range(4):
    x = torch.randn(8, 3)
    share = np.exp(gate(x).numpy())
    share = torch.from_numpy(share / share.sum(1, keepdims=True))
    loss = ((share * experts(x)).sum(1) - 1).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
NOT_OWNED = ("[*gate.parameters(), *experts.parameters()]", "experts.parameters()")
ALSO_TRAINED = (".mean()\n", ".mean() + gate(x).square().mean()\n")


def test_a_weight_that_alone_trains_what_is_owned_is_no_constant(script: Scripts) -> None:
    assert script(EXPERTS).verify(("gate(x).numpy()", "gate(x).detach().numpy()")).outcome is not Outcome.SAFE


@pytest.mark.parametrize("change", [NOT_OWNED, ALSO_TRAINED])
def test_a_weight_of_what_learns_elsewhere_or_never_is_a_constant(script: Scripts, change: tuple[str, str]) -> None:
    train = script(changed(EXPERTS, change))
    assert train.verify(("gate(x).numpy()", "gate(x).detach().numpy()")).outcome is Outcome.SAFE


CENTRES = """\
import numpy as np
import torch

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(3, 6), torch.nn.Tanh(), torch.nn.Linear(6, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
labels, noise = torch.arange(12) % 2, torch.randn(2, 2)
for _ in range(4):
    z = net(torch.randn(12, 3))
    parts = [z[labels == one] for one in range(2)]
    centres = torch.from_numpy(np.stack([np.mean([one.numpy() for one in part[:3]], axis=0) for part in parts]))
    asked = torch.cat([part[3:] for part in parts])
    loss = LOSS
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
NEAREST = "torch.nn.functional.cross_entropy(-torch.cdist(asked, centres), torch.arange(6) // 3)"
CONSTANT_ARRAY, STACKED = ("one.numpy()", "one.detach().numpy()"), "torch.stack([part[:3].mean(0) for part in parts])"
OLD_CENTRES = "torch.from_numpy(np.stack([np.mean([one.numpy() for one in part[:3]], axis=0) for part in parts]))"


@pytest.mark.parametrize(
    "loss", [NEAREST, "(asked.mean(0) - centres).square().mean()", "(centres[0] - asked).norm() + asked.mean()"]
)
@pytest.mark.parametrize("edit", [CONSTANT_ARRAY, (OLD_CENTRES, STACKED)])
def test_an_array_that_is_compared_with_its_own_source_may_be_a_constant_or_trained(
    script: Scripts, loss: str, edit: tuple[str, str]
) -> None:
    verdict = script(CENTRES.replace("LOSS", loss)).verdict(edit)
    assert verdict.applicability is not Applicability.SAFE
    assert verdict.summary.startswith("the code can mean two things")


@pytest.mark.parametrize(
    "loss",
    [
        "torch.nn.functional.mse_loss(asked.view(2, 3, 2).mean(1), centres)",  # a target
        "(asked.mean(0) * centres).mean() + asked.square().mean()",  # a weight
        "(asked.mean(0) - (0.9 * centres + noise)).square().mean()",  # data is in it, as rewards are
        "(net(torch.randn(2, 3)) - centres).square().mean()",  # another pass of the network
        "asked.square().mean(); print(centres)",
    ],
)
def test_an_array_that_is_a_target_a_weight_or_made_of_data_is_a_constant(script: Scripts, loss: str) -> None:
    assert script(CENTRES.replace("LOSS", loss)).verify(CONSTANT_ARRAY).outcome is Outcome.SAFE


ATTACKED = """\
import torch

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(3, 6), torch.nn.Tanh(), torch.nn.Linear(6, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    x = torch.randn(8, 3)
    near = x.clone().requires_grad_()
    for _ in range(3):
        slope, = torch.autograd.grad(net(near).square().mean(), near)
        near += 0.1 * slope.sign()
        near.clamp_(x - 0.15, x + 0.15)
    loss = (net(near) - 1).square().mean() + net(x).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
CLIMB, CLIP = "near += 0.1 * slope.sign()", "        near.clamp_(x - 0.15, x + 0.15)\n"
BY_DATA = (CLIMB, CLIMB.replace("near +=", "near.data +="))


@pytest.mark.parametrize(
    "edit",
    [
        (BY_DATA, (CLIP, CLIP.replace("near.clamp_", "near.data.clamp_"))),
        (
            (CLIMB, "near = (near + 0.1 * slope.sign()).detach()"),
            (CLIP, CLIP.replace("near.clamp_", "near = near.clamp").replace("15)\n", "15).requires_grad_()\n")),
        ),
    ],
)
def test_an_input_that_a_pass_makes_may_be_written_or_made_anew(
    script: Scripts, edit: tuple[tuple[str, str], ...]
) -> None:
    assert script(ATTACKED).verify(*edit).outcome is Outcome.SAFE


@pytest.mark.parametrize("edit", [(BY_DATA, (CLIP, "")), (BY_DATA, (CLIP, CLIP.replace("clamp_", "clamp")))])
def test_what_is_written_to_an_input_that_a_pass_makes_is_no_step(
    script: Scripts, edit: tuple[tuple[str, str], ...]
) -> None:
    assert script(ATTACKED).verify(*edit).outcome is Outcome.UNSAFE


SAMPLER = """\
import torch

torch.manual_seed(0)
energy = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)).requires_grad_(False)
x = torch.randn(16, 2)
for _ in range(8):
    slope, = torch.autograd.grad(energy(x).sum(), x)
    near = (-(x[:, None] - x[None]).square().sum(-1)).exp()
    x = x - 0.1 * near @ slope / len(x)
    print(f"{x.mean():.6f}")
"""
SLOPE = "    slope, = torch.autograd.grad(energy(x).sum(), x)\n"
AT_A_LEAF = "    at = x.detach().requires_grad_()\n    slope, = torch.autograd.grad(energy(at).sum(), at)\n"
NO_NETWORK = SAMPLER.replace("energy(x)", "(x - 1).square()")


@pytest.mark.parametrize(
    ("text", "at"), [(SAMPLER, AT_A_LEAF), (NO_NETWORK, AT_A_LEAF.replace("energy(at)", "(at - 1).square()"))]
)
def test_a_derivative_by_data_is_one_by_what_asks_for_a_gradient(script: Scripts, text: str, at: str) -> None:
    old = SLOPE if text is SAMPLER else SLOPE.replace("energy(x)", "(x - 1).square()")
    assert script(text).verify((old, at)).outcome is Outcome.SAFE


@pytest.mark.parametrize(
    "new",
    [
        AT_A_LEAF.replace("x.detach()", "(x + 0.1).detach()"),
        AT_A_LEAF.replace(".sum()", ".mean()"),
        "    slope = torch.zeros_like(x)\n",
        "    x.requires_grad_()\n" + SLOPE.replace("energy(x).sum()", "energy(x).sum() - x.sum()"),
    ],
)
def test_a_derivative_by_data_is_of_the_same_values(script: Scripts, new: str) -> None:
    assert script(SAMPLER).verify((SLOPE, new)).outcome is not Outcome.SAFE


PENALISED = """\
import torch

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
net.requires_grad_(False)
for _ in range(8):
    x = torch.rand(6, 2)
    slope, = torch.autograd.grad(net(x).sum(), x, create_graph=True)
    loss = (slope - 1).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
ASKS = ("x = torch.rand(6, 2)", "x = torch.rand(6, 2, requires_grad=True)")


def test_a_derivative_by_data_is_no_reason_to_train_nothing(script: Scripts) -> None:
    assert script(PENALISED).verify(ASKS).outcome is not Outcome.SAFE


ATTACK = """\
import torch
from torch.nn import functional as F

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(8):
    x, y = torch.rand(6, 2), torch.randint(0, 2, (6,))
    net.requires_grad_(False)
    slope, = torch.autograd.grad(F.cross_entropy(net(x), y), x)
    net.requires_grad_(True)
    loss = F.cross_entropy(net(x + 0.05 * slope.sign()), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
TAKES = "    slope, = torch.autograd.grad(F.cross_entropy(net(x), y), x)\n"


@pytest.mark.parametrize(
    ("new", "safe"),
    row_in(
        2,
        [
            (f"    x.requires_grad_()\n{TAKES}", True),
            (f"    x.requires_grad_()\n{TAKES.replace('y), x', 'y.flip(0)), x')}", False),
            ("    slope = torch.zeros_like(x)\n", False),
        ],
    ),
)
def test_what_is_frozen_for_an_attack_has_no_part_in_it(script: Scripts, new: str, safe: bool) -> None:
    assert (script(ATTACK).verify((TAKES, new)).outcome is Outcome.SAFE) is safe


OF_A_DICT = """\
import torch

torch.manual_seed(0)
x, y = torch.randn(16, 3), torch.randn(16)
params = {"w": torch.randn(3, requires_grad=True), "b": torch.zeros(1, requires_grad=True)}
for _ in range(6):
    loss = ((x @ params["w"]).tanh() + params["b"] - y).square().mean()
    loss.backward()
    for name in params:
        params[name] -= 0.1 * params[name].grad
        params[name].grad.zero_()
"""
WRITTEN_BY_NAME = OF_A_DICT[OF_A_DICT.index("    for name") :]
MADE_ANEW = "    params = {name: (p - 0.1 * p.grad).detach().requires_grad_() for name, p in params.items()}\n"
ONLY_COPIED = MADE_ANEW.replace("p - 0.1 * p.grad", "p.clone()")


@pytest.mark.parametrize(
    ("new", "outcome"),
    [
        (MADE_ANEW, Outcome.SAFE),
        (MADE_ANEW.replace("p - ", "p + "), Outcome.UNSAFE),
        (ONLY_COPIED, Outcome.UNSAFE),
    ],
)
def test_weights_that_each_pass_makes_anew_are_the_ones_stepped(script: Scripts, new: str, outcome: Outcome) -> None:
    assert script(OF_A_DICT).verify((WRITTEN_BY_NAME, new)).outcome is outcome


CONVERTED = """\
import torch
from torch import nn

torch.manual_seed(0)


def sparse(w, least=0.2):
    w = w.to(torch.float32)
    w[w.abs() < least] = 0.0
    return w


w, head = nn.Parameter(torch.randn(3, 4) * 0.3), nn.Linear(4, 1)
opt = torch.optim.SGD([w, *head.parameters()], lr=0.1)
for _ in range(6):
    loss = (head((torch.randn(8, 3) @ sparse(w)).tanh()) - 1).square().mean() + 0.01 * w.square().sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
FILLED = "    w[w.abs() < least] = 0.0\n"
OUTSIDE = FILLED, "    w = w.masked_fill(w.abs() < least, 0.0)\n"
UNRECORDED = FILLED, f"    with torch.no_grad():\n    {FILLED}"
AFTERWARDS = [
    ("sparse(w)).tanh", "w).tanh"),
    ("    opt.step()\n", "    opt.step()\n    sparse(w)\n    print(w.norm().item())\n"),
]
IN_FULL = [("w = w.to(torch.float32)", "least = least * 1.0")]
BY_ROW = [(FILLED, "    for row in range(len(w)):\n        w[row].mul_(0.5)\n")]
ROW_BY_ROW = BY_ROW[0][1], "    w = torch.stack([w[row].mul(0.5) for row in range(len(w))])\n"
ROWS_UNRECORDED = ".mul_(0.5)", ".detach().mul_(0.5)"


@pytest.mark.parametrize(
    ("changes", "edit", "safe"),
    [
        ([], OUTSIDE, True),
        ([], UNRECORDED, False),
        (AFTERWARDS, OUTSIDE, False),
        (AFTERWARDS, UNRECORDED, True),
        (IN_FULL, OUTSIDE, False),
        (BY_ROW, ROW_BY_ROW, True),
        (BY_ROW, ROWS_UNRECORDED, False),
    ],
    ids=["used", "as an update", "dropped", "it updates", "not converted", "by views", "by views, as an update"],
)
def test_what_a_function_converts_before_it_writes_is_meant_to_be_its_own(
    script: Scripts, changes: list[tuple[str, str]], edit: tuple[str, str], safe: bool
) -> None:
    assert (script(changed(CONVERTED, *changes)).verify(edit).outcome is Outcome.SAFE) is safe
