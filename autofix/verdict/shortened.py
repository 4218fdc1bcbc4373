"""Runs whose training loops end early, of the code and an edit: they come to what the compared passes do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from autofix.core.model import Treatment
from autofix.experiments.compare import comparable, same_or_rounded
from autofix.experiments.sketches import FROZEN, LIVE
from autofix.experiments.spec import Intervention, RunSpec
from autofix.probe import wire
from autofix.verdict.evidence import Evidence

WAYS = (Treatment.LIVE, Treatment.FROZEN, Treatment.STILL)


@dataclass(frozen=True, slots=True)
class Shortened:
    """Both runs, in which the same loops ended early."""

    code: wire.Trace
    edited: wire.Trace
    tolerance: float

    @property
    def are_alike(self) -> bool:
        """Whether both train the same."""
        return _are_alike(self.code, self.edited, self.tolerance)


def shortened(evidence: Evidence, how: Intervention, ways: Sequence[Treatment] = WAYS) -> Shortened | None:
    """Both runs, treated in the first of some ways in which the edit equals the code in the passes compared.

    None where it equals the code in none, where the short code does not run, and where not the same loops end.
    """
    reading = evidence.reading
    for treatment in ways:
        tolerance = LIVE if treatment is Treatment.LIVE else FROZEN
        both = evidence.of(reading, treatment), evidence.of_edit(treatment)
        if not _are_alike(*both, tolerance):
            continue
        specs = [
            replace(spec, treatment=treatment, intervention=how)
            for spec in (RunSpec.reference(reading), RunSpec.edited(evidence.files))
        ]
        evidence.case.pool.expect(*specs)
        code, edited = map(evidence.case.pool.get, specs)
        alike = _ended_alike(both, (code, edited)) and not comparable(code)
        return Shortened(code, edited, tolerance) if alike else None
    return None


def _are_alike(code: wire.Trace, edited: wire.Trace, tolerance: float) -> bool:
    """Whether two runs that ended well train the same, but for what rounding leaves."""
    return edited.ended_well and not comparable(code) and same_or_rounded(code, edited, tolerance)


def _ended_alike(whole: tuple[wire.Trace, wire.Trace], short: tuple[wire.Trace, wire.Trace]) -> bool:
    """Whether the same loops ended early in the code and in the edit, as far as that came; a limit is no end."""
    code, edited = ({*now.notes} - {*then.notes} for now, then in zip(short, whole, strict=True))
    return edited <= code if short[1].failure else edited == code and short[1].ended_well
