"""What a run came to, in the editor's words: diagnostics with their culprits, quick fixes, and their edits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lsprotocol import types

from autofix.check.finding import Finding
from autofix.core.model import Applicability, Fix, Report
from autofix.lsp.documents import Columns, Document, EditorText, touch
from autofix.render import Snapshot, words
from autofix.render.account import account, plain
from autofix.render.snapshot import Place
from autofix.syntax.source import Source

SOURCE = "autofix"
_UNVERIFIED = "not verified: run and repair the script to be sure"
_ASKS = "autofix-unsafe"
ANSWER = "autofix.answer"
"""The command that keeps an answer to what the code leaves open: the script, and the answer's name."""


@dataclass(frozen=True, slots=True)
class Client:
    """The editor: the document that it has of a file, how it counts columns, and what it can do with what we say."""

    shown: Callable[[Path], Document | None]
    columns: Columns
    annotations: bool
    versions: bool
    related: bool

    def located(self, place: Place) -> tuple[EditorText, types.Range] | None:
        """Where a place is in the editor; None where it has no document of the file."""
        document = self.shown(place.file)
        return document.range(place, self.columns) if document is not None else None


class RunResult:
    """A report of a run, for as long as the texts that it speaks of are still those that were run."""

    def __init__(self, report: Report, snapshot: Snapshot) -> None:
        self.report, self._snapshot = report, snapshot
        self.files = {path: _contents(report, path) for path in _paths(report)}

    def stands(self, read: Callable[[Path], bytes | None]) -> bool:
        """Whether every file that was read for the report is still as it was."""
        return all(read(path) == data for path, data in self.files.items())

    def failure(self, client: Client) -> tuple[EditorText, types.Range] | None:
        """Where the failure is shown."""
        failed = words.failure(self.report)
        if failed is None or not failed.stack:
            return None
        return client.located(self._snapshot.place(failed.stack[0]))

    def diagnostic(self, client: Client) -> tuple[EditorText, types.Diagnostic] | None:
        """The failure, with the culprit lines as what it is related to."""
        where = self.failure(client)
        if where is None:
            return None
        part, span = where
        diagnosis = self.report.diagnosis
        cause = (
            diagnosis.declined or words.CAUSES[diagnosis.cause] if diagnosis else words.OUTCOMES[self.report.outcome]
        )
        said = [words.headline(self.report), words.one_line(cause)]
        related = [*self._culprits(client)]
        if not client.related:
            said += [f"{item.message}: line {item.location.range.start.line + 1}" for item in related]
        if diagnosis is not None and not self.report.fixes:
            said.append(words.sentence(self.report))
        if self.report.question is not None and self.report.question.answer is None:
            said.append(words.one_line(self.report.question.text))
        return part, types.Diagnostic(
            span, "\n".join(said), types.DiagnosticSeverity.Error, words.code(self.report), source=SOURCE,
            related_information=related if client.related else None,
        )  # fmt: skip

    def found(self, client: Client) -> Iterator[tuple[EditorText, types.Diagnostic]]:
        """What the run showed that crashes nothing, each with the further lines that belong to it."""
        for one in account(self.report, self._snapshot).findings:
            if (where := client.located(one.place)) is None:
                continue
            related = [
                types.DiagnosticRelatedInformation(types.Location(part.uri, span), "belongs to it")
                for part, span in filter(None, map(client.located, one.others))
            ]
            level = types.DiagnosticSeverity.Warning if one.sure else types.DiagnosticSeverity.Information
            yield where[0], types.Diagnostic(
                where[1], one.message, level, one.code, source=SOURCE,
                related_information=related if client.related and related else None,
            )  # fmt: skip

    def training(self) -> str:
        """Who trains what, and the laws, as lines of text; '' where the run was not looked at so closely."""
        return plain(account(self.report, self._snapshot))

    def _culprits(self, client: Client) -> Iterator[types.DiagnosticRelatedInformation]:
        for culprit in words.told(self.report):
            where = client.located(self._snapshot.place(culprit.frame))
            if where is not None and culprit.role != "failed":
                part, span = where
                yield types.DiagnosticRelatedInformation(types.Location(part.uri, span), words.role(culprit))

    def near(self, uri: str, span: types.Range, client: Client) -> bool:
        """Whether the failure, a line that explains it, or what crashes nothing is where the cursor is."""
        frames = [culprit.frame for culprit in self.report.diagnosis.culprits] if self.report.diagnosis else []
        frames += [frame for one in self.report.suspicions if one.sure for frame in (one.frame, *one.others)]
        places = (client.located(self._snapshot.place(frame)) for frame in frames)
        found = filter(None, (self.failure(client), *places))
        return any(part.uri == uri and touch(at, span) for part, at in found)

    def edit(self, fix: Fix, client: Client) -> types.WorkspaceEdit | None:
        """A fix as edits of the versions that were judged; None where the editor has no place for one of them."""
        asks = fix.verdict.applicability is not Applicability.SAFE and client.annotations
        edits: dict[tuple[str, int | None], list[types.TextEdit | types.AnnotatedTextEdit | types.SnippetTextEdit]] = {}
        for edit in fix.candidate.edits:
            document = client.shown(edit.path)
            place = Place(edit.path, *Source(edit.path, fix.originals[edit.path]).characters(edit.start, edit.end))
            made = document.text_edit(place, edit.text, client.columns) if document is not None else None
            if made is None:
                return None
            part, change = made
            one = types.AnnotatedTextEdit(_ASKS, change.range, change.new_text) if asks else change
            edits.setdefault((part.uri, part.version), []).append(one)
        if not client.versions:
            plain = {uri: [e for e in some if isinstance(e, types.TextEdit)] for (uri, _), some in edits.items()}
            return types.WorkspaceEdit(changes=plain)
        return types.WorkspaceEdit(
            document_changes=[
                types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(uri, version), some)
                for (uri, version), some in edits.items()
            ],
            change_annotations={_ASKS: _annotation(fix)} if asks else None,
        )


def title(fix: Fix) -> str:
    """A quick fix's line in the editor's menu."""
    named = words.effect_name(fix.verdict.effect)
    return f"{'+'.join(fix.candidate.rules)}: {words.title(fix)} ({fix.verdict.applicability}, {named})"


def answers(report: Report, about: types.Diagnostic | None) -> Iterator[types.CodeAction]:
    """The answers to what the code leaves open, each as a line of the menu that keeps it and runs again."""
    question = report.question
    if question is None or question.answer is not None:
        return
    for one in question.answers:
        said = f"{words.one_line(question.text)} {one.name}: {words.one_line(one.clause)}"
        command = types.Command(said, ANSWER, arguments=[report.target.script.as_uri(), one.name])
        yield types.CodeAction(
            said, types.CodeActionKind.QuickFix, [about] if about is not None else None, command=command
        )


def finding(found: Finding, place: Place, document: Document, columns: Columns) -> tuple[EditorText, types.Diagnostic]:
    """What the text alone tells, as a warning."""
    part, span = document.range(place, columns)
    message = f"{words.one_line(found.message)} ({_UNVERIFIED})"
    return part, types.Diagnostic(span, message, types.DiagnosticSeverity.Warning, found.code, source=SOURCE)


def _annotation(fix: Fix) -> types.ChangeAnnotation:
    return types.ChangeAnnotation(f"Unsafe: {words.title(fix)}", needs_confirmation=True, description=words.unsafe(fix))


def _paths(report: Report) -> set[Path]:
    """The files that a report speaks of."""
    found = {report.target.script} | {path for fix in report.fixes for path in fix.originals}
    if (failed := words.failure(report)) is not None:
        found |= {Path(frame.file) for frame in failed.stack[:1]}
    if report.diagnosis is not None:
        found |= {Path(culprit.frame.file) for culprit in report.diagnosis.culprits}
    return found | {Path(frame.file) for one in report.suspicions for frame in (one.frame, *one.others)}


def _contents(report: Report, path: Path) -> bytes | None:
    for fix in report.fixes:
        if path in fix.originals:
            return fix.originals[path]
    try:
        return report.target.read(path)
    except OSError:
        return None
