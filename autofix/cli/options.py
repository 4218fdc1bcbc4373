"""What may be typed: each option that commands share, with its words and what a shell completes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

Completion = Callable[[str], list[tuple[str, str]]]


def option(*names: str, text: str, metavar: str | None = None, values: Sequence[str] | Completion = ()) -> Any:
    """An option that says nothing of its default; `values`: what a shell completes."""
    complete = values if callable(values) else (lambda: [*values]) if values else None
    return typer.Option(*names, help=text, metavar=metavar, show_default=False, autocompletion=complete)


def codes(incomplete: str) -> list[tuple[str, str]]:
    """The codes and names that begin as what was typed, behind its last comma, with their titles."""
    from autofix.search import registry

    before, comma, word = incomplete.rpartition(",")
    patterns = registry.everything()
    words = [(one.code, one.title) for one in patterns if one.code.startswith(word.upper())]
    words = words or [(one.name, one.title) for one in patterns if one.name.startswith(word.lower())]
    return [(f"{before}{comma}{name}", title) for name, title in words]


def pages(incomplete: str) -> list[tuple[str, str]]:
    """The codes, else the names, of what can be explained that begin as what was typed, with their titles."""
    from autofix.render import catalogue

    found = [*catalogue.everything()]
    words = [(code, title) for code, _, title, _ in found if code and code.startswith(incomplete.upper())]
    return words or [(name, title) for _, name, title, _ in found if name.startswith(incomplete.lower())]


Words = Annotated[list[str] | None, typer.Argument(metavar="SCRIPT [ARGS]...", show_default=False)]
Module = Annotated[str | None, option("-m", "--module", metavar="MODULE", text="Run a module, as `python -m` does.")]
Console = Annotated[
    str | None, option("--console", metavar="NAME", text="Run a command that a package installed in the environment.")
]
Node = Annotated[str | None, option("--pytest", metavar="NODE", text="Run a test: tests/test_train.py::test_step.")]
Device = Annotated[
    str | None,
    option(
        "--device",
        metavar="WHERE",
        text="auto moves CUDA's work to the CPU where there is no GPU; cpu always does, asis never.",
        values=("auto", "cpu", "asis"),
    ),
]
StandIn = Annotated[
    bool | None, option("--stand-in/--no-stand-in", text="Random data for data sets and files that are missing here.")
]
Shorten = Annotated[
    str | None,
    option("--shorten", metavar="N", text="End each training loop and each data loader after N iterations."),
]
SkipTo = Annotated[
    str | None, option("--skip-to", metavar="[FILE:]LINE", text="Hurry through the loops that end before this line.")
]
Reading = Annotated[
    str | None,
    option(
        "--reading",
        metavar="NAME",
        text="Answer the question of a report, by the name of the answer; pyproject.toml keeps it.",
    ),
]
Page = Annotated[
    str | None, option("--report", metavar="FILE", text="Also write a page with the story, gradients and graphs.")
]
PinTo = Annotated[
    str | None,
    option("--pin", metavar="FILE", text="Also write a test that guards the repaired training."),
]
Further = Annotated[
    int | None,
    typer.Option("--steps", metavar="N", min=1, help="Compare N steps of each optimizer beyond the failure."),
]
Interactive = Annotated[bool, option("-i", "--interactive", text="Ask about each fix before it is written.")]
Write = Annotated[bool | None, option("--write/--no-write", text="Apply the best safe fix.")]
Diff = Annotated[bool | None, option("--diff", text="Print the patch alone, for `git apply`.")]
Unsafe = Annotated[
    bool | None, option("--unsafe-fixes/--no-unsafe-fixes", text="Let --write and --diff take unsafe fixes too.")
]
Select = Annotated[list[str] | None, option("--select", metavar="CODE", text="Use only these rules.", values=codes)]
Ignore = Annotated[
    list[str] | None, option("--ignore", metavar="CODE", text="Leave these rules and findings out.", values=codes)
]
Python = Annotated[
    str | None,
    option(
        "--python", metavar="PATH", text="The interpreter: a path, a command or an environment's folder. Else the "
        "active environment's, else .venv by the project, else autofix's own.",
    ),
]  # fmt: skip
Budget = Annotated[
    str | None,
    option("--budget", metavar="SECONDS", text="Time to compare beyond the failure (5, or twice the failing run)."),
]
Passes = Annotated[str | None, option("--passes", metavar="N", text="How often an edit must get past the failure (3).")]
Time = Annotated[str | None, option("--time-limit", metavar="SECONDS", text="Time limit of each run (120).")]
Memory = Annotated[
    str | None,
    option("--memory-limit", metavar="SIZE", text="Memory limit of each run: 4G, 512M; 0 is 9/10 of the memory (0)."),
]
Output = Annotated[str | None, option("--output-limit", metavar="SIZE", text="How much each run may print (4M).")]
Processes = Annotated[
    str | None, option("--process-limit", metavar="N", text="How many processes each run may have (512).")
]
Network = Annotated[bool | None, option("--network/--no-network", text="Let the script use the network.")]
Isolation = Annotated[
    str | None,
    option(
        "--isolation",
        metavar="KIND",
        text="auto, overlay, landlock, copy or none (auto).",
        values=("auto", "overlay", "landlock", "copy", "none"),
    ),
]
Format = Annotated[
    str | None,
    option(
        "--output-format", metavar="FORMAT", text="text, json, sarif or github (text).",
        values=("text", "json", "sarif", "github"),
    ),
]  # fmt: skip
Quiet = Annotated[bool | None, option("-q", "--quiet", text="One line for the failure, and no progress.")]
Verbose = Annotated[bool | None, option("-v", "--verbose", text="Also what was tried and declined, and the timings.")]
FullPaths = Annotated[bool | None, option("--full-paths", text="Show absolute paths, for tools that make links.")]
Color = Annotated[
    str | None,
    option("--color", metavar="WHEN", text="auto, always or never (auto).", values=("auto", "always", "never")),
]
Fixed = Annotated[
    list[str] | None,
    option("--fixed", metavar="[ORIGINAL=]FILE", text="The script, or ORIGINAL, as edited; - is standard input."),
]
Patches = Annotated[list[str] | None, option("--patch", metavar="FILE", text="A unified diff; - is standard input.")]

# Of a batch ---------------------------------------------------------------------------------------------------------

Paths = Annotated[list[str] | None, typer.Argument(metavar="PATHS...", show_default=False)]
Out = Annotated[str, typer.Option("--out", metavar="DIR", help="Where the journal and the results go.")]
Everywhere = Annotated[bool, option("--write", text="Write safe fixes into the folders themselves.")]
UnsafePatches = Annotated[bool, option("--unsafe-fixes", text="Put unsafe fixes into patches too.")]
Branch = Annotated[str, option("--branch", metavar="NAME", text="Make a branch, with a commit for each fix.")]
Author = Annotated[str, typer.Option("--author", metavar="'NAME <MAIL>'", help="Author of those commits.")]
Gate = Annotated[bool, option("--check", text="Only the status and results.sarif, as a gate for CI.")]
TestFiles = Annotated[bool, option("--pytest", text="Run test files that train, too.")]
Rounds = Annotated[
    int,
    typer.Option("--rounds", metavar="N", min=0, help="End a script after N steps without failure (50); 0: never."),
]
Jobs = Annotated[int, option("--jobs", metavar="N", text="Targets at a time (one a core, if memory allows).")]
EngineName = Annotated[str, option("--engine", metavar="NAME", text="local or ray (local).", values=("local", "ray"))]
Address = Annotated[str, option("--address", metavar="ADDRESS", text="The Ray cluster, such as auto.")]
Gpus = Annotated[float, option("--gpus", metavar="N", text="GPUs of each Ray task.")]
Limit = Annotated[int, option("--limit", metavar="N", text="No more repositories than this.")]
Sample = Annotated[str, option("--sample", metavar="SHARE", text="A share, such as 5%; always the same.")]
FailFast = Annotated[bool, option("--fail-fast", text="Begin nothing new after a target that fails.")]
RetryFailed = Annotated[bool, option("--retry-failed", text="Run again what crashed or met a limit.")]
BatchTime = Annotated[str | None, option("--time-limit", metavar="SECONDS", text="Time limit of each run (60).")]
BatchMemory = Annotated[
    str | None, option("--memory-limit", metavar="SIZE", text="Limit of each run: 4G, 512M; 0 is none (4G).")
]
BatchIsolation = Annotated[
    str | None,
    option(
        "--isolation",
        metavar="KIND",
        text="auto (overlay, else landlock), copy or none.",
        values=("auto", "overlay", "landlock", "copy", "none"),
    ),
]
NoProgress = Annotated[bool, option("-q", "--quiet", text="No progress.")]
