"""The language server, spoken to by a real client: diagnostics, runs, quick fixes, hovers, notebooks, columns."""

from __future__ import annotations

import ast
import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

from autofix.lsp.documents import Columns, of_file, of_notebook
from autofix.render.snapshot import Place
from autofix.syntax.source import split

FIXTURES = Path(__file__).parent.parent / "fixtures" / "first"
TWICE = """
import torch

w = torch.ones(3, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
for step in range(3):
    square = w * w
    first, second = square.sum(), (2 * square).sum()
    optimizer.zero_grad()
    first.backward()
    second.backward()
    optimizer.step()
"""
CLOCKED = TWICE.replace("import torch", "import time\n\nimport torch").replace(
    "w * w", "w * w * (time.perf_counter_ns() % 97)"
)
NEVER_CLEARED = """
import torch

net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(5):
    x = torch.randn(4, 3)
    loss = (net(x) - x[:, :1]).pow(2).mean()
    loss.backward()
    opt.step()
"""
MISSING = (FIXTURES / "missing_file" / "broken.py").read_text("utf-8")
SUSPICIOUS = "import torch; w = torch.zeros(3, requires_grad=True)\n总 = '😀'; w += 1\n"
RUN = "autofix.runAndRepair"
UNTIL = 60.0
"""Seconds after which a client would have given up; what is waited for is there long before."""


SERVER = ClientServerConfig(server_command=[sys.executable, "-m", "autofix", "server"])


@pytest_lsp.fixture(config=SERVER)
async def client(lsp_client: LanguageClient, tmp_path: Path) -> AsyncIterator[None]:
    """An editor that counts columns in UTF-16 and asks about annotated changes by itself."""
    capabilities = client_capabilities("visual-studio-code")
    assert capabilities.workspace is not None
    assert capabilities.workspace.workspace_edit is not None
    capabilities.workspace.workspace_edit.change_annotation_support = types.ChangeAnnotationsSupportOptions()
    await begin(lsp_client, capabilities, tmp_path)
    yield
    await lsp_client.shutdown_session()


@pytest_lsp.fixture(config=SERVER)
async def plain(lsp_client: LanguageClient, tmp_path: Path) -> AsyncIterator[None]:
    """An editor that counts in bytes and knows no annotations."""
    capabilities = client_capabilities("neovim")
    capabilities.general = types.GeneralClientCapabilities(
        position_encodings=[types.PositionEncodingKind.Utf8, types.PositionEncodingKind.Utf16]
    )
    await begin(lsp_client, capabilities, tmp_path)
    yield
    await lsp_client.shutdown_session()


@pytest_lsp.fixture(config=SERVER)
async def silent(lsp_client: LanguageClient) -> AsyncIterator[None]:
    """An editor that has not said anything yet."""
    yield
    await lsp_client.shutdown_session()


async def begin(
    client: LanguageClient, capabilities: types.ClientCapabilities, folder: Path, **options: object
) -> None:  # fmt: skip
    folders = [types.WorkspaceFolder(folder.as_uri(), "project")]
    await client.initialize_session(
        types.InitializeParams(capabilities, workspace_folders=folders, initialization_options=options or None)
    )


@pytest.fixture
def script(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").touch()
    path = tmp_path / "train.py"
    path.write_text("print('what is on disk is not what is run')\n", encoding="utf-8")
    return path


def show(client: LanguageClient, path: Path, text: str, version: int = 1) -> str:
    uri = path.as_uri()
    client.text_document_did_open(
        types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "python", version, text))
    )  # fmt: skip
    return uri


def type_in(client: LanguageClient, uri: str, text: str, version: int) -> None:
    client.text_document_did_change(
        types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(version, uri),
            [types.TextDocumentContentChangeWholeDocument(text)],
        )
    )


async def until(client: LanguageClient, uri: str, wanted: Callable[[list[Any]], bool]) -> list[types.Diagnostic]:
    """The diagnostics of a document, once they are as wanted."""
    async with asyncio.timeout(UNTIL):
        while uri not in client.diagnostics or not wanted(list(client.diagnostics[uri])):
            await client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    return list(client.diagnostics[uri])


def failed(found: list[types.Diagnostic]) -> bool:
    return any(one.severity == types.DiagnosticSeverity.Error for one in found)


async def actions(client: LanguageClient, uri: str, line: int) -> list[types.CodeAction]:
    at = types.Position(line, 0)
    context = types.CodeActionContext([], only=[types.CodeActionKind.QuickFix])
    found = await client.text_document_code_action_async(
        types.CodeActionParams(types.TextDocumentIdentifier(uri), types.Range(at, at), context)
    )
    return [action if isinstance(action, types.CodeAction) else _commanding(action) for action in found or []]


def _commanding(misread: types.Command) -> types.CodeAction:
    """A code action without an edit, which lsprotocol takes for a command whose name is the text of the real one."""
    return types.CodeAction(misread.title, command=types.Command(**ast.literal_eval(misread.command)))


def applied(text: str, edits: list[Any]) -> str:
    """A text after edits whose columns are those of ASCII lines."""
    lines = [*split(text), ""]
    for edit in sorted(
        edits,
        key=lambda edit: (edit.range.start.line, edit.range.start.character),
        reverse=True,
    ):
        start, end = edit.range.start, edit.range.end
        before, after = (
            lines[start.line][: start.character],
            lines[end.line][end.character :],
        )
        lines[start.line : end.line + 1] = [before + edit.new_text + after]
    return "".join(lines)


def text_edits(edit: types.WorkspaceEdit | None, uri: str) -> tuple[int | None, list[Any]]:
    assert edit is not None
    (change,) = edit.document_changes or ()
    assert isinstance(change, types.TextDocumentEdit)
    assert change.text_document.uri == uri
    return change.text_document.version, list(change.edits)


# --- what is known without a run --------------------------------------------------------------


async def test_findings_follow_what_is_typed(client: LanguageClient, script: Path) -> None:
    await findings_follow(client, script, len(" = ''; ") + 1 + 2)  # 总 is one unit, 😀 two


async def test_findings_follow_where_columns_are_bytes(plain: LanguageClient, script: Path) -> None:
    await findings_follow(plain, script, len(" = ''; ") + 3 + 4)


async def findings_follow(client: LanguageClient, script: Path, column: int) -> None:
    uri = show(client, script, SUSPICIOUS)
    (found,) = await until(client, uri, bool)
    assert (found.code, found.source, found.severity) == ("AG301", "autofix", types.DiagnosticSeverity.Warning)
    assert found.range.start == types.Position(1, column)
    at = types.TextDocumentIdentifier(uri)
    page = await client.text_document_hover_async(types.HoverParams(at, types.Position(1, 5)))
    assert page is not None
    assert isinstance(page.contents, types.MarkupContent)
    assert "# AG301 write-to-leaf" in page.contents.value
    assert await client.text_document_hover_async(types.HoverParams(at, types.Position(0, 0))) is None

    type_in(client, uri, SUSPICIOUS.replace("w += 1", "w + 1"), 2)
    await until(client, uri, lambda found: not found)
    type_in(client, uri, "import torch\ndef half(", 3)
    assert await actions(client, uri, 0) == []


async def test_a_lens_offers_to_run_what_uses_torch(client: LanguageClient, script: Path) -> None:
    uri = show(client, script, TWICE)
    other = show(client, script.with_name("other.py"), "print(1)\n")
    params = types.CodeLensParams(types.TextDocumentIdentifier(uri))
    (lens,) = await client.text_document_code_lens_async(params) or []
    assert lens.command is not None
    assert (lens.command.command, [*(lens.command.arguments or ())]) == (RUN, [uri])
    assert not await client.text_document_code_lens_async(types.CodeLensParams(types.TextDocumentIdentifier(other)))


# --- runs -------------------------------------------------------------------------------------


@pytest.mark.torch
@pytest.mark.slow
async def test_run_fix_and_be_done(client: LanguageClient, script: Path) -> None:
    unsaved = "# 注释 😀\n" + TWICE
    uri = show(client, script, unsaved, version=7)
    answer = await client.workspace_execute_command_async(types.ExecuteCommandParams(RUN, arguments=[uri]))
    assert answer["outcome"] == "available"
    (failure,) = await until(client, uri, failed)
    assert failure.message.startswith("RuntimeError: Trying to backward")
    assert unsaved.splitlines()[failure.range.start.line].strip() == "second.backward()"
    reports = next(iter(client.progress_reports.values()))
    assert [type(report).__name__ for report in (reports[0], reports[-1])] == [
        "WorkDoneProgressBegin", "WorkDoneProgressEnd",
    ]  # fmt: skip
    assert len(reports) > 3

    offered = await actions(client, uri, failure.range.start.line)
    assert [action.is_preferred for action in offered] == [True, *[False] * (len(offered) - 1)]
    version, edits = text_edits(offered[0].edit, uri)
    assert version == 7
    fixed = applied(unsaved, edits)
    assert "first.backward(retain_graph=True)" in fixed
    type_in(client, uri, fixed, 8)
    await until(client, uri, lambda found: not found)
    assert await actions(client, uri, failure.range.start.line) == []
    type_in(client, uri, unsaved, 9)  # undone: the failure stands again
    await until(client, uri, failed)
    type_in(client, uri, fixed, 10)
    answer = await client.workspace_execute_command_async(types.ExecuteCommandParams(RUN))
    assert answer["outcome"] == "clean"


@pytest.mark.torch
@pytest.mark.slow
async def test_a_run_that_ends_well_shows_what_it_trains(client: LanguageClient, script: Path) -> None:
    uri = show(client, script, NEVER_CLEARED)
    answer = await client.workspace_execute_command_async(types.ExecuteCommandParams(RUN, arguments=[uri]))
    assert answer["outcome"] == "clean"
    assert answer["audit"].splitlines()[0].startswith("network")
    assert "everything owned learns: " in answer["audit"]
    (fault,) = await until(client, uri, lambda found: any("they add up" in one.message for one in found))
    assert (fault.code, fault.severity) == ("AG501", types.DiagnosticSeverity.Warning)
    assert NEVER_CLEARED.splitlines()[fault.range.start.line].strip() == "opt.step()"
    assert any(answer["audit"] in said.message for said in client.log_messages)
    (offered,) = await actions(client, uri, fault.range.start.line)
    assert (offered.is_preferred, offered.kind) == (False, types.CodeActionKind.QuickFix)  # nothing is done on save
    assert [one.code for one in offered.diagnostics or ()] == ["AG501"]
    assert offered.edit is not None
    assert [one.needs_confirmation for one in (offered.edit.change_annotations or {}).values()] == [True]
    assert "opt.zero_grad()\n    loss.backward()" in applied(NEVER_CLEARED, text_edits(offered.edit, uri)[1])
    assert await actions(client, uri, 0) == []
    type_in(client, uri, NEVER_CLEARED.replace("net(", "net(1.0 * "), 2)  # nothing is known of this text
    await until(client, uri, lambda found: not any("they add up" in one.message for one in found))


@pytest.mark.torch
@pytest.mark.slow
async def test_culprits_are_related_and_unsafe_fixes_ask(client: LanguageClient, script: Path) -> None:
    uri = show(client, script, CLOCKED)
    await client.workspace_execute_command_async(types.ExecuteCommandParams(RUN, arguments=[uri]))
    (failure,) = await until(client, uri, failed)
    related = failure.related_information or []
    assert any("this backward frees the graph" in one.message for one in related)
    assert all(one.location.uri == uri for one in related)
    offered = await actions(client, uri, related[0].location.range.start.line)
    assert not any(action.is_preferred for action in offered)
    unsafe = [action for action in offered if "(unsafe" in action.title]
    assert unsafe
    edit = unsafe[0].edit
    assert edit is not None
    assert [note.needs_confirmation for note in (edit.change_annotations or {}).values()] == [True]
    _, edits = text_edits(edit, uri)
    assert {edit.annotation_id for edit in edits} == set(edit.change_annotations or {})


OPEN = """
import torch

torch.manual_seed(0)
net = torch.nn.Linear(2, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    loss = net(torch.randn(5, 2)).pow(2).mean(1)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


@pytest.mark.apart("long")
@pytest.mark.torch
@pytest.mark.slow
async def test_what_the_code_leaves_open_is_answered_from_the_menu(client: LanguageClient, script: Path) -> None:
    uri = show(client, script, OPEN)
    await client.workspace_execute_command_async(types.ExecuteCommandParams(RUN, arguments=[uri]))
    (failure,) = await until(client, uri, failed)
    assert "?" in failure.message
    offered = await actions(client, uri, failure.range.start.line)
    commands = [one.command for one in offered if one.command is not None and one.command.command == "autofix.answer"]
    assert [one.arguments[1] for one in commands if one.arguments] == ["sum", "mean"]
    await client.workspace_execute_command_async(
        types.ExecuteCommandParams("autofix.answer", arguments=commands[1].arguments)
    )
    assert '= "mean"' in (script.parent / "pyproject.toml").read_text("utf-8")
    (failure,) = await until(client, uri, failed)
    offered = await actions(client, uri, failure.range.start.line)
    assert not [one for one in offered if one.command is not None and one.command.command == "autofix.answer"]
    assert any("(safe" in one.title for one in offered)


@pytest.mark.apart("long")
@pytest.mark.torch
@pytest.mark.slow
async def test_an_editor_without_annotations_is_asked_first(plain: LanguageClient, script: Path) -> None:
    uri = show(plain, script, CLOCKED)
    await plain.workspace_execute_command_async(types.ExecuteCommandParams(RUN, arguments=[uri]))
    (failure,) = await until(plain, uri, failed)
    offered = await actions(plain, uri, failure.range.start.line)
    unsafe = [action for action in offered if "(unsafe" in action.title]
    assert unsafe[0].edit is None
    asked: list[types.ShowMessageRequestParams] = []
    changed: list[types.ApplyWorkspaceEditParams] = []

    @plain.feature(types.WINDOW_SHOW_MESSAGE_REQUEST)
    def ask(params: types.ShowMessageRequestParams) -> types.MessageActionItem | None:
        asked.append(params)
        return (params.actions or [None])[0] if len(asked) > 1 else None

    @plain.feature(types.WORKSPACE_APPLY_EDIT)
    def apply(params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        changed.append(params)
        return types.ApplyWorkspaceEditResult(applied=True)

    command = unsafe[0].command
    assert command is not None
    for expected in (0, 1):
        await plain.workspace_execute_command_async(
            types.ExecuteCommandParams(command.command, arguments=command.arguments)
        )
        assert len(changed) == expected
    assert "Not safe" in asked[0].message


@pytest.mark.torch
async def test_a_run_can_be_cancelled(client: LanguageClient, script: Path) -> None:
    text = "import time\nimport torch\nprint(1)\ntime.sleep(600)\n"
    uri = show(client, script, text)
    begun = asyncio.ensure_future(
        client.workspace_execute_command_async(types.ExecuteCommandParams(RUN, arguments=[uri]))
    )
    async with asyncio.timeout(UNTIL):
        while not any(len(reports) > 2 for reports in client.progress_reports.values()):
            await client.wait_for_notification(types.PROGRESS)
        (token,) = client.progress_reports
        client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(token))
        assert (await begun)["outcome"] == "cancelled"
    assert client.progress_reports[token][-1].message == "cancelled"
    # The same probe serves the next run.
    type_in(client, uri, "import torch\nprint(1)\n", 2)
    answer = await client.workspace_execute_command_async(types.ExecuteCommandParams(RUN, arguments=[uri]))
    assert answer["outcome"] == "clean"


@pytest.mark.torch
async def test_what_cannot_run_is_said(client: LanguageClient, script: Path) -> None:
    uri = show(client, script, MISSING)
    answer = await client.workspace_execute_command_async(types.ExecuteCommandParams(RUN, arguments=[uri]))
    assert answer["outcome"] == "other_failure"
    assert client.messages[-1].type == types.MessageType.Warning
    (script.parent / "pyproject.toml").write_text("[tool.autofix]\npython = 'no-such-python'\n")
    answer = await client.workspace_execute_command_async(types.ExecuteCommandParams(RUN, arguments=[uri]))
    assert answer["outcome"] == "cannot_run"
    assert "no-such-python" in client.messages[-1].message


@pytest.mark.torch
@pytest.mark.slow
async def test_a_notebook_is_one_script(client: LanguageClient, tmp_path: Path) -> None:
    uri = (tmp_path / "explore.ipynb").as_uri()
    texts = [
        "%matplotlib inline\nimport torch",
        "# 二\nw = torch.ones(3, requires_grad=True)\nsquare = w * w",
        "square.sum().backward()\nsquare.sum().backward()\nprint(w.grad)",
    ]
    names = [f"{uri.replace('file:', 'vscode-notebook-cell:')}#{number}" for number in range(len(texts))]
    cells = [types.NotebookCell(types.NotebookCellKind.Code, name) for name in names]
    items = [types.TextDocumentItem(name, "python", 1, text) for name, text in zip(names, texts, strict=True)]
    notebook = types.NotebookDocument(uri, "jupyter-notebook", 1, cells)
    client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(notebook, items))
    answer = await client.workspace_execute_command_async(types.ExecuteCommandParams(RUN, arguments=[names[0]]))
    assert answer["outcome"] == "available"
    await until(client, names[2], failed)
    offered = await actions(client, names[2], 1)
    version, edits = text_edits(offered[0].edit, names[2])
    assert version == 1
    assert applied(texts[2], edits) == texts[2].replace("backward()", "backward(retain_graph=True)", 1)


NETS = """\
import os
import time

import torch

net = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)


def train(step):
    optimizer.zero_grad()
    net(torch.ones(2, 3)).sum().backward()
    optimizer.step()


"""
ENDLESS = f"{NETS}for step in range(10**9):\n    train(step)\nassert step < 5\n"
SKIPPED = f"{NETS}for step in range(10**9):\n    train(step)\nprint(1)\n"
STOOD_IN = f"{NETS}assert torch.load('missing.pt')['epoch'] == 0\n"
MANY = f"{NETS}for _ in range(40):\n    if not os.fork():\n        time.sleep(600)\ntime.sleep(600)\n"
ON_CUDA = f"{NETS}if not torch.cuda.is_available():\n    raise RuntimeError('this needs CUDA')\n"
PLOTS = f"{NETS}assert os.environ['MPLBACKEND'] == 'Agg'\n"


@pytest.mark.torch
@pytest.mark.slow
async def test_every_option_is_honoured(silent: LanguageClient, script: Path) -> None:
    given = {"process-limit": 20, "stand_in": True, "device": "asis", "colour": "never"}
    await begin(silent, client_capabilities("visual-studio-code"), script.parent, **given)
    assert any("no option colour" in message.message for message in silent.log_messages)
    uri = show(silent, script, "")
    line = SKIPPED.count("\n")
    for version, (text, setting, outcome, said) in enumerate(
        [
            (PLOTS, "", "clean", ""),
            (STOOD_IN, "", "clean", ""),
            (ENDLESS, "shorten = 3", "clean", ""),
            (SKIPPED, f"skip-to = '{line}'", "clean", ""),
            (MANY, "", "processes_exceeded", "--process-limit"),
            (ON_CUDA, "", "other_failure", ""),
            (PLOTS, f"skip-to = 'nowhere.py:{line}'", "cannot_run", "nowhere.py"),
        ],
        start=2,
    ):
        (script.parent / "pyproject.toml").write_text(f"[tool.autofix]\n{setting}\n")
        type_in(silent, uri, text, version)
        answer = await silent.workspace_execute_command_async(types.ExecuteCommandParams(RUN, arguments=[uri]))
        assert (answer["outcome"], said in answer["message"]) == (outcome, True), (setting, answer)


# --- texts and columns ------------------------------------------------------------------------


@pytest.mark.parametrize(("encoding", "column"), [("utf-8", 9), ("utf-16", 5), ("utf-32", 4)])
def test_columns_count_what_was_agreed(encoding: str, column: int) -> None:
    columns = Columns(encoding)
    assert columns.position(("x='😀é'\n",), 0, 4) == types.Position(0, column - (2 if encoding == "utf-8" else 0))
    assert columns.position(("x\n", "y"), 2, 0) == types.Position(1, 1)
    assert columns.position(("x\n",), 1, 0) == types.Position(1, 0)


def test_only_the_editors_line_ends_end_a_line() -> None:
    assert split("a\x0cb\u2028c\r\nd\re\n") == ("a\x0cb\u2028c\r\n", "d\r", "e\n")


def test_a_file_is_read_in_the_encoding_it_declares(tmp_path: Path) -> None:
    text = "# coding: gbk\nname = '梯度'\n"
    assert of_file("file:///x.py", tmp_path / "x.py", 1, text).data == text.encode("gbk")


def test_what_only_ipython_understands_is_left_alone(tmp_path: Path) -> None:
    cells = [("a", 1, "!ls\nx = 1"), ("b", 1, ""), ("c", 1, "text = '''\n%d'''")]
    notebook = of_notebook("nb", tmp_path / "nb.ipynb", cells)
    lines = notebook.data.decode().splitlines()
    assert [lines[part.first : part.first + len(part.lines)] for part in notebook.parts] == [
        ["pass", "x = 1"], [], ["text = '''", "%d'''"],
    ]  # fmt: skip
    assert notebook.text_edit(Place(notebook.path, 2, 1, 3, 1), "x()\n", Columns(None)) is None
    assert notebook.text_edit(Place(notebook.path, 3, 1, 4, 1), "x()\n", Columns(None)) is not None


def test_an_edit_at_the_end_of_a_cell_brings_its_own_line_end(tmp_path: Path) -> None:
    notebook = of_notebook("nb", tmp_path / "nb.ipynb", [("a", 1, "x = 1"), ("b", 2, "y = 2")])
    columns = Columns(None)
    for line, uri, text in ((3, "a", "x = 1"), (5, "b", "y = 2")):
        made = notebook.text_edit(Place(notebook.path, line, 1, line, 1), "z = 3\n", columns)
        assert made is not None
        assert (made[0].uri, applied(text, [made[1]])) == (uri, f"{text}\nz = 3")
    made = notebook.text_edit(Place(notebook.path, 2, 1, 3, 1), "x = 3\n", columns)
    assert made is not None
    assert applied("x = 1", [made[1]]) == "x = 3"
    assert notebook.text_edit(Place(notebook.path, 2, 1, 5, 1), "", columns) is None
