"""What no author means: optimizers that nothing reaches, leaves that write what is read beside them, lost writes."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from sampled import one_in, row_in
from scripts import Scripts, properties

from autofix.core.model import Applicability, Report
from autofix.syntax.lost import lost_write

HEAD = """\
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
"""
GAN = """
G, D = nn.Linear(4, 6), nn.Linear(6, 1)
opt_g, opt_d = torch.optim.Adam(G.parameters()), torch.optim.Adam(D.parameters())
real, one, zero = torch.randn(8, 6), torch.ones(8, 1), torch.zeros(8, 1)
for step in range(6):
    fake = G(torch.randn(8, 4))
    score = D(fake.detach())
    loss_d = F.mse_loss(D(real), one) + F.mse_loss(score, zero)
    opt_d.zero_grad()
    loss_d.backward()
    opt_d.step()
    loss_g = F.mse_loss(score, one)
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
"""
ENCODED = """
encoder, head = nn.Linear(4, 6), nn.Linear(6, 6)
optimizers = [torch.optim.SGD(net.parameters(), lr=0.1) for net in (encoder, head)]
x, state = torch.randn(8, 4), torch.zeros(8, 6)
for step in range(6):
    with torch.no_grad():
        features = encoder(x)
    state = torch.tanh(head(features) + state)
    loss = state.square().mean()
    for optimizer in optimizers:
        optimizer.zero_grad()
    loss.backward()
    for optimizer in optimizers:
        optimizer.step()
"""
FUNCTIONAL = """
W = torch.randn(4, 6, requires_grad=True)
head = nn.Linear(6, 6)
opt_w, opt_h = torch.optim.SGD([W], lr=0.1), torch.optim.SGD(head.parameters(), lr=0.1)
x, state = torch.randn(8, 4), torch.zeros(8, 6)
for step in range(6):
    state = torch.tanh(head((x @ W).detach()) + state)
    loss = state.square().mean()
    opt_w.zero_grad(), opt_h.zero_grad()
    loss.backward()
    opt_w.step(), opt_h.step()
"""
CARRIED = """
net, other = nn.Linear(4, 4), nn.Linear(4, 4)
{before}
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
second = torch.optim.SGD(other.parameters(), lr=0.1)
x, state = torch.randn(8, 4), torch.zeros(8, 4)
for step in range(6):
    state = torch.tanh(net(x) + state)
    loss = state.square().mean()
    {loss}
    optimizer.zero_grad(), second.zero_grad()
    loss.backward()
    optimizer.step()
    {then}
"""
SHARED = """
net = nn.Linear(4, 4)
{before}
optimizer = torch.optim.SGD([{leaf}, *net.parameters()], lr=0.1)
state = torch.zeros(3, 4)
for step in range(6):
    state = torch.tanh(net({leaf}) + state)
    loss = state.square().mean() + {term}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    {then}
"""
SWAPPED = """
net = nn.Linear(3, 1)
x, y = torch.randn(20, 3), torch.randn(20, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
best = [p.detach().clone() for p in net.parameters()]
for step in range(6):
    loss = F.mse_loss(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 3 == 2:
        for p, b in zip(net.parameters(), best):
            p.copy_(b)
    print("done", step)
"""
GROWN = """
net = nn.Conv2d(1, 2, 3, padding=1).requires_grad_(False)
picture = torch.randn(1, 1, 4, 4, requires_grad=True)
optimizer = torch.optim.Adam([picture], lr=0.05)
for octave in range(3):
    if octave:
        picture = F.interpolate(picture, scale_factor=2.0)
        {grown}
    for step in range(4):
        optimizer.zero_grad()
        loss = -torch.tanh(net(picture)).square().mean()
        loss.backward()
        print(picture.grad.norm().item())
        optimizer.step()
"""
NEW_OPTIMIZER = "optimizer = torch.optim.Adam([picture.requires_grad_()], lr=0.05)"


def doubts(report: Report) -> set[str]:
    """What speaks against the fixes that keep the gradients, by name."""
    return set().union(*(properties(fix.verdict) for fix in report.fixes if fix.verdict.effect.keeps_gradients))


def none_safe(report: Report) -> bool:
    return all(fix.verdict.applicability is not Applicability.SAFE for fix in report.fixes)


@pytest.mark.torch
@pytest.mark.parametrize("text", one_in(3, [GAN, ENCODED, FUNCTIONAL]))
def test_an_optimizer_that_no_loss_reaches_is_never_safe(script: Scripts, text: str) -> None:
    report = script(HEAD + text).fix()
    assert "steps-without-gradient" in doubts(report)
    assert none_safe(report)


@pytest.mark.torch
@pytest.mark.parametrize(
    ("before", "loss", "then"),
    row_in(
        3,
        [
            ("", "", "second.step()"),  # idle: nothing uses its network
            ("gate = False", "loss = loss + other(x).mean() if gate else loss", "second.step()"),
            ("", "loss = loss + 0.0 * other(x).mean()", "second.step()"),  # a weight that begins at 0
            ("other.requires_grad_(False)", "loss = loss + other(x).mean()", "second.step()"),
            ("", "loss = loss + other(x).detach().mean()", "step == 2 and second.step()"),  # one step is no course
            ("", "aside = other(x).square().mean()", "second.step()"),  # a head that no loss takes yet
            ("", "print(F.mse_loss(other(x), x).item())", "second.step()"),
            ("", "loss = other(x).square().mean() if step % 2 else loss", "second.step()"),
            ("", "", "\n    with torch.no_grad():\n        other.weight.lerp_(net.weight, 0.1)\n    second.step()"),
        ],
    ),
)
def test_optimizers_that_wait_are_left_alone(
    script: Scripts, before: str, loss: str, then: str
) -> None:  # fmt: skip
    report = script(HEAD + CARRIED.format(before=before, loss=loss, then=then)).fix()
    assert report.fixes
    assert "steps-without-gradient" not in doubts(report)


@pytest.mark.torch
@pytest.mark.parametrize(("grown", "safe"), [("", False), (NEW_OPTIMIZER, True)])
def test_a_new_leaf_is_not_safe_where_the_optimizer_goes_on_with_what_it_was_made_of(
    script: Scripts, grown: str, safe: bool
) -> None:
    report = script(HEAD + GROWN.format(grown=grown)).fix()
    assert report.fixes
    assert none_safe(report) is not safe


@pytest.mark.torch
@pytest.mark.parametrize(
    ("before", "leaf", "term"),
    [
        ("table = torch.randn(5, 4)\nx = table[:3].requires_grad_()", "x", "(x - table[1]).square().sum()"),
        ("words = torch.randn(3, 4)\nx = nn.Parameter(words)", "x", "F.mse_loss(x, words)"),
        (
            "image, fixed = torch.randn(3, 4), nn.Linear(4, 4).requires_grad_(False)\nx = nn.Parameter(image)",
            "x", "(fixed(x) - fixed(image)).square().sum()",
        ),
    ],
)  # fmt: skip
def test_a_leaf_whose_steps_write_its_own_target_is_never_safe(
    script: Scripts, before: str, leaf: str, term: str
) -> None:
    report = script(HEAD + SHARED.format(before=before, leaf=leaf, term=term, then="")).fix()
    assert "step-moves-what-is-read" in doubts(report)
    assert none_safe(report)


@pytest.mark.torch
@pytest.mark.parametrize(
    ("before", "term", "then"),
    [
        ("start = torch.randn(3, 4)\nx = nn.Parameter(start)", "x.square().sum()", "print(start.norm().item())"),
        ("x = nn.Parameter(torch.randn(3, 4))", "(x - x.detach()).square().sum() + x.sum()", ""),
        ("x = nn.Parameter(torch.randn(3, 4))", "x.sum()", "seen = x.data; print(seen.sum().item())"),
        ("x = nn.Parameter(torch.randn(4, 4))\nnet.weight.data = x.data", "(net.weight * x).sum()", ""),
        ("x, ring = nn.Parameter(torch.ones(3, 4)), torch.ones(6, 4)", "(x - ring[3:]).sum()", "ring[:3] = x.detach()"),
    ],
)  # fmt: skip
def test_what_shares_no_memory_or_shares_it_on_purpose_is_left_alone(
    script: Scripts, before: str, term: str, then: str
) -> None:
    text = SHARED.format(before=before, leaf="x", term=term, then=then).replace("zeros(3, 4)", "zeros(x.shape[0], 4)")
    report = script(HEAD + text).fix()
    assert report.fixes
    assert "step-moves-what-is-read" not in doubts(report)


@pytest.mark.torch
def test_a_leaf_made_of_part_of_what_is_read_elsewhere_needs_memory_of_its_own(script: Scripts) -> None:
    text = """
    table = torch.randn(5, 3, requires_grad=True)
    x = table[2]
    optimizer = torch.optim.SGD([x], lr=0.1)
    for step in range(6):
        loss = (x - 1).square().sum() + (x - table[2]).square().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """
    report = script(HEAD + textwrap.dedent(text)).fix()
    shared = [one for one in report.fixes if b"table[2].detach().requires_grad_()" in one.diff]
    assert shared
    assert none_safe(report)


@pytest.mark.torch
def test_a_write_to_a_loop_variable_is_not_said_out_of_place(script: Scripts) -> None:
    report = script(HEAD + SWAPPED).fix()
    assert report.fixes
    assert not any(b"+            p = " in one.diff for one in (*report.fixes, *report.rejected))
    assert any("nothing reads" in note.reason for note in report.notes)


@pytest.mark.torch
@pytest.mark.parametrize("new", ["p = p.clone(); p.copy_(b)", "p = p * 0 + b"])
def test_a_write_that_an_offered_edit_loses_is_never_safe(script: Scripts, new: str) -> None:
    verdict = script(HEAD + SWAPPED).verdict(("p.copy_(b)", new))
    assert verdict.applicability is not Applicability.SAFE
    assert "write-is-lost" in properties(verdict)


@pytest.mark.torch
@pytest.mark.parametrize("new", ["q = p.detach(); q.copy_(b)", "p.data = b.clone()"])
def test_a_write_by_another_name_is_not_lost(script: Scripts, new: str) -> None:
    assert "write-is-lost" not in properties(script(HEAD + SWAPPED).verdict(("p.copy_(b)", new)))


# The text alone -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("for p, s in zip(ps, ss): p.copy_(s)", "for p, s in zip(ps, ss): p = s.clone()", "p"),
        ("for p in ps: p -= 0.1 * p.grad", "for p in ps: p = p - 0.1 * p.grad", "p"),
        ("for p in ps: p.mul_(2)", "for p in ps: q = p.mul(2)", "q"),
        ("def f(p):\n  p.zero_()", "def f(p):\n  p = torch.zeros_like(p)", "p"),
        ("def f(p):\n  for _ in r:\n    p.mul_(2)", "def f(p):\n  for _ in r:\n    p = p.mul(2)", "p"),
        ("def f(self):\n  q = self.q\n  q[0] = 1", "def f(self):\n  q = self.q.clone()\n  q[0] = 1", "q"),
        ("def f(p):\n  p.zero_()", "def f(p):\n  p = p.clone()\n  p.zero_()", "p"),
        ("def f(p):\n  unused = p.add_(1)", "def f(p):\n  unused = p + 1", "unused"),
        ("def f(p):\n  p.mul_(2)\n  return [p for p in q]", "def f(p):\n  p = p * 2\n  return [p for p in q]", "p"),
    ],
)
def test_a_write_to_a_name_that_nothing_reads_is_found(old: str, new: str, name: str) -> None:
    assert lost_write(Path("train.py"), old.encode(), new.encode())[0] == name


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("def f(p):\n  p.zero_()\n  return p", "def f(p):\n  p = torch.zeros_like(p)\n  return p"),
        ("def f(p):\n  p.copy_(s)", "def f(p):\n  p = p.detach()\n  p.copy_(s)"),
        ("for p in ps:\n  p += 1\n  use(p)", "for p in ps:\n  p = p + 1\n  use(p)"),
        ("def f(h):\n  for _ in r:\n    h.mul_(2)\n    g(h)", "def f(h):\n  for _ in r:\n    g(h)\n    h = h.mul(2)"),
        ("def f(h):\n  while h.sum() < 1:\n    h.mul_(2)", "def f(h):\n  while h.sum() < 1:\n    h = h.mul(2)"),
        ("def f(h):\n  try:\n    h += 1; g()\n  except: g(h)", "def f(h):\n  try:\n    h = h + 1; g()\n  except: g(h)"),
        ("def f(h):\n  h.add_(1)\n  return lambda: h", "def f(h):\n  h = h + 1\n  return lambda: h"),
        ("def f():\n  global h\n  h.add_(1)", "def f():\n  global h\n  h = h + 1"),
        ("def f(h):\n  h.add_(1)\n  exec('g(h)')", "def f(h):\n  h = h + 1\n  exec('g(h)')"),
        ("def f():\n  w = e()\n  for s in x: w.copy_(s); g(w)", "def f():\n  w = e()\n  for s in x: w = s; g(w)"),
        ("w.zero_()", "w = torch.zeros_like(w)"),  # another module may import it
        ("def f(self):\n  q = self.q\n  q[0] = 1", "def f(self):\n  q = self.q.clone()\n  q[0] = 1\n  self.q = q"),
        ("def f(x):\n  a, b = g(x)\n  a[0] = 1\n  return a", "def f(x):\n  a, b = h(x)\n  return a.exp()"),
        ("def f(x):\n  return g(x)", "def f(x):\n  unused = g(x)\n  return g(x)"),  # no write is gone
        ("def f(x):\n  h = x\n  h += 1\n  g(h, x)", "def f(x):\n  h = x\n  x = x + 1\n  h = x\n  g(h, x)"),
        ("for p in ps: pass", "for p in ps:\n  with torch.no_grad(): p -= 0.1 * p.grad"),
    ],
)  # fmt: skip
def test_a_name_that_may_be_read_is_left_alone(old: str, new: str) -> None:
    assert lost_write(Path("train.py"), old.encode(), new.encode()) == ("", 0)


SHARING = """
teacher = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
{student}
for p in teacher.parameters():
    p.requires_grad = False
optimizer = torch.optim.SGD({owned}.parameters(), lr=0.1)
for _ in range(4):
    x = torch.randn(5, 3)
    loss = (student(x) - 1).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.torch
@pytest.mark.parametrize(
    ("student", "owned", "safe"),
    [
        (
            "student = nn.Sequential(nn.ZeroPad1d((0, 1)))\nstudent.append(teacher[2])",
            "student",
            False,
        ),
        ("student = nn.Sequential(*teacher[:1], nn.Flatten())", "student", False),
        (
            "trained = torch.optim.SGD(teacher.parameters(), lr=0.1)\nstudent = nn.Sequential(*teacher, nn.Flatten())",
            "student",
            False,
        ),
        (
            "student = nn.Sequential(nn.Flatten())\nstudent.append(teacher[2])\nstudent[0] = teacher[0]",
            "student",
            False,
        ),
        ("student = teacher", "teacher[2]", True),
        ("head = teacher[2]\nstudent = teacher", "head", True),
        ("student = nn.Sequential(teacher, nn.Flatten())", "teacher[2]", True),
    ],
)
def test_what_two_networks_share_is_not_safe_to_train_where_one_is_frozen(
    script: Scripts, student: str, owned: str, safe: bool
) -> None:  # fmt: skip
    text = HEAD + SHARING.format(student=student, owned=owned)
    verdict = script(text).verdict(("optimizer = ", f"{owned}.requires_grad_(True)\noptimizer = "))
    assert (verdict.applicability is Applicability.SAFE) is safe, verdict.summary
