"""The steps that an intended edit consists of, and the edits of bytes that they come to together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from autofix.core.aligned import opcodes
from autofix.core.edit import Edit, EditConflict
from autofix.syntax.edits.unit import NodeChange, Unit, holder, parsed
from autofix.syntax.layout import newline_near
from autofix.syntax.source import Source

_TOKEN = re.compile(r"\w+|[^\S\r\n]+|\r\n?|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Splice:
    """Text in the place of a range of the source's text, whose own inside is not changed by other steps."""

    source: Source
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Shift:
    """Whole statements moved from one indentation to another, below `header` lines if there are any.

    What other steps change inside is changed first. `leads` is false where the first statement begins no line.
    """

    source: Source
    start: int
    end: int
    old: str
    new: str
    header: str = ""
    leads: bool = True


Step = Splice | Shift | NodeChange


def rendered(steps: Iterable[Step]) -> tuple[Edit, ...]:
    """The edits of bytes that all steps come to; raises Declined, or EditConflict where two want the same place."""
    found = list(dict.fromkeys(steps))
    splices = [step for step in found if isinstance(step, Splice)]
    splices += _changed([step for step in found if isinstance(step, NodeChange)])
    for shift in (step for step in found if isinstance(step, Shift)):
        inside = [one for one in splices if one.source is shift.source and _inside(one, shift)]
        splices = [one for one in splices if one not in inside]
        splices.append(_shifted(shift, inside))
    edits = (
        Edit(one.source.path, one.source.data_offset(one.start), one.source.data_offset(one.end), one.text)
        for one in splices
    )
    return tuple(dict.fromkeys(edits))


def reindented(text: str, old: str, new: str) -> str:
    """Whole lines with another indentation, their strings as they are."""
    if old == new:
        return text
    opening = "if 1:\n"
    module = parsed(f"{opening}{text}" if old else text)
    if old:
        block = cst.ensure_type(cst.ensure_type(module.body[0], cst.If).body, cst.IndentedBlock)
        lines, footer = block.body, [*block.footer, *module.footer]
    else:
        lines, footer = module.body, list(module.footer)
        first = lines[0]
        leading = [*module.header, *getattr(first, "leading_lines", ())]
        lines = [first.with_changes(leading_lines=leading), *lines[1:]]
    if new:
        first_line = cst.TrailingWhitespace(newline=cst.Newline("\n"))
        made = cst.If(cst.Integer("1"), cst.IndentedBlock(lines, header=first_line, indent=new, footer=footer))
        return module.with_changes(header=[], body=[made], footer=[]).code.removeprefix(opening)
    return module.with_changes(header=[], body=lines, footer=footer).code


def _changed(changes: Sequence[NodeChange]) -> Iterator[Splice]:
    """What becomes of each statement that changes are made in, cut down to what differs."""
    units: dict[object, list[NodeChange]] = {}
    for change in changes:
        units.setdefault(holder(change.source, change.node), []).append(change)
    for node, several in units.items():
        unit = Unit(several[0].source, node)  # type: ignore[arg-type]  # a node, as `holder` gave it
        old, new = _TOKEN.findall(unit.text), _TOKEN.findall(unit.printed(several))
        place = unit.start
        for tag, first, last, begin, end in opcodes(old, new):
            size = sum(map(len, old[first:last]))
            if tag != "equal":
                yield Splice(unit.source, place, place + size, "".join(new[begin:end]))
            place += size


def _inside(splice: Splice, shift: Shift) -> bool:
    """Whether what is spliced lies in what is shifted; an insertion at either end lies beside it."""
    if splice.end <= shift.start or shift.end <= splice.start:
        return False
    if splice.start < shift.start or shift.end < splice.end:
        raise EditConflict(f"{shift.source.path}: an edit reaches into lines that are moved")
    return True


def _shifted(shift: Shift, inside: Sequence[Splice]) -> Splice:
    text, done = "" if shift.leads else shift.old, shift.start
    for one in sorted(inside, key=lambda one: one.start):
        if one.start < done:
            raise EditConflict(f"{shift.source.path}: two edits overlap in lines that are moved")
        text += shift.source.text[done : one.start] + one.text
        done = one.end
    text += shift.source.text[done : shift.end]
    newline = "" if text.endswith(("\n", "\r")) else newline_near(shift.source, shift.start)
    moved = reindented(text + newline, shift.old, shift.new).removesuffix(newline)
    if not shift.leads:
        moved = moved.removeprefix(shift.new)
    return Splice(shift.source, shift.start, shift.end, shift.header + moved)
