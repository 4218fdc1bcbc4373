"""Whatever a script does, its run ends within its limits, says so honestly, and leaves no process."""

from __future__ import annotations

import os
import secrets
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from sampled import one_in

from autofix import pipeline
from autofix.core.model import Outcome, Target
from autofix.experiments.client import Probe
from autofix.probe import wire
from autofix.probe.fence import isolate
from autofix.render import sentence

pytestmark = pytest.mark.torch
RUNGS = (isolate.available() if sys.platform == "linux" else ["copy", "none"]) if os.name == "posix" else []
TOKEN = f"limits-{secrets.token_hex(6)}"


class Case(NamedTuple):
    """A script, how its run must end, and what the trace must say."""

    script: str
    outcome: str
    detail: str = ""


CASES = {
    "loops for ever": Case("while True: pass", "timed_out"),
    "ignores SIGTERM": Case(
        "import signal, time\n"
        "for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(number, signal.SIG_IGN)\n"
        "while True: time.sleep(1)",
        "timed_out",
    ),
    "swallows everything": Case(
        "import torch\nw = torch.ones(2, requires_grad=True)\nloss = (w * w).sum()\nloss.backward()\n"
        "while True:\n    try:\n        loss.backward()\n    except:\n        pass",
        "timed_out",
    ),
    "stops itself": Case("import os, signal; os.kill(os.getpid(), signal.SIGSTOP)", "timed_out"),
    "waits for its own daemon": Case(
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork():\n        os._exit(0)\n"
        "    time.sleep(1e6)\ntime.sleep(1e6)",
        "timed_out",
    ),
    "waits for input": Case("name = input('name: ')", "failed", "EOFError"),
    "prints without end": Case("import os\nwhile True: os.write(1, b'x' * (1 << 16))", "output_exceeded"),
    "prints a gigabyte to stderr": Case(
        "import sys\nfor _ in range(1 << 10): sys.stderr.write('x' * (1 << 20))", "output_exceeded"
    ),
    "eats memory": Case(
        "import time; eaten = [b'x' * (64 << 20) for _ in range(14)]; time.sleep(1e6)", "memory_exceeded"
    ),
    "forks without end": Case(
        "import os, time\nwhile True:\n    if os.fork() == 0: time.sleep(1e6)", "processes_exceeded"
    ),
    "starts programs without end": Case(
        "import subprocess\nwhile True: subprocess.Popen(['/bin/sleep', '1000'], start_new_session=True)",
        "processes_exceeded",
    ),
    "leaves a daemon": Case(
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        time.sleep(1e6)\n"
        "    os._exit(0)\nos.wait()",
        "finished",
    ),
    "leaves a program": Case(
        "import subprocess; subprocess.Popen(['/bin/sleep', '1000'], start_new_session=True)", "finished"
    ),
    "leaves a thread": Case(
        "import threading, time; threading.Thread(target=time.sleep, args=(1e6,)).start()", "finished"
    ),
    "has loader workers": Case(
        "import torch\nfrom torch.utils.data import DataLoader\n"
        "loader = DataLoader(range(64), batch_size=4, num_workers=2, persistent_workers=True)\n"
        "assert sum(int(batch.sum()) for batch in loader) == 2016",
        "finished",
    ),
    "exits hard": Case("import os; os._exit(3)", "failed", "SystemExit: 3"),
    "exits hard for what it raised": Case(
        "import os\ntry:\n    {}[1]\nexcept KeyError:\n    os._exit(3)", "failed", "KeyError: 1"
    ),
    "exits hard after what it raised": Case(
        "import os\ntry:\n    {}[1]\nexcept KeyError:\n    pass\nos._exit(3)", "failed", "SystemExit: 3"
    ),
    "exits hard in another process, for what it raised": Case(
        "import os\nif os.fork() == 0:\n    try:\n        {}[1]\n    except KeyError:\n        os._exit(3)\n"
        "assert os.wait()[1] == 3 << 8",
        "finished",
    ),
    "exits hard as if all were well": Case("import os; os._exit(0)", "finished"),
    "exits by what nobody watches": Case("import posix; posix._exit(0)", "crashed", "status 0"),
    "crashes": Case("import ctypes; ctypes.string_at(0)", "crashed", "SIGSEGV"),
    "closes every descriptor": Case("import os; os.closerange(0, 256)", "crashed"),
    "exits with a status": Case("raise SystemExit(4)", "failed", "SystemExit: 4"),
}
LIMITS: dict[str, Any] = {"time_limit": 1.0, "output_limit": 1 << 16, "memory_limit": 700 << 20, "process_limit": 12}


def limits_of(case: Case) -> dict[str, Any]:
    """Small limits; the time only where it is what ends the run, for this machine may be busy."""
    return LIMITS if case.outcome == "timed_out" else {**LIMITS, "time_limit": 30.0}


def left(probe: Probe) -> set[str]:
    """The command lines of living processes that stem from the probe, but for itself and its keeper."""
    server = probe._process.pid
    found = {}
    for process in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            if TOKEN.encode() in (process / "environ").read_bytes():
                state, parent = (process / "stat").read_bytes().rpartition(b")")[2].split()[:2]
                if state not in {b"Z", b"X"}:
                    found[int(process.name)] = int(parent), (process / "cmdline").read_bytes()
    keepers = [pid for pid, (parent, _) in found.items() if parent == server]
    return {
        f"{pid} of {parent}: {words!r}" for pid, (parent, words) in found.items() if pid not in {server, *keepers[:1]}
    }


@pytest.mark.parametrize("rung", one_in(3, RUNGS))
def test_every_run_ends_says_how_and_leaves_nothing(
    rung: str, python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All scripts side by side, in a probe for each rung: users who are root only in a namespace cannot mix them."""
    monkeypatch.setenv("AUTOFIX_TEST_TOKEN", TOKEN)
    folders = {name: tmp_path / name.replace(" ", "_") for name in CASES}
    with Probe(python) as probe:
        traces = all_ended(probe, rung, folders)
        remains = left(probe) if sys.platform == "linux" else set()
        for _ in range(400):  # what was killed may take a moment to be gone, and a stem five seconds
            if not remains:
                break
            time.sleep(0.02)
            remains = left(probe)
    assert {name: (trace.outcome, trace.isolation) for name, trace in traces.items()} == {
        name: (case.outcome, rung) for name, case in CASES.items()
    }
    assert [name for name, case in CASES.items() if case.detail not in traces[name].detail] == []
    assert [name for name, one in traces.items() if len(one.stdout) + len(one.stderr) >= 1 << 20] == []
    assert {path.name for folder in folders.values() for path in folder.iterdir()} == {"script.py"}
    assert not remains


def all_ended(probe: Probe, rung: str, folders: dict[str, Path]) -> dict[str, wire.Trace]:
    """What comes of all scripts, run side by side on one rung."""
    numbers = {}
    for name, case in CASES.items():
        folder = folders[name]
        folder.mkdir()
        script = folder / "script.py"
        script.write_text(case.script)
        where = {"script": str(script), "argv": (), "cwd": str(folder), "root": str(folder)}
        numbers[name] = probe.submit(wire.Request(0, "baseline", isolation=rung, **where, **limits_of(case)))
    return {name: probe.wait(number, 60) for name, number in numbers.items()}


@pytest.mark.parametrize(
    ("name", "outcome", "option"),
    [
        ("loops for ever", Outcome.TIMED_OUT, "--time-limit"),
        ("eats memory", Outcome.MEMORY_EXCEEDED, "--memory-limit"),
        ("prints without end", Outcome.OUTPUT_EXCEEDED, "--output-limit"),
        ("starts programs without end", Outcome.PROCESSES_EXCEEDED, "--process-limit"),
        ("crashes", Outcome.CRASHED, "SIGSEGV"),
        ("waits for input", Outcome.OTHER_FAILURE, "EOFError"),
    ],
)
def test_each_limit_is_an_outcome_of_its_own_and_names_its_option(
    probe: Probe, tmp_path: Path, name: str, outcome: Outcome, option: str
) -> None:
    script = tmp_path / "script.py"
    script.write_text(CASES[name].script)
    target = Target(script, cwd=tmp_path, root=tmp_path, python=Path(sys.executable), **limits_of(CASES[name]))
    report = pipeline.fix(target, (), probe=probe, progress=lambda _: None)
    assert report.outcome is outcome
    assert option in sentence(report)
