"""What is acted on is data

## What it says

A program draws a sample by the mean and the spread that a network gives (`action = mean + std * noise`), hands it to
what is no part of torch, as an environment is, and weighs the log-probability of the sample by what came of it. To that
loss the sample is data. The code as written breaks the law where the sample keeps its graph: the gradient of the
log-probability by the path of the sample is none of what came of it. That of `mean + std * noise` depends on the noise
and on `std`, and not on the mean, which never learns what to do; where the sample goes through a bound (`tanh`), the
bound alone sends the mean something. The reading that keeps the law has a constant there, from where the sample is
drawn.

It is seen in what a loss sends to the log-probability: while parameters rest, that is another where what is handed over
is a little larger.

## Where it is silent

Where a loss is also made of the sample by another path, as an actor's that a critic judges, or a likelihood: that path
may be what trains. Where what is sent to the log-probability does not depend on what was handed over, as in an entropy
that is estimated by samples, whatever comes of them. Where something that an optimizer owns would learn no more if the
sample were a constant. Where a minimum or a clamp stands between, whose choice may be what is another: that is a doubt.
And where no draw is written where the sample is made.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from autofix.experiments.compare import comparable, differences, same_gradients
from autofix.experiments.readings.learning import deprived
from autofix.experiments.sketches import LIVE, close
from autofix.probe import wire
from autofix.verdict.law import PASSES, KeptByChange, Reading, at
from autofix.verdict.runs import Runs, lines


class WhatIsActedOnIsData(KeptByChange):
    clause = "the sample is a constant to the loss that weighs its log-probability"
    change = "sampled"

    def seen(self, runs: Runs) -> str:
        if not _may_be_data(runs) or not _is_weighed(runs) or _is_chosen(runs):
            return ""
        return (
            f"{at(runs.failure.stack)} hands on a sample, and the loss weighs its log-probability by what came of "
            "that, with the graph of the sample: what it is made of never learns by it"
        )


def may_be_weighed(runs: Runs) -> bool:
    """Whether the law is broken, or may be: gradients are gone with the graph of the sample, and not without."""
    if not _may_be_data(runs):
        return False
    data, weighed = replace(runs.code, sampled=True), _is_weighed(runs)
    if weighed is not None:
        return weighed
    return any(deprived(runs.letter, runs.of(data))) and not _weighs_nothing(runs, data)


def _may_be_data(runs: Runs) -> bool:
    """Whether a sample leaves torch which, as a constant, lets learn all that learns, and otherwise."""
    data = replace(runs.code, sampled=True)
    if not runs.case.pool.written["sampled"] or comparable(runs.letter):
        return False
    return not runs.deprives(data) and bool(differences(runs.letter, runs.of(data), LIVE))


def _is_weighed(runs: Runs) -> bool | None:
    """Whether all that a loss sums up of the sample is sent something else where what is handed over is otherwise.

    None where that is so of some of it, or once, or nobody can tell.
    """
    moved = runs.densities_moved
    if moved is None or comparable(moved):
        return None
    sent, otherwise = _sent(runs.comparisons_at_rest), _sent(moved)
    pairs = (zip(values, otherwise[key], strict=False) for key, values in sent.items())
    times = [sum(not close(*pair, LIVE) for pair in some) for some in pairs]
    if times and min(times) >= PASSES:
        return True
    return False if times and not any(times) else None


def _is_chosen(runs: Runs) -> bool:
    """Whether what is sent may be another for which of two values is the smaller, and not for what weighs it."""
    return any(one.chosen for one in runs.comparisons_at_rest.densities)


def _sent(run: wire.Trace) -> dict[object, tuple[tuple[float, ...], ...]]:
    """What was sent, by the lines of the loss and of what it is made of."""
    found = defaultdict[object, tuple[tuple[float, ...], ...]](tuple)
    for one in run.densities:
        found[(*lines(one.loss), None, *lines(one.stack))] += one.values
    return found


def _weighs_nothing(runs: Runs, data: Reading) -> bool:
    """Whether no gradient depends on what comes of the sample, where it is a constant; or nobody can tell."""
    moved = runs.sample_moved
    return moved is None or bool(comparable(moved)) or same_gradients(runs.of(data), moved)
