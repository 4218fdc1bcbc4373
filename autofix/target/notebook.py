"""Notebooks on disk: their code as one text for the street, and what it comes to as edits of the file.

Everything but the lines that change stays byte for byte: the file is never written anew from what was parsed.
"""

from __future__ import annotations

import difflib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from json.decoder import scanstring  # type: ignore[attr-defined]
from pathlib import Path
from typing import Any

from autofix.core.diff import unified_diff
from autofix.core.edit import Edit
from autofix.core.model import Fix, Report
from autofix.syntax.apply import edits_between
from autofix.target import cells
from autofix.target.cells import Cell, CellError

SUFFIX = ".ipynb"
_SPACE = re.compile(r"[ \t\n\r]*")
_SPELLING = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.|.", re.DOTALL)
"""One character, as JSON spells it."""
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class _Node:
    """A JSON value and where its text stands."""

    start: int
    end: int
    value: Any


@dataclass(frozen=True, slots=True)
class Notebook:
    """A notebook, or a script that is divided into cells and has magics, as it was read."""

    path: Path
    data: bytes
    cells: list[Cell]

    @property
    def text(self) -> bytes:
        """All code as one module."""
        if self.path.suffix != SUFFIX:
            return "".join(cells.plain(self.cells[0])).encode()
        return cells.text(self.cells)

    def edited(self, text: bytes) -> bytes:
        """The file with an edited `text` of its code; raises CellError where the edit cannot be placed."""
        if self.path.suffix != SUFFIX:
            return cells.merged(self.cells[0], text.decode().splitlines(keepends=True)).encode()
        sources = cells.changed(self.cells, text)
        whole = self.data.decode()
        nodes = _code_nodes(whole)
        for at in sorted(sources, reverse=True):
            node = nodes[at]
            whole = whole[: node.start] + _spelled(whole, node, sources[at]) + whole[node.end :]
        return whole.encode()

    def shown(self, text: bytes) -> bytes:
        """The difference for people: cell by cell, without JSON; nothing for a script, whose own diff says it."""
        if self.path.suffix != SUFFIX:
            return b""
        lines: list[str] = []
        for at, source in cells.changed(self.cells, text).items():
            cell = self.cells[at]
            name = f"{self.path.name} cell {cell.number}"
            new = Cell(cell.number, source).lines
            lines += difflib.unified_diff(cell.lines, new, f"a/{name}", f"b/{name}")
        return "".join(lines).encode()


def parse(path: Path, data: bytes) -> Notebook:
    """The notebook that `data` is."""
    try:
        whole = data.decode()
        document = json.loads(whole)
        found = document["cells"]
    except (ValueError, RecursionError) as error:
        raise CellError(f"{path.name}: this is no notebook: {error}") from None
    except (KeyError, TypeError):
        raise CellError(f"{path.name}: a notebook of an old format; open and save it in Jupyter") from None
    if not isinstance(found, list):
        raise CellError(f"{path.name}: this is no notebook: its cells are no list")
    language = _language(document)
    if language != "python":
        raise CellError(f"{path.name}: its language is {language}, not Python")
    sources = ["".join(cell.get("source", "")) for cell in found if _is_code(cell)]
    return Notebook(path, data, [Cell(number, source) for number, source in enumerate(sources, 1)])


def script(path: Path, data: bytes) -> Notebook | None:
    """A script in cells that Python could not run as it stands, for the magics in it; None for any other."""
    try:
        source = data.decode()
    except UnicodeError:
        return None
    if not cells.has_markers(source) or cells.plain(Cell(1, source)) == Cell(1, source).lines:
        return None
    return Notebook(path, data, [Cell(1, source)])


def written(report: Report, notebook: Notebook) -> Report:
    """The report with its fixes as edits of the notebook's file; what cannot be placed there is not offered."""
    fixes = [fix for one in report.fixes if (fix := _written(one, notebook, report)) is not None]
    rejected = [fix for one in report.rejected if (fix := _written(one, notebook, report)) is not None]
    return replace(report, fixes=tuple(fixes), rejected=tuple(rejected))


def _written(fix: Fix, notebook: Notebook, report: Report) -> Fix | None:
    path, files = notebook.path, fix.candidate.files
    if path not in files:
        return fix
    try:
        new, shown = notebook.edited(files[path]), notebook.shown(files[path])
    except CellError:
        return None
    pairs = {one: (notebook.data if one == path else fix.originals[one], data) for one, data in files.items()}
    pairs[path] = notebook.data, new
    others = {one: pair for one, pair in pairs.items() if one != path}
    root = report.target.project
    edits = (_edit(path, notebook.data, new), *(e for one, pair in others.items() for e in edits_between(one, *pair)))
    candidate = replace(fix.candidate, files={one: data for one, (_, data) in pairs.items()}, edits=edits)
    cellwise = shown + (unified_diff(others, root) if others else b"")
    originals = {one: old for one, (old, _) in pairs.items()}
    return replace(fix, candidate=candidate, diff=unified_diff(pairs, root), shown=cellwise, originals=originals)


def _edit(path: Path, old: bytes, new: bytes) -> Edit:
    """The one span in which two texts of a file differ, not cutting through a character."""
    before, after = old.decode(), new.decode()
    start = len(os.path.commonprefix([before, after]))  # noqa: RUF071  characters are meant
    tail = len(os.path.commonprefix([before[start:][::-1], after[start:][::-1]]))  # noqa: RUF071
    end = len(before) - tail
    return Edit(path, len(before[:start].encode()), len(before[:end].encode()), after[start : len(after) - tail])


def position(data: bytes, cell: int, line: int, column: int) -> tuple[int, int]:
    """Where a character of a code cell stands in the file, as line and column from 1; LookupError where it does not."""
    whole = data.decode()
    source = _code_nodes(whole)[cell - 1]
    spelled = source.value if isinstance(source.value, list) else [source]
    letters = [letter for node in spelled for letter in _letters(whole, node)]
    lines = "".join(text for text, _ in letters).splitlines(keepends=True)
    at = letters[sum(map(len, lines[: line - 1])) + column - 1][1]
    return whole.count("\n", 0, at) + 1, at - whole.rfind("\n", 0, at)


def _letters(whole: str, node: _Node) -> Iterator[tuple[str, int]]:
    """The characters of a JSON string, each with where its spelling begins."""
    at = node.start + 1
    while at < node.end - 1:
        match = _SPELLING.match(whole, at)
        if match is None:
            raise LookupError(f"no character is spelled at {at}")
        yield json.loads(f'"{match[0]}"', strict=False), at
        at = match.end()


# --- the file ------------------------------------------------------------------------------


def _is_code(cell: Any) -> bool:
    return isinstance(cell, dict) and cell.get("cell_type") == "code"


def _language(document: dict[str, Any]) -> str:
    """The kernel's language; Python where a notebook does not say."""
    metadata = document.get("metadata") or {}
    kernel, info = metadata.get("kernelspec") or {}, metadata.get("language_info") or {}
    return str(info.get("name") or kernel.get("language") or "python").lower()


def _code_nodes(whole: str) -> list[_Node]:
    """Where the sources of the code cells stand."""
    top = _value(whole, _skip(whole, 0)).value
    return [cell.value["source"] for cell in top["cells"].value if cell.value["cell_type"].value == "code"]


def _spelled(whole: str, node: _Node, source: str) -> str:
    """A cell's source as JSON in the manner of the file, each line that stays spelled as it is."""
    ascii_only = whole.isascii() and "\\u" in whole
    if isinstance(node.value, str):
        return json.dumps(source, ensure_ascii=ascii_only)
    items = [(item.value, whole[item.start : item.end]) for item in node.value]
    first, last = (node.value[0].start, node.value[-1].end) if items else (node.start + 1, node.end - 1)
    between = whole[node.value[0].end : node.value[1].start] if len(items) > 1 else f",{whole[node.start + 1 : first]}"
    lines = source.splitlines(keepends=True)
    matcher = difflib.SequenceMatcher(None, [value for value, _ in items], lines, autojunk=False)
    texts: list[str] = []
    for tag, a, b, c, d in matcher.get_opcodes():
        same = tag == "equal"
        texts += (
            [raw for _, raw in items[a:b]] if same else [json.dumps(x, ensure_ascii=ascii_only) for x in lines[c:d]]
        )
    return whole[node.start : first] + between.join(texts) + whole[last : node.end]


def _skip(whole: str, at: int) -> int:
    match = _SPACE.match(whole, at)
    return match.end() if match else at


def _value(whole: str, at: int) -> _Node:
    """The value that begins at `at`, with the places of all its parts; the text is known to be JSON."""
    match whole[at]:
        case "{":
            return _object(whole, at)
        case "[":
            return _array(whole, at)
    value, end = _DECODER.raw_decode(whole, at)
    return _Node(at, end, value)


def _object(whole: str, start: int) -> _Node:
    found: dict[str, _Node] = {}
    at = _skip(whole, start + 1)
    while whole[at] != "}":
        key, at = scanstring(whole, at + 1)
        found[key] = node = _value(whole, _skip(whole, _skip(whole, at) + 1))
        at = _skip(whole, node.end)
        at = _skip(whole, at + 1) if whole[at] == "," else at
    return _Node(start, at + 1, found)


def _array(whole: str, start: int) -> _Node:
    found: list[_Node] = []
    at = _skip(whole, start + 1)
    while whole[at] != "]":
        found.append(node := _value(whole, at))
        at = _skip(whole, node.end)
        at = _skip(whole, at + 1) if whole[at] == "," else at
    return _Node(start, at + 1, found)
