"""The books of an audit: who trains what."""

from __future__ import annotations

from dataclasses import dataclass

from .places import Stack


@dataclass(frozen=True, slots=True)
class Loss:
    """One place that calls backward: how often, and the first and last value that it began at.

    `gradients` are sketches of those of the leaves that it reaches, in the order in which it does, after its first
    call; () where a step was made before that.
    """

    stack: Stack
    calls: int
    first: float
    last: float
    gradients: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Trainer:
    """One optimizer: its kind, where it was made, how often it steps, and how often in vain."""

    kind: str
    made: Stack
    steps: int
    empty: int
    tensors: int


@dataclass(frozen=True, slots=True)
class Network:
    """One network of a run, as far as one optimizer owns it (-1: none does).

    `losses` are those that reach it. `gradient` is the mean norm of what steps used. `unreached` of its tensors had no
    gradient at any step, `frozen` ask for none. `training` is '' where the mode makes no difference to it.
    """

    name: str
    optimizer: int
    losses: tuple[int, ...]
    tensors: int
    numbers: int
    gradient: float
    unreached: int
    frozen: int
    training: str
    written: Stack = ()


@dataclass(frozen=True, slots=True)
class Value:
    """The size of what a place made before the first step; `should`: that which it has where the law holds."""

    stack: Stack
    size: float
    should: float | None = None


@dataclass(frozen=True, slots=True)
class Books:
    """Who trains what, in one run. `finished`: the script came to its own end."""

    losses: tuple[Loss, ...]
    trainers: tuple[Trainer, ...]
    networks: tuple[Network, ...]
    finished: bool
    incomplete: str = ""
    values: tuple[Value, ...] = ()
