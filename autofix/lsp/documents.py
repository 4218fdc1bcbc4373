"""What an editor shows, as Python would read it: a file, or the cells of a notebook as one script; where each is."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from lsprotocol import types
from pygls.uris import from_fs_path, to_fs_path
from pygls.workspace import Workspace

from autofix.render.snapshot import Place
from autofix.syntax.source import Source, SourceError, encoding, split
from autofix.target import cells
from autofix.target.cells import Cell

_UNITS = {
    types.PositionEncodingKind.Utf8: ("utf-8", 1),
    types.PositionEncodingKind.Utf16: ("utf-16-le", 2),
    types.PositionEncodingKind.Utf32: ("utf-32-le", 4),
}


@dataclass(frozen=True, slots=True)
class EditorText:
    """One text of the editor: a whole file, or a cell that begins at line `first` (from 0) of the whole."""

    uri: str
    version: int | None
    lines: tuple[str, ...]
    first: int = 0

    @property
    def text(self) -> str:
        return "".join(self.lines)


@dataclass(frozen=True, slots=True)
class Document:
    """A file or a notebook as it stands in the editor; `data` is what Python would read."""

    uri: str
    path: Path
    parts: tuple[EditorText, ...]
    data: bytes
    cells: bool = False

    def part(self, line: int) -> EditorText:
        """The part that holds a line (from 0); the last one for lines beyond."""
        return next((part for part in reversed(self.parts) if part.first <= line), self.parts[-1])

    def range(self, place: Place, columns: Columns) -> tuple[EditorText, types.Range]:
        """Where a place is shown; what spans several cells is shown in the first."""
        part = self.part(place.line - 1)
        start = columns.position(part.lines, place.line - 1 - part.first, place.column - 1)
        end = columns.position(part.lines, place.end_line - 1 - part.first, place.end_column - 1)
        return part, types.Range(start, max(start, end, key=lambda at: (at.line, at.character)))

    def text_edit(self, place: Place, text: str, columns: Columns) -> tuple[EditorText, types.TextEdit] | None:
        """The replacement of a place as the editor's own edit; None where it spans cells or magics."""
        part, span = self.range(place, columns)
        beyond = place.end_line - 1 - part.first
        if beyond > len(part.lines) or not self._as_shown(part, place):
            return None
        if beyond == len(part.lines) and part.lines and not part.lines[-1].endswith(("\r", "\n")):
            # The line end that joins a cell to the next one is not in the cell.
            text = text.removesuffix("\n")
            inserted = place.line - 1 - part.first == len(part.lines)
            text = f"\n{text}" if inserted else text
        return part, types.TextEdit(span, text)

    def _as_shown(self, part: EditorText, place: Place) -> bool:
        """Whether Python reads the lines of a place as they are shown: a magic is read as something else."""
        if not self.cells:
            return True
        first, last = place.line - 1, place.end_line - (place.end_column == 1)
        shown = part.lines[first - part.first : max(last, first) - part.first]
        read = split(self.data.decode())[first : max(last, first)]
        return [line.rstrip("\r\n") for line in shown] == [line.rstrip("\r\n") for line in read]


def of_file(uri: str, path: Path, version: int | None, text: str) -> Document:
    """A file's document; raises SourceError where its own coding line cannot spell it."""
    return Document(uri, path, (EditorText(uri, version, split(text)),), _encoded(text, path))


def contents(path: Path) -> bytes | None:
    """What a file holds on disk; None where it cannot be read."""
    with contextlib.suppress(OSError):
        return path.read_bytes()
    return None


def on_disk(path: Path) -> Document | None:
    """The document of a file that no editor holds; None where it cannot be read."""
    try:
        source = Source.read(path)
    except SourceError:
        return None
    uri = from_fs_path(str(path)) or path.as_uri()
    return Document(uri, path, (EditorText(uri, None, source.lines),), source.data)


def of_notebook(uri: str, path: Path, code: Iterable[tuple[str, int | None, str]]) -> Document:
    """A notebook's document: its code cells (uri, version, text), each under a header, one after the other."""
    parts: list[EditorText] = []
    read: list[Cell] = []
    first = 0
    for number, (cell_uri, version, text) in enumerate(code, start=1):
        lines = split(text)
        parts.append(EditorText(cell_uri, version, lines, first + 1))
        first += 1 + len(lines)
        read.append(Cell(number, text))
    return Document(uri, path, tuple(parts) or (EditorText(uri, None, ()),), cells.text(read), cells=True)


def _encoded(text: str, path: Path) -> bytes:
    """A text as it would be saved: in the encoding that its first lines declare."""
    try:
        return text.encode(encoding(text.encode("utf-8", "replace")))
    except (SyntaxError, LookupError, UnicodeError) as error:
        raise SourceError(f"{path}: {error}") from None


class Columns:
    """Counts the columns of one session."""

    def __init__(self, encoding: types.PositionEncodingKind | str | None) -> None:
        self._codec, self._size = _UNITS[types.PositionEncodingKind(encoding or types.PositionEncodingKind.Utf16)]

    def position(self, lines: Sequence[str], line: int, column: int) -> types.Position:
        """The place before the character `column` of a line, both counted from 0; the end of the text where beyond."""
        if line >= len(lines):
            if not lines or lines[-1].endswith(("\r", "\n")):
                return types.Position(len(lines), 0)
            line, column = len(lines) - 1, len(lines[-1])
        before = lines[line].rstrip("\r\n")[:column]
        return types.Position(line, len(before.encode(self._codec, "surrogatepass")) // self._size)


def touch(one: types.Range, other: types.Range) -> bool:
    """Whether two ranges have a line in common: a cursor anywhere on the line is near enough."""
    return one.start.line <= other.end.line and other.start.line <= one.end.line


class Desk:
    """Answers what a file contains: the editor's text first, then the disk's."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def document(self, uri: str) -> Document | None:
        """The file or notebook that a uri (of it, or of one of its cells) belongs to, as it is open now."""
        notebook = self._workspace.get_notebook_document(notebook_uri=uri) or self._workspace.get_notebook_document(
            cell_uri=uri
        )
        if notebook is not None:
            cells = [cell.document for cell in notebook.cells if cell.kind == types.NotebookCellKind.Code]
            texts = [
                self._workspace.text_documents[cell]
                for cell in map(unquote, cells)
                if cell in self._workspace.text_documents
            ]
            cells_in = [(text.uri, text.version, text.source) for text in texts if text.language_id == "python"]
            return of_notebook(notebook.uri, self._path(notebook.uri), cells_in)
        text = self._workspace.text_documents.get(unquote(uri))
        if text is None:
            return None
        with contextlib.suppress(SourceError):
            return of_file(text.uri, self._path(text.uri), text.version, text.source)
        return None

    def documents(self) -> Iterator[Document]:
        """Every file and notebook that is open."""
        for uri in {self.whole(uri) for uri in self._workspace.text_documents}:
            if (document := self.document(uri)) is not None:
                yield document

    def shown(self, path: Path) -> Document | None:
        """The document of a file: as the editor has it, else as it is on disk."""
        return next((one for one in self.documents() if one.path == path), None) or on_disk(path)

    def read(self, path: Path) -> bytes | None:
        """A file's contents as the editor has them, else as they are on disk."""
        open_one = next((one for one in self.documents() if one.path == path), None)
        return open_one.data if open_one is not None else contents(path)

    def whole(self, uri: str) -> str:
        """The notebook that a cell belongs to; every other document is whole."""
        notebook = self._workspace.get_notebook_document(cell_uri=uri)
        return notebook.uri if notebook is not None else uri

    def _path(self, uri: str) -> Path:
        """A document's file; for one that was never saved, where it would be."""
        path = to_fs_path(uri) if uri.startswith("file:") else None
        if path is not None:
            return Path(path).resolve()
        return next(iter(self._folders()), Path.cwd()) / Path(uri.partition(":")[2].partition("?")[0]).name

    def root(self, folder: Path) -> Path:
        """The folder of the workspace that holds a folder; itself where none does."""
        return next((root for root in self._folders() if folder.is_relative_to(root)), folder)

    def _folders(self) -> list[Path]:
        uris = [*self._workspace.folders] or [self._workspace.root_uri or ""]
        return [Path(path).resolve() for uri in uris if (path := to_fs_path(uri))]
