"""Batches over real repositories: what comes out, that it goes on after a kill, and that nobody is harmed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree as ET

import psutil
import pytest
from farms import CHROMIUM, FARM, browsed

from autofix.batch.journal import Journal

LIMITS = ("--time-limit", "60", "--memory-limit", "1G")
ONE = ("--jobs", "1")  # torch is imported once for each
KINDS = (
    "several-02", "first-gan_two_step-nested", "trouble-eats-memory", "trouble-aborts",
    "trouble-kills-its-parents", "trouble-traps", "trouble-destroys", "trouble-dirty-git", "trouble-submodule",
    "trouble-links", "trouble-latin-1", "trouble-odd-name", "trouble-pipe", "trouble-no-torch", "trouble-empty",
)  # fmt: skip
FEW = ("trouble-aborts", "trouble-dirty-git", "trouble-links", "trouble-no-torch")


def batch(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "autofix", "batch", *words]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, errors="surrogateescape", check=False)


@pytest.fixture(scope="module")
def farm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("farm")
    FARM.build(folder, only=[*KINDS])
    done = batch(str(folder / "repositories"), "--out", str(folder / "out"), *LIMITS)
    assert done.returncode == 1, done.stderr
    return folder


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("few")
    FARM.build(folder, only=[*FEW])
    batch(str(folder / "repositories"), "--out", str(folder / "out"), *LIMITS, *ONE)
    return folder


@pytest.mark.torch
@pytest.mark.slow
def test_the_repairable_are_repaired_and_nobody_is_harmed(farm: Path) -> None:
    assert FARM.check(farm, farm / "out") == []


@pytest.mark.torch
@pytest.mark.slow
def test_every_kind_of_result_says_the_same(farm: Path) -> None:
    out = farm / "out"
    summary = json.loads((out / "summary.json").read_text())
    several = next(one for one in summary["repositories"] if one["path"].endswith("several-02"))
    assert [(target["file"], target["outcome"], target["applicability"]) for target in several["targets"]] == [
        ("fine.py", "clean", None), ("train_1.py", "available", "safe"), ("train_2.py", "available", "safe"),
        ("train_3.py", "available", "safe"), ("twice.py", "available", "safe"),
    ]  # fmt: skip
    assert {target["patch"] for target in several["targets"][1:]} == {several["patch"]}
    patch = (out / several["patch"]).read_text()
    assert patch.count("--- a/") == 2
    cases = ET.parse(out / "junit.xml").getroot().iter("testcase")  # noqa: S314 - our own
    kinds = {(case.get("classname", "").rpartition("/")[2], case.get("name")): [*case] for case in cases}
    assert [inner.get("type") for inner in kinds["trouble-aborts", "train.py"]] == ["crashed"]
    assert [inner.tag for inner in kinds["several-02", "train_1.py"]] == ["failure"]
    assert kinds["several-02", "fine.py"] == []
    log = json.loads((out / "results.sarif").read_text())
    roots = {run["originalUriBaseIds"]["SRCROOT"]["uri"].split("/")[-2]: run["results"] for run in log["runs"]}
    assert len(roots["several-02"]) == 4
    assert "trouble-aborts" not in roots
    assert all(
        run["tool"]["driver"]["rules"][r["ruleIndex"]]["id"] == r["ruleId"]
        for run in log["runs"]
        for r in run["results"]
    )


@pytest.mark.apart("long")
@pytest.mark.torch
@pytest.mark.slow
def test_the_same_command_repeats_nothing(farm: Path) -> None:
    before = FARM.content(farm / "out")
    done = batch(str(farm / "repositories"), "--out", str(farm / "out"), *LIMITS)
    assert done.returncode == 1
    assert FARM.content(farm / "out") == before
    assert all("done before" in line for line in done.stderr.splitlines())


@pytest.mark.apart("long")
@pytest.mark.torch
@pytest.mark.slow
def test_a_batch_that_is_killed_goes_on_and_ends_the_same(few: Path) -> None:
    out = few / "killed"
    command = [sys.executable, "-m", "autofix", "batch", str(few / "repositories"), "--out", str(out), *LIMITS, *ONE]
    for moment in (1, 2):
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
            results = (line for line in process.stderr or () if line.endswith(" s\n"))
            for _ in range(moment):
                next(results, "")
            process.kill()
    done = batch(*command[4:])
    assert "done before" in done.stderr
    assert FARM.content(out) == FARM.content(few / "out")
    assert FARM.check(few, out) == []


@pytest.mark.apart("long")
@pytest.mark.torch
@pytest.mark.slow
def test_a_worker_that_dies_costs_only_a_second_try(few: Path) -> None:
    out = few / "worker-killed"
    command = [
        sys.executable,
        "-m",
        "autofix",
        "batch",
        str(few / "repositories"),
        "--out",
        str(out),
        *LIMITS,
        *ONE,
        "-q",
    ]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        workers = wait_for_workers(process.pid)
        workers[0].kill()
        process.wait()
    assert FARM.content(out) == FARM.content(few / "out")


def ended(process: psutil.Process) -> None:
    """Wait for a process to be gone; one that only its new parent has not asked after yet is."""
    for _ in range(1200):
        if command_line(process) is None:
            return
        time.sleep(0.05)
    raise AssertionError(f"{process} is still there")


def command_line(process: psutil.Process) -> list[str] | None:
    """The words of a process; None where it has ended."""
    try:
        return None if process.status() == psutil.STATUS_ZOMBIE else process.cmdline()
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return None


def wait_for_workers(pid: int) -> list[psutil.Process]:
    for _ in range(600):
        children = psutil.Process(pid).children(recursive=True)
        found = [one for one in children if "autofix.batch.worker" in (command_line(one) or ())]
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("no worker was started")


@pytest.mark.apart("long")
@pytest.mark.torch
@pytest.mark.slow
def test_ray_gives_the_same_journal_also_when_a_worker_is_killed(few: Path) -> None:
    pytest.importorskip("ray", reason="Ray is large and optional: pip install 'autofix[ray]'")
    out = few / "ray"
    words = [str(few / "repositories"), "--out", str(out), *LIMITS, "-q", "--engine", "ray", *ONE]
    command = [sys.executable, "-m", "autofix", "batch", *words]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        worker = wait_for_workers(process.pid)[0]
        holder = worker.parent()
        assert holder is not None
        holder.kill()  # the Ray worker itself; what it supervised must go with it
        process.wait()
    ended(worker)
    assert FARM.content(out) == FARM.content(few / "out")


@pytest.mark.apart("long")
@pytest.mark.torch
@pytest.mark.slow
def test_fixes_are_written_and_branched_without_the_repositorys_hooks(tmp_path: Path) -> None:
    farm = tmp_path / "farm"
    FARM.build(farm, only=["trouble-traps"])
    at = farm / "repositories" / "trouble-traps"
    git = ["git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-C", str(at)]
    done = batch(
        str(at), "--out", str(tmp_path / "out"), *LIMITS, "--branch", "autofix/repair", "--author", "A B <a@b.c>"
    )
    assert done.returncode == 1, done.stderr
    told = subprocess.run(
        [*git, "log", "-1", "--format=%an <%ae>%n%P%n%B", "autofix/repair"], capture_output=True, text=True, check=True
    )
    assert told.stdout.startswith("A B <a@b.c>\n")
    assert "Effect: " in told.stdout
    shown = subprocess.run([*git, "show", "autofix/repair:train.py"], capture_output=True, text=True, check=True)
    assert "retain_graph=True" in shown.stdout
    assert "retain_graph" not in (at / "train.py").read_text()
    written = batch(str(at), "--out", str(tmp_path / "out"), *LIMITS, "--write")
    assert written.returncode == 0, written.stderr
    assert (at / "train.py").read_text() == shown.stdout
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["repositories"][0]["targets"][0]["outcome"] == "fixed"
    again = batch(str(at), "--out", str(tmp_path / "out"), *LIMITS, "--write")
    assert "done before" in again.stderr
    assert not (at / "SPRUNG").exists()


@pytest.mark.torch
@pytest.mark.slow
def test_a_manifest_names_revisions_commands_and_environments_and_a_gate_only_tells(tmp_path: Path) -> None:
    at = tmp_path / "project"
    FARM.put(at, "train.py", FARM.FAILS)
    FARM.put(
        at, "given.py", "import os, sys, torch\nassert (os.environ['SEED'], sys.argv[1:]) == ('7', ['--fast', 'x y'])\n"
    )
    FARM.commit(at)
    FARM.put(at, "train.py", FARM.HEALTHY)
    manifest = tmp_path / "all.toml"
    manifest.write_text(
        "[defaults]\ntime-limit = 20\n"
        '[[repository]]\npath = "project"\nrevision = "HEAD"\ncommands = ["train.py"]\n'
        '[[repository]]\npath = "project"\nsetup = "echo made > made.py"\n'
        'commands = ["given.py --fast \'x y\'", "made.py", "train.py"]\nenvironment = { SEED = "7" }\n'
    )
    done = batch(str(manifest), "--out", str(tmp_path / "out"), "--check", "-q")
    assert done.returncode == 1, done.stderr
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["journal.sqlite", "lock", "results.sarif"]
    facts = [(str(row[0]).rpartition("/")[2], row[1], row[3]) for row in FARM.content(tmp_path / "out") if len(row) > 5]
    assert facts == [
        ("project", "given.py --fast 'x y'", "clean"),
        ("project", "made.py", "other_failure"),
        ("project", "train.py", "clean"),
        ("project@HEAD", "train.py", "available"),
    ]  # fmt: skip


@pytest.mark.apart("long")
@pytest.mark.torch
@pytest.mark.slow
def test_a_repository_that_hangs_costs_its_limit_and_an_interruption_loses_nothing(tmp_path: Path) -> None:
    FARM.build(tmp_path, only=["trouble-hangs-deaf", "trouble-no-torch"])
    words = [str(tmp_path / "repositories"), "--out", str(tmp_path / "out"), "--jobs", "1"]
    command = [sys.executable, "-m", "autofix", "batch", *words]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        worker = wait_for_workers(process.pid)[0]
        process.send_signal(signal.SIGTERM)
        said = process.stderr.read() if process.stderr is not None else ""
    assert process.returncode == 130
    assert "the same command goes on" in said
    ended(worker)
    done = batch(*words, "--time-limit", "3")
    assert "trouble-hangs-deaf: train.py: timed_out" in done.stderr
    retried = batch(*words, "--time-limit", "3", "--retry-failed")
    assert "trouble-no-torch: done before" in retried.stderr
    assert "trouble-hangs-deaf: train.py: timed_out" in retried.stderr


def test_a_second_batch_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    with Journal(tmp_path / "out"):
        done = batch("project", "--out", "out", cwd=tmp_path)
    assert done.returncode == 2
    assert (
        done.stderr == f"autofix: {tmp_path / 'out'}: another batch is at work here; name another folder with --out\n"
    )


@pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium: apt-get install chromium")
@pytest.mark.torch
@pytest.mark.slow
def test_a_browser_shows_the_pages(farm: Path) -> None:
    index = browsed(farm / "out" / "index.html")
    assert index.count("<tr>") == len(KINDS) + 1
    assert f">{len(KINDS)} of {len(KINDS)}</output>" in index  # the script ran, as the page's policy allows it to
    (page,) = (farm / "out" / "repositories").glob("*several-02.html")
    shown = browsed(page)
    assert "gates.py" in shown
    assert '<span class="added">+    y = y + 1</span>' in shown


ARGUED = """\
import argparse

import torch
from shop.data import batch

parser = argparse.ArgumentParser()
parser.add_argument("--width", type=int, required=True)
w = torch.ones(parser.parse_args().width, requires_grad=True)
optimizer = torch.optim.SGD([w], 0.1)
kept = w * 2
for step in range(3):
    optimizer.zero_grad()
    (kept.sum() * batch(step)).backward()
    optimizer.step()
"""


@pytest.mark.apart("long")
@pytest.mark.torch
@pytest.mark.slow
def test_a_script_runs_as_its_readme_says_and_what_trains_nothing_is_told_apart(tmp_path: Path) -> None:
    FARM.put(tmp_path, "work/bin/train.py", ARGUED)
    FARM.put(tmp_path, "work/shop/data.py", "def batch(step):\n    return step + 1.0\n")
    FARM.put(tmp_path, "work/show.py", "import torch\nfor x in ():\n    x.backward()\n")
    FARM.put(tmp_path, "work/README.md", "Train with `python -m bin.train --width 3`.\n")
    done = batch("work", *ONE, cwd=tmp_path)
    assert "1 available" in done.stdout, done.stdout + done.stderr
    assert "1 idle" in done.stdout
    assert "1 of 2 targets came to a backward call" in done.stdout
    summary = json.loads((tmp_path / "autofix-batch" / "summary.json").read_text())
    shown, trains = sorted(summary["repositories"][0]["targets"], key=lambda one: one["command"], reverse=True)
    assert (shown["outcome"], shown["ran"], shown["tried"]) == ("clean", "show.py", [])
    assert (trains["command"], trains["ran"]) == ("bin/train.py", "python -m bin.train --width 3")
    page = next((tmp_path / "autofix-batch" / "repositories").iterdir()).read_text()
    assert "It ran as <code>python -m bin.train --width 3</code>" in page
    FARM.put(tmp_path, "all.toml", '[[repository]]\npath = "work"\ncommands = ["cd bin && python train.py"]\n')
    done = batch("all.toml", *ONE, cwd=tmp_path)
    assert "1 not runnable" in done.stdout, "what somebody typed is not varied"


ELSEWHERE = """\
import torch

net = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
assert torch.load("missing.pt")["epoch"] == 0
for step in range(10**9):
    optimizer.zero_grad()
    net(torch.ones(2, 3)).sum().backward()
    optimizer.step()
assert step < 5
"""


FOR_EVER = """\
import itertools
import time

import torch

net = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in itertools.count():
    optimizer.zero_grad()
    net(torch.ones(2, 3)).sum().backward()
    optimizer.step()
    time.sleep(0.05)
"""


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.apart("long")
def test_a_script_that_trains_for_ever_ran(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "train.py").write_text(FOR_EVER)
    done = batch("work", *ONE, cwd=tmp_path)
    assert (done.returncode, "1 clean" in done.stdout) == (0, True), done.stdout + done.stderr
    summary = json.loads((tmp_path / "autofix-batch" / "summary.json").read_text())
    (target,) = summary["repositories"][0]["targets"]
    assert target["outcome"] == "clean"
    assert "without a failure, and was ended there: --rounds 0 waits for its end" in target["message"]
    done = batch("work", "--rounds", "0", "--time-limit", "8", *ONE, cwd=tmp_path)
    assert (done.returncode, "1 clean" in done.stdout) == (0, True), done.stdout + done.stderr
    summary = json.loads((tmp_path / "autofix-batch" / "summary.json").read_text())
    assert summary["repositories"][0]["targets"][0]["outcome"] == "no_failure_within_limit"


@pytest.mark.apart("long")
@pytest.mark.torch
def test_what_is_missing_here_is_stood_in_for_and_what_is_long_cut_short_when_asked(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "train.py").write_text(ELSEWHERE)
    assert "1 not runnable" in batch("work", *ONE, cwd=tmp_path).stdout
    done = batch("work", "--stand-in", "--shorten", "3", *ONE, cwd=tmp_path)
    assert (done.returncode, "1 clean" in done.stdout) == (0, True), done.stdout + done.stderr
    (tmp_path / "list.toml").write_text('[[repository]]\npath = "work"\nstand-in = true\nshorten = 3\n')
    done = batch("list.toml", *ONE, cwd=tmp_path)
    assert (done.returncode, "1 clean" in done.stdout) == (0, True), done.stdout + done.stderr
