"""No edit is safe but those that are right: programs for each law, and what is easily mistaken for them."""

from __future__ import annotations

from pathlib import Path

import pytest
from lawful import Program, judged, safe
from laws import (
    acted,
    assigned,
    cleared,
    collected,
    copies,
    cuts,
    errors,
    evaluated,
    for_a_pass,
    lifted,
    losses,
    lost_graphs,
    named,
    older,
    paired,
    penalties,
    phases,
    players,
    progress,
    put_by,
    reductions,
    shuffled,
    slopes,
    sums,
    taken_back,
    teachers,
    terms,
    values,
    views,
)
from sampled import one_in

from autofix.core.model import Reading
from autofix.experiments.client import Probe
from autofix.verdict.law import KeptByChange, Word, laws

PROGRAMS = [
    *one_in(
        40,
        [
            one
            for law in (
                acted,
                assigned,
                cleared,
                copies,
                cuts,
                errors,
                evaluated,
                for_a_pass,
                lifted,
                losses,
                lost_graphs,
                named,
                older,
                paired,
                penalties,
                phases,
                players,
                progress,
                put_by,
                reductions,
                shuffled,
                slopes,
                taken_back,
                teachers,
                terms,
            )
            for one in law.PROGRAMS
        ],
        str,
    ),
    *(one for law in (collected, sums, values, views) for one in one_in(40, law.PROGRAMS, str)),
    *(
        pytest.param(one, id=one.name, marks=pytest.mark.apart("long"))
        for law in (collected, sums, views)
        for one in law.DEAR
    ),
]


@pytest.mark.torch
@pytest.mark.parametrize("program", PROGRAMS)
def test_no_edit_is_safe_but_those_that_are_right(probe: Probe, tmp_path: Path, program: Program) -> None:
    verdicts = judged(probe, tmp_path, program)
    assert safe(verdicts) == program.right, {name: one.summary for name, one in verdicts.items()}


@pytest.mark.parametrize("law", [one for one in laws() if isinstance(one, KeptByChange)], ids=lambda law: law.name)
def test_a_law_keeps_the_reading_that_it_offers(law: KeptByChange) -> None:
    kind = type("Broken", (type(law),), {"seen": lambda *_: "the code as written breaks it"})
    code = Reading()
    assert kind().says(None, law.changed(code)).word is Word.KEPT
    assert kind().says(None, code).word is Word.BROKEN
