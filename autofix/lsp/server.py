"""Which message of the language server protocol asks for what of a session."""

from __future__ import annotations

import asyncio
import io
import os
import signal
from typing import Any, NoReturn

from lsprotocol import types
from typing_extensions import Buffer

from autofix.lsp.offers import ANSWER
from autofix.lsp.session import APPLY, EditorSession

RUN = "autofix.runAndRepair"
RUN_KIND = f"{types.CodeActionKind.Source.value}.runAndRepair.autofix"
_TITLE = "Run and repair"
_MENTION = b"torch"


def serve() -> NoReturn:
    """Speak the protocol on standard input and output until the editor ends the session, or is gone."""
    session = make()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: _end(session, 128 + number))
    answers = _Answers(session)
    os.dup2(2, 1)  # what anything here prints is no message
    session.start_io(stdout=answers)
    _end(session, 0)


class _Answers(io.BufferedWriter):
    """What is standard output now, written at once: an editor that does not read any more is gone."""

    def __init__(self, session: EditorSession) -> None:
        super().__init__(io.FileIO(os.dup(1), "wb"))
        self._session = session

    def write(self, data: Buffer, /) -> int:
        try:
            written = super().write(data)
            self.flush()
        except BrokenPipeError:
            _end(self._session, 0)
        return written


def _end(session: EditorSession, status: int) -> NoReturn:
    """End every run and this process, although a thread may still wait for standard input: Python would wait for it."""
    session.runs.close()
    os._exit(status)


def make() -> EditorSession:
    """A session that answers every message it can."""
    session = EditorSession()
    _follow(session)
    _follow_notebooks(session)
    _answer(session)
    return session


def _follow(session: EditorSession) -> None:
    """What the editor tells."""

    @session.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        session.set_options(params.initialization_options)

    @session.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        session.publish(params.text_document.uri)

    @session.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: types.DidChangeTextDocumentParams) -> None:
        session.later(params.text_document.uri)

    @session.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        session.publish(params.text_document.uri)

    @session.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        session.forget([params.text_document.uri])

    @session.feature(types.SHUTDOWN)
    async def shutdown(_params: Any) -> None:
        session.ending = True
        try:
            await session.runs.end()
        except asyncio.CancelledError:  # the editor is gone, and with it who would hear the answer
            _end(session, 0)

    @session.feature(types.EXIT)
    def leave(_params: Any) -> None:
        _end(session, 0 if session.ending else 1)  # 1 is what the protocol wants without a shutdown before it


def _follow_notebooks(session: EditorSession) -> None:
    """What the editor tells of notebooks."""

    @session.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def notebook_opened(params: types.DidOpenNotebookDocumentParams) -> None:
        session.publish(params.notebook_document.uri)

    @session.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    async def notebook_changed(params: types.DidChangeNotebookDocumentParams) -> None:
        structure = params.change.cells.structure if params.change.cells else None
        if structure is not None and structure.did_close:
            session.forget([cell.uri for cell in structure.did_close])
        session.later(params.notebook_document.uri)

    @session.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def notebook_closed(params: types.DidCloseNotebookDocumentParams) -> None:
        session.forget([cell.uri for cell in params.cell_text_documents])


def _answer(session: EditorSession) -> None:
    """What the editor asks."""

    @session.feature(types.TEXT_DOCUMENT_CODE_LENS)
    def lenses(params: types.CodeLensParams) -> list[types.CodeLens]:
        part = _first_part(session, params.text_document.uri)
        if part is None:
            return []
        top = types.Range(types.Position(0, 0), types.Position(0, 0))
        return [types.CodeLens(top, types.Command(_TITLE, RUN, arguments=[params.text_document.uri]))]

    options = types.CodeActionOptions([types.CodeActionKind.QuickFix, RUN_KIND])

    @session.feature(types.TEXT_DOCUMENT_CODE_ACTION, options)
    def actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        uri, wanted = params.text_document.uri, params.context.only
        found = [*session.fixes(uri, params.range)] if _wants(wanted, types.CodeActionKind.QuickFix.value) else []
        document = session.desk.document(uri)
        if document is not None and _MENTION in document.data and _wants(wanted, RUN_KIND):
            command = types.Command(_TITLE, RUN, arguments=[uri])
            found.append(types.CodeAction(f"{_TITLE} with autofix", RUN_KIND, command=command))
        return found

    @session.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(params: types.HoverParams) -> types.Hover | None:
        pages = [*session.pages(params.text_document.uri, params.position)]
        if not pages:
            return None
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, "\n---\n\n".join(pages)))

    @session.command(RUN)
    async def run(*arguments: Any) -> dict[str, Any]:
        uri = arguments[0] if arguments and isinstance(arguments[0], str) else session.last
        argv = arguments[1] if len(arguments) > 1 and isinstance(arguments[1], list) else []
        return await session.repair(uri, [str(word) for word in argv])

    @session.command(ANSWER)
    async def answer(script: str, name: str) -> dict[str, Any] | None:
        return await session.answer(script, name)

    @session.command(APPLY)
    async def apply(script: str, number: int) -> None:
        await session.apply(script, number)


def _first_part(session: EditorSession, uri: str) -> str | None:
    """The document itself, or a notebook's first cell, where it is one that can be run; None elsewhere."""
    document = session.desk.document(uri)
    if document is None or _MENTION not in document.data:
        return None
    return uri if document.parts[0].uri == uri else None


def _wants(wanted: Any, kind: str) -> bool:
    return not wanted or any(
        kind == one or kind.startswith(f"{one}.") for one in (getattr(w, "value", w) for w in wanted)
    )
