"""The tools for coding agents, called by the protocol's own client over standard input and output."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import StdioServerParameters, stdio_client
from mcp.client.client import Client
from sampled import one_in

from autofix.mcp import INSTRUCTIONS

BROKEN = (Path(__file__).parent.parent / "fixtures" / "first" / "gan_two_step" / "broken.py").read_text("utf-8")
STARVED = BROKEN.replace("lossD.backward()", "lossD.backward(retain_graph=True)").replace("(g + d)", "(g + d.detach())")
NOW, BEFORE = "auto", "legacy"
"""How a client greets: as the newest protocol says, or with the handshake of those before it."""


@asynccontextmanager
async def agent(folder: Path, *words: str, mode: str = NOW, roots: list[Path] | None = None) -> AsyncIterator[Client]:
    """A client and the server that it started in `folder`; with `roots` it has some to name."""

    async def named(_: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=root.as_uri()) for root in roots or ()])

    server = StdioServerParameters(command=sys.executable, args=["-m", "autofix", "mcp", *words], cwd=folder)
    callback = named if roots is not None else None
    async with Client(stdio_client(server), list_roots_callback=callback, mode=mode) as client:
        yield client


def said(result: types.CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, types.TextContent))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "train.py").write_text(BROKEN, "utf-8")
    for words in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@b.org", "commit", "-qm", "1"],
    ):
        subprocess.run(["git", *words], cwd=folder, check=True)  # noqa: S607
    return folder


async def test_an_agent_is_told_what_the_tools_do_and_answer(project: Path) -> None:
    async with agent(project) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {"fix", "verify", "check", "explain"}
        assert "verify" in (client.instructions or "")
    for name, tool in tools.items():
        assert tool.description
        assert tool.output_schema is not None
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is (name != "fix")
        assert all("description" in one for one in tool.input_schema["properties"].values())
    assert {"outcome", "advice", "fixes", "culprits"} <= tools["verify"].output_schema["properties"].keys()
    assert "named" not in tools["fix"].input_schema["properties"]


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.parametrize("mode", one_in(2, [NOW, BEFORE]))
async def test_an_agent_asks_for_a_fix_and_has_its_own_edit_judged(project: Path, tmp_path: Path, mode: str) -> None:
    told: list[str | None] = []

    async def heard(_done: float, _total: float | None, message: str | None) -> None:
        told.append(message)

    async with agent(tmp_path, mode=mode, roots=[project]) as client:
        found = await client.call_tool("fix", {"script": "train.py"}, progress_callback=heard)
        assert not found.is_error, said(found)
        answer = found.structured_content or {}
        assert (answer["outcome"], answer["fixes"][0]["applicability"]) == ("available", "safe")
        assert answer["fixes"][0]["diff"] in said(found)
        assert "running the script" in told
        assert (project / "train.py").read_text("utf-8") == BROKEN

        (project / "train.py").write_text(STARVED, "utf-8")
        judged = await client.call_tool("verify", {"script": "train.py", "against": "HEAD"})
        assert (judged.structured_content or {})["outcome"] == "unsafe"
        assert "G.weight gets a gradient of norm" in said(judged)

        (project / "train.py").write_text(BROKEN, "utf-8")
        judged = await client.call_tool("verify", {"script": "train.py", "patch": answer["fixes"][0]["diff"]})
        assert (judged.structured_content or {})["outcome"] == "safe"
        assert (project / "train.py").read_text("utf-8") == BROKEN

        written = await client.call_tool("fix", {"script": "train.py", "write": True})
        assert (written.structured_content or {})["outcome"] == "fixed"
        assert (project / "train.py").read_text("utf-8") != BROKEN


@pytest.mark.parametrize("how", ["client", "command", "folder"])
async def test_nothing_outside_of_the_roots_is_run_or_read(project: Path, tmp_path: Path, how: str) -> None:
    (tmp_path / "other.py").write_text("import torch\n", "utf-8")
    (project / "link.py").symlink_to(tmp_path / "other.py")
    words = ["--root", str(project)] if how == "command" else []
    roots = {"client": [project], "command": [tmp_path], "folder": None}[how]
    async with agent(project if how == "folder" else tmp_path, *words, roots=roots) as client:
        for asked in (
            ("fix", {"script": str(tmp_path / "other.py")}), ("fix", {"script": "../other.py"}),
            ("fix", {"script": "link.py"}), ("verify", {"script": "train.py", "cwd": "..", "against": "HEAD"}),
            ("fix", {"pytest": "../other.py::test"}), ("check", {"paths": [str(tmp_path)]}),
        ):  # fmt: skip
            refused = await client.call_tool(*asked)
            assert refused.is_error
            assert "is outside of the roots" in said(refused)
        checked = await client.call_tool("check", {})
        assert (checked.structured_content or {})["files"] == 1


async def test_what_cannot_be_meant_comes_back_as_one_line(project: Path) -> None:
    async with agent(project) as client:
        for name, arguments, line in (
            ("fix", {"script": "absent.py"}, "there is no such file"),
            ("verify", {"script": "train.py"}, "in one way: files, patch or against"),
            ("verify", {"script": "train.py", "against": "HEAD"}, "no edit to judge"),
            ("explain", {"code": "AG999"}, "nothing is called AG999"),
        ):
            refused = await client.call_tool(name, arguments)
            assert refused.is_error
            assert line in said(refused)
        page = await client.call_tool("explain", {"code": "AG201"})
        assert said(page).startswith("# AG201")


@pytest.mark.torch
async def test_a_call_can_be_cancelled_and_the_next_one_is_answered(project: Path) -> None:
    (project / "endless.py").write_text("import time\nimport torch\ntime.sleep(600)\n", "utf-8")
    running = asyncio.Event()

    async def heard(_done: float, _total: float | None, message: str | None) -> None:
        if message == "running the script":
            running.set()

    async with agent(project) as client:
        call = asyncio.ensure_future(client.call_tool("fix", {"script": "endless.py"}, progress_callback=heard))
        await asyncio.wait_for(running.wait(), 60)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        (project / "short.py").write_text("import torch\n", "utf-8")
        answer = await asyncio.wait_for(client.call_tool("fix", {"script": "short.py"}), 60)
        assert (answer.structured_content or {})["outcome"] == "clean"


def test_without_the_sdk_it_says_what_to_install(tmp_path: Path) -> None:
    code = "import sys; sys.modules['mcp'] = None; from autofix.cli import main; raise SystemExit(main(['mcp']))"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "pip install 'autofix[mcp]'" in done.stderr


PAGE = (Path(__file__).parent.parent / "docs" / "agents.md").read_text("utf-8")


def configured() -> list[Any]:
    """The command lines of the configurations that the page about agents gives."""
    found = []
    for kind, text in re.findall(r"```(json|toml)\n(.*?)```", PAGE, re.DOTALL):
        table = json.loads(text)["mcpServers"] if kind == "json" else tomllib.loads(text)["mcp_servers"]
        found.append(pytest.param([table["autofix"]["command"], *table["autofix"]["args"]], id=f"{kind}{len(found)}"))
    return found


@pytest.mark.parametrize("words", configured())
async def test_each_configuration_of_the_page_starts_the_server(words: list[str], project: Path) -> None:
    command = Path(sys.executable).with_name(words[0])
    arguments = [word.replace("${workspaceFolder}", str(project)) for word in words[1:]]
    server = StdioServerParameters(command=str(command), args=arguments, cwd=project)
    async with Client(stdio_client(server)) as client:
        found = (await client.call_tool("check", {})).structured_content
        assert (found["files"], [one["code"] for one in found["findings"]], found["problems"]) == (1, ["AG202"], [])


def test_the_page_has_three_configurations_and_the_instructions() -> None:
    assert len(configured()) == 3
    assert f"```text\n{INSTRUCTIONS}\n```" in PAGE
