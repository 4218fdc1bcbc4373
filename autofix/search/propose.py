"""Turns a diagnosis into candidates: each rule's edits, applied to the sources as they stand, without repetitions."""

from __future__ import annotations

import ast
import contextlib
import functools
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from autofix.core.edit import Declined, EditConflict
from autofix.core.model import Candidate, Diagnosis, Hint, Note
from autofix.probe import wire
from autofix.search.rule import Proposal, Rule
from autofix.syntax.apply import BrokenRewrite, apply
from autofix.syntax.blocks import block_of, qualified
from autofix.syntax.calls import keyword
from autofix.syntax.edits import Step, append_call, delete, remove_keyword, rendered
from autofix.syntax.lost import lost_write
from autofix.syntax.names import binds, meets, parts, reads
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources

_MOST = 40
_HINTS = 4
_KEEP = "retain_graph"
T = TypeVar("T")


def propose(
    diagnosis: Diagnosis, sources: Sources, rules: Iterable[Rule], base: Candidate | None = None
) -> tuple[list[Candidate], list[Note]]:
    """Candidates for `diagnosis`, best idiom first, each once; and what was declined. `base` is what they build on."""
    found: dict[tuple[tuple[str, bytes], ...], Candidate] = {}
    notes: list[Note] = []
    for rule in rules:
        if diagnosis.cause not in rule.causes:
            continue
        proposals = rule.proposals(diagnosis, sources)
        while True:
            try:
                proposal = next(proposals)
                candidate = _candidate(rule, proposal, sources, base, diagnosis.trace.plain)
            except StopIteration:
                break
            except (Declined, EditConflict, BrokenRewrite) as error:
                notes.append(Note(rule.code, str(error)))
                continue
            if all(_is_as_before(path, data, sources) for path, data in candidate.files.items()):
                continue
            key = tuple(sorted((str(path), data) for path, data in candidate.files.items()))
            known = found.get(key)
            if known is None or candidate.rank < known.rank:
                found[key] = candidate
    ordered = sorted(found.values(), key=lambda c: (c.rank, sum(len(e.text) + e.end - e.start for e in c.edits)))
    best = {(candidate.rules, candidate.titles): candidate for candidate in reversed(ordered)}
    lighter = [one for candidate in best.values() for one in _without_keeping(candidate, base, sources)]
    return [*lighter, *ordered][:_MOST], notes


def hints(diagnosis: Diagnosis, rules: Iterable[Rule]) -> tuple[Hint, ...]:
    """What rules know to be done usually where none of their edits helped, each sentence once."""
    found = (
        Hint(rule.code, sentence, frame)
        for rule in rules
        if diagnosis.cause in rule.causes
        for frame, sentence in rule.hints(diagnosis)
    )
    return tuple({hint.sentence: hint for hint in found}.values())[:_HINTS]


def _candidate(
    rule: Rule, proposal: Proposal, sources: Sources, base: Candidate | None, plain: Iterable[wire.Carrier]
) -> Candidate:  # fmt: skip
    files: dict[Path, bytes] = dict(base.files) if base is not None else {}
    edits = rendered(proposal.steps)
    for path in dict.fromkeys(edit.path for edit in edits):
        source = sources.source(str(path))
        if source is None:
            raise Declined(f"{path} is not a file that may be edited")
        files[path] = without_repeats(source, apply(source, [edit for edit in edits if edit.path == path]))
        if vain := _in_vain(source, files[path], plain):
            raise Declined(f"{vain} holds no tensor, so there is nothing to detach or to copy")
        name, line = lost_write(path, source.data, files[path])
        if name:
            raise Declined(
                f"{name} would get a new value at line {line}, and nothing reads it: the write would be lost"
            )
    before = base or Candidate((), (), (), (), {})
    return Candidate(
        (*before.rules, rule.code), (*before.titles, proposal.title), (*before.whys, proposal.why),
        (*before.rank, proposal.rank), files, edits, before.applicability.lowered(rule.applicability),
        base is None and rule.conventional,
    )  # fmt: skip


def _is_as_before(path: Path, data: bytes, sources: Sources) -> bool:
    source = sources.source(str(path))
    return source is not None and source.data == data


def _in_vain(source: Source, data: bytes, plain: Iterable[wire.Carrier]) -> str:
    """The variable that an edit treats as a tensor, or as a container of some, although it held neither; '' if none."""
    old, new = source.differing(data)
    near = ((one.function, one.path, one.path.encode()) for one in plain if one.file == str(source.path))
    known = {(function, path): text for function, path, text in near if text in new}
    any_of = b"|".join(map(re.escape, set(known.values())))
    treated = re.compile(rb"(?<![\w.])(?=(%s)(?:\.(?:detach|clone)\(|[\])]))" % any_of)  # no match hides another
    if not known or not Counter(treated.findall(new)) - Counter(treated.findall(old)):
        return ""
    edited = Source(source.path, data, source)
    for node in edited.walk():
        match node:
            case ast.Call(ast.Attribute(value, "detach" | "clone")) | ast.comprehension(iter=value):
                if (qualified(edited, value), ast.unparse(value)) in known:
                    return ast.unparse(value)
    return ""


def _without_keeping(candidate: Candidate, base: Candidate | None, sources: Sources) -> Iterator[Candidate]:
    """A chain that kept a graph just before, without that: what follows may have made it needless.

    Only where each call that keeps its graph is one that the chain made do so. Where it computes something again, also
    with the first of the two forwards cut from what it is given: `D(fake.detach())`, and then `D(fake)`.
    """
    ours = sum(edit.text.count(f"{_KEEP}=True") for edit in base.edits) if base is not None else 0
    if not ours:
        return
    without: dict[Path, bytes] = {}
    from_values: dict[Path, bytes] = {}
    for path, data in candidate.files.items():
        source = Source(path, data, sources.source(str(path)))
        calls = [node for node in source.mentioning(_KEEP) if isinstance(node, ast.Call) and keyword(node, _KEEP)]
        ours -= len(calls)
        with contextlib.suppress(Declined, EditConflict, BrokenRewrite):
            steps = [step for call in calls for step in remove_keyword(source, call, _KEEP)]
            without[path] = apply(source, rendered(steps))
            steps += [step for call in calls for step in _first_from_values(source, call)]
            from_values[path] = apply(source, rendered(steps))
    # Behind another repair, a graph is kept for what is still read of it.
    first = [without] if base is not None and len(base.rules) == 1 else []
    for files in [*first, *([from_values] if from_values != without else [])] if not ours else ():
        if files.keys() == candidate.files.keys() and files != candidate.files:
            yield replace(
                candidate, rules=_but_one(candidate.rules), titles=_but_one(candidate.titles),
                whys=_but_one(candidate.whys), rank=_but_one(candidate.rank), files=files,
            )  # fmt: skip


def _but_one(several: tuple[T, ...]) -> tuple[T, ...]:
    """All but the one before the last."""
    return (*several[:-2], *several[-1:])


def _first_from_values(source: Source, backward: ast.Call) -> Iterator[Step]:
    """What is computed before a backward and, in the same words, again behind it: the first time, of values alone."""
    block, statement = block_of(source, source.statement(backward)), source.statement(backward)
    computed = [one for one in block if isinstance(one, ast.Assign) and isinstance(one.value, ast.Call)]
    before = [one for one in computed if block.index(one) < block.index(statement)]
    again = {ast.unparse(one) for one in computed if one not in before}
    made: set[str] = set()
    for one in before:
        given = one.value.args if isinstance(one.value, ast.Call) and ast.unparse(one) in again else []
        for part in (part for part in given if isinstance(part, ast.Name) and part.id in made):
            yield from append_call(source, part, ".detach()")
        made |= binds(one)


def without_repeats(source: Source, data: bytes) -> bytes:
    """An edited file without the statements that the edit adds in vain; nothing of what was there is taken away.

    Copies that several edits make beside each other may overlap: of `y = f(x)` twice in a row one is enough, and
    `loss = a + b` right before `loss = c` is for nothing.
    """
    while (found := _repeat(source, edited := Source(source.path, data, source))) is not None:
        try:
            data = apply(edited, rendered(delete(edited, found)))
        except Declined:
            break
    return data


def _repeat(source: Source, edited: Source) -> ast.stmt | None:
    """The first statement that an edit adds in vain, itself or as the repetition of one that is there."""
    before, after = source.apart(edited)
    added = _assignments(tuple(after)) - _assignments(tuple(before))
    # Of two that are the same, the one that was there before may stand on the module's level far from the edit.
    near = (*edited.tree.body, *(node for one in after for node in ast.walk(one)))
    return next(_overwritten(edited, near, added), None) if added else None


@functools.lru_cache(maxsize=4)  # of what is as it was for every edit
def _assignments(statements: tuple[ast.stmt, ...]) -> Counter[str]:
    return Counter(ast.dump(node) for one in statements for node in ast.walk(one) if _bound(node))


def _overwritten(source: Source, nodes: Iterable[ast.AST], added: Counter[str]) -> Iterator[ast.stmt]:
    """Each added assignment to plain names that are all bound again, in the same block, before anything can read them.

    Where it is bound again to the same, either of the two is the one that was added: the first one goes.
    """
    for node in nodes:
        if not isinstance(node, ast.Assign) or not (names := _bound(node)) or not added[ast.dump(node)]:
            continue
        block = block_of(source, node)
        for later in block[block.index(node) + 1 :]:
            # What calls a function may read a global name in it; what only computes a value for a name hardly does.
            if meets(names, reads(later)) or not (rebound := _bound(later)):
                break
            if names <= rebound:
                yield node
                break
            if binds(later) & reads(node):
                break


def _bound(node: ast.AST) -> set[str]:
    """The names that an assignment binds where it binds nothing else."""
    targets = [part for target in node.targets for part in parts(target)] if isinstance(node, ast.Assign) else []
    names = {target.id for target in targets if isinstance(target, ast.Name)}
    return names if len(names) == len(targets) else set()
