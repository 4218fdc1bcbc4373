"""Calls of an autograd function's instance: what torch before 1.5 did is what a repair is held against."""

from __future__ import annotations

from pathlib import Path

import pytest
from sampled import one_in, row_in
from training import added, repair, safe, written

from autofix import pipeline
from autofix.core.model import Effect, Outcome, Target
from autofix.experiments.client import Probe

pytestmark = pytest.mark.torch
LOOP = """
body, label, domain = torch.nn.Linear(3, 8), torch.nn.Linear(8, 2), torch.nn.Linear(8, 1)
parameters = [*body.parameters(), *label.parameters(), *domain.parameters()]
optimizer = torch.optim.SGD(parameters, lr=0.05, momentum=0.9)
for step in range(5):
    h = body(torch.randn(16, 3)).relu()
    loss = label(h).exp().mean() + domain({call}).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
REVERSE = """\
import torch
from torch.autograd import Function

class Reverse(Function):
    def __init__(self, strength):
        self.strength = strength

    def forward(self, x):
        return x.view_as(x)

    def backward(self, grad):
        return grad * -self.strength
""" + LOOP.format(call="Reverse(0.2 * step + 0.1)(h)")
STATIC = """\
import torch
from torch.autograd import Function

class Reverse(Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return grad * -ctx.strength, None
""" + LOOP.format(call="Reverse.apply(h, 0.2 * step + 0.1)")
COUNTS = """\
import torch
from torch.autograd import Function

class Reverse(Function):
    def __init__(self):
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return x * 1.0

    def backward(self, grad):
        return -grad * self.calls / (1 + self.calls)

reverse = Reverse()
""" + LOOP.format(call="reverse(h)")
COUNTED = """\
import torch
from torch.autograd import Function

class Scaled(Function):
    @staticmethod
    def forward(ctx, x, coefficient):
        ctx.coefficient = coefficient
        return x * 1.0

    @staticmethod
    def backward(ctx, grad):
        return -grad * ctx.coefficient, None

class Reverse(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return Scaled.apply(x, self.calls / (1 + self.calls))

reverse = Reverse()
""" + LOOP.format(call="reverse(h)")
AGAIN = """\
import torch
from torch.autograd import Function

class Product(Function):
    def forward(self, x, w):
        self.save_for_backward(x, w)
        return x * w

    def backward(self, grad):
        x, w = self.saved_tensors
        first = grad * w if self.needs_input_grad[0] else None
        return first, (grad * x if self.needs_input_grad[1] else None)

product = Product()
""" + LOOP.format(call="product(h, h.exp()) + product(torch.ones(16, 8), h) + product(h.sin(), torch.ones(16, 8))")
INPLACE = """\
import torch

class Doubled(torch.autograd.Function):
    def forward(self, x):
        self.mark_dirty(x)
        return x.mul_(2)

    def backward(self, grad):
        return grad * 2
""" + LOOP.format(call="Doubled()(h * 1)")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def effect(probe: Probe, here: Path, broken: str, edited: str) -> tuple[Outcome, Effect]:
    written(here, {"train.py": broken})
    target = Target(here / "train.py", root=here)
    report = pipeline.verify(target, {here / "train.py": edited.encode()}, probe=probe, progress=lambda _: None)
    assert report.fixes, report.rejected
    return report.outcome, report.fixes[0].verdict.effect


@pytest.mark.parametrize(
    "edited",
    one_in(3, [STATIC, STATIC.replace("x.view_as(x)", "x.clone()"), REVERSE.replace(
        "Reverse(0.2 * step + 0.1)(h)", "(-(0.2 * step + 0.1) * h + ((0.2 * step + 1.1) * h).detach())"
    )]),
    ids=["static", "clone", "without a function"],
)  # fmt: skip
def test_a_repair_by_hand_with_these_gradients_is_safe(probe: Probe, here: Path, edited: str) -> None:
    assert effect(probe, here, REVERSE, edited) == (Outcome.SAFE, Effect.IDENTICAL)


@pytest.mark.parametrize(
    ("before", "after"),
    row_in(
        4,
        [
            ("grad * -ctx.strength", "grad * ctx.strength"),
            ("grad * -ctx.strength", "-grad"),
            ("grad * -ctx.strength", "grad * -ctx.strength * 0.5"),
            ("grad * -ctx.strength", "None"),
            ("h, 0.2 * step + 0.1", "h, 0.1"),
            ("Reverse(0.2 * step + 0.1)(h)", "h"),
            ("Reverse(0.2 * step + 0.1)(h)", "h.detach()"),
        ],
    ),
    ids=["sign", "no strength", "half", "none", "first strength", "no reversal", "detached"],
)
def test_a_repair_by_hand_with_other_gradients_is_not(probe: Probe, here: Path, before: str, after: str) -> None:
    edited = (STATIC if before in STATIC else REVERSE).replace(before, after)
    assert effect(probe, here, REVERSE, edited) == (Outcome.UNSAFE, Effect.CHANGED)


@pytest.mark.parametrize(
    ("before", "after", "kept"),
    row_in(
        2,
        [
            ("", "", Effect.IDENTICAL),
            ("        self.calls += 1\n", "        self.calls = 1\n", Effect.CHANGED),
            (
                "        self.calls += 1\n",
                "        self.calls += self.training and x.requires_grad and 2\n",
                Effect.CHANGED,
            ),
            ("-grad *", "grad *", Effect.CHANGED),
        ],
    ),
    ids=["right", "no counter", "twice as fast", "sign"],
)
def test_a_counter_is_part_of_what_the_code_says(
    probe: Probe, here: Path, before: str, after: str, kept: Effect
) -> None:
    assert effect(probe, here, COUNTS, COUNTED.replace(before, after, 1 if before else 0))[1] is kept


@pytest.mark.parametrize(
    ("script", "lines"),
    row_in(
        4,
        [
            (REVERSE, ["ctx.strength = strength", "return grad * -ctx.strength, None"]),
            (COUNTS, ["class Reverse:", "return ctx.layer.backward(grad), None"]),
            (AGAIN, ["x, w = ctx.saved_tensors", "product = Product.apply"]),
            (INPLACE, ["ctx.mark_dirty(x)"]),
            (REVERSE.replace("(Function)", "(Function, object)"), ["ctx.strength = strength"]),
            (COUNTS.replace("reverse(h)", "reverse(h) + reverse(h.exp())"), ["class Reverse:"]),
        ],
    ),
    ids=["strength", "counter", "called again", "in place", "two bases", "two calls"],
)
def test_the_offer_has_the_gradients_of_the_methods(probe: Probe, here: Path, script: str, lines: list[str]) -> None:
    written(here, {"train.py": script})
    fix = safe(repair(probe, "train.py", select=["AG426"]))
    assert fix.verdict.effect is Effect.IDENTICAL
    assert set(lines) <= set(added(fix))


def test_the_class_and_its_calls_may_stand_in_other_files(probe: Probe, here: Path) -> None:
    head, call = REVERSE.split("\nbody, label")
    written(
        here,
        {
            "layers.py": head,
            "train.py": f"import torch\nimport layers\nbody, label{call.replace('Reverse(', 'layers.Reverse(')}",
        },
    )
    fix = safe(repair(probe, "train.py", select=["AG426"]))
    assert {path.name for path in fix.candidate.files} == {"layers.py", "train.py"}
    assert "layers.Reverse.apply(h, 0.2 * step + 0.1)" in fix.diff.decode()


def test_what_one_call_leaves_to_the_next_is_not_lost_to_a_node(probe: Probe, here: Path) -> None:
    text = AGAIN.replace(
        "self.save_for_backward(x, w)",
        "self.save_for_backward(x, w)\n        if x.sum() > 0:\n            self.scale = x.mean()",
    )
    text = text.replace("first = grad * w", "first = grad * w * self.scale")
    written(here, {"train.py": text})
    assert "class Product:" in added(safe(repair(probe, "train.py", select=["AG426"])))
