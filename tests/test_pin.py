"""The test that `--pin` writes: real pytest runs it on the repaired script, and on later edits of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from commands import Typed

HERE = Path(__file__).parent / "newcomers"
CUTS = {
    "gan": ("errG = criterion(netD(fake), label)", "errG = criterion(netD(fake.detach()), label)"),
    "lstm": ("out, state = self.lstm(self.embed(x), state)", "out, state = self.lstm(self.embed(x).detach(), state)"),
    "vit": ("x = x + self.attn(self.norm1(x))", "x = x + self.attn(self.norm1(x.detach()))"),
}
"""By script, an edit that takes gradient from some parameters; the last one from none wholly."""
HARMLESS = {
    "gan": ("errD = errD_real + errD_fake", "errD = errD_fake + errD_real"),
    "lstm": ("total += loss.item()", "total += float(loss.detach())"),
    "vit": ("return x + self.mlp(self.norm2(x))", "return self.mlp(self.norm2(x)) + x"),
}
ALONE = """
import torch

w = torch.ones(3, requires_grad=True)
square = w * w
square.sum().backward()
square.sum().backward()
"""

pytestmark = [pytest.mark.torch, pytest.mark.slow, pytest.mark.usefixtures("warm")]


def told_by_pytest(folder: Path) -> tuple[int, str]:
    """What pytest says to the pinned test, in an environment in which nothing of ours can be imported."""
    command = [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_pin.py"]
    alone = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, cwd=folder, env=alone, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def edited(script: Path, edit: tuple[str, str]) -> None:
    text = script.read_text("utf-8")
    assert edit[0] in text
    script.write_text(text.replace(*edit), "utf-8")


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.apart("long")) for name in sorted(CUTS)])
def test_a_later_edit_that_cuts_a_gradient_fails_the_pinned_test(name: str, typed: Typed, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    script = tmp_path / f"{name}.py"
    script.write_text((HERE / f"{name}.py").read_text("utf-8"), "utf-8")
    done = typed("fix", "--write", "--pin", "test_pin.py", script.name)
    assert "test_pin.py holds who trains what: run it with pytest" in done.stderr, done.stdout + done.stderr
    assert "import autofix" not in (tmp_path / "test_pin.py").read_text("utf-8")
    repaired = script.read_text("utf-8")
    edited(script, HARMLESS[name])
    status, said = told_by_pytest(tmp_path)
    assert status == 0, said
    script.write_text(repaired, "utf-8")
    edited(script, CUTS[name])
    status, said = told_by_pytest(tmp_path)
    assert status == 1, said
    again = subprocess.run([sys.executable, "test_pin.py", "--again"], cwd=tmp_path, capture_output=True, check=False)
    assert again.returncode == 0, again.stderr
    status, said = told_by_pytest(tmp_path)
    assert status == 0, said


@pytest.mark.apart("long")
def test_an_edit_that_was_judged_is_pinned_and_a_wrong_one_is_not(typed: Typed, tmp_path: Path) -> None:
    case = Path(__file__).parent.parent / "fixtures" / "first" / "gan_two_step"
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "train.py").write_text((case / "broken.py").read_text("utf-8"), "utf-8")
    right = min((case / "fixed").iterdir())
    wrong = case / "wrong" / "detach_d.py"
    done = typed("verify", "--pin", "test_pin.py", "--fixed", str(wrong), "train.py")
    assert (done.returncode, (tmp_path / "test_pin.py").exists()) == (1, False)
    assert "test_pin.py was not written: the edit is not proved to be right" in done.stderr
    done = typed("verify", "--steps", "20", "--pin", "test_pin.py", "--fixed", str(right), "train.py")
    assert done.returncode == 0, done.stdout + done.stderr
    (tmp_path / "train.py").write_text(right.read_text("utf-8"), "utf-8")
    status, said = told_by_pytest(tmp_path)
    assert status == 0, said
    (tmp_path / "train.py").write_text(wrong.read_text("utf-8"), "utf-8")
    status, said = told_by_pytest(tmp_path)
    assert status == 1, said


def test_what_cannot_be_pinned_says_why(typed: Typed, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(ALONE, "utf-8")
    done = typed("fix", "--pin", "test_pin.py", "train.py")
    assert "test_pin.py was not written: no optimizer of the script makes a step" in done.stderr
    (tmp_path / "mine.py").write_text("x = 1\n")
    done = typed("fix", "--pin", "mine.py", "train.py")
    assert (done.returncode, "this file was not made by --pin" in done.stderr) == (2, True)
    assert (tmp_path / "mine.py").read_text() == "x = 1\n"


STEPS = """
import torch

torch.manual_seed(0)
net, other = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
opt = torch.optim.SGD([*net.parameters(), *other.parameters()], lr=0.01)
for step in range(300):
    h = net(torch.ones(2)).tanh_() if step else net(torch.ones(2)).exp().add_(1)
    out = h.sum()
    if step > 120:
        out = out + other(h).sum()
    opt.zero_grad()
    out.backward()
    opt.step()
"""


def test_steps_look_as_far_as_they_say(typed: Typed, tmp_path: Path) -> None:
    """An edit that only a later phase shows to be wrong."""
    (tmp_path / "train.py").write_text(STEPS, "utf-8")
    wrong = STEPS.replace(".exp().add_(1)", ".exp() + 1").replace("other(h)", "other(h.detach())")
    (tmp_path / "edited.py").write_text(wrong, "utf-8")
    done = typed("verify", "--steps", "200", "--fixed", "edited.py", "train.py")
    assert (done.returncode, "changed:" in done.stdout) == (1, True), done.stdout + done.stderr
