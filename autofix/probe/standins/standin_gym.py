"""Stands in for gym and gymnasium: environments of well-known names with random observations and rewards."""

from __future__ import annotations

import ast
import importlib
import linecache
import re
import sys
import types
from types import FrameType
from typing import Any

import torch

from ..program.frames import outwards
from . import standin_data

_CONTROL: dict[str, tuple[int, int, float]] = {
    "CartPole": (4, 2, 0.0), "Acrobot": (6, 3, 0.0), "MountainCar": (2, 3, 0.0), "LunarLander": (8, 4, 0.0),
    "Pendulum": (3, 1, 2.0), "MountainCarContinuous": (2, 1, 1.0), "LunarLanderContinuous": (8, 2, 1.0),
    "BipedalWalker": (24, 4, 1.0), "BipedalWalkerHardcore": (24, 4, 1.0), "HalfCheetah": (17, 6, 1.0),
    "Hopper": (11, 3, 1.0), "Ant": (111, 8, 1.0), "Humanoid": (376, 17, 0.4), "Walker2d": (17, 6, 1.0),
    "Swimmer": (8, 2, 1.0), "Reacher": (11, 2, 1.0), "InvertedPendulum": (4, 1, 3.0),
    "InvertedDoublePendulum": (11, 1, 1.0),
}  # fmt: skip
"""Observations, actions, and for continuous actions their bound."""
_COUNTED = {"Taxi": (500, 6), "FrozenLake": (16, 4), "FrozenLake8x8": (64, 4), "CliffWalking": (48, 4)}
"""Environments whose observations are numbers: how many there are, and how many actions."""
_SIMULATORS = re.compile(r"^Roboschool|(PyBullet|Bullet|MuJoCo)Env$")
_LONGEST = 40
_THROUGH = ("Monitor", "RecordVideo", "RecordEpisodeStatistics", "TimeLimit", "OrderEnforcing")
"""Wrappers that change nothing an agent sees."""
_PARTS = ("spaces", "wrappers", "utils", "envs", "error", "core")


class Space:
    """What can be observed, or done."""

    shape: tuple[int, ...] = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._drawn = 0

    def seed(self, seed: Any = None) -> None:
        """The draws stay as they are."""


class Discrete(Space):
    """Numbers from 0."""

    def __init__(self, n: int, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self.n = n
        self.dtype = torch.zeros((), dtype=torch.int64).numpy().dtype

    def sample(self) -> int:
        self._drawn += 1
        return standin_data.label(self.n, "action", self._drawn)

    def contains(self, value: Any) -> bool:
        return 0 <= int(value) < self.n


class Box(Space):
    """Vectors within bounds."""

    def __init__(self, low: Any, high: Any, shape: Any = None, dtype: Any = None) -> None:
        super().__init__()
        low, high = (torch.as_tensor(bound, dtype=torch.float32) for bound in (low, high))
        self.shape = tuple(low.shape if shape is None else shape)
        self.low, self.high = (bound.expand(self.shape).clone().numpy() for bound in (low, high))
        self.dtype = dtype or self.low.dtype

    def sample(self) -> Any:
        self._drawn += 1
        return _draw(self.shape, "box", self._drawn).clip(self.low, self.high)

    def contains(self, value: Any) -> bool:
        return bool((value >= self.low).all() and (value <= self.high).all())


class Env:
    """What environments are derived from."""

    metadata: dict[str, Any] = {}  # noqa: RUF012  as it stands there
    reward_range = (-float("inf"), float("inf"))
    spec: Any = None

    @property
    def unwrapped(self) -> Any:
        return self

    def render(self, *args: Any, **kwargs: Any) -> None:
        """Nothing to see."""

    close = seed = render


class Made(Env):
    """An environment of a known name: whatever is done, what follows is random, and an episode ends in time."""

    def __init__(self, name: str, new: bool) -> None:
        kind = _SIMULATORS.sub("", name.rpartition("/")[2].partition("-v")[0])
        self.observation_space, self.action_space = _spaces(name, kind)
        self.spec = types.SimpleNamespace(id=name, max_episode_steps=_LONGEST, reward_threshold=1e9)
        self._max_episode_steps = _LONGEST
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
        if isinstance(self.observation_space, Discrete):
            return standin_data.label(self.observation_space.n, "seen", self._episode, self._time)
        return _draw(self.observation_space.shape, "seen", self._episode, self._time)


def _spaces(name: str, kind: str) -> tuple[Any, Any]:
    if kind in _COUNTED:
        seen, actions = _COUNTED[kind]
        return Discrete(seen), Discrete(actions)
    if kind not in _CONTROL:
        raise ModuleNotFoundError(f"the environment {name} has no stand-in; install gymnasium to run this script")
    seen, actions, bound = _CONTROL[kind]
    return Box(-1, 1, (seen,)), Box(-bound, bound, (actions,)) if bound else Discrete(actions)


class Wrapper(Env):
    """An environment within another: what is not its own is the inner one's."""

    def __init__(self, env: Any, *args: Any, **kwargs: Any) -> None:
        self.env = env

    def __getattr__(self, name: str) -> Any:
        if name == "env":
            raise AttributeError(name)
        return getattr(self.env, name)

    @property
    def unwrapped(self) -> Any:
        return self.env.unwrapped

    def reset(self, **kwargs: Any) -> Any:
        return self.env.reset(**kwargs)

    def step(self, action: Any) -> Any:
        return self.env.step(action)


class ObservationWrapper(Wrapper):
    """Changes what is seen."""

    def reset(self, **kwargs: Any) -> Any:
        seen = self.env.reset(**kwargs)
        return (self.observation(seen[0]), seen[1]) if isinstance(seen, tuple) else self.observation(seen)

    def step(self, action: Any) -> Any:
        seen, *rest = self.env.step(action)
        return (self.observation(seen), *rest)

    def observation(self, observation: Any) -> Any:
        return observation


class ActionWrapper(Wrapper):
    """Changes what is done."""

    def step(self, action: Any) -> Any:
        # Earlier versions called it by another name.
        return self.env.step(getattr(self, "_action", self.action)(action))

    def action(self, action: Any) -> Any:
        return action


class RewardWrapper(Wrapper):
    """Changes what is rewarded."""

    def step(self, action: Any) -> Any:
        seen, reward, *rest = self.env.step(action)
        return (seen, self.reward(reward), *rest)

    def reward(self, reward: Any) -> Any:
        return reward


def _unpacked(frame: FrameType | None) -> bool:
    """Whether the line that resets takes two values: gym's later interface, which gymnasium kept."""
    for one in outwards(frame):
        line = linecache.getline(one.f_code.co_filename, one.f_lineno).strip()
        if one.f_code.co_filename != __file__ and not line.startswith("return "):
            return _takes_two(line)
    return False


def _takes_two(line: str) -> bool:
    """Whether a line gives two names what one call returns: not `state, done = env.reset(), False`."""
    try:
        statement = ast.parse(line).body[0]
    except (SyntaxError, ValueError, IndexError):
        return False
    match statement:
        case ast.Assign(targets=[ast.Tuple()], value=ast.Call()):
            return True
    return False


def _draw(shape: tuple[int, ...], *key: Any) -> Any:
    return torch.randn(shape, generator=standin_data.generator(*key)).numpy()


# The package --------------------------------------------------------------------------------------------------------

_OWN = {
    one.__name__: one
    for one in (Env, Wrapper, ObservationWrapper, ActionWrapper, RewardWrapper, Space, Discrete, Box)
}  # fmt: skip


class Gym(types.ModuleType):
    """A module of the package; what can only be derived from, or asked for in vain, says so when it is made."""

    def __getattr__(self, name: str) -> Any:
        if name in _PARTS and "." not in self.__name__:
            return importlib.import_module(f"{self.__name__}.{name}")
        if not name[:1].isupper():
            raise AttributeError(f"{self.__name__}.{name} has no stand-in; install gymnasium to run this script")
        if name in _THROUGH:
            return type(name, (Wrapper,), {})
        return type(name, (Wrapper,), {"__init__": _refused(f"{self.__name__}.{name}")})


def _refused(name: str) -> Any:
    def init(this: Any, *args: Any, **kwargs: Any) -> None:
        raise ModuleNotFoundError(f"{name} has no stand-in; install gymnasium to run this script")

    return init


def module(name: str) -> types.ModuleType:
    """A module of the package; gymnasium's environments answer with five values, gym's with four."""
    made: Any = Gym(name)
    top, _, part = name.partition(".")
    vars(made).update(_OWN)
    made.__version__ = "0.29.1" if top == "gymnasium" else "0.21.0"
    made.make = lambda id, *args, **kwargs: Made(id, top == "gymnasium")  # noqa: A006  the name that scripts give
    made.register = lambda *args, **kwargs: None
    if not part:
        made.logger = types.SimpleNamespace(set_level=lambda *args: None)
    if part == "utils.seeding":
        made.np_random = lambda seed=None: (importlib.import_module("numpy").random.RandomState(seed or 0), seed or 0)
    if part == "utils":
        made.EzPickle = type("EzPickle", (), {"__init__": lambda this, *args, **kwargs: None})
    return made
