"""Reads files, runs nothing, and finds what looks wrong: bytes → facts → findings, in as many processes as help."""

from __future__ import annotations

import ast
import contextlib
import gc
import io
import multiprocessing
import re
import sys
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path
from typing import NamedTuple

from autofix.check.abstract.program import play
from autofix.check.abstract.tape import Event
from autofix.check.abstract.values import PlayPlace
from autofix.check.finder import Finder, Spot
from autofix.check.finding import Checked, Finding, Note, Problem
from autofix.check.known import among, finders, named, silenced
from autofix.core.own import cores
from autofix.syntax.source import Source, SourceError, parse
from autofix.syntax.survey import survey

_MENTION = b"torch"
_PLAYED = re.compile(
    rb"backward\(|grad\(|requires_grad_?\b *[=(]|Parameter\(|__main__|nn\.[A-Z]\w+\(|optim\.\w+\(|def forward"
)
_STARTING = (ast.For, ast.While, ast.With)
"""Statements with which a script does its work; its networks may be in other files."""
_USED = re.compile(rb"\.[A-Za-z_]\w*\b(?!\s*=[^=])")
"""An attribute that is not set there."""
_WORTH_PROCESSES = 64
_COLLECT_AFTER = 2_000_000  # bytes of source whose facts may wait


def select(chosen: Sequence[str], ignored: Sequence[str]) -> tuple[Finder, ...]:
    """The finders that are chosen (all without a choice) and not ignored, by code, start of a code, or name."""
    for key in (*chosen, *ignored):
        if not any(named(finder, key) for finder in finders()):
            known = ", ".join(finder.code for finder in finders())
            raise ValueError(f"nothing that can be found without a run is called {key}; there are {known}")
    return among(finders(), chosen, ignored)


def check(
    files: Sequence[Path], chosen: Sequence[Finder], jobs: int = 0, named: frozenset[Path] = frozenset()
) -> Checked:
    """Check files; `jobs` processes at most, 0 for as many as there are cores.

    Those that somebody `named` are a problem where they are no Python, also where they do not speak of torch.
    """
    jobs = jobs or cores()
    codes = [finder.code for finder in chosen]
    if jobs == 1 or len(files) < _WORTH_PROCESSES:
        results = [_check_some(files, codes, named)]
    else:
        size = max(8, min(256, len(files) // (jobs * 8)))
        parts = [files[start : start + size] for start in range(0, len(files), size)]
        context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
        with ProcessPoolExecutor(jobs, mp_context=context) as pool:
            results = [*pool.map(_check_some, parts, repeat(codes), repeat(named))]
    seen = set().union(*(one.seen for one in results))
    findings = _once(finding for one in results for finding in one.findings if finding.unless not in seen)
    problems = sorted(problem for one in results for problem in one.problems)
    return Checked(findings, tuple(problems), len(files))


class _Share(NamedTuple):
    """What came of some files."""

    findings: list[Finding]
    seen: set[str]
    """What takes back findings of other files: their functions that are called, the attributes that are used."""
    problems: list[Problem]


def _once(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """In order; what several files lead to is told once, by the one that says most about it."""
    told: dict[tuple[object, ...], Finding] = {}
    for one in sorted(findings, key=lambda one: -len(one.notes)):
        told.setdefault((one.path, one.line, one.column, one.code), one)
    return tuple(sorted(told.values()))


def _check_some(files: Sequence[Path], codes: Sequence[str], named: frozenset[Path]) -> _Share:
    """One process's share. The collector would look at every new node in vain: it runs after some trees instead."""
    chosen = [finder for finder in finders() if finder.code in codes]
    share = _Share([], set(), [])
    waiting = 0
    data = b""
    collects = gc.isenabled()
    gc.disable()
    try:
        for path in files:
            try:
                data = path.read_bytes()
                if path in named:
                    parse(path, data)
                found, seen = _examined(path, data, chosen)
                share.findings.extend(found)
                share.seen.update(seen)
            except OSError as error:
                share.problems.append(Problem(str(path), str(error.strerror or error)))
            except SourceError as error:
                share.problems.append(Problem(str(path), str(error).removeprefix(f"{path}: ")))
            waiting += len(data)
            if waiting > _COLLECT_AFTER:
                gc.collect()
                waiting = 0
    finally:
        if collects:
            gc.enable()
    return share


def check_bytes(path: Path, data: bytes, chosen: Iterable[Finder]) -> list[Finding]:
    """The findings in one file, in order; SourceError where it cannot be parsed."""
    found, seen = _examined(path, data, chosen)
    return [one for one in found if one.unless not in seen]


def _examined(path: Path, data: bytes, chosen: Iterable[Finder]) -> tuple[list[Finding], set[str]]:
    """The findings in one file, and what it says of those in others."""
    if _MENTION not in data:
        return [], set()
    able = [finder for finder in chosen if all(word in data for word in finder.words)]
    if not able:
        return [], set()
    tree = parse(path, data)
    seen = {name.decode() for name in set(_USED.findall(data))}
    try:
        events, called = _played(tree, path, data, able)
        spots = [*_surveyed(tree, data, able), *_told(events, able)]
    except RecursionError as error:
        raise SourceError(f"{path}: cannot be parsed: {error}") from None
    sources = {str(path): Source(path, data)} if spots else {}
    found = _once(
        _finding(sources, spot.file or str(path), finder, spot)._replace(script=str(path)) for finder, spot in spots
    )
    kept = sorted(one for file, source in sources.items() for one in _not_ignored(source, _within(found, file)))
    return kept, seen | called


def _surveyed(tree: ast.Module, data: bytes, able: Iterable[Finder]) -> Iterator[tuple[Finder, Spot]]:
    """What finders see in the facts of a file."""
    able = [finder for finder in able if not finder.kinds]
    for scope in survey(tree, data).scopes if able else ():
        for finder in able:
            for spot in finder.spots(scope):
                yield finder, spot


def _played(tree: ast.Module, path: Path, data: bytes, able: Iterable[Finder]) -> tuple[list[Event], set[str]]:
    """The events of a play of the file, and the functions that it calls; nothing if no finder asks for it."""
    worth = _PLAYED.search(data) or any(isinstance(one, _STARTING) for one in tree.body)
    return play(tree, str(path), data) if worth and any(finder.kinds for finder in able) else ([], set())


def _told(events: Iterable[Event], able: Iterable[Finder]) -> Iterator[tuple[Finder, Spot]]:
    """What finders say to the events of a play."""
    for event in events:
        for finder in able:
            spot = finder.told(event) if event.kind in finder.kinds else None
            if spot is not None:
                yield finder, spot


def _source(sources: dict[str, Source], file: str) -> Source:
    if file not in sources:
        sources[file] = Source(Path(file), Path(file).read_bytes())
    return sources[file]


def _within(found: Iterable[Finding], file: str) -> Iterator[Finding]:
    return (one for one in found if one.path == file)


def _finding(sources: dict[str, Source], file: str, finder: Finder, spot: Spot) -> Finding:
    source, node = _source(sources, file), spot.node
    if not isinstance(node, ast.stmt | ast.expr):
        raise TypeError(node)
    line, end_line = node.lineno, node.end_lineno or node.lineno
    column = source.character_column(line, node.col_offset)
    end = source.character_column(end_line, node.end_col_offset or 0)
    text = source.lines[line - 1].strip()
    notes = tuple(_note(_source(sources, place.frame.file), place, said) for place, said in spot.notes)
    path = str(source.path)
    return Finding(
        path, line, column, end_line, end, finder.code, finder.name, spot.message, text, notes, unless=spot.unless
    )


def _note(source: Source, place: PlayPlace, text: str) -> Note:
    column = source.character_column(place.line, getattr(place.node, "col_offset", 0))
    return Note(str(source.path), place.line, column, text)


def _not_ignored(source: Source, found: Iterable[Finding]) -> Iterator[Finding]:
    """The findings on whose lines no comment says `autofix: ignore`."""
    said: dict[int, str] = {}
    if "autofix:" in source.text:
        with contextlib.suppress(SyntaxError, tokenize.TokenError):  # the tokenizer is stricter than the parser
            said.update(_comments(source.text))
    for finding in found:
        if not any(silenced(finding, said.get(line, "")) for line in range(finding.line, finding.end_line + 1)):
            yield finding


def _comments(text: str) -> Iterator[tuple[int, str]]:
    """The comments of a text by their lines."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return ((token.start[0], token.string) for token in tokens if token.type == tokenize.COMMENT)
