"""The session with an editor: what is said of each document, what is run, what is offered."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.capabilities import get_capability
from pygls.lsp.server import LanguageServer

from autofix import __version__
from autofix.check import baseline, check
from autofix.check.finder import Finder
from autofix.check.known import finders
from autofix.commands import check as command_check
from autofix.core import config, kept
from autofix.core.model import Applicability, Fix, Outcome, Report, Target
from autofix.core.write import WriteRefused
from autofix.experiments.runner import Stop
from autofix.lsp import offers
from autofix.lsp.documents import Columns, Desk, Document, EditorText, contents, touch
from autofix.lsp.runs import RunQueue
from autofix.probe import wire
from autofix.render import OUTCOMES, Snapshot, catalogue, one_line, sentence, words
from autofix.render.snapshot import Place
from autofix.search import registry
from autofix.syntax.source import SourceError
from autofix.target import interpreter, targets

APPLY = "autofix.applyFix"
_PAUSE = 0.2
"""Seconds without a keystroke after which the text is looked at."""
_MENTION = b"torch"
_FAILED = {Outcome.AVAILABLE, Outcome.UNFIXED}
_NOTEBOOKS = types.NotebookDocumentSyncOptions(
    [types.NotebookDocumentFilterWithCells([types.NotebookCellLanguage("python")], notebook="*")], save=True
)


class EditorSession(LanguageServer):
    """One editor. Its texts are taken whole: pygls would cut them into lines where no editor does."""

    def __init__(self) -> None:
        super().__init__(
            "autofix", __version__, text_document_sync_kind=types.TextDocumentSyncKind.Full,
            notebook_document_sync=_NOTEBOOKS,
        )  # fmt: skip
        self.options: dict[str, Any] = {}
        self.runs = RunQueue()
        self.last = ""
        self.ending = False
        self._results: dict[str, offers.RunResult] = {}
        self._published: dict[str, list[types.Diagnostic]] = {}
        self._waiting: dict[str, asyncio.Task[None]] = {}

    def shutdown(self) -> None:
        """Leave the thread alone that reads standard input: pygls would wait for it, and so for the editor."""

    @cached_property
    def desk(self) -> Desk:
        return Desk(self.workspace)

    @cached_property
    def columns(self) -> Columns:
        return Columns(self.workspace.position_encoding)

    @cached_property
    def client(self) -> offers.Client:
        edits = "workspace.workspace_edit"
        return offers.Client(
            self.desk.shown,
            self.columns,
            annotations=get_capability(self.client_capabilities, f"{edits}.change_annotation_support") is not None,
            versions=bool(get_capability(self.client_capabilities, f"{edits}.document_changes")),
            related=bool(
                get_capability(self.client_capabilities, "text_document.publish_diagnostics.related_information")
            ),
        )

    def set_options(self, given: Any) -> None:
        """Take the options of `fix` that the editor gives, under their long names with - or _."""
        named = {str(name).replace("-", "_"): value for name, value in given.items()} if isinstance(given, dict) else {}
        self.options = {name: value for name, value in named.items() if name in config.NAMES}
        if unknown := ", ".join(sorted(named.keys() - self.options.keys())):
            self.log(types.MessageType.Warning, f"there is no option {unknown}; `autofix fix --help` lists them")

    # Diagnostics ----------------------------------------------------------------------------------------------------

    def later(self, uri: str) -> None:
        """Look at a document once its author pauses."""
        whole = self.desk.whole(uri)
        if (task := self._waiting.pop(whole, None)) is not None:
            task.cancel()

        async def wait() -> None:
            await asyncio.sleep(_PAUSE)
            self.publish(whole)

        self._waiting[whole] = asyncio.ensure_future(wait())

    def publish(self, uri: str) -> None:
        """Say what is known of a document now: its findings, and the last run's failure if that still stands."""
        document = self.desk.document(self.desk.whole(uri))
        if document is None:
            return
        self.last = document.uri
        found: dict[str, list[types.Diagnostic]] = {part.uri: [] for part in document.parts}
        for part, diagnostic in self._diagnostics(document):
            found.setdefault(part.uri, []).append(diagnostic)
        versions = {part.uri: part.version for part in document.parts}
        for part_uri, diagnostics in found.items():
            self._published[part_uri] = diagnostics
            self.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(part_uri, diagnostics, versions.get(part_uri))
            )

    def forget(self, uris: Sequence[str]) -> None:
        """Take back what was said of documents that are closed."""
        for uri in uris:
            self._published.pop(uri, None)
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def _diagnostics(self, document: Document) -> Iterator[tuple[EditorText, types.Diagnostic]]:
        proved: list[tuple[EditorText, types.Range]] = []
        for result in self.standing():
            made = result.diagnostic(self.client)
            if made is not None and made[0] in document.parts:
                proved.append((made[0], made[1].range))
                yield made
            for part, diagnostic in result.found(self.client):
                if part in document.parts:
                    proved.append((part, diagnostic.range))
                    yield part, diagnostic
        if _MENTION not in document.data:
            return
        chosen, accepted = self._wanted(document.path)
        try:
            found = [
                one
                for one in check.check_bytes(document.path, document.data, chosen)
                if one.path == str(document.path)  # what it leads to in another file is shown when that is opened
            ]
        except SourceError:
            return  # half a line is being typed: the editor's own Python says so
        if accepted is not None:
            with contextlib.suppress(ValueError):
                found = list(baseline.without_accepted(accepted, found))
        for one in found:
            place = Place(document.path, one.line, one.column, one.end_line, one.end_column)
            part, diagnostic = offers.finding(one, place, document, self.columns)
            if not any(part == at and touch(diagnostic.range, span) for at, span in proved):  # a run has said it better
                yield part, diagnostic

    def _wanted(self, path: Path) -> tuple[Sequence[Finder], Path | None]:
        try:
            return command_check.in_editor(path)
        except config.ConfigError as error:
            self.log(types.MessageType.Warning, str(error))
            return finders(), None

    def standing(self) -> list[offers.RunResult]:
        """The results of runs whose files are still as they were."""
        return [result for result in self._results.values() if result.stands(self.desk.read)]

    def log(self, level: types.MessageType, text: str) -> None:
        self.window_log_message(types.LogMessageParams(level, one_line(text)))

    def say(self, level: types.MessageType, text: str) -> None:
        self.window_show_message(types.ShowMessageParams(level, one_line(text)))

    # Runs -----------------------------------------------------------------------------------------------------------

    def target(self, document: Document, argv: Sequence[str]) -> tuple[Target, config.Settings]:
        """What to run for a document: the texts that are open stand in for the files on disk."""
        folder = document.path.parent
        settings = config.settings(self.options, folder)
        root = interpreter.project_root(document.path, self.desk.root(folder))
        buffers = {
            one.path: one.data
            for one in self.desk.documents()
            if one.path.is_relative_to(root) and one.data != contents(one.path)
        }
        target = Target(
            document.path, argv=tuple(argv), cwd=folder if document.cells else self.desk.root(folder), root=root,
            python=interpreter.find(settings.python, folder), setup=wire.Setup(entry="cells" if document.cells else ""),
            buffers=buffers,
        )  # fmt: skip
        return targets.under(target, settings), settings

    async def repair(self, uri: str, argv: Sequence[str]) -> dict[str, Any]:
        """Run a document, show what came of it; returns it for editors that make something of answers."""
        document = self.desk.document(self.desk.whole(uri))
        if document is None:
            raise ValueError(f"{uri or 'no document'} is not open; open the script to run")
        try:
            target, settings = self.target(document, argv)
            rules = registry.select(settings.select, settings.ignore)
        except ValueError as error:
            self.say(types.MessageType.Error, str(error))
            return {"outcome": Outcome.CANNOT_RUN.value, "message": str(error), "fixes": []}
        if settings.loosened:
            self.log(types.MessageType.Warning, f"[tool.autofix] of this project sets {', '.join(settings.loosened)}")
        given_up = Stop()
        async with self._progress(document.path.name, given_up) as tell:
            report = await self.runs.fix(target, rules, tell, given_up)
        if report is None:
            return {"outcome": "cancelled", "message": "cancelled", "fixes": []}
        result = self._results[document.uri] = offers.RunResult(report, Snapshot(report))
        for one in self.desk.documents():
            self.publish(one.uri)
        self.last = document.uri
        if training := result.training():
            self.window_log_message(types.LogMessageParams(types.MessageType.Info, training))
        return self._told(report, document.path.name) | {"audit": training}

    def _told(self, report: Report, name: str) -> dict[str, Any]:
        said = sentence(report)
        if report.outcome in _FAILED:
            safe = sum(fix.verdict.applicability is Applicability.SAFE for fix in report.fixes)
            said = (
                f"{safe} safe and {len(report.fixes) - safe} other fixes" if report.fixes else OUTCOMES[report.outcome]
            )
        level = types.MessageType.Info if report.outcome in (*_FAILED, Outcome.CLEAN) else types.MessageType.Warning
        self.say(level, f"{name}: {said}")
        return {"outcome": report.outcome.value, "message": said, "fixes": [offers.title(fix) for fix in report.fixes]}

    @contextlib.asynccontextmanager
    async def _progress(self, name: str, given_up: Stop) -> AsyncIterator[Callable[[str], None]]:
        """A function to tell what begins, shown as the editor's own progress with its button to cancel."""
        if not get_capability(self.client_capabilities, "window.work_done_progress"):
            yield lambda text: self.log(types.MessageType.Info, f"{name}: {text}")
            return
        token, count = f"autofix-{secrets.token_hex(4)}", 0
        await self.work_done_progress.create_async(token)
        self.work_done_progress.begin(
            token, types.WorkDoneProgressBegin(f"autofix: running {name}", cancellable=True, message="starting")
        )
        self.work_done_progress.tokens[token].add_done_callback(lambda _: given_up.set())

        def tell(text: str) -> None:
            nonlocal count
            count += 1
            self.work_done_progress.report(token, types.WorkDoneProgressReport(message=f"{count}. {one_line(text)}"))

        try:
            yield tell
        finally:
            ended = "cancelled" if given_up.is_set() else "done"
            self.work_done_progress.end(token, types.WorkDoneProgressEnd(message=ended))
            self.work_done_progress.tokens.pop(token, None)

    # Offers ---------------------------------------------------------------------------------------------------------

    def fixes(self, uri: str, span: types.Range) -> Iterator[types.CodeAction]:
        """The fixes of the failure, or of what crashes nothing, at a place: the best safe one preferred."""
        for result in self.standing():
            if not result.near(uri, span, self.client):
                continue
            made = result.diagnostic(self.client)
            found = [made] if made is not None else result.found(self.client)
            about = [one for part, one in found if made is not None or (part.uri == uri and touch(one.range, span))]
            for number, fix in enumerate(result.report.fixes):
                edit = result.edit(fix, self.client)
                if edit is not None:
                    safe = fix.verdict.applicability is Applicability.SAFE
                    ask = not safe and not self.client.annotations
                    command = types.Command(
                        "Apply an unsafe fix", APPLY, arguments=[result.report.target.script.as_uri(), number]
                    )
                    yield types.CodeAction(
                        offers.title(fix), types.CodeActionKind.QuickFix, about or None,
                        is_preferred=safe and number == 0, edit=None if ask else edit, command=command if ask else None,
                    )  # fmt: skip
            yield from offers.answers(result.report, made[1] if made is not None else None)

    async def answer(self, script: str, name: str) -> dict[str, Any] | None:
        """Keep an answer to what the code leaves open, with the project, and run again with it."""
        for result in self.standing():
            question = result.report.question
            if result.report.target.script.as_uri() != script or question is None:
                continue
            try:
                path = kept.keep(result.report.target, question.key, name)
            except (WriteRefused, OSError, config.ConfigError) as error:
                self.say(types.MessageType.Error, f"the answer is not kept: {error}")
                return None
            self.log(types.MessageType.Info, f"the answer is kept in {path}")
            return await self.repair(script, result.report.target.argv)
        self.say(types.MessageType.Warning, "the text has changed since the run; run and repair again")
        return None

    async def apply(self, script: str, number: int) -> None:
        """Ask about an unsafe fix, then apply it: for editors that cannot ask by themselves."""
        for result in self.standing():
            if result.report.target.script.as_uri() != script or not 0 <= number < len(result.report.fixes):
                continue
            fix = result.report.fixes[number]
            edit = result.edit(fix, self.client)
            if edit is not None and await self._agreed(fix):
                await self.workspace_apply_edit_async(types.ApplyWorkspaceEditParams(edit, offers.title(fix)))
            return
        self.say(types.MessageType.Warning, "the text has changed since the run; run and repair again")

    async def _agreed(self, fix: Fix) -> bool:
        yes = types.MessageActionItem("Apply all the same")
        asked = types.ShowMessageRequestParams(types.MessageType.Warning, f"Not safe: {words.unsafe(fix)}", [yes])
        answer = await self.window_show_message_request_async(asked)
        return answer is not None and answer.title == yes.title

    def pages(self, uri: str, at: types.Position) -> Iterator[str]:
        """The pages of the rules that are spoken of on a line."""
        codes: dict[str, None] = {}
        for diagnostic in self._published.get(uri, []):
            if touch(diagnostic.range, types.Range(at, at)) and diagnostic.code is not None:
                codes |= dict.fromkeys(str(diagnostic.code).split("+"))
        for code in codes:
            with contextlib.suppress(ValueError):
                yield catalogue.explained(code)
