"""The texts that are open in the editor, and the files behind them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from lsprotocol import types
from pygls.uris import to_fs_path
from pygls.workspace import Workspace

from autofix.lsp import documents
from autofix.lsp.documents import Document
from autofix.syntax.source import SourceError


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
            return documents.of_notebook(notebook.uri, self._path(notebook.uri), cells_in)
        text = self._workspace.text_documents.get(unquote(uri))
        if text is None:
            return None
        with contextlib.suppress(SourceError):
            return documents.of_file(text.uri, self._path(text.uri), text.version, text.source)
        return None

    def documents(self) -> Iterator[Document]:
        """Every file and notebook that is open."""
        for uri in {self.whole(uri) for uri in self._workspace.text_documents}:
            if (document := self.document(uri)) is not None:
                yield document

    def shown(self, path: Path) -> Document | None:
        """The document of a file: as the editor has it, else as it is on disk."""
        return next((one for one in self.documents() if one.path == path), None) or documents.on_disk(path)

    def read(self, path: Path) -> bytes | None:
        """A file's contents as the editor has them, else as they are on disk."""
        open_one = next((one for one in self.documents() if one.path == path), None)
        return open_one.data if open_one is not None else documents.contents(path)

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
