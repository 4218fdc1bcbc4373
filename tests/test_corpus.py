"""Thousands of real files are read, located in and printed without the change of a byte, and no finder stumbles."""

from __future__ import annotations

import ast
import random
import sysconfig
import time
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest

from autofix.check.check import finders
from autofix.core.diff import unified_diff
from autofix.core.edit import Declined, Edit
from autofix.syntax.apply import apply
from autofix.syntax.edits.unit import Unit
from autofix.syntax.source import Source, SourceError
from autofix.syntax.survey import survey

pytestmark = pytest.mark.apart("long")

LIBRARY = Path(sysconfig.get_path("purelib"))
LEAST, MOST, LARGEST, NODES = 2000, 2100, 10_000, 6
"""Files up to a size that is parsed in a moment, and few nodes of each: breadth is what is wanted here."""


class Read(NamedTuple):
    """What came of some files: what is wrong with each, what each finder saw and took in µs, why statements decline."""

    said: list[str]
    spots: Counter[str]
    spent: Counter[str]
    statements: Counter[str]


@pytest.fixture(scope="module")
def read() -> Read:
    found = sorted(path for path in LIBRARY.rglob("*.py") if path.is_file() and path.stat().st_size <= LARGEST)
    if len(found) < LEAST:
        pytest.skip(f"{len(found)} files are installed here, {LEAST} are wanted")
    paths = random.Random(7).sample(found, min(MOST, len(found)))  # noqa: S311 - a sample, no secret
    whole = Read([], Counter(), Counter(), Counter())
    with ProcessPoolExecutor(2) as pool:
        for part in pool.map(read_some, [paths[start::50] for start in range(50)]):
            whole.said.extend(part.said)
            whole.spots.update(part.spots)
            whole.spent.update(part.spent)
            whole.statements.update(part.statements)
    return whole


def read_some(paths: list[Path]) -> Read:
    part = Read([], Counter(), Counter(), Counter())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # other people's invalid escapes
        part.said.extend(read_one(path, part) for path in paths)
    return part


def read_one(path: Path, part: Read) -> str:
    """What is wrong with how a file is handled; `unread` where Python cannot read it either; else nothing."""
    data = path.read_bytes()
    try:
        source = Source(path, data)
    except SourceError:
        return f"{path}: Python reads it" if is_python(path, data) else "unread"
    look_for_all(source, part)
    print_some(source, part)
    if apply(source, []) != data or unified_diff({path: (data, data)}, LIBRARY):
        return f"{path}: changed without an edit"
    nodes = [node for node in ast.walk(source.tree) if isinstance(node, ast.expr | ast.stmt)]
    edits: list[Edit] = []
    for node in random.Random(str(path)).sample(nodes, min(NODES, len(nodes))):  # noqa: S311
        span = source.span(node)
        edit = Edit(path, span.start, span.end, source.segment(node))
        if data[span.start : span.end].decode(source.encoding) != edit.text:
            return f"{path}:{node.lineno}: the bytes of {type(node).__name__} are not its text"
        at = source.node_at((node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0))
        if at is not None and source.extent(at)[1] != source.extent(node)[1]:
            return f"{path}:{node.lineno}: another node is found in its place"
        if not any(edit.overlaps(other) for other in edits):
            edits.append(edit)
    return "" if apply(source, edits) == data else f"{path}: an edit that changes nothing changed something"


def look_for_all(source: Source, part: Read) -> None:
    """Every finder, also in files that have nothing to do with torch."""
    module = survey(source.tree, source.data)
    for finder in finders():
        began = time.perf_counter_ns()
        part.spots[finder.code] += sum(1 for scope in module.scopes for _ in finder.spots(scope))
        part.spent[finder.code] += (time.perf_counter_ns() - began) // 1000


def print_some(source: Source, part: Read) -> None:
    """A few statements as libcst reads and prints them: as they are, or declined with the reason."""
    kinds = (ast.stmt, ast.ExceptHandler, ast.match_case)
    nodes = [node for node in ast.walk(source.tree) if isinstance(node, kinds)]
    for node in random.Random(str(source.path)).sample(nodes, min(NODES, len(nodes))):  # noqa: S311
        try:
            unit = Unit(source, node)
        except Declined as reason:
            part.statements[str(reason)] += 1
        else:
            part.statements["" if unit.printed([]) == unit.text else "changed"] += 1


def is_python(path: Path, data: bytes) -> bool:
    try:
        compile(data, str(path), "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


@pytest.mark.slow
def test_thousands_of_files_stay_byte_for_byte(read: Read) -> None:
    assert len(read.said) >= LEAST
    assert [line for line in read.said if line not in {"", "unread"}] == []
    assert read.said.count("unread") < len(read.said) // 50


@pytest.mark.slow
def test_libcst_prints_nearly_every_statement_as_it_is(read: Read, record_property: pytest.RecordProperty) -> None:
    record_property("statements", dict(read.statements.most_common(9)))
    assert read.statements["changed"] == 0
    declined = read.statements.total() - read.statements[""]
    assert declined <= read.statements.total() // 200


@pytest.mark.slow
def test_no_finder_stumbles_over_thousands_of_files(read: Read, record_property: pytest.RecordProperty) -> None:
    for finder in finders():
        record_property(finder.code, f"{read.spots[finder.code]} spots in {read.spent[finder.code] / 1e6:.2f} s")
    assert {code for code, spent in read.spent.items() if spent} == {finder.code for finder in finders()}
