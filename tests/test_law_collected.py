"""What was collected is data: what is drawn once and trained on in several passes, and what only looks like it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from lawful import Program, judged, safe

if TYPE_CHECKING:
    from pathlib import Path

    from autofix.experiments.run import Probe

pytestmark = pytest.mark.torch

HEAD = "from parts import *\n\n"
EDITS = {
    "constant": (("    for _ in range(4):", "    {old} = {old}.detach()\n    for _ in range(4):"),),
    "keep": (("loss.backward()", "loss.backward(retain_graph=True)"),),
    "first pass alone": (("        both.step()", "        both.step()\n        {old} = {old}.detach()"),),
}


def edits(old: str, *anew: str) -> dict[str, tuple[tuple[str, str], ...]]:
    """The edits of each reading: of `old`, which is made once, and of the lines that make it anew."""
    filled = {name: tuple((a, b.format(old=old)) for a, b in changes) for name, changes in EDITS.items()}
    lines = "".join(f"        {line}\n" for line in anew)
    return {**filled, "anew": (("    for _ in range(4):\n", f"    for _ in range(4):\n{lines}"),)}


ACTIONS = Program(
    "actions are drawn once",
    HEAD
    + """\
def draws(scores):
    return torch.distributions.Categorical(logits=scores)


policy, value = Net(4, 3), Net(4, 1)
both = Optimizers(policy, value)
for _ in range(2):
    seen = torch.randn(8, 4)
    chosen = draws(policy(seen))
    action = chosen.sample()
    old = chosen.log_prob(action)
    reward = (action == 1).float() + seen[:, 0]
    for _ in range(4):
        new = draws(policy(seen)).log_prob(action)
        ratio = (new - old).exp()
        loss = -(ratio * (reward - value(seen).squeeze(1).detach())).mean() + F.mse_loss(value(seen).squeeze(1), reward)
        both.zero_grad()
        loss.backward()
        both.step()
""",
    edits("old", "chosen = draws(policy(seen))", "old = chosen.log_prob(action)"),
    frozenset({"constant"}),
)
LABELS = Program(
    "labels and centres are taken once",
    HEAD
    + """\
net = Net(4, 3)
both = Optimizers(net)
for _ in range(2):
    x = torch.randn(9, 4)
    scores = net(x)
    label = scores.argmax(1)
    centre = scores.softmax(1).t() @ scores / 9
    for _ in range(4):
        out = net(x + 0.1)
        loss = F.cross_entropy(out, label) + (out - centre[label]).square().mean()
        both.zero_grad()
        loss.backward()
        both.step()
""",
    edits("centre", "scores = net(x)", "centre = scores.softmax(1).t() @ scores / 9"),
    frozenset({"constant"}),
)
LABEL = "    label = scores.argmax(1)\n"
GIVEN = "    label = x[:, :3].argmax(1)\n"
PROGRAMS = (
    ACTIONS,
    ACTIONS.mutated(
        "actions are numbers on a scale",
        ("Categorical(logits=scores)", "Normal(scores[:, 0], 1.0)"),
        ("(action == 1).float()", "action.cos()"),
        right=("constant",),
    ),
    ACTIONS.mutated("nothing is drawn", ("action = chosen.sample()", "action = seen[:, :3].argmax(1)")),
    ACTIONS.mutated(
        "noise is drawn, and no action",
        ("action = chosen.sample()", "action = torch.rand_like(chosen.logits)[:, :3].argmax(1)"),
    ),
    LABELS,
    LABELS.mutated("labels are given: prototypes of examples", (LABEL, GIVEN)),
    LABELS.mutated("what scores most is only printed", (LABEL, GIVEN + "    print(int(scores.argmax()))\n")),
    LABELS.mutated(
        "a trunk under a head, which each pass applies alone",
        ("net = Net(4, 3)", "net, head = Net(4, 3), Net(3, 3)"), ("Optimizers(net)", "Optimizers(net, head)"),
        ("out = net(x + 0.1)", "out = head(scores)"), ("(out - centre[label])", "(out - centre[label] + net.out.bias)"),
    ),
    LABELS.mutated(
        "each pass only keeps the trunk small",
        ("net = Net(4, 3)", "net, head = Net(4, 3), Net(3, 3)"),
        ("Optimizers(net)", "(torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.05))"),
        ("out = net(x + 0.1)", "out = head(x[:, :3])"),
        ("loss = F.cross", "loss = sum(p.square().sum() for p in net.parameters()) + F.cross"),
    ),
)  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=[one.name for one in PROGRAMS])
def test_no_edit_is_safe_but_those_that_are_right(probe: Probe, tmp_path: Path, program: Program) -> None:
    verdicts = judged(probe, tmp_path, program)
    assert safe(verdicts) == program.right, {name: one.summary for name, one in verdicts.items()}
