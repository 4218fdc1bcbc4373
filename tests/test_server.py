"""The server answers in the order that its host expects, and never waits for a host that waits for it."""

from __future__ import annotations

import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from autofix.core.model import Target
from autofix.experiments.client import JOBS, Probe, run
from autofix.experiments.requests import plain
from autofix.probe.fence import isolate

pytestmark = pytest.mark.torch

LARGE = 1 << 19
"""More than a pipe holds."""


def test_a_host_that_asks_before_it_reads_is_answered(python: Path, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(f"print('x' * {LARGE})\n")
    asked = plain(Target(script, root=tmp_path), "baseline")
    comment = replace(asked, overlay={str(script): f"pass  # {'x' * LARGE}\n"})
    numbers: list[int] = []
    with Probe(python) as fresh:
        fresh.hello()
        numbers.append(fresh.submit(asked))
        assert fresh._more(60.0)
        asking = threading.Thread(target=lambda: numbers.extend(fresh.submit(comment) for _ in range(2)), daemon=True)
        asking.start()
        asking.join(60.0)
        if asking.is_alive():
            fresh._process.kill()
            pytest.fail("both wait")
        assert [fresh.wait(number, 60.0).outcome for number in numbers] == ["finished"] * 3


@pytest.mark.skipif("overlay" not in isolate.available(), reason="this machine has no overlays to be refused")
def test_a_first_run_that_is_refused_is_told_as_any_other(python: Path, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("")
    asked = replace(plain(Target(script, root=Path("/")), "baseline"), isolation="overlay")
    with Probe(python) as fresh:
        told = [run(fresh, asked) for _ in range(2)]
    assert {trace.outcome for trace in told} == {"cannot_run"}
    assert "root of the file system" in told[0].detail


def test_a_run_that_is_waited_for_goes_before_those_that_nobody_waits_for(probe: Probe, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("import time\ntime.sleep(0.2)\nprint(time.monotonic())\n")
    asked = plain(Target(script, root=tmp_path), "candidate")
    numbers = [probe.submit(asked) for _ in range(3 * JOBS)]
    last = float(probe.wait(numbers[-1], 60.0).stdout)
    others = [float(probe.wait(number, 60.0).stdout) for number in numbers[:-1]]
    assert sum(other < last for other in others) <= 2 * JOBS - 1


@pytest.mark.skipif(sys.platform != "linux", reason="glibc alone is asked for it")
def test_memory_that_nobody_has_written_is_the_same_in_each_run(python: Path, tmp_path: Path) -> None:
    script = tmp_path / "buffer.py"
    script.write_text("""\
import torch

used = [torch.full((999,), 7.0) for _ in range(9)]
del used
print(torch.empty(999).abs().sum().item())
""")
    with Probe(python) as probe:
        assert run(probe, plain(Target(script, root=tmp_path))).stdout == "0.0\n"
