"""A write for a pass ends with it: what is set in a parameter in each pass, and what may be meant to stay there."""

from __future__ import annotations

from lawful import Program

WRITE, USE = "        weight[0] = 1.0\n", "        weight = self.weight\n"
STEP = "    both.step()\n"
SET = Program(
    "each pass sets an entry before it reads it",
    """\
class Filter(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4, 3))

    def forward(self, x):
        weight = self.weight
        weight[0] = 1.0
        return x @ weight.tanh()


filter, head = Filter(), Net(3, 1)
both = Optimizers(filter, head)
for turn in range(6):
    x, y = torch.randn(5, 4), torch.randn(5, 1)
    loss = F.mse_loss(head(filter(x)), y)
    both.zero_grad()
    loss.backward()
    both.step()
    print(loss.item())
""",
    {
        "copy": ((USE, "        weight = self.weight.clone()\n"),),
        "update": ((WRITE, "        with torch.no_grad():\n            weight[0] = 1.0\n"),),
        "joined": ((USE, ""), (WRITE, "        weight = torch.cat([torch.ones(1, 3), self.weight[1:]])\n")),
        "detached": ((USE, "        weight = self.weight.detach().clone()\n"),),
        "left out": ((WRITE, ""),),
        "of a part": ((WRITE, "        weight[0].clone().fill_(1.0)\n"),),
        "another entry": ((USE, "        weight = self.weight.clone()\n"), (WRITE, "        weight[1] = 1.0\n")),
    },
    frozenset({"copy", "update", "joined"}),
)


EDITS_OF_ANOTHER = {"copy": SET.edits["copy"], "detached": SET.edits["detached"]}


def another(name: str, write: str, *right: str, softmax: bool = True) -> Program:
    """A program in which each pass writes something else."""
    used = "softmax(0)" if softmax else "tanh()"
    program = SET.mutated(name, ("weight[0] = 1.0", write), ("weight.tanh()", f"weight.{used}"))
    update = {"update": ((f"        {write}\n", f"        with torch.no_grad():\n            {write}\n"),)}
    return Program(name, program.text, EDITS_OF_ANOTHER | update, frozenset(right))


FILLED = """\
def fill(weight):
    for row in (0, 2):
        weight[row, :].fill_(1.0)
    return weight


class Filter"""
BY_FUNCTION = Program(
    "a function sets several parts before it is over",
    SET.text.replace("class Filter", FILLED).replace(WRITE, "        weight = fill(weight)\n"),
    EDITS_OF_ANOTHER
    | {
        "update": (("        weight[row, :].fill_", "        weight.data[row, :].fill_"),),
        "in part": (
            (
                "        weight[row, :].fill_(1.0)\n    return weight",
                "        weight = weight.index_fill(0, torch.tensor(row), 1.0)\n        return weight",
            ),
        ),
    },
    frozenset({"copy", "update"}),
)
PROGRAMS = (
    SET,
    BY_FUNCTION,
    BY_FUNCTION.mutated(
        "what a function sets is read beside the value of the pass",
        ("x @ weight.tanh()", "x @ weight.tanh() + self.weight.exp().sum()"),
        right=("update",),
    ),
    SET.mutated(
        "what is set is decayed, too",
        ("Optimizers(filter, head)", "Optimizers(filter, head, kind=torch.optim.AdamW)"),
        right=tuple(SET.right),
    ),
    SET.mutated(
        "a penalty reads the parameter itself",
        ("mse_loss(head(filter(x)), y)", "mse_loss(head(filter(x)), y) + filter.weight.square().sum()"),
        right=("update",),
    ),
    SET.mutated(
        "what it holds is printed",
        ("print(loss.item())", "print(loss.item(), filter.weight[0].sum().item())"),
        right=("update",),
    ),
    SET.mutated(
        "gradients are limited together",
        (STEP, f"    nn.utils.clip_grad_norm_([*filter.parameters(), *head.parameters()], 0.01)\n{STEP}"),
        right=("update",),
    ),
    SET.mutated(
        "it is set while the training warms up",
        ("        weight[0] = 1.0", "        if turn < 99:\n            weight[0] = 1.0"),
    ),
    another("each pass sets a diagonal", "weight.fill_diagonal_(1.0)", "copy", "update", softmax=False),
    another("each pass leaves a triangle", "weight.tril_()", "copy", "update", softmax=False),
    another("each pass forbids another entry", "weight[turn % 4] = -1e9"),
    another("each pass takes another entry out", "weight[turn % 4] = 0.0"),
)  # fmt: skip
