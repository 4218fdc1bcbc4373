"""The figures of whole repairs: cold, warm, naive, after long compute, in memory, and as things grow."""

from __future__ import annotations

import os
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from measure import (
    AUTOFIX,
    PYTHON,
    ROOT,
    WORKLOADS,
    Figure,
    command,
    elapsed,
    fix,
    peak_memory,
    plain,
    ratios,
    turns,
)  # fmt: skip

from autofix import pipeline
from autofix.core.model import Cause, Diagnosis, Report, Target
from autofix.experiments.client import Probe
from autofix.search import registry
from autofix.search.rule import Proposal, Rule, Sources, Tier
from autofix.syntax.edits import Splice

FIXTURES = ROOT / "fixtures"
SPREAD = (
    "first/gan_two_step", "first/leaf_plus_equals", "saved_tensor_mutated/attention_masked_after_softmax",
    "saved_tensor_mutated/ddpg_agent_module", "saved_tensor_mutated/scatter_crlf", "graph_used_twice/tbptt_windows",
    "graph_used_twice/ppo_old_log_probs", "graph_used_twice/frame_cache_dict", "leaf_written/pgd_delta_closure",
    "no_graph/froze_the_new_head", "gradient_none/latent_property", "shape_and_conversion/history_as_array",
)  # fmt: skip
"""Of each family at least one: short and long searches, scripts and packages."""
GAN = FIXTURES / "first/gan_two_step/broken.py"
CANDIDATES = (1, 2, 5, 10, 20, 30)
PARAMETERS = (10**4, 10**5, 10**6, 10**7, 10**8)
LINES = (100, 1_000, 5_000, 20_000)
_WORD = "first.backward()"
_FILLER = '''

class Layer{0}(nn.Module):
    """A part that the script has and this run does not use."""

    def __init__(self, width=8, depth={1}):
        super().__init__()
        self.parts = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.scale = nn.Parameter(torch.ones(width))

    def forward(self, x):
        for index, part in enumerate(self.parts):
            x = torch.relu(part(x)) * self.scale + index
        return x - x.mean(dim=-1, keepdim=True)

'''


def fixtures(*, every: bool) -> list[Path]:
    """Entry scripts of the fixtures that die in autograd."""
    found = []
    for case in sorted(FIXTURES.glob("*/*/case.toml")):
        name = str(case.parent.relative_to(FIXTURES))
        if "cause" in tomllib.loads(case.read_text()) and (every or name in SPREAD):
            single = case.parent / "broken.py"
            found.append(single if single.exists() else case.parent / "broken/main.py")
    return found


def target(script: Path, *argv: str) -> Target:
    """What the command line would make of a script."""
    return Target(script, argv, root=script.parent, python=Path(PYTHON))


def warm(probe: Probe, script: Path, rules: tuple[Rule, ...]) -> Report:
    """One repair through a probe that is already there."""
    return pipeline.fix(target(script), rules, probe=probe, progress=_quiet)


def _quiet(_: str) -> None:
    pass


def cold_and_warm(repeats: int, scripts: list[Path]) -> Iterator[list[Figure]]:
    """Whole repairs against the plain failing run, over the fixtures."""
    rules = registry.rules()
    rows = []
    with Probe(Path(PYTHON)) as probe:
        warm(probe, GAN, rules)
        for script in scripts:
            took = turns(repeats, {
                "plain": lambda s=script: plain(s),
                "cold": lambda s=script: fix(s),
                "warm": lambda s=script: warm(probe, s, rules),
            })  # fmt: skip
            processors = {kind: median(ran.cpu for ran in took[kind]) for kind in ("plain", "cold")}
            name = str(script.relative_to(FIXTURES)).replace("/broken.py", "").replace("/broken/main.py", "")
            usual = median(ran.seconds for ran in took["plain"])
            rows.append({
                "fixture": name, "plain": usual,
                "cold": median(ran.seconds for ran in took["cold"]),
                "warm": median(report.timings["total"] for report in took["warm"]),
                "cold CPU / plain CPU": processors["cold"] / processors["plain"],
                "statuses": sorted({ran.status for ran in took["cold"]}),
                "outcome": str(took["warm"][0].outcome),
            })  # fmt: skip
    parts = {"fixtures": rows}
    yield [
        Figure("cold `autofix fix` / plain failing run", [r["cold"] / r["plain"] for r in rows], 1.25, parts=parts),
        Figure("… in CPU seconds of all processes", [r["cold CPU / plain CPU"] for r in rows]),
        Figure("warm repair / plain failing run", [r["warm"] / r["plain"] for r in rows], 0.15),
    ]


def naive(repeats: int) -> Iterator[list[Figure]]:
    """A fresh interpreter for every run beside forks of one server, each with its start."""
    rules = registry.rules()

    def seconds(*, fresh: bool) -> float:
        with Probe(Path(PYTHON), fresh=fresh) as probe:
            return warm(probe, GAN, rules).timings["total"]

    took = turns(
        repeats,
        {
            "plain": lambda: plain(GAN).seconds,
            "ours": lambda: seconds(fresh=False),
            "naive": lambda: seconds(fresh=True),
        },
    )
    yield [
        Figure(
            "naive, a fresh interpreter for every run / plain", ratios(took["naive"], took["plain"]), parts=dict(took)
        ),
        Figure("naive / a new fork server and its runs", ratios(took["naive"], took["ours"])),
    ]


def computing(repeats: int, seconds: float) -> Iterator[list[Figure]]:
    """Scripts that compute for long before they fail."""
    for name, few in (("cnn", 20), ("gan", 400)):
        script = WORKLOADS / f"{name}.py"
        count = str(max(1, round(seconds * few / elapsed(plain(script, str(few), "0").stdout))))
        took = turns(
            repeats,
            {"plain": lambda s=script, c=count: plain(s, c, "0"), "cold": lambda s=script, c=count: fix(s, c, "0")},
        )
        values = ratios([ran.seconds for ran in took["cold"]], [ran.seconds for ran in took["plain"]])
        parts = {"plain": [ran.seconds for ran in took["plain"]], "statuses": [ran.status for ran in took["cold"]]}
        label = f"{seconds:g} s of compute before the failure ({name.upper()}): cold / plain"
        yield [Figure(label, values, 4.0, parts=parts)]


def setups(repeats: int, seconds: float) -> Iterator[list[Figure]]:
    """Scripts that load for long before a loop that fails in its second pass, on one core and on two."""
    every = os.sched_getaffinity(0)
    try:
        for cores, aim in ((1, 1.4), (2, 2.2)):
            os.sched_setaffinity(0, sorted(every)[:cores])
            for place in ("module", "main"):
                script = WORKLOADS / f"setup_{place}.py"
                few, more = (plain(script, str(count)).seconds for count in (2000, 6000))
                count = str(round(4000 * seconds / (more - few)))
                took = turns(repeats, {
                    "plain": lambda s=script, c=count: plain(s, c), "cold": lambda s=script, c=count: fix(s, c),
                })  # fmt: skip
                where = "at module level" if place == "module" else "in main()"
                label = f"{seconds:g} s of setup {where}, {cores} core{'s' * (cores > 1)}: cold / plain"
                yield [_grown(label, took, aim)]
    finally:
        os.sched_setaffinity(0, every)


def ends_well(repeats: int) -> Iterator[list[Figure]]:
    """`autofix fix` where there is nothing to repair."""
    script = FIXTURES / "first/ends_well/broken.py"
    took = turns(repeats, {"plain": lambda: plain(script), "cold": lambda: fix(script)})
    plainly, ours = ([ran.seconds for ran in took[name]] for name in ("plain", "cold"))
    beyond = [a - b for a, b in zip(ours, plainly, strict=True)]
    name = "a script that ends well: `autofix fix`"
    parts = {"plain": plainly, "fix": ours, "statuses": [ran.status for ran in took["cold"]]}
    yield [
        Figure(f"{name} beyond its own time", beyond, 0.3, "s", parts=parts),
        Figure(f"{name} / plain", ratios(ours, plainly)),
    ]


def words(repeats: int) -> Iterator[list[Figure]]:
    """Commands that run nothing, against the import of what they are made with."""
    calls = {
        "typer": lambda: command([PYTHON, "-c", "import typer"]).seconds,
        "help": lambda: command([*AUTOFIX, "--help"]).seconds,
        "rules": lambda: command([*AUTOFIX, "rules"]).seconds,
    }
    turns(1, calls)
    took = turns(repeats, calls)
    yield [
        Figure("`autofix --help` / `import typer`", ratios(took["help"], took["typer"]), 2.0, parts={"seconds": took}),
        Figure("`autofix rules` / `import typer`", ratios(took["rules"], took["typer"])),
    ]


def memory(repeats: int) -> Iterator[list[Figure]]:
    """Peak memory of all processes."""
    for label, script, argv in (
        ("a small script", GAN, ()), ("10^7 parameters", WORKLOADS / "sized.py", (str(10**7),)),
    ):  # fmt: skip
        took = turns(repeats, {
            "plain": lambda s=script, a=argv: peak_memory([PYTHON, s.name, *a], s.parent),
            "fix": lambda s=script, a=argv: peak_memory([*AUTOFIX, "fix", "--quiet", s.name, *a], s.parent),
        })  # fmt: skip
        values = ratios(took["fix"], took["plain"])
        yield [Figure(f"peak memory of all processes / plain ({label})", values, 1.5, parts={"bytes": took})]


class Scaled(Rule):
    """As many edits as asked for that all run to the end and all change the gradients: none can be left out."""

    code, name, title, tier = "BENCH", "scaled", "Scale the loss", Tier.MEANT
    causes = frozenset({Cause.FREED_GRAPH})

    def __init__(self, count: int) -> None:
        self.count = count

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        source = sources.source(diagnosis.failure.stack[0].file)
        assert source is not None
        start = source.text.find(_WORD)
        for number in range(1, self.count + 1):
            text = f"({1 + number / 100:.2f} * first).backward(retain_graph=True)"
            yield self.propose([Splice(source, start, start + len(_WORD), text)], f"edit {number}")


def candidates(repeats: int) -> Iterator[list[Figure]]:
    """What one more candidate costs."""
    script = WORKLOADS / "candidates.py"
    with Probe(Path(PYTHON)) as probe:

        def seconds(count: int) -> float:
            report = warm(probe, script, (Scaled(count),))
            tried = len(report.fixes) + len(report.rejected)
            if tried != count:
                raise SystemExit(f"{count} candidates were to be tried, not {tried}: {report.message}")
            return report.timings["total"]

        seconds(1)
        took: dict[str, list[float]] = turns(repeats, {str(n): lambda n=n: seconds(n) for n in CANDIDATES})
        own = [elapsed(plain(script).stdout) for _ in range(repeats)]
    least, most = CANDIDATES[0], CANDIDATES[-1]
    slopes = [(b - a) / (most - least) - c for a, b, c in zip(took[str(least)], took[str(most)], own, strict=True)]
    parts = {"seconds of a warm repair by candidates": {name: median(values) for name, values in took.items()}}
    yield [Figure("each further candidate, beyond the script's own compute", slopes, 0.05, "s", parts=parts)]


def growth(repeats: int) -> Iterator[list[Figure]]:
    """Cold repair against plain as the model and as the source grow."""
    script = WORKLOADS / "sized.py"
    for count in PARAMETERS:
        took = turns(
            repeats, {"plain": lambda c=count: plain(script, str(c)), "cold": lambda c=count: fix(script, str(c))}
        )
        yield [_grown(f"{count:,} parameters: cold / plain", took)]
    with tempfile.TemporaryDirectory() as scratch:
        for lines in LINES:
            long = Path(scratch, f"lines_{lines}.py")
            long.write_text(padded(GAN.read_text(), lines))
            took = turns(repeats, {"plain": lambda s=long: plain(s), "cold": lambda s=long: fix(s)})
            yield [_grown(f"{lines:,} lines of source: cold / plain", took)]


def _grown(name: str, took: dict[str, list[Any]], aim: float | None = None) -> Figure:
    seconds = {kind: [ran.seconds for ran in runs] for kind, runs in took.items()}
    parts = {"seconds": seconds, "statuses": [ran.status for ran in took["cold"]]}
    return Figure(name, ratios(seconds["cold"], seconds["plain"]), aim, parts=parts)


def padded(text: str, lines: int) -> str:
    """A script made long by classes that it does not use, before its own statements."""
    head, mark, body = text.partition("from torch import nn, optim\n")
    size = _FILLER.count("\n")
    count = max(0, (lines - text.count("\n")) // size)
    return head + mark + "".join(_FILLER.format(number, 1 + number % 5) for number in range(count)) + body
