"""Keeps probes warm between repairs: what they import ahead, and when another has to be started."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from autofix.core.model import Target
from autofix.experiments.client import Probe, ProbeError
from autofix.probe import wire

_IMPORTS = re.compile(rb"^[ \t]*(?:import|from)[ \t]+(\w+)", re.MULTILINE)
_COMPILER = "torch._dynamo"
"""Part of torch that a server also loads when a run has."""
_COMPILES = re.compile(rb"\b_dynamo\b|\btorch\.compile|\bcheckpoint\(|\btorch\.func\b")
AnyProbe = TypeVar("AnyProbe", bound=Probe)


def modules(target: Target) -> list[str]:
    """What a server imports ahead for a target, never the user's own: torch's lazy part where it is compiled with."""
    try:
        text = target.read(target.script)
    except OSError:
        return []
    named = {name.decode() for name in _IMPORTS.findall(text)}
    lazy = [_COMPILER] if _COMPILES.search(text) else []
    return lazy + sorted(named.intersection(wire.AHEAD))


def start(target: Target) -> Probe:
    """A probe in the target's interpreter, for one repair."""
    return Probe(target.python or Path("python3"), modules(target))


Key = tuple[Path, tuple[tuple[str, str], ...]]
"""What a kept probe is found by: its interpreter, and the variables set for it."""


@dataclass(frozen=True)
class _Kept(Generic[AnyProbe]):
    probe: AnyProbe
    had: frozenset[str]
    state: tuple[object, ...]


class Warm(Generic[AnyProbe]):
    """One probe for each interpreter and environment, kept until it ends, its packages change, or `close`.

    A context manager. Of more than `most` the one that has not been asked for longest is ended.
    """

    def __init__(
        self, make: Callable[[Path, Sequence[str], Mapping[str, str]], AnyProbe], *, most: int | None = None
    ) -> None:
        self._make, self._most = make, most
        self._kept: dict[Key, _Kept[AnyProbe]] = {}

    def __enter__(self) -> Warm[AnyProbe]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def probe(self, target: Target, environment: Mapping[str, str] | None = None) -> AnyProbe:
        """A probe that serves this target as a new one would; raises run.ProbeError where none can be started."""
        key = _key(target, environment)
        wanted = frozenset(modules(target))
        kept = self._kept.pop(key, None)
        if kept is not None:
            if kept.probe.alive and wanted - {_COMPILER} <= kept.had and kept.state == _state(kept.probe):
                self._kept[key] = kept  # now the last to go
                return kept.probe
            wanted |= kept.had
            kept.probe.close()
        while self._most is not None and len(self._kept) >= self._most:
            self._kept.pop(next(iter(self._kept))).probe.close()
        probe = self._make(key[0], sorted(wanted), environment or {})
        try:
            self._kept[key] = _Kept(probe, wanted, _state(probe))
        except ProbeError:
            probe.close()
            raise
        return probe

    def holds(self, target: Target, environment: Mapping[str, str] | None = None) -> bool:
        """Whether a probe for this target's interpreter is kept."""
        return _key(target, environment) in self._kept

    def drop(self, target: Target, environment: Mapping[str, str] | None = None) -> None:
        """End the probe for this target's interpreter: it did not serve as it should."""
        if (kept := self._kept.pop(_key(target, environment), None)) is not None:
            kept.probe.close()

    def leave(self, folder: Path) -> None:
        """End the probes whose interpreter lies in a folder that is about to go."""
        for key in [key for key in self._kept if key[0].is_relative_to(folder)]:
            self._kept.pop(key).probe.close()

    def close(self) -> None:
        """End every probe and its runs."""
        while self._kept:
            self._kept.popitem()[1].probe.close()


def _key(target: Target, environment: Mapping[str, str] | None) -> Key:
    return target.python or Path("python3"), tuple(sorted((environment or {}).items()))


def _state(probe: Probe) -> tuple[object, ...]:
    """What changes when packages are installed, upgraded or removed: the interpreter and its folders."""
    found: list[object] = []
    hello = probe.hello()
    for path in map(Path, (hello.executable, *hello.paths)):
        try:
            entry = path.stat()
        except OSError:
            continue
        found.append((str(path), entry.st_mtime_ns, entry.st_ino))
    return tuple(found)
