"""What no author means, whatever the letter of the code says: each function finds one such thing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autofix.probe import wire
from autofix.syntax.lost import lost_write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

LEAST = 3
"""Steps without any gradient from which on they are no accident of where a run begins."""


def starved(live: wire.Trace, reference: wire.Trace) -> Iterator[wire.Guard]:
    """An optimizer whose every step in the edited run used no gradient, though a loss depends on its parameters.

    One on whose network no loss depends (idle, gated, of another phase), or that owns only frozen parameters, waits;
    one that had a gradient at any step is alive.
    """
    for index in reference.used:
        steps = [s for s in live.steps if s.optimizer == index and s.settings != "closure" and s.asks]
        if len(steps) >= LEAST and not any(gradient for step in steps for gradient in step.gradients):
            names = live.names[index] if index < len(live.names) else ()
            owner = ", ".join(dict.fromkeys(name.split(".")[0] for name in names)) or f"number {index + 1}"
            detail = (
                f"the optimizer of {owner} steps without any gradient, {len(steps)} times, though a loss depends on it"
            )
            yield wire.Guard("starved", detail)


def overwritten(reference: wire.Trace) -> Iterator[wire.Guard]:
    """A leaf whose steps also write what the script reads beside it, as a target that moves along with it."""
    for elder in reference.elders[:1]:
        detail = (
            f"{elder.leaf} shares its memory with what is read here, so that each step moves both; it needs a clone()"
        )
        yield wire.Guard("overwritten", detail, elder.stack)


def lost(files: Mapping[Path, bytes], read: Callable[[Path], bytes]) -> Iterator[wire.Guard]:
    """A write in place that the edit gives to a name that nothing reads."""
    for path, data in files.items():
        name, line = lost_write(path, read(path), data)
        if name:
            detail = (
                f"{name} gets a new value that nothing reads, where a tensor was written in place: the write is lost"
            )
            yield wire.Guard("lost-write", detail, (wire.Frame(str(path), line, 0, line, 0, ""),))
