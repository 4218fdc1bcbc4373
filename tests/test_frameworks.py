"""Training loops that belong to a framework: the failure is inside it, the cure in the user's file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from training import CURE, NETS, added, repair, safe, written

from autofix import pipeline
from autofix.core.model import Applicability, Outcome, Target
from autofix.experiments.client import Probe

pytestmark = pytest.mark.torch

LIGHTNING = """\
import torch
import lightning as L
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 1)

    def training_step(self, batch, index):
        h = torch.sigmoid(self.layer(batch[0]))
        h += 1
        return h.pow(2).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)

torch.manual_seed(0)
data = DataLoader(TensorDataset(torch.randn(8, 3)), 4)
quiet = dict(logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
L.Trainer(max_epochs=2, accelerator="cpu", **quiet).fit(Net(), data)
"""
MANUAL = """\
import torch
import lightning as L
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.G, self.D = nn.Linear(3, 3), nn.Linear(3, 1)

    def training_step(self, batch, index):
        o1, o2 = self.optimizers()
        a = self.G(batch[0])
        b = self.D(a)
        o2.zero_grad()
        self.manual_backward(b.pow(2).mean())
        o2.step()
        o1.zero_grad()
        self.manual_backward(a.pow(2).mean())
        o1.step()

    def configure_optimizers(self):
        return torch.optim.SGD(self.G.parameters(), 0.1), torch.optim.SGD(self.D.parameters(), 0.1)

torch.manual_seed(0)
data = DataLoader(TensorDataset(torch.randn(8, 3)), 4)
quiet = dict(logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
L.Trainer(max_epochs=2, accelerator="cpu", **quiet).fit(Net(), data)
"""
ACCELERATE = f"""\
from accelerate import Accelerator
{NETS}
accelerator = Accelerator(cpu=True)
model1, model2, o1, o2 = accelerator.prepare(model1, model2, o1, o2)
for _ in range(3):
    a = model1(torch.randn(4, 3))
    b = model2(a)
    o1.zero_grad(); o2.zero_grad()
    accelerator.backward(b.pow(2).mean())
    o2.step()
    o1.zero_grad()
    accelerator.backward(a.pow(2).mean())
    o1.step()
"""
ACCUMULATION = f"""\
{NETS}
for step in range(8):
    a = torch.sigmoid(model1(torch.randn(4, 3)))
    a += 1
    (model2(a).pow(2).mean() / 2).backward()
    if step % 2:
        o1.step(); o2.step()
        o1.zero_grad(); o2.zero_grad()
"""
CHECKPOINT = """\
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
torch.manual_seed(0)
first, second = nn.Linear(3, 3), nn.Linear(3, 1)
optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], 0.1)
for _ in range(4):
    h = checkpoint(lambda x: torch.sigmoid(first(x)), torch.randn(4, 3), use_reentrant=False)
    y = torch.exp(second(h))
    y *= 2
    optimizer.zero_grad()
    y.mean().backward()
    optimizer.step()
"""
REENTRANT = """\
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
torch.manual_seed(0)
first, block, last = nn.Linear(3, 3), nn.Linear(3, 3), nn.Linear(3, 1)
optimizer = torch.optim.SGD([*first.parameters(), *block.parameters(), *last.parameters()], 0.1)

def residual(x):
    h = torch.tanh(block(x))
    h += x
    return h

for _ in range(4):
    h = checkpoint(residual, first(torch.randn(4, 3)), use_reentrant=True)
    optimizer.zero_grad()
    last(h).pow(2).mean().backward()
    optimizer.step()
"""
IMPLICIT = """\
import torch
from torch import nn
torch.manual_seed(0)
layer, last = nn.Linear(3, 3), nn.Linear(3, 1)
optimizer = torch.optim.SGD([*layer.parameters(), *last.parameters()], 0.1)

def solved(x):
    with torch.no_grad():
        z = torch.tanh(layer(x))
    z = torch.tanh(layer(z) + x)
    start = z.detach().requires_grad_()
    again = torch.tanh(layer(start) + x)

    def through(gradient):
        total = gradient
        for _ in range(3):
            total = torch.autograd.grad(again, start, total)[0] + gradient
        return total

    z.register_hook(through)
    return z

for _ in range(4):
    loss = (last(solved(torch.randn(4, 3))) - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
COMPILED = """\
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Linear(3, 3)
fast = torch.compile(net, backend="aot_eager")
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(4):
    h = torch.sigmoid(fast(torch.randn(4, 3)))
    h += 1
    optimizer.zero_grad()
    h.pow(2).mean().backward()
    optimizer.step()
"""
SQUASHED = """\
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Linear(3, 3)
optimizer = torch.optim.SGD(net.parameters(), 0.1)

@torch.compile(backend="aot_eager", fullgraph=True)
def squashed(x):
    h = torch.sigmoid(x)
    h += 1
    return h

for _ in range(4):
    loss = squashed(net(torch.randn(4, 3))).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
SHARED = """\
import torch
from torch import nn
torch.manual_seed(0)
G, D = nn.Linear(3, 3), nn.Linear(3, 1)
of_g, of_d = (torch.optim.SGD(net.parameters(), 0.1) for net in (G, D))

@torch.compile(backend="aot_eager", fullgraph=True)
def squashed(x):
    return torch.sigmoid(x) * float(x.sum() != 0)

for _ in range(4):
    fake = squashed(G(torch.randn(4, 3)))
    of_d.zero_grad()
    D(fake).mean().backward()
    of_d.step()
    of_g.zero_grad()
    (-D(fake)).mean().backward()
    of_g.step()
"""
LBFGS = """\
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Linear(3, 1)
optimizer = torch.optim.LBFGS(net.parameters(), 0.1, max_iter=3)
x = torch.randn(4, 3)
for _ in range(3):
    def closure():
        optimizer.zero_grad()
        h = torch.sigmoid(net(x))
        h += 1
        loss = h.pow(2).mean()
        loss.backward()
        return loss
    optimizer.step(closure)
"""
FUNCTION = """\
import torch
from torch import nn

class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g

torch.manual_seed(0)
net = nn.Linear(3, 3)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(4):
    h = net(torch.randn(4, 3))
    y = Double.apply(h)
    h += 1
    optimizer.zero_grad()
    (y + h).mean().backward()
    optimizer.step()
"""
AVERAGE = """\
import copy
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Linear(3, 3)
target = copy.deepcopy(net).requires_grad_(False)
average = torch.optim.swa_utils.AveragedModel(net)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(4):
    x = torch.randn(4, 3)
    h = torch.sigmoid(net(x))
    h += 1
    optimizer.zero_grad()
    (h - target(x)).pow(2).mean().backward()
    optimizer.step()
    average.update_parameters(net)
    with torch.no_grad():
        for p, q in zip(target.parameters(), net.parameters()):
            p.mul_(0.9).add_(q, alpha=0.1)
"""

BERT = """\
sizes = dict(vocab_size=50, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16)
torch.manual_seed(0)
model = BertForSequenceClassification(BertConfig(**sizes, max_position_embeddings=16, num_labels=2))
asked = TrainingArguments("out", num_train_epochs=1, per_device_train_batch_size=8, report_to=[], use_cpu=True,
                          save_strategy="no", disable_tqdm=True)
"""
SMOOTHED = f"""\
import torch
from datasets import load_dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

class Smoothed(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        p = torch.softmax(model(**inputs).logits, -1)
        p *= 0.9
        return -torch.log(p[range(len(labels)), labels]).mean()

def encode(batch):
    return {{"input_ids": [[len(word) for word in text.split()][:6] for text in batch["text"]]}}

{BERT}
data = load_dataset("imdb").map(encode, batched=True, remove_columns="text")
Smoothed(model=model, args=asked, train_dataset=data["train"].shuffle(seed=0).select(range(40))).train()
"""
MEMORY = f"""\
import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

class Remembering(Trainer):
    memory = None

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        outputs = model(**inputs, output_hidden_states=True)
        centre = outputs.hidden_states[-1].mean((0, 1))
        loss = outputs.loss
        if self.memory is not None:
            loss = loss + 0.1 * (centre - self.memory).pow(2).sum()
        self.memory = centre
        return loss

{BERT}
data = [{{"input_ids": torch.randint(50, (6,)), "labels": n % 2}} for n in range(40)]
Remembering(model=model, args=asked, train_dataset=data).train()
"""


AHEAD = ("torch._dynamo", "accelerate", "lightning", "transformers.trainer", "transformers.models.bert.modeling_bert")

ADAPTED = """\
import torch
from peft import LoraConfig, inject_adapter_in_model
from transformers import ViTConfig, ViTModel

torch.manual_seed(0)
small = dict(hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2)
adapters = LoraConfig(r=2, target_modules=["q_proj", "v_proj", "query", "value"])
model = inject_adapter_in_model(adapters, ViTModel(ViTConfig(image_size=8, patch_size=4, **small)))
model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": True})
model.train()
opt = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)
for _ in range(4):
    loss = model(pixel_values=torch.randn(2, 3, 8, 8)).last_hidden_state[:, 0].pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


@pytest.fixture(scope="module")
def probe(python: Path) -> Iterator[Probe]:
    """A probe that has imported what each of a dozen runs would need seconds for."""
    with Probe(python, AHEAD) as running:
        assert running.hello().fork, running.hello().note
        yield running


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("script", "rule", "line"),
    [
        (LIGHTNING, "AG101", "h = h + 1"),
        (MANUAL, "AG202", "b = self.D(a.detach())"),
        (ACCELERATE, "AG202", CURE),
        (ACCUMULATION, "AG101", "a = a + 1"),
        (CHECKPOINT, "AG101", "y = y * 2"),
        (REENTRANT, "AG101", "h = h + x"),
        (COMPILED, "AG101", "h = h + 1"),
        (LBFGS, "AG101", "h = h + 1"),
        (FUNCTION, "AG101", "h = h + 1"),
        (AVERAGE, "AG101", "h = h + 1"),
    ],
    ids=["lightning", "lightning-manual", "accelerate", "accumulation", "checkpoint", "checkpoint-reentrant", "compile",
         "lbfgs", "autograd-function", "average-and-target"],
)  # fmt: skip
def test_the_cure_is_in_the_users_file(probe: Probe, here: Path, script: str, rule: str, line: str) -> None:
    written(here, {"train.py": script})
    fix = safe(repair(probe, "train.py", select=[rule]))
    assert [*fix.candidate.files] == [here / "train.py"]
    assert line in added(fix)


@pytest.mark.apart("long")
def test_an_edit_that_does_not_run_compiled_is_not_safe(probe: Probe, here: Path) -> None:
    written(here, {"train.py": SQUASHED})
    target, outcomes = Target(here / "train.py", root=here), []
    for line in ("h = h + 1", "h = h + float(h.sum() != 0)"):
        edited = {here / "train.py": SQUASHED.replace("h += 1", line).encode()}
        report = pipeline.verify(target, edited, probe=probe, progress=lambda _: None)
        outcomes.append((report.outcome, [one.property for one in report.fixes[0].verdict.findings]))
    assert outcomes == [(Outcome.SAFE, []), (Outcome.UNSAFE, ["fails-when-compiled"])]


def test_no_alternative_is_written_that_does_not_run_compiled(probe: Probe, here: Path) -> None:
    written(here, {"train.py": SHARED})
    fixes = repair(probe, "train.py", select=["AG201", "AG202"]).fixes
    findings = [[one.property for one in fix.verdict.findings] for fix in fixes]
    assert findings.count(["fails-when-compiled"]) > 1
    assert not any(fix.verdict.applicability is Applicability.SAFE for fix in fixes)


def test_a_derivative_inside_a_backward_keeps_its_graph(probe: Probe, here: Path) -> None:
    written(here, {"train.py": IMPLICIT})
    (line,) = added(safe(repair(probe, "train.py", select=["AG201"])))
    assert line.endswith("_graph=True)[0] + gradient")


@pytest.mark.apart("long")
def test_a_loss_inside_the_trainer_of_transformers_is_cured_in_the_users_file(probe: Probe, here: Path) -> None:
    written(here, {"train.py": MEMORY})
    fix = safe(repair(probe, "train.py", select=["AG201", "AG202"]))
    assert added(fix) == ["loss = loss + 0.1 * (centre - self.memory.detach()).pow(2).sum()"]


def test_rows_stand_in_for_the_data_set_of_a_trainer(probe: Probe, here: Path) -> None:
    written(here, {"train.py": SMOOTHED})
    report = repair(probe, "train.py", select=["AG101"], stand_in=True)
    assert added(safe(report)) == ["p = p * 0.9"]
    assert [word for word in report.conditions if "missing" in word] == [
        "the data set imdb is missing: 512 random rows stand in"
    ]


@pytest.mark.slow
def test_adapters_in_a_frozen_model_under_checkpoints_are_trained(probe: Probe, here: Path) -> None:
    pytest.importorskip("peft", reason="peft is not installed")
    written(here, {"train.py": ADAPTED})
    (line,) = added(safe(repair(probe, "train.py", select=["AG412"])))
    assert line.endswith('gradient_checkpointing_kwargs={"use_reentrant": False})')
