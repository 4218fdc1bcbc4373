"""The files that a report speaks of, as they were before anything is written: positions, excerpts, diffs."""

from __future__ import annotations

import contextlib
import errno
import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from autofix.core.edit import Edit
from autofix.core.model import Fix, Report, RunOutcome, Target
from autofix.probe.wire import Frame
from autofix.render.words import failure, masked, one_line, reasons, shortened
from autofix.syntax.source import Source, SourceError
from autofix.syntax.sources import parsed
from autofix.target import cells, notebook

WIDEST = 100
"""Columns of an excerpt, where nobody says how many there are."""
_LEAD = 20
_NOT_WRITTEN = re.compile(rf"\[Errno (?:{errno.EROFS}|{errno.EACCES})\]")


@dataclass(frozen=True, slots=True)
class Place:
    """Where something is, in lines and characters counted from 1; the end is after its last character."""

    file: Path
    line: int
    column: int
    end_line: int
    end_column: int


class Snapshot:
    """Reads each file of a report once, when made: after a fix was written they would say something else."""

    def __init__(self, report: Report, *, full: bool = False) -> None:
        """`full`: paths are shown from the root of the file system, for tools that do not know where we stand."""
        self._full = full
        self.root = report.target.project
        self._target = report.target
        self._sources = {path: _read(path, report.target) for path in _paths(report)}
        self._raw = {path: data for path in self._sources if (data := _notebook(path)) is not None}

    def source(self, path: Path) -> Source | None:
        """A file of the project as it was, also one that the report does not name; None where it cannot be read."""
        if path not in self._sources:
            self._sources[path] = _read(path, self._target)
        return self._sources[path]

    def place(self, frame: Frame) -> Place:
        """A frame's span; where its file cannot be read, bytes are taken for characters."""
        path = Path(frame.file)
        line, end_line = max(frame.line, 1), max(frame.end_line, frame.line, 1)
        start, end = frame.column + 1, frame.end_column + 1
        if (source := self._sources.get(path)) is not None:
            with contextlib.suppress(SourceError):
                start = source.character_column(line, frame.column)
                end = source.character_column(end_line, frame.end_column)
        start = max(start, 1)
        return Place(path, line, start, end_line, max(end, start if line == end_line else 1))

    def in_file(self, place: Place) -> Place:
        """A place in the file as it is on disk: of a notebook, whose lines are counted in its code, in its JSON."""
        data, cell = self._raw.get(place.file), self.cell(place)
        if data is None or cell is None:
            return place
        with contextlib.suppress(LookupError, ValueError):
            number, line = cell
            start = notebook.position(data, number, line, place.column)
            size = place.end_column - place.column if place.end_line == place.line else 0
            last = notebook.position(data, number, line, place.column + max(size - 1, 0))
            return Place(place.file, *start, last[0], last[1] + 1)
        return Place(place.file, 1, 1, 1, 1)

    def edit_place(self, edit: Edit) -> Place | None:
        """The span that an edit replaces; None where its file cannot be read."""
        if (data := self._raw.get(edit.path)) is not None:  # the source is its code, the edit one of its JSON
            return Place(edit.path, *_counted(data, edit.start), *_counted(data, edit.end))
        source = self._sources.get(edit.path)
        if source is None:
            return None
        try:
            return Place(edit.path, *source.characters(edit.start, edit.end))
        except SourceError:
            return None

    def excerpt(self, place: Place, widest: int = WIDEST) -> tuple[str, str]:
        """A line of source and its underline, cut to `widest` columns; empty where there is no such line."""
        widest = min(max(widest, 2 * _LEAD), WIDEST)
        source = self._sources.get(place.file)
        if source is None or not 1 <= place.line <= len(source.lines):
            return "", ""
        text = source.line_text(place.line)
        start = place.column - 1
        end = place.end_column - 1 if place.end_line == place.line else len(text)
        indent = min(len(text) - len(text.lstrip()), start)
        cut = start - _LEAD if start - indent > widest - _LEAD else indent
        before, marked, after = text[cut:start], text[start:end], text[max(start, end) :]
        room = max(widest - width(before), 1)
        marked, after = marked[:room], after[: max(room - len(marked), 0)]
        underline = " " * width(before) + "^" * max(width(marked), 1)
        return _flat(before + marked + after), underline

    def shown(self, path: Path) -> str:
        """A path as a person at the current folder would type it."""
        here = Path.cwd()
        near = path.is_relative_to(here) and not self._full
        return masked(str(path.relative_to(here) if near else path))

    def file(self, place: Place) -> str:
        """The file of a place, or the cell of its notebook."""
        cell = self.cell(place) if place.file.suffix == ".ipynb" else None
        return f"{self.shown(place.file)}:cell {cell[0]}" if cell is not None else self.shown(place.file)

    def line(self, place: Place) -> int:
        """The number of a place's line in what `file` names."""
        cell = self.cell(place) if place.file.suffix == ".ipynb" else None
        return cell[1] if cell is not None else place.line

    def where(self, place: Place, *, column: bool = True) -> str:
        """A place as a person looks it up: `path:line:column`, with the cell where the file has cells."""
        at = f":{place.column}" if column else ""
        source = self._sources.get(place.file)
        found = cells.place(source.lines, place.line) if source is not None else None
        if found is None:
            return f"{self.shown(place.file)}:{place.line}{at}"
        if place.file.suffix == ".ipynb":
            return f"{self.shown(place.file)}:cell {found[0]}:{found[1]}{at}"
        return f"{self.shown(place.file)}:{place.line}{at}: cell {found[0]}"

    def cell(self, place: Place) -> tuple[int, int] | None:
        """The cell of a place and its line there, both from 1; None where the file has no cells."""
        source = self._sources.get(place.file)
        return cells.place(source.lines, place.line) if source is not None else None

    def people(self, fix: Fix) -> str:
        """A fix's diff for people."""
        return fix.shown.decode() if fix.shown else self.diff(fix)

    def diff(self, fix: Fix) -> str:
        """A fix's diff as text, in its files' own encoding."""
        sources = [self._sources.get(path) for path in fix.candidate.files]
        for encoding in ("utf-8", *(source.encoding for source in sources if source is not None)):
            try:
                return fix.diff.decode(encoding)
            except (UnicodeError, LookupError):
                continue
        return fix.diff.decode("utf-8", "replace")

    def reasons(self, fix: Fix) -> list[tuple[str, str]]:
        """Why a fix is not safe: the name of each reason, and its sentence with the line that it is about."""
        found = [(name, sentence) for name, _, sentence in (reason.partition(": ") for reason in reasons(fix))]
        for number, finding in enumerate(fix.verdict.findings):
            if finding.place and finding.place[0].line:  # a line that an edit adds has no number in the file
                name, sentence = found[number]
                found[number] = name, f"{self.where(self.place(finding.place[0]), column=False)}: {sentence}"
        return found

    def later(self, fix: Fix) -> str:
        """What ends a repaired script for another reason, which it has as it stands; '' where nothing does."""
        failure = fix.verdict.failure
        if failure is None or not failure.stack or fix.verdict.run not in (RunOutcome.PASSED, RunOutcome.FINISHED):
            return ""
        where = self.where(self.place(failure.stack[0]), column=False)
        message = ": ".join(filter(None, (one_line(failure.type), shortened(failure.message))))
        fenced = " (the fence lets a run write only below its project)" if _NOT_WRITTEN.search(failure.message) else ""
        return f"then stops at {where}, which the edit does not cause: {message}{fenced}"


def width(text: str) -> int:
    """How many cells of a terminal a text takes."""
    return sum(_cells(character) for character in _flat(text))


def _cells(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


def _flat(text: str) -> str:
    return masked(text.replace("\t", "    "))


def _notebook(path: Path) -> bytes | None:
    """The file that a notebook's code stands in; None for every other file."""
    with contextlib.suppress(OSError):
        return path.read_bytes() if path.suffix == notebook.SUFFIX else None
    return None


def _counted(data: bytes, offset: int) -> tuple[int, int]:
    """Line and column, from 1, of a byte of a file in UTF-8."""
    before = data[:offset].decode("utf-8", "replace")
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def _paths(report: Report) -> set[Path]:
    found = {edit.path for fix in (*report.fixes, *report.rejected) for edit in fix.candidate.edits}
    found |= {path for fix in (*report.fixes, *report.rejected) for path in fix.candidate.files}
    frames = [frame for fix in (*report.fixes, *report.rejected) for frame in _verdict_frames(fix)]
    frames += [one.frame for one in report.suspicions]
    if (failed := failure(report)) is not None:
        frames += failed.stack
    if report.diagnosis is not None:
        frames += [culprit.frame for culprit in report.diagnosis.culprits]
    return found | {Path(frame.file) for frame in frames}


def _verdict_frames(fix: Fix) -> list[Frame]:
    frames = [frame for finding in fix.verdict.findings for frame in finding.place]
    return frames + (list(fix.verdict.failure.stack) if fix.verdict.failure is not None else [])


def _read(path: Path, target: Target) -> Source | None:
    """A file of the project. Names come from the child too: it may not have anything else read out."""
    try:
        inside = path.resolve().is_relative_to(target.project.resolve()) and (path in target.buffers or path.is_file())
        return parsed(path, target.read(path)) if inside else None
    except (OSError, RuntimeError, SourceError, ValueError):
        return None
