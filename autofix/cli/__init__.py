"""The command line: reads what was typed, calls the pipeline, shows the report, ends with its status.

Imports nothing heavy: each command imports what it needs when it runs. Bad input is one line on standard
error and status 2, never a traceback.
"""

from __future__ import annotations

import errno
import io
import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from autofix import __version__
from autofix.cli import options as opt
from autofix.cli.launcher import TYPED, Launcher

CANNOT, INTERRUPTED = 2, 130
# The class of every complaint about what was typed; typer shows only this descendant of it.
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]

app = typer.Typer(
    help="Repairs PyTorch scripts that die in autograd, and proves the gradients of each repair by running it.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        from autofix.commands import surroundings

        sys.stdout.write(f"autofix {__version__} (Python {platform.python_version()})\n{surroundings.found()}")
        raise typer.Exit


@app.callback()
def _autofix(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command(cls=Launcher)
def fix(
    context: typer.Context,
    words: opt.Words = None, module: opt.Module = None, write: opt.Write = None, diff: opt.Diff = None,
    unsafe_fixes: opt.Unsafe = None, select: opt.Select = None, ignore: opt.Ignore = None, python: opt.Python = None,
    passes: opt.Passes = None, budget: opt.Budget = None, time_limit: opt.Time = None, memory_limit: opt.Memory = None,
    output_limit: opt.Output = None, network: opt.Network = None, isolation: opt.Isolation = None,
    output_format: opt.Format = None, quiet: opt.Quiet = None, verbose: opt.Verbose = None, color: opt.Color = None,
    console: opt.Console = None, pytest: opt.Node = None, process_limit: opt.Processes = None,
    device: opt.Device = None, stand_in: opt.StandIn = None, shorten: opt.Shorten = None, skip_to: opt.SkipTo = None,
    reading: opt.Reading = None, interactive: opt.Interactive = False, full_paths: opt.FullPaths = None,
    report: opt.Page = None, pin: opt.PinTo = None,
) -> int:  # fmt: skip
    """Run a failing script, find why it dies in autograd, and show the smallest edit that is proved to cure it.

    Options stand before SCRIPT; everything behind it is the script's. No file of the script is
    changed without --write.

    Status: 0 nothing to do or fixed, 1 a fix exists and was not written, 2 cannot work, 3 no fix found.
    """
    given = locals()
    from autofix.commands.opening import opened

    with opened(given) as opening:
        from autofix.commands import repair

        return repair.fix(given, context.meta[TYPED], opening)


@app.command(cls=Launcher)
def run(
    context: typer.Context, words: opt.Words = None, module: opt.Module = None, write: opt.Write = None,
    unsafe_fixes: opt.Unsafe = None, select: opt.Select = None, ignore: opt.Ignore = None, python: opt.Python = None,
    passes: opt.Passes = None, budget: opt.Budget = None, time_limit: opt.Time = None, memory_limit: opt.Memory = None,
    output_limit: opt.Output = None, process_limit: opt.Processes = None, isolation: opt.Isolation = None,
    network: opt.Network = None, output_format: opt.Format = None, quiet: opt.Quiet = None,
    verbose: opt.Verbose = None, color: opt.Color = None, console: opt.Console = None, pytest: opt.Node = None,
    device: opt.Device = None, stand_in: opt.StandIn = None, shorten: opt.Shorten = None, skip_to: opt.SkipTo = None,
    reading: opt.Reading = None, report: opt.Page = None,
) -> int:  # fmt: skip
    """Run a program for real, at full speed and with no fence; when it dies in autograd, go on as `fix` does.

    Status: the program's own, unless it died in autograd: then that of `fix`.
    """
    given = locals()
    from autofix.commands import repair

    return repair.run(given, context.meta[TYPED])


@app.command(cls=Launcher)
def verify(
    context: typer.Context, words: opt.Words = None, fixed: opt.Fixed = None, patch: opt.Patches = None,
    module: opt.Module = None, python: opt.Python = None, passes: opt.Passes = None, budget: opt.Budget = None,
    time_limit: opt.Time = None, memory_limit: opt.Memory = None, output_limit: opt.Output = None,
    process_limit: opt.Processes = None, network: opt.Network = None, isolation: opt.Isolation = None,
    output_format: opt.Format = None, quiet: opt.Quiet = None, verbose: opt.Verbose = None, color: opt.Color = None,
    console: opt.Console = None, pytest: opt.Node = None, device: opt.Device = None, stand_in: opt.StandIn = None,
    shorten: opt.Shorten = None, skip_to: opt.SkipTo = None, full_paths: opt.FullPaths = None, report: opt.Page = None,
    reading: opt.Reading = None, pin: opt.PinTo = None, steps: opt.Further = None,
) -> int:  # fmt: skip
    """Judge an edit that somebody else made: does the script get past the failure with the same gradients?

    Options stand before SCRIPT; everything behind it is the script's.

    Status: 0 safe, 1 unsafe or unknown, 2 cannot work, 3 still failing.
    """
    given = locals()
    from autofix.commands.opening import opened

    with opened(given) as opening:
        from autofix.commands import verify

        return verify.verify(given, context.meta[TYPED], opening)


@app.command(cls=Launcher)
def audit(
    context: typer.Context, words: opt.Words = None, module: opt.Module = None,
    select: Annotated[list[str] | None, opt.option("--select", metavar="CODE", text="Tell only of these.")] = None,
    ignore: Annotated[list[str] | None, opt.option("--ignore", metavar="CODE", text="Do not tell of these.")] = None,
    write: Annotated[bool, opt.option("--write", text="Apply the edit that mends what was found.")] = False,
    diff: opt.Diff = None, unsafe_fixes: opt.Unsafe = None, python: opt.Python = None,
    budget: Annotated[
        str | None, opt.option("--budget", metavar="SECONDS", text="How long to watch, from the first backward on (5).")
    ] = None,
    time_limit: opt.Time = None, memory_limit: opt.Memory = None, output_limit: opt.Output = None,
    process_limit: opt.Processes = None, network: opt.Network = None, isolation: opt.Isolation = None,
    output_format: opt.Format = None, quiet: opt.Quiet = None, verbose: opt.Verbose = None, color: opt.Color = None,
    console: opt.Console = None, pytest: opt.Node = None, device: opt.Device = None, stand_in: opt.StandIn = None,
    shorten: opt.Shorten = None, skip_to: opt.SkipTo = None, full_paths: opt.FullPaths = None, report: opt.Page = None,
) -> int:  # fmt: skip
    """Run a script that does not crash for a few seconds, and say who trains what and what goes wrong.

    An edit that is proved to mend it is shown, and written with --write --unsafe-fixes: the script ran as it stands.
    Options stand before SCRIPT; everything behind it is the script's.
    `# autofix: AG525 meant` on a line silences what is found there.

    Status: 0 no fault seen, 1 a fault found, 2 cannot work.
    """
    given = locals()
    from autofix.commands.opening import opened

    with opened({**given, "select": None, "ignore": None}) as opening:
        from autofix.commands import audit

        return audit.audit(given, context.meta[TYPED], opening)


@app.command()
def check(
    paths: Annotated[list[str] | None, typer.Argument(metavar="PATH...", show_default=False)] = None,
    select: Annotated[
        list[str] | None, opt.option("--select", metavar="CODE", text="Look only for these.", values=opt.codes)
    ] = None,
    ignore: Annotated[
        list[str] | None, opt.option("--ignore", metavar="CODE", text="Do not look for these.", values=opt.codes)
    ] = None,
    exclude: Annotated[
        list[str] | None, opt.option("--exclude", metavar="PATTERN", text="Leave out files or folders, such as docs/*.")
    ] = None,
    baseline: Annotated[
        str | None, opt.option("--baseline", metavar="FILE", text="Say nothing about the findings in this file.")
    ] = None,
    write_baseline: Annotated[
        bool, opt.option("--write-baseline", text="Write what is found to the baseline instead of printing it.")
    ] = False,
    exit_zero: Annotated[bool, opt.option("--exit-zero", text="End with status 0 whatever is found.")] = False,
    jobs: Annotated[int, typer.Option("--jobs", metavar="N", min=0, help="Processes; 0 is one for each core (0).")] = 0,
    output_format: opt.Format = "text",
    quiet: Annotated[bool, opt.option("-q", "--quiet", text="No summary.")] = False,
) -> int:  # fmt: skip
    """Look for suspicious sites without running anything; PATH is a file or a folder, else the current folder.

    Findings are unverified: `autofix fix` runs a script and proves what it says. Files that git ignores are not
    read; `# autofix: ignore[CODE]` on a line silences it.

    Status: 0 nothing found, 1 something found, 2 cannot work.
    """
    given = locals()
    from autofix.commands import check as command_check

    return command_check.run(given)


@app.command()
def batch(
    paths: opt.Paths = None, out: opt.Out = "autofix-batch", write: opt.Everywhere = False,
    unsafe_fixes: opt.UnsafePatches = False, branch: opt.Branch = "",
    author: opt.Author = "autofix <autofix@localhost>", check: opt.Gate = False, pytest: opt.TestFiles = False,
    rounds: opt.Rounds = 50, jobs: opt.Jobs = 0, engine: opt.EngineName = "local", address: opt.Address = "",
    gpus: opt.Gpus = 0.0, limit: opt.Limit = 0, sample: opt.Sample = "", fail_fast: opt.FailFast = False,
    retry_failed: opt.RetryFailed = False, select: opt.Select = None, ignore: opt.Ignore = None,
    python: opt.Python = None, passes: opt.Passes = None, budget: opt.Budget = None, time_limit: opt.BatchTime = None,
    memory_limit: opt.BatchMemory = None, output_limit: opt.Output = None, process_limit: opt.Processes = None,
    network: opt.Network = None, isolation: opt.BatchIsolation = None, device: opt.Device = None,
    stand_in: opt.StandIn = None, shorten: opt.Shorten = None, skip_to: opt.SkipTo = None, reading: opt.Reading = None,
    quiet: opt.NoProgress = False,
) -> int:  # fmt: skip
    """Bring many repositories over: run what trains in each, and make a patch and a report of what was repaired.

    PATHS are repositories, folders full of them, globs, scripts, lists (.txt), manifests (.toml) or addresses for git.
    The same command goes on after an interruption.

    Status: 0 nothing fails in autograd, 1 fixes wait to be applied, 2 cannot work, 3 failures without a fix.
    """
    given = locals()
    from autofix.commands import batch as command_batch

    return command_batch.run(given)


@app.command()
def rules(
    output_format: Annotated[
        str, opt.option("--output-format", metavar="FORMAT", text="text or json (text).", values=("text", "json"))
    ] = "text",
) -> int:
    """List the rules, which make edits, and the finders of what has no edit."""
    from autofix.render import catalogue
    from autofix.search import registry

    if output_format not in {"text", "json"}:
        raise typer.BadParameter(f"--output-format {output_format}: rules are listed as text or json")
    shown = catalogue.listed_json if output_format == "json" else catalogue.listed
    sys.stdout.write(shown(registry.rules(), registry.found_only()))
    return 0


@app.command()
def explain(
    name: Annotated[
        str, typer.Argument(metavar="[NAME]", help="A code or a name.", show_default=False, autocompletion=opt.pages)
    ] = "",
) -> int:
    """Explain what a report names: a rule, a finder, what makes an edit unsafe, a kind of failure.

    Without NAME, all of them are listed.
    """
    from autofix.render import catalogue

    try:
        page = catalogue.explained(name) if name else catalogue.names()
    except ValueError as error:
        return _complain(str(error))
    sys.stdout.write(page)
    return 0


@app.command()
def ide(
    editor: Annotated[
        str, typer.Argument(metavar="EDITOR", help="pycharm or vscode.", autocompletion=lambda: ["pycharm", "vscode"])
    ],
    show: Annotated[bool, opt.option("--print", text="Print the configuration instead of writing it.")] = False,
    into: Annotated[
        str, opt.option("--into", metavar="DIR", text="PyCharm's settings folder, or for VS Code the project's.")
    ] = "",
) -> int:  # fmt: skip
    """Set up an editor that runs autofix as an external tool: show a fix, apply it, judge an edit, check."""
    from autofix.commands import ide

    return ide.set_up(editor, show=show, into=into)


@app.command()
def server() -> int:
    """Serve an editor: the language server protocol on standard input and output."""
    try:
        from autofix.lsp.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in {"lsprotocol", "pygls"}:
            raise
        return _complain("the language server needs pygls: pip install 'autofix[lsp]'")
    return serve()


@app.command()
def mcp(
    root: Annotated[
        list[str] | None, opt.option("--root", metavar="DIR", text="A folder to stay in; else those the agent names.")
    ] = None,
    network: Annotated[bool, opt.option("--network", text="Let the scripts use the network.")] = False,
) -> int:  # fmt: skip
    """Serve a coding agent with fix, verify, check and explain: the Model Context Protocol."""
    try:
        from autofix.mcp import serve as serve_agent
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in {"anyio", "mcp", "mcp_types", "pydantic"}:
            raise
        return _complain("the server for agents needs the SDK: pip install 'autofix[mcp]'")
    return serve_agent([*map(Path, root or ())], network=network)


def command() -> Any:
    """The commands as typer makes them, for who writes about them."""
    return typer.main.get_command(app)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a path or message that the terminal cannot spell
    words = [*(sys.argv[1:] if arguments is None else arguments)]
    if not os.environ.get("AUTOFIX_MARKERS"):
        return _run(words)
    try:
        sys.stderr.write("autofix: begin\n")  # for editors that wait for a task's end
        return _run(words)
    finally:
        sys.stdout.flush()
        sys.stderr.write("autofix: end\n")


def _run(words: list[str]) -> int:
    try:
        status = command().main(words or ["--help"], prog_name="autofix", standalone_mode=False)
    except _UsageError as error:
        return _complain(_with_hint(error))
    except Exception as error:
        if os.environ.get("AUTOFIX_TRACEBACK") or getattr(error, "errno", 0) == errno.ENOSPC:
            raise  # a full disk is nobody's fault
        if type(error).__module__.startswith("autofix."):  # our own errors say in one line what to do
            return _complain(str(error))
        said = f"{type(error).__name__}: {error}"
        return _complain(f"this is a fault of autofix, please report it: {said} (AUTOFIX_TRACEBACK=1 shows where)")
    if status == INTERRUPTED:
        sys.stderr.write("autofix: interrupted\n")
    return int(status or 0)


def _with_hint(error: Exception) -> str:
    """A usage error's words, and where the right usage is described."""
    message = str(getattr(error, "message", "") or error).rstrip(". ")
    if callable(shown := getattr(error, "format_message", None)):
        message = str(shown()).rstrip(". ")
    path = getattr(getattr(error, "ctx", None), "command_path", "autofix")
    return f"{message}; see `{path} --help`"


def _complain(text: str) -> int:
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    sys.stderr.write(f"autofix: {line}\n")
    return CANNOT
