"""A farm of repositories to try `autofix batch` on: every fixture, and every kind of repository that makes trouble.

    python benchmarks/farm.py build DIR [--count N]      make it, with what is expected of each
    python benchmarks/farm.py check DIR OUT              hold a batch's output against that; has anything been harmed?
    python benchmarks/farm.py same OUT OUT               do two journals have the same content?
    python benchmarks/farm.py kill DIR [--times N]       kill a batch at random moments until it is done; check; compare
    python benchmarks/farm.py speed DIR [--count N]      throughput against the plain command, and with more jobs

Without arguments: build 200 in a temporary folder, run the local engine, check.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import random
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
BATCH = (sys.executable, "-m", "autofix", "batch")
LIMITS = ("--time-limit", "20", "--memory-limit", "3G", "--quiet")
COUNT = 200
_SEVERAL = 10
_GIT = ("git", "-c", "user.name=farm", "-c", "user.email=farm@localhost", "-c", "init.defaultBranch=main")

FAILS = """\
import torch

torch.manual_seed(1)
net = torch.nn.Linear(3, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(4):
    out = net(torch.ones(5, 3)).tanh()
    optimizer.zero_grad()
    out.pow(2).mean().backward()
    out.abs().mean().backward()
    optimizer.step()
"""
SHARED = """\
import torch


def gate(x):
    y = torch.sigmoid(x)
    y += 1
    return y
"""
USES_SHARED = """\
import torch

from {module} import gate

net = torch.nn.Linear(3, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    loss = gate(net(torch.ones(2, 3))).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
HEALTHY = """\
import torch

w = torch.ones(3, requires_grad=True)
(w * w).sum().backward()
print(w.grad)
"""
NEEDS_TORCH = "import torch\n\nw = torch.ones(3, requires_grad=True)\n# backward comes later\n"


@dataclass
class Expected:
    """What a batch should say of a repository: each target's outcome, and whether its fix is safe (None: any)."""

    outcomes: dict[str, str] = field(default_factory=dict)
    safe: dict[str, bool] = field(default_factory=dict)
    problem: bool = False


Maker = Callable[[Path], Expected]
T = TypeVar("T")


def build(folder: Path, count: int = COUNT, only: list[str] | None = None) -> dict[str, Any]:
    """Make the farm below `folder`/repositories; the same one every time."""
    kinds = makers()
    names = only if only is not None else spread([*kinds], count)
    top = folder / "repositories"
    top.mkdir(parents=True)
    expected = {}
    for name in names:
        at = top / name
        at.mkdir()
        found = kinds[name](at)
        expected[name] = {"outcomes": found.outcomes, "safe": found.safe, "problem": found.problem}
    record = {"expected": expected, "digests": {name: digest(top / name) for name in names}}
    (folder / "farm.json").write_text(json.dumps(record, indent=1))
    return record


def makers() -> dict[str, Maker]:
    """Every kind of repository, by name."""
    found: dict[str, Maker] = {}
    for case in sorted(FIXTURES.glob("*/*/case.toml")):
        name = f"{case.parent.parent.name}-{case.parent.name}"
        found[name] = lambda at, case=case: fixture(at, case.parent, nested=False)
        found[f"{name}-nested"] = lambda at, case=case: fixture(at, case.parent, nested=True)
    for name, maker in TROUBLE.items():
        found[f"trouble-{name}"] = maker
    for number in range(1, max(COUNT - len(found), _SEVERAL) + 1):
        found[f"several-{number:02}"] = lambda at, number=number: several(at, number)
    return found


def spread(names: list[T], count: int) -> list[T]:
    """`count` of the names, from all over the list."""
    if count >= len(names):
        return names
    return [names[number * len(names) // count] for number in range(count)]


def fixture(at: Path, case: Path, *, nested: bool) -> Expected:
    """A fixture as a repository: its program at the top under git, or deep in a folder without."""
    facts = tomllib.loads((case / "case.toml").read_text("utf-8"))
    place = at / "experiments" / "first run" if nested else at
    place.mkdir(parents=True, exist_ok=True)
    if (case / "broken").is_dir():
        shutil.copytree(case / "broken", place, dirs_exist_ok=True)
        script = "main.py"
    else:
        shutil.copy(case / "broken.py", place)
        script = "broken.py"
    where = f"'experiments/first run/{script}'" if nested else script
    line = " ".join([where, *map(str, facts.get("args", []))])
    if facts.get("args") or nested:
        (at / "pyproject.toml").write_text(f"[tool.autofix.batch]\ntargets = [{json.dumps(line)}]\n")
    if not nested:
        (at / "README.md").write_text(f"{facts['summary']}\n")
        commit(at)
    if facts["outcome"] == "other_failure" and "SyntaxError" in facts.get("error", "") and not nested:
        return Expected()
    safe = {line: facts["safe"]} if facts["outcome"] == "available" and "safe" in facts else {}
    return Expected({line: facts["outcome"]}, safe)


def several(at: Path, number: int) -> Expected:
    """Several scripts that import one faulty module, some of them with a fault of their own."""
    put(at, "gates.py", SHARED)
    outcomes = {}
    for index in range(1, 2 + number % 3):
        put(at, f"train_{index}.py", USES_SHARED.format(module="gates"))
        outcomes[f"train_{index}.py"] = "available"
    put(at, "twice.py", FAILS)
    outcomes["twice.py"] = "available"
    put(at, "fine.py", HEALTHY)
    outcomes["fine.py"] = "clean"
    commit(at)
    return Expected(outcomes, {line: True for line, outcome in outcomes.items() if outcome == "available"})


def put(at: Path, name: str, text: str | bytes) -> Path:
    path = at / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def commit(at: Path) -> None:
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "As found", "--allow-empty")):
        subprocess.run([*_GIT, *words], cwd=at, check=True, env=_environment())


def _environment() -> dict[str, str]:
    same = {"GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z"}
    return os.environ | same | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def script(body: str, outcome: str) -> Maker:
    """A repository with one script, under git, that begins like any training script."""

    def make(at: Path) -> Expected:
        put(at, "train.py", NEEDS_TORCH + body)
        commit(at)
        return Expected({"train.py": outcome})

    return make


def none_to_run(files: dict[str, str]) -> Maker:
    def make(at: Path) -> Expected:
        for name, text in files.items():
            put(at, name, text)
        return Expected()

    return make


def dirty_git(at: Path) -> Expected:
    put(at, "train.py", HEALTHY)
    put(at, "kept.py", "x = 1\n")
    commit(at)
    put(at, "train.py", FAILS)
    put(at, "kept.py", "x = 2\n")
    subprocess.run([*_GIT, "add", "kept.py"], cwd=at, check=True)
    put(at, "untracked.py", FAILS.replace("5, 3", "6, 3"))
    return Expected(dict.fromkeys(("train.py", "untracked.py"), "available"), {"train.py": True, "untracked.py": True})


def submodule(at: Path) -> Expected:
    with tempfile.TemporaryDirectory() as elsewhere:
        library = Path(elsewhere, "library")
        put(library, "gates.py", SHARED)
        commit(library)
        put(at, "train.py", USES_SHARED.format(module="library.gates"))
        commit(at)
        words = "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "library"
        subprocess.run([*_GIT, *words], cwd=at, check=True, env=_environment())
        commit(at)
    return Expected({"train.py": "available"}, {"train.py": True})


def links(at: Path) -> Expected:
    put(at, "real/train.py", FAILS)
    (at / "train.py").symlink_to("real/train.py")
    (at / "nowhere.py").symlink_to("missing.py")
    (at / "loop").symlink_to(".")
    (at / "outside").symlink_to("/etc")
    (at / "self.py").symlink_to("self.py")
    return Expected({"real/train.py": "available"}, {"real/train.py": True})


def latin_1(at: Path) -> Expected:
    put(at, "train.py", "# -*- coding: latin-1 -*-\n# \xe9t\xe9\n".encode("latin-1") + FAILS.encode())
    put(at, "unreadable.py", b"# \xe9t\xe9 without a cookie\nimport torch\nloss.backward()\n")
    put(at, os.fsdecode(b"caf\xe9.txt"), "a name that is no UTF-8")
    return Expected({"train.py": "available", "unreadable.py": "other_failure"}, {"train.py": True})


def odd_name(at: Path) -> Expected:
    name = os.fsdecode(b"entra\xeenement de nuit.py")
    put(at, name, FAILS)
    return Expected({}, {})  # a name that is no UTF-8 is no module's: the outcome is left open


def traps(at: Path) -> Expected:
    """Everything that a repository could have executed outside of the fence; each would leave a mark."""
    put(at, "train.py", FAILS)
    put(at, "pyproject.toml", '[tool.autofix]\nisolation = "none"\nnetwork = true\npython = "./trap"\nwrite = true\n')
    trap = put(at, "trap", f"#!/bin/sh\ntouch '{at}/SPRUNG'\ncat\n")
    trap.chmod(0o755)
    python = put(at, ".venv/bin/python", trap.read_text())
    python.chmod(0o755)
    put(at, "sitecustomize.py", f"open({str(at / 'SPRUNG')!r}, 'w')\n")
    put(at, ".gitattributes", "*.py filter=trap\n")
    commit(at)
    settings = {
        "core.fsmonitor": str(trap), "core.hooksPath": str(at / ".git/traps"), "filter.trap.smudge": str(trap),
        "filter.trap.clean": str(trap), "core.sshCommand": str(trap), "core.pager": str(trap), "core.editor": str(trap),
        "gpg.program": str(trap), "commit.gpgSign": "true", "diff.external": str(trap),
    }  # fmt: skip
    for name, value in settings.items():
        subprocess.run([*_GIT, "config", name, value], cwd=at, check=True)
    for hook in ("post-checkout", "pre-commit", "reference-transaction", "post-commit", "post-index-change"):
        shutil.copy(trap, put(at, f".git/traps/{hook}", ""))
    (at / "SPRUNG").unlink(missing_ok=True)
    return Expected({"train.py": "available"}, {"train.py": True})


def pipe(at: Path) -> Expected:
    put(at, "train.py", FAILS)
    os.mkfifo(at / "pipe")
    return Expected({"train.py": "available"}, {"train.py": True})


def empty_git(at: Path) -> Expected:
    subprocess.run([*_GIT, "init", "-q"], cwd=at, check=True)
    return Expected()


def empty(at: Path) -> Expected:
    assert at.is_dir()
    return Expected()


TROUBLE: dict[str, Maker] = {
    "hangs": script("while True:\n    pass\n", "no_failure_within_limit"),
    "hangs-deaf": script(
        "import os, signal, time\nfor number in (2, 15):\n    signal.signal(number, signal.SIG_IGN)\n"
        "for _ in range(3):\n    os.fork()\ntime.sleep(10**6)\n", "no_failure_within_limit"),
    "aborts": script("import os\nos.abort()\n", "crashed"),
    "segfaults": script("import ctypes\nctypes.string_at(0)\n", "crashed"),
    "leaves": script("import os\nos._exit(7)\n", "crashed"),
    "exits": script("raise SystemExit(3)\n", "other_failure"),
    "kills-its-parents": script(
        "import os, signal\nfor pid in range(2, 100000):\n    try:\n        os.kill(pid, 9)\n    except OSError:\n"
        "        pass\nos.kill(os.getppid(), 9)\nloss = (w * w).sum()\nloss.backward()\nloss.backward()\n", ""),
    "eats-memory": script("held = []\nwhile True:\n    held.append(bytearray(b'x') * (64 << 20))\n", "memory_exceeded"),
    "prints": script("while True:\n    print('x' * 1000)\n", "output_exceeded"),
    "destroys": script(
        "import os, pathlib, shutil\nhere = pathlib.Path(__file__).parent\n"
        "shutil.rmtree(here / '.git', ignore_errors=True)\n(here / 'train.py').write_text('gone')\n"
        "(pathlib.Path.home() / 'autofix-batch-mark').write_text('x')\n"
        "loss = (w * w).sum()\nloss.backward()\nloss.backward()\n", ""),
    "misses-a-package": script("import a_package_that_is_nowhere\n", "other_failure"),
    "asks": script("input('how many epochs? ')\n", "other_failure"),
    "no-torch": none_to_run({"app.py": "for x in range(3):\n    print(x)\n", "setup.py": "x\n"}),
    "no-python": none_to_run({"README.md": "nothing\n", "main.c": "int main(void) { return 0; }\n"}),
    "broken-python": none_to_run({"train.py": "import torch\nloss.backward(\n"}),
    "library-only": none_to_run({"model.py": "import torch\n\ndef f(x):\n    return x.sum().backward()\n"}),
    "dirty-git": dirty_git,
    "submodule": submodule,
    "links": links,
    "latin-1": latin_1,
    "odd-name": odd_name,
    "traps": traps,
    "pipe": pipe,
    "empty-git": empty_git,
    "empty": empty,
}  # fmt: skip


def digest(folder: Path) -> str:
    """Everything in a folder: names, kinds, permissions, contents, times of change."""
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*"), key=os.fsencode):
        found = path.lstat()
        total.update(os.fsencode(path.relative_to(folder)) + f"\0{found.st_mode:o}".encode())
        if stat.S_ISLNK(found.st_mode):
            total.update(os.fsencode(path.readlink()))
        elif stat.S_ISREG(found.st_mode):
            total.update(f"{found.st_mtime_ns}".encode() + hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def check(folder: Path, out: Path) -> list[str]:
    """What is not as it should be."""
    record = json.loads((folder / "farm.json").read_text())
    summary = json.loads((out / "summary.json").read_text())
    seen = {Path(one["path"]).name: one for one in summary["repositories"]}
    wrong = [f"{name}: not in the summary" for name in record["expected"].keys() - seen.keys()]
    for name, expected in record["expected"].items():
        wrong += [f"{name}: {said}" for said in _differences(expected, seen.get(name, {"targets": []}))]
        if digest(folder / "repositories" / name) != record["digests"][name]:
            wrong.append(f"{name}: HARMED")
        wrong += [f"{name}: {said}" for said in _patch(folder / "repositories" / name, out, seen.get(name))]
    if (mark := Path.home() / "autofix-batch-mark").exists():
        wrong.append(f"{mark} was written")
    return wrong


def _differences(expected: dict[str, Any], one: dict[str, Any]) -> list[str]:
    wrong = []
    targets = {target["command"]: target for target in one["targets"]}
    for line, outcome in expected["outcomes"].items():
        if line not in targets:
            wrong.append(f"{line} was not found")
            continue
        target = targets[line]
        if outcome and target["outcome"] != outcome:
            wrong.append(f"{line}: {target['outcome']}, not {outcome} ({target['message']})")
        safe = expected["safe"].get(line)
        if safe is not None and (target["applicability"] == "safe") != safe:
            wrong.append(f"{line}: {target['applicability']}, {'safe' if safe else 'not safe'} was expected")
    if expected["outcomes"]:
        wrong += [f"{line} was run, too" for line in targets.keys() - expected["outcomes"].keys()]
    return wrong


def _patch(at: Path, out: Path, one: dict[str, Any] | None) -> list[str]:
    """Whether git takes a repository's patch."""
    if one is None or not one["patch"]:
        return []
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch, "copy")
        shutil.copytree(at, copy, symlinks=True, ignore=lambda _, names: {".git", "pipe"} & set(names))
        words = ["git", "apply", "--check", str((out / one["patch"]).absolute())]
        done = subprocess.run(words, cwd=copy, capture_output=True, text=True, check=False, env=_environment())
    return [f"the patch: {done.stderr.strip()}"] if done.returncode else []


def content(out: Path) -> list[Any]:
    """What two journals of the same work have in common, in order of the repositories' names.

    That is every fact but how long it took, and words about it.
    """
    from autofix.batch.journal import Journal  # noqa: PLC0415 - building a farm needs nothing installed

    with contextlib.closing(sqlite3.connect(out / "journal.sqlite")) as base:
        names = sorted(os.fsdecode(name) for (name,) in base.execute("select name from repository"))
    rows: list[Any] = []
    with Journal(out) as journal:
        for name in names:
            row = journal.row(name)
            rows.append([name, row.found.key, row.found.problem, row.complete, row.apart])
            rows += [
                [name, r.command, r.key, r.outcome, r.cause, r.rules, r.applicability, r.effect, r.diff]
                for r in row.results
            ]
    return rows


def run(folder: Path, out: Path, *more: str) -> int:
    words = [*BATCH, str(folder / "repositories"), "--out", str(out), *LIMITS, *more]
    return subprocess.run(words, stdout=subprocess.DEVNULL, check=False).returncode


def kill(folder: Path, times: int, *more: str, seed: int = 0) -> tuple[int, list[str]]:
    """Kill a batch, with everything it started left to itself, at random moments; then let it end."""
    drawn = random.Random(seed)  # noqa: S311 - moments, not secrets
    out = folder / "killed"
    words = [*BATCH, str(folder / "repositories"), "--out", str(out), *LIMITS, *more]
    killed = 0
    while killed < times:
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(drawn.uniform(1.0, 15.0))
            break
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            killed += 1
    run(folder, out, *more)
    return killed, check(folder, out)


def speed(folder: Path, count: int) -> None:
    """Throughput for each core of a batch with one job and with two, against the plain command for each target.

    The command may use every core; a job has one of its own, and starts its worker within the time that is measured:
    of a farm of 200, 60 targets take about four minutes in all and show the rest.
    """
    every = sorted((folder / "repositories").iterdir())
    scripts = spread([path for at in every for path in (at / "broken.py", at / "main.py") if path.exists()], count)
    cores = len(os.sched_getaffinity(0))
    plain = sum(_taken([sys.executable, "-m", "autofix", "fix", "--quiet", one.name], one.parent) for one in scripts)
    print(f"{len(scripts)} targets on {cores} cores; the plain command: {plain:.1f} s")
    taken: dict[int, float] = {}
    for jobs in (1, 2):
        with tempfile.TemporaryDirectory() as out:
            words = [*BATCH, *(str(path.parent) for path in scripts), "--out", out, "--jobs", str(jobs), *LIMITS]
            taken[jobs] = _taken(words, folder)
        each = plain * cores / (taken[jobs] * jobs)
        print(f"batch --jobs {jobs}: {taken[jobs]:.1f} s; for each core {each:.1f} times the plain command's targets")
    print(f"two jobs against one: {taken[1] / taken[2]:.2f}")


def _taken(words: list[str], at: Path) -> float:
    """Seconds that a command takes."""
    began = time.monotonic()
    subprocess.run(words, cwd=at, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.monotonic() - began


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", nargs="?", choices=["build", "check", "same", "kill", "speed"])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--engine", default="local")
    given = parser.parse_args()
    wrong: list[str] = []
    if given.command is None:
        with tempfile.TemporaryDirectory() as scratch:
            build(Path(scratch, "farm"), given.count)
            began = time.monotonic()
            run(Path(scratch, "farm"), Path(scratch, "out"), "--engine", given.engine)
            print(f"{given.count} repositories in {time.monotonic() - began:.0f} s")
            wrong = check(Path(scratch, "farm"), Path(scratch, "out"))
    elif given.command == "build":
        build(given.folders[0], given.count)
    elif given.command == "check":
        wrong = check(*given.folders)
    elif given.command == "same":
        first, second = map(content, given.folders)
        wrong = [f"{a} / {b}" for a, b in zip(first, second, strict=False) if a != b]
        wrong += ["one journal is longer"] * (len(first) != len(second))
        print(f"{len(first)} lines")
    elif given.command == "kill":
        killed, wrong = kill(given.folders[0], given.times, "--engine", given.engine)
        print(f"killed {killed} times")
    else:
        speed(given.folders[0], given.count)
    print("\n".join(wrong) or "nothing is wrong")
    return bool(wrong)


if __name__ == "__main__":
    raise SystemExit(main())
