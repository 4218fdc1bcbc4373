"""Hears the calls of torch's own training helpers: clipping, clearing, scalers, seeds and states."""

from __future__ import annotations

import functools
import random
import sys
import weakref
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch

from ..engine.quiet import quiet
from ..engine.refused import tensors
from ..engine.remembered import Remembered
from ..engine.taps import Call, Listener, parameters
from ..program.frames import Frames, Raw
from .ledger import Ledger
from .modes import Modes
from .notes import OFTEN, Notes
from .schedules import Schedules

_CLOSE = 1e-6
_LONG = 50
"""Steps after which gradients are no longer followed from step to step."""
_UNBOUNDED = 1e5
"""A norm so large that whoever clips to it wants to know the norm."""


@dataclass(slots=True)
class _Clip:
    """One place that clips: how often it found gradients that a step then could use, and how often none."""

    used: int = 0
    empty: int = 0
    scaled: int = 0
    bare: bool = True
    """Whether it never found any gradient at all, rather than one that a step had used."""


class Calls(Listener):
    """Wraps functions and methods of torch; each wrapper notes who called, and lets the call through."""

    def __init__(self, frames: Frames, ledger: Ledger, notes: Notes) -> None:
        self._frames, self._ledger, self._notes = frames, ledger, notes
        self.blind = False
        """Whether it is no longer seen that somebody reads gradients."""
        self._inside_step = -1
        """Backward calls of a closure that is being evaluated, else negative."""
        self._clips: dict[Raw, _Clip] = {}
        self._schedules, self._modes = Schedules(frames, ledger, notes), Modes(frames, ledger, notes)
        self._inside: set[str] = set()
        self._scaled: list[weakref.ref[torch.Tensor]] = []
        self._on_scaled: dict[int, str] = {}
        """Of each optimizer, whether the gradients that wait for its step are scaled, or unscaled again."""
        self._scaler_steps: Counter[Raw] = Counter()
        self._scaler_updates = 0
        self._scales = False
        """Whether the scaler that steps, or did last, is enabled."""
        self._pending: dict[int, Counter[Raw]] = {}
        self._dropped: dict[int, dict[Raw, Raw]] = {}
        self._served: set[Raw] = set()
        """The places of backward calls of whose latest gradients a step has used some, or the script has read them."""
        self._useful: set[Raw] = set()
        """Those of whose gradients some were used before the others were cleared."""
        self._ever: set[Raw] = set()
        """Those of whose gradients somebody has used some at any time, or may have."""
        self._in_vain: dict[Raw, list[Raw]] = {}
        """Of the others, where their gradients were cleared, time by time."""
        self._used: dict[int, Raw] = {}
        """Where the gradient that a tensor has was used by a step, since when no backward has added to it."""
        self._taken = Remembered[tuple[int, "Raw"]]()
        """Aliases of parameters that the script keeps: of each the number of steps that were made before, and where."""
        self.seeds: dict[tuple[Raw, Any], int] = {}
        self.loaders: Counter[Raw] = Counter()

    def install(self) -> None:
        """Put the wrappers in place."""
        self._wrap_clipping()
        self._wrap_clearing()
        self._schedules.install(self._wrap)
        self._wrap_scaler()
        self._modes.install(self._wrap)
        self._wrap_states()
        self._wrap_draws()

    def _wrap(self, owner: Any, name: str, before: Callable[..., Any]) -> None:
        """Have `before` see each outermost call of a function that users' code makes, also through torch's own."""
        original = getattr(owner, name, None)
        if original is None:
            return
        key = f"{getattr(owner, '__name__', owner)}.{name}"

        def heard(*args: Any, **kwargs: Any) -> Any:
            if key in self._inside:
                return original(*args, **kwargs)
            self._inside.add(key)
            try:
                done = before(*args, **kwargs)
                result = original(*args, **kwargs)
            finally:
                self._inside.discard(key)
            if done is not None:
                done(result)
            return result

        heard.__name__, heard.__doc__ = name, getattr(original, "__doc__", None)
        heard.__wrapped__ = original  # type: ignore[attr-defined]
        setattr(owner, name, heard)

    # Clipping -------------------------------------------------------------------------------------------------------

    def _wrap_clipping(self) -> None:
        utils: Any = torch.nn.utils
        for name, bound in (("clip_grad_norm_", "max_norm"), ("clip_grad_value_", "clip_value")):
            setattr(utils, name, self._clipping(getattr(utils, name), bound))
            setattr(utils.clip_grad, name, getattr(utils, name))

    def _clipping(self, original: Any, name: str) -> Any:
        @functools.wraps(original)
        def clip(*args: Any, **kwargs: Any) -> Any:
            given = args[0] if args else kwargs.get("parameters", ())
            if not isinstance(given, torch.Tensor):  # a generator can be read only once
                given = list(given)
                args, kwargs = ((given, *args[1:]), kwargs) if args else (args, {**kwargs, "parameters": given})
            bound = args[1] if len(args) > 1 else kwargs.get(name)
            if not isinstance(bound, (int, float)) or bound < _UNBOUNDED:
                self.clipped([given] if isinstance(given, torch.Tensor) else given)
            return original(*args, **kwargs)

        return clip

    def clipped(self, tensors: list[torch.Tensor]) -> None:
        """Somebody bounds the gradients of these."""
        clip = self._clips.setdefault(self._frames.here(), _Clip())
        owned = self._ledger.owned()
        waiting = [t for t in tensors if id(t) in self._ledger.fresh]
        clip.bare = clip.bare and all(t.grad is None for t in tensors)
        clip.used += bool(waiting)
        clip.empty += not waiting
        indices = {owned[id(t)] for t in waiting if id(t) in owned}
        clip.scaled += any(self._on_scaled.get(index) == "scaled" for index in indices)
        self._ever.update(*(self._pending.get(index, ()) for index in indices))

    def read(self) -> None:
        """The script reads gradients."""
        for sites in self._pending.values():
            self._serve(sites)

    def _serve(self, sites: Iterable[Raw]) -> None:
        """Gradients that backward calls at these places sent are used."""
        self._served.update(sites)
        self._ever.update(sites)

    # Clearing -------------------------------------------------------------------------------------------------------

    def _wrap_clearing(self) -> None:
        def optimizer(this: Any, *_: Any, **__: Any) -> None:
            self._clear(parameters(this))

        def module(this: Any, *_: Any, **__: Any) -> None:
            self._clear(list(this.parameters()))

        self._wrap(torch.optim.Optimizer, "zero_grad", optimizer)
        self._wrap(torch.nn.Module, "zero_grad", module)

    def _clear(self, tensors: list[torch.Tensor]) -> None:
        keys = set(map(id, tensors))
        here: Raw = ()
        gone: set[Raw] = set()
        for index, owner in self._ledger.owners.items():
            if self._pending.get(index) and any(id(p) in keys for p in parameters(owner.optimizer)):
                here = here or self._frames.here()
                sites = self._pending.pop(index)
                gone.update(sites)
                self._useful.update(sites.keys() & self._served)
                self._dropped.setdefault(index, {}).update(dict.fromkeys(sites, here))
                self._on_scaled.pop(index, None)
        self._ledger.cleared(tensors)
        for key in keys:
            self._used.pop(key, None)
        for site in gone.difference(self._served, *self._pending.values()) if not self.blind else ():
            self._in_vain.setdefault(site, []).append(here)

    def backward(self, call: Call) -> None:
        self._inside_step += self._inside_step >= 0
        self._served.discard(call.stack)
        if not call.accumulate:
            return
        loss = self._ledger.losses.get(call.stack)
        reached = loss.latest if loss is not None else {}
        if any(not isinstance(leaf, torch.nn.Parameter) for leaf in reached.values()):
            self._ever.add(call.stack)  # gradients of inputs are read, not stepped with
        scaled = any(root is reference() for root in call.roots for reference in self._scaled)
        self._scaled = [one for one in self._scaled if one() is not None][-OFTEN:]
        for index, owner in self._ledger.owners.items():
            if any(id(p) in reached for p in parameters(owner.optimizer)):
                self._pending.setdefault(index, Counter())[call.stack] += 1
                self._on_scaled[index] = "scaled" if scaled else ""
        self._modes.trained(reached, call.stack)

    def evaluate(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self._inside_step = 0 if isinstance(optimizer, torch.optim.LBFGS) else -1

    def step(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self._use(parameters(optimizer))
        if self._inside_step == 0:
            self._notes.often("", "closure-without-backward", "", self._frames.here())
        self._inside_step = -1
        waiting, dropped = self._pending.pop(index, Counter()), self._dropped.pop(index, {})
        self._serve(waiting)
        if dropped and not waiting:
            here = self._frames.here()
            self._notes.often(here, "zeroed-before-step", "", here, *dropped.values())
        for site, count in waiting.items():
            if sum(abs(by - count) < _CLOSE for by in self._ledger.divisors.get(site, ())) > 1 < count:
                self._notes.note("divided-twice", str(count), site)
        for site in (waiting.keys() & dropped.keys()) - self._useful:
            what = index, site, dropped[site]
            self._notes.often(what, "gradients-thrown-away", "", dropped[site], site, self._frames.here())
        scaled = self._on_scaled.pop(index, "")
        if scaled == "scaled" and not self._stepping:
            self._notes.note("scaler-passed-by", "", self._frames.here())
        if waiting and not scaled and self._stepping:
            self._notes.note("scaler-without-scale", "", self._frames.here(), *waiting)

    def _use(self, given: list[torch.Tensor]) -> None:
        """A step uses gradients: has a step used each of them before, and no backward made it since?"""
        mine = [p for p in given if p.grad is not None]
        if not mine or self._ledger.step_number > _LONG:
            return
        here = self._frames.here()
        earlier = [self._used[id(p)] for p in mine if id(p) in self._used and id(p) not in self._ledger.fresh]
        if len(earlier) == len(mine) and any(bool(p.grad.any()) for p in mine if p.grad is not None):
            self._notes.often(here, "gradient-used-twice", "", here, *earlier)
        self._used.update(dict.fromkeys((id(p) for p in mine if id(p) in self._ledger.fresh), here))

    # Scaler ---------------------------------------------------------------------------------------------------------

    def _wrap_scaler(self) -> None:
        def scaled(scaler: Any, *_: Any, **__: Any) -> Any:
            def done(result: Any) -> None:
                if scaler.is_enabled() and isinstance(result, torch.Tensor):
                    self._scaled.append(weakref.ref(result))

            return done

        def stepped(scaler: Any, *_: Any, **__: Any) -> None:
            self._scaler_steps[self._frames.here()] += 1
            self._scales = bool(scaler.is_enabled())

        def updated(*_: Any, **__: Any) -> None:
            self._scaler_updates += 1

        def unscaled(_scaler: Any, optimizer: Any) -> None:
            for index, owner in self._ledger.owners.items():
                if owner.optimizer is optimizer and index in self._on_scaled and not self._stepping:
                    self._on_scaled[index] = "unscaled"

        for name, before in (("scale", scaled), ("step", stepped), ("update", updated), ("unscale_", unscaled)):
            self._wrap(torch.amp.grad_scaler.GradScaler, name, before)

    # States ---------------------------------------------------------------------------------------------------------

    def _wrap_states(self) -> None:
        self._wrap(torch.nn.Module, "state_dict", self._state_taken)
        self._wrap(torch.nn.Module, "load_state_dict", self._state_loaded)
        self._wrap(torch, "save", self._saved)

    def _state_taken(self, module: Any, *_: Any, **__: Any) -> Any:
        here = self._frames.here()

        def done(state: Any) -> None:
            for value in list(state.values()) if isinstance(state, dict) else ():
                if isinstance(value, torch.Tensor):
                    self.keep(value, here)

        return done

    def _state_loaded(self, module: Any, state: Any, *_: Any, **__: Any) -> Any:
        if not isinstance(state, dict):
            return None
        here = self._frames.here()

        def done(result: Any) -> None:
            unused = getattr(result, "unexpected_keys", ())
            if state and len(unused) == len(state) and any(True for _ in module.parameters()):
                self._notes.note("nothing-loaded", str(len(unused)), here)

        self._look_at_state(module, state)
        return done

    def _look_at_state(self, module: Any, state: dict[Any, Any]) -> None:
        own = dict((*module.named_parameters(), *module.named_buffers()))
        pairs = [(own[key], value) for key, value in state.items() if isinstance(value, torch.Tensor) and key in own]
        pairs = [(mine, value) for mine, value in pairs if value.numel()]
        if not pairs or any(mine.data_ptr() != value.data_ptr() for mine, value in pairs):
            return
        steps, place = self.age(pairs[0][1])
        if steps is not None and steps < self._ledger.step_number:
            self._notes.note("snapshot-is-alias", "load", place, self._frames.here())
        elif self._ledger.step_number:
            self._notes.note("state-loaded-onto-itself", "", self._frames.here(), place)

    def _saved(self, what: Any, *_: Any, **__: Any) -> None:
        for value in tensors(what):
            steps, place = self.age(value)
            if steps and steps < self._ledger.step_number:
                self._notes.note("snapshot-is-alias", "save", place, self._frames.here())
                return

    def shared(self, given: list[torch.Tensor], place: Raw) -> None:
        """The memory of one tensor becomes that of another."""
        if len(given) == 2 and isinstance(given[0], torch.nn.Parameter):  # noqa: PLR2004  the tensor and its new data
            self._ledger.shares.keep(given[0], place)

    @property
    def _stepping(self) -> bool:
        """Whether an enabled scaler makes a step."""
        return self._scales and "GradScaler.step" in self._inside

    @property
    def loading(self) -> bool:
        """Whether a module is loading a state."""
        return "Module.load_state_dict" in self._inside

    def keep(self, tensor: torch.Tensor, place: Raw) -> None:
        """Remember when and where an alias was taken of what training writes."""
        self._taken.keep(tensor, (self._ledger.step_number, place))

    def age(self, tensor: Any) -> tuple[int | None, Raw]:
        """The steps made before an alias was taken, None where it is none, and where it was taken."""
        return self._taken.of(tensor) or (None, ())

    # Draws ----------------------------------------------------------------------------------------------------------

    def _wrap_draws(self) -> None:
        def seeded(seed: Any = None, *_: Any, **__: Any) -> None:
            if isinstance(seed, int) and self._ledger.losses:
                key = self._frames.here(), seed
                self.seeds[key] = self.seeds.pop(key, 0) + 1  # the latest last: it is what was drawn with

        def begun(loader: Any, *_: Any, **__: Any) -> None:
            self.loaders[self._frames.here()] += 1

        self._wrap(torch, "manual_seed", seeded)
        self._wrap(random, "seed", seeded)
        if "numpy" in sys.modules:
            self._wrap(sys.modules["numpy"].random, "seed", seeded)
        self._wrap(torch.utils.data.DataLoader, "__iter__", begun)

    # At the end -----------------------------------------------------------------------------------------------------

    def finish(self, *, finished: bool) -> None:
        """Note what only the whole run can tell; `finished`: the script came to its own end."""
        for stack, clip in self._clips.items():
            if clip.empty >= OFTEN and not clip.used:
                self._notes.note("clipping-out-of-place", "bare" if clip.bare else "used", stack)
            elif clip.scaled >= OFTEN:
                self._notes.note("clipping-out-of-place", "scaled", stack)
        for stack, count in self._scaler_steps.items():
            if count >= OFTEN and not self._scaler_updates:
                self._notes.note("scaler-not-updated", "", stack)
        self._schedules.finish(finished=finished)
        self._modes.finish()
        self._look_at_cleared()

    def _look_at_cleared(self) -> None:
        """The backward calls of which none was of any use, where nothing has said so already."""
        told = self._notes.has("zeroed-before-step", "gradients-thrown-away")
        for site, cleared in self._in_vain.items() if not told else ():
            if site not in self._ever and len(cleared) >= OFTEN:
                self._notes.note("backward-in-vain", "", cleared[-1], site)


def fingerprint(tensor: torch.Tensor) -> tuple[Any, ...]:
    """What a tensor holds, short enough to be compared often: two equal tensors have the same."""
    with quiet():
        flat = tensor.detach().reshape(-1)
        head = flat[:8].tolist()
        return (tuple(tensor.shape), float(flat.double().sum()), *head)
