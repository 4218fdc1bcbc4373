"""What else has gradients where a switch is lifted that kept them off for what failed."""

from __future__ import annotations

from dataclasses import replace

from autofix.probe import wire
from autofix.verdict.effect import trains_alike
from autofix.verdict.law import PASSES, at
from autofix.verdict.runs import Runs

_ENTERS, _SHARES = "goes-into-off", "shares-what-is-off"


def inside(runs: Runs) -> list[wire.Fact]:
    """Of a call that fails where gradients are off: the losses outside that go on into it, if none of them needs it.

    And those in there whose gradient a step outside uses.
    """
    calls, letter = {fact.stack for fact in runs.letter.seen("backward-while-off")}, runs.letter
    if runs.failure.stack not in calls or letter.seen("needs-what-is-off") or not _is_switched(runs):
        return []
    return [*_entering(runs), *(fact for fact in letter.seen("cross-talk") if fact.stack in calls)]


def beside(runs: Runs) -> list[wire.Fact]:
    """Of a call that fails outside: the others that take of it what that does not take, or take it as a weight."""
    return [one for one in _others(runs) if _is_weighed(runs, one) or not _is_seen(runs, one, _SHARES)]


def weighed(runs: Runs) -> list[wire.Fact]:
    """The same, where each takes weights of its terms alone, which that does not take, and trains no more by them.

    What learns as a weight alone may be meant to: a gate, or how sure a network is.
    """
    found = _others(runs)
    doubts = (_is_seen(runs, one, name) for one in found for name in (_SHARES, "trains-more-by-off"))
    return found if all(_is_weighed(runs, one) for one in found) and not any(doubts) else []


def trains_more(runs: Runs) -> bool:
    """Whether the code trains otherwise with all gradients on than with those needed, and all learns by these."""
    narrow = replace(runs.code, off=True)
    return not (runs.deprives(narrow) or trains_alike(runs, narrow, runs.code))


def said(found: wire.Fact) -> str:
    """What such a loss does, as a clause."""
    if found.name == _ENTERS:
        return f"the backward at {at(found.stack)} goes on into code that runs with gradients off"
    return f"a step also uses the gradient of the loss at {at(found.stack)}, where the code has gradients off"


def _is_switched(runs: Runs) -> bool:
    sites = runs.case.pool.sites
    return bool(sites) and all(site.action == "grad" for site in sites)


def _entering(runs: Runs) -> list[wire.Fact]:
    return [fact for fact in runs.letter.seen(_ENTERS) if int(fact.subject) >= PASSES]


def _others(runs: Runs) -> list[wire.Fact]:
    needing = {fact.stack for fact in runs.letter.seen("needs-what-is-off")}
    if runs.failure.stack not in needing or not _is_switched(runs):
        return []
    return [fact for fact in _entering(runs) if fact.stack not in needing]


def _is_weighed(runs: Runs, fact: wire.Fact) -> bool:
    return replace(fact, name="weighed-by-off") in runs.letter.facts  # as often as it goes on into it


def _is_seen(runs: Runs, fact: wire.Fact, name: str) -> bool:
    return any(fact.stack == one.stack for one in runs.letter.seen(name))
