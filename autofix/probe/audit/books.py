"""Draws the books of a run together: what each optimizer owns and no loss reaches, what is trained and nobody owns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import torch

from .. import wire
from ..engine.names import Names, listed
from ..engine.taps import parameters
from ..program.frames import Frames, Raw
from .ledger import WALKED, Ledger, Owner
from .made import Made, hidden
from .notes import OFTEN, Notes
from .paths import Cut
from .values import Values

_MATTERS = (torch.nn.modules.dropout._DropoutNd, torch.nn.modules.batchnorm._NormBase)
_BY_ACCIDENT = frozenset({"item", "numpy", "rebuilt", "data", "undifferentiable", "discrete"})
"""Ways in which a path ends that are seldom taken to end it; `detach` and `no_grad` say so themselves."""


class Bookkeeper:
    """Reads the ledger once the run has ended."""

    def __init__(self, frames: Frames, ledger: Ledger, made: Made, values: Values, names: Names) -> None:
        modules = [(name, module) for name, known in ledger.modules.values() if (module := known()) is not None]
        self._frames, self._ledger, self._made, self._values = frames, ledger, made, values
        self._modules = modules
        self._names = names
        self._known = {id(p): f"{name}.{inner}" for name, module in reversed(modules)
                       for inner, p in module.named_parameters()}  # fmt: skip
        self._owned = ledger.owned()
        self._reached = ledger.reached()

    def name(self, tensor: torch.Tensor) -> str:
        """The user's name for a tensor, else its shape."""
        found = self._known.get(id(tensor)) or self._names.name(tensor, "")
        owner = self._made.owner(tensor) if not found else None
        return found or (f"a {type(owner).__name__}" if owner is not None else f"a tensor of {tuple(tensor.shape)}")

    # Laws -----------------------------------------------------------------------------------------------------------

    def conclude(self, notes: Notes, *, finished: bool) -> None:
        """Note what the whole run broke."""
        trained = [leaf for key, leaf in self._reached.items() if key not in self._owned and _is_parameter(leaf)]
        anew = self._made_anew(notes, trained)
        trained = [leaf for leaf in trained if id(leaf) not in anew]
        listed_away = self._in_plain_list(notes, [*trained, *self._plain_leaves()])
        self._look_at_modules(notes)
        for cut in self._values.paths.cuts.values():
            if not cut.old and len(cut.turns) >= OFTEN and min(cut.turns.values()) > 1:
                notes.note("state-cut-in-time", "", cut.stack)
        trained = [leaf for leaf in trained if id(leaf) not in listed_away]
        explained = False
        for owner in self._ledger.owners.values():
            explained |= self._look_at(notes, owner, trained, finished=finished)
        if trained and not explained:
            first = next((owner for owner in self._ledger.owners.values() if owner.steps), None)
            if first is not None and all(leaf.grad is not None for leaf in trained):
                names = listed([self.name(leaf) for leaf in trained])
                notes.note("parameters-without-optimizer", names, first.made, first.site)

    def _made_anew(self, notes: Notes, trained: list[torch.Tensor]) -> set[int]:
        """Parameters that the same line makes again in each pass."""
        places: dict[tuple[Raw, Any], list[torch.Tensor]] = {}
        for leaf in trained:
            if place := self._made.place(leaf):
                places.setdefault((place, tuple(leaf.shape)), []).append(leaf)
        found: set[int] = set()
        for (place, _), leaves in places.items():
            once = all(loss.times.get(id(leaf), 1) == 1 for loss in self._ledger.losses.values() for leaf in leaves)
            calls = min(WALKED, max((loss.calls for loss in self._ledger.losses.values()), default=0))
            if once and len(leaves) >= max(calls, OFTEN):
                found.update(map(id, leaves))
                notes.note("layer-made-anew", "", place, self._values.paths.used.get(id(leaves[0]), ()))
        return found

    def _in_plain_list(self, notes: Notes, trained: list[torch.Tensor]) -> set[int]:
        """Parameters that an owned module holds where `parameters()` cannot see them."""
        keys = {id(leaf) for leaf in trained}
        found: set[int] = set()
        for name, module in self._roots() if keys else ():
            inner = [p for p in module.parameters() if p.requires_grad]
            if not inner or not any(id(p) in self._owned for p in inner):
                continue
            lost = [(path, p) for path, p in hidden(module) if id(p) in keys]
            if lost:
                found.update(id(p) for _, p in lost)
                owner = next(self._ledger.owners[self._owned[id(p)]] for p in inner if id(p) in self._owned)
                place = _within(module, *lost[0], self._made.place(lost[0][1])) or owner.made
                used = self._values.paths.used.get(id(lost[0][1]), ())
                names = listed([f"{name}.{path}" for path, _ in lost])
                notes.note("modules-in-plain-list", names, place, used, owner.made, owner.site)
        return found

    def _roots(self) -> list[tuple[str, torch.nn.Module]]:
        known = {id(module) for _, module in self._modules}
        found = list(self._modules)
        for root in self._made.roots(self._ledger.owned_tensors()):
            if id(root) not in known:
                known.add(id(root))
                found.append((type(root).__name__, root))
        return found

    def _look_at(self, notes: Notes, owner: Owner, trained: list[torch.Tensor], *, finished: bool) -> bool:
        """One optimizer; whether it owns other tensors than those that are trained."""
        mine = parameters(owner.optimizer)
        if not owner.steps:
            if finished:
                self._never_stepped(notes, owner, mine)
            return False
        if owner.steps < OFTEN:
            return False
        gap = any(not group["params"] for group in owner.optimizer.param_groups)
        none = owner.empty == owner.looked
        never = [p for p in mine if p.requires_grad and id(p) not in owner.given and p.grad is None]
        if trained and (gap or self._are_copies(never, trained)):
            places = [*self._made.replaced[:1], owner.site]
            notes.note("optimizer-owns-others", listed([self.name(leaf) for leaf in trained]), owner.made, *places)
            return True
        cuts = self._cuts({id(p) for p in never}) if never else []
        if none and notes.has("zeroed-before-step"):
            return False
        if none:
            frozen = not any(p.requires_grad for p in mine)
            where = [cut.shown for cut in cuts] + [cut.off for cut in cuts]
            notes.note("steps-without-gradient", "frozen" if frozen else "none", owner.site, *where, owner.made)
        elif never and cuts:
            self._tell_cut(notes, owner, never, cuts, finished=finished)
        elif never:
            self._tell_unreached(notes, owner, never)
        else:
            self._look_at_zeros(notes, owner, mine)
        return False

    def _look_at_zeros(self, notes: Notes, owner: Owner, mine: list[torch.Tensor]) -> None:
        if owner.zero == min(owner.looked, WALKED):
            notes.note("gradients-all-zero", "", owner.site)
        elif dead := self._dead(owner, mine):
            notes.note("gradients-zero", listed(dead), owner.site)

    def _tell_unreached(self, notes: Notes, owner: Owner, never: list[torch.Tensor]) -> None:
        names = listed([self.name(p) for p in never])
        if left := self._left_out({id(p) for p in never}):
            notes.note("loss-left-out", names, left, owner.site)
            return
        used = next((self._values.paths.used[id(p)] for p in never if id(p) in self._values.paths.used), ())
        notes.note("parameters-never-reached", names, self._made.place(never[0]), used, owner.site)

    def _left_out(self, never: set[int]) -> Raw:
        """Where a loss is made, pass by pass, that would reach one of these, and that never goes backward."""
        scores = self._values.scores
        sites = [site for site, (count, leaves) in scores.behind.items() if count >= OFTEN and leaves & never]
        return next((site for site in sites if site not in scores.counted), ())

    def _dead(self, owner: Owner, mine: list[torch.Tensor]) -> list[str]:
        """Modules of which every gradient was exactly 0 at every step that was looked at."""
        modules: dict[int, list[torch.Tensor]] = {}
        for parameter in mine:
            if (module := self._made.owner(parameter)) is not None:
                modules.setdefault(id(module), []).append(parameter)
        found = []
        for held in modules.values():
            norms = [owner.norms.get(id(p), []) for p in held]
            if all(len(seen) >= OFTEN and not any(seen) for seen in norms):
                found += [self.name(p) for p in held]
        return found

    def _tell_cut(
        self, notes: Notes, owner: Owner, never: list[torch.Tensor], cuts: list[Cut], *, finished: bool
    ) -> None:
        first = cuts[0]
        modules = [module for p in never if (module := self._made.owner(p)) is not None]
        rests = bool(modules) and not any(module.training for module in modules)
        sure = first.kind in _BY_ACCIDENT or (finished and not rests)
        where = [cut.shown for cut in cuts] + [cut.off for cut in cuts]
        name = "graph-cut" if sure and (first.joined or first.number) else "graph-cut-perhaps"
        names = listed([self.name(p) for p in never])
        notes.note(name, f"{first.kind}:{names}", *where, owner.site)

    def _cuts(self, missing: set[int]) -> list[Cut]:
        """Where the paths of parameters end: first what comes back into a graph."""
        found = [cut for cut in self._values.paths.cuts.values() if cut.behind & missing]
        joined = [cut for cut in found if cut.joined]
        numbers = [cut for cut in found if cut.number and cut.kind == "item"]
        return (joined or numbers)[:OFTEN]

    def _are_copies(self, never: list[torch.Tensor], trained: list[torch.Tensor]) -> bool:
        """Whether what is trained without owner looks like what is owned and never reached, or took its place."""
        if not never:
            return False
        if self._made.replaced and any(self._made.place(leaf) for leaf in trained):
            return True
        shapes = Counter(tuple(p.shape) for p in never)
        others = Counter(tuple(p.shape) for p in trained)
        return all(others[shape] >= count for shape, count in shapes.items())

    def _never_stepped(self, notes: Notes, owner: Owner, mine: list[torch.Tensor]) -> None:
        sites = [
            loss.stack for loss in self._ledger.losses.values()
            if loss.calls >= OFTEN and any(id(p) in loss.reached for p in mine)
        ]  # fmt: skip
        before = owner.versions
        if sites and all(p._version == before.get(id(p), p._version) for p in mine):
            notes.note("optimizer-never-steps", listed([self.name(p) for p in mine]), sites[0], owner.made)

    def _plain_leaves(self) -> Iterator[torch.Tensor]:
        """Tensors that get gradients pass by pass, are no parameters, and that nobody writes."""
        for key, leaf in self._reached.items():
            times = max(loss.times.get(key, 0) for loss in self._ledger.losses.values())
            plain = key not in self._owned and key not in self._ledger.asked and not _is_parameter(leaf)
            if plain and leaf.grad is not None and times >= OFTEN and not self._values.averages.written_at([leaf]):
                yield leaf

    def _look_at_modules(self, notes: Notes) -> None:
        """Flags that torch does not know, modules of several names, parameters that share their memory."""
        for place, name in self._made.misspelt.items():
            notes.note("no-such-flag", name, place)
        for place in dict.fromkeys(self._made.repeated.values()):
            notes.note("one-module-many-names", "", place)
        places: dict[tuple[int, Any], torch.Tensor] = {}
        pairs: dict[Raw, list[str]] = {}
        for parameter in self._ledger.known_parameters():
            other = places.setdefault((parameter.data_ptr(), parameter.shape), parameter)
            if other is parameter or not parameter.numel() or not any(id(p) in self._owned for p in (parameter, other)):
                continue
            where = [found for p in (parameter, other) if (found := self._ledger.shares.of(p)) is not None]
            pairs.setdefault((*where, ())[0], []).append(f"{self.name(other)} and {self.name(parameter)}")
        for place, names in pairs.items():
            notes.note("one-memory-two-parameters", listed(names), place)

    # The table ------------------------------------------------------------------------------------------------------

    def told(self, values: tuple[wire.Value, ...], *, finished: bool) -> wire.Books:
        """The books as records."""
        resolve = self._frames.resolve
        losses = list(self._ledger.losses.values())
        trainers = [
            wire.Trainer(
                type(one.optimizer).__name__, resolve(one.made), one.steps, one.empty, len(parameters(one.optimizer))
            )
            for one in self._ledger.owners.values()
        ]
        return wire.Books(
            tuple(wire.Loss(resolve(loss.stack), loss.calls, loss.first, loss.last, loss.gradients) for loss in losses),
            tuple(trainers), tuple(self._networks(losses)), finished, self._values.failed, values,
        )  # fmt: skip

    def _networks(self, losses: list[Any]) -> list[wire.Network]:
        groups: dict[tuple[str, int], list[torch.Tensor]] = {}
        seen: set[int] = set()
        roots = [p for _, module in self._modules for p in module.parameters()]
        for tensor in (*self._ledger.owned_tensors(), *self._reached.values(), *roots):
            if id(tensor) not in seen and (id(tensor) in self._owned or _is_parameter(tensor)):
                seen.add(id(tensor))
                network = self.name(tensor).split(".")[0]
                network = "unnamed" if network.startswith("a ") else network
                groups.setdefault((network, self._owned.get(id(tensor), -1)), []).append(tensor)
        return [self._network(name, index, tensors, losses) for (name, index), tensors in list(groups.items())[:50]]

    def _network(self, name: str, index: int, tensors: list[torch.Tensor], losses: list[Any]) -> wire.Network:
        owner = self._ledger.owners.get(index)
        norms = [owner.norms[id(p)] for p in tensors if id(p) in owner.norms] if owner is not None else []
        steps = max(map(len, norms), default=0)
        squares = [sum(given[n] ** 2 for given in norms if n < len(given)) for n in range(steps)]
        given = owner.given if owner is not None else self._reached.keys()
        modes = {module.training for root, module in self._modules if root == name
                 and any(isinstance(m, _MATTERS) for m in module.modules())}  # fmt: skip
        return wire.Network(
            name, index, tuple(n for n, loss in enumerate(losses) if any(id(p) in loss.reached for p in tensors)),
            len(tensors), sum(p.numel() for p in tensors), sum(s**0.5 for s in squares) / steps if steps else 0.0,
            sum(p.requires_grad and id(p) not in given for p in tensors), sum(not p.requires_grad for p in tensors),
            "" if not modes else "train" if modes == {True} else "eval" if modes == {False} else "both",
            self._frames.resolve(self._values.averages.written_at(tensors)),
        )  # fmt: skip


def _within(module: torch.nn.Module, path: str, _parameter: torch.Tensor, place: Raw) -> Raw:
    """Where the class that holds a list made what is in it, of the place that registered a parameter."""
    holder = type(module.get_submodule(path.partition("[")[0].rpartition(".")[0])).__qualname__
    own = (place[n:] for n, (code, _) in enumerate(place) if code.co_qualname.startswith(f"{holder}."))
    return next(own, place)


def _is_parameter(tensor: torch.Tensor) -> bool:
    return isinstance(tensor, torch.nn.Parameter)
