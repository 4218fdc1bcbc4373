"""A new result is not used

## What it finds

On the way to what fails, a call is made a second time (`logits = model(x)`), nothing reads what it gives, and the loss
is made of what the same call gave before. What is only shown (`images.data`) counts as not read. The edit keeps it so:
it keeps the graph of the first result, or copies what is written. This is not said where the result is dropped
(`model(x)`, `_ = model(x)`), nor where it is computed without gradient: a forward may be run for what it leaves in a
module.

## Why it matters

A forward that is run again is run for its result: after an attack on the inputs, with other weights, of the next batch.
The loss is then mostly meant to be made of that; as it stands it trains what the first loss has trained already.
"""

from __future__ import annotations

import ast

from autofix.diagnosis.unread import unread, unread_results
from autofix.probe import wire
from autofix.syntax.source import Source
from autofix.verdict.property import Evidence, Example, Finding, Property

ATTACK = """\
class Trainer:
    def __init__(self):
        self.model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def loss(self, outputs, y):
        return nn.functional.mse_loss(outputs, y)

    def attacked(self, x, y, outputs, loss):
        loss.backward()
        with torch.no_grad():
            weight = self.model[0].weight
            moved = 0.1 * weight.grad / weight.grad.norm()
            weight.data = weight.data + moved
        NEW
        loss = self.loss(outputs, y)
        loss.backward()
        weight.data = weight.data - moved

    def fit(self, x, y):
        outputs = self.model(x)
        self.optimizer.zero_grad()
        self.attacked(x, y, outputs, self.loss(outputs, y))
        self.optimizer.step()


trainer = Trainer()
for _ in range(4):
    trainer.fit(torch.randn(6, 3), torch.randn(6, 2))
"""
KEPT = ("        loss.backward()\n        with", "        loss.backward(retain_graph=True)\n        with")
SHOWN = ATTACK.replace("NEW", "logits = self.model(x)")
SHOWN = SHOWN.replace(" - moved\n", " - moved\n        print(logits.data.sum())\n")
STEPPED = """\
maker, critic = nn.Linear(2, 3), nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
first, second = (torch.optim.SGD(net.parameters(), lr=0.1) for net in (critic, maker))
for _ in range(4):
    fake = maker(torch.randn(5, 2))
    score = critic(fake.detach())
    wanted = critic(fake)
    loss = (score - 1).square().mean()
    first.zero_grad()
    loss.backward()
    first.step()
    again = critic(fake)
    second.zero_grad()
    (wanted - score.detach()).square().mean().backward()
    second.step()
"""
LATE = STEPPED[STEPPED.index("    first.step()") :]
LATER = LATE.replace("    first.step()\n", "").replace("backward()", "backward(inputs=[*maker.parameters()])")
LATER += "    first.step()\n"


class NewResultUnused(Property):
    sentence = "{subject} computes a new result here that nothing reads; the loss may be meant to use it"
    raises = (
        Example(ATTACK.replace("NEW", "logits = self.model(x)"), *KEPT),
        Example(STEPPED, LATE, LATER),
        Example(SHOWN, *KEPT),
    )
    silent = (
        Example(ATTACK.replace("NEW", "self.model(x)"), *KEPT),
        Example(ATTACK.replace("NEW", "logits = self.model(x)\n        print(float(logits.mean()))"), *KEPT),
        Example(STEPPED, "(wanted - score", "(again - score"),
        Example(SHOWN, "self.loss(outputs, y)\n        loss.b", "self.loss(logits, y)\n        loss.b"),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        made = [saved.made for saved in evidence.trace.saved]
        for frame, source, one in unread_results(evidence.sources, made, evidence.failure.stack):
            if _stays(one, evidence.files.get(source.path), source):
                place = wire.Frame.around(frame.file, one, frame.function)
                return self.found((place,), subject=ast.unparse(one.value))
        return None


def _stays(one: ast.Assign, new: bytes | None, source: Source) -> bool:
    """Whether nothing reads a result in the edited file, either."""
    if new is None:
        return True
    after = Source(source.path, new, source)
    scopes = (node for node in after.walk() if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
    lost = (left for scope in (after.tree, *scopes) for left in unread(after, scope))
    return any(ast.unparse(left) == ast.unparse(one) for left in lost)
