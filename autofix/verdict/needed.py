"""What the parts of an edit are needed for: what the runs show without one, or without others beside it."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from autofix.core.aligned import opcodes
from autofix.core.edit import Declined, Edit, EditConflict
from autofix.core.model import Effect, Treatment
from autofix.experiments.compare import comparable, differences, made_of, same_shape
from autofix.experiments.sketches import FROZEN, LIVE
from autofix.experiments.spec import RunSpec
from autofix.probe import wire
from autofix.syntax.apply import BrokenRewrite, apply
from autofix.syntax.source import Source
from autofix.syntax.sources import parsed
from autofix.verdict.effect import compared_with
from autofix.verdict.evidence import Evidence
from autofix.verdict.parts.branches import changed_alike
from autofix.verdict.parts.by_kind import by_kind, inlined
from autofix.verdict.parts.other_values import Otherwise, otherwise
from autofix.verdict.parts.parts import Part

_GROUPS = 8
"""Changed statements of an edit beyond which it is not asked what each is for."""


def unneeded(evidence: Evidence, without: Sequence[tuple[Part, wire.Trace]]) -> Iterator[Part]:
    """The parts that nothing needs; `without` has the run of the edit without each of them.

    A part that shows nothing is needed all the same where it changes statements as a needed one does, or where another
    part takes over what it does.
    """
    idle = [part for part, other in without if _is_idle(evidence, part, other)]
    needed = {part.change for part, _ in without if part not in idle} - {""}
    needed_so = (
        _is_for_another_branch, _renews, _keeps_graph, _stands_in, _is_replaced, _is_for_another, _does_again,
        _shows_with_other_values,
    )  # fmt: skip
    for part in (one for one in idle if one.change not in needed):
        if not any(so(evidence, part, idle) for so in needed_so):
            yield part


def smaller(evidence: Evidence, edits: Sequence[Edit]) -> dict[Path, bytes]:
    """The edit without what it changes in statements that show nothing, one after the other; `edits`: all of them.

    Unlike `unneeded`, what is changed as in a needed statement has to be for something, too. A statement that is taken
    away stays away: it has moved, or would be done in vain.
    """
    target = evidence.case.pool.target
    sources = {path: parsed(path, target.read(path)) for path in evidence.files}
    groups: dict[tuple[Path, int], list[Edit]] = {}
    for one in edits:
        groups.setdefault((one.path, _statement(sources[one.path], one)), []).append(one)
    left, files = list(edits), dict(evidence.files)
    for group in groups.values() if 1 < len(groups) <= _GROUPS else ():
        if not any(one.text.strip() for one in group):
            continue
        rest = [one for one in left if one not in group]
        try:
            less = {path: apply(sources[path], [one for one in rest if one.path == path]) for path in files}
        except (Declined, EditConflict, BrokenRewrite):
            continue
        less = {path: data for path, data in less.items() if data != sources[path].data}
        run = evidence.left_of(less) if less else None
        if run is not None and evidence.case.passed(run) and not differences(evidence.edited, run, LIVE, printed=True):
            left, files = rest, less
    return files


def _statement(source: Source, edit: Edit) -> int:
    """Where the innermost statement begins in which an edit changes lines; the edit itself where it only adds some."""
    old = source.data[edit.start : edit.end]
    first, last = edit.start + len(old) - len(old.lstrip()), edit.start + len(old.rstrip())
    extents = (source.extent(one) for one in source.walk() if isinstance(one, ast.stmt))
    spans = ((source.data_offset(start), source.data_offset(end)) for start, end in extents)
    return max((start for start, end in spans if start <= first and last <= end), default=first) if old else first


def _is_idle(evidence: Evidence, part: Part, other: wire.Trace) -> bool:
    """Whether nothing shows what a part is for; of a move, neither for what moved nor for what it passed."""
    if not _does_as_well(evidence, part, other):
        return False
    if part.held and evidence.case.passed(evidence.left_of({**evidence.files, part.path: part.held})):
        return False
    lacking = [{**evidence.files, part.path: text} for text in part.lacking]
    return not lacking or any(_does_as_well(evidence, part, evidence.left_of(files)) for files in lacking)


def _does_as_well(evidence: Evidence, part: Part, other: wire.Trace) -> bool:
    """Whether the run of what is left of the edit without this part does what the whole edit does, or the code says."""
    # What only autograd notices shows in the graphs; where these are alike too, it is there to save memory.
    if not evidence.case.passed(other) or (part.graph_only and same_shape(evidence.edited, other)):
        return False
    if _are_numbers(evidence.edited) and not _are_numbers(other):
        return False  # a divisor that is never 0: there nothing is sent back by what would be no number
    also = compared_with(evidence, evidence.reading)
    # What prints the numbers of the code as written is needed for that.
    printed = not differences(evidence.followed, evidence.edited, LIVE, **(also | {"printed": True}))
    if part.again:  # and what is made once more is one too many only if it is all that prints others
        return not printed and not differences(evidence.followed, other, LIVE, **(also | {"printed": True}))
    also["printed"] |= printed
    # What the code holds as results is compared with no edit: of a part that shows there alone nobody knows.
    results = {state.name for state in evidence.followed.states if state.result}
    if all(one.parameter in results for one in differences(evidence.edited, other, LIVE, **also)):
        return True
    # An edit that is not just what the code says, with newer parameters say, is to be closer to it without a part.
    newer = differences(evidence.followed, evidence.edited, LIVE, **also)
    return bool(newer) and not differences(evidence.followed, other, LIVE, **also)


def _is_idle_in(evidence: Evidence, part: Part, files: Mapping[Path, bytes]) -> bool:
    """Whether what is left of the edit does as well without a part of that."""
    return _does_as_well(evidence, part, evidence.left_of(part.left_out(files)))


def _are_numbers(trace: wire.Trace) -> bool:
    """Whether all losses are numbers that are finite."""
    return all(math.isfinite(loss) for step in trace.whole_steps for loss in step.losses)


def _is_for_another_branch(evidence: Evidence, part: Part, _idle: Sequence[Part]) -> bool:
    """Whether a part is only in branches which never ran and are judged by one that did: for other kinds of a value."""
    old, new = evidence.case.pool.target.read(part.path), evidence.files.get(part.path, b"")
    lines, run = new.splitlines(), evidence.edited
    changes = opcodes(lines, part.without.splitlines())
    mine = {line + 1 for tag, start, end, *_ in changes if tag != "equal" for line in range(start, end)}
    marked, ran = (
        {place // wire.COLUMNS for place in places.get(str(part.path), ())} for places in (run.marked, run.executed)
    )
    heads = {node.lineno for node in ast.walk(ast.parse(new)) if isinstance(node, ast.If)}
    unrun = (mine & marked) - ran
    ways = by_kind, inlined, changed_alike
    judged = (any(way(old, new, line, ran) for way in ways) for line in unrun)
    return bool(unrun) and mine & ran <= heads and all(judged)


def _renews(evidence: Evidence, part: Part, _idle: Sequence[Part]) -> bool:
    """Whether a part shows in what is printed, by newer parameters alone: at rest the edit prints as the code does."""
    if evidence.assessment.effect is not Effect.REFRESHED or part.again:
        return False
    other = evidence.left_of(part.left_out(evidence.files))
    shown, unprinted = (differences(evidence.edited, other, LIVE, printed=printed) for printed in (True, False))
    if len(shown) == len(unprinted):
        return False
    code, edited = evidence.of(evidence.reading, Treatment.STILL), evidence.of_edit(Treatment.STILL)
    return not comparable(code) and edited.ended_well and not differences(code, edited, FROZEN, printed=True)


def _keeps_graph(evidence: Evidence, part: Part, _idle: Sequence[Part]) -> bool:
    """Whether the code loses a graph where a part stands that the reading has, and so has the edit by this part alone.

    The least of some places, by which nothing comes to what optimizers own, is converted as the largest is.
    """
    places = {
        (frame.file, frame.line)
        for done in evidence.followed.performed
        for frame in done.stack
        if done.kind in ("no_graph", "conversion")
    }
    if (str(part.path), part.line) not in places:
        return False
    runs = evidence.followed, evidence.edited, evidence.left_of(part.left_out(evidence.files))
    steps = [[made_of(one) for one in steps] for steps in zip(*(run.whole_steps for run in runs), strict=False)]
    known = [(code, edited, edited - less) for code, edited, less in steps if code]
    return bool(known) and all(
        gained and all(edited[one] <= code[one] for one in gained) for code, edited, gained in known
    )


def _is_replaced(evidence: Evidence, part: Part, idle: Sequence[Part]) -> bool:
    """Whether what a part removes does something in the code as written, so that the rest of the edit does it too.

    Where the code does not even run without it, what needs it may be gone, too, and neither would be missed.
    """
    less = evidence.without_in(evidence.reading, part)
    if less is None:
        return False
    if not comparable(less):
        return bool(differences(evidence.followed, less, LIVE, **compared_with(evidence, evidence.reading)))
    left = part.left_out(evidence.files)
    rest = [one for one in evidence.parts_of(left, whole=True) or () if not any(map(one.same_as, idle))]
    return bool(rest) and not any(_is_idle_in(evidence, one, left) for one in rest)


def _is_for_another(evidence: Evidence, part: Part, idle: Sequence[Part]) -> bool:
    """Whether what a part changes in a statement is what another part asks for, which without it is not needed itself.

    `total = None` for `total = 0` is for `x if total is None else total + x`: the runs show both, or neither. So they
    do of `zeros_like(x)`, filled in, and a `where` that takes of that only what was filled in. A new value that it
    reads is there for itself.
    """
    left = part.left_out(evidence.files)
    known = {(one.path, one.line, one.words, one.put) for one, _ in evidence.without or ()}
    others = [
        one
        for one in evidence.parts_of(left) or ()
        if (part.change and part.reads.isdisjoint(one.binds))
        or (part.within and (one.path, one.line, one.words, one.put) in known)
    ]
    others = [one for one in others if not any(map(one.same_as, idle))]
    return any(_is_idle_in(evidence, one, left) for one in others)


def _does_again(evidence: Evidence, part: Part, idle: Sequence[Part]) -> bool:
    """Whether a part does what a needed one of the same form does, too: it is seen where that one is left out.

    `a.zero_grad()` beside `b.zero_grad()`, where both optimizers have some of the parameters.
    """
    also = compared_with(evidence, evidence.reading)
    for other, run in evidence.without or ():
        alike = part.form and other.form == part.form and not other.same_as(part)  # nor two pieces of one statement
        if other in idle or not alike or not evidence.case.passed(run):
            continue
        left = other.left_out(evidence.files)
        again = [one for one in evidence.parts_of(left, whole=True) or () if one.same_as(part) and one.put == part.put]
        both = [evidence.left_of(one.left_out(left)) for one in again]
        if any(evidence.case.passed(one) and differences(run, one, LIVE, **also) for one in both):
            return True
    return False


def _shows_with_other_values(evidence: Evidence, part: Part, _idle: Sequence[Part]) -> bool:
    """Whether a part shows where a variable has other values, and the edit still does what the code does with them.

    A label that is masked where it is 0 anyway: it shows with the mask alone, or with neither the write nor the mask.
    """
    if evidence.reading.rewritten:
        return False
    also, pool = compared_with(evidence, evidence.reading), evidence.case.pool
    old = pool.target.read(part.path)

    def of_code(text: bytes) -> wire.Trace:
        return pool.get(replace(RunSpec.edited({part.path: text}), reading=evidence.reading))

    texts_of = Otherwise(old, evidence.files[part.path], part.without, part.gone or old)
    for texts in otherwise(part.path, texts_of, part.put):
        code, edited = of_code(texts.old), evidence.left_of({**evidence.files, part.path: texts.new})
        if comparable(code) or not evidence.case.passed(edited) or differences(code, edited, LIVE, **also):
            continue
        less, gone = evidence.left_of({**evidence.files, part.path: texts.without}), of_code(texts.gone)
        known = [less] if evidence.case.passed(less) else []
        known += [gone] if not comparable(gone) else []
        if any(differences(code, one, LIVE, **also) for one in known):
            return True
    return False


def _stands_in(evidence: Evidence, part: Part, idle: Sequence[Part]) -> bool:
    """Whether a part does what others do too, so that it is needed when these are left out.

    Of a repair that is written anew in several places, each piece alone may be one too many.
    """
    files = evidence.files
    for other in [one for one in idle if not one.same_as(part)]:
        again = next((one for one in evidence.parts_of(files) or () if one.same_as(other)), None)
        if again is not None and _is_idle_in(evidence, again, files):
            files = again.left_out(files)
    rest = [one for one in evidence.parts_of(files, whole=True) or () if one.same_as(part)]
    return bool(rest) and not any(_is_idle_in(evidence, one, files) for one in rest)
