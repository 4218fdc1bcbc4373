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
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from autofix import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Completion = Callable[[str], list[tuple[str, str]]]

CANNOT, INTERRUPTED = 2, 130
_ENTRIES = {"-m", "--module", "--console", "--pytest"}
"""Behind the name that one of these gives, everything belongs to the program."""
_TYPED = "autofix.typed"
# The class of every complaint about what was typed; typer shows only this descendant of it.
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]

app = typer.Typer(
    help="Repairs PyTorch scripts that die in autograd, and proves the gradients of each repair by running it.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


class Launcher(TyperCommand):
    """A command that ends in a script and the script's own arguments, which are not ours to read."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.meta[_TYPED] = tuple(args)
        options = [param for param in self.params if param.param_type_name == "option"]
        valued = {name for param in options if not getattr(param, "is_flag", False) for name in param.opts}
        mine, rest = _parted(args, valued)
        return super().parse_args(ctx, [*mine, "--", *rest])


def _parted(args: Sequence[str], valued: set[str]) -> tuple[list[str], list[str]]:
    """Our options, and what stands behind them: the script, or the module's own arguments."""
    place = 0
    while place < len(args) and args[place].startswith("-") and args[place] != "-":
        word = args[place]
        if word == "--":
            return [*args[:place]], [*args[place + 1 :]]
        if word in _ENTRIES:
            return [*args[: place + 2]], [*args[place + 2 :]]
        place += 2 if word in valued else 1
        if word.startswith(("--module=", "--console=", "--pytest=")) or (
            word.startswith("-m") and len(word) > len("-m")
        ):
            return [*args[:place]], [*args[place:]]
    return [*args[:place]], [*args[place:]]


def _option(*names: str, text: str, metavar: str | None = None, values: Sequence[str] | Completion = ()) -> Any:
    """An option that says nothing of its default; `values`: what a shell completes."""
    complete = values if callable(values) else (lambda: [*values]) if values else None
    return typer.Option(*names, help=text, metavar=metavar, show_default=False, autocompletion=complete)


def _codes(incomplete: str) -> list[tuple[str, str]]:
    """The codes and names that begin as what was typed, behind its last comma, with their titles."""
    from autofix.search import registry

    before, comma, word = incomplete.rpartition(",")
    patterns = registry.everything()
    words = [(one.code, one.title) for one in patterns if one.code.startswith(word.upper())]
    words = words or [(one.name, one.title) for one in patterns if one.name.startswith(word.lower())]
    return [(f"{before}{comma}{name}", title) for name, title in words]


Words = Annotated[list[str] | None, typer.Argument(metavar="SCRIPT [ARGS]...", show_default=False)]
Module = Annotated[str | None, _option("-m", "--module", metavar="MODULE", text="Run a module, as `python -m` does.")]
Console = Annotated[
    str | None, _option("--console", metavar="NAME", text="Run a command that a package installed in the environment.")
]
Node = Annotated[str | None, _option("--pytest", metavar="NODE", text="Run a test: tests/test_train.py::test_step.")]
Device = Annotated[
    str | None,
    _option(
        "--device",
        metavar="WHERE",
        text="auto moves CUDA's work to the CPU where there is no GPU; cpu always does, asis never.",
        values=("auto", "cpu", "asis"),
    ),
]
StandIn = Annotated[
    bool | None, _option("--stand-in/--no-stand-in", text="Random data for data sets and files that are missing here.")
]
Shorten = Annotated[
    str | None,
    _option("--shorten", metavar="N", text="End each training loop and each data loader after N iterations."),
]
SkipTo = Annotated[
    str | None, _option("--skip-to", metavar="[FILE:]LINE", text="Hurry through the loops that end before this line.")
]
Reading = Annotated[
    str | None,
    _option("--reading", metavar="NAME", text="Answer the question of a report, by the name of the answer."),
]
Page = Annotated[
    str | None, _option("--report", metavar="FILE", text="Also write a page with the story, gradients and graphs.")
]
PinTo = Annotated[
    str | None,
    _option("--pin", metavar="FILE", text="Also write a test that guards the repaired training."),
]
Further = Annotated[
    int | None,
    typer.Option("--steps", metavar="N", min=1, help="Compare N steps of each optimizer beyond the failure."),
]
Interactive = Annotated[bool, _option("-i", "--interactive", text="Ask about each fix before it is written.")]
Write = Annotated[bool | None, _option("--write/--no-write", text="Apply the best safe fix.")]
Diff = Annotated[bool | None, _option("--diff", text="Print the patch alone, for `git apply`.")]
Unsafe = Annotated[
    bool | None, _option("--unsafe-fixes/--no-unsafe-fixes", text="Let --write and --diff take unsafe fixes too.")
]
Select = Annotated[list[str] | None, _option("--select", metavar="CODE", text="Use only these rules.", values=_codes)]
Ignore = Annotated[
    list[str] | None, _option("--ignore", metavar="CODE", text="Leave these rules and findings out.", values=_codes)
]
Python = Annotated[
    str | None,
    _option(
        "--python", metavar="PATH", text="The interpreter: a path, a command or an environment's folder. Else the "
        "active environment's, else .venv by the project, else autofix's own.",
    ),
]  # fmt: skip
Budget = Annotated[
    str | None,
    _option("--budget", metavar="SECONDS", text="Time to compare beyond the failure (5, or twice the failing run)."),
]
Passes = Annotated[
    str | None, _option("--passes", metavar="N", text="How often an edit must get past the failure (3).")
]
Time = Annotated[str | None, _option("--time-limit", metavar="SECONDS", text="Time limit of each run (120).")]
Memory = Annotated[
    str | None,
    _option("--memory-limit", metavar="SIZE", text="Memory limit of each run: 4G, 512M; 0 is 9/10 of the memory (0)."),
]
Output = Annotated[str | None, _option("--output-limit", metavar="SIZE", text="How much each run may print (4M).")]
Processes = Annotated[
    str | None, _option("--process-limit", metavar="N", text="How many processes each run may have (512).")
]
Network = Annotated[bool | None, _option("--network/--no-network", text="Let the script use the network.")]
Isolation = Annotated[
    str | None,
    _option(
        "--isolation",
        metavar="KIND",
        text="auto, overlay, landlock, copy or none (auto).",
        values=("auto", "overlay", "landlock", "copy", "none"),
    ),
]
Format = Annotated[
    str | None,
    _option(
        "--output-format", metavar="FORMAT", text="text, json, sarif or github (text).",
        values=("text", "json", "sarif", "github"),
    ),
]  # fmt: skip
Quiet = Annotated[bool | None, _option("-q", "--quiet", text="One line for the failure, and no progress.")]
Verbose = Annotated[bool | None, _option("-v", "--verbose", text="Also what was tried and declined, and the timings.")]
FullPaths = Annotated[bool | None, _option("--full-paths", text="Show absolute paths, for tools that make links.")]
Color = Annotated[
    str | None,
    _option("--color", metavar="WHEN", text="auto, always or never (auto).", values=("auto", "always", "never")),
]
Fixed = Annotated[
    list[str] | None,
    _option("--fixed", metavar="[ORIGINAL=]FILE", text="The script, or ORIGINAL, as edited; - is standard input."),
]
Patches = Annotated[list[str] | None, _option("--patch", metavar="FILE", text="A unified diff; - is standard input.")]


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
    context: typer.Context, words: Words = None, module: Module = None, write: Write = None, diff: Diff = None,
    unsafe_fixes: Unsafe = None, select: Select = None, ignore: Ignore = None, python: Python = None,
    passes: Passes = None, budget: Budget = None, time_limit: Time = None, memory_limit: Memory = None,
    output_limit: Output = None,
    network: Network = None, isolation: Isolation = None, output_format: Format = None, quiet: Quiet = None,
    verbose: Verbose = None, color: Color = None, console: Console = None, pytest: Node = None,
    process_limit: Processes = None,
    device: Device = None, stand_in: StandIn = None, shorten: Shorten = None, skip_to: SkipTo = None,
    reading: Reading = None, interactive: Interactive = False, full_paths: FullPaths = None, report: Page = None,
    pin: PinTo = None,
) -> int:  # fmt: skip
    """Run a failing script, find why it dies in autograd, and show the smallest edit that is proved to cure it.

    Options stand before SCRIPT; everything behind it is the script's. Nothing is written without --write.

    Status: 0 nothing to do or fixed, 1 a fix exists and was not written, 2 cannot work, 3 no fix found.
    """
    given = locals()
    from autofix.commands.opening import opened

    with opened(given) as opening:
        from autofix.commands import repair

        return repair.fix(given, context.meta[_TYPED], opening)


@app.command(cls=Launcher)
def run(
    context: typer.Context, words: Words = None, module: Module = None, write: Write = None,
    unsafe_fixes: Unsafe = None, select: Select = None, ignore: Ignore = None, python: Python = None,
    passes: Passes = None, budget: Budget = None, time_limit: Time = None, memory_limit: Memory = None,
    output_limit: Output = None,
    process_limit: Processes = None, isolation: Isolation = None, network: Network = None,
    output_format: Format = None, quiet: Quiet = None, verbose: Verbose = None, color: Color = None,
    console: Console = None, pytest: Node = None, device: Device = None, stand_in: StandIn = None,
    shorten: Shorten = None, skip_to: SkipTo = None, reading: Reading = None, report: Page = None,
) -> int:  # fmt: skip
    """Run a program for real, at full speed and with no fence; when it dies in autograd, go on as `fix` does.

    Status: the program's own, unless it died in autograd: then that of `fix`.
    """
    given = locals()
    from autofix.commands import repair

    return repair.run(given, context.meta[_TYPED])


@app.command(cls=Launcher)
def verify(
    context: typer.Context, words: Words = None, fixed: Fixed = None, patch: Patches = None, module: Module = None,
    python: Python = None, passes: Passes = None, budget: Budget = None, time_limit: Time = None,
    memory_limit: Memory = None,
    output_limit: Output = None, process_limit: Processes = None, network: Network = None, isolation: Isolation = None,
    output_format: Format = None, quiet: Quiet = None, verbose: Verbose = None, color: Color = None,
    console: Console = None, pytest: Node = None, device: Device = None, stand_in: StandIn = None,
    shorten: Shorten = None, skip_to: SkipTo = None, full_paths: FullPaths = None, report: Page = None,
    reading: Reading = None, pin: PinTo = None, steps: Further = None,
) -> int:  # fmt: skip
    """Judge an edit that somebody else made: does the script get past the failure with the same gradients?

    Options stand before SCRIPT; everything behind it is the script's.

    Status: 0 safe, 1 unsafe or unknown, 2 cannot work, 3 still failing.
    """
    given = locals()
    from autofix.commands.opening import opened

    with opened(given) as opening:
        from autofix.commands import verify

        return verify.verify(given, context.meta[_TYPED], opening)


@app.command(cls=Launcher)
def audit(
    context: typer.Context, words: Words = None, module: Module = None,
    select: Annotated[list[str] | None, _option("--select", metavar="CODE", text="Tell only of these.")] = None,
    ignore: Annotated[list[str] | None, _option("--ignore", metavar="CODE", text="Do not tell of these.")] = None,
    write: Annotated[bool, _option("--write", text="Apply the edit that mends what was found.")] = False,
    diff: Diff = None, unsafe_fixes: Unsafe = None, python: Python = None,
    budget: Annotated[
        str | None, _option("--budget", metavar="SECONDS", text="How long to watch, from the first backward on (5).")
    ] = None,
    time_limit: Time = None, memory_limit: Memory = None, output_limit: Output = None, process_limit: Processes = None,
    network: Network = None, isolation: Isolation = None, output_format: Format = None, quiet: Quiet = None,
    verbose: Verbose = None, color: Color = None, console: Console = None, pytest: Node = None, device: Device = None,
    stand_in: StandIn = None, shorten: Shorten = None, skip_to: SkipTo = None, full_paths: FullPaths = None,
    report: Page = None,
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

        return audit.audit(given, context.meta[_TYPED], opening)


@app.command()
def check(
    paths: Annotated[list[str] | None, typer.Argument(metavar="PATH...", show_default=False)] = None,
    select: Annotated[
        list[str] | None, _option("--select", metavar="CODE", text="Look only for these.", values=_codes)
    ] = None,
    ignore: Annotated[
        list[str] | None, _option("--ignore", metavar="CODE", text="Do not look for these.", values=_codes)
    ] = None,
    exclude: Annotated[
        list[str] | None, _option("--exclude", metavar="PATTERN", text="Leave out files or folders, such as docs/*.")
    ] = None,
    baseline: Annotated[
        str | None, _option("--baseline", metavar="FILE", text="Say nothing about the findings in this file.")
    ] = None,
    write_baseline: Annotated[
        bool, _option("--write-baseline", text="Write what is found to the baseline instead of printing it.")
    ] = False,
    exit_zero: Annotated[bool, _option("--exit-zero", text="End with status 0 whatever is found.")] = False,
    jobs: Annotated[int, typer.Option("--jobs", metavar="N", min=0, help="Processes; 0 is one for each core (0).")] = 0,
    output_format: Format = "text", quiet: Annotated[bool, _option("-q", "--quiet", text="No summary.")] = False,
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
    paths: Annotated[list[str] | None, typer.Argument(metavar="PATHS...", show_default=False)] = None,
    out: Annotated[str, typer.Option("--out", metavar="DIR", help="Where the journal and the results go.")] = (
        "autofix-batch"
    ),
    write: Annotated[bool, _option("--write", text="Write safe fixes into the folders themselves.")] = False,
    unsafe_fixes: Annotated[bool, _option("--unsafe-fixes", text="Put unsafe fixes into patches too.")] = False,
    branch: Annotated[str, _option("--branch", metavar="NAME", text="Make a branch, with a commit for each fix.")] = "",
    author: Annotated[str, typer.Option("--author", metavar="'NAME <MAIL>'", help="Author of those commits.")] = (
        "autofix <autofix@localhost>"
    ),
    check: Annotated[bool, _option("--check", text="Only the status and results.sarif, as a gate for CI.")] = False,
    pytest: Annotated[bool, _option("--pytest", text="Run test files that train, too.")] = False,
    rounds: Annotated[
        int,
        typer.Option("--rounds", metavar="N", min=0, help="End a script after N steps without failure (50); 0: never."),
    ] = 50,
    jobs: Annotated[int, _option("--jobs", metavar="N", text="Targets at a time (one a core, if memory allows).")] = 0,
    engine: Annotated[
        str, _option("--engine", metavar="NAME", text="local or ray (local).", values=("local", "ray"))
    ] = "local",
    address: Annotated[str, _option("--address", metavar="ADDRESS", text="The Ray cluster, such as auto.")] = "",
    gpus: Annotated[float, _option("--gpus", metavar="N", text="GPUs of each Ray task.")] = 0.0,
    limit: Annotated[int, _option("--limit", metavar="N", text="No more repositories than this.")] = 0,
    sample: Annotated[str, _option("--sample", metavar="SHARE", text="A share, such as 5%; always the same.")] = "",
    fail_fast: Annotated[bool, _option("--fail-fast", text="Begin nothing new after a target that fails.")] = False,
    retry_failed: Annotated[bool, _option("--retry-failed", text="Run again what crashed or met a limit.")] = False,
    select: Select = None, ignore: Ignore = None, python: Python = None, passes: Passes = None, budget: Budget = None,
    time_limit: Annotated[
        str | None, _option("--time-limit", metavar="SECONDS", text="Time limit of each run (60).")
    ] = None,
    memory_limit: Annotated[
        str | None, _option("--memory-limit", metavar="SIZE", text="Limit of each run: 4G, 512M; 0 is none (4G).")
    ] = None,
    output_limit: Output = None, process_limit: Processes = None, network: Network = None,
    isolation: Annotated[
        str | None,
        _option(
            "--isolation", metavar="KIND", text="auto (overlay, else landlock), copy or none.",
            values=("auto", "overlay", "landlock", "copy", "none"),
        ),
    ] = None,
    device: Device = None, stand_in: StandIn = None, shorten: Shorten = None, skip_to: SkipTo = None,
    reading: Reading = None, quiet: Annotated[bool, _option("-q", "--quiet", text="No progress.")] = False,
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
        str, _option("--output-format", metavar="FORMAT", text="text or json (text).", values=("text", "json"))
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
    code: Annotated[str, typer.Argument(metavar="CODE", help="A code or a name.", autocompletion=_codes)],
) -> int:
    """Explain a rule or a finder: what it does, why autograd fails there, when it is safe, with examples."""
    from autofix.render import catalogue

    try:
        page = catalogue.explained(code)
    except ValueError as error:
        return _complain(str(error))
    sys.stdout.write(page)
    return 0


@app.command()
def ide(
    editor: Annotated[
        str, typer.Argument(metavar="EDITOR", help="pycharm or vscode.", autocompletion=lambda: ["pycharm", "vscode"])
    ],
    show: Annotated[bool, _option("--print", text="Print the configuration instead of writing it.")] = False,
    into: Annotated[
        str, _option("--into", metavar="DIR", text="PyCharm's settings folder, or for VS Code the project's.")
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
        list[str] | None, _option("--root", metavar="DIR", text="A folder to stay in; else those the agent names.")
    ] = None,
    network: Annotated[bool, _option("--network", text="Let the scripts use the network.")] = False,
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
    context = getattr(error, "ctx", None)
    path = getattr(context, "command_path", "autofix")
    return f"{message}; see `{path} --help`"


def _complain(text: str) -> int:
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    sys.stderr.write(f"autofix: {line}\n")
    return CANNOT
