"""Stands in for gym and gymnasium: environments of well-known names with random observations and rewards."""

from __future__ import annotations

import linecache
import sys
import types
from typing import TYPE_CHECKING, Any

import torch

from . import standin_data

if TYPE_CHECKING:
    from types import FrameType

_CONTROL: dict[str, tuple[int, int, float]] = {
    "CartPole": (4, 2, 0.0), "Acrobot": (6, 3, 0.0), "MountainCar": (2, 3, 0.0), "LunarLander": (8, 4, 0.0),
    "Pendulum": (3, 1, 2.0), "MountainCarContinuous": (2, 1, 1.0), "LunarLanderContinuous": (8, 2, 1.0),
    "BipedalWalker": (24, 4, 1.0), "HalfCheetah": (17, 6, 1.0), "Hopper": (11, 3, 1.0), "Ant": (111, 8, 1.0),
}  # fmt: skip
"""Observations, actions, and for continuous actions their bound."""
_LONGEST = 40


class Discrete:
    """Actions that are numbers from 0."""

    shape: tuple[int, ...] = ()

    def __init__(self, n: int) -> None:
        self.n = n
        self._drawn = 0

    def sample(self) -> int:
        self._drawn += 1
        return standin_data.label(self.n, "action", self._drawn)

    def seed(self, seed: Any = None) -> None:
        """The draws stay as they are."""


class Box:
    """Vectors within bounds."""

    def __init__(self, low: Any, high: Any, shape: Any = None, dtype: Any = None) -> None:
        self.shape = tuple(shape or ())
        self.low, self.high = (torch.full(self.shape, float(bound)).numpy() for bound in (low, high))
        self._drawn = 0

    def sample(self) -> Any:
        self._drawn += 1
        return _draw(self.shape, "box", self._drawn).clip(self.low, self.high)

    def seed(self, seed: Any = None) -> None:
        """The draws stay as they are."""


class Env:
    """An environment: whatever is done, the next observation and reward are random; an episode ends in time."""

    def __init__(self, name: str, new: bool) -> None:
        kind = name.rpartition("/")[2].partition("-v")[0]
        if kind not in _CONTROL:
            raise ModuleNotFoundError(f"the environment {name} has no stand-in; install gymnasium to run this script")
        seen, actions, bound = _CONTROL[kind]
        self.observation_space = Box(-1, 1, (seen,))
        self.action_space: Any = Box(-bound, bound, (actions,)) if bound else Discrete(actions)
        self.spec = types.SimpleNamespace(id=name, max_episode_steps=_LONGEST, reward_threshold=1e9)
        self.unwrapped, self._max_episode_steps = self, _LONGEST
        self._new, self._time, self._episode = new, 0, 0
        standin_data.note(f"the environment {name} is stood in for: its observations and rewards are random")

    def reset(self, **_: Any) -> Any:
        self._new = self._new or _unpacked(sys._getframe(1))
        self._time, self._episode = 0, self._episode + 1
        return (self._seen(), {}) if self._new else self._seen()

    def step(self, action: Any) -> Any:
        self._time += 1
        over = self._time >= _LONGEST or standin_data.label(20, self._episode, self._time) == 0
        reward = float(_draw((1,), "reward", self._episode, self._time)[0])
        return (self._seen(), reward, over, False, {}) if self._new else (self._seen(), reward, over, {})

    def _seen(self) -> Any:
        return _draw(self.observation_space.shape, "seen", self._episode, self._time)

    def render(self, *args: Any, **kwargs: Any) -> None:
        """Nothing to see."""

    close = seed = render


def _unpacked(frame: FrameType) -> bool:
    """Whether the line that resets takes two values: gym's later interface, which gymnasium kept."""
    left, equals, _ = linecache.getline(frame.f_code.co_filename, frame.f_lineno).partition("=")
    return bool(equals) and "," in left


def _draw(shape: tuple[int, ...], *key: Any) -> Any:
    return torch.randn(shape, generator=standin_data.generator(*key)).numpy()


def module(name: str) -> types.ModuleType:
    """A module of the package; gymnasium's environments answer with five values, gym's with four."""
    made: Any = types.ModuleType(name)
    new = name.partition(".")[0] == "gymnasium"
    made.make = lambda id, *args, **kwargs: Env(id, new)  # noqa: A006  the name that scripts give
    made.Env = made.Wrapper = Env
    made.logger = types.SimpleNamespace(set_level=lambda *args: None)
    made.spaces = types.SimpleNamespace(Discrete=Discrete, Box=Box)
    made.Discrete, made.Box = Discrete, Box
    made.wrappers = types.SimpleNamespace()
    return made
