"""Training goes on in evaluation mode

## What it finds

A network that asks for its mode, as one with dropout or batch normalisation does, was trained in training mode until
the pass that fails. In that pass, and in all that were compared behind it, it is called with gradients in evaluation
mode; and the edit keeps it so. It is not said of a network that is in evaluation mode from the start, nor of single
layers that are kept in it, nor where a pass trains in training mode again.

## Why it matters

A test switched the network to evaluation mode, and nothing switches it back: dropout is off and statistics stand still
from there on. What fails then is often code that is meant for a test alone, so that an edit of that code only hides it.
"""

from __future__ import annotations

from autofix.probe import wire
from autofix.verdict.property import Evidence, Example, Finding, Property

TESTED = """\
class Chosen(nn.Module):
    def __init__(self):
        super().__init__()
        self.score, self.head = nn.Linear(4, 3), nn.Linear(3, 1)

    def forward(self, x):
        soft = self.score(x).softmax(1)
        if not self.training:
            soft = soft.mul_(soft > 0.3)
        return self.head(soft)


net = Chosen()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for number in range(6):
    loss = (net(torch.randn(5, 4)) - 1).square().mean()
    train: loss
    if number == 1:
        net.eval()
        with torch.no_grad():
            print(net(torch.randn(5, 4)).mean().item())
"""
OUT_OF_PLACE = "soft.mul_(soft > 0.3)", "soft.mul(soft > 0.3)"
COPIED = "soft.mul_(soft > 0.3)", "soft.clone().mul_(soft > 0.3)"
ALWAYS = TESTED.replace("if not self.training", "if True")


class EvaluationModeStaysOn(Property):
    sentence = (
        "the module of `{name}` was trained in training mode until the failure, and is trained in evaluation mode from "
        "there on: call `.train()` on it behind the test"
    )
    raises = (Example(TESTED, *OUT_OF_PLACE), Example(TESTED, *COPIED))
    silent = (
        Example(ALWAYS, *OUT_OF_PLACE),
        Example(TESTED.replace("optimizer =", "net.eval()\noptimizer ="), *OUT_OF_PLACE),
        Example(TESTED.replace("    loss =", "    net.train(number % 2 == 0)\n    loss ="), *OUT_OF_PLACE),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        before = sum(evidence.baseline.counts)
        runs = evidence.letter, evidence.edited
        code, edited = ({one.name: one.stack for one in run.modes if _stays(one, before)} for run in runs)
        return next((self.found(code[name], name=name) for name in code if name in edited), None)


def _stays(mode: wire.Mode, before: int) -> bool:
    """Whether a module was trained in training mode before some step, and from there on, twice, in evaluation mode."""
    later = [number for number in mode.evaluating[before:] if number]
    return any(mode.training[:before]) and not any(mode.training[before:]) and len(later) > 1
