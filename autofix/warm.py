"""Keeps probes warm between repairs: what they import ahead, and when another has to be started."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from autofix.run import Probe

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from autofix.model import Target

AHEAD = frozenset({"PIL", "einops", "numpy", "pandas", "scipy", "torchaudio", "torchvision", "tqdm", "yaml"})
"""Packages that the server may import outside of any fence: their import writes nothing and starts no thread."""
_IMPORTS = re.compile(rb"^[ \t]*(?:import|from)[ \t]+(\w+)", re.MULTILINE)
AnyProbe = TypeVar("AnyProbe", bound=Probe)


def modules(target: Target) -> list[str]:
    """What a server imports ahead for a target, never the user's own: torch's lazy part where an optimizer needs it."""
    try:
        text = target.read(target.script)
    except OSError:
        return []
    named = {name.decode() for name in _IMPORTS.findall(text)}
    lazy = ["torch._dynamo"] if b"optim" in text or named - {"torch"} else []
    return lazy + sorted(named & AHEAD)


def start(target: Target) -> Probe:
    """A probe in the target's interpreter, for one repair."""
    return Probe(target.python or Path("python3"), modules(target))


class Warm(Generic[AnyProbe]):
    """One probe for each interpreter, kept until it ends, its packages change, or `close`. A context manager."""

    def __init__(self, make: Callable[[Path, Sequence[str]], AnyProbe]) -> None:
        self._make = make
        self._kept: dict[Path, tuple[AnyProbe, frozenset[str], tuple[object, ...]]] = {}

    def __enter__(self) -> Warm[AnyProbe]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def probe(self, target: Target) -> AnyProbe:
        """A probe that serves this target as a new one would; raises run.ProbeError where none can be started."""
        python = target.python or Path("python3")
        wanted = frozenset(modules(target))
        if python in self._kept:
            probe, had, state = self._kept[python]
            if probe.alive and wanted <= had and state == _state(probe):
                return probe
            wanted |= had
            probe.close()
            del self._kept[python]
        probe = self._make(python, sorted(wanted))
        self._kept[python] = (probe, wanted, _state(probe))
        return probe

    def holds(self, target: Target) -> bool:
        """Whether a probe for this target's interpreter is kept."""
        return (target.python or Path("python3")) in self._kept

    def drop(self, target: Target) -> None:
        """End the probe for this target's interpreter: it did not serve as it should."""
        if (kept := self._kept.pop(target.python or Path("python3"), None)) is not None:
            kept[0].close()

    def close(self) -> None:
        """End every probe and its runs."""
        for probe, _, _ in self._kept.values():
            probe.close()
        self._kept.clear()


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
