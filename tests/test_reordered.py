"""An optimizer that was given the same parameters in another order is compared by their names."""

from __future__ import annotations

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
