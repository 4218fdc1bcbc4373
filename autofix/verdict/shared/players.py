"""Networks that learn from each other's losses: which loss is whose, and from which one each may be kept."""

from __future__ import annotations

from autofix.experiments.compare import comparable
from autofix.experiments.sketches import norm
from autofix.probe import wire
from autofix.verdict.runs import Runs

_TWO = 2


def kept_out(runs: Runs) -> tuple[wire.KeptOut, ...]:
    """The loss in doubt from which a network may be kept; of two that learn from the same two, each from one of them.

    () where nothing says which loss is whose.
    """
    facts = facts_of(runs)
    owners = [_owner(runs, one) for one in facts]
    found = [wire.KeptOut(one.stack, owner) for one, owner in zip(facts, owners, strict=True) if owner is not None]
    if not found or owners[0] is None:
        return ()
    players, losses = {one.optimizer for one in found}, {one.stack for one in found}
    if not len(players) == len(losses) == _TWO:
        return (found[0],)
    # As the code is written both are the same to either: a loss that tells data from what the other makes is its own.
    own = [(one, stack) for one in players for stack in losses & of_data(runs, one) if not losses <= of_data(runs, one)]
    if len(own) != 1:
        return ()
    ((mine, loss),) = own
    ((other,), (its,)) = players - {mine}, losses - {loss}
    return wire.KeptOut(loss, other), wire.KeptOut(its, mine)


def of_data(runs: Runs, owner: int) -> set[wire.Stack]:
    """The losses that train what an optimizer's modules make of data, in which no other optimizer has a part."""
    if comparable(runs.outputs):
        return set()
    came = (one for one in runs.outputs.arrivals if one.optimizer == owner and one.first)
    return {one.stack for one in came if any(map(norm, one.values))}


def named(runs: Runs, owner: int) -> str:
    """A network as the doubts about its losses call it, else as its optimizer is called."""
    facts = (one.subject for one in facts_of(runs) if _owner(runs, one) == owner)
    return next(facts, runs.letter.owner(owner))


def facts_of(runs: Runs) -> list[wire.Fact]:
    """The losses in doubt, and with what other networks they are that learn from the same."""
    return [*runs.letter.seen("mixed"), *runs.letter.seen("mixed-beside")]


def _owner(runs: Runs, fact: wire.Fact) -> int | None:
    """The optimizer that begins with what a doubt is about."""
    owned = enumerate(runs.letter.names[: len(runs.letter.counts)])
    return next((i for i, names in owned if names and f"{names[0]}.".startswith(f"{fact.subject}.")), None)
