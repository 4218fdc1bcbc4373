"""An optimizer that was given the same parameters in another order is compared by their names."""

from __future__ import annotations

from dataclasses import replace

from autofix.experiments.reordered import in_order
from autofix.probe import wire

CODE = wire.Trace(0, "stopped", counts=(1, 1), names=(("a", "b"), ("c", "d")), finals=((1.0,), (2.0,), (3.0,), (4.0,)))
EDIT = wire.Trace(0, "stopped", counts=(1, 1), names=(("b", "a"), ("c", "d")), finals=((2.0,), (1.0,), (3.0,), (4.0,)))


def test_what_is_told_comes_in_the_order_of_the_code() -> None:
    assert in_order(CODE, EDIT) == CODE
    assert in_order(CODE, CODE) is CODE


def test_an_optimizer_that_an_edit_has_not_made_stays_as_it_is() -> None:
    fewer = wire.Trace(0, "stopped", counts=(1,), names=(("a", "b"), ("d", "c")), finals=((1.0,), (2.0,)))
    assert in_order(CODE, fewer) is fewer


def run(names: tuple[str, ...], *gradients: tuple[float, ...], outcome: str = "finished") -> wire.Trace:
    step = wire.Step(0, gradients, gradients, "SGD")
    finals = tuple((float(place),) for place in range(len(names)))
    return wire.Trace(0, outcome, counts=(1,), names=(names, ()), steps=(step,), finals=finals)


def test_what_gets_no_gradient_to_the_end_need_not_be_given() -> None:
    code = run(("a", "idle", "b"), (1.0,), (), (2.0,))
    told = in_order(code, run(("a", "b"), (1.0,), (2.0,)))
    assert told.steps == code.steps
    assert told.names == code.names
    assert told.finals == ((0.0,), (1.0,), (1.0,))
    back = in_order(run(("a", "b"), (1.0,), (2.0,)), code)
    assert back.steps[0].gradients == ((1.0,), (2.0,))


def test_what_may_get_a_gradient_is_not_left_out() -> None:
    code, edit = (("a", "b"), (1.0,), (2.0,)), (("a",), (1.0,))
    assert in_order(run(*code), run(*edit)) == run(*edit)
    later = run(("a", "idle"), (1.0,), (), outcome="stopped")
    stopped = run(*edit, outcome="stopped")
    assert in_order(later, stopped) is stopped
    held = wire.Held("0 1", ((1.0,), (2.0,)), (0, 0))
    written = replace(run(("a", "idle"), (1.0,), ()), courses=(held,))
    assert in_order(written, run(*edit)) == run(*edit)


def test_what_is_written_may_be_a_buffer_instead_which_is_compared() -> None:
    def held(name: str, *after: int) -> tuple[wire.Held, ...]:
        return (wire.Held(name, ((1.0,), (2.0,)), after),)

    code = replace(run(("a", "pull", "b"), (1.0,), (), (2.0,)), courses=held("0 1", 0, 0))
    buffer = wire.State("pull", changed=True, last=(2.5,))
    edit = replace(run(("a", "b"), (1.0,), (2.0,)), courses=held("pull", 0, 1), states=(buffer,))
    told = in_order(code, edit)
    assert (told.names, told.courses, told.steps) == (code.names, code.courses, code.steps)
    assert told.finals == ((0.0,), (2.5,), (1.0,))
    assert in_order(code, replace(edit, courses=())).names == edit.names
    assert in_order(code, replace(edit, states=())).names == edit.names
    trained = replace(run(("a", "pull", "b"), (1.0,), (0.1,), (2.0,)), courses=code.courses)
    assert in_order(trained, edit) is edit


def test_by_other_names_what_starts_alike_is_the_same() -> None:
    def starting(names: tuple[str, ...], *starts: float) -> wire.Trace:
        held = (wire.Held(f"0 {place}", ((start,),), (0,)) for place, start in enumerate(starts))
        return replace(run(names, *((start,) for start in starts)), courses=tuple(held))

    code = starting(("net.a", "net.b"), 1.0, 2.0)
    told = in_order(code, starting(("b", "a"), 2.0, 1.0))
    assert (told.names, told.steps, told.courses[::-1]) == (code.names, code.steps, code.courses)
    for other in (starting(("b", "a"), 2.0, 1.5), starting(("b", "a"), 1.0, 2.0), starting(("b", "a"), 1.0, 1.0)):
        assert in_order(code, other) is other
