"""A beginning that is executed once: runs that go on from it are what runs from the first line are."""

from __future__ import annotations

import dataclasses
import os
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
from sampled import one_in

from autofix.core.model import Target
from autofix.experiments.client import Probe, run
from autofix.experiments.requests import changed_lines, line_map, plain
from autofix.probe import stems, wire

pytestmark = pytest.mark.torch

# What compiles was loaded once an earlier run of the same server had loaded it: two servers may differ in that.
ASIDE = {
    *("before", "compiles", "computed", "id", "past", "peak_bytes", "queued"),
    *("resumed", "seconds", "stdout", "stem", "traceback", "wrote"),
}
HEAD = """
import os, random, sys, time
import numpy as np
import torch
from torch import nn

STAMP = time.time_ns()
"""
NETS = """
torch.manual_seed(0)
data = torch.randn(32, 4) + torch.tensor(np.random.rand(32, 4), dtype=torch.float32) + random.random()
G, D = nn.Linear(4, 4), nn.Linear(4, 1)
og, od = (torch.optim.SGD(m.parameters(), lr=0.1) for m in (G, D))
"""
LOOP = """
for step in range(4):
    fake = G(data)
    od.zero_grad()
    D(fake).mean().backward()
    od.step()
    og.zero_grad()
    D(fake).pow(2).mean().backward()
    og.step()
    print(step, float(data.sum()), random.random(), float(np.random.rand()), float(torch.rand(1)))
print("stamp", STAMP)
"""
OLD, NEW = "D(fake).mean()", "D(fake.detach()).mean()"


def indented(text: str) -> str:
    return textwrap.indent(text.strip("\n"), "    ") + "\n"


CLOSURE = """
    scale = 1.0
    def scaled(x):
        return x * scale
    pairs = [scaled(step) for step in range(3)]
    scale = 2.0
    print(scaled(1), pairs)
"""
SCRIPTS = {
    "module": HEAD + NETS + LOOP,
    "guarded": HEAD + f'if __name__ == "__main__":\n{indented(NETS + LOOP)}',
    "main": HEAD + f"def main():\n{indented(NETS + LOOP)}\nmain()\n",
    "returns": HEAD
    + f"def main(first, *rest, **more):\n{indented(NETS + LOOP)}    return 3\n\nprint(main(1, 2, a=3))\n",
    "method": HEAD + f"class Trainer:\n    def fit(self, n):\n{indented(indented(NETS + LOOP))}\nTrainer().fit(3)\n",
    "caught": HEAD + f"def main():\n{indented(NETS + LOOP)}\ntry:\n    main()\nexcept RuntimeError:\n    print('no')\n",
    "later": HEAD + NETS + f"def train():\n{indented(LOOP)}\nstate = [p.shape for p in G.parameters()]\ntrain()\n",
    "bars": f"from tqdm import tqdm\n{HEAD}{NETS}"
    "for step in tqdm(range(9), mininterval=99, bar_format='{n}'):\n    pass\n" + LOOP,
    "a bar around it": f"from tqdm import tqdm\n{HEAD}os.mkdir('runs')\n{NETS}"
    + LOOP.replace("range(4)", "tqdm(range(4), mininterval=99, bar_format='{n}')"),
    "evaluated": HEAD
    + NETS
    + "norm = nn.BatchNorm1d(4)\nwith torch.no_grad():\n    norm(G(data))\n"
    + "data = (norm(G(data)) + data).detach()\nSTAMP = time.time_ns()\n"
    + LOOP,
    "cells": HEAD + f"def main():\n{CLOSURE}{indented(NETS + LOOP)}\nmain()\n",
}
"""The same training, in the places where people keep it."""
FORWARD = (
    HEAD
    + """
class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(4, 4), nn.Linear(4, 1)

    def forward(self, x):
        fake = self.one(x)
        return self.two(fake).mean(), self.two(fake).pow(2).mean()

model = Pair()
optimizer = torch.optim.Adam(model.parameters())
for step in range(3):
    one, two = model(torch.randn(8, 4))
    one.backward()
    two.backward()
    optimizer.step()
print("stamp", STAMP)
"""
)


@pytest.fixture(scope="module")
def sharing(python: Path) -> Iterator[Probe]:
    """A probe whose runs go on from one beginning wherever they may."""
    with Probe(python, stems="always") as running:
        running.hello()  # what is asked before that runs while the server still imports
        yield running


@pytest.fixture(scope="module")
def single(python: Path) -> Iterator[Probe]:
    """A probe whose runs all begin at the first line."""
    with Probe(python, stems="never") as running:
        yield running


def request(path: Path, edit: tuple[str, str] | None, mode: str = "candidate", **asked: Any) -> wire.Request:
    """A run of a script, with an edit in it."""
    target = Target(path, root=path.parent)
    old = path.read_bytes()
    new = old if edit is None else old.replace(edit[0].encode(), edit[1].encode(), 1)
    assert edit is None or new != old
    files = {path: new} if edit is not None else {}
    compared = {"lines": {str(path): line_map(path, old, new)}, "marks": {str(path): changed_lines(old, new)}}
    more: dict[str, Any] = {"threads": 1, "perturbed": True, "passes": 30, "failed_at": (1, 1, 0)}
    more |= compared if mode == "candidate" else {"watch_calls": False, "watch_origins": False}
    return dataclasses.replace(plain(target, mode, files), **(more | asked))


def runs(sharing: Probe, single: Probe, path: Path, *asked: wire.Request) -> list[wire.Trace]:
    """What requests come to where they share a beginning, which is what they come to by themselves."""
    run(sharing, plain(Target(path, root=path.parent)))
    found, known = [], dict[str, wire.Trace]()
    for one in asked:
        shared, alone = run(sharing, one), known.get(repr(one)) or run(single, one)
        known[repr(one)] = alone
        alike(shared, alone)
        found.append(shared)
    return found


def alike(shared: wire.Trace, alone: wire.Trace) -> None:
    for field in dataclasses.fields(wire.Trace):
        if field.name not in ASIDE:
            assert repr(getattr(shared, field.name)) == repr(getattr(alone, field.name)), field.name
    assert unstamped(shared) == unstamped(alone)


def unstamped(trace: wire.Trace) -> list[str]:
    return [line for line in trace.stdout.splitlines() if not line.startswith("stamp")]


def stamp(trace: wire.Trace) -> str:
    """When the script's beginning was executed."""
    return next(line for line in trace.stdout.splitlines() if line.startswith("stamp"))


@pytest.mark.parametrize("place", one_in(4, SCRIPTS))
def test_a_beginning_is_shared(sharing: Probe, single: Probe, tmp_path: Path, place: str) -> None:
    path = tmp_path / "train.py"
    path.write_text(SCRIPTS[place])
    line = next(line for line in SCRIPTS[place].splitlines() if OLD in line)
    space = line[: len(line) - len(line.lstrip())]
    new = line.replace(OLD, NEW)
    edits = (line, new), (line, f"{space}unused = 0\n{new}")
    asked = [*(request(path, edit) for edit in edits), request(path, None, "reference")]
    found = runs(sharing, single, path, *asked)
    assert found[0].outcome in ("finished", "stopped")
    assert all(one.resumed for one in found)
    assert len({stamp(one) for one in found}) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="rooms need namespaces")
def test_a_room_that_was_built_for_a_run_that_goes_on_is_let_go(python: Path, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(SCRIPTS["module"])
    with Probe(python, stems="always") as probe:
        probe.hello()
        run(probe, plain(Target(path, root=path.parent)))
        counts: list[int] = []
        for _ in range(4):
            asked = [probe.submit(request(path, (OLD, f"({NEW} * {turn})"))) for turn in range(8)]
            assert any([probe.wait(number, 60).resumed for number in asked])  # noqa: C419  all are waited for
            counts.append(settled(probe.pid, counts))
        # A room that each round left behind would be three more. One more or less is chance: rooms are built ahead.
        assert counts[-1] < counts[0] + 3, counts


def settled(pid: int, before: list[int]) -> int:
    """How many processes the server has once those that end have ended: a run answers before its room is gone."""
    count = len(psutil.Process(pid).children(recursive=True))
    for _ in range(50):
        if not before or count <= before[0]:
            break
        time.sleep(0.1)
        count = len(psutil.Process(pid).children(recursive=True))
    return count


SOURCES = """
table, shifts, norm = torch.zeros(32, 4), torch.arange(4.0) * 2, nn.BatchNorm1d(4)
chosen = data[torch.randint(0, 32, (32,))]
with torch.no_grad():
    split = torch.cat(torch.split(norm(chosen), 8))
cut = nn.Parameter(chosen.mean(0))
"""
GRAPH = """
data = G(data).detach()
"""


@pytest.mark.parametrize("graph", ["", GRAPH], ids=["no graph yet", "behind a graph"])
def test_what_asks_where_data_come_from_goes_on_from_before_any_graph(
    sharing: Probe, single: Probe, tmp_path: Path, graph: str
) -> None:
    path = tmp_path / "train.py"
    used = LOOP.replace("G(data)", "norm(G(split + table) + shifts) * cut + data")
    path.write_text(HEAD + NETS + SOURCES + graph + used)
    asked = request(path, None, "reference", sources=True)
    plainly = request(path, None, "reference")
    found = runs(sharing, single, path, asked, plainly, asked)
    assert all(one.resumed for one in found)
    assert stamp(found[0]) == stamp(found[1])


MNIST = """
from torchvision import datasets, transforms
images = datasets.MNIST('data', download=True, transform=transforms.ToTensor())
"""
ARRANGED = {
    "on a GPU": (
        {"device": "cpu"},
        NETS.replace(
            "random.random()", "random.random()\nassert torch.cuda.is_available()\ndata = data.cuda()"
        ).replace("og, od", "G.to('cuda'); D.cuda()\nog, od"),
    ),
    "without its data": (
        {"stand_in": True},
        f"{MNIST}{NETS}data = torch.stack([images[i][0].reshape(-1)[:4] for i in range(32)])\n",
    ),
    "in cells": ({"entry": "cells"}, f"print(get_ipython() is None)\n{NETS}"),
}


@pytest.mark.parametrize("what", ARRANGED)
def test_what_is_arranged_for_a_run_is_arranged_where_it_goes_on(
    sharing: Probe, single: Probe, tmp_path: Path, what: str
) -> None:  # fmt: skip
    arranged, nets = ARRANGED[what]
    path = tmp_path / "train.py"
    path.write_text(HEAD + nets + "ready = True\n" + LOOP)
    asked = [request(path, (OLD, NEW)), request(path, None, "reference"), request(path, None, "trace")]
    asked = [dataclasses.replace(one, setup=dataclasses.replace(one.setup, **arranged)) for one in asked]
    run(sharing, dataclasses.replace(plain(Target(path, root=path.parent)), setup=asked[0].setup))
    for one in asked:
        alike(shared := run(sharing, one), run(single, one))
        assert shared.resumed


@pytest.mark.parametrize("name", ["pkg.train", "pkg"])
def test_a_module_that_is_run_by_its_name_shares_its_beginning(
    sharing: Probe, single: Probe, tmp_path: Path, name: str
) -> None:  # fmt: skip
    path = tmp_path / "pkg" / ("train.py" if "." in name else "__main__.py")
    path.parent.mkdir()
    (path.parent / "__init__.py").write_text("print('package')\n")
    (path.parent / "nets.py").write_text("def of(number):\n    return number\n")
    told = "from . import nets\nprint(__name__, __package__, __spec__.name, __file__, sys.argv[1:], nets.of(1))\n"
    path.write_text(SCRIPTS["main"].replace("STAMP =", f"{told}STAMP =", 1))
    module = {"module": name, "cwd": str(tmp_path), "argv": ("--lr", "1")}
    run(sharing, dataclasses.replace(plain(Target(path, root=path.parent)), **module))
    edit = request(path, (OLD, NEW), **module)
    shared, alone = run(sharing, edit), run(single, edit)
    assert shared.resumed
    alike(shared, alone)


def test_a_function_that_waits_has_the_code_of_each_run(sharing: Probe, single: Probe, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(FORWARD)
    edit = "self.two(fake).mean()", "self.two(fake.detach()).mean()"
    one, other = runs(sharing, single, path, request(path, edit), request(path, edit))
    assert one.outcome in ("finished", "stopped")
    assert stamp(one) == stamp(other)


FUNCTION = "def f(n=1):\n    return 1\n\n"
DIFFERENT = {
    "called": (FUNCTION + "print(f())\n", ("return 1", "return 2")),
    "called often": (FUNCTION + "print([f(i) for i in range(3)])\n", ("return 1", "return 2")),
    "called elsewhere": (
        """
import multiprocessing
def f(n):
    return n

with multiprocessing.get_context('fork').Pool(1) as pool:
    print(pool.map(f, [1, 2]))
""",
        ("return n", "return n + 1"),
    ),
    "default": (FUNCTION.replace("return 1", "return n") + "print(f())\n", ("n=1", "n=2")),
    "decorated": (
        "def d(n):\n    return lambda f: lambda: n\n\n@d(1)\ndef f():\n    pass\n\nprint(f())\n",
        ("@d(1)", "@d(2)"),
    ),
    "class": ("class C:\n    x = 1\n\nprint(C.x)\n", ("x = 1", "x = 2")),
    "test": ("if random.random() < 2:\n    print(1)\nelse:\n    print(2)\n", ("< 2", "> 2")),
    "text read": (
        f"import inspect\n{FUNCTION}text = inspect.getsource(f)\nexec(compile(text, 'x', 'exec'))\nprint(f())\n",
        ("return 1", "return 2"),
    ),
    "under way": (
        "def f():\n    yield 1\n    yield 2\n\nit = f()\nprint(next(it))\nprint(next(it))\n",
        ("yield 2", "yield 3"),
    ),
    "copied": (
        f"import types\n{FUNCTION}g = types.FunctionType(f.__code__.replace(co_name='g'), globals())\nprint(g())\n",
        ("return 1", "return 2"),
    ),
    "longer": (
        "for i in range(2):\n    print(i)\n\nprint('over')\n",
        ("print(i)\n", "print(i)\n    print('more')\n"),
    ),
    "one line": ("'a text'; a = 1; b = 2\nprint(a); print(b)\n", ("print(b)", "print(b + 1)")),
    "text of two lines": ("""c = '''\n1\n'''\n\'\'\'\n\'\'\'; print(c)\nprint(1)\n""", ("print(1)", "print(2)")),
}
"""What has run when the latest fork waits, and an edit of it."""


@pytest.mark.parametrize("case", one_in(6, DIFFERENT))
def test_what_has_run_is_not_taken_for_something_else(
    sharing: Probe, single: Probe, tmp_path: Path, case: str
) -> None:  # fmt: skip
    text, edit = DIFFERENT[case]
    path = tmp_path / "train.py"
    path.write_text(HEAD + text + NETS + LOOP)
    runs(sharing, single, path, request(path, edit), request(path, (OLD, NEW)), request(path, edit))


def test_another_first_statement_is_executed(sharing: Probe, single: Probe, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text("""\
count = 4
import torch
net = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(count):
    optimizer.zero_grad()
    net(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    print("step", step)
""")
    runs(sharing, single, path, request(path, ("count = 4", "count = 5")))


def test_leaves_that_no_optimizer_is_made_for_start_where_they_are(
    sharing: Probe, single: Probe, tmp_path: Path
) -> None:  # fmt: skip
    path = tmp_path / "train.py"
    path.write_text("""\
import torch
rate = 0.1
weight = torch.ones(3, requires_grad=True)
for step in range(4):
    weight.square().sum().backward()
    with torch.no_grad():
        weight -= rate * weight.grad
    weight.grad = None
    print("step", step, weight.tolist())
""")
    (found,) = runs(sharing, single, path, request(path, ("square()", "pow(2)")))
    assert found.resumed


ALONE = {
    "writes": "print(os.path.exists('cache'))\nopen('cache', 'w').close()\nprint(os.path.exists('cache'))\n",
    "reads on": "file = open(__file__)\nfile.readline()\nprint(file.readline())\nprint(file.readline())\n",
    "logs": "log = open('log', 'a')\nlog.write('a')\nlog.flush()\nprint(os.path.getsize('log'))\n",
    "thread": """
import threading
go = threading.Event()
thread = threading.Thread(target=go.wait)
thread.start()
print(thread.is_alive())
go.set()
""",
    "process": "import subprocess\np = subprocess.Popen(['sleep', '0.2'])\nprint(p.wait())\n",
    "fork": "os.register_at_fork(after_in_child=lambda: print('forked'))\nrandom.seed(3)\n",
    "device": "torch.set_default_device('cpu')\n",
    "hook": "nn.modules.module.register_module_forward_pre_hook(lambda m, a: print('called'))\n",
    "alarm": """
import signal
signal.signal(signal.SIGALRM, lambda *_: print('alarm'))
signal.setitimer(signal.ITIMER_REAL, 3600)
""",
    "shared": "t = torch.zeros(4).share_memory_()\nt += 1\nprint(t)\n",
    "number": "number = os.getpid()\n",
    "tied later": "w = nn.Linear(2, 2)\no = torch.optim.SGD(w.parameters(), lr=0.1)\nold = w.weight.detach()\n",
    "data": "w = nn.Linear(2, 2)\nw.weight.data.normal_()\nview = w.weight.data\n",
    "named": """
from torch.utils.checkpoint import checkpoint
from torch import split, unbind
print(len(split(torch.ones(4), 2)))
""",
    "refused": "try:\n    nn.Parameter(torch.ones(2)).add_(1)\nexcept RuntimeError:\n    print('refused')\n",
    "forward": "print(nn.Linear(2, 2)(torch.ones(1, 2)).shape)\n",
    "grad": "x = torch.ones(2, requires_grad=True)\ny = (x * 2).sum()\n",
    "patched": "torch.chunk = lambda *a, **k: print('mine')\n",
    "transform": """
from torch.func import grad
def size(x):
    first = x * 2
    return (first * first).sum()
print(grad(size)(torch.ones(2)))
""",
    "exit": "import atexit\natexit.register(print, 'bye')\nsys.stdout.write('half')\n",
}
"""What a process holds that its forks would share, or lose, or that instruments act upon."""


@pytest.mark.parametrize("case", one_in(8, ALONE))
def test_what_forks_would_share_is_each_run_s_own(sharing: Probe, single: Probe, tmp_path: Path, case: str) -> None:
    path = tmp_path / "train.py"
    path.write_text(HEAD + ALONE[case] + NETS + "\nprint(globals().get('number', os.getpid()) == os.getpid())\n" + LOOP)
    asked = request(path, (OLD, NEW)), request(path, None, "reference"), request(path, None, "trace")
    runs(sharing, single, path, *asked)


def test_what_one_run_writes_no_other_finds(sharing: Probe, single: Probe, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(HEAD + NETS + "\nprint(os.listdir('.'))\nopen('saved', 'w').write('x')\n" + LOOP)
    runs(sharing, single, path, *[request(path, (OLD, NEW)) for _ in range(3)])
    assert not (tmp_path / "saved").exists()


def test_a_function_called_again_is_not_cut(sharing: Probe, single: Probe, tmp_path: Path) -> None:
    body = indented("x = random.random()\nprint(x)\nprint('old')\n")
    path = tmp_path / "train.py"
    path.write_text(HEAD + f"def f():\n{body}\nfor _ in range(3):\n    f()\n" + NETS + LOOP)
    runs(sharing, single, path, request(path, ("'old'", "'new'")), request(path, (OLD, NEW)))


def test_a_module_of_the_project_is_exchanged_until_it_ran(sharing: Probe, single: Probe, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    (tmp_path / "programs").mkdir()
    (tmp_path / "steps.py").write_text(
        "def used():\n    return 1\n\n\ndef step(G, D, x):\n    return D(G(x)), D(G(x))\n"
    )
    text = (
        HEAD
        + "sys.path[0] += '/programs/..'\nimport steps\nprint(steps.used())\n"
        + NETS
        + LOOP.replace("D(fake).mean()", "steps.step(G, D, data)[0].mean()")
    )
    path.write_text(text)
    module = tmp_path / "steps.py"
    asked = []
    for old, new in ((b"return D(G(x)), D", b"return D(G(x).detach()), D"), (b"return 1", b"return 2")):
        edited = {module: module.read_bytes().replace(old, new)}
        target = Target(path, root=tmp_path)
        one = dataclasses.replace(plain(target, "candidate", edited), threads=1, perturbed=True, passes=30)
        asked.append(dataclasses.replace(one, marks={str(module): (6,)}))
    runs(sharing, single, path, *asked, *asked)


def test_input_that_was_read_is_read_on(sharing: Probe, single: Probe, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(HEAD + "print(input())\n" + NETS + "print(input())\n" + LOOP)
    setup = wire.Setup(typed="one\ntwo\n")
    first = dataclasses.replace(plain(Target(path, root=tmp_path)), setup=setup)
    run(sharing, first)
    for _ in range(2):
        asked = request(path, (OLD, NEW), setup=setup)
        shared, alone = run(sharing, asked), run(single, asked)
        assert shared.resumed
        assert unstamped(shared) == unstamped(alone)


@pytest.mark.apart("long")
def test_on_one_core_the_first_run_goes_on_from_the_beginning_too(
    python: Path, single: Probe, tmp_path: Path
) -> None:  # fmt: skip
    path = tmp_path / "train.py"
    path.write_text(HEAD + "time.sleep(1.2)\n" * 2 + NETS + LOOP)
    every = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(every)})
    try:
        with Probe(python) as probe:
            probe.hello()
            first = run(probe, plain(Target(path, root=tmp_path)))
            second = run(probe, request(path, (OLD, NEW)))
    finally:
        os.sched_setaffinity(0, every)
    assert first.resumed
    assert second.resumed
    alone = run(single, dataclasses.replace(plain(Target(path, root=tmp_path)), threads=1))
    alike(first, alone)
    alike(second, run(single, request(path, (OLD, NEW))))


@pytest.mark.parametrize(("longest", "waits"), [(2.0, True), (4.0, False)])
def test_a_run_waits_for_another_only_if_what_they_share_takes_longer(longest: float, *, waits: bool) -> None:
    stem: Any = object.__new__(stems.Stem)
    stem.busy, stem._resumed_at, stem._longest = False, float("inf"), longest
    stem._waiting = [SimpleNamespace(seconds=seconds) for seconds in (1.0, 3.0)]
    assert not stem.worth_waiting
    stem.busy = True
    assert stem.worth_waiting is waits
