"""A part of the edit does nothing that the runs could see

## What it finds

An edit that somebody else made has a part that repairs nothing and changes nothing in the runs that were compared.
Without it the script gets past the failure too, and trains the same, or as the code says where the whole edit does so
with newer parameters or other random numbers. A part is a statement, each of several expressions that changed in one,
an operation or a condition around what was there, an argument that a call lost, or a move. A condition that counts is a
part by itself, also as one of several in a new `if`, and not needed if it was true whenever it was asked.

What says otherwise what was said is no part, as it can do nothing else in a later pass. Such a statement reads by a
name the very object or memory that it read before, chooses as the program chooses, or by the form that a variable has
which it cuts either way, fills in by the mask, whatever that is called, and with the value that an assignment did,
converts the same numbers, says in addition where its tensors are to be, does to another kind of value, of which this
program has none, what a branch that ran does to this one, or tells only autograd what to record. Nor is an operation
that the edit takes from another place, what the program computes by a name in place of that name, or a function of
torch in place of the method. Others are a class that is no function of autograd any more, where nothing takes it for
one, and a static function of a class without objects.

A part that shows nothing is needed all the same if another does what it does: each of several can be left out, but not
all; the code as written trains otherwise without what is removed; a needed part changes another statement in the same
way, or asks for this one; or one of the same form is needed, and without that this one shows. It is also needed if a
loss is no number without it, if it prints otherwise by newer parameters alone, or if the graph has what the code lost
there, and no more, by this part. So it is where it shows once a variable that it reads has other values in the code
and in the edit, and the edit then still does what the code does: labels that are masked where they are 0 anyway.

What moves is put back, and needed only if the runs show what it does and what each that it passed does. What records
numbers or binds a name of its own may move past what writes nothing that it reads, and no draw past a draw. A value
that is made once more is not needed if only what is printed shows it, nor is a part that shows only in what is kept as
a result, which no run compares.

## Why it matters

The part was not judged. A scheduler that was dropped, a clip that does not bind yet and comes too late, or a shorter
loop only shows after the runs that were compared.
"""

from __future__ import annotations

from autofix.probe import wire
from autofix.verdict.needed import unneeded
from autofix.verdict.part_examples import cuts, gradients, moves, values, writes
from autofix.verdict.property import Evidence, Finding, Property

_MATTERS = moves, cuts, writes, gradients, values


class PartNotNeeded(Property):
    offered = True
    sentence = "{subject}"
    raises = tuple(example for matter in _MATTERS for example in matter.RAISES)
    silent = tuple(example for matter in _MATTERS for example in matter.SILENT)

    def find(self, evidence: Evidence) -> Finding | None:
        if evidence.without is None:
            return self.found(
                subject="the edit cannot be tried without each of its parts: it has too many, or cannot run without one"
            )
        part = next(unneeded(evidence, evidence.without), None)
        if part is None:
            return None
        frame = wire.Frame.of_line(str(part.path), part.line)
        subject = f"{part.words} does nothing for the repair: leave it out, or see by hand what it is for"
        return self.found((frame,) if part.line else (), subject=subject)
