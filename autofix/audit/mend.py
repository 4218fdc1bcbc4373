"""Mends what an audit found: tries the edits that are offered for each fault, and keeps those that are proved."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from autofix.audit import repairs, told
from autofix.audit.proof import Audited, Proof
from autofix.audit.repair import Found, Keeps, Offer
from autofix.core.edit import Declined, EditConflict
from autofix.core.model import Applicability, Candidate, Effect, Note, RunOutcome, Suspicion, Target, Verdict
from autofix.experiments.client import Probe
from autofix.experiments.reproduce import audited
from autofix.probe import wire
from autofix.syntax.apply import BrokenRewrite, apply
from autofix.syntax.edits import rendered
from autofix.syntax.sources import Sources

_TRIES = 20
"""Edits of one script that are tried at most: each is a run."""
_SECONDS = 60.0
"""For how long another fault is taken up."""


class Mending:
    """Mends the faults of one script one after the other, each on top of those before."""

    def __init__(self, probe: Probe, target: Target, trace: wire.Trace, ignored: Sequence[str]) -> None:
        self._probe, self._target, self._ignored = probe, target, ignored
        self._left, self._began = _TRIES, time.monotonic()
        self._kept: list[Keeps] = []
        self.candidate = Candidate((), (), (), (), {}, (), Applicability.UNSAFE)
        self.notes: list[Note] = []
        self.state = self._audited(trace, {})

    def mended(self, tell: Callable[[str], None]) -> tuple[Candidate, Verdict] | None:
        """The edits that are proved, as one, and what is proved of them; None where there is none."""
        given_up: set[tuple[str, str]] = set()
        while self._left > 0 and time.monotonic() - self._began < _SECONDS:
            open_ = [pair for pair in self.state.found.items() if pair[0].sure and _key(pair[1]) not in given_up]
            if not open_:
                break
            suspicion, fact = open_[0]
            if not self._mends(suspicion, fact, tell):
                given_up.add(_key(fact))
        if not self.candidate.rules:
            return None
        said = "; ".join(dict.fromkeys(keeps.value for keeps in self._kept))
        summary = f"run again, the fault is gone and no other came; {said}"
        # Never safe: the code ran as its letter says.
        return self.candidate, Verdict(RunOutcome.FINISHED, Effect.CHANGED, Applicability.UNSAFE, summary)

    def _mends(self, suspicion: Suspicion, fact: wire.Fact, tell: Callable[[str], None]) -> bool:
        sources = Sources.of(self._target, self.candidate.files)
        for offer, files in self._edits(suspicion, fact, sources):
            if self._left <= 0:
                break
            self._left -= 1
            tell(f"trying {offer.title}")
            edited = replace(self._target, buffers=self._target.buffers | files)
            after = self._audited(audited(self._probe, edited)[1], files)
            texts = {str(path): (self._read(path), data) for path, data in files.items()}
            doubt = Proof(self.state, after, texts).doubt(suspicion, fact, offer.keeps)
            if not doubt:
                made = self.candidate
                self.state = after
                self.candidate = replace(
                    made, rules=(*made.rules, suspicion.code), titles=(*made.titles, offer.title), files=files
                )
                self._kept.append(offer.keeps)
                return True
            self.notes.append(Note(suspicion.code, f"{offer.title}: {doubt}"))
        return False

    def _edits(
        self, suspicion: Suspicion, fact: wire.Fact, sources: Sources
    ) -> Iterator[tuple[Offer, dict[Path, bytes]]]:  # fmt: skip
        """What is offered for a fault, as new contents of files, each once."""
        seen: list[dict[Path, bytes]] = []
        offers = repairs.offers(Found(fact, sources), fact.name)
        while True:
            try:
                offer = next(offers)
                edits = rendered(offer.steps)
                files = dict(self.candidate.files)
                for path in {edit.path for edit in edits}:
                    source = sources.source(str(path))
                    if source is not None:
                        files[path] = apply(source, [edit for edit in edits if edit.path == path])
            except StopIteration:
                return
            except (Declined, EditConflict, BrokenRewrite) as error:
                self.notes.append(Note(suspicion.code, str(error)))
                continue
            if edits and files not in seen:
                seen.append(files)
                yield offer, files

    def _audited(self, trace: wire.Trace, files: dict[Path, bytes]) -> Audited:
        return Audited(trace, told.suspicions(trace.silent, Sources.of(self._target, files), self._ignored))

    def _read(self, path: Path) -> bytes:
        return self.candidate.files[path] if path in self.candidate.files else self._target.read(path)


def _key(fact: wire.Fact) -> tuple[str, str]:
    return fact.name, fact.subject
