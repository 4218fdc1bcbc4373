"""A warm probe serves one repair after another, and is replaced when what it has imported is no longer so."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from autofix.batch import worker
from autofix.batch.records import Job, Repository, Terms
from autofix.core.model import Target
from autofix.experiments import warm
from autofix.experiments.client import Probe, run
from autofix.experiments.requests import plain

pytestmark = pytest.mark.torch


@pytest.fixture
def target(tmp_path: Path) -> Target:
    """A script that needs nothing but torch."""
    script = tmp_path / "project" / "train.py"
    script.parent.mkdir()
    script.write_text("import torch\nimport helper_of_mine\n\nprint(torch.ones(2).sum().item())\n")
    (script.parent / "helper_of_mine.py").write_text("")
    return Target(script, root=script.parent, python=Path(sys.executable))


def test_one_probe_serves_until_its_packages_change_or_it_dies(
    target: Target, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = tmp_path / "packages"
    packages.mkdir()
    monkeypatch.setenv("PYTHONPATH", str(packages))
    with warm.Warm(Probe) as kept:
        first = kept.probe(target)
        assert run(first, plain(target)).stdout == "2.0\n"
        assert kept.probe(target) is first
        (packages / "something-1.0.dist-info").mkdir()
        second = kept.probe(target)
        assert second is not first
        assert not first.alive
        os.kill(second.pid, signal.SIGKILL)
        while second.alive:
            os.sched_yield()
        third = kept.probe(target)
        assert third is not second
        assert run(third, plain(target)).stdout == "2.0\n"
    assert not third.alive


def test_what_every_run_needs_is_imported_once_and_left_to_no_runs_garbage_collection(target: Target) -> None:
    # What the server has imported is frozen: the collector does not list it any more.
    target.script.write_text(
        "import gc\nimport helper_of_mine\nimport torch\n"
        "late = [one.__name__ for one in gc.get_objects() if type(one) is type(gc)]\n"
        "print(sorted(name for name in late if name.startswith(('helper', 'torch', '_autofix_probe'))))\n"
    )
    with Probe(Path(sys.executable)) as running:
        run(running, plain(target))  # the first may begin before all is imported
        for mode in ("baseline", "trace", "reference", "candidate"):
            assert run(running, plain(target, mode)).stdout == "['helper_of_mine']\n", mode


@pytest.mark.skipif(sys.platform != "linux", reason="large pages are asked for on Linux only")
def test_packing_leaves_what_the_memory_holds_as_it_was() -> None:
    program = """
import sys
from autofix.probe.packing import Packing
held = bytearray(range(256)) * (1 << 16)
packing, steps = Packing(), 0
while packing.step():
    steps += 1
print(steps >= 4, held == bytearray(range(256)) * (1 << 16), packing.step())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "True True False\n"


def test_a_probe_that_is_kept_serves_on_after_its_memory_was_packed(target: Target) -> None:
    with Probe(target.python) as probe:
        results = {run(probe, plain(target)).stdout for _ in range(80)}
    assert results == {"2.0\n"}


@pytest.mark.apart("long")
def test_each_environment_has_its_own_probe_and_the_oldest_goes(target: Target) -> None:
    target.script.write_text("import os\n\nprint(os.environ['WHOSE'])\n")
    with warm.Warm(Probe, most=2) as kept:
        mine, yours = ({"WHOSE": name} for name in ("mine", "yours"))
        first = kept.probe(target, mine)
        second = kept.probe(target, yours)
        assert run(first, plain(target)).stdout == "mine\n"
        assert run(second, plain(target)).stdout == "yours\n"
        assert "WHOSE" not in os.environ
        assert kept.probe(target, mine) is first
        kept.probe(target, {"WHOSE": "another"})
        assert not second.alive
        assert kept.probe(target, mine) is first
        kept.leave(Path(sys.executable).parent)
        assert not first.alive
        assert not kept.holds(target, mine)


def test_a_batch_starts_one_probe_for_all_targets_of_an_environment(tmp_path: Path) -> None:
    repositories, options = [], Terms(commands=("train.py", "again.py"))
    for name in ("one", "other"):
        for script in ("train.py", "again.py"):
            (tmp_path / name).mkdir(exist_ok=True)
            (tmp_path / name / script).write_text("import torch\n\nassert torch.ones(2).sum() == 2\n")
        repositories.append(Repository(name, str(tmp_path / name), options=options))
    started: list[Probe] = []

    def make(python: Path, modules: Sequence[str], environment: Mapping[str, str]) -> Probe:
        started.append(Probe(python, modules, environment))
        return started[-1]

    with warm.Warm(make) as kept:
        events = [event for one in repositories for event in worker.work(Job(one), kept)]
    results = [event.result for event in events if event.result is not None]
    assert [result.outcome for result in results] == ["clean"] * 4
    assert len(started) == 1


def test_only_harmless_packages_and_never_the_users_own_are_imported_ahead(target: Target) -> None:
    target.script.write_text("import numpy as np\nimport helper_of_mine\nfrom matplotlib import pyplot\nimport torch\n")
    assert warm.modules(target) == ["numpy"]
    target.script.write_text("import torch\n\nprint(torch.compile(torch.sin)(torch.ones(2)))\n")
    assert warm.modules(target) == ["torch._dynamo"]
    target.script.write_text("import torch\n")
    assert warm.modules(target) == []


def test_what_a_run_has_loaded_is_there_for_the_next_unless_it_is_the_users_own(target: Target) -> None:
    there = "import sys\nprint([name in sys.modules for name in ('torch.fx.experimental.symbolic_shapes', 'einops')])\n"
    derivative = "x = torch.ones(2, requires_grad=True)\ntorch.autograd.grad(2 * x, x, torch.ones(2))\n"
    (target.script.parent / "einops.py").write_text("")
    target.script.write_text(f"{there}import torch\n{derivative}import einops\n")
    with Probe(target.python) as probe:
        first, *others = (run(probe, plain(target)) for _ in range(3))
    assert first.loaded[-1] == "torch.fx.experimental.symbolic_shapes"
    assert "einops" not in first.loaded
    assert {trace.stdout for trace in others} == {"[True, False]\n"}
