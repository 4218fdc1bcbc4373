"""Runs do without torch's compiler until they ask for it, and then have the real one, however they ask."""

from __future__ import annotations

from pathlib import Path

import pytest
from sampled import one_in

from autofix.core.model import Target
from autofix.experiments.client import Probe, run
from autofix.experiments.requests import plain
from autofix.probe.wire import Setup

pytestmark = pytest.mark.torch

TRAINING = """
import sys, torch

net = torch.nn.Linear(3, 1)
optimizer = torch.optim.Adam(net.parameters())
net(torch.randn(4, 3)).sum().backward()
optimizer.step()
"""
WAYS = {
    "from the package": "from torch._dynamo import config\n",
    "from a part": "from torch._dynamo.config import verbose\nimport torch._dynamo\nconfig = torch._dynamo.config\n",
    "kept under a name": "import torch._dynamo as compiler\nconfig = compiler.config\n",
    "written to": "torch._dynamo.mine = 1\nconfig = torch._dynamo.config\nassert torch._dynamo.mine == 1\n",
    "everything": "from torch._dynamo import *\nassert optimize\nconfig = torch._dynamo.config\n",
    "once more": "import importlib\nimportlib.reload(torch._dynamo)\nconfig = torch._dynamo.config\n",
}
SAME = """
assert config is sys.modules["torch._dynamo.config"] is torch._dynamo.config
assert config is torch._dynamo.eval_frame.config, "executed twice"
assert config.__spec__.name == "torch._dynamo.config"
assert config.__spec__.loader.path == config.__file__
assert sys.modules["torch._dynamo"] is torch._dynamo
assert isinstance(torch.compile(net, backend="eager"), torch._dynamo.OptimizedModule)


@torch.compiler.disable
def twice(x):
    return 2 * x


assert twice.__name__ == "twice"
assert torch.compile(lambda x: twice(x) + 1, backend="eager")(torch.ones(1)).item() == 3
net(torch.randn(4, 3)).sum().backward()
optimizer.step()
"""
THERE = "import sys\nprint('torch._dynamo.config' in sys.modules)\n"


@pytest.fixture
def fresh(python: Path) -> Probe:
    """A probe that no other test has asked for anything."""
    return Probe(python)


def asked(tmp_path: Path, text: str) -> Target:
    script = tmp_path / "train.py"
    script.write_text(text)
    return Target(script, root=tmp_path, setup=Setup(compiled=True))


@pytest.mark.parametrize("way", one_in(6, WAYS))
def test_who_asks_has_the_one_real_module(fresh: Probe, tmp_path: Path, way: str) -> None:
    with fresh:
        trace = run(fresh, plain(asked(tmp_path, TRAINING + WAYS[way] + SAME)))
    assert trace.outcome == "finished", trace.detail
    assert trace.compiles


def test_training_and_a_look_through_all_modules_load_no_compiler(fresh: Probe, tmp_path: Path) -> None:
    look = "import inspect\nfor module in list(sys.modules.values()):\n    hasattr(module, '__warningregistry__')\n"
    with fresh:
        trace = run(fresh, plain(asked(tmp_path, TRAINING + look + "inspect.getmodule(look := lambda: 0)\n")))
    assert trace.outcome == "finished", trace.detail
    assert not trace.compiles


@pytest.mark.apart("long")
def test_what_one_run_has_loaded_the_next_one_finds(fresh: Probe, tmp_path: Path) -> None:
    target = asked(tmp_path, THERE + TRAINING + WAYS["from the package"])
    with fresh:
        said = [run(fresh, plain(target)).stdout for _ in range(3)]
    assert said == ["False\n", "True\n", "True\n"]


@pytest.mark.apart("long")
def test_who_is_known_to_ask_finds_it_there(python: Path, tmp_path: Path) -> None:
    target = asked(tmp_path, THERE)
    with Probe(python, ["torch._dynamo"]) as ahead:
        run(ahead, plain(target))  # the first run may begin before
        assert run(ahead, plain(target)).stdout == "True\n"


def test_a_compiler_that_cannot_be_loaded_ends_no_server(
    python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "sympy.py").write_text("raise ImportError('broken')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "broken"))
    text = "try:\n    import torch._dynamo.config\nexcept ImportError:\n    print('none')\n"
    with Probe(python) as fresh:
        traces = [run(fresh, plain(asked(tmp_path, TRAINING + text))) for _ in range(2)]
    assert [(trace.outcome, trace.stdout) for trace in traces] == [("finished", "none\n")] * 2
