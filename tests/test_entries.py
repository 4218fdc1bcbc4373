"""Every way in which people start a training run, each to a fix in the file that the failure is in."""

from __future__ import annotations

import sys
import sysconfig
import textwrap
from pathlib import Path

import pytest
from training import CURE, NETS, SCRIPT, STEP, added, repair, safe, written

from autofix import pipeline
from autofix.core.model import Outcome, Target
from autofix.experiments.client import Probe
from autofix.search import registry
from autofix.target import entries
from autofix.target.entries import Entry, EntryError
from autofix.target.interpreter import inside
from autofix.target.targets import TargetError

LOOP = f"{NETS}\ndef train(lr=0.1):\n    for _ in range(4):\n{textwrap.indent(STEP, '        ')}"
PARSED = """\
import argparse
from loop import train
parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, required=True)
parser.add_argument("--debug", action="store_true")
train(parser.parse_args().lr)
"""
HYDRA = """\
import hydra
from loop import train

@hydra.main(version_base=None, config_path="conf", config_name="c")
def main(cfg):
    train(cfg.lr)

if __name__ == "__main__":
    main()
"""
CLICK = """\
import click
from loop import train

@click.command()
@click.option("--lr", type=float, required=True)
def main(lr):
    train(lr)

if __name__ == "__main__":
    main()
"""
FIRE = "import fire\nfrom loop import train\n\nif __name__ == '__main__':\n    fire.Fire(train)\n"
DISTRIBUTED = f"""\
import os
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
{NETS}
dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
model1, model2 = (DistributedDataParallel(m.cuda(), device_ids=[0]) for m in (model1, model2))
o1, o2 = (torch.optim.SGD(m.parameters(), 0.1) for m in (model1, model2))
for _ in range(3):
{textwrap.indent(STEP, "    ")}dist.destroy_process_group()
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.torch
@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("train.py", PARSED, "--lr 0.1"),
        ("hyd.py", HYDRA, "lr=0.2"),
        ("clk.py", CLICK, "--lr 0.1"),
        ("fir.py", FIRE, "--lr 0.1"),
    ],
    ids=["argparse", "hydra", "click", "fire"],
)
def test_a_program_in_a_sub_folder_is_cured_in_the_sibling_that_it_imports(
    probe: Probe, project: Path, name: str, content: str, words: str
) -> None:
    written(project / "scripts", {"loop.py": LOOP, name: content, "conf/c.yaml": "lr: 0.1\n"})
    fix = safe(repair(probe, f"scripts/{name}", *words.split()))
    assert [*fix.candidate.files] == [project / "scripts" / "loop.py"]
    assert added(fix) == [CURE]


@pytest.mark.torch
def test_a_package_with_relative_imports_runs_as_a_module(probe: Probe, project: Path) -> None:
    main = "import sys\nfrom .loop import train\ntrain(float(sys.argv[1]))\n"
    written(project / "package", {"__init__.py": "", "loop.py": LOOP, "train.py": main})
    assert added(safe(repair(probe, "0.1", module="package.train"))) == [CURE]


@pytest.mark.apart("long")
@pytest.mark.torch
def test_a_pytest_node_is_cured_where_the_code_under_test_lies(probe: Probe, project: Path) -> None:
    test = """\
import os, sys
import pytest
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "source"))
from loop import train

@pytest.fixture
def rate():
    return 0.1

@pytest.mark.parametrize("factor", [1, 2])
def test_step(rate, factor):
    train(rate * factor)

def test_other():
    raise KeyError("never run")
"""
    written(project, {"source/loop.py": LOOP, "tests/test_train.py": test, "pytest.ini": "[pytest]\naddopts = -n 4\n"})
    report = repair(probe, node="tests/test_train.py::test_step[2]")
    assert added(safe(report)) == [CURE]
    assert [*report.fixes[0].candidate.files] == [project / "source" / "loop.py"]


@pytest.mark.torch
def test_a_shell_line_stands_in_the_project_file(probe: Probe, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = "LR=1 python -u scripts/train.py --lr 0.5 --debug"
    written(project, {"scripts/loop.py": LOOP, "scripts/train.py": PARSED})
    written(project, {"pyproject.toml": f'[tool.autofix]\nrun = "{line}"\n'})
    monkeypatch.chdir(project / "scripts")
    assert added(safe(repair(probe))) == [CURE]


@pytest.mark.torch
def test_a_launcher_runs_as_the_only_process_of_its_world(probe: Probe, project: Path) -> None:
    written(project, {"ddp.py": DISTRIBUTED})
    report = repair(probe, "torchrun", "--nproc_per_node=1", "ddp.py")
    assert added(safe(report)) == [CURE]
    assert any("gloo instead of NCCL" in condition for condition in report.conditions)


@pytest.mark.torch
@pytest.mark.slow
def test_a_command_that_a_package_installed_runs_in_its_environment(project: Path) -> None:
    environment = project / "env"
    site = environment / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    (environment / "bin").mkdir(parents=True)
    (environment / "bin" / "python").symlink_to(sys.executable)
    base = Path(sys.executable).resolve().parent
    written(environment, {
        "pyvenv.cfg": f"home = {base}\n",
        f"{site}/all.pth": f"{sysconfig.get_paths()['purelib']}\n{project}\n",
        f"{site}/pkg-0.dist-info/METADATA": "Metadata-Version: 2.1\nName: pkg\nVersion: 0\n",
        f"{site}/pkg-0.dist-info/entry_points.txt": "[console_scripts]\ntrain-model = pkg.cli:main\n",
        "bin/train-model": "import sys\nfrom pkg.cli import main\nsys.exit(main())\n",
    })  # fmt: skip
    cli = "import sys\nfrom .loop import train\n\ndef main():\n    train(float(sys.argv[1]))\n"
    written(project / "pkg", {"__init__.py": "", "loop.py": LOOP, "cli.py": cli})
    python = inside(environment)
    assert python is not None
    with Probe(python) as probe:
        report = repair(probe, "0.1", console="train-model", python=str(environment))
    assert added(safe(report)) == [CURE]


@pytest.mark.torch
def test_one_fix_may_change_several_files(probe: Probe, project: Path) -> None:
    body = "def scale(h):\n    h *= 2\n    return h\n"
    main = """\
import torch
from one import scale as first
from two import scale as second
w = torch.randn(3, requires_grad=True)
for _ in range(4):
    h = torch.sigmoid(w)
    h = first(h)
    h = second(torch.exp(h))
    h.sum().backward()
    print(w.grad.norm().item())
"""
    written(project, {"one.py": body, "two.py": body, "main.py": main})
    fix = safe(repair(probe, "main.py", select=["AG101"]))
    assert sorted(path.name for path in fix.candidate.files) == ["one.py", "two.py"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("python train.py --lr 1", Entry("script", "train.py", ("--lr", "1"))),
        ("A=b env C=d python3.11 -u -X dev train.py", Entry("script", "train.py", (), {"A": "b", "C": "d"})),
        ("uv run python -m pkg.train x", Entry("module", "pkg.train", ("x",))),
        ("torchrun --nnodes 1 t.py -v", Entry("script", "t.py", ("-v",), entries.ONE_PROCESS)),
        ("python -m torch.distributed.run --standalone -m pkg.t", Entry("module", "pkg.t", (), entries.ONE_PROCESS)),
        ("accelerate launch --num_processes 1 t.py", Entry("script", "t.py", (), entries.ONE_PROCESS)),
        ("python -m pytest -x tests/t.py::f", Entry("pytest", "tests/t.py::f", ("-x",))),
        ("train-model --lr 1", Entry("console", "train-model", ("--lr", "1"))),
    ],
)
def test_a_command_line_is_read_as_a_shell_would(line: str, expected: Entry) -> None:
    assert entries.parse(line.split()) == expected


def test_what_begins_a_command_line_is_told_from_a_script(project: Path) -> None:
    assert all(entries.is_command(word) for word in ("python3.12", "LR=1", "uv", "torchrun", "pytest"))
    assert not any(entries.is_command(word) for word in ("train.py", "package", "./a=b.py"))
    written(project, {"LR=1": SCRIPT})
    assert not entries.is_command("LR=1")


@pytest.mark.parametrize("line", ["", "A=b", "python", "python -c 1", "torchrun --x", "pytest -x"])
def test_a_command_line_without_a_program_is_refused(line: str) -> None:
    with pytest.raises(EntryError):
        entries.parse(line.split())


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    "given", [{"node": "no.py::f"}, {"console": "no-such-command"}, {"node": "a.py", "console": "b"}, {"skip_to": "x"}]
)
def test_what_cannot_be_run_is_said_in_one_line(probe: Probe, given: dict[str, str]) -> None:
    written(Path.cwd(), {"train.py": SCRIPT})
    with pytest.raises(TargetError, match=r"^[^\n]+$"):
        repair(probe, "train.py", **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(("version", "word"), [("1.13.1", "older than 2.0"), ("0.4.1.post2", "older than 2.0")])
def test_an_old_torch_is_refused_in_one_line(tmp_path: Path, version: str, word: str) -> None:
    site = tmp_path / "env" / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    (tmp_path / "env" / "bin").mkdir(parents=True)
    (tmp_path / "env" / "bin" / "python").symlink_to(sys.executable)
    home = f"home = {Path(sys.executable).resolve().parent}\n"
    written(tmp_path, {"train.py": SCRIPT, "env/pyvenv.cfg": home, f"{site}/torch.py": f"__version__ = {version!r}\n"})
    target = Target(tmp_path / "train.py", python=inside(tmp_path / "env"))
    report = pipeline.fix(target, registry.rules(), progress=lambda _: None)
    assert report.outcome is Outcome.CANNOT_RUN
    assert word in report.message
    assert "--python" in report.message


def test_an_interpreter_before_3_11_is_refused_in_one_line(tmp_path: Path) -> None:
    old = next((p for p in sorted(Path.home().glob(".pyenv/versions/3.[89]*/bin/python"))), None)
    if old is None:
        pytest.skip("no older Python here")
    written(tmp_path, {"train.py": SCRIPT})
    report = pipeline.fix(Target(tmp_path / "train.py", python=old), registry.rules(), progress=lambda _: None)
    assert report.outcome is Outcome.CANNOT_RUN
    assert "3.11" in report.message
