"""What a reader who never saw the tool is told of a GAN, an LSTM and a ViT: on one screen, in the order of things."""

from __future__ import annotations

import io
import os
import re
import sys
from pathlib import Path

import pexpect
import pyte
import pytest
from sampled import one_in
from scripts import Script, Scripts

HERE = Path(__file__).parent / "newcomers"
COLUMNS, LINES = 80, 40
STORIES = {
    "gan": [
        ("fake = netG(noise)", "fake is made here, with the graph that both backward calls need"),
        ("errD_fake = criterion(netD(fake), 1 - label)", "the earlier backward goes through here"),
        ("errD.backward()", "this backward frees the graph"),
        ("errG = criterion(netD(fake), label)", "the failing backward goes through here"),
        ("errG.backward()", "it fails here"),
    ],
    "lstm": [
        ("logits, state = model(x, state)", "state carries the graph of one iteration into the next"),
        (
            "loss.backward()",
            "this backward frees the graph; in the next iteration it fails, because it needs that graph again",
        ),
    ],
    "vit": [
        ("attn = attn.softmax(dim=-1)", "SoftmaxBackward0 saves a tensor for its backward here"),
        ("attn *= torch.rand_like(attn) > 0.1", "the tensor is written in place here (mul_)"),
        ("loss.backward()", "it fails here"),
    ],
}
EDITS = {
    "gan": "+            errD_fake = criterion(netD(fake.detach()), 1 - label)",
    "lstm": "+            state = tuple(t.detach() for t in state)",
    "vit": "+        attn = attn * (torch.rand_like(attn) > 0.1)",
}
RETURN = """
import torch

torch.manual_seed(0)
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
ret, carry = 0.0, torch.zeros(1)
for step in range(4):
    out = net(torch.ones(2)) + carry
    loss = out.pow(2).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
    carry = out
    ret += loss.item()
    print(step)
"""
ONCE = """
import torch

torch.manual_seed(0)
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
old = net(torch.ones(2))
for step in range(3):
    ratio = net(torch.ones(2)) * old
    loss = (ratio * old).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
pytestmark = [pytest.mark.torch, pytest.mark.slow]


def seen(words: list[str], folder: Path) -> str:
    """What stands on a terminal of 80 columns at the end, with what has scrolled away."""
    stream = io.StringIO()
    child = pexpect.spawn(
        sys.executable, ["-m", "autofix", *words], cwd=str(folder), timeout=300, dimensions=(50, COLUMNS),
        encoding="utf-8", env=os.environ | {"TERM": "xterm-256color", "COLUMNS": str(COLUMNS)},
    )  # fmt: skip
    child.logfile_read = stream
    child.expect(pexpect.EOF)
    child.close()
    shown = pyte.HistoryScreen(COLUMNS, 200, history=1000)
    pyte.Stream(shown).feed(stream.getvalue())
    return "\n".join(line.rstrip() for line in shown.display).strip()


def told(train: Script) -> list[tuple[int, str]]:
    """The lines that a repair tells of, with what each is."""
    report = train.fix()
    assert report.diagnosis is not None
    return [(one.frame.line, one.role) for one in report.diagnosis.culprits if not one.aside]


def story(shown: str) -> list[tuple[str, str]]:
    """Each marked line of source with the words that stand under it."""
    lines: list[tuple[str, str]] = []
    for line in shown.splitlines():
        if match := re.match(r" *\d+ │ (.*)", line):
            lines.append((match[1], ""))
        elif match := re.match(r" +│ +(.*)", line):
            lines[-1] = (lines[-1][0], f"{lines[-1][1]} {match[1].lstrip('^ ')}".strip())
    assert [words.split(". ")[0] for _, words in lines] == [str(n) for n in range(1, len(lines) + 1)]
    return [(source, words.partition(". ")[2]) for source, words in lines]


@pytest.mark.parametrize("name", one_in(3, sorted(STORIES)))
def test_a_repair_fits_on_one_screen_and_tells_what_happened_in_order(name: str, tmp_path: Path) -> None:
    (tmp_path / f"{name}.py").write_text((HERE / f"{name}.py").read_text("utf-8"), "utf-8")
    shown = seen(["fix", f"{name}.py"], tmp_path)
    assert len(shown.splitlines()) <= LINES, shown
    assert story(shown) == STORIES[name]
    assert EDITS[name] in shown
    assert "Why it works: " in shown
    assert shown.endswith(f"To apply it: autofix fix --write {name}.py")


def test_lines_that_do_not_matter_are_not_told(script: Scripts) -> None:
    lines = RETURN.splitlines()
    found = [lines[line - 1].strip() for line, _ in told(script(RETURN))]
    assert found == ["out = net(torch.ones(2)) + carry", "carry = out", "loss.backward()"]


def test_what_is_made_anew_of_something_older_takes_no_graph_into_the_next_pass(script: Scripts) -> None:
    found = dict(told(script(ONCE)))
    line = {text: number for number, text in enumerate(map(str.strip, ONCE.splitlines()), start=1)}
    assert found[line["old = net(torch.ones(2))"]] == "shared"
    assert found[line["ratio = net(torch.ones(2)) * old"]] == "used"
    assert "carried" not in found.values()
