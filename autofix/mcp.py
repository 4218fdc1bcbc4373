"""The tools for coding agents: a Model Context Protocol server on standard input and output.

It stays within its roots: those of `autofix mcp --root`, else those that the client names, else the folder it was
started in. Nothing is written unless `fix` is asked to.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import unquote, urlsplit

import anyio
import anyio.from_thread
import anyio.to_thread
from mcp.server.mcpserver import Context, ListRoots, MCPServer, Resolve
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, ListRootsResult, TextContent, ToolAnnotations
from pydantic import Field

from autofix import __version__, api
from autofix.experiments.runner import Stop
from autofix.render import answers
from autofix.render.answers import Answer, Findings

INSTRUCTIONS = """\
autofix repairs PyTorch programs that die in autograd and proves the repair: it runs the program in a fence and compares
the gradients that each optimizer used with those that the code describes.
When a PyTorch program fails in backward(), or its error speaks of in-place, a leaf, retain_graph or "does not require
grad": call fix, and apply a fix whose applicability is safe.
After an edit of your own that makes such a failure go away: call verify with against="HEAD" (or with the edited files,
or a patch). Keep the edit only if the outcome is safe: an edit that runs may still train nothing.
Do not add retain_graph=True, detach() or .data without verify."""


def roots(context: Context) -> ListRoots | None:
    """Asks a client that has roots for them."""
    able = context.client_capabilities
    return ListRoots() if able is not None and able.roots is not None else None


Roots = Annotated[ListRootsResult | None, Resolve(roots)]
Script = Annotated[str, Field(description="The script to run, such as train.py; empty with module or pytest.")]
Arguments = Annotated[list[str] | None, Field(description="The script's own arguments, such as ['--epochs', '1'].")]
Module = Annotated[str, Field(description="In place of script: the module of `python -m`.")]
Node = Annotated[str, Field(description="In place of script: a test, such as tests/test_train.py::test_step.")]
Cwd = Annotated[str, Field(description="The folder to run it in; without it the first root.")]
Python = Annotated[str, Field(description="The interpreter or environment with torch; found by itself without it.")]
Seconds = Annotated[float | None, Field(description="The time limit of each run (120).", gt=0)]
StandIn = Annotated[bool, Field(description="Random data for data sets and files that are missing here.")]
Shorten = Annotated[int | None, Field(description="End each training loop after so many iterations.", ge=1)]
Revision = Annotated[str, Field(description="HEAD: the edit is what was changed on disk since this git revision.")]
Contents = Annotated[dict[str, str] | None, Field(description="The edit as whole files: new contents by path.")]
Patch = Annotated[str, Field(description="The edit as a unified diff of the files on disk.")]
Judged = Annotated[CallToolResult, Answer]


def serve(allowed: Sequence[Path], *, network: bool) -> int:
    """Speak the protocol on standard input and output until the agent ends the session."""
    make(allowed, network=network).run("stdio")
    return 0


def make(allowed: Sequence[Path], *, network: bool) -> MCPServer[Any]:
    """A server with the four tools."""
    desk = _Desk(allowed, network=network)
    server: MCPServer[Any] = MCPServer(
        "autofix", version=__version__, instructions=INSTRUCTIONS, lifespan=desk.lifespan, log_level="WARNING"
    )
    looks = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    writes = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
    server.tool(annotations=writes)(desk.fix)
    server.tool(annotations=looks)(desk.verify)
    server.tool(annotations=looks)(desk.check)
    server.tool(annotations=looks)(desk.explain)
    return server


class _Desk:
    """What the tools share: interpreters that stay warm, and the roots."""

    def __init__(self, allowed: Sequence[Path], *, network: bool) -> None:
        self._allowed = [path.resolve() for path in allowed]
        self._network = network
        self._session = api.Session()

    @contextlib.asynccontextmanager
    async def lifespan(self, _: MCPServer[Any]) -> AsyncIterator[None]:
        """While the server runs; then the interpreters end."""
        try:
            yield
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self._session.close)

    async def fix(
        self, context: Context, named: Roots, script: Script = "", args: Arguments = None,
        write: Annotated[bool, Field(description="Apply the best safe fix; else nothing is written.")] = False,
        module: Module = "", pytest: Node = "", cwd: Cwd = "", python: Python = "", time_limit: Seconds = None,
        stand_in: StandIn = False, shorten: Shorten = None,
    ) -> Judged:  # fmt: skip
        """Run a PyTorch program that dies in autograd and find edits that are proved to cure it, best first.

        Each fix has been run, and its gradients were compared with those that the code describes. `advice` says in
        sentences what was found; `fixes[0].diff` is a patch; `applicability` safe means proved.
        """
        options = self._options(named, script, module=module, pytest=pytest, cwd=cwd, python=python,
                                time_limit=time_limit, stand_in=stand_in, shorten=shorten)  # fmt: skip
        return await _beside(context, lambda **more: self._session.fix(
            options.pop("script"), args or (), write=write, **options, **more))  # fmt: skip

    async def verify(
        self, context: Context, named: Roots, script: Script = "", args: Arguments = None,
        against: Revision = "", files: Contents = None, patch: Patch = "",
        module: Module = "", pytest: Node = "", cwd: Cwd = "", python: Python = "", time_limit: Seconds = None,
        stand_in: StandIn = False, shorten: Shorten = None,
    ) -> Judged:  # fmt: skip
        """Judge an edit of a program that died in autograd: does every parameter still get the gradient of the code?

        Give the edit by exactly one of against, files and patch. Outcome safe: keep it. unsafe: `advice` says for which
        parameter what changed. still_failing: it does not get past the failure. clean: the unedited program does not
        fail, so nothing was judged.
        """
        options = self._options(named, script, module=module, pytest=pytest, cwd=cwd, python=python,
                                time_limit=time_limit, stand_in=stand_in, shorten=shorten)  # fmt: skip
        return await _beside(context, lambda **more: self._session.verify(
            options.pop("script"), args or (), files=files, patch=patch, against=against, **options, **more,
        ))  # fmt: skip

    async def check(
        self, named: Roots,
        paths: Annotated[list[str] | None, Field(description="Files or folders; without them the first root.")] = None,
        select: Annotated[list[str] | None, Field(description="Look only for these codes.")] = None,
        ignore: Annotated[list[str] | None, Field(description="Do not look for these codes.")] = None,
    ) -> Annotated[CallToolResult, Findings]:  # fmt: skip
        """Look for suspicious autograd code in Python files without running anything. Findings are not verified."""
        inside = self._roots(named)
        places = [str(_within(inside, path)) for path in paths or ["."]]
        with _meant():
            found = await anyio.to_thread.run_sync(lambda: api.check(*places, select=select or (), ignore=ignore or ()))
        lines = [f"{one.file}:{one.line}:{one.column}: {one.code} {one.message}" for one in found.findings]
        said = [f"{found.files} files read, {len(lines)} found", *lines, *found.problems]
        return _result("\n".join(said), answers.plain(found))

    async def explain(
        self, code: Annotated[str, Field(description="A code or name, such as AG201 or left-out-of-graph.")]
    ) -> str:  # fmt: skip
        """The page about a rule, about what makes an edit unsafe, or about a kind of failure, with examples."""
        with _meant():
            return api.explain(code)

    def _options(self, named: ListRootsResult | None, script: str, *, cwd: str, **options: Any) -> dict[str, Any]:
        """What a run is given: only what was said, all of it within the roots."""
        inside = self._roots(named)
        folder = _within(inside, cwd or ".")
        program = str(_within(inside, folder / script)) if script else ""
        file = options["pytest"].partition("::")[0]
        if file:
            _within(inside, folder / file)
        root = next(root for root in inside if folder.is_relative_to(root))
        given = {name: value for name, value in options.items() if value}
        return {**given, "script": program, "cwd": folder, "root": root, "network": self._network, "isolation": "auto"}

    def _roots(self, named: ListRootsResult | None) -> list[Path]:
        if self._allowed:
            return self._allowed
        uris = [urlsplit(str(root.uri)) for root in (named.roots if named is not None else ())]
        return [Path(unquote(uri.path)).resolve() for uri in uris if uri.scheme == "file"] or [Path.cwd()]


def _within(inside: Sequence[Path], path: str | Path) -> Path:
    """The real path, seen from the first root; raises ToolError where it leaves them all."""
    found = (inside[0] / path).resolve()
    if not any(found.is_relative_to(root) for root in inside):
        raise ToolError(f"{path} is outside of the roots: {', '.join(map(str, inside))}")
    return found


async def _beside(context: Context, work: Callable[..., Answer]) -> CallToolResult:
    """Some work in a thread, with progress; it ends where the client cancels its call."""
    stop, count = Stop(), 0

    def tell(text: str) -> None:
        nonlocal count
        count += 1
        if not stop.is_set():
            anyio.from_thread.run(context.report_progress, count, None, text)

    try:
        with _meant():
            found = await anyio.to_thread.run_sync(lambda: work(progress=tell, stop=stop), abandon_on_cancel=True)
    except anyio.get_cancelled_exc_class():
        stop.set()
        raise
    said = [str(found), *(found.fixes[0].diff for _ in found.fixes[:1] if found.fixes[0].rules)]
    return _result("\n\n".join(said), answers.plain(found))


@contextlib.contextmanager
def _meant() -> Iterator[None]:
    """What cannot be meant is told to the agent: the error's line says what to do."""
    try:
        yield
    except ValueError as error:
        raise ToolError(str(error)) from None


def _result(text: str, structured: dict[str, Any]) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=structured)
