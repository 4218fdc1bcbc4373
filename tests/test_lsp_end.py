"""The end of the language server, whoever brings it about: at once, in silence, and nothing is left running."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

pytestmark = pytest.mark.torch
RESTING = "import torch\nprint(1)\n"
RUNNING = "import time\nimport torch\n\nopen({mark!r}, 'w').close()\ntime.sleep(600)\n"


class Editor:
    """An editor that speaks the protocol itself, so that it can also stop speaking it."""

    def __init__(self, folder: Path) -> None:
        self.server = subprocess.Popen(
            [sys.executable, "-m", "autofix", "server"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )  # fmt: skip
        assert self.server.stdin is not None
        assert self.server.stdout is not None
        self.says, self.hears = self.server.stdin, self.server.stdout

    def tell(self, method: str, number: int | None = None, **params: Any) -> None:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
        data = json.dumps(message if number is None else message | {"id": number}).encode()
        self.says.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        self.says.flush()

    def answer(self, number: int) -> dict[str, Any]:
        """The answer to a request; what comes before it is left aside."""
        while True:
            size = 0
            while line := self.hears.readline().strip():
                name, _, value = line.partition(b":")
                size = int(value) if name.lower() == b"content-length" else size
            message: dict[str, Any] = json.loads(self.hears.read(size))
            if message.get("id") == number and "method" not in message:
                return message


def shut_down(editor: Editor) -> None:
    editor.tell("shutdown", 3)
    assert editor.answer(3)["result"] is None
    editor.tell("exit")


def leave_at_once(editor: Editor) -> None:
    editor.tell("shutdown", 3)
    editor.says.close()


def stop_reading(editor: Editor) -> None:
    editor.hears.close()
    editor.says.close()


WAYS: dict[str, tuple[Callable[[Editor], None], int]] = {
    "shutdown and exit": (shut_down, 0),
    "exit alone": (lambda editor: editor.tell("exit"), 1),
    "the editor is gone": (lambda editor: editor.says.close(), 0),
    "the editor does not wait": (leave_at_once, 0),
    "the editor reads no more": (stop_reading, 0),
    "SIGTERM": (lambda editor: editor.server.terminate(), 128 + signal.SIGTERM),
    "SIGINT": (lambda editor: editor.server.send_signal(signal.SIGINT), 128 + signal.SIGINT),
}


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[Editor]:
    (tmp_path / "pyproject.toml").touch()
    made = Editor(tmp_path)
    made.tell("initialize", 1, processId=None, rootUri=tmp_path.as_uri(), capabilities={})
    made.answer(1)
    made.tell("initialized")
    yield made
    made.server.kill()
    made.server.wait()
    for pipe in (made.says, made.hears, made.server.stderr):
        if pipe is not None:
            pipe.close()


def run(editor: Editor, script: Path, text: str) -> None:
    document = {"uri": script.as_uri(), "languageId": "python", "version": 1, "text": text}
    editor.tell("textDocument/didOpen", textDocument=document)
    editor.tell("workspace/executeCommand", 2, command="autofix.runAndRepair", arguments=[script.as_uri()])


def lasting(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Those that are still there a while later."""
    return psutil.wait_procs(processes, timeout=30)[1]


@pytest.mark.parametrize(
    ("way", "busy"),
    [
        *(pytest.param(way, True, marks=[pytest.mark.apart("long")] * (at % 3 > 0)) for at, way in enumerate(WAYS)),
        ("shutdown and exit", False),
        pytest.param("SIGTERM", False, marks=pytest.mark.apart("long")),
    ],
)
def test_it_ends_in_silence_and_leaves_nothing(editor: Editor, tmp_path: Path, way: str, busy: bool) -> None:
    leave, status = WAYS[way]
    if busy:
        # On the rung `none` a run's files are real, so that the test sees when it is under way.
        (tmp_path / "pyproject.toml").write_text("[tool.autofix]\nisolation = 'none'\n")
        mark = tmp_path / "mark"
        run(editor, tmp_path / "train.py", RUNNING.format(mark=str(mark)))
        while not mark.exists():
            assert editor.server.poll() is None
            time.sleep(0.05)
    else:
        run(editor, tmp_path / "train.py", RESTING)
        assert editor.answer(2)["result"]["outcome"] == "clean"
    children = psutil.Process(editor.server.pid).children(recursive=True)
    assert children
    leave(editor)
    assert editor.server.wait(60) == status
    assert lasting(children) == []
    assert editor.server.stderr is not None
    assert editor.server.stderr.read() == b""
