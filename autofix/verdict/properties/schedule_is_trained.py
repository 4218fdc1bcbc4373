"""A parameter that a schedule moves is trained, too

## What it finds

The code adds a number to a parameter, or multiplies one number by another (`self.alpha += 0.1`, `temperature *= 0.95`),
after an optimizer that owns it has made a step; and in the edited run this optimizer uses a gradient of it. It is not
said of what is added as a tensor, such as a gradient or noise, of a clamp, nor of weights that are scaled, as a weight
decay does.

## Why it matters

What follows a schedule is to have the value that this gives it: the weight of a layer that is faded in, a temperature
that is lowered. An optimizer that owns it moves it off. Such a number is no parameter: `requires_grad=False`, or a
buffer, keeps it in the checkpoint.
"""

from __future__ import annotations

from autofix.experiments.sketches import norm
from autofix.verdict.property import Evidence, Example, Finding, Property

FADED = """\
class Blend(nn.Module):
    def __init__(self):
        super().__init__()
        self.old, self.new = nn.Linear(3, 1), nn.Linear(3, 1)
        self.alpha = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return (1 - self.alpha) * self.old(x) + self.alpha * self.new(x).tanh()


net = Blend()
optimizer = torch.optim.SGD(OWNED, lr=0.1)
for number in range(8):
    if number > 1:
        MOVED
    loss = (net(torch.randn(6, 3)) - 1).square().mean()
    train: loss
"""
WHOLE = FADED.replace("OWNED", "net.parameters()")
ADDED = WHOLE.replace("MOVED", "net.alpha += 0.1")
SCALED = WHOLE.replace("MOVED", "net.alpha *= 0.9").replace("torch.zeros(1)", "torch.ones(1)")
BY_METHOD = WHOLE.replace("MOVED", "net.alpha.add_(0.1)")
NOISY = WHOLE.replace("MOVED", "net.alpha += 0.1 * torch.randn(1)")
DECAYED = WHOLE.replace("MOVED", "net.old.weight *= 0.99")
BEFORE = WHOLE.replace("    if number > 1:\n        MOVED\n", "").replace("for number", "net.alpha += 0.1\nfor number")
APART = FADED.replace("OWNED", "[*net.old.parameters(), *net.new.parameters()]").replace("MOVED", "net.alpha += 0.1")


def without_gradient(text: str) -> tuple[str, str]:
    """The edit that makes the write under no_grad."""
    line = next(line for line in text.splitlines() if line.strip().startswith("net.") and ("=" in line or "_(" in line))
    inner = line.strip()
    indent = line[: len(line) - len(inner)]
    return f"{line}\n", f"{indent}with torch.no_grad():\n{indent}    {inner}\n"


class ScheduleIsTrained(Property):
    sentence = (
        "the code moves {subject} by numbers, as a schedule does. An optimizer trains it, too, and moves it off the "
        "schedule. `requires_grad=False` keeps it from being trained"
    )
    raises = tuple(Example(text, *without_gradient(text)) for text in (ADDED, SCALED, BY_METHOD))
    silent = (
        *(Example(text, *without_gradient(text)) for text in (NOISY, DECAYED, BEFORE, APART)),
        Example(ADDED, "torch.zeros(1))", "torch.zeros(1), requires_grad=False)"),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        moved = {fact.subject for fact in evidence.letter.seen("moved-by-number")}
        run = evidence.edited
        for step in run.steps:
            names = run.names[step.optimizer] if step.optimizer < len(run.names) else ()
            trained = [name for name, used in zip(names, step.gradients, strict=False) if norm(used)]
            if subject := next((name for name in trained if name in moved), ""):
                return self.found(subject=subject)
        return None
