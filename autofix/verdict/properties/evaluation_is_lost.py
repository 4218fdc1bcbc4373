"""A module is no longer called in evaluation mode

## What it finds

The code calls a module in evaluation mode (`net.eval()`), and in the edited run that module is never in it: the edit
drops the switch, or switches to training before the call.

## Why it matters

A score, or a choice of the best state, is then of outputs from which dropout takes a part, or of statistics of the
batch. Where no gradient comes from it, no parameter shows that.
"""

from __future__ import annotations

from autofix.verdict.property import Evidence, Example, Finding, Property

SCORED = """\
net, head = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Dropout(0.3)), nn.Linear(6, 1)
optimizer = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.05)
kept = []
for number in range(6):
    x = torch.randn(8, 4)
    shown = net(x)
    first, second = (head(shown) - 1).square().mean(), shown.square().mean()
    optimizer.zero_grad()
    first.backward()
    second.backward()
    optimizer.step()
    net.eval()
    with torch.no_grad():
        kept.append(head(net(x)).numpy())
    net.train()
"""
SUM = "    first.backward()\n    second.backward()\n", "    (first + second).backward()\n"
STEPPED = f"{SUM[0]}    optimizer.step()\n"
DROPPED = f"{STEPPED}    net.eval()\n", f"{SUM[1]}    optimizer.step()\n"


class EvaluationIsLost(Property):
    sentence = "the code calls the module of `{name}` in evaluation mode here; the edited run never does"
    raises = (Example(SCORED, *DROPPED),)
    silent = (
        Example(SCORED, *SUM),
        Example(SCORED.replace("    net.train()\n", "    net.train()\n    net.eval()\n    net.train()\n"), *SUM),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        code, edited = evidence.followed, evidence.edited
        left, reached = {one.name for one in edited.evaluated}, len(edited.whole_steps)
        lost = (one for one in code.evaluated if one.name not in left and any(one.calls[:reached]))
        return next((self.found(one.stack, name=one.name) for one in lost), None)
