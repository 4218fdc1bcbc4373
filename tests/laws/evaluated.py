"""An evaluation that keeps its graph is no part of the next pass: what it leaves is cut off, and a run-up is not."""

from __future__ import annotations

from lawful import Program

TEXT = """\
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.out, self.state = nn.GRUCell(3, 4), nn.Linear(4, 2), torch.zeros(5, 4)

    def forward(self, x):
        state = self.cell(x, self.state)
        self.state = state
        return self.out(state)


def error(y):
    return (y - 1).square().mean()


model = Model()
optimizer = Optimizers(model)
test = torch.randn(5, 3)
for step in range(9):
    for _ in range(3):
        x = torch.randn(5, 3)
        y = model(x)
        loss = error(y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if step % 3 == 2:
        score = error(model(test))
        print(score.item())
"""
CUT = "model.state = model.state.detach()"
BEFORE, STEPPED = "        y = model(x)\n", "        optimizer.step()\n"
EVALUATION = "        score = error(model(test))\n"
BEHIND = (STEPPED, f"{STEPPED}        {CUT}\n")
EDITS = {
    "cut behind each step": (BEHIND,),
    "cut before each pass": ((BEFORE, f"        {CUT}\n{BEFORE}"),),
    "cut where it is kept": (("self.state = state\n", "self.state = state.detach()\n"),),
    "cut behind the evaluation, too": (BEHIND, (EVALUATION, f"{EVALUATION}        {CUT}\n")),
    "an evaluation without gradient": (BEHIND, (EVALUATION, f"        with torch.no_grad():\n    {EVALUATION}")),
}
EVALUATED = Program(
    "a state is handed on by an evaluation", TEXT, EDITS, frozenset(EDITS).difference(["cut behind each step"])
)


NO_SCORE = {name: EDITS[name] for name in list(EDITS)[:3]}
CHOSEN = Program(
    "an evaluation that takes the best",
    TEXT.replace(f"{EVALUATION}        print(score.item())", "        print((model(test).argmax(1) == 1).sum())"),
    NO_SCORE,
    frozenset(list(NO_SCORE)[1:]),
)
SWITCHED = Program(
    "an evaluation in evaluation mode",
    TEXT.replace(EVALUATION, f"        model.eval()\n{EVALUATION}        model.train()\n").replace(
        "item()", "detach()"
    ),
    NO_SCORE,
    CHOSEN.right,
)
ALWAYS = EVALUATED.mutated(
    "an evaluation behind each pass",
    ("range(3)", "range(1)"),
    ("step % 3 == 2", "step >= 0"),
    right=tuple(EVALUATED.right),
)


def of_pass(name: str, does: str) -> Program:
    """A program of passes that make more of the state than their last forward, and no evaluation."""
    text = TEXT[: TEXT.index("    if step % 3")].replace(f"{BEFORE}        loss = error(y)\n", does)
    first = does.splitlines(keepends=True)[0]
    edits = {"cut behind each step": (BEHIND,), "cut before each pass": ((first, f"        {CUT}\n{first}"),)}
    inside = {
        "cut before the last forward": ((BEFORE, f"        {CUT}\n{BEFORE}"),),
        "cut where it is kept": EDITS["cut where it is kept"],
    }
    return Program(name, text, edits | inside, frozenset(edits))


RUN_UP = of_pass("a state that is run up", f"        model(x + 1)\n{BEFORE}        loss = error(y)\n")
BESIDE = of_pass(
    "a metric of each window",
    f"        first = model(x + 1)\n        print(first.abs().mean().item())\n{BEFORE}"
    "        print(y.abs().mean().item())\n        loss = error(y) + error(first)\n",
)
LAST = of_pass(
    "the loss of the last window alone is trained, and that of each is shown",
    f"        for x in [x, x + 1]:\n    {BEFORE}            loss = error(y)\n            print(loss.item())\n",
)
LAST = Program(LAST.name, LAST.text, {name: LAST.edits[name] for name in list(LAST.edits)[:2]}, LAST.right)
PROGRAMS = [EVALUATED, RUN_UP, CHOSEN, BESIDE, SWITCHED, LAST, ALWAYS]
