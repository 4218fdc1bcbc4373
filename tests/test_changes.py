"""Which changes of gradients are told first, and in what figures."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scripts import Scripts

from autofix.core.model import Change
from autofix.experiments.compare import differences, norms, starved
from autofix.experiments.sketches import FOLLOWED, FROZEN, LIVE
from autofix.experiments.values import lost_writes
from autofix.probe import wire
from autofix.probe.wire import Trace

Sketch = tuple[float, ...]


def trace(*steps: tuple[int, tuple[Sketch, ...]]) -> Trace:
    """A run of two optimizers, `a` with many parameters and `b` with two."""
    names = (tuple(f"a.{n}" for n in range(30)), ("b.weight", "b.bias"), ())
    made = tuple(wire.Step(index, gradients, (), "SGD") for index, gradients in steps)
    return wire.Trace(1, "stopped", counts=(1, 1), names=names, steps=made)


def many(value: float) -> tuple[Sketch, ...]:
    return tuple((value, value) for _ in range(30))


def test_the_largest_relative_change_comes_first_whichever_optimizer_was_made_first() -> None:
    reference = trace((0, many(1.0)), (1, ((0.001, 0.001), (0.002, 0.002))))
    candidate = trace((0, many(1.01)), (1, ((), (0.002, 0.002))))
    changes = differences(reference, candidate, LIVE)
    assert (changes[0].parameter, changes[0].candidate, changes[0].relative) == ("b.weight", 0.0, 1.0)
    assert changes[1].parameter == "a.0"


def test_no_parameter_is_starved_behind_a_step_at_which_the_run_diverges() -> None:
    full = trace(*[(1, ((0.5, 0.5), (0.1, 0.1)))] * 3)
    cut = [(1, ((0.5, 0.5), (0.1, 0.1))), (1, ((0.5, 0.5), ()))]
    assert list(starved(full, trace(*cut, (1, ((400.0, 400.0), ()))))) == ["b.bias", "b.bias"]
    assert list(starved(full, trace(*cut, (1, ((9e5, 9e5), ()))))) == ["b.bias"]


def test_parameters_in_another_order_are_compared_where_an_optimizer_ends_with_fewer() -> None:
    reference = replace(trace((1, ((0.5, 0.5), (0.1, 0.1)))), finals=((1.0, 1.0),))
    flipped = replace(reference, names=(reference.names[0], ("b.bias", "b.weight"), ()))
    candidate = replace(flipped, steps=trace((1, ((0.1, 0.1), (0.4, 0.4)))).steps)
    assert [change.parameter for change in differences(reference, candidate, LIVE)] == ["b.weight"]


def test_a_step_without_a_backward_call_before_it_is_said_to_be_one() -> None:
    def of(*calls: int) -> Trace:
        made = tuple(wire.Step(1, ((0.5, 0.5), (0.1, 0.1)), (), "SGD", calls=n, sent=n, turns=n) for n in calls)
        return replace(trace(), counts=(0, len(calls)), steps=made)

    said = "the optimizer of b makes its 2nd step without a backward call since the one before"
    edits = ((1, 1, 2), (1, 2, 3), (2, 2, 3))
    noted = [[c.note for c in differences(of(1, 2, 3), of(*calls), LIVE) if c.note] for calls in edits]
    assert noted == [[f"{said}, in the code behind 1 backward call"], [], []]


@pytest.mark.parametrize(("turns", "late"), [(1, False), (2, True)])
def test_terms_that_go_backward_each_by_itself_make_no_step_late(turns: int, late: bool) -> None:
    def of(calls: int, turns: int) -> Trace:
        numbers = ((calls * n, turns * n) for n in range(1, 5))
        steps = (
            wire.Step(1, ((0.5, 0.5), (0.1, 0.1)), (), "SGD", calls=sent, sent=sent, turns=most)
            for sent, most in numbers
        )
        return replace(trace(), counts=(0, 4), steps=tuple(steps))

    assert any(one.rhythm for one in differences(of(1, 1), of(2, turns), LIVE)) is late


def test_what_rounding_leaves_of_nothing_comes_last() -> None:
    noise: Sketch = (1e-9, 1e-9)
    reference = trace((0, many(1.0)), (1, ((0.5, 0.5), noise)))
    candidate = trace((0, many(1.0)), (1, ((0.4, 0.4), (3e-9, -3e-9))))
    assert [change.parameter for change in differences(reference, candidate, LIVE)] == ["b.weight", "b.bias"]


def test_a_small_gradient_is_no_rounding() -> None:
    reference = trace((0, many(1.0)), (1, ((0.5, 0.5), (1e-4, 1e-4))))
    candidate = trace((0, many(1.0)), (1, ((0.4, 0.4), (3e-4, 3e-4))))
    assert differences(reference, candidate, LIVE)[0].parameter == "b.bias"


def test_what_departs_later_comes_after_what_departs_first() -> None:
    """A network that follows another begins to part from its course by little, however far it comes in the end."""
    reference = trace((0, many(1.0)), (0, many(1.0)), (1, ((1.0, 1.0), ())), (1, ((1.0, 1.0), ())))
    candidate = trace((0, many(1.0001)), (0, many(9.0)), (1, ((0.5, 0.5), ())), (1, ((0.4, 0.4), ())))
    changes = differences(reference, candidate, LIVE)
    assert (changes[0].parameter, changes[0].step) == ("b.weight", 0)


def test_a_step_that_is_gone_is_told_before_all() -> None:
    reference = trace((0, many(1.0)), (1, ((1.0, 1.0), ())))
    changes = differences(reference, trace((0, many(2.0))), LIVE)
    assert "makes 0 steps" in changes[0].note


@pytest.mark.parametrize(
    ("was", "now", "relative", "said"),
    [
        (2.0, 1.0, 0.5, "a gradient of norm 1 instead of 2"),
        (0.46271, 0.46274, 7e-5, "a gradient of norm 0.46274 instead of 0.46271"),
        (0.4627, 0.4627, 0.8, "a gradient of another direction, of the same norm (0.4627)"),
        (0.46271, 0.46274, 0.8, "a gradient of another direction, of the same norm (0.4627)"),
        (1.0, 0.0, 1.0, "no gradient instead of one of norm 1"),
        (0.0, 1.0, 1.0, "a gradient of norm 1 instead of none"),
    ],
)
def test_two_figures_differ_as_they_are_shown(was: float, now: float, relative: float, said: str) -> None:
    assert norms(Change("net.weight", 0, was, now, relative=relative)) == said


@pytest.mark.parametrize(
    ("was", "now", "differs"),
    [
        ("0.123", "0.124", False),
        ("0.123", "0.129", True),
        ("6.708e-05", "1.565e-04", True),
        ("6.708e-05", "6.709e-05", False),
        ("6.708E+04", "6.709E+04", False),
        ("12", "13", True),
        ("1.5", "inf", True),
        ("nan", "nan", False),
    ],
)
def test_a_printed_figure_may_differ_in_its_last_place_alone(was: str, now: str, differs: bool) -> None:
    one, other = (wire.Trace(1, "stopped", stdout=f"loss {figure}\n") for figure in (was, now))
    assert bool(differences(one, other, LIVE)) is differs


def test_a_rate_that_a_script_computes_may_be_rounded_otherwise() -> None:
    def of(rate: str) -> Trace:
        made = wire.Step(1, ((0.5, 0.5), (0.1, 0.1)), (), f"SGD[[('lr', '{rate}'), ('momentum', '0.9')]]")
        return replace(trace(), counts=(0, 1), steps=(made,))

    rates = ("np.float64(0.09380972580337503)", "np.float64(0.0938)", "0.0938097224042674")
    noted = [bool(differences(of("np.float64(0.0938097224042674)"), of(rate), LIVE)) for rate in rates]
    assert noted == [False, True, True]


def test_a_new_leaf_with_the_values_of_an_old_one_is_used_from_another_step_on() -> None:
    def of(value: float, after: int, *, written: bool = False) -> Trace:
        values = ((value, value), (9.0, 9.0)) if written else ((value, value),)
        held = wire.Held("1 0", values, (after,) * len(values))
        return replace(trace((1, ((0.5, 0.5), (0.1, 0.1)))), courses=(held,))

    assert not differences(of(1.0, 0), of(2.0, 4), LIVE)
    assert differences(of(1.0, 0), of(2.0, 0), LIVE)
    assert differences(of(1.0, 0, written=True), of(2.0, 4), LIVE)


def test_what_a_step_left_is_the_same_when_it_comes_back_whether_or_not_it_is_known_to_be() -> None:
    def of(returned: float, *back: int) -> Trace:
        held = wire.Held("1 0", ((1.0, 1.0), (9.0, 9.0), (returned, returned)), (0, 1, 1), back)
        return replace(trace((1, ((0.5, 0.5), (0.1, 0.1)))), courses=(held,))

    assert not differences(of(2.0, 2), of(3.0, 2), LIVE)  # each run may step to another value
    assert not differences(of(2.0, 2), of(2.0), LIVE)  # its norm may have told so by chance
    assert differences(of(2.0, 2), of(3.0), LIVE)
    assert lost_writes(of(2.0, 2), of(3.0))
    assert not lost_writes(of(2.0), of(3.0))


def test_what_overflows_is_close_to_nothing() -> None:
    inf = float("inf")
    assert differences(trace((0, many(1.0))), trace((0, many(inf))), LIVE)
    assert differences(trace((0, many(inf))), trace((0, many(inf))), LIVE)


def test_a_run_that_ended_where_it_left_the_code_is_never_equal_to_it() -> None:
    """How far a gradient may be off is said in two places: what ends a run in one of them differs in the other."""
    near = trace((0, many(1.0)))
    assert not differences(near, near, FOLLOWED)
    assert differences(near, replace(near, parted=True), FOLLOWED)


def test_a_forward_that_is_gone_is_a_lost_write_and_one_more_is_none() -> None:
    def moved(forwards: float, outcome: str = "finished") -> Trace:
        mean = wire.State("net.1.running_mean", True, (forwards, forwards), first=(0.0, 0.0))
        count = wire.State("net.1.num_batches_tracked", True, (forwards, forwards), first=(0.0, 0.0))
        return replace(trace((0, many(1.0))), outcome=outcome, states=(mean, count))

    assert not differences(moved(4), moved(8), LIVE)
    assert {one.parameter for one in differences(moved(8), moved(4), LIVE)} == {
        "net.1.running_mean",
        "net.1.num_batches_tracked",
    }
    # Where a run is stopped, the last one may not have come yet.
    assert not differences(moved(8, "stopped"), moved(7, "stopped"), LIVE)
    assert differences(moved(8, "stopped"), moved(4, "stopped"), LIVE)


def test_a_place_in_a_ring_may_come_back_to_where_it_was_first_seen() -> None:
    def ends(*, changed: bool, touched: bool, at: float = 0.0) -> Trace:
        state = wire.State("queue_ptr", changed, (at, at), first=(0.0, 0.0), touched=touched)
        return replace(trace((0, many(1.0))), outcome="finished", states=(state,))

    code = ends(changed=True, touched=True)
    assert not differences(code, ends(changed=False, touched=True), LIVE)
    assert differences(code, ends(changed=False, touched=False), LIVE)
    assert differences(code, ends(changed=False, touched=True, at=8.0), LIVE)


def test_a_list_of_results_may_begin_anew_and_what_it_holds_is_not_written() -> None:
    def held(*, changed: bool, touched: bool = False, result: bool = True) -> Trace:
        state = wire.State("kept[0]", changed, (float(changed),) * 2, result, first=(0.0, 0.0), touched=touched)
        return replace(trace((0, many(1.0))), outcome="finished", states=(state,))

    assert not differences(held(changed=False), held(changed=True), LIVE)
    assert differences(held(changed=False), held(changed=True, touched=True), LIVE)
    assert differences(held(changed=True), held(changed=False), LIVE)
    assert differences(held(changed=False, result=False), held(changed=True, result=False), LIVE)


NORMED = """\
import torch
from torch import nn

torch.manual_seed(0)
G = nn.Sequential(*[layer for _ in range(6) for layer in (nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Tanh())])
D = nn.Linear(4, 1)
opt_g, opt_d = torch.optim.SGD(G.parameters(), lr=0.01), torch.optim.SGD(D.parameters(), lr=0.01)
for step in range(4):
    fake = G(torch.randn(16, 4))
    loss_d = D(fake).mean() + D(torch.randn(16, 4)).square().mean()
    opt_d.zero_grad()
    loss_d.backward()
    opt_d.step()
    loss_g = (D(fake.detach()) if {cut} else D(fake)).mean() + 0.01 * fake.square().mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
"""


@pytest.mark.torch
def test_the_damaged_network_is_named_and_no_bias_before_a_batch_norm(script: Scripts) -> None:
    keep = ("loss_d.backward()", "loss_d.backward(retain_graph=True)")
    verdict = script(NORMED.format(cut=False)).verdict(("if False", "if True"), keep)
    first = verdict.changes[0]
    biases = {f"G.{3 * layer}.bias" for layer in range(6)}
    assert first.relative > 0.1
    assert first.parameter.startswith("G.")
    assert first.parameter not in biases
    assert verdict.summary.startswith(f"changed: {first.parameter} gets ")
    assert "and others" in verdict.summary


@pytest.mark.parametrize(
    ("first", "second", "tolerance", "same"),
    [
        (1e-3, 1e-3 + 5e-8, FROZEN, True),  # a sum of what cancels out
        (1e-3, 1e-3 + 5e-8, LIVE / 10, False),
        (1e-3, 1e-3 + 1e-6, FROZEN, False),
        (1e-4, 1e-4 + 5e-8, FROZEN, False),  # half a thousandth of it is no rounding
        (1.0, 1.0 + 5e-6, FROZEN, False),
        (5e-3, 5e-3 + 4e-7, LIVE, True),  # no live run has to be nearer than one with every step undone
        (5e-3, 5e-3 + 6e-7, LIVE, False),
        (1e-3, 1e-3 + 4e-7, LIVE, False),
    ],
)
def test_rounding_beside_the_largest_gradient_is_little_of_a_small_one(
    first: float, second: float, tolerance: float, same: bool
) -> None:
    one, other = (trace((0, many(1.0)), (1, ((1.0, 1.0), (value, value)))) for value in (first, second))
    assert (not differences(one, other, tolerance)) is same


@pytest.mark.torch
def test_a_parameter_is_named_by_its_module_and_not_by_a_list_of_what_is_trained(script: Scripts) -> None:
    trace = script(
        """
        import torch
        models = {"encoder": torch.nn.Linear(2, 1)}
        alone = [torch.nn.Parameter(torch.ones(1))]
        trained = [*models["encoder"].parameters(), *alone]
        torch.optim.SGD(trained, lr=0.1)
        (models["encoder"](torch.ones(2)) * alone[0]).sum().backward()
        trained.step()
        """
    ).run("reference")
    assert trace.names[:1] == (("models['encoder'].weight", "models['encoder'].bias", "alone[0]"),)
