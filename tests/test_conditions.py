"""Runs that have to differ from what a script says: no GPU, no data, too long; each difference told in the report."""

from __future__ import annotations

import io
import json
import runpy
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from sampled import one_in
from training import CURE, NETS, STEP, Repairs, added, repair, safe, written

from autofix import cli, render
from autofix.core.model import Applicability, Crash, Outcome, Target
from autofix.experiments import reproduce
from autofix.experiments.client import Probe
from autofix.probe import wire

pytestmark = pytest.mark.torch
LOOP = textwrap.indent(STEP, "    ")
CUDA = f"""\
from torch.utils.data import DataLoader, TensorDataset
{NETS}
wanted = True
if wanted and not torch.cuda.is_available():
    raise SystemExit("this needs a GPU")
torch.cuda.set_device(0)
device = torch.device("cuda:0")
noise = torch.Generator(device="cuda").manual_seed(1)
model1, model2 = model1.cuda(), model2.to(device)
scaler = torch.amp.GradScaler("cuda")
data = DataLoader(TensorDataset(torch.randn(12, 3)), 4, pin_memory=True)
for (x,) in data:
    x = x.to(device, non_blocking=True) + torch.randn(4, 3, device="cuda", generator=noise)
    x = x + torch.cuda.FloatTensor(4, 3).fill_(1)
    with torch.autocast("cuda", dtype=torch.float16):
        a = model1(x)
        b = model2(a)
    o1.zero_grad(); o2.zero_grad()
    scaler.scale(b.pow(2).mean()).backward()
    scaler.step(o2)
    o1.zero_grad()
    scaler.scale(a.pow(2).mean()).backward()
    scaler.step(o1)
    scaler.update()
"""
LONG = f"""\
import time
from torch.utils.data import DataLoader, TensorDataset
{NETS}
data = DataLoader(TensorDataset(torch.randn(64, 3)), batch_size=1)
for epoch in range(10_000):
    for (x,) in data:
        time.sleep(0.01)
        o1.zero_grad()
        model1(x).pow(2).mean().backward()
        o1.step()
while True:
{LOOP}"""
VISION = """\
from torchvision import datasets, transforms
from torchvision.utils import save_image
from torch.utils.tensorboard import SummaryWriter
import wandb
import torch
from torch import nn
change = transforms.Compose([transforms.Resize(16), transforms.ToTensor(), transforms.Normalize([0.5], [0.5])])
data = torch.utils.data.DataLoader(datasets.MNIST("data", train=True, download=True, transform=change), batch_size=4)
wandb.init(project="x")
writer = SummaryWriter()
G, D = nn.Linear(8, 256), nn.Linear(256, 1)
oG, oD = (torch.optim.Adam(m.parameters(), 1e-3) for m in (G, D))
for _ in range(5):
    for image, label in data:
        assert image.shape == (4, 1, 16, 16) and label.dtype == torch.long
        fake = G(torch.randn(4, 8))
        d_loss = D(fake).mean() - D(image.flatten(1)).mean()
        oD.zero_grad(); d_loss.backward(); oD.step()
        g_loss = -D(fake).mean()
        oG.zero_grad(); g_loss.backward(); oG.step()
        writer.add_scalar("loss", g_loss.item())
        save_image(fake.view(-1, 1, 16, 16), "fake.png")
"""
FOLDER = f"""\
import glob
from PIL import Image
from datasets import load_dataset
import gymnasium
{NETS}
state = torch.load("best.pt")
model1.load_state_dict(state["model"])
assert state["epoch"] == 0
files = sorted(glob.glob("missing/images/*.jpg"))
rows = load_dataset("imdb", split="train")
assert isinstance(rows[0]["text"], str) and rows[0]["label"] in (0, 1)
environment = gymnasium.make("CartPole-v1")
seen, _ = environment.reset()
assert seen.shape == (4,) and environment.action_space.n == 2
for name in files[:4]:
    assert Image.open(name).convert("L").size == (256, 256)
{LOOP}"""


BUSY = """\
import torch
w = torch.ones(50, 50, requires_grad=True)
w.cuda().sum().backward()
x = w.detach().cuda()
while True:
    torch.linalg.matrix_exp(x / 1e9)
"""
LOOPED = f"for _ in range(5):\n{LOOP}"
LOOKED_FOR = """\
import importlib.util
import torch
try:
    import nowhere_at_all
except ImportError:
    nowhere_at_all = None
assert nowhere_at_all is None and importlib.util.find_spec("nowhere_else") is None
"""
WRAPPED = """\
import os
import gym
import torch
from gym import spaces
from gym.utils import seeding
from gym.spaces.box import Box
from gym.wrappers import AtariPreprocessing
from torchvision import models

class Doubled(gym.ObservationWrapper):
    def observation(self, seen):
        return seen * 2

class Through(gym.Wrapper):
    def __init__(self, env):
        gym.Wrapper.__init__(self, env)
    def reset(self, **kwargs):
        return self.env.reset(**kwargs)

class Own(gym.Env):
    def __init__(self):
        self.action_space, self.observation_space = spaces.Discrete(2), Box(low=0, high=1, shape=(3,))

random, seed = seeding.np_random(3)
assert seed == 3 and 0 <= random.rand() < 1
env = Through(Doubled(gym.make("HalfCheetahBulletEnv-v0")))
seen, done = env.reset(), False
assert seen.shape == (17,) and len(env.step(env.action_space.sample())) == 4
assert env._max_episode_steps and not hasattr(gym.envs, "atari") and Own().unwrapped.action_space.n == 2
later = Through(gym.make("HalfCheetah-v4"))
seen, info = later.reset()
assert len(later.step(0)) == 5
net = models.resnet18(num_classes=7)
assert sum(p.numel() for p in models.resnet18().parameters()) == 11_689_512
assert sum(p.numel() for p in models.alexnet().parameters()) == 61_100_840
os.makedirs("/nowhere_at_all/x", exist_ok=True)
torch.save(net.state_dict(), "models/net.pt")
net(torch.rand(2, 3, 32, 32)).sum().backward()
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_asks_for_cuda_runs_here_and_the_report_says_so(
    repaired: Repairs, capsys: pytest.CaptureFixture[str]
) -> None:
    report = repaired(CUDA, device="cpu")
    assert added(safe(report)) == [CURE]
    assert [word for word in report.conditions if "CUDA was asked for" in word or "mixed precision" in word]
    render.show(report, render.Snapshot(report), render.Look(), sys.stdout)
    shown = capsys.readouterr().out
    assert "changed for this run: CUDA was asked for" in shown
    assert "(safe; seen only with a change: CUDA was asked for" in shown


@pytest.mark.parametrize(("device", "known"), [("auto", True), ("asis", False)])
def test_what_asks_for_cuda_behind_the_failure_runs_here_too(repaired: Repairs, device: str, known: bool) -> None:
    script = """\
import torch
net, scale = torch.nn.Linear(3, 1), torch.ones(1, requires_grad=True)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
scale += 1
for _ in range(3):
    optimizer.zero_grad()
    (net.cuda()(torch.ones(1, 3).cuda()) * scale.cuda()).sum().backward()
    optimizer.step()
"""
    report = repaired(script, device=device, select=["AG301"])
    assert any("CUDA was asked for" in word for word in report.conditions) == known
    assert (report.fixes[0].verdict.failure is None) == known


@pytest.mark.parametrize(
    "default",
    [
        'torch.set_default_device("cuda")',
        'torch.set_default_tensor_type("torch.cuda.FloatTensor")',
        'torch.device("cuda").__enter__(); torch.manual_seed(0)',
    ],
)
def test_where_cuda_is_the_default_device_nothing_is_moved(repaired: Repairs, default: str) -> None:
    script = f"""\
import torch
with torch.device("cuda:0"):
    v = torch.ones(3, requires_grad=True)
assert v.cuda().is_leaf and not torch.ones(3, requires_grad=True).cuda().is_leaf
{default}
w = torch.ones(3, requires_grad=True).cuda()
x = torch.from_numpy(torch.ones(3).cpu().numpy()).requires_grad_().to("cuda")
assert w.is_leaf and not x.is_leaf
optimizer = torch.optim.SGD([w], 0.5)
(w * 2).sum().backward()
w += 1
"""
    report = repaired(script)
    assert report.diagnosis is not None, report.message
    assert (report.diagnosis.cause, report.diagnosis.failure.stack[0].line) == ("leaf_modified", 11)
    assert any("CUDA was asked for" in word for word in report.conditions)


def test_a_move_makes_a_copy_as_it_would_on_a_gpu(repaired: Repairs) -> None:
    script = """\
import torch
w = torch.ones(3, requires_grad=True).cuda()
parameter = torch.nn.Parameter(torch.ones(3)).detach().to("cuda").requires_grad_()
kept = parameter.detach().cpu()
optimizer = torch.optim.SGD([parameter], 0.5)
parameter.sum().backward()
optimizer.step()
assert kept.tolist() == [1, 1, 1] and parameter.tolist() == [0.5, 0.5, 0.5]
layer = torch.nn.Linear(3, 3).cuda()
assert layer.weight.cuda() is layer.weight and layer.weight.is_leaf
(w * 2).sum().backward()
w.grad.zero_()
"""
    report = repaired(script)
    assert report.diagnosis is not None, report.message
    assert report.diagnosis.cause == "nonleaf_gradient"
    assert report.diagnosis.failure.stack[0].line == 12


def test_a_script_that_is_too_slow_without_its_gpu_is_told_so(probe: Probe, here: Path) -> None:
    (here / "train.py").write_text("import torch\nx = torch.zeros(3).cuda()\nwhile True:\n    x = x + 1\n")
    report = repair(probe, "train.py", time_limit=3)
    assert report.outcome is Outcome.TIMED_OUT


def test_as_it_is_a_script_without_its_gpu_just_fails(repaired: Repairs) -> None:
    report = repaired(CUDA, device="asis")
    assert report.outcome is Outcome.OTHER_FAILURE
    assert not report.conditions


def test_missing_data_is_stood_in_for_when_asked_and_never_else(probe: Probe, here: Path) -> None:
    written(here, {"train.py": VISION})
    assert "torchvision" in (said := repair(probe, "train.py").message)
    assert "--stand-in puts random data in its place" in said
    report = repair(probe, "train.py", stand_in=True)
    assert any("fake.detach()" in line for line in added(safe(report)))
    said = " ".join(report.conditions)
    assert all(word in said for word in ("MNIST", "1x28x28", "wandb", "tensorboard"))


def test_what_has_no_stand_in_is_named(probe: Probe, here: Path) -> None:
    written(here, {"train.py": "import torch\nrows = open('data/train.csv').readlines()\n"})
    for asked, said in ((False, "that are not here"), (True, "not this file: put a small one there")):
        report = repair(probe, "train.py", stand_in=asked)
        assert report.outcome is Outcome.OTHER_FAILURE
        assert "data/train.csv" in report.message
        assert said in report.message
    written(here, {"train.py": "import torch\nimport nowhere_at_all\n"})
    assert "--stand-in" not in repair(probe, "train.py").message
    written(here, {"train.py": "import torch\nimport cPickle\n", "old.py": "import torch\nloss = torch.ones(())[0]\n"})
    assert "it was written for Python 2" in repair(probe, "train.py", stand_in=True).message
    assert "take .item() of a loss" in repair(probe, "old.py").message


def test_a_package_that_nobody_knows_is_left_out_and_leaves_no_edit_safe(repaired: Repairs) -> None:
    report = repaired(f"import helpful.deep\nfrom helpful import Base\n{NETS}{LOOPED}", stand_in=True)
    assert "helpful is not installed: what it does is left out" in report.conditions
    assert added(report.fixes[0]) == [CURE]
    assert report.fixes[0].verdict.applicability is Applicability.UNSAFE


def test_a_package_that_is_only_looked_for_or_lies_elsewhere_is_not_stood_in_for(probe: Probe, here: Path) -> None:
    written(here, {"train.py": LOOKED_FOR, "deep/own.py": "", "other.py": "import torch\nimport own\n"})
    report = repair(probe, "train.py", stand_in=True)
    assert (report.outcome, report.conditions) == (Outcome.CLEAN, ()), report.message
    assert "it lies at deep/own.py: run the script from the folder" in repair(probe, "other.py", stand_in=True).message


@pytest.mark.parametrize(("read", "told"), [("torch.load('labels.pt')", True), ("{}", False)])
def test_a_failure_that_may_come_from_what_stands_in_says_so(repaired: Repairs, read: str, *, told: bool) -> None:
    report = repaired(f"import torch\nlabels = {read}\nfirst = labels[:8]\n", stand_in=True)
    assert report.outcome is Outcome.OTHER_FAILURE
    assert ("may come from what --stand-in did: the checkpoint labels.pt is missing" in report.message) == told
    assert ("stand-in" in report.message) == told


@pytest.mark.parametrize(
    ("script", "name"), [("own/sub/train.py", "own.sub.train"), ("own/train.py", "own.train"), ("own/other.py", "")]
)
def test_a_script_with_an_import_relative_to_its_package_is_to_be_run_as_a_module(
    probe: Probe, here: Path, script: str, name: str
) -> None:
    relative, other = "import torch\nfrom . import nets\n", "from torch import nothing\n"
    files = {"own/sub/train.py": relative, "own/train.py": relative, "own/other.py": other}
    written(here, files | {"own/__init__.py": "", "own/sub/__init__.py": ""})
    report = repair(probe, script)
    assert report.outcome is Outcome.OTHER_FAILURE
    assert (f"run it as -m {name}," in report.message) == bool(name)
    assert ("-m" in report.message) == bool(name)


@pytest.mark.parametrize("outside", [True, False])
def test_a_file_outside_the_project_is_said_to_be_kept_by_the_fence(
    here: Path, monkeypatch: pytest.MonkeyPatch, *, outside: bool
) -> None:
    # Home and the temporary folders may be written to, wherever they lie.
    path = here.parent / "models" if outside else here / "nowhere" / "models"
    monkeypatch.setattr("tempfile.tempdir", "/nowhere")
    failure = wire.Failure("OSError", f"[Errno 30] Read-only file system: '{path}'", (), "", False)
    target = Target(here / "train.py", root=here)
    said = reproduce.missing_words(target, wire.Trace(0, "failed", failure=failure, detail="OSError"))
    assert (f"only below its project, {here}" in said, f"git init {here.parent}`" in said) == (outside, outside)


def test_environments_networks_and_places_to_save_are_stood_in_for(repaired: Repairs) -> None:
    report = repaired(WRAPPED, stand_in=True)
    assert report.outcome is Outcome.CLEAN, report.message
    said = " ".join(report.conditions)
    assert all(word in said for word in ("HalfCheetah", "resnet18", "/nowhere_at_all", "the folder models"))


def test_a_checkpoint_that_is_stood_in_for_leaves_no_edit_safe(repaired: Repairs) -> None:
    report = repaired(FOLDER, stand_in=True)
    assert added(report.fixes[0]) == [CURE]
    assert report.fixes[0].verdict.applicability is Applicability.UNSAFE
    assert "depends-on-stand-in" in [one.property for one in report.fixes[0].verdict.findings]
    said = " ".join(report.conditions)
    assert all(word in said for word in ("best.pt", "missing/images", "imdb", "CartPole"))


def test_a_run_that_reaches_its_limit_says_what_it_saw_and_what_to_try(repaired: Repairs) -> None:
    report = repaired(LONG, time_limit=3)
    assert report.outcome is Outcome.NO_FAILURE_WITHIN_LIMIT
    assert "backward calls and" in report.message
    assert "it was at train.py:1" in report.message
    assert "--shorten 3" in report.message


@pytest.mark.parametrize("asked", [{"shorten": 2}, {"skip_to": "18"}], ids=["shorten", "skip-to"])
def test_loops_end_early_when_asked(probe: Probe, here: Path, asked: dict[str, object]) -> None:
    written(here, {"train.py": LONG})
    report = repair(probe, "train.py", **asked)
    assert added(safe(report)) == [CURE]
    assert any("the loop at train.py:" in condition for condition in report.conditions)


def test_a_run_that_reaches_its_limit_in_the_middle_of_what_is_redirected_says_so_too(repaired: Repairs) -> None:
    report = repaired(BUSY, time_limit=6, device="cpu")
    assert (report.outcome, report.calls) == (Outcome.NO_FAILURE_WITHIN_LIMIT, 1), report.message
    assert "1 backward call and 0 optimizer steps" in report.message


def test_layers_and_time_steps_are_no_training_loops(repaired: Repairs) -> None:
    script = f"{NETS}x = torch.zeros(1)\nfor step in range(50):\n    x = x + 1\nassert x == 50\n{STEP}"
    assert safe(repaired(script, shorten=2))


def test_a_derivative_too_small_to_show_in_the_loss_still_leaves_a_doubt(repaired: Repairs) -> None:
    script = """\
import torch
torch.manual_seed(0)
net = torch.nn.Linear(2, 1)
optimizer = torch.optim.Adam(net.parameters())
for _ in range(8):
    optimizer.zero_grad()
    x = torch.rand(5, 2, requires_grad=True)
    u = net(x).sigmoid()
    slope = torch.autograd.grad(u.sum(), x)[0]
    loss = (u + slope.sum(1, keepdim=True)).pow(2).mean() + 1e5
    loss.backward()
    optimizer.step()
"""
    report = repaired(script, select=["AG201"])
    assert report.fixes
    assert all(fix.verdict.applicability is Applicability.UNSAFE for fix in report.fixes)


@pytest.mark.apart("long")
def test_a_program_runs_for_real_and_is_repaired_only_when_it_dies(
    here: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    body = f"import sys\nopen('wrote', 'w').close()\nif len(sys.argv) > 1:\n    sys.exit(7)\n{NETS}{STEP}"
    written(here, {"train.py": body})
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(io.BytesIO(), write_through=True))
    assert cli.main(["run", "train.py", "end"]) == 7
    assert (here / "wrote").is_file()
    assert cli.main(["run", "--select", "AG202", "--write", "train.py"]) == 0
    said = capfd.readouterr().err
    assert "in <module>\n    a.pow(2).mean().backward()" in said
    assert "real.py" not in said
    assert "it died of RuntimeError" in said
    assert subprocess.run([sys.executable, "train.py"], check=False).returncode == 0


def real(*words: str, cwd: Path, typed: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "autofix", "run", *words]
    return subprocess.run(command, cwd=cwd, input=typed, capture_output=True, text=True, check=False)


def test_a_real_run_reads_what_is_typed_and_ends_as_the_program_does(here: Path) -> None:
    written(here, {"ask.py": "import sys\nprint('hello', input(), len(sys.stdin.read()))\nsys.exit(7)\n"})
    done = real("ask.py", cwd=here, typed="you\nand more")
    assert (done.returncode, done.stdout, done.stderr) == (7, "hello you 8\n", "")


@pytest.mark.parametrize(
    ("line", "asked"),
    [
        ("Triple.apply(net(x))", True),
        ("net(x).sum().item().backward()", True),
        ("net.weight = net.weight / 2", True),
        ("net.wieght", False),
        ("len(3)", False),
    ],
)
def test_a_type_error_is_looked_into_where_its_line_speaks_of_autograd(here: Path, line: str, *, asked: bool) -> None:
    triple = "class Triple(torch.autograd.Function):\n    def forward(ctx, x):\n        ctx.save_for_backward(x, 3.0)\n"
    made = f"import torch\n\nnet, x = torch.nn.Linear(2, 1), torch.ones(1, 2)\n{triple}        return x * 3\n\n"
    with pytest.raises((TypeError, AttributeError)) as caught:
        runpy.run_path(str(written(here, {"train.py": f"{made}{line}\n"}) / "train.py"))
    assert Crash.of(caught.value).may_be_autograd is asked


@pytest.mark.parametrize("line", one_in(2, ["raise ValueError('not here')", "torch.ones(2, 3) @ torch.ones(2, 3)"]))
def test_what_looks_like_autograd_and_is_not_leaves_the_programs_status(here: Path, line: str) -> None:
    written(here, {"train.py": f"import torch\n\n{line}\n"})
    done = real("train.py", cwd=here)
    assert done.returncode == 1
    assert "train.py:3:" in done.stderr
    assert "not autograd's" in done.stderr
    assert done.stderr.count("Traceback") == 1


@pytest.mark.apart("long")
def test_every_run_reads_the_file_that_is_standard_input(here: Path) -> None:
    read = "import sys\nsize = int(input())\nassert sys.stdin.read() == 'and more\\n'\n"
    written(here, {"train.py": f"{read}{NETS}{STEP}", "answers.txt": "3\nand more\n"})
    for command, status in (("run", 1), ("fix", 1)):
        words = [sys.executable, "-m", "autofix", command, "--output-format", "json", "train.py"]
        with (here / "answers.txt").open("rb") as answers:
            done = subprocess.run(words, cwd=here, stdin=answers, capture_output=True, text=True, check=False)
        assert done.returncode == status, done.stderr
        assert json.loads(done.stdout)["outcome"] == "available"
