"""What a program may still train behind the place where a run of it was stopped, as its text shows."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from autofix.probe.program.frames import Frames
from autofix.probe.wire import Frame, Stack
from autofix.syntax.sources import Sources
from autofix.verdict.to_come import may_train_more

MAKES = """\
import torch
from torch import nn
net = nn.Linear(3, 1)
def make(part):
    return torch.optim.SGD(part.parameters(), lr=0.1)
class Trainer:
    def __init__(self):
        self.optimizer = make(net)
    def fit(self):
        for _ in range(9):
            self.optimizer.step()  # here
    def tune(self):
        self.again = make(net)
"""
RUNS = "Trainer().fit()  # here\n"
NOTHING = {
    "the end": "",
    "a print": "print(net)\n",
    "a name of torch's": "torch.save(net.state_dict(), 'net.pt')\n",
    "a scheduler": "torch.optim.lr_scheduler.StepLR(None, 3)\n",
    "a kind": "isinstance(net, torch.optim.Optimizer)\n",
    "an annotation": "def show(one: torch.optim.Optimizer) -> Trainer: print(one)\nshow(1)\n",
    "a known attribute": "getattr(net, 'weight')\n",
    "numbered attributes": "getattr(net, f'layer{1}')\n",
    "the rate": "group = {}\ngroup['lr'] = 0.1\n",
}
MORE = {
    "an optimizer": "torch.optim.Adam(net.parameters())\n",
    "one by a function": "make(net)\n",
    "one by a method": "Trainer().tune()\n",
    "one by a class": "Trainer()\n",
    "one by a class that derives": "class Other(Trainer): pass\nOther()\n",
    "one by a function that is called": "def more(): make(net)\ndef later(): more()\nlater()\n",
    "one in a branch": "if net is None:\n    make(net)\n",
    "one in a lambda": "new = lambda part: make(part)\nnew(net)\n",
    "one by another name": "from torch.optim import Adam as Best\nBest(net.parameters())\n",
    "one of a module by another name": "import torch as t\nt.optim.Adam(net.parameters())\n",
    "a function as a value": "run = [make]\nrun[0](net)\n",
    "a class as a value": "import functools\nnew = functools.partial(torch.optim.Adam, lr=0.1)\n",
    "a class by its name": "getattr(torch.optim, 'Adam')\n",
    "a name that is made up": "getattr(net, input())\n",
    "a beginning of a name": "getattr(Trainer, f'tu{input()}')()\n",
    "a name in a text": "getattr(Trainer, 'tune')()\n",
    "code in a text": "exec(input())\n",
    "another package": "import trainers\ntrainers.fit(net)\n",
    "a group": "Trainer().optimizer.add_param_group({'params': net.parameters()})\n",
    "what a group has": "Trainer().optimizer.param_groups[0]['params'].append(net.weight)\n",
    "a step by hand": "net.weight.data -= net.weight.grad\n",
    "a gradient": "torch.autograd.grad(net.weight.sum(), net.weight)\n",
    "a generator": "def items():\n    yield make(net)\n",
    "a call that nobody writes": "class Loss(nn.Module):\n    def forward(self): return make(net)\n",
    "a method of a foreign class": "from threading import Thread\nclass A(Thread):\n    def run(self): make(net)\n",
    "a decorator": "import functools\n@functools.cache\ndef held(): return make(net)\n",
}
AGAIN = {
    "once": ("Trainer().fit()  # here\n", False),
    "in a loop": ("for _ in range(3):\n    Trainer().fit()  # here\n", True),
    "in a list": ("[Trainer().fit() for _ in range(3)]  # here\n", True),
    "inside a call": ("make(Trainer().fit())  # here\n", True),
    "in a block": ("if net:\n    Trainer().fit()  # here\nelse:\n    make(net)\n", False),
    "before a handler": ("try:\n    Trainer().fit()  # here\nexcept ValueError:\n    make(net)\n", True),
}


def _may_train(folder: Path, text: str) -> bool:
    """Whether a script may train more, whose frames stand at the calls of `fit` and `step` on the lines that say so."""
    path = folder / "script.py"
    path.write_text(text, "utf-8")
    marked = {at for at, line in enumerate(text.splitlines(), 1) if line.endswith("# here")}
    frames = [
        Frame(str(path), one.lineno, one.col_offset, one.end_lineno or 0, one.end_col_offset or 0, function)
        for name, function in (("step", "Trainer.fit"), ("fit", "<module>"))
        for one in ast.walk(ast.parse(text))
        if isinstance(one, ast.Call) and one.lineno in marked and getattr(one.func, "attr", "") == name
    ]
    assert len(frames) == 2
    return may_train_more(Sources(folder), tuple(frames))


@pytest.mark.parametrize("name", NOTHING)
def test_nothing_more_is_trained(tmp_path: Path, name: str) -> None:
    assert not _may_train(tmp_path, MAKES + RUNS + NOTHING[name])


@pytest.mark.parametrize("name", MORE)
def test_more_may_be_trained(tmp_path: Path, name: str) -> None:
    assert _may_train(tmp_path, MAKES + RUNS + MORE[name])


@pytest.mark.parametrize("name", AGAIN)
def test_what_runs_already_counts_where_it_may_run_again(tmp_path: Path, name: str) -> None:
    call, expected = AGAIN[name]
    assert _may_train(tmp_path, MAKES + call) is expected


def test_what_stands_before_is_over(tmp_path: Path) -> None:
    assert not _may_train(tmp_path, MAKES + "make(net)\n" + RUNS)


def test_a_module_of_the_project_is_read(tmp_path: Path) -> None:
    (tmp_path / "phases.py").write_text("import torch\ndef tune(net): torch.optim.Adam(net.parameters())\n", "utf-8")
    assert not _may_train(tmp_path, MAKES + "import phases\n" + RUNS)
    assert _may_train(tmp_path, MAKES + "import phases\n" + RUNS + "phases.tune(net)\n")


def test_without_frames_up_to_the_module_nobody_knows(tmp_path: Path) -> None:
    assert may_train_more(Sources(tmp_path), ())
    assert may_train_more(Sources(tmp_path), (Frame(str(tmp_path / "script.py"), 1, 0, 1, 4, "main"),))


@pytest.mark.parametrize(("module", "lines"), [("torch.nn.modules", [2, 4]), ("functools", [2, 4]), ("trainers", [])])
def test_a_library_between_the_frames_of_a_program_may_go_on_with_anything(
    tmp_path: Path, module: str, lines: list[int]
) -> None:
    frames = Frames(str(tmp_path), {})
    found: list[Stack] = []
    library: dict[str, Any] = {"__name__": module}
    exec("def run(step): step()", library)  # noqa: S102  a function of a library
    text = "def step():\n    end()\n\nrun(step)\n"
    names = {"run": library["run"], "end": lambda: found.append(frames.going_on())}
    exec(compile(text, str(tmp_path / "script.py"), "exec"), names)  # noqa: S102  a script
    assert [frame.line for frame in found[0]] == lines
