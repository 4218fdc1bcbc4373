"""Which lines explain an event of a play: where a graph was made, kept, freed and used, as a reader would say."""

from __future__ import annotations

from pathlib import PurePath

from autofix.check.abstract.tape import Event, Pass, behind
from autofix.check.abstract.values import Node, Optimizer, PlayPlace, stack


def together(one: PlayPlace, other: PlayPlace) -> PlayPlace:
    """Where `one` happened, as seen from the innermost call that both happened in."""
    frames = {id(place.frame) for place in stack(other)}
    return next((place for place in reversed(stack(one)) if id(place.frame) in frames), one)


def earlier_pass(event: Event) -> Pass | None:
    """The loop in an earlier pass of which the cause happened; None where it happened in the same."""
    if event.cause is None:
        return None
    return next((one for one in reversed(event.passes) if one.began <= event.cause.time < one.now), None)


def made_once(event: Event) -> bool:
    """Whether the graph that an earlier pass freed was made before that loop."""
    loop = earlier_pass(event)
    return event.whole and loop is not None and event.old is not None and event.old.time < loop.began


def carried(event: Event) -> bool:
    """Whether the graph that is used again was made in an earlier pass of a loop."""
    loop = earlier_pass(event)
    return loop is not None and event.old is not None and event.old.time >= loop.began


def collected(event: Event) -> PlayPlace | None:
    """Where what is carried was put into a list or dictionary by whoever made it."""
    kept = event.old.kept if event.old is not None else None
    return kept.place if kept is not None and kept.text == "collected" else None


def taken_in(event: Event) -> PlayPlace:
    """Where an older part of the graph comes into what is computed now: where it was no argument any more."""
    if event.user is None or event.old is None:
        return event.place
    places = stack(event.user.place)
    while len(places) > 1 and id(event.old) in places[-1].frame.given:
        places.pop()
    return places[-1]


def made(event: Event) -> PlayPlace:
    """Where the part was made that is used again, as seen from where it is used."""
    loop = earlier_pass(event)
    if event.old is None:
        return event.place
    return together(event.old.place, loop.place if loop is not None and made_once(event) else event.place)


def seen_from_backward(node: Node | None, event: Event) -> PlayPlace | None:
    """Where a node was made, as seen from the backward that fails."""
    return together(node.place, event.place) if node is not None else None


def said(place: PlayPlace | None, event: Event) -> str:
    """A place in words: `line 30`, with its file where that is another."""
    if place is None:
        return "another line"
    file = place.frame.file
    return f"line {place.line}" if file == event.place.frame.file else f"line {place.line} of {PurePath(file).name}"


def apart(event: Event) -> PlayPlace | None:
    """Where a loss takes in the shared part although the optimizer that steps for it owns nothing of that.

    None where both losses train the shared part, or where that is not known.
    """
    if event.old is None or event.user is None or event.cause is None or event.first is None:
        return None
    shared = leaves(event.old)
    between = [optimizer for time, optimizer in event.steps if event.cause.time < time < event.time]
    after = [optimizer for time, optimizer in event.steps if time > event.time]
    if between and shared and not any(_owns(optimizer, shared) for optimizer in between):
        return together(event.first.place, event.place)
    if after and shared and not _owns(after[0], shared):
        return together(event.user.place, event.place)
    return None


def _owns(optimizer: Optimizer, shared: set[Node]) -> bool:
    return not optimizer.exact or any(one.node in shared for one in optimizer.parameters)


def leaves(node: Node) -> set[Node]:
    """The leaves that a part of the graph comes from."""
    return {one for one in behind(node) if one.leaf is not None}
