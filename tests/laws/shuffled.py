"""What is shuffled has no order: a state that begins anew with each batch, and what may go on from batch to batch."""

from __future__ import annotations

from lawful import Program

STEP = "        both.step()\n"
CALL = "        loss = F.mse_loss(model(x[part]), y[part])\n"
TAKES = "        if self.state is None:\n            self.state = FIRST\n"
SHUFFLED = Program(
    "batches come in random order, and an evaluation begins with a new state",
    f"""\
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.out = nn.GRU(3, 4, batch_first=True), nn.Linear(4, 1)
        self.hidden = self.start()

    def start(self):
        return torch.zeros(1, 6, 4)

    def forward(self, x):
        out, self.hidden = self.cell(x, self.hidden)
        return self.out(out[:, -1])


def evaluate(model, x):
    model.hidden = model.start()
    with torch.no_grad():
        return model(x).mean().item()


model = Reader()
both = Optimizers(model)
x, y = torch.randn(18, 5, 3), torch.randn(18, 1)
for epoch in range(3):
    for part in torch.randperm(18).split(6):
{CALL}        both.zero_grad()
        loss.backward()
{STEP}    print(evaluate(model, x[:6]))
""",
    {
        "begun": ((CALL, f"        model.hidden = model.start()\n{CALL}"),),
        "begun behind the step, after an evaluation with the state that this left": (
            (STEP, f"{STEP}        model.hidden = model.start()\n"),
        ),
        "cut": ((STEP, f"{STEP}        model.hidden = model.hidden.detach()\n"),),
        "begun otherwise": ((CALL, f"        model.hidden = 1 + model.start()\n{CALL}"),),
        "begun with half of the last": ((STEP, f"{STEP}        model.hidden = 0.5 * model.hidden.detach()\n"),),
    },
    frozenset({"begun"}),
)
LEARNED = Program(
    "each batch is handed a learned start, and only the first one uses it",
    f"""\
class Memory(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.state = nn.GRUCell(3, 4), None

    def begin(self, start):
{TAKES.replace("FIRST", "start")}
    def forward(self, x):
        for row in x.unbind(1):
            self.state = self.cell(row, self.state)
        return self.state


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Parameter(torch.randn(1, 4))
        self.memory, self.out = Memory(), nn.Linear(4, 1)

    def forward(self, x):
        self.memory.begin(self.first.expand(len(x), 4))
        return self.out(self.memory(x))


model = Reader()
both = Optimizers(model)
x, y = torch.randn(18, 5, 3), torch.randn(18, 1)
for epoch in range(3):
    for part in torch.randperm(18).split(6):
{CALL}        both.zero_grad()
        loss.backward()
{STEP}""",
    {
        "begun": ((TAKES.replace("FIRST", "start"), "        self.state = start\n"),),
        "forgotten": ((CALL, f"        model.memory.state = None\n{CALL}"),),
        "cut": ((STEP, f"{STEP}        model.memory.state = model.memory.state.detach()\n"),),
        "begun without learning": ((TAKES.replace("FIRST", "start"), "        self.state = start.detach()\n"),),
    },
    frozenset({"begun", "forgotten"}),
)
IN_ORDER = ("torch.randperm(18)", "torch.arange(18)")
PROGRAMS = (
    SHUFFLED,
    SHUFFLED.mutated("batches come in their order", IN_ORDER, right=("cut",)),
    SHUFFLED.mutated(
        "nothing begins with a new state", ("    model.hidden = model.start()\n    with", "    with"), right=()
    ),
    LEARNED,
    LEARNED.mutated("batches come in their order, and the start is learned", IN_ORDER, right=()),
    LEARNED.mutated("a start that is not learned", ("nn.Parameter(torch.randn(1, 4))", "torch.randn(1, 4)"), right=()),
)
