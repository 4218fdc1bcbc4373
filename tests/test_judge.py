"""The judge: the reference run, gradient effects, guards, and that it is proved before it is believed."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from autofix import pipeline
from autofix.core.model import (
    Applicability,
    Candidate,
    Effect,
    Fix,
    Outcome,
    Reading,
    Report,
    RunOutcome,
    Target,
    Verdict,
)
from autofix.experiments.compare import close
from autofix.experiments.requests import plain
from autofix.experiments.run import Probe, run
from autofix.search.registry import rules

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from autofix.probe import wire

pytestmark = pytest.mark.torch

TWO_NETWORKS = """
    import torch
    from torch import nn, optim

    torch.manual_seed(0)
    G = nn.Linear(2, 2)
    D = nn.Linear(2, 2)
    optimG = optim.Adam(G.parameters())
    optimD = optim.Adam(D.parameters())
    t = torch.tensor([1.0, 2.0], requires_grad=True)
    g = G(t)
    d = D(g)

    lossD = d.sum()
    optimD.zero_grad()
    lossD.backward()
    optimD.step()

    lossG = (g + d).sum()
    optimG.zero_grad()
    lossG.backward()
    optimG.step()
    print("first row", G.weight.grad[0].tolist())
"""


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a script and gives its path."""

    def write(text: str) -> Path:
        path = tmp_path / "train.py"
        path.write_text(textwrap.dedent(text))
        return path

    return write


def verify(probe: Probe, path: Path, *changes: tuple[str, str]) -> Report:
    """`verify` of the script with each (old, new) replaced."""
    text = path.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    target = Target(path, root=path.parent)
    return pipeline.verify(target, {path: text.encode()}, probe=probe, progress=lambda _: None)


def effect(report: Report) -> Effect:
    """The effect of the one edit that was judged."""
    (one,) = report.fixes
    return one.verdict.effect


def reference(probe: Probe, path: Path) -> wire.Trace:
    """The reference run of a script."""
    return run(probe, plain(Target(path, root=path.parent), "reference"))


def test_the_reference_of_the_two_network_script_has_the_gradient_that_the_code_describes(
    probe: Probe, script: Callable[[str], Path]
) -> None:
    trace = reference(probe, script(TWO_NETWORKS))
    assert trace.outcome == "finished"
    assert _row(trace.stdout) == pytest.approx([0.9232, 1.8465], abs=1e-4)


def _row(text: str) -> list[float]:
    return [float(part) for part in text.split("[")[1].rstrip("]\n").split(",")]


@pytest.mark.parametrize(
    ("changes", "wanted", "row"),
    [
        pytest.param([("lossD.backward()", "lossD.backward(retain_graph=True)")], (Outcome.STILL_FAILING, None), None,
                     id="what torch's message says"),
        pytest.param([("lossD.backward()", "lossD.backward(retain_graph=True)"), ("(g + d)", "(g + d.detach())")],
                     (Outcome.UNSAFE, Effect.CHANGED), [1.0, 2.0], id="a popular tutorial's answer"),
        pytest.param([("d = D(g)", "d = D(g.detach())"), ("lossG =", "d = D(g)\nlossG =")],
                     (Outcome.SAFE, Effect.REFRESHED), None, id="forward again"),
        pytest.param(
            [("lossD.backward()\noptimD.step()\n", "lossD.backward(retain_graph=True)\n"),
             ("optimG.zero_grad()\nlossG.backward()\n",
              "optimG.zero_grad()\nlossG.backward(inputs=list(G.parameters()))\noptimD.step()\n")],
            (Outcome.SAFE, Effect.IDENTICAL), [0.9232, 1.8465], id="both backwards before both steps"),
    ],
)  # fmt: skip
def test_edits_of_the_two_network_script(
    probe: Probe, script: Callable[[str], Path], changes: list[tuple[str, str]], wanted: tuple[Outcome, Effect | None],
    row: list[float] | None,
) -> None:  # fmt: skip
    path = script(TWO_NETWORKS)
    outcome, expected = wanted
    report = verify(probe, path, *changes)
    assert report.outcome is outcome
    if expected is not None:
        assert effect(report) is expected
    if row is not None:
        text = path.read_text()
        for old, new in changes:
            text = text.replace(old, new)
        asked = replace(plain(Target(path, root=path.parent), "candidate"), overlay={str(path): text})
        assert _row(run(probe, asked).stdout) == pytest.approx(row, abs=1e-4)


MEMORY = """
    import torch

    torch.manual_seed(0)
    w = torch.randn(4, 8, requires_grad=True)
    queue = torch.randn(8, 8)
    keys = torch.randn(8, 4)
    out = (torch.randn(3, 4) @ w) @ queue{clone}
    queue[:, 4:8] = keys
    out.pow(2).sum().backward()
    print("gradient", w.grad.norm().item())
"""


def test_a_write_through_a_view_at_another_offset_does_not_reach_the_reference(
    probe: Probe, script: Callable[[str], Path]
) -> None:
    """Torch's own allow_mutation_on_saved_tensors gives a wrong gradient here: it looks up data pointers."""
    right = run(probe, plain(Target(script(MEMORY.replace("{clone}", ".clone()"))), "baseline"))
    kept = reference(probe, script(MEMORY.replace("{clone}", "")))
    assert right.outcome == kept.outcome == "finished"
    assert float(kept.stdout.split()[1]) == pytest.approx(float(right.stdout.split()[1]), rel=1e-6)


SHARED = """
    import torch

    torch.manual_seed(1)
    trunk, left, right = (torch.nn.Linear(3, 3) for _ in range(3))
    opt = torch.optim.{optimizer}
    for step in range(6):
        x = torch.randn(5, 3)
        h = torch.tanh(trunk(x))
        first, second = left(h).pow(2).mean(), right(h).pow(2).mean()
        {before}
        first.backward()
        second.backward()
        opt.step()
        {after}
"""


def shared(optimizer: str = "", before: str = "opt.zero_grad()", after: str = "pass") -> str:
    """Two losses on one trunk, with variations."""
    owned = "[*trunk.parameters(), *left.parameters(), *right.parameters()]"
    return SHARED.format(optimizer=optimizer or f"SGD({owned}, lr=0.1)", before=before, after=after)


KEEP = ("first.backward()", "first.backward(retain_graph=True)")


@pytest.mark.parametrize(
    ("text", "extra"),
    [
        pytest.param(shared(), ("lr=0.1", "lr=0.0"), id="a learning rate of 0"),
        pytest.param(
            shared().replace("lr=0.1", "lr=torch.tensor(0.1)"),
            ("tensor(0.1)", "tensor(0.101)"),
            id="a tensor learning rate",
        ),
        pytest.param(shared(after="opt = opt"), ("opt = opt", "opt = type(opt)(opt.param_groups)"), id="rebuilt"),
        pytest.param(
            shared(before="opt.zero_grad(); second = second + 1e-4 * trunk.weight.pow(2).sum()"),
            ("1e-4 *", "0.0 *"), id="a small loss term dropped",
        ),
        pytest.param(
            shared(after="sched = torch.optim.lr_scheduler.StepLR(opt, 1); sched.step()"),
            ("sched.step()", "pass"), id="a scheduler dropped",
        ),
        pytest.param(
            shared(before="opt.zero_grad(); ema = {'w': torch.zeros(3, 3)} if not step else ema",
                   after="ema['w'].mul_(0.9).add_(trunk.weight.detach(), alpha=0.1)"),
            ("ema['w'].mul_(0.9).add_(trunk.weight.detach(), alpha=0.1)", "pass"), id="a moving average dropped",
        ),
        pytest.param(shared(), ("opt.step()", "if step < 1: opt.step()"), id="a step skipped from the second pass on"),
        pytest.param(shared(), ("left(h)", "left(h.detach())"), id="a loss cut off"),
    ],
)  # fmt: skip
def test_a_right_repair_with_something_taken_away_is_never_safe(
    probe: Probe, script: Callable[[str], Path], text: str, extra: tuple[str, str]
) -> None:
    path = script(text)
    assert verify(probe, path, KEEP).outcome is Outcome.SAFE
    report = verify(probe, path, KEEP, extra)
    assert report.outcome is Outcome.UNSAFE, report.fixes[0].verdict.summary


def test_a_detach_before_a_zero_initialised_layer_is_seen(probe: Probe, script: Callable[[str], Path]) -> None:
    zero = "torch.nn.init.zeros_(left.weight); torch.nn.init.zeros_(left.bias)"
    path = script(shared().replace("for step in range(6):", f"{zero}\n    for step in range(1):"))
    assert verify(probe, path, KEEP).outcome is Outcome.SAFE
    assert verify(probe, path, KEEP, ("left(h)", "left(h.detach())")).outcome is Outcome.UNSAFE


@pytest.mark.parametrize(
    "joins",
    [
        pytest.param(
            "gain = torch.nn.Parameter(torch.zeros(1)); opt.add_param_group({'params': [gain]})", id="joins late"
        ),
        pytest.param(
            "gain = torch.nn.Parameter(torch.ones(1)); opt.add_param_group({'params': [gain]}); gain.data.zero_()",
            id="is zeroed late",
        ),
    ],
)
def test_a_gain_that_starts_at_zero_hides_no_detach(probe: Probe, script: Callable[[str], Path], joins: str) -> None:
    text = shared(before="opt.zero_grad(); second = second + (gain * h.pow(3).sum()).sum()")
    path = script(text.replace("for step in range(6):", f"{joins}\n    for step in range(1):"))
    assert verify(probe, path, KEEP).outcome is Outcome.SAFE
    assert verify(probe, path, KEEP, ("gain * h.pow", "gain * h.detach().pow")).outcome is Outcome.UNSAFE


@pytest.mark.parametrize(
    ("before", "after", "extra"),
    [
        pytest.param(
            "opt.zero_grad(); old = [p.detach().clone() for p in trunk.parameters()] if not step else old; "
            "second = second + sum((p - q).pow(2).sum() for p, q in zip(trunk.parameters(), old))",
            "pass", ("(p - q)", "(q - q)"), id="a pull towards the first weights",
        ),
        pytest.param(
            "opt.zero_grad(); tgt = __import__('copy').deepcopy(trunk) if not step else tgt; "
            "second = second + (h - tgt(x).detach()).pow(2).mean()",
            "tgt.load_state_dict(trunk.state_dict())", ("tgt.load_state_dict(trunk.state_dict())", "pass"),
            id="a target no longer kept up",
        ),
    ],
)  # fmt: skip
def test_what_shows_only_once_parameters_have_moved_is_seen(
    probe: Probe, script: Callable[[str], Path], before: str, after: str, extra: tuple[str, str]
) -> None:
    path = script(shared(before=before, after=after))
    assert verify(probe, path, KEEP).outcome is Outcome.SAFE
    assert verify(probe, path, KEEP, extra).outcome is Outcome.UNSAFE


@pytest.mark.parametrize(
    ("text", "extra"),
    [
        pytest.param(
            shared(before="opt.zero_grad(); second = second + (h - tgt(x).detach()).pow(2).mean()",
                   after="tgt.load_state_dict(trunk.state_dict())")
            .replace("for step", "tgt = __import__('copy').deepcopy(trunk); "
                     "epochs = torch.optim.lr_scheduler.LambdaLR(opt, lambda epoch: epoch / 5)\n    for step"),
            ("tgt.load_state_dict(trunk.state_dict())", "pass"), id="while the learning rate is still 0",
        ),
        pytest.param(
            shared(before="opt.zero_grad(); second = second + torch.nn.functional.smooth_l1_loss(w * trunk.weight, no)")
            .replace("for step in range(6):", "w, no = 0.99 / trunk.weight.detach().abs().max(), torch.zeros(3, 3)\n"
                     "    for step in range(30):"),
            ("torch.nn.functional.smooth_l1_loss(", "0.5 * torch.nn.functional.mse_loss("),
            id="while no value reaches the bend of a loss",
        ),
        pytest.param(
            shared().replace("for step in range(6):", "step = 0\n    while step < 6:")
            .replace("opt.step()", "opt.step(); step += 1"),
            ("step += 1", "step += 0"), id="until the script should have ended",
        ),
    ],
)  # fmt: skip
def test_an_edit_that_equals_the_code_only_for_now_is_not_safe(
    probe: Probe, script: Callable[[str], Path], text: str, extra: tuple[str, str]
) -> None:
    path = script(text)
    assert verify(probe, path, KEEP).outcome is Outcome.SAFE
    assert verify(probe, path, KEEP, extra).outcome is Outcome.UNSAFE


AVERAGED = """
    import copy, torch

    torch.manual_seed(4)
    net = torch.nn.Linear(3, 1)
    average = copy.deepcopy(net)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(100_000):
        opt.zero_grad()
        net(torch.randn(8, 3)).pow(2).mean().backward()
        opt.step()
        for mean, p in zip(average.parameters(), net.parameters()):
            mean.mul_(0.9).add_(p, alpha=0.1)
"""


def test_an_average_that_no_gradient_uses_is_compared_where_the_runs_stop(
    probe: Probe, script: Callable[[str], Path]
) -> None:
    path, before = script(AVERAGED), "mean.mul_(0.9).add_(p, alpha=0.1)"
    assert verify(probe, path, (before, "mean.data.mul_(0.9).add_(p.data, alpha=0.1)")).outcome is Outcome.SAFE
    for wrong in ("mean.data.copy_(p.data)", "mean.data = p.data", "mean.data.mul_(0.9)"):
        assert verify(probe, path, (before, wrong)).outcome is Outcome.UNSAFE


CARRIED = """
    import torch

    torch.manual_seed(2)
    cell, head = torch.nn.GRUCell(2, 4), torch.nn.Linear(4, 1)
    opt = torch.optim.Adam([*cell.parameters(), *head.parameters()], lr=0.01)
    h = torch.zeros(3, 4)
    for _ in range(6):
        for _ in range(2):
            h = cell(torch.randn(3, 2), h)
        loss = head(h).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        end = 0
"""


def test_a_state_cut_between_iterations_is_truncated_and_one_cut_within_is_changed(
    probe: Probe, script: Callable[[str], Path]
) -> None:
    path = script(CARRIED)
    assert effect(verify(probe, path, ("end = 0", "h = h.detach()"))) is Effect.TRUNCATED
    assert effect(verify(probe, path, ("2), h)", "2), h.detach())"))) is Effect.CHANGED


SEVERAL = """
    import torch

    torch.manual_seed(2)
    cell, head = torch.nn.GRUCell(2, 4), torch.nn.Linear(4, 1)
    opt = torch.optim.Adam([*cell.parameters(), *head.parameters()], lr=0.01)

    def update(*losses):
        opt.zero_grad()
        for loss in losses:
            loss.backward(retain_graph=loss is not losses[-1])
        opt.step()

    h = torch.zeros(3, 4)
    for _ in range(6):
        h = cell(torch.randn(3, 2), h)
        out = head(h)
        update(out.pow(2).mean(), 0.1 * out.abs().mean())
        end = 0
"""


def test_where_one_line_runs_backward_for_several_losses_of_a_pass_each_is_cut_where_the_pass_began(
    probe: Probe, script: Callable[[str], Path]
) -> None:
    path = script(SEVERAL)
    kept = verify(probe, path, ("end = 0", "h = h.detach()"))
    assert (kept.outcome, effect(kept)) == (Outcome.SAFE, Effect.TRUNCATED)
    for wrong in (("head(h)", "head(h.detach())"), ("0.1 * out.abs()", "0.1 * out.detach().abs()")):
        cut = verify(probe, path, ("end = 0", "h = h.detach()"), wrong)
        assert cut.outcome is not Outcome.SAFE


CROSSED = """
    import torch

    torch.manual_seed(3)
    G, D = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)
    g_opt = torch.optim.SGD(G.parameters(), lr=0.1)
    d_opt = torch.optim.SGD(D.parameters(), lr=0.1)
    for _ in range(5):
        fake = torch.tanh(G(torch.randn(4, 2)))
        g_opt.zero_grad(); d_opt.zero_grad()
        D(fake).pow(2).mean().backward()
        d_opt.step()
        (1 - D(fake)).pow(2).mean().backward()
        g_opt.step()
"""


def test_gradient_left_for_another_optimizer_is_cross_talk_and_both_readings_are_shown(
    probe: Probe, script: Callable[[str], Path]
) -> None:
    path = script(CROSSED)
    kept = verify(
        probe, path, ("D(fake).pow(2).mean().backward()", "D(fake).pow(2).mean().backward(retain_graph=True)")
    )
    assert kept.outcome is Outcome.UNSAFE
    assert {one.property for one in kept.fixes[0].verdict.findings} == {"gradient-left-over"}
    cut = verify(probe, path, ("    D(fake)", "    D(fake.detach())"))
    assert cut.outcome is Outcome.UNSAFE
    assert cut.fixes[0].verdict.reading == Reading(separated=True)


ACTOR_CRITIC = """
    import torch

    torch.manual_seed(5)
    actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
    a_opt = torch.optim.SGD(actor.parameters(), lr=0.1)
    c_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
    for _ in range(5):
        x = torch.randn(6, 3)
        advantage = x[:, :1] - critic(x)
        a_opt.zero_grad(); c_opt.zero_grad()
        advantage.pow(2).mean().backward({keep})
        (-actor(x).log_softmax(1)[:, :1] * advantage{cut}).mean().backward()
        a_opt.step(); c_opt.step()
"""


def test_a_loss_that_may_or_may_not_be_meant_for_a_second_network_is_not_safe(
    probe: Probe, script: Callable[[str], Path]
) -> None:
    path = script(ACTOR_CRITIC.format(keep="", cut=""))
    report = verify(probe, path, (".mean().backward()\n    (-", ".mean().backward(retain_graph=True)\n    (-"))
    assert report.outcome is Outcome.UNSAFE
    assert {one.property for one in report.fixes[0].verdict.findings} == {"loss-trains-two-networks"}


def test_the_doubt_stays_where_the_other_network_takes_no_step_in_what_was_run(
    probe: Probe, script: Callable[[str], Path]
) -> None:
    text = ACTOR_CRITIC.format(keep="", cut="").replace("a_opt.step(); c_opt.step()", "c_opt.step()")
    report = verify(probe, script(text), (".mean().backward()\n    (-", ".mean().backward(retain_graph=True)\n    (-"))
    assert {one.property for one in report.fixes[0].verdict.findings} == {"loss-trains-two-networks"}


def test_the_doubt_stays_where_both_optimizers_own_a_trunk(probe: Probe, script: Callable[[str], Path]) -> None:
    path = script("""
        import torch

        torch.manual_seed(5)
        trunk, policy, value = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2), torch.nn.Linear(4, 1)
        a_opt = torch.optim.SGD([*trunk.parameters(), *policy.parameters()], lr=0.1)
        c_opt = torch.optim.SGD([*trunk.parameters(), *value.parameters()], lr=0.1)
        for _ in range(5):
            hidden = trunk(torch.randn(6, 3)).tanh()
            advantage = 1 - value(hidden)
            a_opt.zero_grad()
            (-policy(hidden).log_softmax(1)[:, :1] * advantage).mean().backward()
            c_opt.zero_grad()
            advantage.pow(2).mean().backward()
            a_opt.step(); c_opt.step()
    """)
    report = verify(probe, path, ("advantage).mean().backward()", "advantage).mean().backward(retain_graph=True)"))
    assert {one.property for one in report.fixes[0].verdict.findings} == {"loss-trains-two-networks"}


def test_what_a_loss_leaves_in_a_second_network_and_is_thrown_away_there_is_no_doubt(
    probe: Probe, script: Callable[[str], Path]
) -> None:
    path = script("""
        import torch

        torch.manual_seed(0)
        g, d = torch.nn.Linear(3, 3), torch.nn.Linear(3, 1)
        g_opt = torch.optim.SGD(g.parameters(), lr=0.1)
        d_opt = torch.optim.SGD(d.parameters(), lr=0.1)
        for _ in range(5):
            real = torch.randn(6, 3)
            fake = g(torch.randn(6, 3))
            g_opt.zero_grad()
            (1 - d(fake)).pow(2).mean().backward()
            g_opt.step()
            d_opt.zero_grad()
            (1 - d(real)).pow(2).mean().backward()
            d(fake).pow(2).mean().backward()
            d_opt.step()
    """)
    report = verify(probe, path, ("    d(fake)", "    d(fake.detach())"))
    assert report.outcome is Outcome.SAFE


RESIDUAL = """
    import torch

    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    x = torch.rand(16, 1, requires_grad=True)
    t = torch.rand(16, 1, requires_grad=True)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        u = net(torch.cat([x, t], 1))
        u_t = torch.autograd.grad(u.sum(), t, retain_graph=True)[0]
        u_x = torch.autograd.grad(u.sum(), x, retain_graph=True)[0]
        u_xx = torch.autograd.grad(u_x.sum(), x, retain_graph=True)[0]
        loss = (u_t + u * u_x - u_xx).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
"""


def test_a_residual_of_which_only_one_derivative_gets_a_graph_is_in_doubt_and_all_of_them_are_offered(
    probe: Probe, script: Callable[[str], Path]
) -> None:
    path = script(RESIDUAL)
    report = pipeline.fix(Target(path, root=path.parent), rules(), probe=probe, progress=lambda _: None)
    first, both = report.fixes
    assert first.verdict.applicability is Applicability.UNSAFE
    assert {one.property for one in first.verdict.findings} == {"derivative-is-constant"}
    assert first.candidate.titles == ("Give the derivative a graph",)
    assert both.candidate.titles == ("Give each derivative a graph",)
    assert both.diff.count(b"\n+    u") == 3


PENALTY = """
    import torch

    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        x = torch.randn(6, 3, requires_grad=True)
        score = net(x).pow(2)
        opt.zero_grad()
        score.sum().backward()
        loss = score.mean() + {term}
        loss.backward()
        opt.step()
"""


@pytest.mark.parametrize(
    ("term", "outcome"),
    [
        ("(x.grad.norm(2, 1) - 1).pow(2).mean()", Outcome.UNSAFE),  # a penalty that would train nothing
        ("net(x.detach() + 0.1 * x.grad.sign()).mean()", Outcome.SAFE),  # an attack: a sign has no derivative
    ],
)
def test_a_gradient_that_a_backward_left_and_a_loss_reads_is_in_doubt(
    probe: Probe, script: Callable[[str], Path], term: str, outcome: Outcome
) -> None:
    path = script(PENALTY.replace("{term}", term))
    report = verify(probe, path, ("sum().backward()", "sum().backward(retain_graph=True)"))
    assert report.outcome is outcome
    names = {one.property for one in report.fixes[0].verdict.findings}
    assert names == ({"derivative-is-constant"} if outcome is Outcome.UNSAFE else set())


@pytest.mark.parametrize(
    ("lines", "edit"),
    [
        (  # the derivative itself finds the graph freed
            "slope = torch.autograd.grad(score.sum(), x)[0]; loss = net(-x.detach()).mean() + slope.pow(2).mean()",
            ("sum().backward()", "sum().backward(retain_graph=True)"),
        ),
        (  # nothing but the derivative is in the loss: a graph from elsewhere lets it run and train nothing
            "loss = (x.grad - x.detach().cos()).pow(2).mean()",
            ("x.detach().cos()", "x.cos()"),
        ),
    ],
)
def test_a_derivative_without_a_graph_is_in_doubt_where_it_fails_itself(
    probe: Probe, script: Callable[[str], Path], lines: str, edit: tuple[str, str]
) -> None:
    report = verify(probe, script(PENALTY.replace("loss = score.mean() + {term}", lines)), edit)
    assert {one.property for one in report.fixes[0].verdict.findings} == {"derivative-is-constant"}


def test_an_update_that_throws_away_a_graph_asked_for_is_in_doubt(probe: Probe, script: Callable[[str], Path]) -> None:
    path = script("""
        import torch

        torch.manual_seed(0)
        net = torch.nn.Linear(2, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(4):
            saved = {name: value.clone() for name, value in net.state_dict().items()}
            inner = (net(torch.randn(4, 2)) - 1).pow(2).mean()
            for p, g in zip(net.parameters(), torch.autograd.grad(inner, list(net.parameters()){created})):
                p -= 0.1 * g
            opt.zero_grad()
            (net(torch.randn(4, 2)) - 1).pow(2).mean().backward()
            net.load_state_dict(saved)
            opt.step()
    """)
    text = path.read_text()
    for created, outcome in ((", create_graph=True", Outcome.UNSAFE), ("", Outcome.SAFE)):
        path.write_text(text.replace("{created}", created))
        report = verify(probe, path, ("p -= 0.1 * g", "p.data -= 0.1 * g"))
        assert report.outcome is outcome
        assert {one.property for one in report.fixes[0].verdict.findings} == (
            {"create-graph-unused"} if created else set()
        )


def test_a_trunk_under_heads_with_optimizers_of_their_own_is_no_doubt(
    probe: Probe, script: Callable[[str], Path]
) -> None:
    path = script("""
        import torch

        torch.manual_seed(6)
        trunk, left, right = (torch.nn.Linear(3, 3) for _ in range(3))
        opts = [torch.optim.SGD(net.parameters(), lr=0.1) for net in (trunk, left, right)]
        for _ in range(5):
            h = torch.tanh(trunk(torch.randn(5, 3)))
            for opt in opts: opt.zero_grad()
            left(h).pow(2).mean().backward()
            right(h).abs().mean().backward()
            for opt in opts: opt.step()
    """)
    old, new = "left(h).pow(2).mean().backward()", "left(h).pow(2).mean().backward(retain_graph=True)"
    assert verify(probe, path, (old, new)).outcome is Outcome.SAFE


TWICE = """
    import torch

    torch.manual_seed(4)
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        x = torch.randn(5, 4)
        out = net(x)
        fit = torch.nn.functional.cross_entropy(out, torch.tensor([0, 1, 2, 0, 1]))
        opt.zero_grad()
        fit.backward()
        opt.step()
        spread = -out.log_softmax(1).mean()
        opt.zero_grad()
        spread.backward()
        opt.step()
"""


def test_a_chain_that_computes_anew_keeps_no_graph(probe: Probe, script: Callable[[str], Path]) -> None:
    path = script(TWICE)
    report = pipeline.fix(Target(path, root=path.parent), rules(), probe=probe, progress=lambda _: None)
    first = report.fixes[0]
    assert (first.candidate.rules, first.verdict.effect) == (("AG102",), Effect.REFRESHED)
    assert first.verdict.applicability is Applicability.SAFE
    assert b"retain_graph" not in first.diff


@pytest.mark.parametrize(
    "line",
    [
        "spread = -net(x).detach().log_softmax(1).mean() + 0 * net(x).sum()",
        "spread = -net[2](net[1](net[0](x)).detach()).log_softmax(1).mean()",
        "spread = -1.0001 * net(x).log_softmax(1).mean()",
        "x = torch.randn(5, 4); spread = -net(x).log_softmax(1).mean()",
        "opt.param_groups[0]['lr'] = 0.01; spread = -net(x).log_softmax(1).mean()",
    ],
    ids=["detached", "a part detached", "scaled", "other data", "another rate"],
)
def test_what_is_computed_otherwise_after_a_step_is_not_safe(
    probe: Probe, script: Callable[[str], Path], line: str
) -> None:
    path = script(TWICE)
    text = path.read_text().replace("spread = -out.log_softmax(1).mean()", line)
    target = Target(path, root=path.parent)
    report = pipeline.verify(target, {path: text.encode()}, probe=probe, progress=lambda _: None, ours=True)
    assert report.outcome is Outcome.UNSAFE


WINDOWS = """
    import torch

    torch.manual_seed(4)
    cell, head = torch.nn.GRUCell(2, 4), torch.nn.Linear(4, 1)
    opt = torch.optim.Adam([*cell.parameters(), *head.parameters()])
    for window in torch.randn(4, 6, 3, 2):
        h, total = torch.zeros(3, 4), 0
        opt.zero_grad()
        for x in window:
            h = cell(x, h)
            loss = head(h).pow(2).mean()
            total = total + loss
            loss.backward()
        opt.step()
"""


def test_a_graph_that_ends_with_the_step_does_not_grow(probe: Probe, script: Callable[[str], Path]) -> None:
    report = verify(probe, script(WINDOWS), ("ward()", "ward(retain_graph=True)"))
    assert (report.outcome, report.fixes[0].verdict.findings) == (Outcome.SAFE, ())


@pytest.mark.parametrize(
    ("old", "new"),
    [("loss.backward()", "total.backward()"), ("(4, 6,", "(1, 24,")],
    ids=["a running total", "one window"],
)
def test_a_graph_that_no_step_is_seen_to_end_grows(
    probe: Probe, script: Callable[[str], Path], old: str, new: str
) -> None:
    report = verify(probe, script(WINDOWS.replace(old, new)), ("ward()", "ward(retain_graph=True)"))
    assert report.outcome is Outcome.UNSAFE
    assert "graph-grows-each-pass" in {one.property for one in report.fixes[0].verdict.findings}


def test_a_graph_kept_from_before_its_closure_is_stale(probe: Probe, script: Callable[[str], Path]) -> None:
    path = script("""
        import torch

        torch.manual_seed(4)
        w = torch.nn.Parameter(torch.randn(3))
        opt = torch.optim.LBFGS([w], line_search_fn="strong_wolfe")
        for _ in range(2):
            loss = (w.tanh() - 0.3).pow(2).sum()

            def closure():
                opt.zero_grad()
                loss.backward()
                return loss

            opt.step(closure)
    """)
    report = verify(probe, path, (".backward()", ".backward(retain_graph=True)"))
    assert report.outcome is Outcome.UNSAFE
    assert "graph-older-than-update" in {one.property for one in report.fixes[0].verdict.findings}


def test_a_graph_kept_from_before_the_loop_is_stale(probe: Probe, script: Callable[[str], Path]) -> None:
    path = script("""
        import torch

        torch.manual_seed(4)
        w = torch.randn(3, requires_grad=True)
        opt = torch.optim.SGD([w], lr=0.1)
        norm = w + 1
        scaled = norm.exp()
        for _ in range(5):
            opt.zero_grad()
            (scaled * torch.randn(3)).sum().backward()
            opt.step()
    """)
    report = verify(probe, path, (".backward()", ".backward(retain_graph=True)"))
    assert report.outcome is Outcome.UNSAFE
    assert "graph-older-than-update" in {one.property for one in report.fixes[0].verdict.findings}


def test_an_edit_that_no_run_reached_is_not_believed(probe: Probe, script: Callable[[str], Path]) -> None:
    path = script(shared(after="if step > 100: opt.param_groups[0]['lr'] = 0.5"))
    for new in ("opt.param_groups[0]['lr'] = 0.7", "pass"):
        report = verify(probe, path, KEEP, ("opt.param_groups[0]['lr'] = 0.5", new))
        assert effect(report) is Effect.UNKNOWN
        assert "never ran" in report.fixes[0].verdict.summary


@pytest.mark.parametrize(
    ("old", "new"),
    [("def late(h, scale=2):", "def late(h, scale=0):"), ("def late(h", "@torch.no_grad()\n    def late(h")],
    ids=["a default", "a decorator"],
)
def test_the_head_of_a_function_that_was_not_called_is_not_believed(
    probe: Probe, script: Callable[[str], Path], old: str, new: str
) -> None:
    late = "def late(h, scale=2):\n        'Later.'\n        return h * scale\n    for step"
    path = script(shared(before="opt.zero_grad(); h = late(h) if step > 100 else h").replace("for step", late, 1))
    assert verify(probe, path, KEEP).outcome is Outcome.SAFE
    report = verify(probe, path, KEEP, (old, new.replace("\n    ", "\n")))
    assert effect(report) is Effect.UNKNOWN


def test_a_changed_file_that_was_not_loaded_is_not_believed(probe: Probe, script: Callable[[str], Path]) -> None:
    path = script(shared(after="if step > 100: import later"))
    later = path.with_name("later.py")
    later.write_text("scale = 1\n")
    kept = path.read_text().replace(*KEEP).encode()
    target = Target(path, root=path.parent)
    for new, wanted in ((b"scale = 1\n", Outcome.SAFE), (b"scale = 2\n", Outcome.UNSAFE)):
        report = pipeline.verify(target, {path: kept, later: new}, probe=probe, progress=lambda _: None)
        assert report.outcome is wanted


def test_a_script_that_draws_on_something_unseeded_is_not_judged_changed(
    probe: Probe, script: Callable[[str], Path]
) -> None:
    path = script(shared(before="opt.zero_grad(); import time; x = time.time_ns() % 1000; first = first * x"))
    assert effect(verify(probe, path, KEEP)) is Effect.UNKNOWN


def test_the_unedited_script_is_still_failing(probe: Probe, script: Callable[[str], Path]) -> None:
    path = script(shared())
    assert verify(probe, path).outcome is Outcome.STILL_FAILING


def test_no_absolute_floor_hides_a_small_gradient() -> None:
    assert not close((1e-12, 1e-12, 0.0, 0.0), (2e-12, 2e-12, 0.0, 0.0), 2e-5)
    assert close((), (0.0, 0.0, 0.0, 0.0), 2e-5)
    assert not close((), (1e-20, 0.0, 0.0, 0.0), 2e-5)


TWO_PHASES = """
    import torch
    from torch import nn

    torch.manual_seed(0)
    encoder, head, seen = nn.Linear(4, 8), nn.Linear(8, 1), None
    x, y = torch.randn(32, 4), torch.randn(32, 1)
    seen = encoder(x)
    opt = torch.optim.SGD(head.parameters(), lr=0.1)
    for _ in range(200):
        loss = (head(seen) - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    opt = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.1)
    for _ in range(200):
        loss = (head(encoder(x)) - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
"""


def test_what_no_optimizer_owns_yet_is_not_cut_off_as_safe(probe: Probe, script: Callable[[str], Path]) -> None:
    path = script(TWO_PHASES)
    cut = verify(probe, path, ("seen = encoder(x)", "seen = encoder(x).detach()"))
    assert cut.outcome is Outcome.UNSAFE
    assert [one.property for one in cut.fixes[0].verdict.findings] == ["no-optimizer-yet"]


def test_of_edits_that_are_equally_good_the_one_with_much_more_memory_comes_later() -> None:
    def fix(diff: bytes, megabytes: int, rank: int = 10) -> Fix:
        verdict = Verdict(RunOutcome.PASSED, Effect.IDENTICAL, Applicability.SAFE, "", peak_bytes=megabytes << 20)
        return Fix(Candidate(("AG201",), ("",), ("",), (rank,), {}), verdict, diff)

    small, long, hungry, other = fix(b"+a", 310), fix(b"+abc", 300), fix(b"+", 900), fix(b"+", 100, 20)
    assert pipeline.ordered([other, hungry, long, small]) == (small, long, hungry, other)


MOVED = """
    import torch
    from torch import nn

    torch.manual_seed(0)
    G, D = nn.Linear(4, 2), nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
    opt_g, opt_d = torch.optim.Adam(G.parameters()), torch.optim.Adam(D.parameters())

    def loss_of_g():
        return D(G(torch.randn(8, 4))).mean()

    def loss_of_d():
        return (D(torch.randn(8, 2)) - D(G(torch.randn(8, 4)).detach())).mean()

    for _ in range(4):
        loss = loss_of_d()
        opt_d.zero_grad()
        loss.backward()
        generated = loss_of_g()
        opt_d.step()
        opt_g.zero_grad()
        generated.backward()
        opt_g.step()
"""


def test_a_statement_that_an_edit_moves_draws_the_same_noise(probe: Probe, script: Callable[[str], Path]) -> None:
    forward, step = "    generated = loss_of_g()\n", "    opt_d.step()\n"
    report = verify(probe, script(MOVED), (forward + step, step + forward))
    assert (effect(report), report.outcome) == (Effect.REFRESHED, Outcome.SAFE)
